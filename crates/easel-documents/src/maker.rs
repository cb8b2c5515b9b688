//! The door to all of it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use easel_tools::ToolError;
use easel_tools::documents::{
    DocumentFormat, DocumentRequest, Documents, MadeDocument, Sheet, WorkbookFile,
};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::error::DocumentError;
use crate::limits::{Limits, Patience};
use crate::pdf::Fonts;
use crate::worker::{self, Places};
use crate::{docx, html, markdown, pdf, plain, tables, workbook};

/// Makes documents, and reads and writes workbooks, on threads of its own. Clones share what is known of fonts, and the
/// number of documents that are made at once.
#[derive(Clone)]
pub struct DocumentMaker {
    limits: Arc<Limits>,
    places: Places,
    fonts: Fonts,
}

impl Default for DocumentMaker {
    /// Within the default [`Limits`], with the fonts that are installed on the machine beside those that come with Easel.
    fn default() -> Self {
        DocumentMaker::new(Limits::default())
    }
}

impl fmt::Debug for DocumentMaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("DocumentMaker");
        debug.field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl DocumentMaker {
    /// Within these limits, with the fonts of the machine.
    pub fn new(limits: Limits) -> DocumentMaker {
        DocumentMaker {
            places: Places::new(limits.at_once),
            limits: Arc::new(limits),
            fonts: Fonts::of_machine(),
        }
    }

    /// With the fonts that come with Easel and no others: the same document on every machine.
    pub fn with_built_in_fonts(self) -> DocumentMaker {
        DocumentMaker {
            fonts: Fonts::built_in(),
            ..self
        }
    }

    /// With the fonts in a folder instead of the machine's.
    pub fn with_fonts_in(self, folder: impl Into<PathBuf>) -> DocumentMaker {
        DocumentMaker {
            fonts: Fonts::in_folder(folder.into()),
            ..self
        }
    }

    /// Makes a document on the calling thread.
    ///
    /// # Errors
    /// [`DocumentError`] says the cause and the fix.
    pub fn make_now(&self, request: &DocumentRequest) -> Result<MadeDocument, DocumentError> {
        let patience = Patience::new(self.limits.time, worker::Wanted::default());
        self.make_within(request, &patience)
    }

    fn make_within(
        &self,
        request: &DocumentRequest,
        patience: &Patience,
    ) -> Result<MadeDocument, DocumentError> {
        let (bytes, limit) = (request.markdown.len(), self.limits.text_bytes);
        if bytes > limit {
            return Err(DocumentError::TooLong { bytes, limit });
        }
        if !(4.0..=72.0).contains(&request.font_size) {
            return Err(DocumentError::FontSize(request.font_size.to_string()));
        }
        let plain = |bytes: Vec<u8>| MadeDocument {
            bytes,
            warnings: Vec::new(),
        };
        if request.format == DocumentFormat::Markdown {
            return Ok(plain(dated(request, &request.markdown).into_bytes()));
        }
        let blocks = markdown::blocks(&request.markdown, patience)?;
        let made = match request.format {
            DocumentFormat::Pdf => {
                let made = pdf::document(request, &blocks, &self.fonts, &self.limits, patience);
                let (bytes, warnings) = made?;
                MadeDocument { bytes, warnings }
            }
            DocumentFormat::Docx => plain(docx::document(request, &blocks, patience)?),
            DocumentFormat::Xlsx => {
                let (sheets, cut) = tables::sheets(&blocks);
                let bytes = workbook::write(&sheets, &self.limits, patience)?;
                let told = format!(
                    "The workbook holds 32,767 characters of a cell; {cut} cells were cut."
                );
                MadeDocument {
                    bytes,
                    warnings: (cut > 0).then_some(told).into_iter().collect(),
                }
            }
            DocumentFormat::Html => plain(html::page(request, &blocks).into_bytes()),
            DocumentFormat::Txt | DocumentFormat::Markdown => {
                plain(dated(request, &plain::text(&blocks)).into_bytes())
            }
        };
        Ok(made)
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DocumentMaker, &Patience) -> Result<T, DocumentError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let maker = self.clone();
        let work = move |wanted| {
            let patience = Patience::new(maker.limits.time, wanted);
            work(&maker, &patience)
        };
        Ok(worker::run(&self.places, work).await?)
    }
}

/// A text with the time it was made at above it.
fn dated(request: &DocumentRequest, text: &str) -> String {
    match &request.timestamp {
        Some(time) => format!("Generated: {time}\n\n{text}"),
        None => text.to_owned(),
    }
}

impl Documents for DocumentMaker {
    fn make(&self, request: DocumentRequest) -> BoxFuture<'_, Result<MadeDocument, ToolError>> {
        self.work(move |maker, patience| maker.make_within(&request, patience))
            .boxed()
    }

    fn read_workbook(&self, file: WorkbookFile) -> BoxFuture<'_, Result<Vec<Sheet>, ToolError>> {
        self.work(move |maker, patience| workbook::read(&file, &maker.limits, patience))
            .boxed()
    }

    fn write_workbook(&self, sheets: Vec<Sheet>) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        self.work(move |maker, patience| workbook::write(&sheets, &maker.limits, patience))
            .boxed()
    }
}

/// Texts such as models write, and such as they should not.
#[cfg(test)]
pub(crate) fn markdown_like() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let part = prop_oneof![
        Just("# ".to_owned()),
        Just("\n\n".to_owned()),
        Just("\n".to_owned()),
        Just("- ".to_owned()),
        Just("  1. ".to_owned()),
        Just("> ".to_owned()),
        Just("```\n".to_owned()),
        Just("\n| a | b |\n|---|:-:|\n| ".to_owned()),
        Just(" | ".to_owned()),
        Just("**".to_owned()),
        Just("[x](https://e.com/ä?a=1&b) ".to_owned()),
        Just("- [x] ".to_owned()),
        Just("<br>".to_owned()),
        Just("中文。日本語".to_owned()),
        Just("שלום عالم".to_owned()),
        Just("👩‍👩‍👧 e\u{301}\u{202e}\u{0}\u{b}\u{fffe}".to_owned()),
        "[a-z]{1,60} ",
        "\\PC{0,8}",
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

#[cfg(test)]
mod tests;
