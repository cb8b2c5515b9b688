//! The reference grammar of graphs (spec/graph-engine §4 to §6): a name and the steps from it into its value.
//!
//! Expressions and templates spell steps differently (`nodes['my-id'].title`, `{nodes[my-id].title}`), but both name
//! what they read by a [`Chain`]. Which names there are is not known here: who loads the workflow answers a
//! [`Binding`] for each chain, and from then on nothing is looked up by name.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::{Path, Step};
use crate::Value;
use crate::bind::{Inputs, ReadId};

/// A name and the steps that follow it in the text, as far as they are written out (`inputs.items`, `nodes['my-id'][0]`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The name at its start: `inputs`, `nodes`, `vars`, `item`, a node's id.
    pub root: Arc<str>,
    /// The steps behind it. `.name` and `['name']` find members of objects only; `[0]` also elements of lists.
    pub steps: Vec<Step>,
    /// The bytes it takes up in the text.
    pub span: Range<usize>,
}

impl Chain {
    /// The path that the steps make, from that one on.
    pub fn path(&self, from: usize) -> Path {
        Path(self.steps.get(from..).unwrap_or_default().into())
    }
}

/// With dots between its parts, however they were written.
impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        self.steps
            .iter()
            .try_for_each(|step| write!(f, ".{}", step.name))
    }
}

/// What a chain stands for in the place where it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// One of the node's reads.
    Read {
        /// Which.
        read: ReadId,
        /// How many steps of the chain it covers, the root not counted. The rest is walked on its value.
        used: usize,
    },
    /// This value, for the whole chain.
    Constant(Value),
    /// The first of these that is there.
    First(Vec<Binding>),
    /// Nothing that can be named there. In an expression an error when it is evaluated, in a template text that stays as
    /// it is written.
    Unknown(
        /// Why, and what could be named instead.
        Arc<str>,
    ),
}

/// A chain that was bound.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// A read, and what is left to walk on its value.
    Read { read: ReadId, rest: Path },
    /// A value.
    Constant(Value),
    /// The first of these that is there.
    First(Box<[Source]>),
    /// Nothing, and why.
    Unknown(Arc<str>),
}

impl Source {
    pub(crate) fn new(binding: Binding, chain: &Chain) -> Source {
        match binding {
            Binding::Read { read, used } => Source::Read {
                read,
                rest: chain.path(used),
            },
            Binding::Constant(value) => Source::Constant(value),
            Binding::First(all) => {
                Source::First(all.into_iter().map(|one| Source::new(one, chain)).collect())
            }
            Binding::Unknown(why) => Source::Unknown(why),
        }
    }

    /// What it is looked for in, one after the other.
    pub(crate) fn places(&self) -> &[Source] {
        match self {
            Source::First(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    /// Everything it may read.
    pub(crate) fn reads(&self) -> impl Iterator<Item = ReadId> {
        self.places().iter().filter_map(|place| match place {
            Source::Read { read, .. } => Some(*read),
            _ => None,
        })
    }

    /// The value it leads to; `None` for what is missing or unknown.
    pub(crate) fn value(&self, inputs: &Inputs) -> Option<Value> {
        match self {
            Source::Read { read, rest } => rest.walk(inputs.get(*read).value()?),
            Source::Constant(value) => Some(value.clone()),
            Source::First(all) => all.iter().find_map(|one| one.value(inputs)),
            Source::Unknown(_) => None,
        }
    }
}
