//! Workbooks: sheets of cells, out of and into files.

mod csv;
mod typed;
mod xlsx;

use easel_tools::documents::{Sheet, WorkbookFile};

use crate::error::DocumentError;
use crate::limits::{Limits, Patience};
use crate::worker::Wanted;

pub(crate) use typed::number_of;
pub(crate) use xlsx::write;

/// Reads the sheets of an Excel file (xlsx), or the only one of a CSV file; which it is, the bytes say.
///
/// It computes on the calling thread.
///
/// # Errors
/// [`DocumentError`] names the file, the cause and the fix.
pub fn read_workbook(file: &WorkbookFile, limits: &Limits) -> Result<Vec<Sheet>, DocumentError> {
    read(file, limits, &Patience::new(limits.time, Wanted::default()))
}

/// Writes an Excel file. Names of sheets are made such as Excel takes.
///
/// It computes on the calling thread.
///
/// # Errors
/// [`DocumentError`] says which limit is passed.
pub fn write_workbook(sheets: &[Sheet], limits: &Limits) -> Result<Vec<u8>, DocumentError> {
    write(
        sheets,
        limits,
        &Patience::new(limits.time, Wanted::default()),
    )
}

pub(crate) fn read(
    file: &WorkbookFile,
    limits: &Limits,
    patience: &Patience,
) -> Result<Vec<Sheet>, DocumentError> {
    let limit = limits.file_bytes;
    if file.bytes.len() > limit {
        return Err(too_large(&file.name, "bytes", limit as u64));
    }
    match file.bytes.starts_with(b"PK\x03\x04") {
        true => xlsx::read(file, limits, patience),
        false => csv::read(file, limits, patience),
    }
}

fn too_large(name: &str, what: &'static str, limit: u64) -> DocumentError {
    DocumentError::TooLarge {
        name: name.to_owned(),
        what,
        limit,
    }
}

fn unreadable(name: &str, cause: impl ToString) -> DocumentError {
    DocumentError::Unreadable {
        name: name.to_owned(),
        cause: cause.to_string(),
    }
}

#[cfg(test)]
mod tests;
