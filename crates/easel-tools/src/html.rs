//! Web pages as text.

use ego_tree::iter::Edge;
use scraper::{Html, Node};

/// Bytes of a page that are read; the rest is cut off. Cleaning some malformed pages takes more than linear time.
const LONGEST: usize = 2 << 20;

/// Elements whose content no one reads.
const UNSEEN: [&str; 8] = [
    "head", "iframe", "noscript", "object", "script", "style", "svg", "template",
];

/// Elements that run on in the line. Any other begins and ends one.
const IN_LINE: [&str; 33] = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// The readable text of a page: a line for each block, blanks collapsed, without scripts, styles and markup.
///
/// Cells of a table row stand in one line with ` | ` between; `pre` keeps its lines. Any text is a page to this
/// function: what isn't HTML comes back with its blanks collapsed.
pub fn clean_html(html: &str) -> String {
    let page = Html::parse_document(&html[..html.floor_char_boundary(LONGEST)]);
    let mut text = Lines::default();
    let (mut unseen, mut preformatted) = (0_u32, 0_u32);
    for edge in page.tree.root().traverse() {
        let (node, opens) = match edge {
            Edge::Open(node) => (node.value(), true),
            Edge::Close(node) => (node.value(), false),
        };
        match node {
            Node::Element(element) => {
                let name = element.name();
                let level = |depth: u32| {
                    if opens {
                        depth + 1
                    } else {
                        depth.saturating_sub(1)
                    }
                };
                if UNSEEN.contains(&name) {
                    unseen = level(unseen);
                }
                match name {
                    "td" | "th" if opens => text.cell(),
                    "td" | "th" => {}
                    "pre" | "textarea" => {
                        preformatted = level(preformatted);
                        text.end_line();
                    }
                    name if IN_LINE.contains(&name) => {}
                    _ => text.end_line(),
                }
            }
            Node::Text(words) if opens && unseen == 0 => match preformatted {
                0 => text.words(words),
                _ => text.lines(words),
            },
            _ => {}
        }
    }
    text.finish()
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
    fn broken_pages_cost_bounded_time_and_no_stack() {
        let start = std::time::Instant::now();
        for piece in [
            "<div>",
            "<b><p>",
            "<table><td>",
            "<a href=x><a>",
            "<svg><p>",
            "&",
            "<",
            "<!--",
        ] {
            clean_html(&piece.repeat(20_000));
        }
        assert!(clean_html(&"ä ".repeat(LONGEST)).len() < LONGEST + 1);
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn any_text_is_a_page(html in "(<[/a-z]{1,6}>|[ a-z\n&;]{0,5}|<!|-->|[äß<>])*") {
            let text = clean_html(&html);
            prop_assert!(text.lines().all(|line| !line.trim().is_empty()));
        }
    }
}
