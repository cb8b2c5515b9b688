//! Slides of PowerPoint: a heading for each slide, its texts, lists and tables.

use super::package::Package;
use super::xml::{self, Node};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::text::Writer;

const FORMAT: &str = "pptx";

pub(super) fn read(bytes: &[u8], limits: &Limits, out: &mut Writer) -> Result<(), ReadError> {
    let mut package = Package::open(bytes, FORMAT, limits)?;
    let slides = slides(&mut package)?;
    if slides.len() > limits.pages {
        return Err(ReadError::new(
            format!("it has more than {} slides", limits.pages),
            "Split it into smaller documents",
        ));
    }
    for part in slides {
        let text = package.needed(&part)?;
        out.page();
        let mut slide = Slide::default();
        xml::walk(&text, FORMAT, |node| slide.read(node))?;
        slide.write(out)?;
    }
    Ok(())
}

/// The parts of the slides, in the order in which they are shown.
fn slides(package: &mut Package<'_>) -> Result<Vec<String>, ReadError> {
    let presentation = package.needed("ppt/presentation.xml")?;
    let relations = package.relations("ppt/_rels/presentation.xml.rels", "ppt")?;
    let mut slides = Vec::new();
    xml::walk(&presentation, FORMAT, |node| {
        if let Node::Open("sldId", tag) = node {
            let mut attributes = tag.attributes();
            // It has an `id` and an `r:id`.
            let mut attributes = attributes.with_checks(false).flatten();
            let id = attributes.find(|a| a.key.as_ref().ends_with(":id"));
            let part = id.and_then(|id| relations.get(&*id.value));
            slides.extend(part.cloned());
        }
        Ok(())
    })?;
    Ok(slides)
}

/// What stands on a slide.
#[derive(Default)]
struct Slide {
    title: String,
    blocks: Vec<Block>,
    text: String,
    in_text: bool,
    in_title: bool,
    depth: usize,
    paragraphs: Vec<(usize, String)>,
    in_table: bool,
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    repeated: usize,
}

enum Block {
    Paragraphs(Vec<(usize, String)>),
    Table(Vec<Vec<String>>),
}

impl Slide {
    fn read(&mut self, node: Node<'_>) -> Result<(), ReadError> {
        match node {
            Node::Open("Fallback", _) => self.repeated += 1,
            Node::Close("Fallback") => self.repeated = self.repeated.saturating_sub(1),
            _ if self.repeated > 0 => {}
            Node::Open("t", _) => self.in_text = true,
            Node::Close("t") => self.in_text = false,
            Node::Open("br", _) => self.text.push(' '),
            Node::Open("sp", _) => self.in_title = false,
            Node::Open("ph", tag) => {
                let kind = xml::attribute(tag, "type").unwrap_or_default();
                self.in_title = matches!(kind.as_str(), "title" | "ctrTitle");
            }
            Node::Open("pPr", tag) => {
                let level = xml::attribute(tag, "lvl").and_then(|level| level.parse().ok());
                self.depth = level.unwrap_or(0);
            }
            Node::Open("tbl", _) => self.in_table = true,
            Node::Text(text) if self.in_text => self.text.push_str(text),
            Node::Close(name) => self.close(name),
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" => {
                let paragraph = std::mem::take(&mut self.text);
                if !paragraph.trim().is_empty() {
                    self.paragraphs.push((self.depth, paragraph));
                }
                self.depth = 0;
            }
            "tc" => {
                let cell = std::mem::take(&mut self.paragraphs);
                let cell: Vec<_> = cell.into_iter().map(|(_, text)| text).collect();
                self.row.push(cell.join(" "));
            }
            "tr" => self.rows.push(std::mem::take(&mut self.row)),
            "tbl" => {
                self.in_table = false;
                self.blocks
                    .push(Block::Table(std::mem::take(&mut self.rows)));
            }
            "txBody" if !self.in_table => self.end_shape(),
            _ => {}
        }
    }

    fn end_shape(&mut self) {
        let paragraphs = std::mem::take(&mut self.paragraphs);
        if std::mem::take(&mut self.in_title) {
            for (_, text) in paragraphs {
                if !self.title.is_empty() {
                    self.title.push(' ');
                }
                self.title.push_str(&text);
            }
        } else if !paragraphs.is_empty() {
            self.blocks.push(Block::Paragraphs(paragraphs));
        }
    }

    fn write(self, out: &mut Writer) -> Result<(), ReadError> {
        let nothing = self.title.trim().is_empty() && self.blocks.is_empty();
        if nothing {
            return Ok(());
        }
        match self.title.trim() {
            "" => out.heading(2, &format!("Slide {}", out.pages()))?,
            title => out.heading(2, title)?,
        }
        for block in self.blocks {
            match block {
                Block::Table(rows) => out.table(&rows)?,
                Block::Paragraphs(paragraphs) if paragraphs.len() == 1 => {
                    paragraphs
                        .iter()
                        .try_for_each(|(_, text)| out.block(text))?;
                }
                Block::Paragraphs(paragraphs) => {
                    for (at, (depth, text)) in paragraphs.iter().enumerate() {
                        out.item(*depth, text, at > 0)?;
                    }
                }
            }
        }
        Ok(())
    }
}
