//! Every key of the format as data: what it holds, which kinds of nodes read it, which need it, what it means.
//!
//! Reading, the warnings about keys that nothing reads, the JSON Schema ([`schema`](crate::schema)) and the page of keys
//! ([`page`](crate::page)) all come from these tables.

mod table;

use crate::kind::Kind;

pub use table::{CASE, GRAPH, INERT_POLICY, INPUT, NODE, POLICY};

/// One key of a mapping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Another spelling of its name.
    pub alias: Option<&'static str>,
    /// What its value is.
    pub holds: Holds,
    /// The kinds of nodes that read it; empty: nothing does. For keys outside of nodes it has no meaning.
    pub read_by: &'static [Kind],
    /// The kinds of nodes that cannot do without it.
    pub required_by: &'static [Kind],
    /// The value where the file has none, as JSON; `None`: there is no default.
    pub default: Option<&'static str>,
    /// What it means, for people: one or two sentences.
    pub doc: &'static str,
}

impl Field {
    /// Whether nodes of that kind read it.
    pub fn is_read_by(&self, kind: Kind) -> bool {
        self.read_by.contains(&kind)
    }

    /// Whether nodes of that kind need it.
    pub fn is_required_by(&self, kind: Kind) -> bool {
        self.required_by.contains(&kind)
    }

    /// True if `key` is its name or its other spelling.
    pub fn answers_to(&self, key: &str) -> bool {
        self.name == key || self.alias == Some(key)
    }
}

/// What the value of a key is. `null` is "not set" for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holds {
    /// Text.
    Text,
    /// Text with `{name}` placeholders.
    Template,
    /// An expression.
    Expression,
    /// The id of a node of the same level.
    Id,
    /// Ids of nodes.
    Ids,
    /// Names of something outside the graph: tools, secrets.
    Names,
    /// True or false.
    Flag,
    /// A whole number of at least this.
    Count(u32),
    /// A number of at least this.
    Number(f64),
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A mapping whose texts are templates and may hold `${NAME}`.
    Arguments,
    /// A mapping of such mappings, by tool.
    Settings,
    /// The path of a class in the package, or a JSON Schema.
    Schema,
    /// The label of each target, with the target's id.
    Routes,
    /// Cases, in the order in which they are tried.
    Cases,
    /// Retries, limits and sampling.
    Policy,
    /// Nodes.
    Nodes,
    /// Declared inputs.
    Inputs,
    /// A name, or `true` for the usual one.
    NameOrTrue,
    /// Any values.
    Values,
    /// A list of texts, or one.
    Texts,
}

impl Holds {
    /// What belongs there, to be read after "where" and before "belongs".
    pub fn expected(self) -> String {
        match self {
            Holds::Text => "text".to_owned(),
            Holds::Template => "text with placeholders".to_owned(),
            Holds::Expression => "an expression as text".to_owned(),
            Holds::Id => "the id of a node".to_owned(),
            Holds::Ids => "a list of ids".to_owned(),
            Holds::Names => "a list of names".to_owned(),
            Holds::Flag => "true or false".to_owned(),
            Holds::Count(0) => "a whole number".to_owned(),
            Holds::Count(min) => format!("a whole number of at least {min}"),
            Holds::Number(min) => format!("a number of at least {min}"),
            Holds::Choice(words) => format!("one of `{}`", words.join("`, `")),
            Holds::Arguments => "a mapping of arguments".to_owned(),
            Holds::Settings => "a mapping of settings by tool".to_owned(),
            Holds::Schema => "the path of a class or a JSON Schema".to_owned(),
            Holds::Routes => "a mapping of labels to ids".to_owned(),
            Holds::Cases => "a list of cases".to_owned(),
            Holds::Policy => "a mapping such as `{retries: 2}`".to_owned(),
            Holds::Nodes => "a list of nodes".to_owned(),
            Holds::Inputs => "a mapping of input names to types".to_owned(),
            Holds::NameOrTrue => "a name, or true or false".to_owned(),
            Holds::Values => "a list of values".to_owned(),
            Holds::Texts => "a list of texts".to_owned(),
        }
    }

    /// What to write, as one sentence.
    pub fn advice(self) -> &'static str {
        match self {
            Holds::Text | Holds::Template => {
                "Write text; put it in quotes if YAML reads it as something else."
            }
            Holds::Expression => "Write the expression in quotes.",
            Holds::Id => {
                "Write the id of a node, in quotes if it is a number or a word such as yes."
            }
            Holds::Ids => "Write a list of ids, such as [fetch, check].",
            Holds::Names => "Write a list of names, such as [search].",
            Holds::Flag => "Write true or false.",
            Holds::Count(_) => "Write a whole number such as 3.",
            Holds::Number(_) => "Write a number such as 30.",
            Holds::Choice(_) => "Write one of these words.",
            Holds::Arguments => "Write a mapping, such as {query: \"{topic}\"}.",
            Holds::Settings => "Write a mapping, such as {shell: {root: \"/data\"}}.",
            Holds::Schema => "Write a JSON Schema of an object, or a path such as schemas:Answer.",
            Holds::Routes => "Write a mapping, such as {urgent: escalate, calm: reply}.",
            Holds::Cases => {
                "Write a list, such as [{when: \"inputs.n > 3\", to: many}, {to: few}]."
            }
            Holds::Policy => "Write a mapping, such as {retries: 2, timeout_s: 60}.",
            Holds::Nodes => "Write a list of nodes, each with an id.",
            Holds::Inputs => "Write a mapping, such as {topic: string}.",
            Holds::NameOrTrue => "Write the name of a variable.",
            Holds::Values => "Write a list in brackets.",
            Holds::Texts => "Write a list of texts in brackets.",
        }
    }
}

/// The field of that name among these.
pub fn find<'a>(fields: &'a [Field], name: &str) -> Option<&'a Field> {
    fields.iter().find(|field| field.answers_to(name))
}
