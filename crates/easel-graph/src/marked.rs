//! A value read from a text, with the place of every part of it.

use std::collections::HashMap;
use std::sync::Arc;

use easel_core::{Number, Object, Value};

use crate::place::{Position, Step};

/// A value and where it stands. Cloning one costs a reference count, whatever its size.
#[derive(Clone, Debug)]
pub struct Marked {
    /// The value.
    pub data: Data,
    /// Where it stands: all of a text or number, from the first sign of a list or mapping to its last. A value that an
    /// alias (`*name`) repeats stands at the alias; its parts stand where they were written.
    pub at: Position,
    /// How it is written.
    pub form: Form,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Data {
    /// `null`, `~` or nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(Arc<str>),
    /// A list.
    List(Arc<Vec<Marked>>),
    /// A mapping, in the order of the file.
    Map(Arc<Map>),
}

/// How a value is written: what a change of it has to keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// On lines of its own, its parts by indentation; or a text that spans lines.
    Block,
    /// In brackets, braces or quotes, or as a plain word.
    Flow,
    /// With an alias, a tag or a merge key: its parts are also somewhere else's.
    Shared,
}

/// The members of a mapping. A name that stands twice has the last value at the place of the first.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Vec<Entry>,
    by_name: HashMap<Arc<str>, usize>,
}

/// One member of a mapping.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub key: Key,
    /// Its value.
    pub value: Marked,
}

/// The name of a member.
#[derive(Clone, Debug)]
pub struct Key {
    /// The name, of a key that is no text in the way JSON writes it.
    pub name: Arc<str>,
    /// What the key is if it is no text: YAML reads `yes`, `5` and `~` as a boolean, a number and null.
    pub not_text: Option<&'static str>,
    /// Where it stands.
    pub at: Position,
}

impl Map {
    /// Adds a member, or replaces the value of one. Returns the key that was there.
    pub(crate) fn insert(&mut self, entry: Entry) -> Option<Key> {
        match self.by_name.get(&entry.key.name) {
            Some(&at) => {
                let there = self.entries.get_mut(at)?;
                Some(std::mem::replace(there, entry).key)
            }
            None => {
                self.by_name
                    .insert(entry.key.name.clone(), self.entries.len());
                self.entries.push(entry);
                None
            }
        }
    }

    /// The member of that name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(*self.by_name.get(name)?)
    }

    /// The members, in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> std::slice::Iter<'a, Entry> {
        self.iter()
    }
}

impl Marked {
    /// A value that was not read from a text. Nothing in it has a place.
    pub fn from_value(value: &Value) -> Marked {
        let data = match value {
            Value::Null => Data::Null,
            Value::Bool(value) => Data::Bool(*value),
            Value::Number(number) => Data::Number(*number),
            Value::String(text) => Data::Text(text.clone()),
            Value::Array(items) => {
                Data::List(Arc::new(items.iter().map(Marked::from_value).collect()))
            }
            Value::Object(members) => {
                let mut map = Map::default();
                for (name, value) in members.iter() {
                    let key = Key {
                        name: name.clone(),
                        not_text: None,
                        at: Position::default(),
                    };
                    let value = Marked::from_value(value);
                    map.insert(Entry { key, value });
                }
                Data::Map(Arc::new(map))
            }
        };
        Marked {
            data,
            at: Position::default(),
            form: Form::Block,
        }
    }

    /// The value without its places.
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(number) => Value::Number(*number),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => {
                Value::Array(Arc::new(items.iter().map(Marked::to_value).collect()))
            }
            Data::Map(map) => Value::Object(Arc::new(map.to_object())),
        }
    }

    /// The value below this one that is reached by these steps.
    pub fn find(&self, steps: &[Step]) -> Option<&Marked> {
        let mut found = self;
        for step in steps {
            found = match (&found.data, step) {
                (Data::Map(map), Step::Key(name)) => &map.get(name)?.value,
                (Data::List(items), Step::Index(at)) => items.get(*at)?,
                _ => return None,
            };
        }
        Some(found)
    }

    /// True for `null` and for nothing at all, which YAML reads as `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }

    /// The members, if it is a mapping.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.data {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Marked]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value in words, to be read after "is": `the number 5`, `a list`. Long texts are cut.
    pub fn described(&self) -> String {
        match &self.data {
            Data::Null => "empty".to_owned(),
            Data::Bool(value) => format!("the boolean {value}"),
            Data::Number(number) => format!("the number {}", Value::Number(*number).to_json_text()),
            Data::Text(text) => {
                let mut short: String = text.chars().take(40).collect();
                if short.len() < text.len() {
                    short.push('…');
                }
                format!("the text {short:?}")
            }
            Data::List(items) if items.is_empty() => "an empty list".to_owned(),
            Data::List(_) => "a list".to_owned(),
            Data::Map(map) if map.is_empty() => "an empty mapping".to_owned(),
            Data::Map(_) => "a mapping".to_owned(),
        }
    }

    /// The text `{name}` that somebody forgot to quote: YAML reads it as a mapping of one key without a value.
    pub(crate) fn unquoted_placeholder(&self) -> Option<String> {
        let map = self.as_map().filter(|_| self.form == Form::Flow)?;
        match map.entries.as_slice() {
            [only] if only.value.is_null() => Some(format!("{{{}}}", only.key.name)),
            _ => None,
        }
    }
}

impl Map {
    /// The members without their places.
    pub fn to_object(&self) -> Object {
        let member = |entry: &Entry| (entry.key.name.clone(), entry.value.to_value());
        self.iter().map(member).collect()
    }
}
