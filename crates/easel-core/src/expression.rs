//! Expressions of graphs (spec/graph-engine §6): conditions (`when`, `cases`) and lists to go over (`over`), written as
//! Python expressions without its statements, methods and comprehensions.
//!
//! [`parse`] reads the text, [`Parsed::bind`] says what its names stand for, [`Expression::evaluate`] computes it. After
//! binding nothing is looked up by name.
//!
//! ```
//! use easel_core::bind::{Inputs, ReadId, Resolved};
//! use easel_core::expression::parse;
//! use easel_core::reference::graph::Binding;
//!
//! let parsed = parse("len(inputs.items) > 2 and inputs.items[0] == 'a'")?;
//! let expression = parsed.bind(|chain| Binding::Read { read: ReadId(0), used: 1.min(chain.steps.len()) });
//! let items = serde_json::from_str(r#"["a", "b", "c"]"#).unwrap();
//! assert_eq!(expression.truth(&Inputs([Resolved::Value(items)].into())), Ok(true));
//! # Ok::<(), easel_core::expression::SyntaxError>(())
//! ```
//!
//! # What differs from Python
//!
//! | | here |
//! |---|---|
//! | a comparison that cannot be made: `None > 5`, `'a' < 1`, `1 in None`, `1 not in None` | false |
//! | what is missing, and what has no such part: `inputs.nope.x`, `[1][9]`, `'text'.x` | `None` |
//! | a step into a text, `nodes.answer.title` | into what the text is as JSON; else `None` |
//! | an index into an object, `x[0]` | the member of that name, `"0"` |
//! | tuples and sets | lists; of what stands twice in a set, the first stays |
//! | an object's keys | texts, anything else is an error |
//! | `is` | the same value of the same type: `1 is 1`, not `1 is 1.0`, not `1 is True` |
//! | whole numbers | from `i64::MIN` to `u64::MAX`, beyond them an error; infinities and NaN are errors |
//! | `'%d' % x` | an error: texts are built with `+` and `str(…)` |
//! | blanks and line breaks | anywhere between words, at the start too |
//! | `int('12', 16)`, named arguments | not there |
//!
//! A float power is computed by the C library of the machine; in its last digit it may differ between platforms.

mod compare;
mod evaluate;
mod function;
mod lexer;
mod number;
mod parser;
mod refusal;
#[cfg(test)]
mod tests;
mod tree;

use std::ops::Range;

use crate::Value;
use crate::bind::{Inputs, ReadId};
use crate::reference::graph::{Binding, Chain, Source};

/// The longest text of an expression, in bytes.
pub const MAX_LENGTH: usize = 65_536;

/// How deep an expression may be nested: parentheses, arguments, `not`, signs, exponents, `else`.
pub const MAX_NESTING: usize = 64;

/// How much work one evaluation may do. One step is a part of the expression, an element that is looked at, or 16 bytes
/// of text.
pub const MAX_STEPS: u64 = 10_000_000;

/// The longest text that an expression may build, in bytes.
pub const MAX_TEXT: usize = 16 << 20;

/// The most elements of a list that an expression may build, those of inner lists and objects included.
pub const MAX_ELEMENTS: usize = 1_000_000;

/// The largest exponent of a whole number.
pub const MAX_EXPONENT: u64 = 1_000;

/// Reads an expression.
///
/// # Errors
/// See [`SyntaxError`]. A blank text is one.
pub fn parse(text: &str) -> Result<Parsed, SyntaxError> {
    parser::parse(text)
}

/// An expression that was read; what its names stand for is not known yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    root: tree::Node,
    chains: Vec<Chain>,
}

impl Parsed {
    /// What it names, in the order in which it stands in the text; what is named twice comes twice.
    pub fn chains(&self) -> &[Chain] {
        &self.chains
    }

    /// Says what each chain stands for, in the order of [`Parsed::chains`].
    pub fn bind(self, mut bind: impl FnMut(&Chain) -> Binding) -> Expression {
        let source = |chain: &Chain| match (bind(chain), function::misnamed(&chain.root)) {
            (Binding::Unknown(_), Some(why)) => Source::Unknown(why.into()),
            (binding, _) => Source::new(binding, chain),
        };
        Expression {
            sources: self.chains.iter().map(source).collect(),
            root: self.root,
        }
    }
}

/// An expression whose names are bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    root: tree::Node,
    sources: Vec<Source>,
}

impl Expression {
    /// The expression `None`.
    pub fn null() -> Expression {
        Expression {
            root: tree::Node {
                kind: tree::Kind::Constant(Value::Null),
                span: 0..0,
            },
            sources: Vec::new(),
        }
    }

    /// Everything it reads, in order; what stands twice comes twice.
    pub fn reads(&self) -> impl Iterator<Item = ReadId> {
        self.sources.iter().flat_map(Source::reads)
    }

    /// The value of the expression. What is missing or still arriving reads as `null`.
    ///
    /// # Errors
    /// See [`ErrorKind`].
    pub fn evaluate(&self, inputs: &Inputs) -> Result<Value, EvaluationError> {
        evaluate::value(self, inputs)
    }

    /// Whether its value is true, by Python's rule: `null`, `false`, zero and what is empty are not.
    ///
    /// # Errors
    /// See [`ErrorKind`].
    pub fn truth(&self, inputs: &Inputs) -> Result<bool, EvaluationError> {
        evaluate::truth(self, inputs)
    }
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {fix}")]
pub struct SyntaxError {
    /// What is wrong, without the place.
    pub message: String,
    /// The bytes of the text that it is about.
    pub span: Range<usize>,
    /// What to do.
    pub fix: String,
}

impl SyntaxError {
    fn new(message: impl Into<String>, span: Range<usize>, fix: impl Into<String>) -> SyntaxError {
        SyntaxError {
            message: message.into(),
            span,
            fix: fix.into(),
        }
    }
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// The kind of cause.
    pub kind: ErrorKind,
    /// What is wrong and what to do, without the place.
    pub message: String,
    /// The bytes of the text of the part that failed.
    pub span: Range<usize>,
}

/// The kinds of causes for which an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A number that there is none of: a division by zero, a result that is too large, a root of a negative number.
    Arithmetic,
    /// An operator or a function that is not for such values: `'a' + 1`, `len(None)`.
    Type,
    /// A function that is for such values, but not for this one: `int('x')`, `min([])`.
    Value,
    /// A limit of this module.
    Limit,
    /// A name that stands for nothing.
    Unknown,
}
