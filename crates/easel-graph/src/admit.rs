//! What a run is given: the inputs that a graph declares are cast and held to their declaration, all before anything
//! runs (spec/graph-engine §2.3).

mod cast;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use easel_core::{Object, Value};
use serde::Serialize;
use thiserror::Error;

use crate::document::{Document, InputDecl, InputMode, Node};
use crate::kind::Kind;
use crate::place::{Place, Step};
use crate::structure::SUGGESTIONS;

/// The key under which a bare value is given to a graph without declared inputs and without a single input node.
pub const QUERY: &str = "query";

/// The inputs with which a run begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admitted {
    /// The inputs: declared ones first, in their order.
    pub values: Object,
    /// What was given and has no effect.
    pub warnings: Vec<InputWarning>,
}

/// Something given to a run that has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputWarning {
    /// The key.
    pub input: Arc<str>,
    /// What is the case, as one sentence.
    pub cause: String,
    /// What to do, as one sentence.
    pub fix: String,
}

impl fmt::Display for InputWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.cause, self.fix)
    }
}

/// Why a run is refused its inputs. Values are not repeated: they may be anybody's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InputError {
    /// The inputs are no mapping.
    #[error("the inputs are {found}, where a mapping of names to values belongs: give {example}")]
    NotAMapping {
        /// What they are.
        found: &'static str,
        /// How they could look.
        example: String,
    },
    /// A required input is not given.
    #[error("the input `{input}` is required and not given: give {kind}")]
    Missing {
        /// The input.
        input: Arc<str>,
        /// What it has to be.
        kind: &'static str,
    },
    /// An input has a value that can't be cast to its type.
    #[error("the input `{input}` is {found}, where {kind} belongs")]
    Type {
        /// The input.
        input: Arc<str>,
        /// What it is.
        found: &'static str,
        /// What it has to be.
        kind: &'static str,
    },
    /// An input has a value that is none of those allowed.
    #[error("the input `{input}` has a value that is not allowed: give one of {allowed}")]
    NotAllowed {
        /// The input.
        input: Arc<str>,
        /// The values, as JSON.
        allowed: String,
    },
    /// A text is longer than allowed.
    #[error(
        "the input `{input}` has {bytes} bytes and may have {limit}: give a shorter one, or raise its `max_bytes`"
    )]
    TooLarge {
        /// The input.
        input: Arc<str>,
        /// Its length in bytes.
        bytes: u64,
        /// The length allowed.
        limit: u64,
    },
    /// An input is given that is not declared, and the graph says `strict_inputs`.
    #[error("the input `{input}` is not declared, and this graph takes only what is: {}", suggest(meant.as_deref()))]
    Undeclared {
        /// The key.
        input: Arc<str>,
        /// The declared input that is probably meant.
        meant: Option<String>,
    },
}

fn suggest(meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "leave it out, or declare it".to_owned(),
    }
}

impl Document {
    /// Casts and checks what a run is given.
    ///
    /// A graph without declared inputs takes a mapping as it is, `null` as an empty one, and any other value under the
    /// key of its only input node, or else under [`QUERY`]. One with declared inputs needs a mapping.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the inputs, in the order of their declaration.
    pub fn admit(&self, given: Value) -> Result<Admitted, Vec<InputError>> {
        match self.inputs.is_empty() {
            true => Ok(self.admit_anything(given)),
            false => self.admit_declared(&given),
        }
    }

    /// What of this a run is given without a name for it.
    fn admit_anything(&self, given: Value) -> Admitted {
        let values = match given {
            Value::Object(members) => Arc::unwrap_or_clone(members),
            Value::Null => Object::default(),
            bare => {
                let mut asking = self.nodes.iter().filter(|node| takes_text(node));
                let key = match (asking.next(), asking.next()) {
                    (Some(only), None) => only.input_key().value.clone(),
                    _ => QUERY.into(),
                };
                Object::from_iter([(key, bare)])
            }
        };
        let readers = self.readers.get_or_init(|| Readers::of(self));
        let unread = values.keys().filter(|key| !readers.may_read(key));
        let warnings = unread.map(|key| InputWarning {
            input: key.clone(),
            cause: format!("Nothing in this graph reads the input `{key}`."),
            fix: format!("Name it where it is needed, as {{{key}}}, or leave it out."),
        });
        let warnings = warnings.collect();
        Admitted { values, warnings }
    }

    fn admit_declared(&self, given: &Value) -> Result<Admitted, Vec<InputError>> {
        let Value::Object(given) = given else {
            let example = self.inputs.first().map(|first| &*first.name.value);
            return Err(vec![InputError::NotAMapping {
                found: described(given),
                example: format!("{{\"{}\": …}}", example.unwrap_or(QUERY)),
            }]);
        };
        let asks_for_all = self.nodes.iter().any(takes_dict);
        let (mut values, mut errors, mut warnings) = (Object::default(), Vec::new(), Vec::new());
        for input in &self.inputs {
            let name = &input.name.value;
            match given.get(name) {
                Some(value) => match self.cast(input, value) {
                    Ok(value) => drop(values.insert(name.clone(), value)),
                    Err(error) => errors.push(error),
                },
                // Whoever fills in the form of that node gives it.
                None if !input.required.value || asks_for_all => {}
                None => errors.push(InputError::Missing {
                    input: name.clone(),
                    kind: cast::expected(&input.kind),
                }),
            }
        }
        let declared: HashSet<&str> = self.inputs.iter().map(|input| &*input.name.value).collect();
        let asked: HashSet<&str> = self
            .all_nodes()
            .filter(|node| takes_text(node))
            .map(|node| &*node.input_key().value)
            .collect();
        for (key, value) in given.iter().filter(|(key, _)| !declared.contains(&***key)) {
            if asked.contains(&**key) {
                values.insert(key.clone(), value.clone());
                continue;
            }
            let meant = (errors.len() + warnings.len() < SUGGESTIONS)
                .then(|| easel_catalog::nearest(key, declared.iter().copied()))
                .flatten()
                .map(str::to_owned);
            if self.strict_inputs.value {
                let input = key.clone();
                errors.push(InputError::Undeclared { input, meant });
                continue;
            }
            warnings.push(InputWarning {
                input: key.clone(),
                cause: format!("The input `{key}` is not declared, so no step gets it."),
                fix: match meant {
                    Some(meant) => format!("Did you mean `{meant}`?"),
                    None => "Declare it under `inputs`, or leave it out.".to_owned(),
                },
            });
        }
        match errors.is_empty() {
            true => Ok(Admitted { values, warnings }),
            false => Err(errors),
        }
    }

    fn cast(&self, input: &InputDecl, value: &Value) -> Result<Value, InputError> {
        let name = || input.name.value.clone();
        // What is not needed may be nothing; a step that reads it sees null.
        if value.is_null() && !input.required.value && !self.is_compat() {
            return Ok(Value::Null);
        }
        let cast = cast::cast(&input.kind, value, self.is_compat());
        let value = cast.ok_or_else(|| InputError::Type {
            input: name(),
            found: described(value),
            kind: cast::expected(&input.kind),
        })?;
        if let Some(allowed) = &input.allowed
            && !allowed.iter().any(|one| {
                let cast = cast::cast(&input.kind, one, self.is_compat());
                cast.as_ref().unwrap_or(one).same(&value)
            })
        {
            let allowed: Vec<String> = allowed.iter().map(Value::to_json_text).collect();
            return Err(InputError::NotAllowed {
                input: name(),
                allowed: allowed.join(", "),
            });
        }
        if let (Some(limit), Some(text)) = (&input.max_bytes, value.as_str())
            && text.len() as u64 > limit.value
        {
            return Err(InputError::TooLarge {
                input: name(),
                bytes: text.len() as u64,
                limit: limit.value,
            });
        }
        Ok(value)
    }

    /// The declared input of that name.
    pub fn input(&self, name: &str) -> Option<&InputDecl> {
        self.inputs.iter().find(|input| &*input.name.value == name)
    }

    /// The place of the declaration that an error is about.
    pub fn place_of(&self, error: &InputError) -> Place {
        let name = match error {
            InputError::NotAMapping { .. } | InputError::Undeclared { .. } => None,
            InputError::Missing { input, .. }
            | InputError::Type { input, .. }
            | InputError::NotAllowed { input, .. }
            | InputError::TooLarge { input, .. } => self.input(input),
        };
        let inputs = || Place::from_iter([Step::Key("inputs".into())]);
        name.map_or_else(inputs, |input| input.place.clone())
    }
}

/// Which inputs the steps of a graph may read, beyond those that it declares.
#[derive(Clone, Debug)]
pub(crate) enum Readers {
    /// All: a step is told everything.
    All,
    /// Those that go by one of these words: what stands in prompts, arguments, expressions and values, and the keys of
    /// input nodes. These are more words than are read, never fewer.
    Words(HashSet<String>),
}

impl Readers {
    fn of(graph: &Document) -> Readers {
        let mut nodes = graph.all_nodes();
        if nodes.any(|node| node.kind.value.takes_everything()) {
            return Readers::All;
        }
        let mut words = HashSet::new();
        let mut add = |text: &str| {
            let separates = |c: char| !(c.is_alphanumeric() || c == '_' || c == '-');
            words.extend(text.split(separates).map(str::to_owned));
            // A placeholder's name may have blanks in it.
            let names = text
                .split('{')
                .skip(1)
                .filter_map(|rest| rest.split(['}', '.', '[', '!', ':']).next());
            words.extend(names.map(str::to_owned));
            let hyphens = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words.extend(hyphens.map(str::to_owned));
        };
        for node in graph.all_nodes() {
            let texts = [
                &node.instructions,
                &node.purpose,
                &node.goal,
                &node.expected_result,
                &node.value,
                &node.when,
                &node.over,
                &node.until,
            ];
            texts.into_iter().flatten().for_each(|text| add(text));
            node.cases
                .iter()
                .filter_map(|case| case.when.as_ref())
                .for_each(|text| add(text));
            if node.kind.value == Kind::Input {
                add(node.input_key());
            }
            for arguments in [&node.tool_args, &node.tool_settings].into_iter().flatten() {
                add(&Value::Object(Arc::new(arguments.value.clone())).to_json_text());
            }
        }
        Readers::Words(words)
    }

    fn may_read(&self, input: &str) -> bool {
        match self {
            Readers::All => true,
            Readers::Words(words) => words.contains(input),
        }
    }
}

fn takes_text(node: &Node) -> bool {
    node.kind.value == Kind::Input && node.input_mode.value != InputMode::Dict
}

fn takes_dict(node: &Node) -> bool {
    node.kind.value == Kind::Input && node.input_mode.value == InputMode::Dict
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests;
