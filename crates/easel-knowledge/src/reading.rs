//! Documents to text.

mod csv;
mod docx;
mod epub;
mod html;
mod json;
mod leaving;
mod mail;
mod package;
mod pdf;
mod plain;
mod pptx;
mod xlsx;
mod xml;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{KnowledgeError, ReadError};
use crate::format::Format;
use crate::limits::Limits;
use crate::text::{Text, Writer};
pub(crate) use leaving::{Leaving, leads_to_a_page};

/// Reads a document: its format and its text as Markdown.
///
/// It computes on the calling thread. What belongs to an async task goes through [`crate::Knowledge::add`].
///
/// # Errors
///
/// [`KnowledgeError::Document`] names the document, the cause and the fix.
pub fn read(name: &str, bytes: &[u8], limits: &Limits) -> Result<(Format, Text), KnowledgeError> {
    read_leaving(name, bytes, limits, Leaving::default())
}

/// Reads a document without what is to be left out.
pub(crate) fn read_leaving(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    leaving: Leaving,
) -> Result<(Format, Text), KnowledgeError> {
    let read = || {
        let (format, text) = read_unnamed(name, bytes, limits)?;
        Ok((format, leaving.apply(text)))
    };
    // The readers of PDF and workbooks panic on some damaged files. Nothing they had is used afterwards.
    let read = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        let format = Format::of_name(name).map_or("a document", Format::name);
        Err(ReadError::damaged(format, "its reader gave up"))
    });
    read.map_err(|error| error.of(name))
}

fn read_unnamed(name: &str, bytes: &[u8], limits: &Limits) -> Result<(Format, Text), ReadError> {
    if bytes.len() as u64 > limits.file_bytes {
        return Err(ReadError::new(
            format!("it is larger than {} bytes", limits.file_bytes),
            "Split it into smaller documents",
        ));
    }
    let format = Format::detect(name, bytes)?;
    let mut out = Writer::new(limits);
    match format {
        Format::Plain | Format::Markdown => plain::read(bytes, &mut out)?,
        Format::Html => html::read(bytes, &mut out)?,
        Format::Pdf => pdf::read(bytes, limits, &mut out)?,
        Format::Docx => docx::read(bytes, limits, &mut out)?,
        Format::Pptx => pptx::read(bytes, limits, &mut out)?,
        Format::Xlsx => xlsx::read(bytes, limits, &mut out)?,
        Format::Csv => csv::read(bytes, &mut out)?,
        Format::Json => json::read(bytes, &mut out)?,
        Format::Epub => epub::read(bytes, limits, &mut out)?,
        Format::Mail => mail::read(bytes, &mut out)?,
    }
    let text = out.finish();
    if text.markdown.trim().is_empty() {
        return Err(ReadError::new(
            "there is no text in it",
            match format {
                Format::Pdf => "If its pages are pictures, have their text recognised first",
                _ => "Leave it out, or check that it is the right file",
            },
        ));
    }
    Ok((format, text))
}
