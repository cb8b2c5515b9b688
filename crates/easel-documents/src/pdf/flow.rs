//! Blocks on pages.

use easel_tools::documents::DocumentRequest;

use super::line::{Color, Line, Look, Run, lines};
use super::shape::Shaper;
use super::table;
use crate::block::{Block, Item, Span, text_of};
use crate::error::DocumentError;
use crate::limits::{Limits, Patience};
use crate::markdown::heading_size;

/// A page of A4, in points.
pub(super) const PAGE: (f32, f32) = (595.28, 841.89);
/// Around the text.
pub(super) const MARGIN: f32 = 57.0;
/// Above and below the text, where header and footer stand.
const ENDS: f32 = 65.0;
/// Height of a line, as a part of the size of its text.
const LEADING: f32 = 1.4;
/// Where letters stand in it.
const BASELINE: f32 = 1.04;
/// A step to the right.
const STEP: f32 = 20.0;
/// The narrowest text; what is nested deeper moves no more.
const NARROWEST: f32 = 150.0;

pub(super) const TEXT: Color = (31, 35, 40);
pub(super) const QUIET: Color = (89, 99, 110);
pub(super) const RULE: Color = (201, 207, 214);
pub(super) const SHADE: Color = (243, 245, 248);
const HEADING: Color = (31, 56, 100);

/// Something on a page. Places are measured from the page's upper left corner.
pub(super) enum Mark {
    /// Text; `y` is where its letters stand.
    Text { x: f32, y: f32, run: Run },
    /// A filled rectangle.
    Fill { at: Rectangle, color: Color },
    /// Text across the page, seen through the rest.
    Watermark { line: Line },
}

/// A rectangle by its upper left corner.
#[derive(Clone, Copy)]
pub(super) struct Rectangle {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

/// A heading and where it is.
pub(super) struct Heading {
    pub level: u8,
    pub title: String,
    pub page: usize,
    pub y: f32,
}

pub(super) type Page = Vec<Mark>;

/// The text while it is laid out.
pub(super) struct Flow<'a, 'f> {
    pub shaper: &'a mut Shaper<'f>,
    pub limits: &'a Limits,
    patience: &'a Patience,
    base: f32,
    done: Vec<Page>,
    page: Page,
    headings: Vec<Heading>,
    /// Where the next line begins.
    pub y: f32,
    /// Where lines begin.
    pub left: f32,
    /// Where the bars of quotations are.
    bars: Vec<f32>,
    /// How many lists are around what is put down.
    lists: usize,
    /// What stands before the next line.
    mark: Option<(f32, Line)>,
}

impl<'a, 'f> Flow<'a, 'f> {
    pub fn new(
        shaper: &'a mut Shaper<'f>,
        request: &DocumentRequest,
        limits: &'a Limits,
        patience: &'a Patience,
    ) -> Flow<'a, 'f> {
        Flow {
            shaper,
            limits,
            patience,
            base: request.font_size as f32,
            done: Vec::new(),
            page: Page::new(),
            headings: Vec::new(),
            y: ENDS,
            left: MARGIN,
            bars: Vec::new(),
            lists: 0,
            mark: None,
        }
    }

    /// The pages; at least one.
    pub fn finish(mut self) -> (Vec<Page>, Vec<Heading>) {
        self.done.push(self.page);
        (self.done, self.headings)
    }

    /// How the text looks.
    pub fn look(&self) -> Look {
        Look {
            size: self.base,
            color: if self.bars.is_empty() { TEXT } else { QUIET },
            bold: false,
        }
    }

    /// How wide lines are.
    pub fn width(&self) -> f32 {
        PAGE.0 - MARGIN - self.left
    }

    pub fn blocks(&mut self, blocks: &[Block]) -> Result<(), DocumentError> {
        for block in blocks {
            self.patience.check()?;
            match block {
                Block::Heading { level, spans } => self.heading(*level, spans)?,
                Block::Paragraph(spans) => {
                    self.text(spans, self.look())?;
                    self.space(self.base * if self.lists > 0 { 0.25 } else { 0.55 });
                }
                Block::Code(code) => self.code(code)?,
                Block::Quote(blocks) => self.quote(blocks)?,
                Block::List { first, items } => self.list(*first, items)?,
                Block::Table(table) => table::put(self, table)?,
                Block::Rule => self.rule()?,
            }
        }
        Ok(())
    }

    fn heading(&mut self, level: u8, spans: &[Span]) -> Result<(), DocumentError> {
        let look = Look {
            size: heading_size(level, f64::from(self.base)) as f32,
            color: HEADING,
            bold: true,
        };
        if self.y > ENDS {
            self.space(self.base * 0.7);
        }
        // Not at the foot of a page, away from its text.
        self.room(look.size * LEADING + self.base * LEADING * 2.0)?;
        self.headings.push(Heading {
            level,
            title: text_of(spans).replace('\n', " "),
            page: self.done.len(),
            y: self.y,
        });
        self.text(spans, look)?;
        self.space(self.base * 0.35);
        Ok(())
    }

    fn text(&mut self, spans: &[Span], look: Look) -> Result<(), DocumentError> {
        let lines = lines(self.shaper, spans, look, self.width());
        for line in lines {
            self.line(line, look)?;
        }
        Ok(())
    }

    fn code(&mut self, code: &str) -> Result<(), DocumentError> {
        let look = self.look();
        let style = crate::block::Style {
            code: true,
            ..Default::default()
        };
        let padding = self.base * 0.5;
        self.room(look.size * 1.3 + padding)?;
        self.shaded(padding);
        for text in code.split('\n') {
            let span = Span {
                text: text.to_owned(),
                style,
                link: None,
            };
            let width = (self.width() - 2.0 * padding).max(1.0);
            for line in lines(self.shaper, &[span], look, width) {
                self.patience.check()?;
                let height = look.size * 1.3;
                self.room(height)?;
                let (x, width) = (self.left, self.width());
                self.fill(x, self.y, width, height, SHADE);
                self.left += padding;
                self.put(line, look, height);
                self.left -= padding;
            }
        }
        self.shaded(padding);
        self.space(self.base * 0.7);
        Ok(())
    }

    /// The end of a shaded part, above or below its text.
    fn shaded(&mut self, height: f32) {
        if self.y + height < self.bottom() {
            let (x, y, width) = (self.left, self.y, self.width());
            self.bar(height);
            self.fill(x, y, width, height, SHADE);
            self.y += height;
        }
    }

    fn quote(&mut self, blocks: &[Block]) -> Result<(), DocumentError> {
        let left = self.left;
        self.bars.push(left);
        self.step();
        let written = self.blocks(blocks);
        self.bars.pop();
        self.left = left;
        self.space(self.base * 0.55);
        written
    }

    fn list(&mut self, first: Option<u64>, items: &[Item]) -> Result<(), DocumentError> {
        let left = self.left;
        self.step();
        self.lists += 1;
        for (at, item) in items.iter().enumerate() {
            let span = Span {
                text: item.mark(first, at),
                ..Span::default()
            };
            let look = self.look();
            let mark = lines(self.shaper, &[span], look, f32::INFINITY)
                .pop()
                .unwrap_or_default();
            // Numbers end where the text begins, whatever their length.
            let x = (self.left - mark.width - self.base * 0.4).max(left.min(MARGIN));
            self.mark = Some((x, mark));
            self.blocks(&item.blocks)?;
            if self.mark.is_some() {
                self.line(Line::default(), look)?;
            }
        }
        self.left = left;
        self.lists -= 1;
        if self.lists == 0 {
            self.space(self.base * 0.3);
        }
        Ok(())
    }

    /// Goes a step to the right, if there is room.
    fn step(&mut self) {
        if self.width() - STEP >= NARROWEST {
            self.left += STEP;
        }
    }

    fn rule(&mut self) -> Result<(), DocumentError> {
        self.room(self.base)?;
        let (x, y, width) = (self.left, self.y + self.base * 0.3, self.width());
        self.fill(x, y, width, 0.8, RULE);
        self.space(self.base);
        Ok(())
    }

    /// Puts a line down, on the next page if there is no room.
    pub fn line(&mut self, line: Line, look: Look) -> Result<(), DocumentError> {
        let height = look.size * LEADING;
        self.room(height)?;
        self.put(line, look, height);
        Ok(())
    }

    fn put(&mut self, line: Line, look: Look, height: f32) {
        self.bar(height);
        let baseline = self.y + (height - look.size * LEADING) / 2.0 + look.size * BASELINE;
        if let Some((x, mark)) = self.mark.take() {
            self.runs(mark, x, baseline);
        }
        let x = match line.from_right {
            true => self.left + self.width() - line.width,
            false => self.left,
        };
        self.runs(line, x, baseline);
        self.y += height;
    }

    /// Puts the runs of a line down.
    pub fn runs(&mut self, line: Line, mut x: f32, y: f32) {
        for run in line.runs {
            let width = run.width;
            self.page.push(Mark::Text { x, y, run });
            x += width;
        }
    }

    pub fn fill(&mut self, x: f32, y: f32, width: f32, height: f32, color: Color) {
        let at = Rectangle {
            x,
            y,
            width,
            height,
        };
        self.page.push(Mark::Fill { at, color });
    }

    fn bar(&mut self, height: f32) {
        let bars = self.bars.clone();
        for x in bars {
            self.fill(x, self.y, 3.0, height, RULE);
        }
    }

    /// Leaves room, but not at the head of a page.
    pub fn space(&mut self, height: f32) {
        if self.y > ENDS && self.y + height < self.bottom() {
            self.bar(height);
            self.y += height;
        }
    }

    /// Where the text of a page ends.
    pub fn bottom(&self) -> f32 {
        PAGE.1 - ENDS
    }

    /// Sees that there is room; goes to the next page if not.
    pub fn room(&mut self, height: f32) -> Result<(), DocumentError> {
        self.patience.check()?;
        if self.y + height <= self.bottom() || self.y <= ENDS {
            return Ok(());
        }
        self.next_page()
    }

    pub fn next_page(&mut self) -> Result<(), DocumentError> {
        if self.done.len() + 1 >= self.limits.pages {
            return Err(DocumentError::TooManyPages(self.limits.pages));
        }
        self.done.push(std::mem::take(&mut self.page));
        self.y = ENDS;
        Ok(())
    }
}
