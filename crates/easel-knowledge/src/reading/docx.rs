//! Documents of Word: paragraphs, headings, lists and tables of the body.

use std::collections::HashMap;

use quick_xml::events::BytesStart;

use super::package::Package;
use super::xml::{self, Node};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::text::Writer;

const FORMAT: &str = "docx";

pub(super) fn read(bytes: &[u8], limits: &Limits, out: &mut Writer) -> Result<(), ReadError> {
    let mut package = Package::open(bytes, FORMAT, limits)?;
    let levels = match package.part("word/styles.xml")? {
        Some(styles) => heading_styles(&styles)?,
        None => HashMap::new(),
    };
    let document = package.needed("word/document.xml")?;
    let mut body = Body::new(levels, out);
    xml::walk(&document, FORMAT, |node| body.read(node))
}

/// The level of each style that makes headings. Word names styles in the language of who wrote; what they are called
/// inside is English everywhere.
fn heading_styles(styles: &str) -> Result<HashMap<String, usize>, ReadError> {
    let mut levels = HashMap::new();
    let mut style = None;
    xml::walk(styles, FORMAT, |node| {
        match node {
            Node::Open("style", tag) => style = xml::attribute(tag, "styleId"),
            Node::Open("name", tag) => {
                let name = xml::attribute(tag, "val").unwrap_or_default();
                if let (Some(id), Some(level)) = (&style, heading_level(&name)) {
                    levels.insert(id.clone(), level);
                }
            }
            Node::Open("outlineLvl", tag) => {
                if let (Some(id), Some(level)) = (&style, outline_level(tag)) {
                    levels.entry(id.clone()).or_insert(level);
                }
            }
            Node::Close("style") => style = None,
            _ => {}
        }
        Ok(())
    })?;
    Ok(levels)
}

/// The level that a style's name stands for: `heading 2`, `Heading2`, `Title`.
fn heading_level(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    if name == "title" {
        return Some(1);
    }
    let level = name.strip_prefix("heading")?.trim().parse().ok()?;
    (1..=9).contains(&level).then_some(level)
}

/// The level that an outline level stands for. They count from 0, and 9 is none.
fn outline_level(tag: &BytesStart<'_>) -> Option<usize> {
    let level: usize = xml::attribute(tag, "val")?.parse().ok()?;
    (level < 9).then_some(level + 1)
}

/// What is being read of the body.
struct Body<'w> {
    levels: HashMap<String, usize>,
    out: &'w mut Writer,
    text: String,
    /// Inside of an element whose characters are text.
    in_text: bool,
    heading: Option<usize>,
    list_depth: Option<usize>,
    /// The block before this one was an item of a list.
    after_item: bool,
    /// Open tables. Those in cells of others are text of the cell.
    tables: usize,
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: String,
    /// Open elements that repeat what stands elsewhere.
    repeated: usize,
}

impl<'w> Body<'w> {
    fn new(levels: HashMap<String, usize>, out: &'w mut Writer) -> Body<'w> {
        Body {
            levels,
            out,
            text: String::new(),
            in_text: false,
            heading: None,
            list_depth: None,
            after_item: false,
            tables: 0,
            rows: Vec::new(),
            row: Vec::new(),
            cell: String::new(),
            repeated: 0,
        }
    }

    fn read(&mut self, node: Node<'_>) -> Result<(), ReadError> {
        match node {
            Node::Open("Fallback", _) => self.repeated += 1,
            Node::Close("Fallback") => self.repeated = self.repeated.saturating_sub(1),
            _ if self.repeated > 0 => {}
            Node::Open(name, tag) => self.open(name, tag),
            Node::Close(name) => self.close(name)?,
            Node::Text(text) if self.in_text => self.text.push_str(text),
            Node::Text(_) => {}
        }
        Ok(())
    }

    fn open(&mut self, name: &str, tag: &BytesStart<'_>) {
        let value = || xml::attribute(tag, "val").unwrap_or_default();
        match name {
            "t" => self.in_text = true,
            "tab" if !self.text.is_empty() => self.text.push(' '),
            "br" | "cr" => self.text.push('\n'),
            "noBreakHyphen" => self.text.push('-'),
            "pStyle" => {
                let style = value();
                let level = self.levels.get(&style).copied();
                self.heading = level.or_else(|| heading_level(&style));
            }
            "outlineLvl" => self.heading = self.heading.or_else(|| outline_level(tag)),
            "numPr" => self.list_depth = Some(0),
            "ilvl" => self.list_depth = Some(value().parse().unwrap_or(0)),
            "tbl" => self.tables += 1,
            _ => {}
        }
    }

    fn close(&mut self, name: &str) -> Result<(), ReadError> {
        match name {
            "t" => self.in_text = false,
            "p" => self.end_paragraph()?,
            "tc" if self.tables == 1 => self.row.push(std::mem::take(&mut self.cell)),
            "tr" if self.tables == 1 => self.rows.push(std::mem::take(&mut self.row)),
            "tbl" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 {
                    self.out.table(&std::mem::take(&mut self.rows))?;
                    self.after_item = false;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end_paragraph(&mut self) -> Result<(), ReadError> {
        let text = std::mem::take(&mut self.text);
        let (heading, depth) = (self.heading.take(), self.list_depth.take());
        if self.tables > 0 {
            if !self.cell.is_empty() {
                self.cell.push(' ');
            }
            self.cell.push_str(&text);
            return Ok(());
        }
        if text.trim().is_empty() {
            return Ok(self.out.check_time()?);
        }
        match (heading, depth) {
            (Some(level), _) => self.out.heading(level, &text)?,
            (None, Some(depth)) => self.out.item(depth, &text, self.after_item)?,
            (None, None) => self.out.block(&text)?,
        }
        self.after_item = heading.is_none() && depth.is_some();
        Ok(())
    }
}
