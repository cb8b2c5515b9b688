//! Where the value of a parameter comes from: compiled when the workflow loads, resolved at each call.

use std::sync::Arc;

use easel_core::argument::{self, Argument, ArgumentTemplate};
use easel_core::bind::{Inputs, ReadId};
use easel_core::draft::Field;
use easel_core::event::Fault;
use easel_core::template::{Piece, Rendering};
use easel_core::{Object, Value};
use easel_secrets::{Door, DoorError, Opened, OpenedValue, Unset};

use crate::behaviour::Call;

/// A value that is written in the file, read, or put together from both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    /// Written in the file.
    Literal(Value),
    /// What a reference stands for, with its type.
    Read(ReadId),
    /// Text with references or secrets in it.
    Text(Vec<Part>),
    /// A list of such.
    List(Vec<Given>),
    /// Named ones.
    Object(Vec<(Arc<str>, Given)>),
    /// What a graph has there: texts with placeholders, and with the secrets that the node declares.
    Argument(ArgumentTemplate),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// Written in the file.
    Text(Arc<str>),
    /// The text of what a reference stands for.
    Read(ReadId),
    /// The value of the secret of that name. Only ever made from the file (design.md §5.2).
    Secret(Arc<str>),
}

impl Given {
    /// A literal, or what was compiled of it. `secrets`: whether `${NAME}` in it names a secret.
    pub(crate) fn new(literal: &Value, field: Option<&Field>, secrets: bool) -> Given {
        let parts: Vec<Part> = match (field, literal) {
            (Some(Field::Reference(read)), _) => return Given::Read(*read),
            (Some(Field::Template(template)), _) => {
                if let Some(read) = template.single() {
                    return Given::Read(read);
                }
                let pieces = template.pieces.iter();
                let parts = pieces.flat_map(|piece| match piece {
                    Piece::Text(text) => literal_parts(text, secrets),
                    Piece::Read(read) | Piece::Name(read) => vec![Part::Read(*read)],
                });
                parts.collect()
            }
            (_, Value::String(text)) => literal_parts(text, secrets),
            _ => return Given::Literal(literal.clone()),
        };
        match parts.as_slice() {
            [] => Given::Literal(Value::from("")),
            [Part::Text(text)] => Given::Literal(Value::String(text.clone())),
            _ => Given::Text(parts),
        }
    }

    /// What a graph has there; a literal if nothing in it is to be filled in.
    pub(crate) fn argument(template: &ArgumentTemplate) -> Given {
        match template.render(&Inputs::default()) {
            Ok(Argument::Value(value)) => Given::Literal(value),
            _ => Given::Argument(template.clone()),
        }
    }

    /// A list; a literal if its items are.
    pub(crate) fn list(items: impl IntoIterator<Item = Given>) -> Given {
        let items: Vec<Given> = items.into_iter().collect();
        let literals: Option<Vec<Value>> = items.iter().map(Given::literal).collect();
        literals.map_or(Given::List(items), |values| Given::Literal(values.into()))
    }

    /// An object; a literal if its members are.
    pub(crate) fn object(members: impl IntoIterator<Item = (Arc<str>, Given)>) -> Given {
        let members: Vec<(Arc<str>, Given)> = members.into_iter().collect();
        let literal = |(name, given): &(Arc<str>, Given)| Some((name.clone(), given.literal()?));
        let literals: Option<Object> = members.iter().map(literal).collect();
        literals.map_or(Given::Object(members), |values| {
            Given::Literal(values.into())
        })
    }

    /// The value, if it is written in the file.
    pub(crate) fn literal(&self) -> Option<Value> {
        match self {
            Given::Literal(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// Whether a secret is in it.
    pub(crate) fn has_secret(&self) -> bool {
        match self {
            Given::Literal(_) | Given::Read(_) => false,
            Given::Text(parts) => parts.iter().any(|part| matches!(part, Part::Secret(_))),
            Given::List(items) => items.iter().any(Given::has_secret),
            Given::Object(members) => members.iter().any(|(_, given)| given.has_secret()),
            Given::Argument(template) => template.secrets().next().is_some(),
        }
    }

    /// The value as anybody may see it; what is missing is `null`, and a secret is its `${NAME}`.
    pub(crate) fn value(&self, call: &Call) -> Value {
        self.sealed(call).shown()
    }

    /// The value with the secrets named in it and not put in; what is missing is `null`.
    pub(crate) fn sealed(&self, call: &Call) -> Argument {
        match self {
            Given::Literal(value) => value.clone().into(),
            Given::Read(read) => call.inputs().get(*read).or_null().into(),
            Given::Text(parts) => {
                let parts = parts.iter().map(|part| match part {
                    Part::Text(literal) => argument::Part::Text(literal.clone()),
                    Part::Read(read) => {
                        let mut text = String::new();
                        Rendering::Display.write(call.inputs().get(*read), &mut text);
                        argument::Part::Text(text.into())
                    }
                    Part::Secret(name) => argument::Part::Secret(name.clone()),
                });
                Argument::text(parts.collect())
            }
            Given::List(items) => {
                Argument::array(items.iter().map(|item| item.sealed(call)).collect())
            }
            Given::Object(members) => {
                let members = members.iter();
                let members = members.map(|(name, given)| (name.clone(), given.sealed(call)));
                Argument::object(members.collect())
            }
            // A node whose arguments cannot be filled in fails before it asks for them.
            Given::Argument(template) => template
                .render(call.inputs())
                .unwrap_or(Argument::Value(Value::Null)),
        }
    }

    /// The value for what is behind the door. Errors: a secret is not set or cannot be had.
    pub(crate) fn open(&self, call: &Call, door: &Door<'_>) -> Result<OpenedValue, Fault> {
        let opened = door.open(&self.sealed(call), Unset::Refused);
        opened.map_err(|error| closed(call, &error))
    }

    /// A credential for what is behind the door; `None` if it is blank. One that stands in the file is treated as a
    /// secret that is called by its `parameter`. Errors: as [`Given::open`].
    pub(crate) fn open_credential(
        &self,
        call: &Call,
        door: &Door<'_>,
        parameter: &str,
    ) -> Result<Option<Opened>, Fault> {
        let opened = match self {
            Given::Literal(value) => {
                let place = format!("{}.{parameter}", call.node().draft.id);
                let opened = door.literal(&place, &value.to_string());
                opened.map_err(|error| Fault::new("secret_unreadable", error.to_string()))?
            }
            _ => self.open(call, door)?.into_text(),
        };
        Ok(Some(opened).filter(|opened| !opened.expose().trim().is_empty()))
    }
}

/// The fault of a node to which a door stayed closed.
pub(crate) fn closed(call: &Call, error: &DoorError) -> Fault {
    let node = &call.node().draft.name;
    let code = match error {
        DoorError::NotSet(_) => "secret_missing",
        DoorError::Secret(_) => "secret_unreadable",
    };
    let message = format!("\"{node}\" cannot run: {error}.");
    Fault::new(code, message).without_trace()
}

/// The parts of a text that stands in the file. `$${` is a literal `${` where secrets are looked for.
fn literal_parts(text: &str, secrets: bool) -> Vec<Part> {
    if !secrets {
        let literal = (!text.is_empty()).then(|| Part::Text(text.into()));
        return literal.into_iter().collect();
    }
    let parts = easel_secrets::parts(text).into_iter();
    let part = |part| match part {
        argument::Part::Text(text) => Part::Text(text),
        argument::Part::Secret(name) => Part::Secret(name),
    };
    parts.map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use easel_core::template::Template;
    use proptest::prelude::*;

    fn text(text: &str) -> Given {
        Given::new(&Value::from(text), None, true)
    }

    #[test]
    fn a_secret_is_found_in_text_that_stands_in_the_file() {
        assert_eq!(
            text("Bearer ${KEY_1}!"),
            Given::Text(vec![
                Part::Text("Bearer ".into()),
                Part::Secret("KEY_1".into()),
                Part::Text("!".into())
            ])
        );
        assert!(text("${KEY}").has_secret());
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is_written() {
        for plain in [
            "", "$", "${", "${}", "${1A}", "${a b}", "$KEY", "{KEY}", "${KEY",
        ] {
            assert_eq!(text(plain), Given::Literal(Value::from(plain)), "{plain}");
        }
        assert_eq!(text("$${KEY}"), Given::Literal(Value::from("${KEY}")));
        let elsewhere = Given::new(&Value::from("$${KEY}"), None, false);
        assert_eq!(elsewhere, Given::Literal(Value::from("$${KEY}")));
    }

    #[test]
    fn a_lone_reference_keeps_its_type() {
        let template = Template {
            pieces: vec![Piece::Read(ReadId(0))],
            jinja: false,
        };
        let given = Given::new(
            &Value::from("{env.n}"),
            Some(&Field::Template(template)),
            false,
        );
        assert_eq!(given, Given::Read(ReadId(0)));
    }

    proptest! {
        #[test]
        fn any_text_can_be_searched_for_secrets(literal in r"[${}A-Cä1 ]{0,24}") {
            let parts = literal_parts(&literal, true);
            let found = parts.iter().map(|part| match part {
                Part::Text(text) => text.len(),
                Part::Secret(name) => name.len() + 3,
                Part::Read(_) => 0,
            });
            prop_assert!(found.sum::<usize>() <= literal.len());
        }
    }
}
