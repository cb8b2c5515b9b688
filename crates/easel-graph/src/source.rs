//! The text of a file: reading it within limits, as YAML or as JSON.

use std::path::Path;

use crate::error::ReadError;
use crate::marked::Marked;
use crate::place::{Place, Position};
use crate::{json, yaml};

/// What is accepted before a text is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text, at most.
    pub bytes: usize,
    /// Mappings and lists inside one another, at most. Values above 100 are taken as 100: a value that deep can't be
    /// stored or written again.
    pub depth: usize,
    /// Values of any kind, at most. What an alias repeats counts each time.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes: 8_000_000,
            depth: easel_core::value::MAX_DEPTH,
            values: 200_000,
        }
    }
}

/// How a text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// YAML 1.1, as the old engine's loader read it.
    #[default]
    Yaml,
    /// JSON.
    Json,
}

impl Format {
    /// The format that a file's name tells: `.yaml` and `.yml` are YAML, anything else is JSON.
    pub fn of_path(path: &Path) -> Format {
        let suffix = path.extension().map(|suffix| suffix.to_ascii_lowercase());
        match suffix {
            Some(suffix) if suffix == "yaml" || suffix == "yml" => Format::Yaml,
            _ => Format::Json,
        }
    }
}

/// A member that its mapping has more than once. The last one counts; the others are lost when the text is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The member.
    pub place: Place,
    /// The name where it stands first.
    pub first: Position,
    /// The name where it stands again.
    pub again: Position,
}

/// A text that was read, with the value it holds and the place of everything in it.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
    format: Format,
    /// The value.
    pub(crate) root: Marked,
    /// Members that stand more than once, in the order of the text.
    pub(crate) duplicates: Vec<Duplicate>,
}

/// The marker that some editors put before UTF-8 text. It takes no column.
const BYTE_ORDER_MARK: &str = "\u{feff}";

impl Source {
    /// Reads a text. Takes time in proportion to its length, and no bytes make it panic.
    ///
    /// # Errors
    ///
    /// See [`ReadError`]; each names the line and column, except that of a text too large.
    pub fn read(bytes: &[u8], format: Format, limits: Limits) -> Result<Source, ReadError> {
        if bytes.len() > limits.bytes {
            return Err(ReadError::TooLarge {
                bytes: bytes.len(),
                limit: limits.bytes,
            });
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let before = std::str::from_utf8(valid).unwrap_or_default();
            ReadError::NotUtf8 {
                at: position(before, before.len()),
            }
        })?;
        let marker = if text.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let body = text.get(marker..).unwrap_or_default();
        let limits = Limits {
            depth: limits.depth.min(easel_core::value::MAX_DEPTH),
            ..limits
        };
        let (root, duplicates) = match format {
            Format::Yaml => yaml::read(body, limits)?,
            Format::Json => json::read(body, limits)?,
        };
        Ok(Source {
            // Offsets count from the text behind the marker, which is put back when the text is written.
            text: body.to_owned(),
            format,
            root,
            duplicates,
        })
    }

    /// The text as it was read, without a byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How the text is written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The value that the text holds.
    pub fn root(&self) -> &Marked {
        &self.root
    }

    /// Members that stand more than once in one mapping, in the order of the text. The last one counts.
    pub fn duplicate_keys(&self) -> &[Duplicate] {
        &self.duplicates
    }
}

/// The position of a byte of a text.
pub(crate) fn position(text: &str, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Position {
        line: before.bytes().filter(|&b| b == b'\n').count() + 1,
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        offset,
        len: 0,
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
