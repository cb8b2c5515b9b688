//! What is wrong with a document, each thing with its place, cause and fix.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::place::{Place, Position};

/// One thing that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind of thing.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// Whether the old engine refused such a file when it loaded it.
    pub stage: Stage,
    /// Where in the document.
    pub place: Place,
    /// Where in its text; line 0 if it has none.
    pub at: Position,
    /// The id of the node that it is about.
    pub node: Option<Arc<str>>,
    /// What it is about: a key, an id, a name.
    pub subject: Option<Arc<str>>,
    /// What is the case, as one sentence.
    pub cause: String,
    /// What to do, as one sentence.
    pub fix: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The graph doesn't run.
    Error,
    /// The graph runs, and something will not happen that somebody seems to expect.
    Warning,
    /// Worth knowing.
    Info,
}

/// When a finding is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The old engine refused to load such a file (spec/graph-engine §2.6).
    Load,
    /// The old engine loaded it and reported it later, failed at run time, or said nothing.
    Check,
}

impl fmt::Display for Finding {
    /// Place, cause and fix: `line 4, column 9: nodes[0].when: … …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.line > 0 {
            write!(f, "line {}, column {}: ", self.at.line, self.at.column)?;
        }
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "{} {}", self.cause, self.fix)
    }
}

/// Lists the codes once: the kinds, their names and what they mean.
macro_rules! codes {
    ($($code:ident $severity:ident $name:literal $means:literal)*) => {
        /// A kind of finding. Its name never changes and never comes to mean anything else.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $means] $code,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$code,)*];

            /// Its name, which is also that of the code in the check: words joined by dots and underscores, or by hyphens
            /// where canvases have it too.
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }

            /// What it means, as one sentence.
            pub fn means(self) -> &'static str {
                match self { $(Code::$code => $means,)* }
            }

            /// How bad it is.
            pub fn severity(self) -> Severity {
                match self { $(Code::$code => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    Type Error "type" "A value has a type that its key does not take."
    Missing Error "missing" "A key that has to be there is not."
    Choice Error "choice" "A word is none of those that its key takes."
    KeyNotText Error "key_not_text" "A name that YAML reads as a boolean, a number or nothing stands where a text belongs."
    UnknownKind Error "unknown_kind" "A node is of a kind that there is not."
    NoNodes Error "no_nodes" "The graph has no nodes."
    DuplicateId Error "duplicate-id" "Two nodes of one level have the same id."
    DuplicateInput Error "duplicate_input" "Two declared inputs have the same name."
    Dag Error "dag" "A dependency, an output or a handler names no node, or dependencies go in a circle."
    Structure Error "structure" "A node lacks a key that its kind needs."
    BlankWhen Error "when.blank" "A guard is blank: it could never hold."
    DependsOnOutput Error "output.depended_on" "Something depends on an output node, which has nothing to give to other nodes."
    OutputAsHandler Error "output.as_handler" "An output node is to handle an error."
    HandlerNotDownstream Error "on_error.not_downstream" "A node handles the error of one that it does not depend on."
    RouterTargets Error "router.no_targets" "A router has neither routes nor cases."
    RoutesAndCases Error "router.routes_and_cases" "A router has both routes and cases."
    RouterBlankLabel Error "router.blank_label" "A label is blank."
    RouterUnknownTarget Error "router.unknown_target" "A router leads to a node that its level does not have."
    RouterTargetNotDownstream Error "router.target_not_downstream" "A router leads to a node that does not depend on it."
    RouterKeyElsewhere Error "router.key_elsewhere" "A key that only routers read stands on another kind of node."
    BlankUntil Error "loop.blank_until" "A loop's condition is blank."
    BreakWhen Error "loop.break_when" "A loop ends by `break_when`, which is no longer read: it would run to its ceiling."
    Callable Error "callable" "A node that calls a function names none."
    BodyDependencyOutside Error "body.dependency_outside" "A node in a body depends on one outside of it."
    BodyOutputs Error "body.outputs" "A container gives out a node that its body does not have."
    Functions Error "functions" "The sidecar is not a file of the package."
    UnknownKey Warning "unknown_key" "A key that no graph has: nothing reads it."
    InertKey Warning "inert_key" "A key that this kind of node does not read."
    DuplicateKey Warning "duplicate_key" "A mapping has a key twice: the last one counts."
    OnlyFirstTool Warning "tool.only_first" "A tool node has several tools and calls the first."
    NoResult Warning "workflow.no_result" "The graph names neither outputs nor an output node."
    Override Warning "package.override" "A file of overrides changes no node, or cannot be read."
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
