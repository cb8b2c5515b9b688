//! Where something stands in a document: the steps from its root.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// One step from a value into it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the member of that name.
    Key(Arc<str>),
    /// To the item at that place, counted from 0.
    Index(usize),
}

/// The steps from the root of a document to a value in it. Shown as a JSON pointer (RFC 6901): `/components/begin/obj`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pointer(Vec<Step>);

impl Pointer {
    /// The root.
    pub fn root() -> Pointer {
        Pointer::default()
    }

    /// The place of a component's entry.
    pub fn component(id: &str) -> Pointer {
        Pointer::root().key("components").key(id)
    }

    /// The place of one of a component's parameters.
    pub fn param(id: &str, name: &str) -> Pointer {
        Pointer::component(id).key("obj").key("params").key(name)
    }

    /// This place, then the member of that name.
    #[must_use]
    pub fn key(mut self, name: &str) -> Pointer {
        self.0.push(Step::Key(name.into()));
        self
    }

    /// This place, then the item at that place, counted from 0.
    #[must_use]
    pub fn index(mut self, at: usize) -> Pointer {
        self.0.push(Step::Index(at));
        self
    }

    /// This place, then those steps.
    #[must_use]
    pub fn join(mut self, steps: &[Step]) -> Pointer {
        self.0.extend_from_slice(steps);
        self
    }

    /// What is left of this place behind `prefix`, if it lies at or below it.
    pub fn below(&self, prefix: &[Step]) -> Option<&[Step]> {
        self.0.strip_prefix(prefix)
    }
}

impl Deref for Pointer {
    type Target = [Step];

    fn deref(&self) -> &[Step] {
        &self.0
    }
}

impl Borrow<[Step]> for Pointer {
    fn borrow(&self) -> &[Step] {
        &self.0
    }
}

impl FromIterator<Step> for Pointer {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Pointer {
        Pointer(steps.into_iter().collect())
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.0 {
            match step {
                Step::Key(name) => write!(f, "/{}", name.replace('~', "~0").replace('/', "~1"))?,
                Step::Index(at) => write!(f, "/{at}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_reads_as_rfc_6901() {
        let place = Pointer::component("a/b~c").key("downstream").index(2);
        assert_eq!(place.to_string(), "/components/a~1b~0c/downstream/2");
        assert_eq!(Pointer::root().to_string(), "");
    }

    #[test]
    fn the_rest_behind_a_prefix_is_what_was_joined() {
        let base = Pointer::component("begin");
        let place = base.clone().join(&[Step::Index(1)]);
        assert_eq!(place.below(&base), Some(&[Step::Index(1)][..]));
        assert_eq!(base.below(&place), None);
    }
}
