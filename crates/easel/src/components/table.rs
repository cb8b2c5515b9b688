//! Names, types and explanations, set for a terminal.

use std::fmt;

use crate::wrap::wrapped;

/// How far an explanation is set in.
const INDENT: usize = 6;

/// Rows of a name with its type, and below it what it means.
#[derive(Default)]
pub struct Table {
    rows: Vec<[String; 3]>,
}

impl Table {
    /// Adds a row.
    pub fn row(&mut self, name: &str, kind: &str, doc: &str) {
        self.rows
            .push([name.to_owned(), kind.to_owned(), doc.to_owned()]);
    }

    /// True if it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for [name, kind, doc] in &self.rows {
            let mut text = String::new();
            wrapped(&mut text, &format!("{name}  ({kind})"), 2);
            wrapped(&mut text, doc, INDENT);
            f.write_str(&text)?;
        }
        Ok(())
    }
}
