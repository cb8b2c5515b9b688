//! Web pages as Markdown.

mod blocks;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use url::Url;

use super::{IN_LINE, UNSEEN};
use blocks::Blocks;

/// Elements that surround what a page is about.
const AROUND: [&[u8]; 6] = [b"aside", b"button", b"dialog", b"footer", b"nav", b"select"];

/// Elements without an end.
const VOID: [&[u8]; 7] = [b"br", b"hr", b"img", b"input", b"link", b"meta", b"wbr"];

/// Characters that a page's main part has at least; with fewer, the whole page is meant.
const MAIN: usize = 140;

/// The longest address that is kept, in bytes. A link with a longer one is words.
const ADDRESS: usize = 2_000;

/// What is written of a page, in bytes; then no more of it is read. A page can be made to say a long address over and over.
const LONGEST: usize = 1 << 20;

/// Levels of lists and quotes that are told apart.
const LEVELS: usize = 8;

/// What a page says, as Markdown: headings, paragraphs, lists, quotes, code, tables, links with their whole addresses.
///
/// What surrounds it (menus, footers, forms) is left out. Of a page with a `main` or with articles, that is what it says. Like
/// [`clean_html`](super::clean_html) it goes by tags and never builds a tree. Beyond a mebibyte nothing more is read.
pub fn markdown(html: &str, address: &str) -> String {
    let main = read(html, address, true);
    match main.trim().chars().count() < MAIN {
        true => read(html, address, false),
        false => main,
    }
}

fn read(html: &str, address: &str, main_only: bool) -> String {
    let mut page = Page {
        base: Url::parse(address).ok(),
        main_only,
        ..Page::default()
    };
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        page.read(event);
        None::<()>
    });
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Ok(()) => {}
        }
    }
    page.finish()
}

/// A start tag while it is read.
#[derive(Default)]
struct Tag {
    name: Vec<u8>,
    attribute: Vec<u8>,
    href: Option<String>,
    src: Option<String>,
    alt: Option<String>,
}

/// What has been read of a page.
#[derive(Default)]
struct Page {
    base: Option<Url>,
    /// Only what stands in `main` and in articles counts.
    main_only: bool,
    tag: Tag,
    out: Blocks,
    /// How many elements are open whose content is left out.
    left_out: u32,
    /// How many elements are open that are the main part.
    main: u32,
    preformatted: u32,
    /// The link that is open: where it begins in the line, and where it leads.
    link: Option<(usize, Option<String>)>,
    /// The lists that are open: the number of the next item, if they have numbers.
    lists: Vec<Option<u32>>,
    quotes: usize,
    /// Cells of the row that is read.
    row: Option<Vec<String>>,
    /// How many bytes they have.
    cells: usize,
    /// Whether the table that is read has a row already.
    has_row: bool,
}

impl Page {
    fn read(&mut self, event: CallbackEvent<'_>) {
        if self.out.len() + self.cells > LONGEST {
            return;
        }
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = Tag {
                    name: name.to_vec(),
                    ..Tag::default()
                };
            }
            CallbackEvent::AttributeName { name } => self.tag.attribute = name.to_vec(),
            CallbackEvent::AttributeValue { value } => self.attribute(value),
            CallbackEvent::CloseStartTag { self_closing } => {
                let tag = std::mem::take(&mut self.tag);
                self.open(&tag);
                // Of foreign elements only: others are not closed by it.
                if self_closing && tag.name == b"svg" {
                    self.close(&tag.name);
                }
            }
            CallbackEvent::EndTag { name } => self.close(name),
            CallbackEvent::String { value } if self.counts() => {
                let text = String::from_utf8_lossy(value);
                match self.preformatted {
                    0 => self.out.words(&text),
                    _ => self.out.verbatim(&text),
                }
            }
            _ => {}
        }
    }

    fn attribute(&mut self, value: &[u8]) {
        let short = Some(value).filter(|value| value.len() <= ADDRESS);
        let value = || short.map(|value| String::from_utf8_lossy(value).into_owned());
        match self.tag.attribute.as_slice() {
            b"href" => self.tag.href = value(),
            b"src" => self.tag.src = value(),
            b"alt" => self.tag.alt = value(),
            _ => {}
        }
    }

    /// Whether what stands here is read.
    fn counts(&self) -> bool {
        self.left_out == 0 && (!self.main_only || self.main > 0)
    }

    fn open(&mut self, tag: &Tag) {
        let name = tag.name.as_slice();
        if UNSEEN.contains(&name) || AROUND.contains(&name) {
            self.left_out = self.left_out.saturating_add(1);
            self.end_block();
            return;
        }
        match name {
            b"main" | b"article" => self.main = self.main.saturating_add(1),
            b"base" => {
                self.base = self
                    .absolute(tag.href.as_deref())
                    .and_then(|base| base.parse().ok())
            }
            _ => {}
        }
        if !self.counts() {
            return;
        }
        if self.preformatted > 0 && name != b"pre" {
            return self.within_code(name);
        }
        match name {
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => {
                self.end_block();
                let level = usize::from(name[1] - b'0');
                self.out.begin(&format!("{} ", "#".repeat(level)));
            }
            b"p" | b"dt" | b"figcaption" => self.end_block(),
            b"ul" | b"ol" => {
                self.end_line();
                self.lists.push((name == b"ol").then_some(1));
            }
            b"li" => self.item(),
            b"blockquote" => {
                self.end_block();
                self.quotes = self.quotes.saturating_add(1);
            }
            b"pre" if self.row.is_none() => {
                if self.preformatted == 0 {
                    self.end_block();
                    self.out.begin("```\n");
                }
                self.preformatted = self.preformatted.saturating_add(1);
            }
            b"br" => self.break_line(),
            b"hr" => {
                self.end_block();
                self.out.begin("---");
                self.end_block();
            }
            b"a" => {
                self.end_link();
                self.link = Some((self.out.line().len(), tag.href.clone()));
            }
            b"img" => self.image(tag),
            b"table" => {
                self.end_block();
                self.has_row = false;
            }
            b"tr" => {
                self.end_row();
                self.row = Some(Vec::new());
            }
            b"td" | b"th" => self.end_cell(),
            b"code" | b"kbd" | b"samp" => self.out.mark("`", true),
            b"b" | b"strong" => self.out.mark("**", true),
            b"i" | b"em" => self.out.mark("*", true),
            name if !IN_LINE.contains(&name) && !VOID.contains(&name) => self.end_line(),
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        if UNSEEN.contains(&name) || AROUND.contains(&name) {
            self.left_out = self.left_out.saturating_sub(1);
            return;
        }
        match (self.counts(), self.preformatted, name) {
            (false, ..) => {}
            (true, 1.., b"pre") => self.end_code(),
            (true, 1.., name) => self.within_code(name),
            (true, 0, name) => self.close_read(name),
        }
        if matches!(name, b"main" | b"article") {
            self.main = self.main.saturating_sub(1);
        }
    }

    fn close_read(&mut self, name: &[u8]) {
        match name {
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"p" | b"dd" | b"figcaption"
            | b"main" | b"article" | b"section" => self.end_block(),
            b"ul" | b"ol" => {
                self.end_line();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.end_block();
                }
            }
            b"blockquote" => {
                self.end_block();
                self.quotes = self.quotes.saturating_sub(1);
            }
            b"a" => self.end_link(),
            b"tr" => self.end_row(),
            b"table" => {
                self.end_row();
                self.row = None;
                self.end_block();
            }
            b"td" | b"th" => self.end_cell(),
            b"code" | b"kbd" | b"samp" => self.out.mark("`", false),
            b"b" | b"strong" => self.out.mark("**", false),
            b"i" | b"em" => self.out.mark("*", false),
            name if !IN_LINE.contains(&name) && !VOID.contains(&name) => self.end_line(),
            _ => {}
        }
    }

    /// Within code a tag that ends a line ends one, and nothing else.
    fn within_code(&mut self, name: &[u8]) {
        let breaks = name == b"br" || !(IN_LINE.contains(&name) || VOID.contains(&name));
        if breaks && !self.out.line().ends_with('\n') {
            self.out.verbatim("\n");
        }
    }

    fn end_code(&mut self) {
        self.preformatted -= 1;
        if self.preformatted == 0 {
            self.out.end_verbatim();
            self.end_block();
        }
    }

    fn item(&mut self) {
        self.end_line();
        let depth = self.lists.len().clamp(1, LEVELS) - 1;
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "- ".to_owned(),
        };
        self.out.begin(&format!("{}{mark}", "  ".repeat(depth)));
    }

    /// A break within a paragraph; in a cell or a heading a blank.
    fn break_line(&mut self) {
        match self.row.is_some() {
            true => self.out.words(" "),
            false => self.end_line(),
        }
    }

    fn image(&mut self, tag: &Tag) {
        let alt = tag.alt.as_deref().unwrap_or_default();
        let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
        // Pictures without a word are decoration, and data are no address.
        let source = tag
            .src
            .as_deref()
            .filter(|source| !source.starts_with("data:"));
        if let (false, Some(source)) = (alt.is_empty(), self.absolute(source)) {
            self.out
                .words(&format!("![{}]({source})", alt.replace(['[', ']'], "")));
        }
    }

    fn end_link(&mut self) {
        let Some((begin, href)) = self.link.take() else {
            return;
        };
        let Some(address) = self.absolute(href.as_deref()) else {
            return;
        };
        self.out.link(begin, &address);
    }

    /// An address of the web in full. What leads nowhere else (`#part`, `javascript:`) is none.
    fn absolute(&self, address: Option<&str>) -> Option<String> {
        let address = address?.trim();
        if address.is_empty() || address.starts_with('#') {
            return None;
        }
        let whole = match &self.base {
            Some(base) => base.join(address).ok()?,
            None => Url::parse(address).ok()?,
        };
        let leads = matches!(whole.scheme(), "http" | "https" | "mailto");
        (leads && whole.as_str().len() <= ADDRESS).then(|| whole.to_string())
    }

    fn end_cell(&mut self) {
        let text = self.out.take_line();
        if let Some(row) = &mut self.row
            && (!text.is_empty() || !row.is_empty())
        {
            self.cells += text.len();
            row.push(text.replace('|', "\\|"));
        }
        self.link = None;
    }

    fn end_row(&mut self) {
        if self.row.is_none() {
            return;
        }
        let rest = self.out.take_line();
        let Some(mut cells) = self.row.take() else {
            return;
        };
        self.cells = 0;
        if !rest.is_empty() {
            cells.push(rest);
        }
        // An opening and a closing tag end a cell each, and the second finds nothing.
        let cells: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        if cells.is_empty() {
            return;
        }
        self.out.row(&format!("| {} |", cells.join(" | ")));
        if !self.has_row {
            self.out.row(&format!("|{}", " --- |".repeat(cells.len())));
            self.has_row = true;
        }
    }

    /// Ends a line; the next one belongs to the same block.
    fn end_line(&mut self) {
        if self.row.is_some() {
            return self.out.words(" ");
        }
        self.link = None;
        self.out.end_line(self.quotes.min(LEVELS));
    }

    fn end_block(&mut self) {
        self.end_line();
        if self.row.is_none() {
            self.out.end_block();
        }
    }

    fn finish(mut self) -> String {
        self.end_row();
        if self.preformatted > 0 {
            self.preformatted = 1;
            self.end_code();
        }
        self.end_block();
        self.out.finish()
    }
}

#[cfg(test)]
mod tests;
