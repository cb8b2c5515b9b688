//! What is wrong with parameters, in words.

use std::fmt;

use easel_core::Value;
use serde::Serialize;

use crate::param::Type;

/// One thing that is wrong with a node's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where: names and indexes joined by dots (`conditions.0.to`); empty for the value itself.
    pub path: String,
    /// What kind of thing.
    pub problem: Problem,
    /// What stands there, to be read after "is" (`the text "abc"`). Never the value of a credential.
    pub found: String,
    /// What belongs there (`a whole number of at least 1`).
    pub expected: String,
    /// What to do, as one sentence.
    pub fix: String,
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// A value of another type.
    Type,
    /// A number out of its range.
    Range,
    /// A text that is none of the allowed ones.
    Choice,
    /// A required value that is not set.
    Missing,
    /// A name that nothing reads. The value is kept; everything else works.
    Unknown,
}

impl Finding {
    /// True if the node works all the same.
    pub fn is_harmless(&self) -> bool {
        self.problem == Problem::Unknown
    }
}

impl fmt::Display for Finding {
    /// Two sentences, what is wrong and what to do: `` `top_n` is the text "abc", not a whole number. Write … ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str("The value")?,
            path => write!(f, "`{path}`")?,
        }
        write!(f, " is {}", self.found)?;
        match self.problem {
            Problem::Type | Problem::Range | Problem::Choice => {
                write!(f, ", where {} belongs", self.expected)?;
            }
            // The fix says what would have been expected.
            Problem::Missing | Problem::Unknown => {}
        }
        write!(f, ". {}", self.fix)
    }
}

/// A sentence as it goes on after a colon.
pub(crate) fn in_sentence(doc: &str) -> String {
    let mut letters = doc.chars();
    let first = letters.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// A value in words, its content where that is short.
pub(crate) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => format!("the number {n}"),
        Value::String(text) if text.is_empty() => "an empty text".to_owned(),
        Value::String(text) => {
            let mut short: String = text.chars().take(40).collect();
            if short.len() < text.len() {
                short.push('…');
            }
            format!("the text {short:?}")
        }
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(items) if items.len() == 1 => "a list of 1 item".to_owned(),
        Value::Array(items) => format!("a list of {} items", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A value in words without its content.
pub(crate) fn article(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What to write instead, as a sentence.
pub(crate) fn advice(kind: &Type) -> String {
    match kind {
        Type::Text | Type::Template { .. } => "Write a text in quotes.".to_owned(),
        Type::Reference | Type::Target => {
            "Write the reference as a text, such as \"sys.query\" or \"Agent:X@content\"."
                .to_owned()
        }
        Type::Credential => {
            "Write the key as a text, best as \"${NAME}\" with the secret's name.".to_owned()
        }
        Type::Model => {
            "Write the model's name as a text, or leave it blank for the default model.".to_owned()
        }
        Type::Boolean => "Write true or false.".to_owned(),
        Type::Integer { min, .. } => format!("Write a whole number such as {}.", min.unwrap_or(1)),
        Type::Number { .. } => "Write a number within these bounds, or leave it out.".to_owned(),
        Type::Choice(_) => "Write one of these words.".to_owned(),
        Type::NodeId | Type::NodeIds => {
            "Write the ids of nodes of this canvas as texts.".to_owned()
        }
        Type::Json(_) => "Write valid JSON, or the value itself.".to_owned(),
        Type::Binding(of) => advice(of),
        Type::List { .. } => "Write a list in brackets.".to_owned(),
        Type::Map(_) | Type::Object(_) | Type::Params => "Write an object in braces.".to_owned(),
        Type::Any | Type::Rendered => "Write any value.".to_owned(),
    }
}

/// The candidate that `word` is most likely a misspelling of: one or two letters away, in any case.
///
/// ```
/// let ports = ["content", "structured"];
/// assert_eq!(easel_catalog::nearest("contnet", ports.into_iter()), Some("content"));
/// assert_eq!(easel_catalog::nearest("text", ports.into_iter()), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer words are no names, and the distance costs the product of the lengths.
    const LONGEST: usize = 64;
    let word = word.trim().to_lowercase();
    if word.chars().count() > LONGEST {
        return None;
    }
    let allowed = if word.chars().count() < 5 { 1 } else { 2 };
    candidates
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && !candidate.is_empty())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters have to be put in, left out or replaced to get from one word to the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row
            .iter_mut()
            .zip(std::iter::once(None).chain(b.iter().map(Some)))
        {
            let Some(y) = y else {
                *cell = left;
                continue;
            };
            let replaced = diagonal + usize::from(x != *y);
            diagonal = *cell;
            left = replaced.min(*cell + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}
