//! Writing a graph as YAML: the text it was read from wherever that says the same, comments and all.
//!
//! A changed graph is written by changing its text: a value that differs is replaced where it stands, members and items
//! come and go by lines. What was written is read again, and if it doesn't say exactly what it should (a tag, an anchor
//! used twice, an unusual layout), the whole text is written anew by serde-saphyr. So the values are always right, and
//! comments are lost in rare cases only; [`Written::keeps_text`] tells.

mod emit;
mod patch;

use std::sync::Arc;

use easel_core::{Object, Value};

pub(crate) use emit::block;

use crate::document::Document;
use crate::error::ReadError;
use crate::place::Step;
use crate::source::{Format, Limits, Source};

/// A document after a change.
#[derive(Clone, Debug)]
pub struct Written {
    /// The document. Its [`source`](Document::source) is its text as YAML.
    pub document: Document,
    /// Whether the old text was kept, except for what changed. Comments are lost otherwise.
    pub keeps_text: bool,
}

impl Document {
    /// The graph as YAML: the text it was read from, byte by byte but for a byte order mark. One that came from JSON or
    /// from a value is laid out anew.
    pub fn to_yaml(&self) -> String {
        match &self.source {
            Some(source) if source.format() == Format::Yaml => source.text().to_owned(),
            _ => emit::block(&self.root.to_value()),
        }
    }

    /// The graph as a value, with every key that its text has.
    pub fn to_value(&self) -> Value {
        self.root.to_value()
    }

    /// This graph with another value at a place, or without one. The members and items on the way to it have to exist;
    /// the index behind the last item adds one.
    ///
    /// # Errors
    ///
    /// If there is no such place, or the graph would no longer be one that can be read.
    pub fn with(&self, place: &[Step], value: Option<Value>) -> Result<Written, ChangeError> {
        let root = changed(&self.to_value(), place, value).ok_or(ChangeError::NoSuchPlace)?;
        Ok(self.rewritten(&root)?)
    }

    /// The graph that says `root`, written with as much of this one's text as possible.
    ///
    /// # Errors
    ///
    /// If `root` is no mapping, or beyond the [`Limits`].
    pub fn rewritten(&self, root: &Value) -> Result<Written, ReadError> {
        let yaml = self.source.as_deref();
        let yaml = yaml.filter(|source| source.format() == Format::Yaml);
        if let Some(text) = yaml.and_then(|source| patch::patch(source.text(), &self.root, root))
            && let Ok(source) = Source::read(text.as_bytes(), Format::Yaml, Limits::default())
            && is_same(&source.root().to_value(), root)
        {
            return Ok(Written {
                document: Document::of_root(source.root.clone(), Some(Arc::new(source)))?,
                keeps_text: true,
            });
        }
        let text = emit::block(root);
        Ok(Written {
            document: Document::read(text.as_bytes(), Format::Yaml)?,
            keeps_text: false,
        })
    }
}

/// Why a document can't be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// A member or item on the way does not exist.
    #[error("there is no such place in the document: add what is around it first")]
    NoSuchPlace,
    /// What comes out can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

fn changed(value: &Value, place: &[Step], to: Option<Value>) -> Option<Value> {
    let Some((step, rest)) = place.split_first() else {
        return to;
    };
    match (value, step) {
        (Value::Object(members), Step::Key(name)) => {
            let mut members = Object::clone(members);
            match (rest, to) {
                ([], None) => drop(members.shift_remove(name)?),
                ([], Some(to)) => drop(members.insert(name.clone(), to)),
                (_, to) => {
                    let member = members.get_mut(name)?;
                    *member = changed(member, rest, to)?;
                }
            }
            Some(Value::Object(Arc::new(members)))
        }
        (Value::Array(items), Step::Index(at)) => {
            let mut items = Vec::clone(items);
            match (rest, to) {
                ([], None) if *at < items.len() => drop(items.remove(*at)),
                ([], Some(to)) if *at == items.len() => items.push(to),
                (_, to) => {
                    let item = items.get_mut(*at)?;
                    *item = changed(item, rest, to)?;
                }
            }
            Some(Value::Array(Arc::new(items)))
        }
        _ => None,
    }
}

/// Whether both are the same to the letter, the order of members included. What is no number equals itself.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let mut pairs = a.iter().zip(b.iter());
            a.len() == b.len() && pairs.all(|((k, a), (l, b))| k == l && is_same(a, b))
        }
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.as_f64().is_nan() && b.as_f64().is_nan())
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests;
