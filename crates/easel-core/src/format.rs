//! Templates of graphs (spec/graph-engine §5): text with placeholders in the syntax of Python's `str.format`.
//!
//! ```
//! use easel_core::bind::{Inputs, ReadId, Resolved};
//! use easel_core::format::{Secrets, parse};
//! use easel_core::reference::graph::Binding;
//!
//! let template = parse("{topic!r:>8}, {doc.title}, {nope}", Secrets::None).bind(|chain| match &*chain.root {
//!     "topic" => Binding::Read { read: ReadId(0), used: 0 },
//!     "doc" => Binding::Read { read: ReadId(1), used: 0 },
//!     _ => Binding::Unknown("there is no such name".into()),
//! });
//! let doc = serde_json::from_str(r#"{"title": "T"}"#).unwrap();
//! let rendered = template.render(&Inputs([Resolved::Value("cats".into()), Resolved::Value(doc)].into()));
//! assert_eq!(rendered.text, "  'cats', T, {nope}");
//! assert_eq!(rendered.unresolved, ["nope".into()]);
//! ```
//!
//! # Placeholders
//!
//! `{` name and steps, `!r`, `!s` or `!a`, `:` and a format, `}`. The name reaches to the first `.`, `[`, `!`, `:` or `}`,
//! blanks included. A step `.key` or `[key]` finds the member of an object, its key taken literally, quotes too; `[12]`
//! also an element of a list. A step into a text goes into what that text is as JSON. Nothing else can be reached: no
//! method, no character of a text, no element from the end. In a format, placeholders may stand, but in theirs none.
//!
//! Each placeholder stands for itself. One whose value is missing, or whose format is not for such a value, stays as it
//! is written and is listed; `null` is a value and is written `None`. What was inserted is never scanned again.
//!
//! # Braces and dollars
//!
//! | written | means |
//! |---|---|
//! | `{{`, `}}` | one brace, everywhere outside placeholders, whether all other braces are paired or not |
//! | a brace without its partner | itself, and a [finding](FindingKind::UnpairedBrace); what is around it is rendered all the same |
//! | `${NAME}` | where secrets may stand ([`Secrets`]) and the name is declared: that secret. Else itself, and a [finding](FindingKind::Secret). Never `$` and a placeholder |
//! | `$${…}` | `${…}` up to the first closing brace, literally |
//!
//! # What differs from `str.format`
//!
//! A text is never refused as a whole; paths read data only; `n` is formatted as in the C locale; a float that becomes
//! infinite by `%`, a width above [`MAX_WIDTH`], and a name longer than [`MAX_NAME`] leave the placeholder as it is.

mod parser;
mod spec;
#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use crate::Value;
use crate::argument::Part;
use crate::bind::{Inputs, ReadId};
use crate::reference::graph::{Binding, Chain, Source};
use spec::FormatSpec;

/// The largest width of a placeholder, and the most decimal places, in characters.
pub const MAX_WIDTH: usize = 10_000;

/// The longest name of a placeholder with its steps, in bytes. What is longer is no placeholder.
pub const MAX_NAME: usize = 1_000;

/// Whether secrets may stand in a text.
#[derive(Clone, Copy, Debug)]
pub enum Secrets<'a> {
    /// None: prompts, values, conditions.
    None,
    /// Those that the node declares: arguments of tools, headers, settings.
    Declared(&'a [Arc<str>]),
}

impl Secrets<'_> {
    fn has(&self, name: &str) -> bool {
        match self {
            Secrets::None => false,
            Secrets::Declared(names) => names.iter().any(|declared| &**declared == name),
        }
    }
}

/// Reads a template. Every text is one; what is odd about it is among its [findings](Parsed::findings).
pub fn parse(text: &str, secrets: Secrets<'_>) -> Parsed {
    parser::parse(text, secrets)
}

/// A template that was read; what its names stand for is not known yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pieces: Vec<Piece>,
    chains: Vec<Chain>,
    findings: Vec<Finding>,
}

/// Something noticed in a text: where it may not say what its author meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was noticed.
    pub kind: FindingKind,
    /// The bytes of the text that it is about.
    pub span: Range<usize>,
}

/// What can be noticed in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// A brace without its partner, or an opening one behind which no placeholder can be read.
    UnpairedBrace,
    /// Braces around what looks like text: `{}`, `{0}`, `{"a": 1}`, `{note: see below}`. Filled only if there is a value of
    /// just that name.
    Literal(
        /// What would be the name.
        Arc<str>,
    ),
    /// `${NAME}` where no secret can stand, or with a name that is not declared.
    Secret(
        /// The name.
        Arc<str>,
    ),
}

impl Parsed {
    /// What its placeholders name, in the order in which they stand; what is named twice comes twice. The span of a chain
    /// is that of the whole placeholder.
    pub fn chains(&self) -> &[Chain] {
        &self.chains
    }

    /// What was noticed, in the order in which it stands.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Says what each chain stands for. Of a placeholder whose name is unknown, the placeholders in its format are not
    /// asked about: it stays as it is written.
    pub fn bind(self, mut bind: impl FnMut(&Chain) -> Binding) -> FormatString {
        let unasked = Source::Unknown(Arc::from(""));
        let mut sources = vec![unasked; self.chains.len()];
        bind_pieces(&self.pieces, &self.chains, &mut bind, &mut sources);
        FormatString {
            pieces: self.pieces,
            sources,
        }
    }
}

fn bind_pieces(
    pieces: &[Piece],
    chains: &[Chain],
    bind: &mut dyn FnMut(&Chain) -> Binding,
    sources: &mut [Source],
) {
    for piece in pieces {
        if let Piece::Field(field) = piece
            && let Some(chain) = field.chain
            && let (Some(named), Some(source)) = (chains.get(chain), sources.get_mut(chain))
        {
            *source = Source::new(bind(named), named);
            if let (Format::Nested(pieces), false) =
                (&field.format, matches!(source, Source::Unknown(_)))
            {
                bind_pieces(pieces, chains, bind, sources);
            }
        }
    }
}

/// A template whose names are bound.
#[derive(Clone, Debug, PartialEq)]
pub struct FormatString {
    pieces: Vec<Piece>,
    sources: Vec<Source>,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(Arc<str>),
    Secret(Arc<str>),
    Field(Box<Field>),
}

/// A placeholder.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    /// As it is written, braces included.
    written: Arc<str>,
    /// The name with its steps, as it is written.
    name: Arc<str>,
    /// Its chain; none if it can never be filled.
    chain: Option<usize>,
    conversion: Option<Conversion>,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    /// `!s`: as text.
    Text,
    /// `!r`: as Python source.
    Source,
    /// `!a`: as Python source in ASCII.
    Ascii,
}

/// What stands behind the colon.
#[derive(Clone, Debug, PartialEq)]
enum Format {
    None,
    Fixed(FormatSpec),
    /// A format that is known once its placeholders are filled.
    Nested(Vec<Piece>),
}

/// A rendered template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The text. A secret stands in it as `${NAME}`.
    pub text: String,
    /// What could not be filled and stands in the text as it was written: names with their steps, in order.
    pub unresolved: Vec<Arc<str>>,
}

impl FormatString {
    /// Everything it reads, in order; what stands twice comes twice.
    pub fn reads(&self) -> impl Iterator<Item = ReadId> {
        self.sources.iter().flat_map(Source::reads)
    }

    /// The secrets that stand in it, in order; one that stands twice comes twice.
    pub fn secrets(&self) -> impl Iterator<Item = &Arc<str>> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Secret(name) => Some(name),
            _ => None,
        })
    }

    /// The reads that are inserted as they are: no step behind what the read covers, no format, and no conversion but to
    /// text. Who lists a node's inputs beside such a text need not repeat them.
    pub fn whole(&self) -> impl Iterator<Item = ReadId> {
        let fields = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Field(field) => Some(field),
            _ => None,
        });
        let plain = fields.filter(|field| {
            let as_text = matches!(field.conversion, None | Some(Conversion::Text));
            as_text && field.format == Format::None
        });
        let sources = plain.filter_map(|field| self.sources.get(field.chain?));
        let places = sources.flat_map(|source| source.places());
        places.filter_map(|place| match place {
            Source::Read { read, rest } if rest.is_empty() => Some(*read),
            _ => None,
        })
    }

    /// The text with its placeholders filled.
    pub fn render(&self, inputs: &Inputs) -> Rendered {
        let mut rendered = Rendered::default();
        for piece in &self.pieces {
            if let Piece::Secret(name) = piece {
                rendered.text.extend(["${", name, "}"]);
            }
            self.fill(piece, inputs, &mut rendered);
        }
        rendered
    }

    /// The same with its secrets apart, and what could not be filled.
    pub fn render_parts(&self, inputs: &Inputs) -> (Vec<Part>, Vec<Arc<str>>) {
        let mut parts = Vec::new();
        let mut rendered = Rendered::default();
        for piece in &self.pieces {
            if let Piece::Secret(name) = piece {
                if !rendered.text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut rendered.text).into()));
                }
                parts.push(Part::Secret(name.clone()));
            }
            self.fill(piece, inputs, &mut rendered);
        }
        if !rendered.text.is_empty() {
            parts.push(Part::Text(rendered.text.into()));
        }
        (parts, rendered.unresolved)
    }

    /// Appends a piece, if it is no secret.
    fn fill(&self, piece: &Piece, inputs: &Inputs, rendered: &mut Rendered) {
        match piece {
            Piece::Text(text) => rendered.text.push_str(text),
            Piece::Secret(_) => {}
            Piece::Field(field) => {
                if let Err(name) = self.insert(field, inputs, &mut rendered.text) {
                    rendered.text.push_str(&field.written);
                    rendered.unresolved.push(name);
                }
            }
        }
    }

    /// Appends the value of a placeholder, or nothing and says what could not be filled.
    fn insert(&self, field: &Field, inputs: &Inputs, out: &mut String) -> Result<(), Arc<str>> {
        let unresolved = || field.name.clone();
        let source = field.chain.and_then(|chain| self.sources.get(chain));
        let value = source
            .and_then(|source| source.value(inputs))
            .ok_or_else(unresolved)?;
        let value = match field.conversion {
            None => value,
            Some(conversion) => conversion.of(&value),
        };
        let nested;
        let format = match &field.format {
            Format::None => None,
            Format::Fixed(format) => Some(format),
            Format::Nested(pieces) => {
                nested = self.nested(pieces, inputs)?.ok_or_else(unresolved)?;
                nested.as_ref()
            }
        };
        match format {
            Some(format) => out.push_str(&format.apply(&value).ok_or_else(unresolved)?),
            // Writing to a string does not fail.
            None => {
                let _ = write!(out, "{}", value.python());
            }
        }
        Ok(())
    }

    /// A format whose placeholders are filled: no format at all if nothing is left of it, `None` if it is none.
    fn nested(
        &self,
        pieces: &[Piece],
        inputs: &Inputs,
    ) -> Result<Option<Option<FormatSpec>>, Arc<str>> {
        let mut rendered = Rendered::default();
        for piece in pieces {
            self.fill(piece, inputs, &mut rendered);
        }
        match rendered.unresolved.into_iter().next() {
            Some(name) => Err(name),
            None if rendered.text.is_empty() => Ok(Some(None)),
            None => Ok(FormatSpec::parse(&rendered.text).map(Some)),
        }
    }
}

impl Conversion {
    fn of(self, value: &Value) -> Value {
        match self {
            Conversion::Text => value.python().to_string().into(),
            Conversion::Source => value.python_source().to_string().into(),
            Conversion::Ascii => {
                let source = value.python_source().to_string();
                let mut ascii = String::with_capacity(source.len());
                for c in source.chars() {
                    match c.is_ascii() {
                        true => ascii.push(c),
                        // Writing to a string does not fail.
                        false => {
                            let _ = crate::value::escape(c, &mut ascii);
                        }
                    }
                }
                ascii.into()
            }
        }
    }
}
