//! Markdown to blocks.
//!
//! HTML in it is text: what a model writes never becomes part of a page. A `<br>` is a line break, and marks that only change
//! the look of words (`<b>`, `<u>`, `<sub>`, …) and comments are left out. Pictures are not fetched: their text leads to them.

use std::sync::Arc;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::block::{Align, Block, Item, Span, Style, Table};
use crate::error::DocumentError;
use crate::limits::Patience;

/// How deep lists and quotations may be nested; what is deeper stands at this depth.
const DEEPEST: usize = 12;

/// The blocks of a text.
pub(crate) fn blocks(markdown: &str, patience: &Patience) -> Result<Vec<Block>, DocumentError> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut reader = Reader::default();
    for (at, event) in Parser::new_ext(markdown, options).enumerate() {
        if at.is_multiple_of(1024) {
            patience.check()?;
        }
        reader.event(event);
    }
    Ok(reader.finish())
}

/// What blocks stand in.
enum Frame {
    Quote(Vec<Block>),
    List {
        first: Option<u64>,
        items: Vec<Item>,
    },
    Item(Item),
}

#[derive(Default)]
struct Reader {
    done: Vec<Block>,
    frames: Vec<Frame>,
    /// Quotations, lists and items that are open and too deep to be frames.
    flat: usize,
    spans: Vec<Span>,
    bold: usize,
    italic: usize,
    struck: usize,
    links: Vec<Arc<str>>,
    code: Option<String>,
    table: Option<Table>,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text, false),
            },
            Event::Code(code) => self.text(&code, true),
            Event::Html(html) | Event::InlineHtml(html) => self.html(&html),
            Event::SoftBreak => self.text(" ", false),
            Event::HardBreak => self.text("\n", false),
            Event::Rule => {
                self.paragraph();
                self.put(Block::Rule);
            }
            Event::TaskListMarker(done) => {
                if let Some(Frame::Item(item)) = self.frames.last_mut() {
                    item.done = Some(done);
                }
            }
            // Marks of extensions that are not asked for.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text, false);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::BlockQuote(_) => self.open(Frame::Quote(Vec::new())),
            Tag::List(first) => self.open(Frame::List {
                first,
                items: Vec::new(),
            }),
            Tag::Item => self.open(Frame::Item(Item::default())),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.paragraph();
                self.code = Some(String::new());
            }
            Tag::Table(columns) => {
                self.paragraph();
                self.table = Some(Table {
                    columns: columns.into_iter().map(align).collect(),
                    rows: Vec::new(),
                });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Strikethrough => self.struck += 1,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push(dest_url.as_ref().into());
            }
            Tag::Paragraph | Tag::Heading { .. } | Tag::HtmlBlock => self.paragraph(),
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.paragraph(),
            TagEnd::Heading(level) => {
                let spans = trimmed(std::mem::take(&mut self.spans));
                if !spans.is_empty() {
                    let level = number(level);
                    self.put(Block::Heading { level, spans });
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => self.close(),
            TagEnd::CodeBlock => {
                let mut code = self.code.take().unwrap_or_default();
                if code.ends_with('\n') {
                    code.pop();
                }
                self.put(Block::Code(code));
            }
            TagEnd::Table => {
                if let Some(mut table) = self.table.take() {
                    let columns = table.columns.len();
                    for row in &mut table.rows {
                        row.resize(columns, Vec::new());
                    }
                    self.put(Block::Table(table));
                }
            }
            TagEnd::TableCell => {
                let spans = trimmed(std::mem::take(&mut self.spans));
                let row = self.table.as_mut().and_then(|table| table.rows.last_mut());
                if let Some(row) = row {
                    row.push(spans);
                }
            }
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Strikethrough => self.struck = self.struck.saturating_sub(1),
            TagEnd::Link => drop(self.links.pop()),
            TagEnd::Image => {
                // A picture without a text is still there to be seen.
                let link = self.links.pop();
                let said = self.spans.last().is_some_and(|span| span.link == link);
                if let (Some(link), false) = (link, said) {
                    self.links.push(link.clone());
                    self.text(&link, false);
                    self.links.pop();
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, frame: Frame) {
        self.paragraph();
        match self.flat == 0 && self.frames.len() < 2 * DEEPEST {
            true => self.frames.push(frame),
            false => self.flat += 1,
        }
    }

    fn close(&mut self) {
        self.paragraph();
        if self.flat > 0 {
            self.flat -= 1;
            return;
        }
        match self.frames.pop() {
            Some(Frame::Quote(blocks)) if !blocks.is_empty() => self.put(Block::Quote(blocks)),
            Some(Frame::List { first, items }) if !items.is_empty() => {
                self.put(Block::List { first, items });
            }
            Some(Frame::Item(item)) => {
                if let Some(Frame::List { items, .. }) = self.frames.last_mut() {
                    items.push(item);
                }
            }
            _ => {}
        }
    }

    /// Adds a block to what is open.
    fn put(&mut self, block: Block) {
        match self.frames.last_mut() {
            None => self.done.push(block),
            Some(Frame::Quote(blocks)) => blocks.push(block),
            Some(Frame::Item(item)) => item.blocks.push(block),
            // What is too deep to be an item of its own.
            Some(Frame::List { items, .. }) => items.push(Item {
                done: None,
                blocks: vec![block],
            }),
        }
    }

    /// Ends the paragraph that is open, if one is.
    fn paragraph(&mut self) {
        let spans = trimmed(std::mem::take(&mut self.spans));
        if !spans.is_empty() {
            self.put(Block::Paragraph(spans));
        }
    }

    fn text(&mut self, text: &str, code: bool) {
        let style = Style {
            bold: self.bold > 0,
            italic: self.italic > 0,
            struck: self.struck > 0,
            code,
        };
        let link = self.links.last();
        match self.spans.last_mut() {
            Some(last) if last.style == style && last.link.as_ref() == link => {
                last.text.push_str(text);
            }
            _ => self.spans.push(Span {
                text: text.to_owned(),
                style,
                link: link.cloned(),
            }),
        }
    }

    fn html(&mut self, html: &str) {
        match what_tag(html.trim()) {
            HtmlTag::Break => self.text("\n", false),
            HtmlTag::Look => {}
            HtmlTag::Text => self.text(html, false),
        }
    }

    fn finish(mut self) -> Vec<Block> {
        self.paragraph();
        while !self.frames.is_empty() {
            self.close();
        }
        self.done
    }
}

/// What a piece of HTML is in a text that has none.
enum HtmlTag {
    Break,
    /// It only changes how words look.
    Look,
    Text,
}

/// Names of tags that only change how words look.
const LOOKS: [&str; 14] = [
    "b", "i", "u", "s", "em", "strong", "sub", "sup", "small", "mark", "span", "font", "center",
    "kbd",
];

fn what_tag(html: &str) -> HtmlTag {
    if html.starts_with("<!--") && html.ends_with("-->") {
        return HtmlTag::Look;
    }
    let inner = html
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    let Some(inner) = inner.filter(|inner| !inner.contains(['<', '>'])) else {
        return HtmlTag::Text;
    };
    let inner = inner.trim_start_matches('/');
    let name: String = inner
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    match name.to_ascii_lowercase().as_str() {
        "br" => HtmlTag::Break,
        name if LOOKS.contains(&name) => HtmlTag::Look,
        _ => HtmlTag::Text,
    }
}

/// Spans without blanks at either end, and without those that are empty.
fn trimmed(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|span| !span.text.is_empty());
    while let Some(last) = spans.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            break;
        }
        spans.pop();
    }
    let blank = |span: &Span| span.text.trim().is_empty();
    let first = spans.iter().position(|span| !blank(span));
    spans.drain(..first.unwrap_or(0));
    if let Some(first) = spans.first_mut() {
        let blanks = first.text.len() - first.text.trim_start().len();
        first.text.drain(..blanks);
    }
    spans
}

fn align(alignment: Alignment) -> Align {
    match alignment {
        Alignment::None | Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}

fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The size of a heading of that level, for a text of `base` points.
pub(crate) fn heading_size(level: u8, base: f64) -> f64 {
    match level {
        1 => base + 6.0,
        2 => base + 4.0,
        3 => base + 2.0,
        _ => base,
    }
}

/// Where a link may lead from a document: the web, mail, telephones. Others (`javascript:`, `file:`, …) are text.
pub(crate) fn harmless(link: &str) -> bool {
    let link = link.trim().to_ascii_lowercase();
    let scheme = ["http://", "https://", "mailto:", "tel:"];
    scheme.iter().any(|scheme| link.starts_with(scheme)) && !link.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::text_of;

    fn read(markdown: &str) -> Vec<Block> {
        blocks(markdown, &Patience::endless()).unwrap()
    }

    #[test]
    fn a_text_becomes_blocks() {
        let text = "# Ti*t*le\n\nOne  \ntwo **bold `code`**\n\n> said\n\n---\n\n```rs\nfn a() {}\n\nb\n```\n";
        insta::assert_debug_snapshot!(read(text));
    }

    #[test]
    fn lists_keep_their_numbers_tasks_and_depth() {
        insta::assert_debug_snapshot!(read(
            "3. three\n4. four\n   - [x] done\n   - [ ] open\n\n     more\n"
        ));
    }

    #[test]
    fn rows_of_a_table_have_the_cells_of_its_head() {
        let blocks = read("| a | b |\n|--:|:-:|\n| 1 | **2** | 3 |\n| 4 |\n");
        let [Block::Table(table)] = blocks.as_slice() else {
            panic!("{blocks:?}")
        };
        assert_eq!(table.columns, [Align::Right, Align::Center]);
        let rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| text_of(cell)).collect())
            .collect();
        assert_eq!(rows, [["a", "b"], ["1", "2"], ["4", ""]]);
    }

    #[test]
    fn html_is_text_but_for_breaks_and_looks() {
        let read = |text: &str| match read(text).as_slice() {
            [Block::Paragraph(spans)] => text_of(spans),
            other => panic!("{other:?}"),
        };
        assert_eq!(read("a<br>b<BR/>c"), "a\nb\nc");
        assert_eq!(
            read("a <u>b</u><!-- no --> <span style='x'>c</span>"),
            "a b c"
        );
        assert_eq!(
            read("a <script>alert(1)</script>"),
            "a <script>alert(1)</script>"
        );
        assert_eq!(read("<div>\nx\n</div>"), "<div>\nx\n</div>");
    }

    #[test]
    fn a_picture_is_a_link_to_it() {
        let [Block::Paragraph(spans)] =
            &*read("![A map](https://e.com/m.png) ![](https://e.com/n.png)")
        else {
            panic!()
        };
        let links: Vec<_> = spans
            .iter()
            .map(|s| (s.text.as_str(), s.link.is_some()))
            .collect();
        assert_eq!(
            links,
            [("A map", true), (" ", false), ("https://e.com/n.png", true)]
        );
    }

    #[test]
    fn what_is_nested_too_deep_stands_flat() {
        let deep = format!("{}end", "> ".repeat(5_000));
        let mut blocks = read(&deep);
        let mut depth = 0;
        while let [Block::Quote(inner)] = blocks.as_slice() {
            blocks = inner.clone();
            depth += 1;
        }
        assert_eq!(depth, 2 * DEEPEST);
        assert!(
            matches!(blocks.as_slice(), [Block::Paragraph(_)]),
            "{blocks:?}"
        );
    }

    #[test]
    fn only_harmless_links_lead_anywhere() {
        assert!(harmless("https://example.com/a") && harmless("mailto:a@b.example"));
        for bad in [
            "javascript:alert(1)",
            " JavaScript:x",
            "file:///etc/passwd",
            "data:text/html,x",
            "x.html",
        ] {
            assert!(!harmless(bad), "{bad}");
        }
    }
}
