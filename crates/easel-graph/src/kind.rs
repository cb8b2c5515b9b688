//! The eleven kinds of nodes.

use std::fmt;

use serde::{Serialize, Serializer};

/// What a node does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Asks a model once.
    #[default]
    Base,
    /// Lets a model use tools until it has an answer.
    React,
    /// Calls one tool.
    Tool,
    /// Calls a Python function.
    Function,
    /// The same as [`Kind::Function`].
    Python,
    /// Chooses which of the nodes behind it run.
    Router,
    /// Runs its body again and again.
    Loop,
    /// Runs its body for each item of a list.
    Map,
    /// Runs its body once.
    Subgraph,
    /// Takes a value from whoever runs the graph.
    Input,
    /// Gives out a result.
    Output,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 11] = [
        Kind::Base,
        Kind::React,
        Kind::Tool,
        Kind::Function,
        Kind::Python,
        Kind::Router,
        Kind::Loop,
        Kind::Map,
        Kind::Subgraph,
        Kind::Input,
        Kind::Output,
    ];

    /// Its name as files write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Base => "base",
            Kind::React => "react",
            Kind::Tool => "tool",
            Kind::Function => "function",
            Kind::Python => "python",
            Kind::Router => "router",
            Kind::Loop => "loop",
            Kind::Map => "map",
            Kind::Subgraph => "subgraph",
            Kind::Input => "input",
            Kind::Output => "output",
        }
    }

    /// What a node of it does, as one sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Kind::Base => "Asks a model once; with tools, the model may use them for one round.",
            Kind::React => "Lets a model use tools, round after round, until it has an answer.",
            Kind::Tool => "Calls one tool, without a model.",
            Kind::Function | Kind::Python => {
                "Calls a Python function with everything known so far."
            }
            Kind::Router => {
                "Chooses which of the nodes behind it run: by conditions, or by asking a model."
            }
            Kind::Loop => {
                "Runs its body again and again until a condition holds or a ceiling is reached."
            }
            Kind::Map => "Runs its body for each item of a list and collects what comes out.",
            Kind::Subgraph => "Runs its body once.",
            Kind::Input => "Takes a value from the run's inputs, or waits for one.",
            Kind::Output => "Gives out a result of the run.",
        }
    }

    /// The kind of that name.
    pub fn of_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// True for a container: its `body` holds nodes of its own.
    pub fn has_body(self) -> bool {
        matches!(self, Kind::Loop | Kind::Map | Kind::Subgraph)
    }

    /// True for a kind whose code or tool is given everything, so that nobody can say which inputs it reads.
    pub fn takes_everything(self) -> bool {
        matches!(self, Kind::Function | Kind::Python | Kind::Tool)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
