//! A graph written in code, with the names that the file has.
//!
//! ```
//! use easel_graph::builder::{Graph, Node};
//! use easel_graph::document::InputType;
//!
//! let graph = Graph::builder("notes")
//!     .input("topic", InputType::String)
//!     .node(Node::base("researcher").instructions("Collect facts about {topic}."))
//!     .node(Node::base("writer").instructions("Write a note from {researcher}.").depends_on(["researcher"]))
//!     .outputs(["writer"])
//!     .build()?;
//! assert!(graph.to_yaml().contains("depends_on:\n      - researcher"));
//!
//! let refused = Graph::builder("notes").node(Node::map("each").over("inputs.items")).build().unwrap_err();
//! assert!(refused.to_string().contains("nodes[0].body"));
//! # Ok::<(), easel_graph::builder::Refused>(())
//! ```

use std::fmt;

use easel_core::{Object, Value};

use crate::document::{Document, InputMode, InputType, Mode};
use crate::finding::{Finding, Severity};
use crate::kind::Kind;

/// Where a graph in code begins.
#[derive(Clone, Copy, Debug)]
pub struct Graph;

impl Graph {
    /// A graph of that name, still without nodes.
    pub fn builder(name: &str) -> GraphBuilder {
        let members = Object::from_iter([("name".into(), name.into())]);
        GraphBuilder {
            members,
            inputs: Object::default(),
            nodes: Vec::new(),
        }
    }
}

/// A graph that is being put together.
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    members: Object,
    inputs: Object,
    nodes: Vec<Value>,
}

/// A node that is being put together. Its methods are the keys of the file; [`set`](Node::set) takes any other.
#[derive(Clone, Debug)]
pub struct Node {
    members: Object,
}

/// Why a graph in code is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong with it; at least one is an error.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.findings.iter();
        let errors = errors.filter(|finding| finding.severity == Severity::Error);
        for (at, finding) in errors.enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

impl GraphBuilder {
    /// What the graph is for.
    #[must_use]
    pub fn description(self, text: &str) -> GraphBuilder {
        self.set("description", text)
    }

    /// Declares an input that every run has to be given.
    #[must_use]
    pub fn input(mut self, name: &str, kind: InputType) -> GraphBuilder {
        self.inputs.insert(name.into(), kind.name().into());
        self
    }

    /// Declares an input that may be left out.
    #[must_use]
    pub fn optional_input(mut self, name: &str, kind: InputType) -> GraphBuilder {
        let declaration = [
            ("type", Value::from(kind.name())),
            ("required", false.into()),
        ];
        self.inputs.insert(name.into(), object(declaration));
        self
    }

    /// Declares an input with all its keys, as a mapping.
    #[must_use]
    pub fn declared_input(mut self, name: &str, declaration: Object) -> GraphBuilder {
        let declaration = Value::from(declaration);
        self.inputs.insert(name.into(), declaration);
        self
    }

    /// Adds a node.
    #[must_use]
    pub fn node(mut self, node: Node) -> GraphBuilder {
        self.nodes.push(node.into());
        self
    }

    /// The nodes whose values a run gives out.
    #[must_use]
    pub fn outputs<I: IntoIterator<Item = T>, T: AsRef<str>>(self, ids: I) -> GraphBuilder {
        self.set("outputs", list(ids))
    }

    /// The Python sidecar.
    #[must_use]
    pub fn functions(self, path: &str) -> GraphBuilder {
        self.set("functions", path)
    }

    /// Whether the first failure ends the run.
    #[must_use]
    pub fn fail_fast(self, flag: bool) -> GraphBuilder {
        self.set("fail_fast", flag)
    }

    /// Whether undeclared inputs are refused.
    #[must_use]
    pub fn strict_inputs(self, flag: bool) -> GraphBuilder {
        self.set("strict_inputs", flag)
    }

    /// Any key at the top of the graph.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> GraphBuilder {
        self.members.insert(key.into(), value.into());
        self
    }

    /// The graph, held to the same rules as one that is read.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with it.
    pub fn build(self) -> Result<Document, Refused> {
        let document = self.draft();
        match document.errors().count() {
            0 => Ok(document),
            _ => Err(Refused {
                findings: document.findings().to_vec(),
            }),
        }
    }

    /// The graph, whatever is wrong with it.
    pub fn draft(self) -> Document {
        let mut members = self.members;
        if !self.inputs.is_empty() {
            members.insert("inputs".into(), Value::from(self.inputs));
        }
        members.insert("nodes".into(), Value::from(self.nodes));
        Document::of_object(&members)
    }
}

/// Keys whose value is one text.
macro_rules! texts {
    ($($key:ident $doc:literal)*) => {
        $(
            #[doc = $doc]
            #[must_use]
            pub fn $key(self, text: &str) -> Node {
                self.set(stringify!($key), text)
            }
        )*
    };
}

/// Keys whose value is a list of texts.
macro_rules! lists {
    ($($key:ident $doc:literal)*) => {
        $(
            #[doc = $doc]
            #[must_use]
            pub fn $key<I: IntoIterator<Item = T>, T: AsRef<str>>(self, items: I) -> Node {
                self.set(stringify!($key), list(items))
            }
        )*
    };
}

/// Keys whose value is true or false.
macro_rules! flags {
    ($($key:ident $doc:literal)*) => {
        $(
            #[doc = $doc]
            #[must_use]
            pub fn $key(self, flag: bool) -> Node {
                self.set(stringify!($key), flag)
            }
        )*
    };
}

/// Keys whose value is a whole number.
macro_rules! counts {
    ($($key:ident $doc:literal)*) => {
        $(
            #[doc = $doc]
            #[must_use]
            pub fn $key(self, count: u32) -> Node {
                self.set(stringify!($key), i64::from(count))
            }
        )*
    };
}

/// Nodes of each kind.
macro_rules! kinds {
    ($($name:ident $kind:ident $doc:literal)*) => {
        $(
            #[doc = $doc]
            #[must_use]
            pub fn $name(id: &str) -> Node {
                Node::new(Kind::$kind, id)
            }
        )*
    };
}

impl Node {
    /// A node of that kind and id.
    #[must_use]
    pub fn new(kind: Kind, id: &str) -> Node {
        let members = [
            ("id".into(), id.into()),
            ("kind".into(), kind.name().into()),
        ];
        Node {
            members: Object::from_iter(members),
        }
    }

    kinds! {
        base Base "A node that asks a model once."
        react React "A node that lets a model use tools until it has an answer."
        tool Tool "A node that calls one tool."
        function Function "A node that calls a Python function."
        python Python "The same as [`function`](Node::function)."
        router Router "A node that chooses which nodes behind it run."
        loop_ Loop "A node that runs its body again and again."
        map Map "A node that runs its body for each item of a list."
        subgraph Subgraph "A node that runs its body once."
        input Input "A node that takes a value from whoever runs the graph."
        output Output "A node that gives out a result."
    }

    texts! {
        name "Its name, for people."
        description "What it is for."
        instructions "What the model is asked, or the person: a template."
        purpose "Old form of instructions: what the step is for."
        goal "Old form of instructions: what it should reach."
        expected_result "Old form of instructions: what should come out."
        when "The expression without which it does not run."
        writes "The variable that its value is written to."
        on_error "The node that runs if this one fails."
        provider "The profile of the model provider."
        model "The model."
        default "The node that a router goes to if nothing matches."
        until "When a loop ends: a function of the sidecar, or a sentence. A function of the program can't be named here: it would not be in the file."
        accumulate "The variable in which a loop collects its values."
        over "The expression that gives the list of a map."
        item_var "The name under which the body knows its item."
        value "What an output node gives out: a template."
        callable "The Python function, as `module:name`."
        export_path "The file or folder that the result is written to."
    }

    lists! {
        depends_on "The nodes whose values it needs."
        tools "The names of its tools."
        secrets "The names of the secrets that it may use."
        body_outputs "The nodes of the body whose values it gives out."
        options "The answers that are offered to a person."
    }

    flags! {
        disabled "Whether it never runs."
        repair "Whether an answer that can't be read is asked for once more."
        export "Whether the result is also written to a file."
    }

    counts! {
        max_iterations "How often a loop runs at most."
        concurrency "How many items of a map run at once."
    }

    /// What is asked of the model's answer.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Node {
        let word = match mode {
            Mode::Auto => "auto",
            Mode::Text => "text",
            Mode::Structured => "structured",
            Mode::Json => "json",
            Mode::Tool => "tool",
        };
        self.set("mode", word)
    }

    /// What an input node takes.
    #[must_use]
    pub fn input_mode(self, mode: &InputMode) -> Node {
        match mode {
            InputMode::Text => self.set("input_mode", "text"),
            InputMode::Dict => self.set("input_mode", "dict"),
            InputMode::Other(word) => self.set("input_mode", &**word),
        }
    }

    /// The shape of the answer: a JSON Schema, or the path of a class in the package as a text.
    #[must_use]
    pub fn output_schema(self, schema: impl Into<Value>) -> Node {
        self.set("output_schema", schema)
    }

    /// Adds an argument of its tools.
    #[must_use]
    pub fn tool_arg(self, name: &str, value: impl Into<Value>) -> Node {
        self.within("tool_args", name, value.into())
    }

    /// Adds a setting of one of its tools.
    #[must_use]
    pub fn tool_setting(self, tool: &str, setting: &str, value: impl Into<Value>) -> Node {
        let settings = self.members.get("tool_settings");
        let settings = settings
            .and_then(|all| all.get(tool))
            .and_then(Value::as_object);
        let mut settings = settings.cloned().unwrap_or_default();
        settings.insert(setting.into(), value.into());
        self.within("tool_settings", tool, Value::from(settings))
    }

    /// Adds a key of its policy: `retries`, `delay_s`, `timeout_s`, `temperature`, `max_new_tokens`.
    #[must_use]
    pub fn policy(self, key: &str, value: impl Into<Value>) -> Node {
        self.within("policy", key, value.into())
    }

    /// Adds a label of a router and the node that it leads to.
    #[must_use]
    pub fn route(self, label: &str, to: &str) -> Node {
        self.within("routes", label, to.into())
    }

    /// Adds a case of a router: the expression and the node that it leads to.
    #[must_use]
    pub fn case(self, when: &str, to: &str) -> Node {
        self.push("cases", object([("when", when.into()), ("to", to.into())]))
    }

    /// Adds a case of a router that always matches.
    #[must_use]
    pub fn otherwise(self, to: &str) -> Node {
        self.push("cases", object([("to", to.into())]))
    }

    /// The nodes of the body.
    #[must_use]
    pub fn body<I: IntoIterator<Item = Node>>(self, nodes: I) -> Node {
        let nodes: Vec<Value> = nodes.into_iter().map(Value::from).collect();
        self.set("body", Value::from(nodes))
    }

    /// Any key.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Node {
        self.members.insert(key.into(), value.into());
        self
    }

    fn within(mut self, key: &str, name: &str, value: Value) -> Node {
        let there = self.members.get(key).and_then(Value::as_object);
        let mut members = there.cloned().unwrap_or_default();
        members.insert(name.into(), value);
        self.members.insert(key.into(), Value::from(members));
        self
    }

    fn push(mut self, key: &str, value: Value) -> Node {
        let there = self.members.get(key).and_then(Value::as_array);
        let mut items = there.map(<[Value]>::to_vec).unwrap_or_default();
        items.push(value);
        self.members.insert(key.into(), Value::from(items));
        self
    }
}

impl From<Node> for Value {
    fn from(node: Node) -> Value {
        Value::from(node.members)
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members
        .into_iter()
        .map(|(name, value)| (name.into(), value));
    Value::from(members.collect::<Object>())
}

fn list<I: IntoIterator<Item = T>, T: AsRef<str>>(items: I) -> Value {
    let items = items.into_iter().map(|item| item.as_ref().into());
    Value::from(items.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Code;
    use crate::source::Format;

    #[test]
    fn a_graph_in_code_is_the_graph_of_its_file() {
        let graph = Graph::builder("g")
            .description("all of it")
            .input("topic", InputType::String)
            .optional_input("n", InputType::Integer)
            .node(
                Node::base("a")
                    .instructions("on {topic}")
                    .policy("retries", 2_i64)
                    .writes("w"),
            )
            .node(
                Node::router("r")
                    .depends_on(["a"])
                    .case("inputs.n > 3", "l")
                    .otherwise("t"),
            )
            .node(
                Node::loop_("l")
                    .depends_on(["r"])
                    .max_iterations(3)
                    .until("good enough")
                    .body([Node::base("b").instructions("{item}")]),
            )
            .node(
                Node::tool("t")
                    .depends_on(["r"])
                    .tools(["probe"])
                    .secrets(["K"])
                    .tool_arg("q", "{topic}")
                    .tool_arg("key", "${K}")
                    .tool_setting("probe", "root", "/data"),
            )
            .outputs(["l", "t"])
            .build()
            .unwrap();
        assert!(graph.findings().is_empty(), "{:?}", graph.findings());
        let yaml = graph.to_yaml();
        let read = Document::read(yaml.as_bytes(), Format::Yaml).unwrap();
        assert_eq!(read.to_value(), graph.to_value());
        assert_eq!(read.nodes[3].tool_args.as_ref().unwrap().len(), 2);
        assert_eq!(read.nodes[1].cases.len(), 2);
    }

    #[test]
    fn code_is_refused_for_what_a_file_is_refused_for() {
        let refused = Graph::builder("g")
            .node(Node::base("a").depends_on(["b"]))
            .node(Node::function("f").set("callabel", "m:f"))
            .build()
            .unwrap_err();
        let codes: Vec<_> = refused
            .findings
            .iter()
            .map(|finding| finding.code)
            .collect();
        assert!(
            codes.contains(&Code::Dag)
                && codes.contains(&Code::Callable)
                && codes.contains(&Code::UnknownKey)
        );
        assert_eq!(
            refused.to_string().lines().count(),
            2,
            "warnings are not why"
        );
    }
}
