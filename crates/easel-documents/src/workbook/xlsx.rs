//! Workbooks of Excel.

use std::collections::{BTreeMap, HashSet};
use std::io::{Cursor, Read};

use calamine::{DataRef, ExcelDateTime, Reader, Xlsx, XlsxError};
use easel_core::Value;
use easel_tools::documents::{Sheet, WorkbookFile};
use rust_xlsxwriter::{Format, Workbook, Worksheet};

use super::{too_large, unreadable};
use crate::error::DocumentError;
use crate::limits::{Limits, Patience};

/// The widest column, in pixels.
const WIDEST: u32 = 480;
/// Characters of a cell, by the format.
pub(crate) const CELL: usize = 32_767;
/// Columns of a sheet, by the format.
const COLUMNS: usize = 16_384;
/// Rows of a sheet, by the format.
const ROWS: usize = 1_048_576;
/// Characters of a sheet's name, by the format.
const NAME: usize = 31;
/// The largest whole number that a float has exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) fn read(
    file: &WorkbookFile,
    limits: &Limits,
    patience: &Patience,
) -> Result<Vec<Sheet>, DocumentError> {
    unpacks_within(file, limits.unpacked_bytes)?;
    let damaged = |cause: XlsxError| unreadable(&file.name, cause);
    let mut workbook = Xlsx::new(Cursor::new(&*file.bytes)).map_err(damaged)?;
    let names = workbook.sheet_names();
    if names.len() > limits.sheets {
        return Err(too_large(&file.name, "sheets", limits.sheets as u64));
    }
    let mut left = limits.cells;
    let mut sheets = Vec::new();
    for name in names {
        // Charts and macros are sheets, too, and have no cells.
        let cells = match workbook.worksheet_cells_reader(&name) {
            Ok(mut reader) => {
                let mut cells = Cells::default();
                while let Some(cell) = reader.next_cell().map_err(damaged)? {
                    patience.check()?;
                    cells.put(cell.get_position(), value(cell.get_value()));
                    if cells.area() > left {
                        return Err(too_large(&file.name, "cells", limits.cells as u64));
                    }
                }
                cells
            }
            Err(XlsxError::WorksheetNotFound(_)) => continue,
            Err(cause) => return Err(damaged(cause)),
        };
        left = left.saturating_sub(cells.area());
        let rows = cells.rows();
        sheets.push(Sheet { name, rows });
    }
    Ok(sheets)
}

/// Unpacks everything once: the library does that without a limit.
fn unpacks_within(file: &WorkbookFile, limit: u64) -> Result<(), DocumentError> {
    let damaged = |cause: &dyn std::fmt::Display| unreadable(&file.name, cause);
    let archive = zip::ZipArchive::new(Cursor::new(&*file.bytes));
    let mut archive = archive.map_err(|cause| damaged(&cause))?;
    let mut left = limit;
    for at in 0..archive.len() {
        let part = archive.by_index(at).map_err(|cause| damaged(&cause))?;
        let read = std::io::copy(&mut part.take(left + 1), &mut std::io::sink());
        let read = read.map_err(|cause| damaged(&cause))?;
        let rest = left.checked_sub(read);
        left = rest.ok_or_else(|| too_large(&file.name, "bytes when unpacked", limit))?;
    }
    Ok(())
}

/// The cells of a sheet that have something in them, by row and column. One far away costs nothing before its area is known.
#[derive(Default)]
struct Cells {
    rows: BTreeMap<u32, BTreeMap<u32, Value>>,
    columns: Option<(u32, u32)>,
}

impl Cells {
    fn put(&mut self, (row, column): (u32, u32), value: Value) {
        if value.is_null() {
            return;
        }
        let (first, last) = self.columns.unwrap_or((column, column));
        self.columns = Some((first.min(column), last.max(column)));
        self.rows.entry(row).or_default().insert(column, value);
    }

    /// Cells between the first and the last of both directions.
    fn area(&self) -> usize {
        let ends = self.rows.keys().next().zip(self.rows.keys().next_back());
        let (Some((top, bottom)), Some((left, right))) = (ends, self.columns) else {
            return 0;
        };
        let side = |first: u32, last: u32| (last - first) as usize + 1;
        side(*top, *bottom).saturating_mul(side(left, right))
    }

    fn rows(mut self) -> Vec<Vec<Value>> {
        let ends = self.rows.keys().next().zip(self.rows.keys().next_back());
        let (Some((top, bottom)), Some((left, right))) = (ends, self.columns) else {
            return Vec::new();
        };
        let rows = *top..=*bottom;
        rows.map(|row| {
            let mut cells = self.rows.remove(&row).unwrap_or_default();
            let cells = (left..=right).map(|column| cells.remove(&column).unwrap_or_default());
            cells.collect()
        })
        .collect()
    }
}

/// A cell as data. What went wrong in Excel is no value.
fn value(cell: &DataRef<'_>) -> Value {
    match cell {
        DataRef::Int(n) => Value::from(*n),
        DataRef::Float(n) if n.fract() == 0.0 && n.abs() < EXACT => Value::from(*n as i64),
        DataRef::Float(n) => Value::from(*n),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text_value(text)
        }
        DataRef::SharedString(text) => text_value(text),
        DataRef::Bool(held) => Value::from(*held),
        DataRef::DateTime(time) => Value::from(date(time)),
        DataRef::Error(_) | DataRef::Empty => Value::Null,
    }
}

fn text_value(text: &str) -> Value {
    match text.is_empty() {
        true => Value::Null,
        false => Value::from(text),
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

/// Writes a workbook. The first row of each sheet is its head.
pub(crate) fn write(
    sheets: &[Sheet],
    limits: &Limits,
    patience: &Patience,
) -> Result<Vec<u8>, DocumentError> {
    const FILE: &str = "The workbook";
    if sheets.len() > limits.sheets {
        return Err(too_large(FILE, "sheets", limits.sheets as u64));
    }
    let cells: usize = sheets
        .iter()
        .flat_map(|sheet| &sheet.rows)
        .map(Vec::len)
        .sum();
    if cells > limits.cells {
        return Err(too_large(FILE, "cells", limits.cells as u64));
    }
    let unwritable = |cause: rust_xlsxwriter::XlsxError| DocumentError::Unwritable {
        what: FILE,
        cause: cause.to_string(),
    };
    let mut workbook = Workbook::new();
    let mut taken = HashSet::new();
    let empty = [Sheet::default()];
    // A workbook without a sheet is none.
    let sheets = if sheets.is_empty() { &empty } else { sheets };
    for (at, sheet) in sheets.iter().enumerate() {
        let name = sheet_name(&sheet.name, at + 1, &mut taken);
        if sheet.rows.len() > ROWS {
            return Err(too_large(FILE, "rows in a sheet", ROWS as u64));
        }
        let page = workbook
            .add_worksheet()
            .set_name(name)
            .map_err(unwritable)?;
        for (row, cells) in sheet.rows.iter().enumerate() {
            patience.check()?;
            if cells.len() > COLUMNS {
                return Err(too_large(FILE, "columns in a sheet", COLUMNS as u64));
            }
            for (column, cell) in cells.iter().enumerate() {
                put(page, (row as u32, column as u16), cell)?;
            }
        }
        page.set_freeze_panes(1, 0).map_err(unwritable)?;
        page.set_autofit_max_width(WIDEST).autofit();
    }
    workbook.save_to_buffer().map_err(unwritable)
}

/// Writes a cell: a number, a truth, or a text that is never a formula.
fn put(page: &mut Worksheet, (row, column): (u32, u16), cell: &Value) -> Result<(), DocumentError> {
    let format = match row {
        0 => Format::new().set_bold(),
        _ => Format::new(),
    };
    let written = match cell {
        Value::Null => return Ok(()),
        Value::Bool(held) => page.write_boolean(row, column, *held),
        Value::Number(number) if number.as_f64().abs() < EXACT => {
            page.write_number_with_format(row, column, number.as_f64(), &format)
        }
        other => {
            let text = match other {
                Value::String(text) => text.to_string(),
                other => other.to_json_text(),
            };
            if text.chars().count() > CELL {
                return Err(too_large(
                    "The workbook",
                    "characters in a cell",
                    CELL as u64,
                ));
            }
            page.write_string_with_format(row, column, text, &format)
        }
    };
    let written = written.map(drop);
    written.map_err(|cause| DocumentError::Unwritable {
        what: "The workbook",
        cause: cause.to_string(),
    })
}

/// A name that Excel takes and no other sheet has.
fn sheet_name(wanted: &str, number: usize, taken: &mut HashSet<String>) -> String {
    let fit = |c: char| match c {
        '/' | '\\' => Some('_'),
        '*' | '?' | '[' | ']' | ':' => None,
        c if c.is_control() => Some(' '),
        c => Some(c),
    };
    let name: String = wanted.chars().filter_map(fit).collect();
    let name = name.trim().trim_matches('\'').trim();
    // Excel keeps this name to itself.
    let reserved = name.eq_ignore_ascii_case("history");
    let name = match name.is_empty() || reserved {
        true => format!("Table_{number}"),
        false => name.to_owned(),
    };
    for again in 0_usize.. {
        let tail = if again == 0 {
            String::new()
        } else {
            format!("_{again}")
        };
        // The format counts as UTF-16 does.
        let mut room = NAME - tail.len();
        let fits = |c: &char| {
            let left = room.checked_sub(c.len_utf16());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let name: String = name.chars().take_while(fits).collect();
        let name = format!("{}{tail}", name.trim_end_matches(['\'', ' ']));
        if taken.insert(name.to_lowercase()) {
            return name;
        }
    }
    format!("Table_{number}")
}
