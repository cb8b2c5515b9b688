//! Which format a document has, by its content and its name.

use std::io::Cursor;

use crate::error::ReadError;

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text without marks.
    Plain,
    /// Markdown.
    Markdown,
    /// A web page.
    Html,
    /// PDF.
    Pdf,
    /// A document of Word (2007 and later).
    Docx,
    /// Slides of PowerPoint (2007 and later).
    Pptx,
    /// A workbook of Excel (2007 and later).
    Xlsx,
    /// A table, with commas, semicolons, tabs or bars between the cells.
    Csv,
    /// JSON, or a JSON value in each line.
    Json,
    /// An e-book.
    Epub,
    /// A mail.
    Mail,
}

impl Format {
    /// Its name, as records keep it: `pdf`, `docx`, ...
    pub fn name(self) -> &'static str {
        match self {
            Format::Plain => "txt",
            Format::Markdown => "md",
            Format::Html => "html",
            Format::Pdf => "pdf",
            Format::Docx => "docx",
            Format::Pptx => "pptx",
            Format::Xlsx => "xlsx",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Epub => "epub",
            Format::Mail => "eml",
        }
    }

    /// The format that a file's ending promises. `None` for one that promises nothing.
    pub fn of_name(name: &str) -> Option<Format> {
        let (_, ending) = name.rsplit_once('.')?;
        Some(match ending.to_ascii_lowercase().as_str() {
            "txt" | "text" | "log" | "rst" => Format::Plain,
            "md" | "markdown" | "mdx" => Format::Markdown,
            "html" | "htm" | "xhtml" => Format::Html,
            "pdf" => Format::Pdf,
            "docx" | "docm" => Format::Docx,
            "pptx" | "pptm" => Format::Pptx,
            "xlsx" | "xlsm" => Format::Xlsx,
            "csv" | "tsv" => Format::Csv,
            "json" | "jsonl" | "ndjson" => Format::Json,
            "epub" => Format::Epub,
            "eml" => Format::Mail,
            _ => return None,
        })
    }

    /// The format of a document. What it holds counts more than what it is called.
    pub(crate) fn detect(name: &str, bytes: &[u8]) -> Result<Format, ReadError> {
        let promised = Format::of_name(name);
        let start = &bytes[..bytes.len().min(1024)];
        if start.windows(5).any(|five| five == b"%PDF-") && promised.is_none_or(Format::is_packed) {
            return Ok(Format::Pdf);
        }
        if bytes.starts_with(b"PK\x03\x04") {
            return packed(bytes);
        }
        if bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
            return Err(ReadError::new(
                "it is an Office file from before 2007, or one with a password",
                "Save it as docx, pptx or xlsx, without a password",
            ));
        }
        match promised {
            Some(format) if format.is_packed() => Err(ReadError::new(
                format!("it is called {} but does not begin like one", format.name()),
                "Check that the file is whole, or give it the ending of what it is",
            )),
            Some(format) => Ok(format),
            None if looks_like_html(start) => Ok(Format::Html),
            None => Ok(Format::Plain),
        }
    }

    fn is_packed(self) -> bool {
        matches!(
            self,
            Format::Pdf | Format::Docx | Format::Pptx | Format::Xlsx | Format::Epub
        )
    }
}

/// Which document a zip archive is.
fn packed(bytes: &[u8]) -> Result<Format, ReadError> {
    let archive = zip::ZipArchive::new(Cursor::new(bytes))
        .map_err(|cause| ReadError::damaged("a zip archive", cause))?;
    let parts = [
        ("word/document.xml", Format::Docx),
        ("ppt/presentation.xml", Format::Pptx),
        ("xl/workbook.xml", Format::Xlsx),
        ("META-INF/container.xml", Format::Epub),
    ];
    let found = parts
        .into_iter()
        .find(|(part, _)| archive.index_for_name(part).is_some());
    found.map(|(_, format)| format).ok_or_else(|| {
        ReadError::new(
            "it is an archive, but no docx, pptx, xlsx or epub",
            "Unpack it and add the documents that are in it",
        )
    })
}

fn looks_like_html(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start).to_ascii_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    ["<!doctype html", "<html", "<head", "<body"]
        .iter()
        .any(|tag| text.starts_with(tag))
}
