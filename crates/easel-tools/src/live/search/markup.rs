//! Pages and XML as far as results need them: elements in the order of the text, found by name, class and attribute.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use crate::html::IN_LINE;

/// Open elements among which the end of one is looked for: pages come from strangers, and some never close a tag.
const DEEPEST_SEARCH: usize = 64;

/// Elements of HTML that have no end.
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// A document: its elements in order, each with the range of elements in it, and all its text.
#[derive(Debug, Default)]
pub(super) struct Markup {
    elements: Vec<Element>,
    text: String,
}

#[derive(Debug)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    /// The first element behind it and what is in it.
    end: usize,
    /// Its part of the text.
    text: (usize, usize),
}

impl Element {
    fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Markup {
    /// Reads a page of HTML. Any text is one.
    pub(super) fn html(text: &str) -> Markup {
        Markup::read(text, true)
    }

    /// Reads XML. Any text is some; names are in lower case then.
    pub(super) fn xml(text: &str) -> Markup {
        Markup::read(text, false)
    }

    fn read(text: &str, html: bool) -> Markup {
        let mut reader = Reader {
            html,
            ..Reader::default()
        };
        let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
            reader.read(event);
            None::<()>
        });
        emitter.naively_switch_states(html);
        for token in Tokenizer::new_with_emitter(text, emitter) {
            match token {
                Ok(()) => {}
            }
        }
        reader.close_down_to(0);
        reader.markup
    }

    /// Whether it has any element.
    pub(super) fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The elements that a selector finds, in order: in the whole, or in one element.
    pub(super) fn select(&self, within: Option<usize>, selector: &str) -> Vec<usize> {
        let path = selector.split_once('@').map_or(selector, |(path, _)| path);
        let mut ranges = vec![match within {
            None => (0, self.elements.len()),
            Some(at) => (at + 1, self.end(at)),
        }];
        let mut found = within.into_iter().collect();
        for step in path.split_whitespace().map(Wanted::parse) {
            found = Vec::new();
            let mut covered = 0;
            for (start, end) in ranges {
                let range = start.max(covered)..end;
                covered = covered.max(end);
                found.extend(range.filter(|at| self.elements.get(*at).is_some_and(|e| step.is(e))));
            }
            ranges = found.iter().map(|at| (at + 1, self.end(*at))).collect();
        }
        found
    }

    /// What a selector finds as texts: the attribute that it ends with (`a@href`), else the text of each element.
    pub(super) fn texts(&self, within: Option<usize>, selector: &str) -> Vec<String> {
        let found = self.select(within, selector);
        let texts = found
            .into_iter()
            .filter_map(|at| match selector.split_once('@') {
                Some((_, attribute)) => {
                    let element = self.elements.get(at)?;
                    element.attribute(attribute.trim()).map(str::to_owned)
                }
                None => Some(self.text_of(at)),
            });
        texts.filter(|text| !text.trim().is_empty()).collect()
    }

    /// The text of an element and of all in it, blanks collapsed.
    pub(super) fn text_of(&self, at: usize) -> String {
        let range = self.elements.get(at).map_or((0, 0), |element| element.text);
        let text = self.text.get(range.0..range.1).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn end(&self, at: usize) -> usize {
        self.elements.get(at).map_or(at + 1, |element| element.end)
    }
}

/// One step of a selector: `a`, `.title`, `div.result`, `link[title=pdf]`.
struct Wanted<'s> {
    name: &'s str,
    classes: Vec<&'s str>,
    attribute: Option<(&'s str, &'s str)>,
}

impl<'s> Wanted<'s> {
    fn parse(step: &'s str) -> Wanted<'s> {
        let (plain, condition) = step.split_once('[').unwrap_or((step, ""));
        let mut parts = plain.split('.');
        Wanted {
            name: parts.next().unwrap_or_default(),
            classes: parts.collect(),
            attribute: condition.trim_end_matches(']').split_once('='),
        }
    }

    fn is(&self, element: &Element) -> bool {
        let class = element.attribute("class").unwrap_or_default();
        let has = |wanted: &&str| class.split_whitespace().any(|class| class == *wanted);
        (self.name.is_empty() || self.name == element.name)
            && self.classes.iter().all(has)
            && self
                .attribute
                .is_none_or(|(name, value)| element.attribute(name) == Some(value))
    }
}

#[derive(Default)]
struct Reader {
    html: bool,
    markup: Markup,
    /// The elements that are open, the outermost first.
    open: Vec<usize>,
}

impl Reader {
    fn read(&mut self, event: CallbackEvent<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match event {
            CallbackEvent::OpenStartTag { name } => self.begin(text(name)),
            CallbackEvent::AttributeName { name } => {
                if let Some(element) = self.markup.elements.last_mut() {
                    element.attributes.push((text(name), String::new()));
                }
            }
            CallbackEvent::AttributeValue { value } => {
                let element = self.markup.elements.last_mut();
                if let Some((_, last)) = element.and_then(|e| e.attributes.last_mut()) {
                    *last = text(value);
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                let name = self
                    .markup
                    .elements
                    .last()
                    .map(|element| element.name.as_str());
                let void = self.html && name.is_some_and(|name| VOID.contains(&name));
                if void || (self_closing && !self.html) {
                    self.close_down_to(self.open.len().saturating_sub(1));
                }
            }
            CallbackEvent::EndTag { name } => self.end(&text(name)),
            CallbackEvent::String { value } if !self.is_unseen() => {
                self.markup.text.push_str(&String::from_utf8_lossy(value));
            }
            _ => {}
        }
    }

    fn begin(&mut self, name: String) {
        self.set_off(&name);
        let at = self.markup.elements.len();
        let start = self.markup.text.len();
        self.markup.elements.push(Element {
            name,
            attributes: Vec::new(),
            end: at + 1,
            text: (start, start),
        });
        self.open.push(at);
    }

    fn end(&mut self, name: &str) {
        let deepest = self.open.iter().enumerate().rev().take(DEEPEST_SEARCH);
        let named = |at: usize| self.markup.elements.get(at).is_some_and(|e| e.name == name);
        let found = deepest.into_iter().find(|(_, at)| named(**at));
        if let Some(level) = found.map(|(level, _)| level) {
            self.close_down_to(level);
            self.set_off(name);
        }
    }

    /// Words of different blocks do not run together.
    fn set_off(&mut self, name: &str) {
        if !IN_LINE.contains(&name.as_bytes()) {
            self.markup.text.push(' ');
        }
    }

    fn close_down_to(&mut self, level: usize) {
        let (end, text) = (self.markup.elements.len(), self.markup.text.len());
        for at in self.open.drain(level.min(self.open.len())..) {
            if let Some(element) = self.markup.elements.get_mut(at) {
                element.end = end;
                element.text.1 = text;
            }
        }
    }

    fn is_unseen(&self) -> bool {
        let last = self
            .open
            .last()
            .and_then(|at| self.markup.elements.get(*at));
        self.html && last.is_some_and(|e| matches!(e.name.as_str(), "script" | "style"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn results_of_a_page_are_found_by_class() {
        let page = Markup::html(
            "<div class='result ad'><a class=t href=/ad>Ad</a></div>\
             <div class='result web'><h2><a class=t href='/a?x=1&amp;y=2'>The <b>s</b>un<br>rises</a></h2><script>x</script><p>one<p>two</div>",
        );
        let results = page.select(None, ".result.web");
        assert_eq!(results.len(), 1);
        let at = Some(results[0]);
        assert_eq!(page.texts(at, "h2 .t@href"), ["/a?x=1&y=2"]);
        assert_eq!(page.texts(at, "a.t"), ["The sun rises"]);
        assert_eq!(page.texts(at, "p"), ["one two", "two"]);
        assert_eq!(page.texts(at, ".missing"), Vec::<String>::new());
    }

    #[test]
    fn members_of_xml_are_found_by_name_and_attribute() {
        let feed = Markup::xml(
            "<?xml version='1.0'?><feed><title>All</title><entry><title>A</title><link href='h' rel='x'/>\
             <link title='pdf' href='p'/><author><name>Ann</name></author><author><name>Bo</name></author></entry></feed>",
        );
        let entry = Some(feed.select(None, "feed entry")[0]);
        assert_eq!(feed.texts(entry, "title"), ["A"]);
        assert_eq!(feed.texts(entry, "link[title=pdf]@href"), ["p"]);
        assert_eq!(feed.texts(entry, "author name"), ["Ann", "Bo"]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_document(text in "(<[/a-c]{1,3}( x=y)?/?>|[a &;]{0,4}|<!--|-->|]]>)*") {
            for markup in [Markup::html(&text), Markup::xml(&text)] {
                for at in markup.select(None, "a b") {
                    markup.text_of(at);
                }
            }
        }
    }
}
