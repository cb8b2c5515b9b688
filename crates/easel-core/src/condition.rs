//! Conditions of canvases: the tests of Switch and of a Loop's end, compiled.
//!
//! A comparison that cannot be made (a number with `"five"`, a list by size) does not hold, and neither does its
//! negation (design.md §4):
//!
//! | | how |
//! |---|---|
//! | `=` `≠` | a number with a number or a text that spells one: by size. A boolean with a boolean, or with `true`, `false`, `1`, `0`: as booleans. Two texts: letter by letter. Lists and objects: part by part. `null` equals `null` only |
//! | `>` `<` `≥` `≤` | numbers and texts that spell numbers: by size. Two other texts: by code point |
//! | `in` `not in` | in a list or a text of a JSON list: as an element. In a text with commas: as one of its parts. In another text: as a part of it |
//!
//! The other operators depend on the [`Table`].

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::bind::{Inputs, ReadId};
use crate::{Number, Value};

/// Tests joined by one word.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// True: all tests must hold. False: one is enough.
    pub all: bool,
    /// The tests, in order. A condition without tests never holds.
    pub tests: Vec<Test>,
    /// Whose table of operators applies.
    pub table: Table,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// What is tested.
    pub left: ReadId,
    /// How.
    pub operator: Operator,
    /// Against what.
    pub right: Operand,
}

/// The right side of a test.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// Written in the file.
    Constant(Value),
    /// Read when the test is made.
    Read(ReadId),
}

/// Which node's rules apply: they differ in case, and in what an operator means for which type
/// (spec/canvas-engine §4.13, §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Switch: `contains`, `start with`, `end with` compare what is shown of both sides, ignoring case; a list is shown
    /// as its JSON. Empty is what Python calls false: 0 and `false` too. `is` means `=`.
    Switch,
    /// Loop: the operators go by the type of the left side, and case counts. Of a text: `contains`, `start with`, `end
    /// with`. Of a list: `contains`, by element. `is` means `=`, of texts, booleans and lists only. Only texts, lists
    /// and objects can be empty. Of `null` nothing holds but `empty`.
    Loop,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `contains`
    Contains,
    /// `not contains`
    NotContains,
    /// `start with`
    StartWith,
    /// `end with`
    EndWith,
    /// `empty`; the right side does not matter.
    Empty,
    /// `not empty`; the right side does not matter.
    NotEmpty,
    /// `=`
    Equal,
    /// `≠`
    NotEqual,
    /// `>`
    Greater,
    /// `<`
    Less,
    /// `≥`
    GreaterOrEqual,
    /// `≤`
    LessOrEqual,
    /// `in`
    In,
    /// `not in`
    NotIn,
    /// `is`
    Is,
    /// `is not`
    IsNot,
}

impl Operator {
    /// Every operator.
    pub const ALL: [Operator; 16] = [
        Operator::Contains,
        Operator::NotContains,
        Operator::StartWith,
        Operator::EndWith,
        Operator::Empty,
        Operator::NotEmpty,
        Operator::Equal,
        Operator::NotEqual,
        Operator::Greater,
        Operator::Less,
        Operator::GreaterOrEqual,
        Operator::LessOrEqual,
        Operator::In,
        Operator::NotIn,
        Operator::Is,
        Operator::IsNot,
    ];

    /// The operator as canvases spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Operator::Contains => "contains",
            Operator::NotContains => "not contains",
            Operator::StartWith => "start with",
            Operator::EndWith => "end with",
            Operator::Empty => "empty",
            Operator::NotEmpty => "not empty",
            Operator::Equal => "=",
            Operator::NotEqual => "≠",
            Operator::Greater => ">",
            Operator::Less => "<",
            Operator::GreaterOrEqual => "≥",
            Operator::LessOrEqual => "≤",
            Operator::In => "in",
            Operator::NotIn => "not in",
            Operator::Is => "is",
            Operator::IsNot => "is not",
        }
    }

    /// Reads an operator. Case and outer blanks do not count, `_` is a blank, and people's other spellings are known:
    /// `==`, `!=`, `<>`, `>=`, `<=`, `starts with`, `ends with`.
    pub fn parse(text: &str) -> Option<Operator> {
        let text = text.trim().to_lowercase().replace('_', " ");
        match text.as_str() {
            "==" => Some(Operator::Equal),
            "!=" | "<>" => Some(Operator::NotEqual),
            ">=" => Some(Operator::GreaterOrEqual),
            "<=" => Some(Operator::LessOrEqual),
            "starts with" => Some(Operator::StartWith),
            "ends with" => Some(Operator::EndWith),
            _ => Operator::ALL
                .into_iter()
                .find(|operator| operator.as_str() == text),
        }
    }
}

impl Condition {
    /// Whether the condition holds. What is missing counts as `null`.
    pub fn holds(&self, inputs: &Inputs) -> bool {
        let mut tests = self.tests.iter().map(|test| test.holds(self.table, inputs));
        if self.all {
            !self.tests.is_empty() && tests.all(|held| held)
        } else {
            tests.any(|held| held)
        }
    }

    /// Everything the tests read, in order.
    pub fn reads(&self) -> impl Iterator<Item = ReadId> {
        self.tests.iter().flat_map(|test| {
            let right = match test.right {
                Operand::Constant(_) => None,
                Operand::Read(read) => Some(read),
            };
            std::iter::once(test.left).chain(right)
        })
    }
}

impl Test {
    fn holds(&self, table: Table, inputs: &Inputs) -> bool {
        let read = |read| inputs.get(read).value().unwrap_or(&Value::Null);
        let right = match &self.right {
            Operand::Constant(value) => value,
            Operand::Read(id) => read(*id),
        };
        table.test(read(self.left), self.operator, right)
    }
}

impl Table {
    /// Whether one comparison holds.
    pub fn test(self, left: &Value, operator: Operator, right: &Value) -> bool {
        if self == Table::Loop && left.is_null() {
            return operator == Operator::Empty;
        }
        let ordered = |holds: fn(Ordering) -> bool| order(left, right).is_some_and(holds);
        match operator {
            Operator::Contains => self.contains(left, right) == Some(true),
            Operator::NotContains => self.contains(left, right) == Some(false),
            Operator::StartWith => self
                .texts(left, right)
                .is_some_and(|(l, r)| l.starts_with(&*r)),
            Operator::EndWith => self
                .texts(left, right)
                .is_some_and(|(l, r)| l.ends_with(&*r)),
            Operator::Empty => self.is_empty(left),
            Operator::NotEmpty => !self.is_empty(left),
            Operator::Equal => equal(left, right) == Some(true),
            Operator::NotEqual => equal(left, right) == Some(false),
            Operator::Greater => ordered(Ordering::is_gt),
            Operator::Less => ordered(Ordering::is_lt),
            Operator::GreaterOrEqual => ordered(Ordering::is_ge),
            Operator::LessOrEqual => ordered(Ordering::is_le),
            Operator::In => self.is_in(left, right) == Some(true),
            Operator::NotIn => self.is_in(left, right) == Some(false),
            Operator::Is => self.is(left, right) == Some(true),
            Operator::IsNot => self.is(left, right) == Some(false),
        }
    }

    fn is_empty(self, value: &Value) -> bool {
        match (self, value) {
            (Table::Switch, _) => !value.is_truthy(),
            (Table::Loop, Value::Bool(_) | Value::Number(_)) => false,
            (Table::Loop, _) => !value.is_truthy(),
        }
    }

    fn is(self, left: &Value, right: &Value) -> Option<bool> {
        match (self, left) {
            (Table::Loop, Value::Number(_) | Value::Object(_)) => None,
            _ => equal(left, right),
        }
    }

    fn contains(self, left: &Value, right: &Value) -> Option<bool> {
        match (self, left) {
            (Table::Loop, Value::Array(items)) => Some(self.holds_element(items, right)),
            _ => self.texts(left, right).map(|(l, r)| l.contains(&*r)),
        }
    }

    /// Both sides as text, where they can be compared as such.
    fn texts<'v>(self, left: &'v Value, right: &'v Value) -> Option<(Cow<'v, str>, Cow<'v, str>)> {
        let usable = match self {
            Table::Switch => true,
            Table::Loop => {
                let whole = matches!(right, Value::Null | Value::Array(_) | Value::Object(_));
                matches!(left, Value::String(_)) && !whole
            }
        };
        usable.then(|| (self.shown(left), self.shown(right)))
    }

    /// What is shown of a value, in the case in which it is compared.
    fn shown(self, value: &Value) -> Cow<'_, str> {
        match (self, value) {
            (Table::Switch, Value::String(text)) => Cow::Owned(text.to_lowercase()),
            (Table::Switch, _) => Cow::Owned(value.to_string().to_lowercase()),
            (Table::Loop, Value::String(text)) => Cow::Borrowed(text),
            (Table::Loop, _) => Cow::Owned(value.to_string()),
        }
    }

    fn is_in(self, left: &Value, right: &Value) -> Option<bool> {
        let text = match right {
            Value::Array(items) => return Some(self.holds_element(items, left)),
            Value::String(text) => text.trim(),
            _ => return None,
        };
        if left.is_null() {
            return Some(false);
        }
        if text.starts_with('[')
            && let Ok(items) = serde_json::from_str::<Vec<Value>>(text)
        {
            return Some(self.holds_element(&items, left));
        }
        if text.contains(',') {
            let parts: Vec<Value> = text.split(',').map(|part| part.trim().into()).collect();
            return Some(self.holds_element(&parts, left));
        }
        self.texts(right, left)
            .map(|(whole, part)| whole.contains(&*part))
    }

    /// Whether one of the elements equals the value, texts in the case in which this table compares them.
    fn holds_element(self, items: &[Value], value: &Value) -> bool {
        items.iter().any(|item| match (item, value) {
            (Value::String(_), Value::String(_)) => self.shown(item) == self.shown(value),
            _ => equal(item, value) == Some(true),
        })
    }
}

/// `None` if the two cannot be compared.
fn equal(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Some(left.is_null() && right.is_null()),
        (Value::Bool(_), _) | (_, Value::Bool(_)) => Some(truth(left)? == truth(right)?),
        (Value::Number(_), Value::String(_)) | (Value::String(_), Value::Number(_)) => {
            Some(number(left)?.order(number(right)?).is_eq())
        }
        _ => Some(left.same(right)),
    }
}

/// `None` if the two cannot be compared.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (number(left), number(right), left, right) {
        (Some(left), Some(right), _, _) => Some(left.order(right)),
        (_, _, Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

/// The number a value is or spells.
fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(*number),
        Value::String(text) => Number::parse(text),
        _ => None,
    }
}

/// The boolean a value is or spells.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(held) => return Some(*held),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => return Some(true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => return Some(false),
        _ => {}
    }
    let number = number(value)?;
    [false, true]
        .into_iter()
        .find(|held| number.order(Number::Int((*held).into())).is_eq())
}

#[cfg(test)]
mod tests;
