//! Values in which secrets are named and not yet put in.

use std::sync::Arc;

use easel_core::{Object, Value};

/// A value whose texts may name secrets: the arguments of a tool call before the door.
///
/// What is named in it was named in the file (design §5.2): a text of a run goes in by [`SealedValue::from`] or as
/// [`Part::Text`] and is data, `${NAME}` or not.
///
/// ```
/// use easel_secrets::{Part, SealedValue};
///
/// let header = SealedValue::text([Part::Text("Bearer ".into()), Part::Secret("TOKEN".into())]);
/// assert_eq!(header.shown().to_string(), "Bearer ${TOKEN}");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SealedValue(Node);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// No secret is in it.
    Plain(Value),
    /// A text with secrets in it.
    Text(Vec<Part>),
    List(Vec<Node>),
    Object(Vec<(Arc<str>, Node)>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text as it is.
    Text(Arc<str>),
    /// The value of the secret of that name.
    Secret(Arc<str>),
}

impl SealedValue {
    /// A text put together from parts.
    pub fn text(parts: impl IntoIterator<Item = Part>) -> SealedValue {
        let parts: Vec<Part> = parts.into_iter().collect();
        let secret = parts.iter().any(|part| matches!(part, Part::Secret(_)));
        SealedValue(match (secret, parts.as_slice()) {
            (true, _) => Node::Text(parts),
            (false, [Part::Text(text)]) => Node::Plain(Value::String(text.clone())),
            (false, _) => Node::Plain(Value::from(shown_text(&parts))),
        })
    }

    /// A list.
    pub fn list(items: impl IntoIterator<Item = SealedValue>) -> SealedValue {
        SealedValue(Node::List(items.into_iter().map(|item| item.0).collect()))
    }

    /// An object.
    pub fn object(members: impl IntoIterator<Item = (Arc<str>, SealedValue)>) -> SealedValue {
        let members = members.into_iter();
        SealedValue(Node::Object(
            members.map(|(name, value)| (name, value.0)).collect(),
        ))
    }

    /// The value as anybody may see it: `${NAME}` where a secret goes.
    pub fn shown(&self) -> Value {
        self.0.shown()
    }

    /// Whether a secret is named in it.
    pub fn has_secret(&self) -> bool {
        self.0.has_secret()
    }

    /// The value with each secret put in.
    pub(crate) fn filled<E>(
        &self,
        fill: &mut impl FnMut(&str, &mut String) -> Result<(), E>,
    ) -> Result<Value, E> {
        self.0.filled(fill)
    }
}

impl From<Value> for SealedValue {
    /// A value without secrets.
    fn from(value: Value) -> SealedValue {
        SealedValue(Node::Plain(value))
    }
}

impl Node {
    fn shown(&self) -> Value {
        match self {
            Node::Plain(value) => value.clone(),
            Node::Text(parts) => Value::from(shown_text(parts)),
            Node::List(items) => items.iter().map(Node::shown).collect::<Vec<_>>().into(),
            Node::Object(members) => {
                let members = members
                    .iter()
                    .map(|(name, node)| (name.clone(), node.shown()));
                members.collect::<Object>().into()
            }
        }
    }

    fn has_secret(&self) -> bool {
        match self {
            Node::Plain(_) => false,
            Node::Text(_) => true,
            Node::List(items) => items.iter().any(Node::has_secret),
            Node::Object(members) => members.iter().any(|(_, node)| node.has_secret()),
        }
    }

    fn filled<E>(
        &self,
        fill: &mut impl FnMut(&str, &mut String) -> Result<(), E>,
    ) -> Result<Value, E> {
        Ok(match self {
            Node::Plain(value) => value.clone(),
            Node::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        Part::Text(literal) => text.push_str(literal),
                        Part::Secret(name) => fill(name, &mut text)?,
                    }
                }
                Value::from(text)
            }
            Node::List(items) => {
                let items = items.iter().map(|item| item.filled(fill));
                Value::from(items.collect::<Result<Vec<_>, E>>()?)
            }
            Node::Object(members) => {
                let members = members
                    .iter()
                    .map(|(name, node)| Ok((name.clone(), node.filled(fill)?)));
                Value::from(members.collect::<Result<Object, E>>()?)
            }
        })
    }
}

fn shown_text(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(literal) => text.push_str(literal),
            Part::Secret(name) => {
                text.push_str("${");
                text.push_str(name);
                text.push('}');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_names_the_secret() {
        let text = SealedValue::text([Part::Text("k=".into()), Part::Secret("KEY".into())]);
        let list = SealedValue::list([text, Value::from(1).into()]);
        let object = SealedValue::object([("a".into(), list)]);
        assert_eq!(object.shown().to_json_text(), r#"{"a":["k=${KEY}",1]}"#);
        assert!(object.has_secret());
    }

    #[test]
    fn text_without_a_secret_is_plain() {
        let text = SealedValue::text([Part::Text("a".into()), Part::Text("b".into())]);
        assert!(!text.has_secret());
        assert_eq!(text, SealedValue::from(Value::from("ab")));
        assert!(!SealedValue::from(Value::from("${KEY}")).has_secret());
    }
}
