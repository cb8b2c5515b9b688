//! Web pages as text.

mod markdown;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

pub use markdown::markdown;

/// Elements whose content no one reads.
const UNSEEN: [&[u8]; 8] = [
    b"iframe",
    b"noscript",
    b"object",
    b"script",
    b"style",
    b"svg",
    b"template",
    b"title",
];

/// Elements that run on in the line. Any other begins and ends one.
pub(crate) const IN_LINE: [&[u8]; 33] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"big", b"cite", b"code", b"data", b"del", b"dfn", b"em",
    b"font", b"i", b"img", b"ins", b"kbd", b"label", b"mark", b"q", b"s", b"samp", b"small",
    b"span", b"strike", b"strong", b"sub", b"sup", b"time", b"tt", b"u", b"var", b"wbr",
];

/// The readable text of a page: a line for each block, blanks collapsed, without scripts, styles and markup.
///
/// Cells of a table row stand in one line with ` | ` between; `pre` keeps its lines. Any text is a page to this
/// function: what isn't HTML comes back with its blanks collapsed.
///
/// It goes by tags and never builds a tree: pages come from strangers, and on nested tags tree builders take time
/// that grows with the square of the page.
pub fn clean_html(html: &str) -> String {
    let mut page = Page::default();
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
    page.text.finish()
}

/// What has been read of a page.
#[derive(Default)]
struct Page {
    text: Lines,
    /// How many unseen elements are open.
    unseen: u32,
    /// How many preformatted elements are open.
    preformatted: u32,
    /// The element whose start tag is being read is an `svg`, the one unseen element that can end with `/>`.
    in_svg_tag: bool,
}

impl Page {
    fn read(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.in_svg_tag = name == b"svg";
                self.tag(name, |open| open.saturating_add(1));
                if matches!(name, b"td" | b"th") {
                    self.text.cell();
                }
            }
            CallbackEvent::CloseStartTag { self_closing } if self_closing && self.in_svg_tag => {
                self.unseen = self.unseen.saturating_sub(1);
            }
            CallbackEvent::EndTag { name } => self.tag(name, |open| open.saturating_sub(1)),
            CallbackEvent::String { value } if self.unseen == 0 => {
                let words = String::from_utf8_lossy(value);
                match self.preformatted {
                    0 => self.text.words(&words),
                    _ => self.text.lines(&words),
                }
            }
            _ => {}
        }
    }

    /// A tag of that name opens or closes an element; `level` tells how many of its kind are open then.
    fn tag(&mut self, name: &[u8], level: impl Fn(u32) -> u32) {
        if UNSEEN.contains(&name) {
            self.unseen = level(self.unseen);
        } else if matches!(name, b"pre" | b"textarea") {
            self.preformatted = level(self.preformatted);
            self.text.end_line();
        } else if !IN_LINE.contains(&name) && !matches!(name, b"td" | b"th") {
            self.text.end_line();
        }
    }
}

/// Text that grows by words and lines.
#[derive(Default)]
struct Lines {
    done: String,
    line: String,
    /// A blank is due before the next word.
    blank: bool,
    /// A cell has ended in this line; the next one is set off.
    in_row: bool,
}

impl Lines {
    fn words(&mut self, text: &str) {
        self.blank |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            if self.blank && !self.line.is_empty() {
                self.line.push(' ');
            }
            self.line.push_str(word);
            self.blank = true;
        }
        self.blank = text.ends_with(char::is_whitespace) || (self.blank && text.trim().is_empty());
    }

    fn lines(&mut self, text: &str) {
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                self.end_line();
            }
            self.line.push_str(line.trim_end());
        }
    }

    fn cell(&mut self) {
        if self.in_row {
            self.line.push_str(" | ");
        }
        self.in_row = true;
        self.blank = false;
    }

    fn end_line(&mut self) {
        if !self.line.trim().is_empty() {
            if !self.done.is_empty() {
                self.done.push('\n');
            }
            self.done.push_str(self.line.trim_end());
        }
        self.line.clear();
        self.blank = false;
        self.in_row = false;
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_page_is_read_without_what_no_one_sees() {
        let page = "<!doctype html><html><head><title>T</title><style>p{}</style></head><body>\
            <h1>Sun  and\n moon</h1><script>alert(1)</script>\
            <p>A <b>bold</b>, <a href='x'>linked</a>\n word.<br>Next&nbsp;line &amp; more</p>\
            <ul><li>one<li>two</ul><!-- note --><noscript>no</noscript>\
            <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><p>2</p></td></tr></table>\
            <pre>def f():\n    return 1\n</pre></body></html>";
        assert_eq!(
            clean_html(page),
            "Sun and moon\nA bold, linked word.\nNext line & more\none\ntwo\na | b\n1 |\n2\ndef f():\n    return 1"
        );
    }

    #[test]
    fn text_that_is_no_page_comes_back() {
        assert_eq!(clean_html("plain  text\nin lines"), "plain text in lines");
        assert_eq!(clean_html("1 < 2 and {\"a\": 1}"), "1 < 2 and {\"a\": 1}");
        assert_eq!(clean_html(""), "");
    }

    #[test]
    fn pages_that_never_close_their_tags_are_read_to_the_end() {
        for piece in [
            "<div>",
            "<b><p>",
            "<table><td>",
            "<a b c=d e>",
            "<svg/><p>",
            "</div>",
            "<!-- --> ",
        ] {
            let page = piece.repeat(5_000) + "end";
            assert!(clean_html(&page).ends_with("end"), "{piece}");
        }
        for piece in ["<svg>", "<script>", "<!--", "<a b='"] {
            assert_eq!(clean_html(&(piece.repeat(5_000) + "end")), "", "{piece}");
        }
        assert_eq!(clean_html("a<svg><svg>no</svg>no</svg></svg>b"), "ab");
    }

    proptest! {
        #[test]
        fn any_text_is_a_page(html in "(<[/a-z]{1,6}>|[ a-z\n&;]{0,5}|<!|-->|[äß<>])*") {
            let text = clean_html(&html);
            prop_assert!(text.lines().all(|line| !line.trim().is_empty()));
        }
    }
}
