//! References: text that names a value, and the walk along a path into data.

pub mod canvas;
pub mod graph;
mod path;

use std::fmt;
use std::sync::Arc;

pub use path::{Path, SetError, Step};

/// A reference as a grammar read it: what it names, not yet where that is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The key as it was written, without braces and outer blanks (`Agent:X@content.items.0`).
    pub text: Arc<str>,
    /// What it names.
    pub root: Root,
    /// Where to go from there.
    pub path: Path,
}

/// What a reference names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A port of a node.
    Output {
        /// The node's id.
        node: Arc<str>,
        /// The port's name; empty for all ports as one object.
        port: Arc<str>,
    },
    /// A variable (`sys.query`, `env.topic`). A grammar cannot know where its name ends and a path begins, so this is
    /// the whole key: see [`Reference::variable_candidates`].
    Variable(Arc<str>),
    /// A value of the enclosing pass: `item`, `index` or `result` (spec/canvas-engine §2.1).
    Pass(Arc<str>),
}

impl Reference {
    /// The ways to read a variable's key as a name and a path into its value, the longest name first. A name keeps the
    /// part before its first dot: `env.a.b` may be the variable `env.a.b`, or `b` in the variable `env.a`, and no more.
    /// Nothing for other references.
    pub fn variable_candidates(&self) -> impl Iterator<Item = (&str, Path)> {
        let key = match &self.root {
            Root::Variable(key) => Some(&**key),
            Root::Output { .. } | Root::Pass(_) => None,
        };
        key.into_iter().flat_map(|key| {
            let whole = std::iter::once((key, Path::default()));
            let family = key.find('.').map_or(key.len(), |dot| dot + 1);
            let split = key.rmatch_indices('.').map(|(dot, _)| key.split_at(dot));
            let parts = split
                .filter(move |(name, _)| name.len() > family)
                .map(|(name, rest)| (name, Path::parse(rest.trim_start_matches('.'))));
            whole.chain(parts)
        })
    }
}

/// The key as it was written.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(key: &str) -> Vec<String> {
        let reference = Reference {
            text: key.into(),
            root: Root::Variable(key.into()),
            path: Path::default(),
        };
        let split = reference.variable_candidates();
        split.map(|(name, path)| format!("{name}|{path}")).collect()
    }

    #[test]
    fn the_longest_variable_name_is_tried_first() {
        assert_eq!(
            candidates("sys.files.0.name"),
            ["sys.files.0.name|", "sys.files.0|name", "sys.files|0.name"]
        );
        assert_eq!(candidates("env.topic"), ["env.topic|"]);
        assert_eq!(candidates("topic"), ["topic|"]);
    }

    #[test]
    fn a_node_reference_is_no_variable() {
        let reference = canvas::bare("Agent:X@content.items.0").unwrap();
        assert_eq!(reference.variable_candidates().count(), 0);
        assert_eq!(reference.to_string(), "Agent:X@content.items.0");
    }
}
