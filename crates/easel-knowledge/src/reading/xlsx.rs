//! Workbooks of Excel: a table for each sheet, under its name.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader, Xlsx};

use super::package::Package;
use crate::error::ReadError;
use crate::limits::Limits;
use crate::text::Writer;

const FORMAT: &str = "xlsx";

/// Cells of one sheet that are read.
const CELLS: usize = 2_000_000;

pub(super) fn read(bytes: &[u8], limits: &Limits, out: &mut Writer) -> Result<(), ReadError> {
    // The library unpacks without a limit, so it is asked only once it is known what comes out.
    Package::open(bytes, FORMAT, limits)?.verify()?;
    let damaged = |cause: calamine::XlsxError| ReadError::damaged(FORMAT, cause);
    let mut workbook = Xlsx::new(Cursor::new(bytes)).map_err(damaged)?;
    let names = workbook.sheet_names();
    if names.len() > limits.pages {
        return Err(ReadError::new(
            format!("it has more than {} sheets", limits.pages),
            "Split it into smaller documents",
        ));
    }
    for name in names {
        // Charts and macros are sheets, too, and have no cells.
        let rows = match workbook.worksheet_cells_reader(&name) {
            Ok(mut cells) => rows(|| cells.next_cell(), out)?,
            Err(calamine::XlsxError::WorksheetNotFound(_)) => continue,
            Err(cause) => return Err(damaged(cause)),
        };
        out.page();
        if !rows.is_empty() {
            out.heading(2, &name)?;
            out.table(&rows)?;
        }
    }
    Ok(())
}

/// The rows of a sheet; rows and columns without anything are left out, so a cell far away costs no more than its text.
fn rows<'a>(
    mut next: impl FnMut() -> Result<Option<calamine::Cell<DataRef<'a>>>, calamine::XlsxError>,
    out: &mut Writer,
) -> Result<Vec<Vec<String>>, ReadError> {
    let mut rows: BTreeMap<u32, BTreeMap<u32, String>> = BTreeMap::new();
    let (mut columns, mut count) = (BTreeSet::new(), 0_usize);
    while let Some(cell) = next().map_err(|cause| ReadError::damaged(FORMAT, cause))? {
        let text = text(cell.get_value());
        if text.trim().is_empty() {
            continue;
        }
        count += 1;
        let (row, column) = cell.get_position();
        columns.insert(column);
        rows.entry(row).or_default().insert(column, text);
        if count > CELLS || rows.len().saturating_mul(columns.len()) > 4 * CELLS {
            return Err(ReadError::new(
                format!("a sheet has more than {CELLS} cells"),
                "Split the workbook, or keep the data in a database",
            ));
        }
        out.check_time()?;
    }
    let filled = |mut cells: BTreeMap<u32, String>| {
        let cells = columns.iter().map(|column| cells.remove(column));
        cells.map(Option::unwrap_or_default).collect()
    };
    Ok(rows.into_values().map(filled).collect())
}

/// A cell as people read it.
fn text(cell: &DataRef<'_>) -> String {
    match cell {
        DataRef::Int(n) => n.to_string(),
        DataRef::Float(n) => n.to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.clone()
        }
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(held) => if *held { "TRUE" } else { "FALSE" }.into(),
        DataRef::DateTime(time) => date(time),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

/// `2026-03-01`, with the time where there is one; a duration in hours.
fn date(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        let minutes = (time.as_f64() * 24.0 * 60.0).round();
        return format!("{}:{:02}", (minutes / 60.0).floor(), minutes % 60.0);
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let date = format!("{year}-{month:02}-{day:02}");
    match (hour, minute, second) {
        (0, 0, 0) => date,
        _ => format!("{date} {hour:02}:{minute:02}:{second:02}"),
    }
}
