//! A graph as typed data: every key of the format, each with its place in the text.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use easel_core::{Object, Value};
use serde::Serialize;

use crate::admit::Readers;
use crate::error::ReadError;
use crate::finding::{Finding, Severity, Stage};
use crate::kind::Kind;
use crate::marked::Marked;
use crate::place::{Place, Position, Step};
use crate::source::{Format, Limits, Source};

/// A value and where it stands in the text. A default that the text does not state stands at line 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub at: Position,
}

impl<T> Spanned<T> {
    /// A value that stands in no text.
    pub fn new(value: T) -> Spanned<T> {
        let at = Position::default();
        Spanned { value, at }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// A text with its place.
pub type Text = Spanned<Arc<str>>;

/// A graph. What its keys mean is in [`field`](crate::field); what is wrong with them in
/// [`findings`](Document::findings).
///
/// A document with errors is a document all the same: what could not be read is left out of the typed view, and
/// everything that the text has stays in [`root`](Document::root).
#[derive(Clone, Debug)]
pub struct Document {
    /// Its name; empty if the text has none, which is an error.
    pub name: Text,
    /// What it is for.
    pub description: Option<Text>,
    /// The nodes of the top level, in the order of the text.
    pub nodes: Vec<Node>,
    /// The declared inputs, in the order of the text.
    pub inputs: Vec<InputDecl>,
    /// The ids of the nodes whose values the run gives out if no output node ran.
    pub outputs: Vec<Text>,
    /// The Python sidecar: a path from the graph's folder.
    pub functions: Option<Text>,
    /// Whether the first failure ends the run.
    pub fail_fast: Spanned<bool>,
    /// Whether a run input that is not declared is refused.
    pub strict_inputs: Spanned<bool>,
    /// Whose accidents this graph relies on.
    pub compat: Option<Spanned<Compat>>,
    /// Everything in the text.
    pub(crate) root: Marked,
    /// The text; `None` for a document made from a value or changed since.
    pub(crate) source: Option<Arc<Source>>,
    /// What is wrong with it, in the order of the text.
    pub(crate) findings: Vec<Finding>,
    /// What its steps read of a run's inputs; found when the first run is given some.
    pub(crate) readers: OnceLock<Readers>,
}

/// An engine whose accidents a graph may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Compat {
    /// `compat: neurosurfer-2.0`.
    #[serde(rename = "neurosurfer-2.0")]
    Neurosurfer2,
}

/// A declared input of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct InputDecl {
    /// Where it is declared.
    pub place: Place,
    /// Its name.
    pub name: Text,
    /// What its value is cast to.
    pub kind: Spanned<InputType>,
    /// Whether a run is refused without it.
    pub required: Spanned<bool>,
    /// What it is, for people.
    pub description: Option<Text>,
    /// Which files it takes, for whoever asks for one: suffixes or media types.
    pub accept: Vec<Text>,
    /// How many bytes its text or file may have.
    pub max_bytes: Option<Spanned<u64>>,
    /// The values that are allowed, if not all are.
    pub allowed: Option<Spanned<Vec<Value>>>,
}

/// What the value of an input is cast to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InputType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// True or false.
    Boolean,
    /// A mapping.
    Object,
    /// A list.
    Array,
    /// A file, passed through as it is given.
    File,
    /// A picture, passed through as it is given.
    Image,
    /// Any other word: passed through as it is given.
    Other(Arc<str>),
}

impl InputType {
    /// The type that a word names, in any case and with its other spellings.
    pub fn of_name(name: &str) -> InputType {
        let name = name.trim().to_lowercase();
        match name.as_str() {
            "str" | "string" | "text" => InputType::String,
            "int" | "integer" => InputType::Integer,
            "float" | "number" => InputType::Float,
            "bool" | "boolean" => InputType::Boolean,
            "dict" | "object" => InputType::Object,
            "list" | "array" => InputType::Array,
            "file" | "path" | "filepath" | "document" => InputType::File,
            "image" | "picture" | "photo" => InputType::Image,
            _ => InputType::Other(name.into()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            InputType::String => "string",
            InputType::Integer => "integer",
            InputType::Float => "float",
            InputType::Boolean => "boolean",
            InputType::Object => "object",
            InputType::Array => "array",
            InputType::File => "file",
            InputType::Image => "image",
            InputType::Other(name) => name,
        }
    }
}

/// A node. A key that its kind does not read is here all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it stands in the document.
    pub place: Place,
    /// Where it stands in the text.
    pub at: Position,
    /// Its id, without blanks around; empty if the text has none, which is an error.
    pub id: Text,
    /// What it does.
    pub kind: Spanned<Kind>,
    /// Its name, for people.
    pub name: Option<Text>,
    /// What it is for; stands in for a missing `purpose`.
    pub description: Option<Text>,
    /// What a model is asked, or a person: a template. Wins over the three below where it isn't blank.
    pub instructions: Option<Text>,
    /// Old form of instructions: what the step is for.
    pub purpose: Option<Text>,
    /// Old form of instructions: what it should reach.
    pub goal: Option<Text>,
    /// Old form of instructions: what should come out.
    pub expected_result: Option<Text>,
    /// Whether it never runs.
    pub disabled: Spanned<bool>,
    /// The ids of the nodes whose values it needs, in the order in which a prompt shows them.
    pub depends_on: Vec<Text>,
    /// The expression without which it does not run.
    pub when: Option<Text>,
    /// The variable that its value is written to; of an input node also the key of its value.
    pub writes: Option<Text>,
    /// The id of the node that handles its error.
    pub on_error: Option<Text>,
    /// The names of its tools.
    pub tools: Vec<Text>,
    /// Arguments of its tools: templates, and `${NAME}` for secrets.
    pub tool_args: Option<Spanned<Object>>,
    /// Settings by tool: templates, and `${NAME}` for secrets.
    pub tool_settings: Option<Spanned<Object>>,
    /// The names of the secrets that it may use.
    pub secrets: Vec<Text>,
    /// What is asked of the model's answer.
    pub mode: Spanned<Mode>,
    /// The shape of the answer.
    pub output_schema: Option<Spanned<OutputSchema>>,
    /// The profile of the model provider.
    pub provider: Option<Text>,
    /// The model.
    pub model: Option<Text>,
    /// Retries, limits and sampling.
    pub policy: Policy,
    /// The labels between which a model chooses, in order.
    pub routes: Vec<Route>,
    /// The cases that are tried in order.
    pub cases: Vec<Case>,
    /// The id of the node to go to if nothing matches.
    pub default: Option<Text>,
    /// Whether an answer that can't be read is asked for once more.
    pub repair: Spanned<bool>,
    /// The nodes of its body.
    pub body: Vec<Node>,
    /// The ids of the body's nodes whose values it gives out.
    pub body_outputs: Vec<Text>,
    /// How often the body runs at most.
    pub max_iterations: Option<Spanned<u32>>,
    /// When a loop ends: the name of a function of the sidecar, or a sentence that a model judges.
    pub until: Option<Text>,
    /// The variable in which a loop collects what its passes gave.
    pub accumulate: Option<Text>,
    /// The expression that gives the list of a map.
    pub over: Option<Text>,
    /// The name under which the body knows its item.
    pub item_var: Text,
    /// How many items run at once.
    pub concurrency: Spanned<u32>,
    /// The answers that are offered to a person.
    pub options: Vec<Text>,
    /// What an input node takes.
    pub input_mode: Spanned<InputMode>,
    /// What an output node gives out: a template.
    pub value: Option<Text>,
    /// The Python function, as `module:name`.
    pub callable: Option<Text>,
    /// Whether its result is also written to a file.
    pub export: Spanned<bool>,
    /// The file or folder it is written to.
    pub export_path: Option<Text>,
    /// Promised once, never read.
    pub rag: Option<Spanned<bool>>,
}

/// What is asked of a model's answer. Only [`Mode::Structured`] has an effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing.
    #[default]
    Auto,
    /// Nothing.
    Text,
    /// That it is JSON of the node's schema.
    Structured,
    /// Nothing.
    Json,
    /// Nothing.
    Tool,
}

/// What an input node takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum InputMode {
    /// One value, under the node's `writes` or id.
    #[default]
    Text,
    /// All declared inputs as a mapping.
    Dict,
    /// Another word, which the old engine did not check; it takes one value.
    Other(Arc<str>),
}

/// The shape of a model's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputSchema {
    /// The path of a class in the package: `schemas:Answer` or `schemas.Answer`.
    Class(Arc<str>),
    /// A JSON Schema.
    Schema(Object),
}

/// How often a node is tried, how long it may take, how its model is sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Where it stands; line 0 if the node has none.
    pub at: Position,
    /// Further attempts after a failed one.
    pub retries: Option<Spanned<u32>>,
    /// Seconds before the first of them; doubled for each further one.
    pub delay_s: Option<Spanned<f64>>,
    /// Seconds that an attempt may take.
    pub timeout_s: Option<Spanned<f64>>,
    /// The sampling temperature.
    pub temperature: Option<Spanned<f64>>,
    /// How many tokens an answer may have.
    pub max_new_tokens: Option<Spanned<u32>>,
}

/// A label of a router and where it leads.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The label.
    pub label: Text,
    /// The id of the node.
    pub to: Text,
}

/// A case of a router.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Where it stands in the document.
    pub place: Place,
    /// The expression that has to hold; without one the case always matches.
    pub when: Option<Text>,
    /// The id of the node that it leads to.
    pub to: Text,
    /// Its label.
    pub label: Option<Text>,
}

impl Case {
    /// The label, or else the target.
    pub fn label(&self) -> &Text {
        self.label.as_ref().unwrap_or(&self.to)
    }
}

/// How a router chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Routing {
    /// A model chooses among [`Node::routes`].
    Routes,
    /// The first of [`Node::cases`] whose condition holds.
    Cases,
    /// A model chooses among the labels of [`Node::cases`], none of which has a condition: the old form.
    Labels,
}

impl Node {
    /// The place of one of its keys.
    pub fn key(&self, name: &str) -> Place {
        self.place.key(name)
    }

    /// Of an input node that takes one value: the key under which it is given.
    pub fn input_key(&self) -> &Text {
        self.writes.as_ref().unwrap_or(&self.id)
    }

    /// How the router chooses; `None` if it has neither routes nor cases.
    pub fn routing(&self) -> Option<Routing> {
        let has_condition = |case: &Case| {
            case.when
                .as_ref()
                .is_some_and(|when| !when.trim().is_empty())
        };
        match (self.routes.is_empty(), self.cases.is_empty()) {
            (false, _) => Some(Routing::Routes),
            (true, true) => None,
            (true, false) if self.cases.iter().any(has_condition) => Some(Routing::Cases),
            (true, false) => Some(Routing::Labels),
        }
    }

    /// The ids that the router may choose, each with where it is named, in the order of the text.
    pub fn targets(&self) -> impl Iterator<Item = &Text> {
        let routes = self.routes.iter().map(|route| &route.to);
        let cases = self.cases.iter().map(|case| &case.to);
        routes.chain(cases).chain(&self.default)
    }
}

impl Document {
    /// Reads a graph. No bytes make this panic.
    ///
    /// # Errors
    ///
    /// If the text can't be read at all, see [`ReadError`]. What can be read and is wrong is in
    /// [`findings`](Document::findings).
    pub fn read(bytes: &[u8], format: Format) -> Result<Document, ReadError> {
        Document::read_within(bytes, format, Limits::default())
    }

    /// Like [`read`](Document::read), with other limits.
    ///
    /// # Errors
    ///
    /// As [`read`](Document::read).
    pub fn read_within(
        bytes: &[u8],
        format: Format,
        limits: Limits,
    ) -> Result<Document, ReadError> {
        let source = Source::read(bytes, format, limits)?;
        Document::of_root(source.root.clone(), Some(Arc::new(source)))
    }

    /// A graph that is already a value. Nothing in it has a line.
    ///
    /// # Errors
    ///
    /// If the value is no mapping.
    pub fn from_value(value: &Value) -> Result<Document, ReadError> {
        Document::of_root(Marked::from_value(value), None)
    }

    pub(crate) fn of_root(
        root: Marked,
        source: Option<Arc<Source>>,
    ) -> Result<Document, ReadError> {
        match root.as_map() {
            Some(_) => Ok(Document::checked(root, source)),
            None => Err(ReadError::NotAMapping {
                at: root.at,
                found: root.described(),
            }),
        }
    }

    pub(crate) fn of_object(members: &Object) -> Document {
        let root = Value::Object(Arc::new(members.clone()));
        Document::checked(Marked::from_value(&root), None)
    }

    /// The document of a mapping.
    fn checked(root: Marked, source: Option<Arc<Source>>) -> Document {
        let mut document = crate::typed::document(root, source);
        crate::structure::check(&mut document);
        document.sort_findings();
        document
    }

    pub(crate) fn sort_findings(&mut self) {
        let order = |finding: &Finding| (finding.at.offset, finding.severity);
        self.findings.sort_by_key(order);
    }

    /// What is wrong with it, in the order of the text. A run of it is refused if any of it is an error.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The findings that refuse a run.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        let errors = self.findings.iter();
        errors.filter(|finding| finding.severity == Severity::Error)
    }

    /// The findings for which the old engine refused to load the file.
    pub fn load_errors(&self) -> impl Iterator<Item = &Finding> {
        self.errors().filter(|finding| finding.stage == Stage::Load)
    }

    /// Everything in the text, keys that nothing reads among it.
    pub fn root(&self) -> &Marked {
        &self.root
    }

    /// The text it was read from; `None` if it was made from a value.
    pub fn source(&self) -> Option<&Source> {
        self.source.as_deref()
    }

    /// The value at a place.
    pub fn get(&self, place: &[Step]) -> Option<&Marked> {
        self.root.find(place)
    }

    /// Where the value at a place, or else the innermost one around it, stands in the text.
    pub fn locate(&self, place: &[Step]) -> Option<Position> {
        self.source.as_ref()?;
        let around = (0..=place.len()).rev().filter_map(|len| place.get(..len));
        around
            .filter_map(|place| self.root.find(place))
            .map(|found| found.at)
            .next()
    }

    /// Where the name of the member at a place stands in the text.
    pub fn locate_key(&self, place: &[Step]) -> Option<Position> {
        self.source.as_ref()?;
        let (Step::Key(name), around) = place.split_last()? else {
            return None;
        };
        let map = self.root.find(around)?.as_map()?;
        Some(map.get(name)?.key.at)
    }

    /// Whether the graph keeps the old engine's accidents.
    pub fn is_compat(&self) -> bool {
        self.compat.is_some()
    }

    /// Every node of every level, each before the nodes of its body.
    pub fn all_nodes(&self) -> impl Iterator<Item = &Node> {
        let mut open: Vec<std::slice::Iter<'_, Node>> = vec![self.nodes.iter()];
        std::iter::from_fn(move || {
            loop {
                match open.last_mut()?.next() {
                    Some(node) => {
                        open.push(node.body.iter());
                        return Some(node);
                    }
                    None => drop(open.pop()),
                }
            }
        })
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
