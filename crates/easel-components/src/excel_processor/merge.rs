//! Several tables as one.

use std::collections::HashMap;
use std::sync::Arc;

use easel_core::Value;

use super::table::Table;

/// Cells that a merged table may have.
const CELLS: usize = 1_000_000;

/// How tables become one.
pub(super) enum Strategy {
    /// Rows below each other.
    Concat,
    /// Rows beside each other that have the same in this column.
    Join(Arc<str>),
}

impl Strategy {
    /// Merges them. Errors: why that cannot be done, a sentence.
    pub fn merge(&self, tables: Vec<Table>) -> Result<Table, String> {
        let merged = match self {
            Strategy::Concat => concat(&tables),
            Strategy::Join(column) => {
                let mut tables = tables.into_iter().enumerate();
                let (_, first) = tables.next().unwrap_or_default();
                has(&first, column)?;
                tables.try_fold(first, |left, (at, right)| join(left, right, column, at + 1))
            }
        }?;
        Ok(Table {
            name: "merged".to_owned(),
            ..merged
        })
    }
}

fn too_large() -> String {
    format!(
        "The merged table would have more than {CELLS} cells. Merge fewer files, or leave columns out."
    )
}

/// Rows below each other. A column that a table does not have is empty there.
fn concat(tables: &[Table]) -> Result<Table, String> {
    let mut places: HashMap<Arc<str>, usize> = HashMap::new();
    let mut merged = Table::default();
    for name in tables.iter().flat_map(|table| &table.columns) {
        places.entry(name.clone()).or_insert_with(|| {
            merged.columns.push(name.clone());
            merged.columns.len() - 1
        });
    }
    let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
    if rows.saturating_mul(merged.columns.len()) > CELLS {
        return Err(too_large());
    }
    for table in tables {
        for row in &table.rows {
            let mut cells = vec![Value::Null; merged.columns.len()];
            for (name, cell) in table.columns.iter().zip(row) {
                if let Some(place) = places.get(name).and_then(|at| cells.get_mut(*at)) {
                    *place = cell.clone();
                }
            }
            merged.rows.push(cells);
        }
    }
    Ok(merged)
}

fn has(table: &Table, column: &str) -> Result<usize, String> {
    let place = table.columns.iter().position(|name| **name == *column);
    place.ok_or_else(|| {
        let columns = table.columns.join(", ");
        format!(
            "The table {} has no column {column} to join on. It has: {columns}.",
            table.name
        )
    })
}

/// Rows beside each other, all of both tables: those that find nobody have empty cells. A column that both have is told apart by
/// the second table's number.
fn join(left: Table, right: Table, column: &str, number: usize) -> Result<Table, String> {
    let (left_key, right_key) = (has(&left, column)?, has(&right, column)?);
    let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, row) in right.rows.iter().enumerate() {
        by_key.entry(key(row, right_key)).or_default().push(at);
    }
    let mut columns = left.columns.clone();
    for (at, name) in right.columns.iter().enumerate() {
        if at != right_key {
            let taken = columns.contains(name);
            columns.push(if taken {
                format!("{name}_{number}").into()
            } else {
                name.clone()
            });
        }
    }
    let others = |row: &[Value]| -> Vec<Value> {
        let cells = row.iter().enumerate().filter(|(at, _)| *at != right_key);
        cells.map(|(_, cell)| cell.clone()).collect()
    };
    let mut met = vec![false; right.rows.len()];
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for row in left.rows {
        let partners = by_key
            .get(&key(&row, left_key))
            .map_or(&[][..], Vec::as_slice);
        if rows
            .len()
            .saturating_add(partners.len())
            .saturating_mul(columns.len())
            > CELLS
        {
            return Err(too_large());
        }
        for partner in partners {
            if let (Some(met), Some(partner)) = (met.get_mut(*partner), right.rows.get(*partner)) {
                *met = true;
                rows.push([row.clone(), others(partner)].concat());
            }
        }
        if partners.is_empty() {
            let mut alone = row;
            alone.resize(columns.len(), Value::Null);
            rows.push(alone);
        }
    }
    for (row, _) in right.rows.iter().zip(met).filter(|(_, met)| !met) {
        let mut alone = vec![Value::Null; left.columns.len()];
        if let (Some(place), Some(cell)) = (alone.get_mut(left_key), row.get(right_key)) {
            *place = cell.clone();
        }
        alone.extend(others(row));
        rows.push(alone);
    }
    if rows.len().saturating_mul(columns.len()) > CELLS {
        return Err(too_large());
    }
    Ok(Table {
        name: left.name,
        columns,
        rows,
    })
}

/// What a row is joined by: its text, so that `1` of a text file meets 1 of a workbook.
fn key(row: &[Value], at: usize) -> String {
    row.get(at).map(Value::to_string).unwrap_or_default()
}
