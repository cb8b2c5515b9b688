//! Paths into data: reading what stands at their end, and putting something there.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::Value;
use crate::value::MAX_DEPTH;

/// The steps from a value to one inside it. Reads data only: object member, list index, and text that is JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(pub Box<[Step]>);

/// One step of a path: a member's name that, in a list, is an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The name as written.
    pub name: Arc<str>,
    /// The name as an index, where it is one; negative counts from the end.
    pub index: Option<i64>,
}

/// Why nothing could be put at the end of a path. The value is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// The value at the start is neither an object, nor a list, nor empty.
    #[error(
        "cannot set \"{step}\" in a {found}: only objects and lists have parts; set the whole value instead"
    )]
    NoParts {
        /// The JSON type of what was found.
        found: &'static str,
        /// The step that leads into it.
        step: Arc<str>,
    },
    /// The value at the start is a list and the step is no whole number.
    #[error("cannot set \"{step}\" in a list: name an element by its number, 0 is the first")]
    NoIndex {
        /// The step that leads into the list.
        step: Arc<str>,
    },
    /// A list has no such element.
    #[error(
        "cannot set element {step} of a list that has {length}: an element must exist to be set; append it instead"
    )]
    OutOfRange {
        /// The step that leads into the list.
        step: Arc<str>,
        /// How many elements the list has.
        length: usize,
    },
    /// The value would be nested deeper than [`MAX_DEPTH`] levels.
    #[error("the value would be nested {depth} levels deep; {MAX_DEPTH} is the most")]
    TooDeep {
        /// How deep it would be.
        depth: usize,
    },
}

impl Path {
    /// The steps of a dotted text (`items.0.name`); none for an empty one. Every text is a path.
    pub fn parse(text: &str) -> Path {
        match text {
            "" => Path::default(),
            _ => Path(text.split('.').map(Step::parse).collect()),
        }
    }

    /// This path, then the other.
    pub fn join(&self, other: &Path) -> Path {
        Path(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// True if it leads nowhere else: its end is its start.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What stands at the end of the path, or `None` where it leads nowhere (design.md §4).
    ///
    /// A step that meets text continues in what that text is as JSON. The value at the end stays as it is, `null`
    /// included; `null` on the way leads nowhere.
    pub fn walk(&self, value: &Value) -> Option<Value> {
        walk(&self.0, value)
    }

    /// Puts a value at the end of the path, on the way making objects of what is not there yet and of all that is
    /// neither object nor list (spec/canvas-engine §2.4).
    ///
    /// A list keeps its length: an index sets an element that exists. A name instead replaces a list on the way by an
    /// object, but not one at the start. At the start, anything empty (`null`, `""`, `0`, `[]`) becomes an object;
    /// other text and numbers are refused.
    ///
    /// # Errors
    ///
    /// See [`SetError`]; `root` is then unchanged.
    pub fn set(&self, root: &mut Value, value: Value) -> Result<(), SetError> {
        let depth = self.0.len() + value.depth();
        if depth > MAX_DEPTH {
            return Err(SetError::TooDeep { depth });
        }
        // Past a place that was made or replaced there is nothing that could be refused, so a failure changes nothing.
        let mut place = root;
        for (position, step) in self.0.iter().enumerate() {
            place = step.open(place, position == 0)?;
        }
        *place = value;
        Ok(())
    }
}

/// As it was written: the steps with dots between.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            f.write_str(&step.name)?;
        }
        Ok(())
    }
}

fn walk(steps: &[Step], value: &Value) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(value.clone());
    };
    walk(rest, &*step.follow(value)?)
}

impl Step {
    /// The step of that name. An index is an optional minus and digits.
    pub fn parse(name: &str) -> Step {
        let digits = name.strip_prefix('-').unwrap_or(name);
        let whole = digits.bytes().all(|b| b.is_ascii_digit());
        Step {
            name: name.into(),
            index: if whole { name.parse().ok() } else { None },
        }
    }

    /// The step of that name that never is an index: it finds members of objects only.
    pub fn member(name: &str) -> Step {
        Step {
            name: name.into(),
            index: None,
        }
    }

    /// What it leads to: the part of an object or a list, or of what a text is as JSON. `None` where it leads nowhere.
    pub(crate) fn follow<'v>(&self, value: &'v Value) -> Option<Cow<'v, Value>> {
        match value {
            Value::String(text) => {
                let parsed: Value = serde_json::from_str(text).ok()?;
                self.part(&parsed).cloned().map(Cow::Owned)
            }
            _ => self.part(value).map(Cow::Borrowed),
        }
    }

    /// The part of an object or a list that it leads to.
    fn part<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match value {
            Value::Object(members) => members.get(&self.name),
            Value::Array(items) => items.get(self.position(items.len())?),
            _ => None,
        }
    }

    /// The index counted from the start of a list of that length; it may be past its end.
    fn position(&self, length: usize) -> Option<usize> {
        let index = self.index?;
        let distance = usize::try_from(index.unsigned_abs()).ok()?;
        if index < 0 {
            length.checked_sub(distance)
        } else {
            Some(distance)
        }
    }

    /// The place it leads to, made if need be. At the start of a path a value that would be lost is refused.
    fn open<'v>(&self, value: &'v mut Value, start: bool) -> Result<&'v mut Value, SetError> {
        let replaced = match &*value {
            Value::Object(_) => false,
            Value::Array(items) if start => items.is_empty(),
            Value::Array(_) => self.index.is_none(),
            other => !start || !other.is_truthy(),
        };
        if replaced {
            *value = Value::empty_object();
        }
        let step = self.name.clone();
        match value {
            Value::Object(members) => Ok(Arc::make_mut(members).entry(step).or_default()),
            Value::Array(_) if self.index.is_none() => Err(SetError::NoIndex { step }),
            Value::Array(items) => {
                let length = items.len();
                self.position(length)
                    .and_then(|position| Arc::make_mut(items).get_mut(position))
                    .ok_or(SetError::OutOfRange { step, length })
            }
            other => Err(SetError::NoParts {
                found: other.type_name(),
                step,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::tests::{any_value, json};

    fn at(path: &str, value: &str) -> Option<Value> {
        Path::parse(path).walk(&json(value))
    }

    fn set(path: &str, root: &str, value: &str) -> Result<Value, SetError> {
        let mut root = json(root);
        let before = root.clone();
        let outcome = Path::parse(path).set(&mut root, json(value));
        if outcome.is_err() {
            assert_eq!(root, before, "a refused assignment changes nothing");
        }
        outcome.map(|()| root)
    }

    #[test]
    fn a_path_leads_through_members_and_indices() {
        let value = r#"{"a": [1, {"b": true}], "0": "zero"}"#;
        assert_eq!(at("a.0", value), Some(json("1")));
        assert_eq!(at("a.1.b", value), Some(json("true")));
        assert_eq!(at("a.-1.b", value), Some(json("true")));
        assert_eq!(
            at("0", value),
            Some(json("\"zero\"")),
            "in an object a digit is a name"
        );
        assert_eq!(at("", value), Some(json(value)));
    }

    #[test]
    fn a_path_that_leads_nowhere_has_no_value() {
        let value = r#"{"a": [1, 2], "n": null, "s": "text", "i": 5}"#;
        for path in [
            "b",
            "a.2",
            "a.-3",
            "a.x",
            "a.1x",
            "a.+1",
            "a.1.0",
            "a.",
            "n.x",
            "s.0",
            "s.x",
            "i.x",
            "a.keys",
            "a.99999999999999999999",
        ] {
            assert_eq!(at(path, value), None, "{path}");
        }
    }

    #[test]
    fn null_at_the_end_is_a_value() {
        assert_eq!(at("n", r#"{"n": null}"#), Some(Value::Null));
        assert_eq!(at("0", "[null]"), Some(Value::Null));
    }

    #[test]
    fn a_path_into_json_text_parses_it_at_every_level() {
        let inner = json(r#"{"k": 3, "again": "{\"deep\": [7]}"}"#).to_json_text();
        let value = Value::from(vec![Value::from(inner.as_str())]);
        let walk = |path: &str| Path::parse(path).walk(&value);
        assert_eq!(walk("0.k"), Some(json("3")));
        assert_eq!(walk("0.again.deep.0"), Some(json("7")));
        assert_eq!(
            walk("0"),
            Some(Value::from(inner)),
            "the last value stays as it is"
        );
        assert_eq!(walk("0.again"), Some(json(r#""{\"deep\": [7]}""#)));
    }

    #[test]
    fn json_text_of_a_text_is_parsed_once() {
        let twice = Value::from(Value::from(r#"{"k": 3}"#).to_json_text());
        assert_eq!(Path::parse("k").walk(&twice), None);
    }

    #[test]
    fn json_text_nested_without_end_leads_nowhere() {
        let deep = Value::from("[".repeat(100_000));
        assert_eq!(Path::parse("0.0").walk(&deep), None);
    }

    #[test]
    fn setting_makes_the_objects_on_the_way() {
        assert_eq!(
            set("a.c.d", r#"{"a": {"b": 1}}"#, "2"),
            Ok(json(r#"{"a": {"b": 1, "c": {"d": 2}}}"#))
        );
        assert_eq!(set("a.b", "null", "1"), Ok(json(r#"{"a": {"b": 1}}"#)));
        assert_eq!(set("a", "\"\"", "1"), Ok(json(r#"{"a": 1}"#)));
        assert_eq!(set("0", "[]", "1"), Ok(json(r#"{"0": 1}"#)));
        assert_eq!(set("", "5", "1"), Ok(json("1")));
    }

    #[test]
    fn setting_replaces_what_has_no_parts_on_the_way() {
        assert_eq!(
            set("a.b.c", r#"{"a": "text"}"#, "1"),
            Ok(json(r#"{"a": {"b": {"c": 1}}}"#))
        );
        assert_eq!(
            set("a.b", r#"{"a": [1, 2]}"#, "1"),
            Ok(json(r#"{"a": {"b": 1}}"#))
        );
    }

    #[test]
    fn setting_an_element_of_a_list_keeps_the_others() {
        assert_eq!(set("1", "[1, 2, 3]", "9"), Ok(json("[1, 9, 3]")));
        assert_eq!(set("-1.k", "[1, {}]", "9"), Ok(json(r#"[1, {"k": 9}]"#)));
        assert_eq!(
            set("a.0", r#"{"a": [1, 2]}"#, "9"),
            Ok(json(r#"{"a": [9, 2]}"#))
        );
    }

    #[test]
    fn setting_what_cannot_be_set_says_why() {
        let step = |name: &str| -> Arc<str> { name.into() };
        assert_eq!(
            set("k", "\"text\"", "1"),
            Err(SetError::NoParts {
                found: "string",
                step: step("k")
            })
        );
        assert_eq!(
            set("k", "[1]", "1"),
            Err(SetError::NoIndex { step: step("k") })
        );
        assert_eq!(
            set("1", "[1]", "1"),
            Err(SetError::OutOfRange {
                step: step("1"),
                length: 1
            })
        );
        assert_eq!(
            set("a.-3", r#"{"a": [1]}"#, "1"),
            Err(SetError::OutOfRange {
                step: step("-3"),
                length: 1
            })
        );
        assert_eq!(
            set("1", "[1]", "1").unwrap_err().to_string(),
            "cannot set element 1 of a list that has 1: an element must exist to be set; append it instead"
        );
    }

    #[test]
    fn a_path_cannot_build_a_value_too_deep_to_be_read_again() {
        let long = vec!["a"; MAX_DEPTH].join(".");
        assert!(set(&long, "null", "1").is_ok());
        assert_eq!(
            set(&long, "null", "[]"),
            Err(SetError::TooDeep {
                depth: MAX_DEPTH + 1
            })
        );
    }

    #[test]
    fn setting_leaves_other_holders_of_the_value_alone() {
        let mut value = json(r#"{"a": [1]}"#);
        let holder = value.clone();
        Path::parse("a.0").set(&mut value, json("2")).unwrap();
        assert_eq!(holder, json(r#"{"a": [1]}"#));
    }

    proptest! {
        #[test]
        fn what_was_set_is_read_back(root in any_value(), value in any_value(), path in "([a-d]|-?[0-3]){0,1}(\\.([a-d]|-?[0-3])){0,3}") {
            let path = Path::parse(&path);
            let mut root = root;
            if path.set(&mut root, value.clone()).is_ok() {
                prop_assert_eq!(path.walk(&root), Some(value));
            }
        }

        #[test]
        fn a_path_prints_as_it_was_written(text in "[a-z0-9.-]{0,12}") {
            prop_assert_eq!(Path::parse(&text).to_string(), text);
        }

        #[test]
        fn walking_never_panics(value in any_value(), text in ".*") {
            let _ = Path::parse(&text).walk(&value);
        }
    }
}
