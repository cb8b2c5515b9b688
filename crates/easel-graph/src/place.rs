//! Where something stands in a document, and in its text.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A place in a text as people and editors count it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line, counted from 1; 0 where there is no text.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// Bytes before it.
    pub offset: usize,
    /// Bytes it covers; 0 for a point.
    pub len: usize,
}

/// One step from a value into it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the member of that name.
    Key(Arc<str>),
    /// To the item at that place, counted from 0.
    Index(usize),
}

/// The steps from the top of a document to a value in it. Shown as `nodes[0].body[1].when`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place(Vec<Step>);

impl Place {
    /// The whole document.
    pub fn top() -> Place {
        Place::default()
    }

    /// This place, then the member of that name.
    #[must_use]
    pub fn key(&self, name: &str) -> Place {
        self.then(Step::Key(name.into()))
    }

    /// This place, then the item at that place, counted from 0.
    #[must_use]
    pub fn index(&self, at: usize) -> Place {
        self.then(Step::Index(at))
    }

    /// The name of the member that it leads to; empty for an item of a list and for the top.
    pub fn last_key(&self) -> Arc<str> {
        match self.0.last() {
            Some(Step::Key(name)) => name.clone(),
            _ => "".into(),
        }
    }

    fn then(&self, step: Step) -> Place {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Place(steps)
    }
}

impl Position {
    /// The byte behind it.
    pub fn end(self) -> usize {
        self.offset + self.len
    }
}

impl Deref for Place {
    type Target = [Step];

    fn deref(&self) -> &[Step] {
        &self.0
    }
}

impl FromIterator<Step> for Place {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Place {
        Place(steps.into_iter().collect())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |name: &str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
        };
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(name) if !plain(name) => write!(f, "[{name:?}]")?,
                Step::Key(name) if at == 0 => f.write_str(name)?,
                Step::Key(name) => write!(f, ".{name}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_like_a_path_in_a_message() {
        let place = Place::top().key("nodes").index(0).key("body").index(12);
        assert_eq!(place.key("when").to_string(), "nodes[0].body[12].when");
        assert_eq!(Place::top().to_string(), "");
        let odd = place.key("tool_args").key("a.b");
        assert_eq!(odd.to_string(), "nodes[0].body[12].tool_args[\"a.b\"]");
    }
}
