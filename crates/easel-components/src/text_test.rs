//! How the filters of ListOperations and DataOperations compare values: as text, spelled as Python would.

use std::borrow::Cow;

use easel_core::Value;

/// The text of a value to be compared: `True` and `False` for booleans, nothing for `null`, all else as it is shown.
pub(crate) fn python_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Bool(true) => Cow::Borrowed("True"),
        Value::Bool(false) => Cow::Borrowed("False"),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// How two texts are compared by the filters of ListOperations and DataOperations. Case counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextTest {
    Equal,
    NotEqual,
    Contains,
    StartsWith,
    EndsWith,
}

impl TextTest {
    /// The test canvases spell so. `None` for one nobody knows, which nothing passes.
    pub(crate) fn parse(word: &str) -> Option<TextTest> {
        Some(match word {
            "=" => TextTest::Equal,
            "≠" => TextTest::NotEqual,
            "contains" => TextTest::Contains,
            "start with" => TextTest::StartsWith,
            "end with" => TextTest::EndsWith,
            _ => return None,
        })
    }

    pub(crate) fn holds(self, left: &str, right: &str) -> bool {
        match self {
            TextTest::Equal => left == right,
            TextTest::NotEqual => left != right,
            TextTest::Contains => left.contains(right),
            TextTest::StartsWith => left.starts_with(right),
            TextTest::EndsWith => left.ends_with(right),
        }
    }
}
