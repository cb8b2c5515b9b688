//! The text of a document of Word.

use super::frame::WIDTH;
use super::styles::DEPTHS;
use super::xml::escaped;
use crate::block::{Align, Block, Item, Span, Table, text_of};
use crate::error::DocumentError;
use crate::limits::Patience;
use crate::markdown::harmless;

/// A step to the right, in twentieths of a point.
const INDENT: usize = 360;
/// Steps to the right that are made at most.
const STEPS: usize = 12;

/// A list with numbers.
pub(super) struct List {
    pub id: usize,
    pub depth: usize,
    pub first: u64,
}

/// The text while it is written.
pub(super) struct Body<'a> {
    pub xml: String,
    /// Where links lead, in the order of their ids.
    pub links: Vec<String>,
    pub lists: Vec<List>,
    patience: &'a Patience,
    /// Steps to the right.
    steps: usize,
    /// Lists around what is written.
    depth: usize,
    quoted: bool,
}

/// The list with bullets.
const BULLETS: usize = 1;

impl<'a> Body<'a> {
    pub fn new(patience: &'a Patience) -> Body<'a> {
        Body {
            xml: String::new(),
            links: Vec::new(),
            lists: Vec::new(),
            patience,
            steps: 0,
            depth: 0,
            quoted: false,
        }
    }

    pub fn blocks(&mut self, blocks: &[Block]) -> Result<(), DocumentError> {
        for block in blocks {
            self.patience.check()?;
            match block {
                Block::Heading { level, spans } => self.paragraph(&format!("Heading{level}"), "", spans),
                Block::Paragraph(spans) => self.paragraph(self.style(), "", spans),
                Block::Code(code) => self.code(code),
                Block::Quote(blocks) => {
                    let quoted = std::mem::replace(&mut self.quoted, true);
                    self.steps += 1;
                    self.blocks(blocks)?;
                    self.steps -= 1;
                    self.quoted = quoted;
                }
                Block::List { first, items } => self.list(*first, items)?,
                Block::Table(table) => self.table(table),
                Block::Rule => self.xml.push_str(
                    "<w:p><w:pPr><w:pBdr><w:bottom w:val=\"single\" w:sz=\"6\" w:space=\"1\" w:color=\"C9CFD6\"/></w:pBdr></w:pPr></w:p>",
                ),
            }
        }
        Ok(())
    }

    fn style(&self) -> &'static str {
        match (self.quoted, self.depth) {
            (true, _) => "Quote",
            (false, 0) => "Normal",
            (false, _) => "ListParagraph",
        }
    }

    /// A paragraph; `numbered` is its place in a list.
    fn paragraph(&mut self, style: &str, numbered: &str, spans: &[Span]) {
        let steps = self.steps.min(STEPS);
        let indent = match (steps, numbered.is_empty()) {
            (0, _) => String::new(),
            (steps, true) => format!("<w:ind w:left=\"{}\"/>", steps * INDENT),
            (steps, false) => format!(
                "<w:ind w:left=\"{}\" w:hanging=\"{INDENT}\"/>",
                steps * INDENT
            ),
        };
        self.xml.push_str(&format!(
            "<w:p><w:pPr><w:pStyle w:val=\"{style}\"/>{numbered}{indent}</w:pPr>"
        ));
        self.spans(spans);
        self.xml.push_str("</w:p>");
    }

    fn code(&mut self, code: &str) {
        for line in code.split('\n') {
            let span = Span {
                text: line.to_owned(),
                ..Span::default()
            };
            self.paragraph("Code", "", &[span]);
        }
        self.xml.push_str("<w:p/>");
    }

    fn list(&mut self, first: Option<u64>, items: &[Item]) -> Result<(), DocumentError> {
        let depth = self.depth.min(DEPTHS - 1);
        let id = match first {
            None => BULLETS,
            Some(first) => {
                let id = BULLETS + 1 + self.lists.len();
                // More than the format's numbers can hold begins at their end.
                let first = first.min(i32::MAX as u64);
                self.lists.push(List { id, depth, first });
                id
            }
        };
        self.depth += 1;
        self.steps += 1;
        for item in items {
            let (text, rest) = match item.blocks.split_first() {
                Some((Block::Paragraph(spans), rest)) => (spans.as_slice(), rest),
                _ => (&[][..], item.blocks.as_slice()),
            };
            match item.done {
                None => {
                    let number = format!(
                        "<w:numPr><w:ilvl w:val=\"{depth}\"/><w:numId w:val=\"{id}\"/></w:numPr>"
                    );
                    self.paragraph(self.style(), &number, text);
                }
                // A box instead of a mark of the list.
                Some(_) => {
                    let mark = Span {
                        text: format!("{} ", item.mark(first, 0)),
                        ..Span::default()
                    };
                    self.paragraph(self.style(), "", &[&[mark], text].concat());
                }
            }
            self.blocks(rest)?;
        }
        self.depth -= 1;
        self.steps -= 1;
        Ok(())
    }

    fn table(&mut self, table: &Table) {
        let indent = self.steps.min(STEPS) * INDENT;
        let widths = widths(table, (WIDTH as usize).saturating_sub(indent));
        let grid: String = widths
            .iter()
            .map(|width| format!("<w:gridCol w:w=\"{width}\"/>"))
            .collect();
        self.xml.push_str(&format!(
            "<w:tbl><w:tblPr><w:tblStyle w:val=\"TableGrid\"/><w:tblW w:w=\"0\" w:type=\"auto\"/><w:tblInd w:w=\"{indent}\" w:type=\"dxa\"/>\
             </w:tblPr><w:tblGrid>{grid}</w:tblGrid>"
        ));
        for (at, row) in table.rows.iter().enumerate() {
            let head = at == 0;
            self.xml.push_str("<w:tr><w:trPr><w:cantSplit/>");
            self.xml.push_str(if head {
                "<w:tblHeader/></w:trPr>"
            } else {
                "</w:trPr>"
            });
            for ((column, spans), width) in row.iter().enumerate().zip(&widths) {
                let align = match table.columns.get(column) {
                    Some(Align::Right) => "right",
                    Some(Align::Center) => "center",
                    _ => "left",
                };
                let shade = match head {
                    true => "<w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"F3F5F8\"/>",
                    false => "",
                };
                self.xml.push_str(&format!(
                    "<w:tc><w:tcPr><w:tcW w:w=\"{width}\" w:type=\"dxa\"/>{shade}</w:tcPr><w:p><w:pPr><w:spacing w:after=\"40\"/>\
                     <w:jc w:val=\"{align}\"/></w:pPr>"
                ));
                match head {
                    true => {
                        let mut spans = spans.clone();
                        spans.iter_mut().for_each(|span| span.style.bold = true);
                        self.spans(&spans);
                    }
                    false => self.spans(spans),
                }
                self.xml.push_str("</w:p></w:tc>");
            }
            self.xml.push_str("</w:tr>");
        }
        // Tables that touch become one.
        self.xml.push_str("</w:tbl><w:p/>");
    }

    fn spans(&mut self, spans: &[Span]) {
        for span in spans {
            let link = span.link.as_deref().filter(|link| harmless(link));
            if let Some(link) = link {
                let id = self.links.len();
                self.links.push(link.trim().to_owned());
                self.xml
                    .push_str(&format!("<w:hyperlink r:id=\"link{id}\">"));
            }
            self.run(span, link.is_some());
            if link.is_some() {
                self.xml.push_str("</w:hyperlink>");
            }
        }
    }

    fn run(&mut self, span: &Span, linked: bool) {
        let style = span.style;
        let looks = [
            (linked, "<w:rStyle w:val=\"Hyperlink\"/>"),
            (
                style.code,
                "<w:rFonts w:ascii=\"Consolas\" w:hAnsi=\"Consolas\"/>",
            ),
            (style.bold, "<w:b/>"),
            (style.italic, "<w:i/>"),
            (style.struck, "<w:strike/>"),
        ];
        self.xml.push_str("<w:r><w:rPr>");
        for (on, look) in looks {
            if on {
                self.xml.push_str(look);
            }
        }
        self.xml.push_str("</w:rPr>");
        for (at, line) in span.text.split('\n').enumerate() {
            if at > 0 {
                self.xml.push_str("<w:br/>");
            }
            for (at, part) in line.split('\t').enumerate() {
                if at > 0 {
                    self.xml.push_str("<w:tab/>");
                }
                if !part.is_empty() {
                    self.xml.push_str(&format!(
                        "<w:t xml:space=\"preserve\">{}</w:t>",
                        escaped(part)
                    ));
                }
            }
        }
        self.xml.push_str("</w:r>");
    }
}

/// Characters of a cell that ask for room: fewer get some all the same, and more are broken into lines.
const CELL: std::ops::RangeInclusive<usize> = 5..=50;

/// How wide each column is: as its longest cell asks, and all together as wide as the text.
fn widths(table: &Table, room: usize) -> Vec<usize> {
    let longest = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column));
        let lengths = cells.map(|spans| text_of(spans).chars().count());
        lengths.max().unwrap_or(0).clamp(*CELL.start(), *CELL.end())
    };
    let wanted: Vec<usize> = (0..table.columns.len()).map(longest).collect();
    let total = wanted.iter().sum::<usize>().max(1);
    // A short table does not stretch across the page.
    let room = room.min(total * 220);
    wanted.iter().map(|wanted| wanted * room / total).collect()
}
