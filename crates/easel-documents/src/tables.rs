//! The tables of a text as a workbook.

use easel_core::Value;
use easel_tools::documents::Sheet;

use crate::block::{Block, Table, text_of};
use crate::plain;
use crate::workbook::number_of;

/// Characters of a cell, by the format.
const CELL: usize = 32_767;

/// A sheet for each table, named after the line before it; without tables one sheet with the lines of the text. Gives also how
/// many cells had to be cut.
pub(crate) fn sheets(blocks: &[Block]) -> (Vec<Sheet>, usize) {
    let mut found = Found::default();
    found.walk(blocks);
    if found.sheets.is_empty() {
        let text = plain::text(blocks);
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines = lines.map(|line| vec![found.cell(line, false)]);
        let mut rows = vec![vec![Value::from("Content")]];
        rows.extend(lines.collect::<Vec<_>>());
        found.sheets.push(Sheet {
            name: "Data".to_owned(),
            rows,
        });
    }
    (found.sheets, found.cut)
}

#[derive(Default)]
struct Found {
    sheets: Vec<Sheet>,
    cut: usize,
}

impl Found {
    fn walk(&mut self, blocks: &[Block]) {
        let mut title = None;
        for block in blocks {
            match block {
                Block::Table(table) => {
                    let name = title.take();
                    let name = name.unwrap_or_else(|| format!("Table_{}", self.sheets.len() + 1));
                    self.table(name, table);
                }
                Block::Heading { spans, .. } => title = Some(text_of(spans).replace('\n', " ")),
                Block::Paragraph(spans) => title = named(&text_of(spans)),
                Block::Quote(blocks) => self.walk(blocks),
                Block::List { items, .. } => {
                    for item in items {
                        self.walk(&item.blocks);
                    }
                }
                Block::Code(_) | Block::Rule => title = None,
            }
        }
    }

    fn table(&mut self, name: String, table: &Table) {
        let rows = table.rows.iter().map(|row| {
            let cells = row.iter().map(|spans| self.cell(&text_of(spans), true));
            cells.collect()
        });
        let rows = rows.collect();
        self.sheets.push(Sheet { name, rows });
    }

    fn cell(&mut self, text: &str, typed: bool) -> Value {
        if text.trim().is_empty() {
            return Value::Null;
        }
        if let Some(number) = number_of(text, true).filter(|_| typed) {
            return number;
        }
        if text.chars().count() <= CELL {
            return Value::from(text);
        }
        self.cut += 1;
        let cut: String = text.chars().take(CELL - 1).collect();
        Value::from(format!("{cut}…"))
    }
}

/// The name of a table by the paragraph before it: its last line, if that speaks of a table.
fn named(paragraph: &str) -> Option<String> {
    let line = paragraph.lines().next_back()?.trim();
    let speaks = line.to_lowercase().starts_with("table") || line.contains([':', '：']);
    let name = line.trim_end_matches([':', '：']);
    (speaks && !name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Patience;

    fn read(markdown: &str) -> Vec<Sheet> {
        sheets(&crate::markdown::blocks(markdown, &Patience::endless()).unwrap()).0
    }

    fn names(sheets: &[Sheet]) -> Vec<&str> {
        sheets.iter().map(|sheet| sheet.name.as_str()).collect()
    }

    #[test]
    fn every_table_is_a_sheet_named_after_the_line_before_it() {
        let table = "| a | b |\n|---|---|\n| 1,200 | **007** |\n";
        let text = format!(
            "## Sales 2026\n\n{table}\nTable 2. Costs\n\n{table}\nNothing to say.\n\n{table}\nIn short:\n\n{table}\n> {table}"
        );
        let sheets = read(&text);
        assert_eq!(
            names(&sheets)[..4],
            ["Sales 2026", "Table 2. Costs", "Table_3", "In short"]
        );
        let row = Value::from(sheets[0].rows[1].clone()).to_json_text();
        assert_eq!(row, r#"[1200,"007"]"#);
    }

    #[test]
    fn a_text_without_tables_is_a_sheet_of_its_lines() {
        let sheets = read("# Title\n\nOne\n\nTwo");
        assert_eq!(names(&sheets), ["Data"]);
        let rows = sheets[0].rows.iter().map(|row| row[0].to_string());
        assert_eq!(rows.collect::<Vec<_>>(), ["Content", "Title", "One", "Two"]);
    }

    #[test]
    fn a_cell_that_is_too_long_for_the_format_is_cut_and_counted() {
        let text = format!("| a |\n|---|\n| {} |\n", "x".repeat(40_000));
        let blocks = crate::markdown::blocks(&text, &Patience::endless()).unwrap();
        let (sheets, cut) = sheets(&blocks);
        assert_eq!(cut, 1);
        assert_eq!(sheets[0].rows[1][0].to_string().chars().count(), CELL);
    }
}
