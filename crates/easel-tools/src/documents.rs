//! Documents and workbooks that runs make and read.

use easel_core::Value;
use futures::future::BoxFuture;

use crate::error::ToolError;

/// Makes documents of Markdown, and reads and writes workbooks. Nothing of it reaches outside.
pub trait Documents: Send + Sync {
    /// Makes a document.
    fn make(&self, request: DocumentRequest) -> BoxFuture<'_, Result<MadeDocument, ToolError>>;

    /// Reads the sheets of a workbook, or the only one of a CSV file.
    fn read_workbook(&self, file: WorkbookFile) -> BoxFuture<'_, Result<Vec<Sheet>, ToolError>>;

    /// Writes a workbook.
    fn write_workbook(&self, sheets: Vec<Sheet>) -> BoxFuture<'_, Result<Vec<u8>, ToolError>>;
}

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// PDF.
    Pdf,
    /// A document of Word.
    Docx,
    /// A workbook of Excel: the tables of the text.
    Xlsx,
    /// A web page.
    Html,
    /// Text without marks.
    Txt,
    /// Markdown, as it is.
    Markdown,
}

impl DocumentFormat {
    /// The format that a canvas calls so: `pdf`, `docx`, `xlsx`, `html`, `txt`, `markdown`.
    pub fn named(name: &str) -> Option<DocumentFormat> {
        Some(match name {
            "pdf" => DocumentFormat::Pdf,
            "docx" => DocumentFormat::Docx,
            "xlsx" => DocumentFormat::Xlsx,
            "html" => DocumentFormat::Html,
            "txt" => DocumentFormat::Txt,
            "markdown" => DocumentFormat::Markdown,
            _ => return None,
        })
    }

    /// What a canvas calls it.
    pub fn name(self) -> &'static str {
        match self {
            DocumentFormat::Markdown => "markdown",
            other => other.extension(),
        }
    }

    /// What the names of its files end with.
    pub fn extension(self) -> &'static str {
        match self {
            DocumentFormat::Pdf => "pdf",
            DocumentFormat::Docx => "docx",
            DocumentFormat::Xlsx => "xlsx",
            DocumentFormat::Html => "html",
            DocumentFormat::Txt => "txt",
            DocumentFormat::Markdown => "md",
        }
    }

    /// Its media type.
    pub fn mime_type(self) -> &'static str {
        match self {
            DocumentFormat::Pdf => "application/pdf",
            DocumentFormat::Docx => {
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
            }
            DocumentFormat::Xlsx => {
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
            }
            DocumentFormat::Html => "text/html",
            DocumentFormat::Txt => "text/plain",
            DocumentFormat::Markdown => "text/markdown",
        }
    }
}

/// A document that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentRequest {
    /// The text, in Markdown.
    pub markdown: String,
    /// The format.
    pub format: DocumentFormat,
    /// What programs show as its title.
    pub title: String,
    /// What stands above each page; blank for nothing.
    pub header: String,
    /// What stands below each page; blank for nothing.
    pub footer: String,
    /// What stands across each page; blank for nothing.
    pub watermark: String,
    /// Whether pages are numbered.
    pub page_numbers: bool,
    /// When it was made, as it is written down. `None`: it does not say.
    pub timestamp: Option<String>,
    /// The size of the text in points.
    pub font_size: f64,
}

impl DocumentRequest {
    /// A text in a format, with nothing around it.
    pub fn new(markdown: impl Into<String>, format: DocumentFormat) -> DocumentRequest {
        DocumentRequest {
            markdown: markdown.into(),
            format,
            title: String::new(),
            header: String::new(),
            footer: String::new(),
            watermark: String::new(),
            page_numbers: false,
            timestamp: None,
            font_size: 12.0,
        }
    }
}

/// A document that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeDocument {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What is not as the text asks for, a sentence each.
    pub warnings: Vec<String>,
}

/// A file with tables in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkbookFile {
    /// Its name, which error texts carry.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A sheet of a workbook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// Its name.
    pub name: String,
    /// Its rows: text, numbers, booleans, and `null` where a cell is empty.
    pub rows: Vec<Vec<Value>>,
}

impl Sheet {
    /// Its first rows as a table in Markdown; the first is the head. Blank if there is nothing in it.
    pub fn to_markdown(&self, rows: usize) -> String {
        let Some((head, body)) = self.rows.split_first() else {
            return String::new();
        };
        let mut out = String::new();
        let mut line = |cells: &[Value]| {
            out.push('|');
            for cell in cells {
                let text = match cell {
                    Value::Null => String::new(),
                    other => other.to_string(),
                };
                let text = text.replace('|', "\\|").replace(['\n', '\r'], " ");
                out.push_str(&format!(" {text} |"));
            }
            out.push('\n');
        };
        line(head);
        line(&vec![Value::from("---"); head.len()]);
        body.iter().take(rows).for_each(|row| line(row));
        out
    }
}

/// Bytes of a workbook that models get to see.
const SHOWN: usize = 1_000_000;

/// A workbook as text: a heading and a table for each sheet. What is beyond a million bytes is left out, and the text says so.
pub fn workbook_text(sheets: &[Sheet]) -> String {
    let mut out = String::new();
    for sheet in sheets.iter().filter(|sheet| !sheet.rows.is_empty()) {
        out.push_str(&format!(
            "## {}\n\n{}\n",
            sheet.name,
            sheet.to_markdown(usize::MAX)
        ));
        if out.len() > SHOWN {
            let end = (0..=SHOWN).rev().find(|at| out.is_char_boundary(*at));
            out.truncate(end.unwrap_or(0));
            out.push_str("\n\n(The rest is left out: it is too long.)\n");
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_found_by_the_name_it_has() {
        for name in ["pdf", "docx", "xlsx", "html", "txt", "markdown"] {
            assert_eq!(DocumentFormat::named(name).unwrap().name(), name);
        }
        assert_eq!(DocumentFormat::named("doc"), None);
        assert_eq!(DocumentFormat::Markdown.extension(), "md");
    }

    #[test]
    fn a_workbook_is_shown_as_tables() {
        let row = |cells: &[&str]| cells.iter().map(|cell| Value::from(*cell)).collect();
        let sheet = Sheet {
            name: "Prices".into(),
            rows: vec![
                row(&["a|b", "c"]),
                vec![Value::from(1), Value::Null],
                row(&["x\ny", ""]),
            ],
        };
        assert_eq!(
            sheet.to_markdown(1),
            "| a\\|b | c |\n| --- | --- |\n| 1 |  |\n"
        );
        let text = workbook_text(&[sheet, Sheet::default()]);
        assert_eq!(
            text,
            "## Prices\n\n| a\\|b | c |\n| --- | --- |\n| 1 |  |\n| x y |  |\n\n"
        );
        let long = Sheet {
            name: "L".into(),
            rows: vec![row(&["é".repeat(600_000).as_str()]); 2],
        };
        let text = workbook_text(&[long]);
        assert!(
            text.ends_with("(The rest is left out: it is too long.)\n") && text.len() < 1_000_100
        );
    }
}
