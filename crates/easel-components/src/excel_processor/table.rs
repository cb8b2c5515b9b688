//! A table: named columns and rows.

use std::collections::HashMap;
use std::sync::Arc;

use easel_core::{Object, Value};
use easel_secrets::Gate;
use easel_tools::documents::Sheet;

/// Columns that a description names.
const NAMED: usize = 5;

/// A table. Every row has a cell for each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    pub name: String,
    pub columns: Vec<Arc<str>>,
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// Rows of which the first is the head. A column without a name gets one, and one whose name is taken another.
    pub fn with_head(name: String, rows: Vec<Vec<Value>>) -> Table {
        let mut rows = rows.into_iter();
        let head = rows.next().unwrap_or_default();
        let mut rows: Vec<Vec<Value>> = rows.collect();
        let width = rows.iter().map(Vec::len).max().unwrap_or(0).max(head.len());
        let mut taken: HashMap<String, usize> = HashMap::new();
        let columns = (0..width).map(|at| {
            let name = head
                .get(at)
                .filter(|cell| !cell.is_null())
                .map(Value::to_string);
            let name = name.unwrap_or_else(|| format!("Unnamed: {at}"));
            free(&name, &mut taken)
        });
        let columns = columns.collect();
        rows.iter_mut()
            .for_each(|row| row.resize(width, Value::Null));
        Table {
            name,
            columns,
            rows,
        }
    }

    /// Objects, each a row. The columns are their members' names, in the order in which they come up.
    pub fn of_objects<'v>(
        name: String,
        objects: impl Iterator<Item = &'v Object> + Clone,
    ) -> Table {
        let mut places: HashMap<Arc<str>, usize> = HashMap::new();
        let mut columns = Vec::new();
        for key in objects.clone().flat_map(Object::keys) {
            places.entry(key.clone()).or_insert_with(|| {
                columns.push(key.clone());
                columns.len() - 1
            });
        }
        let row = |object: &Object| {
            let cells = columns.iter().map(|column| object.get(column).cloned());
            cells.map(Option::unwrap_or_default).collect()
        };
        Table {
            name,
            rows: objects.map(row).collect(),
            columns,
        }
    }

    /// Masks the secrets that a run knows.
    pub fn mask(&mut self, gate: &Gate) {
        if !gate.is_armed() {
            return;
        }
        self.columns
            .iter_mut()
            .for_each(|name| gate.mask_text(name));
        let cells = self.rows.iter_mut().flatten();
        cells.for_each(|cell| gate.mask_value(cell));
    }

    /// Its rows as objects.
    fn objects(&self) -> Value {
        let row = |cells: &Vec<Value>| {
            let members = self.columns.iter().cloned().zip(cells.iter().cloned());
            Value::from(members.collect::<Object>())
        };
        self.rows.iter().map(row).collect::<Vec<_>>().into()
    }

    /// `**sales**: 2 rows, 3 columns (a, b, c)`.
    pub fn described(&self) -> String {
        let named = self.columns.iter().take(NAMED).map(|name| &**name);
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if self.columns.len() > NAMED {
            "…"
        } else {
            ""
        };
        format!(
            "**{}**: {} rows, {} columns ({named}{more})",
            self.name,
            self.rows.len(),
            self.columns.len()
        )
    }

    /// Its first rows in Markdown, under its name.
    pub fn to_markdown(&self, rows: usize) -> String {
        format!("### {}\n\n{}", self.name, self.head(rows).to_markdown(rows))
    }

    /// The head and the first rows as a sheet.
    fn head(&self, rows: usize) -> Sheet {
        let head = self.columns.iter().map(|name| Value::String(name.clone()));
        let mut all = vec![head.collect::<Vec<_>>()];
        all.extend(self.rows.iter().take(rows).cloned());
        Sheet {
            name: self.name.clone(),
            rows: all,
        }
    }

    pub fn to_sheet(&self) -> Sheet {
        self.head(usize::MAX)
    }

    /// The table as RFC 4180 has it, in UTF-8 with a mark in front by which Excel knows that.
    pub fn to_csv(&self) -> String {
        let mut out = String::from("\u{feff}");
        for row in &self.to_sheet().rows {
            for (at, cell) in row.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                let text = match cell {
                    Value::Null => String::new(),
                    other => other.to_string(),
                };
                match text.contains([',', '"', '\n', '\r']) || text.trim() != text {
                    true => out.push_str(&format!("\"{}\"", text.replace('"', "\"\""))),
                    false => out.push_str(&text),
                }
            }
            out.push_str("\r\n");
        }
        out
    }
}

/// A name that is not taken yet: `name`, `name.1`, `name.2`.
fn free(name: &str, taken: &mut HashMap<String, usize>) -> Arc<str> {
    let mut wanted = name.to_owned();
    while let Some(count) = taken.get_mut(&wanted) {
        *count += 1;
        wanted = format!("{name}.{count}");
        if !taken.contains_key(&wanted) {
            break;
        }
        wanted = name.to_owned();
    }
    taken.insert(wanted.clone(), 0);
    wanted.into()
}

/// All tables by their names.
pub(super) fn data(tables: &[Table]) -> Object {
    let named = tables
        .iter()
        .map(|table| (table.name.as_str().into(), table.objects()));
    named.collect()
}
