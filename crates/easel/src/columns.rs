//! Tables for people.

use std::io::IsTerminal;

use console::{Alignment, measure_text_width, pad_str, truncate_str};

/// The blank between two columns.
const GAP: &str = "  ";

/// The narrowest that the last column gets.
const NARROWEST: usize = 20;

/// Rows under names of columns. All but the last column are as wide as what is in them; the last one fills the terminal, and
/// in a pipe it is never cut.
pub struct Columns {
    names: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// A table without rows.
    pub fn new(names: &[&'static str]) -> Columns {
        Columns {
            names: names.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| one_line(&cell)).to_vec());
    }

    /// The table as text, for standard output.
    pub fn for_output(&self) -> String {
        let terminal = std::io::stdout().is_terminal();
        let width = terminal_size::terminal_size().filter(|_| terminal);
        self.text(width.map(|(width, _)| usize::from(width.0)))
    }

    fn text(&self, width: Option<usize>) -> String {
        let names = self.names.iter().map(|name| (*name).to_owned()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&names).chain(&self.rows).collect();
        let widest = |at: usize| {
            let cells = lines.iter().filter_map(|line| line.get(at));
            cells.map(|cell| measure_text_width(cell)).max()
        };
        let last = self.names.len().saturating_sub(1);
        let widths: Vec<usize> = (0..last).map(|at| widest(at).unwrap_or(0)).collect();
        let taken: usize = widths.iter().map(|width| width + GAP.len()).sum();
        let room = width.map(|width| width.saturating_sub(taken).max(NARROWEST));
        let mut text = String::new();
        for line in lines {
            let mut row = String::new();
            for (at, cell) in line.iter().enumerate() {
                match widths.get(at) {
                    Some(width) => {
                        row.push_str(&pad_str(cell, *width, Alignment::Left, None));
                        row.push_str(GAP);
                    }
                    None => match room {
                        Some(room) => row.push_str(&truncate_str(cell, room, "…")),
                        None => row.push_str(cell),
                    },
                }
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A text without line breaks, and without what would move a terminal's cursor.
pub fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Columns {
        let mut table = Columns::new(&["NAME", "WHAT"]);
        table.row(["Straße".to_owned(), "a\nlong text that goes on".to_owned()]);
        table.row(["任务".to_owned(), String::new()]);
        table
    }

    #[test]
    fn columns_line_up_whatever_the_letters() {
        let expected = "NAME    WHAT\nStraße  a long text that goes on\n任务\n";
        assert_eq!(table().text(None), expected);
    }

    #[test]
    fn the_last_column_is_cut_at_the_edge_of_a_terminal() {
        let text = table().text(Some(28));
        assert!(text.contains("Straße  a long text that go…\n"), "{text}");
    }

    #[test]
    fn what_a_model_said_moves_no_cursor() {
        assert_eq!(one_line("a\u{1b}[2Jb\r\nc"), "a [2Jb c");
    }
}
