//! Parameters and the types of their values.

use std::fmt;
use std::sync::Arc;

use easel_core::{Object, Value};
use serde::Serialize;

/// One parameter of a component, or one member of an object inside one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Param {
    /// Its name as canvases write it.
    pub name: Arc<str>,
    /// What its value may be.
    pub kind: Type,
    /// The value where the file has none; `null`: there is no default.
    pub default: Value,
    /// Whether it has to be set: `null`, blank text, `[]` and `{}` count as not set.
    pub required: Required,
    /// What it does, for people: one or two sentences.
    pub doc: String,
    /// Older names of it that files still use. The present name wins if both are set.
    pub aliases: Vec<Arc<str>>,
    /// True if `${NAME}` in its texts names a secret (design.md §5). Always true of a [`Type::Credential`].
    pub secrets: bool,
    /// True if its references name files: what was uploaded is read beside the text that was made of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
}

impl Param {
    /// An optional parameter without a default.
    pub fn new(name: &str, kind: Type, doc: &str) -> Param {
        Param {
            name: name.into(),
            secrets: kind == Type::Credential,
            kind,
            default: Value::Null,
            required: Required::Never,
            doc: doc.to_owned(),
            aliases: Vec::new(),
            files: false,
        }
    }

    /// Sets the default.
    pub fn default(mut self, value: impl Into<Value>) -> Param {
        self.default = value.into();
        self
    }

    /// Makes it required.
    pub fn required(mut self) -> Param {
        self.required = Required::Always;
        self
    }

    /// Makes it required if the parameter `param` beside it has one of these values.
    pub fn required_when(mut self, param: &str, is: &[&str]) -> Param {
        self.required = Required::When(When::new(param, is));
        self
    }

    /// Makes it required unless the parameter `param` beside it has one of these values.
    pub fn required_unless(mut self, param: &str, is: &[&str]) -> Param {
        self.required = Required::Unless(When::new(param, is));
        self
    }

    /// Adds an older name.
    pub fn alias(mut self, name: &str) -> Param {
        self.aliases.push(name.into());
        self
    }

    /// Lets `${NAME}` in its texts name a secret.
    pub fn secrets(mut self) -> Param {
        self.secrets = true;
        self
    }

    /// Says that its references name files.
    pub fn files(mut self) -> Param {
        self.files = true;
        self
    }

    /// True if `key` is its name or one of its older names.
    pub fn answers_to(&self, key: &str) -> bool {
        *self.name == *key || self.aliases.iter().any(|alias| **alias == *key)
    }
}

/// Whether a parameter has to be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Required {
    /// It may be left out.
    Never,
    /// It has to be set.
    Always,
    /// It has to be set if this holds.
    When(When),
    /// It has to be set if this does not hold.
    Unless(When),
}

impl Required {
    /// Whether it has to be set in an object with these members.
    pub fn holds(&self, members: &Object) -> bool {
        match self {
            Required::Never => false,
            Required::Always => true,
            Required::When(when) => when.holds(members),
            Required::Unless(when) => !when.holds(members),
        }
    }
}

/// That a parameter has one of a few texts as its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct When {
    /// The parameter.
    pub param: Arc<str>,
    /// Its values, in any case.
    pub is: Vec<Arc<str>>,
}

impl When {
    /// That `param` is one of these.
    pub fn new(param: &str, is: &[&str]) -> When {
        When {
            param: param.into(),
            is: is.iter().map(|&value| value.into()).collect(),
        }
    }

    /// Whether it holds of an object with these members.
    pub fn holds(&self, members: &Object) -> bool {
        let value = members.get(&*self.param).and_then(Value::as_str);
        value.is_some_and(|value| self.is.iter().any(|is| is.eq_ignore_ascii_case(value)))
    }
}

/// What a parameter's value may be. `null` is "not set" for every type.
///
/// Values that say the same in another type are accepted and turned into the type by
/// [`coerce`](Type::coerce): `"10"` for a number, `"yes"` for a boolean, one node id for a list of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// Text, taken as it is. A number is taken as its digits.
    Text,
    /// Text in which `{…}` references are replaced.
    Template {
        /// True if Jinja statements and filters work in it as well.
        jinja: bool,
    },
    /// The text of one reference, with or without braces (`sys.query`, `{Agent:X@content}`).
    Reference,
    /// The text of one reference that is assigned to.
    Target,
    /// A bare reference, handed on with its type; or text with references in it; or a literal of the inner type
    /// (spec/canvas-components §1.5).
    Binding(Box<Type>),
    /// Any data; every text in it, at any depth, is a template.
    Rendered,
    /// A key, token or password: a literal or `${NAME}`. Lifted into the secrets on import.
    Credential,
    /// The name of a model (`model`, `model@provider`, `model@instance@provider`); blank: the default model.
    Model,
    /// True or false. Also accepted: `1`/`0` and the texts `true`/`false`, `1`/`0`, `yes`/`no`, `on`/`off`.
    Boolean,
    /// A whole number; also its text.
    Integer {
        /// The smallest allowed.
        min: Option<i64>,
        /// The largest allowed.
        max: Option<i64>,
    },
    /// A number; also its text.
    Number {
        /// The smallest allowed.
        min: Option<f64>,
        /// The largest allowed.
        max: Option<f64>,
    },
    /// One of a few texts.
    Choice(Choice),
    /// A list.
    List {
        /// What its items are.
        of: Box<Type>,
        /// How a text becomes a list, where one is accepted.
        split: Split,
    },
    /// An object whose member names are free. `[]` and blank text count as empty.
    Map(Box<Type>),
    /// An object with known members.
    Object(Shape),
    /// The id of a node.
    NodeId,
    /// Ids of nodes; one id counts as a list of one.
    NodeIds,
    /// Data of the inner type, or JSON text of it.
    Json(Box<Type>),
    /// Any data, kept as it is.
    Any,
    /// The parameters of another component, named by the member `component_name` beside it (an Agent's tools).
    Params,
}

/// How a text becomes a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Not at all: it is an error.
    Never,
    /// As its only item.
    Whole,
    /// A line an item; blank lines are left out.
    Lines,
    /// At commas; blanks around items and empty items are left out.
    Commas,
}

/// The texts a [`Type::Choice`] allows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The allowed texts.
    pub options: Vec<Arc<str>>,
    /// Other spellings, each with the option it stands for.
    pub also: Vec<(Arc<str>, Arc<str>)>,
    /// True if upper and lower case are the same.
    pub any_case: bool,
}

impl Choice {
    /// The option that `text` means, as it is spelled in [`options`](Choice::options).
    pub fn find(&self, text: &str) -> Option<&Arc<str>> {
        let same =
            |a: &str| a == text || (self.any_case && a.to_lowercase() == text.to_lowercase());
        self.options.iter().find(|option| same(option)).or_else(|| {
            let (_, option) = self.also.iter().find(|(spelling, _)| same(spelling))?;
            Some(option)
        })
    }
}

/// The members of a [`Type::Object`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shape {
    /// The members it may have.
    pub fields: Vec<Param>,
    /// The member that a bare text stands for (`"hello"` for `{"content": "hello"}`), if one is accepted.
    pub shorthand: Option<Arc<str>>,
    /// True if further members are data and none of our business.
    pub open: bool,
}

impl Type {
    /// Text with references.
    pub fn template() -> Type {
        Type::Template { jinja: false }
    }

    /// Text with references and Jinja.
    pub fn jinja() -> Type {
        Type::Template { jinja: true }
    }

    /// A reference, text with references, or a literal of `of`.
    pub fn binding(of: Type) -> Type {
        Type::Binding(Box::new(of))
    }

    /// Any whole number.
    pub fn integer() -> Type {
        Type::Integer {
            min: None,
            max: None,
        }
    }

    /// A whole number of at least `min`.
    pub fn at_least(min: i64) -> Type {
        Type::Integer {
            min: Some(min),
            max: None,
        }
    }

    /// A whole number from `min` to `max`.
    pub fn within(min: i64, max: i64) -> Type {
        Type::Integer {
            min: Some(min),
            max: Some(max),
        }
    }

    /// A number from `min` to `max`.
    pub fn number(min: f64, max: f64) -> Type {
        Type::Number {
            min: Some(min),
            max: Some(max),
        }
    }

    /// A number that is not negative.
    pub fn not_negative() -> Type {
        Type::Number {
            min: Some(0.0),
            max: None,
        }
    }

    /// One of `options`, in any case.
    pub fn choice(options: &[&str]) -> Type {
        Type::choice_also(options, &[])
    }

    /// One of `options`, in any case, or another spelling of one: pairs of spelling and option.
    pub fn choice_also(options: &[&str], also: &[(&str, &str)]) -> Type {
        Type::Choice(Choice {
            options: options.iter().map(|&option| option.into()).collect(),
            also: also.iter().map(|&(a, b)| (a.into(), b.into())).collect(),
            any_case: true,
        })
    }

    /// A list of `of`; a text is no list.
    pub fn list(of: Type) -> Type {
        Type::list_split(of, Split::Never)
    }

    /// A list of `of`; `split` says how a text becomes one.
    pub fn list_split(of: Type, split: Split) -> Type {
        Type::List {
            of: Box::new(of),
            split,
        }
    }

    /// A list of texts; a text counts as a comma-separated list.
    pub fn texts() -> Type {
        Type::list_split(Type::Text, Split::Commas)
    }

    /// An object with free names.
    pub fn map(of: Type) -> Type {
        Type::Map(Box::new(of))
    }

    /// An object with these members and no others.
    pub fn object(fields: Vec<Param>) -> Type {
        Type::Object(Shape {
            fields,
            shorthand: None,
            open: false,
        })
    }

    /// An object with these members; others are kept without a word.
    pub fn open_object(fields: Vec<Param>) -> Type {
        Type::Object(Shape {
            fields,
            shorthand: None,
            open: true,
        })
    }

    /// An object with these members; a bare text stands for the member `shorthand`.
    pub fn object_or(shorthand: &str, fields: Vec<Param>) -> Type {
        Type::Object(Shape {
            fields,
            shorthand: Some(shorthand.into()),
            open: false,
        })
    }

    /// `of`, or JSON text of it.
    pub fn json(of: Type) -> Type {
        Type::Json(Box::new(of))
    }
}

impl fmt::Display for Type {
    /// What the type allows, to be read after "expected": `a whole number from 1 to 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Text => f.write_str("text"),
            Type::Template { jinja: false } => f.write_str("text with references"),
            Type::Template { jinja: true } => f.write_str("text with references and Jinja"),
            Type::Reference => f.write_str("a reference"),
            Type::Target => f.write_str("a reference to assign to"),
            Type::Binding(of) => write!(f, "a reference or {of}"),
            Type::Rendered => f.write_str("any value, with references in its texts"),
            Type::Credential => f.write_str("a credential"),
            Type::Model => f.write_str("a model name"),
            Type::Boolean => f.write_str("true or false"),
            Type::Integer { min, max } => bounded(f, "a whole number", min, max),
            Type::Number { min, max } => bounded(f, "a number", min, max),
            Type::Choice(choice) => {
                f.write_str("one of ")?;
                joined(f, choice.options.iter().filter(|option| !option.is_empty()))
            }
            Type::List { of, .. } => match &**of {
                Type::Text => f.write_str("a list of texts"),
                Type::Reference => f.write_str("a list of references"),
                Type::Any => f.write_str("a list"),
                of => write!(f, "a list whose items are each {of}"),
            },
            Type::Map(of) => match &**of {
                Type::Any => f.write_str("an object"),
                of => write!(f, "an object whose members are each {of}"),
            },
            Type::Object(shape) if shape.fields.is_empty() => f.write_str("an object"),
            Type::Object(shape) => {
                f.write_str("an object with ")?;
                joined(f, shape.fields.iter().map(|field| &field.name))
            }
            Type::NodeId => f.write_str("a node id"),
            Type::NodeIds => f.write_str("a list of node ids"),
            Type::Json(of) => write!(f, "{of}, or JSON text of it"),
            Type::Any => f.write_str("any value"),
            Type::Params => f.write_str("an object with the parameters of that component"),
        }
    }
}

fn bounded<N: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    min: &Option<N>,
    max: &Option<N>,
) -> fmt::Result {
    match (min, max) {
        (None, None) => f.write_str(what),
        (Some(min), None) => write!(f, "{what} of at least {min}"),
        (None, Some(max)) => write!(f, "{what} of at most {max}"),
        (Some(min), Some(max)) => write!(f, "{what} from {min} to {max}"),
    }
}

fn joined<'a>(
    f: &mut fmt::Formatter<'_>,
    names: impl Iterator<Item = &'a Arc<str>>,
) -> fmt::Result {
    for (i, name) in names.enumerate() {
        write!(f, "{}`{name}`", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}
