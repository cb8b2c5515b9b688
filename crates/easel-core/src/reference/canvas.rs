//! The reference grammar of canvases (spec/canvas-engine §2): keys, keys in braces, and keys in Jinja.
//!
//! A *key* is `node@port.path`, `sys.name`, `env.name`, or inside the body of an iteration `item`, `index` or `result`.
//! Some parameters hold a bare key ([`bare`]); in texts it stands in braces ([`Grammar::scan`], [`Grammar::template`]):
//!
//! - One or more braces, with any blanks and line breaks between the innermost pair and the key: `{a@b}`, `{{a@b}}`,
//!   `{ sys.query }`. As many braces go as wrap the key on both sides, with at most spaces between them, and no more:
//!   in `{"q": {sys.query}}` the outer pair stays.
//! - Blanks outside the braces stay.
//! - Case counts: `{SYS.query}` is text.
//! - A key made of the plain alphabet is a reference, even one to nothing. A key with other characters in its id or name
//!   (`{my agent@content}`, `{env.my-var}`) is one if the document knows that name.
//! - Everything else in braces is text: `{line}`, `{a@b[0]}`, `{"a": 1}`.

mod jinja;

use std::ops::Range;
use std::sync::Arc;

use super::{Path, Reference, Root};
use crate::bind::ReadId;
use crate::template::{Piece, Template};

/// Reads a bare key, braces and blanks around it being optional: `Agent:X@content`, `{env.topic}`, `sys.query`. `None`
/// if it names nothing a reference can name.
///
/// Everything before the first `@` is the node's id, whatever its characters, so prose with an `@` in it reads as a
/// reference too: where text is allowed as well, ask whether the node exists (spec/canvas-engine §2.3).
pub fn bare(text: &str) -> Option<Reference> {
    let key = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}'));
    output(key).or_else(|| variable(key)).or_else(|| pass(key))
}

/// How the references in a text are recognised: what the grammar alone cannot know.
#[derive(Clone, Copy)]
pub struct Grammar<'a> {
    /// Whether the document has a node with that id or a variable of that name. Asked about keys outside the plain
    /// alphabet only.
    pub known: &'a dyn Fn(&str) -> bool,
    /// True if the text's node stands in the body of an iteration, where `{item}`, `{index}` and `{result}` name values
    /// of the pass.
    pub in_iteration: bool,
    /// True if the text may hold Jinja (Message, StringTransform).
    pub jinja: bool,
}

/// What was found in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scan {
    /// The references, in the order in which they stand.
    pub tokens: Vec<Token>,
    /// True if the text holds Jinja beside them, see [`Grammar::scan`].
    pub jinja: bool,
}

/// One reference in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The bytes it takes up, with the braces that go with it.
    pub range: Range<usize>,
    /// What it says.
    pub reference: Reference,
    /// What stands around it.
    pub place: Place,
}

/// What stands around a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Running text: the value is inserted.
    Text,
    /// Running text that Jinja is told to leave alone, between `{% raw %}` and `{% endraw %}`: the value is inserted.
    Raw,
    /// A Jinja statement or expression: the reference stands for its typed value.
    Block,
}

impl Grammar<'_> {
    /// Finds the references in a text.
    ///
    /// Where Jinja is allowed, the text counts as Jinja if it holds a complete `{% … %}`, `{# … #}` or `{{ … }}` that is
    /// not just a reference in braces. Inside those, outside their string literals, references may also stand bare:
    /// `{{ Agent:X@content | upper }}`, `{% if sys.query %}`. Comments refer to nothing.
    pub fn scan(&self, text: &str) -> Scan {
        let braced = self.braced(text);
        if self.jinja
            && let Some(tokens) = jinja::place(self, text, &braced)
        {
            return Scan {
                tokens,
                jinja: true,
            };
        }
        Scan {
            tokens: braced,
            jinja: false,
        }
    }

    /// Compiles a text: its references become reads, numbered by `read`.
    ///
    /// ```
    /// use easel_core::bind::{Inputs, ReadId, Resolved};
    /// use easel_core::reference::canvas::Grammar;
    /// use easel_core::template::Rendering;
    ///
    /// let grammar = Grammar { known: &|_| false, in_iteration: false, jinja: false };
    /// let mut keys = Vec::new();
    /// let template = grammar.template(r#"{"q": {sys.query}} {line}"#, |reference| {
    ///     keys.push(reference.to_string());
    ///     ReadId(0)
    /// });
    /// assert_eq!(keys, ["sys.query"]);
    ///
    /// let inputs = Inputs([Resolved::Value("hi".into())].into());
    /// assert_eq!(template.render(&inputs, Rendering::Display), r#"{"q": hi} {line}"#);
    /// ```
    pub fn template(&self, text: &str, mut read: impl FnMut(Reference) -> ReadId) -> Template {
        let scan = self.scan(text);
        let mut template = Template {
            pieces: Vec::new(),
            jinja: scan.jinja,
        };
        let mut written = 0;
        for token in scan.tokens {
            template.push_text(text.get(written..token.range.start).unwrap_or_default());
            written = token.range.end;
            let id = read(token.reference);
            match token.place {
                Place::Text => template.pieces.push(Piece::Read(id)),
                Place::Block => template.pieces.push(Piece::Name(id)),
                Place::Raw => {
                    template.push_text("{% endraw %}");
                    template.pieces.push(Piece::Read(id));
                    template.push_text("{% raw %}");
                }
            }
        }
        template.push_text(text.get(written..).unwrap_or_default());
        template
    }

    /// Reads a key as it stands between the braces of a text, without them and without blanks around it.
    pub fn key(&self, key: &str) -> Option<Reference> {
        if let Some((node, port)) = key.split_once('@') {
            let legal = !port.is_empty() && port.bytes().all(is_port);
            let counts = legal && (node.bytes().all(is_id) || (self.known)(node));
            return if counts { output(key) } else { None };
        }
        if let Some(reference) = variable(key) {
            let plain = key.bytes().all(is_variable);
            let is_step = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
            let counts = plain
                || reference.variable_candidates().any(|(name, _)| {
                    let path = key.get(name.len()..).unwrap_or_default();
                    (self.known)(name) && path.chars().all(is_step)
                });
            return counts.then_some(reference);
        }
        pass(key).filter(|_| self.in_iteration)
    }

    /// The references in braces, from left to right.
    fn braced(&self, text: &str) -> Vec<Token> {
        let bytes = text.as_bytes();
        let mut tokens = Vec::new();
        let mut opens = Vec::new();
        let mut at = 0;
        while let Some(next) = text.get(at..).and_then(|rest| rest.find('{')) {
            at += next;
            opens.clear();
            let mut start = at;
            while bytes.get(at) == Some(&b'{') {
                opens.push(at);
                start = at + 1;
                at = past_spaces(bytes, start);
            }
            let rest = text.get(start..).unwrap_or_default();
            let Some(length) = rest.find(['{', '}']) else {
                break;
            };
            at = start + length;
            let Some(reference) = rest.get(..length).and_then(|key| self.key(key.trim())) else {
                continue;
            };
            let mut first = at;
            let mut end = at;
            while bytes.get(at) == Some(&b'}')
                && let Some(open) = opens.pop()
            {
                first = open;
                end = at + 1;
                at = past_spaces(bytes, end);
            }
            if first < end {
                tokens.push(Token {
                    range: first..end,
                    reference,
                    place: Place::Text,
                });
                at = end;
            }
        }
        tokens
    }
}

/// `node@port.path`: the id goes up to the first `@`, the port up to the first dot behind it.
fn output(key: &str) -> Option<Reference> {
    let (node, rest) = key.split_once('@').filter(|(node, _)| !node.is_empty())?;
    let (port, path) = rest.split_once('.').unwrap_or((rest, ""));
    Some(Reference {
        text: key.into(),
        root: Root::Output {
            node: node.into(),
            port: port.into(),
        },
        path: Path::parse(path),
    })
}

/// `sys.name` or `env.name`.
fn variable(key: &str) -> Option<Reference> {
    let name = key
        .strip_prefix("sys.")
        .or_else(|| key.strip_prefix("env."))?;
    let named = name.contains(|c| c != '.');
    named.then(|| whole(key, Root::Variable))
}

/// `item`, `index` or `result`.
fn pass(key: &str) -> Option<Reference> {
    matches!(key, "item" | "index" | "result").then(|| whole(key, Root::Pass))
}

fn whole(key: &str, root: impl FnOnce(Arc<str>) -> Root) -> Reference {
    let text: Arc<str> = key.into();
    Reference {
        root: root(text.clone()),
        text,
        path: Path::default(),
    }
}

/// The plain alphabet of ids.
fn is_id(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':')
}

/// The alphabet of ports and the paths behind them.
fn is_port(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// The plain alphabet of variables and the paths behind them.
fn is_variable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

fn past_spaces(bytes: &[u8], from: usize) -> usize {
    let spaces = bytes
        .get(from..)
        .into_iter()
        .flatten()
        .take_while(|b| **b == b' ');
    from + spaces.count()
}

#[cfg(test)]
mod tests;
