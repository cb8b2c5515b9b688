//! Rows as a table in Markdown, laid out so that it also reads as plain text.

use easel_core::Value;
use easel_tools::sql::SqlRows;

/// Columns are this much wider than their names, as in the tables that shipped canvases expect.
const ROOM: usize = 2;

/// The rows as a table: numbers to the right with their points under one another, all else to the left.
pub(super) fn markdown(rows: &SqlRows) -> String {
    let columns: Vec<Column> = (0..rows.columns.len())
        .map(|at| Column::new(rows, at))
        .collect();
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![
        line(columns.iter().map(|c| c.pad(&c.name)).collect()),
        format!(
            "|{}|",
            columns
                .iter()
                .map(Column::rule)
                .collect::<Vec<_>>()
                .join("|")
        ),
    ];
    for row in 0..rows.rows.len() {
        let cells = columns
            .iter()
            .map(|c| c.pad(c.cells.get(row).map_or("", String::as_str)));
        lines.push(line(cells.collect()));
    }
    lines.join("\n")
}

struct Column {
    name: String,
    cells: Vec<String>,
    numbers: bool,
    width: usize,
}

impl Column {
    fn new(rows: &SqlRows, at: usize) -> Column {
        let name = rows
            .columns
            .get(at)
            .map(|name| cell(name))
            .unwrap_or_default();
        let values: Vec<&Value> = rows
            .rows
            .iter()
            .map(|row| row.get(at).unwrap_or(&Value::Null))
            .collect();
        let mut set = values.iter().filter(|value| !value.is_null()).peekable();
        let numbers = set.peek().is_some() && set.all(|value| matches!(value, Value::Number(_)));
        let mut cells: Vec<String> = values
            .iter()
            .map(|value| cell(&value.to_string()))
            .collect();
        if numbers {
            align_points(&mut cells);
        }
        let longest = cells
            .iter()
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0);
        Column {
            width: longest.max(name.chars().count() + ROOM),
            name,
            cells,
            numbers,
        }
    }

    fn pad(&self, text: &str) -> String {
        let width = self.width;
        match self.numbers {
            true => format!("{text:>width$}"),
            false => format!("{text:<width$}"),
        }
    }

    fn rule(&self) -> String {
        let dashes = "-".repeat(self.width + 1);
        match self.numbers {
            true => format!("{dashes}:"),
            false => format!(":{dashes}"),
        }
    }
}

/// Fills up numbers with blanks on the right, so that their decimal points are at the same distance from the end.
fn align_points(cells: &mut [String]) {
    let decimals = |cell: &str| cell.find('.').map_or(0, |point| cell.len() - point);
    let most = cells.iter().map(|cell| decimals(cell)).max().unwrap_or(0);
    for cell in cells {
        let missing = most - decimals(cell);
        cell.push_str(&" ".repeat(missing));
    }
}

/// A text that does not break the table.
fn cell(text: &str) -> String {
    let text = text.replace("\r\n", " ").replace(['\n', '\r'], " ");
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(columns: &[&str], rows: serde_json::Value) -> SqlRows {
        let rows: Vec<Vec<Value>> = serde_json::from_value(rows).unwrap();
        SqlRows {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows,
        }
    }

    #[test]
    fn numbers_stand_to_the_right() {
        assert_eq!(
            markdown(&rows(&["a"], json!([[1]]))),
            "|   a |\n|----:|\n|   1 |"
        );
        assert_eq!(
            markdown(&rows(
                &["name", "price"],
                json!([["cup", 2.5], ["big|cup", 10], [null, null]])
            )),
            "| name     |   price |\n|:---------|--------:|\n| cup      |     2.5 |\n| big\\|cup |    10   |\n|          |         |"
        );
    }
}
