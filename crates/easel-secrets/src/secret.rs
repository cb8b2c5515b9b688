//! One secret value: closed, and opened.

use std::fmt;

use easel_core::Value;
use secrecy::{ExposeSecret, SecretString};

use crate::mask::{MASK, SHORTEST};

/// A value that must not be seen. It is overwritten in memory when it is dropped.
///
/// It can be kept, passed on and handed to a [`Door`](crate::Door), which opens it; nothing else can read it. It has no
/// `Serialize` and no `Display`, and its `Debug` hides it, so a struct that holds one can be printed.
///
/// ```
/// let key = easel_secrets::Secret::new("sk-1234567890");
/// assert_eq!(format!("{key:?}"), "Secret(••••••)");
/// ```
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes a value in.
    pub fn new(value: impl Into<String>) -> Secret {
        Secret(SecretString::from(value.into()))
    }

    /// Whether the value is long enough to be masked; a shorter one occurs in ordinary text.
    pub fn is_masked(&self) -> bool {
        self.value().chars().count() >= SHORTEST
    }

    /// Whether nothing but white space is in it: then it counts as not set.
    pub fn is_blank(&self) -> bool {
        self.value().trim().is_empty()
    }

    /// Whether it is that value: to see whether something that is written out elsewhere is kept already.
    pub fn is(&self, value: &str) -> bool {
        self.value() == value
    }

    /// Whether a control character is in it, such as a line break, which no HTTP header may hold.
    pub fn breaks_headers(&self) -> bool {
        self.value()
            .trim()
            .contains(|c: char| c.is_control() && c != '\t')
    }

    pub(crate) fn value(&self) -> &str {
        self.0.expose_secret()
    }

    pub(crate) fn open(self) -> Opened {
        Opened(self)
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Secret {
        Secret::new(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({MASK})")
    }
}

/// A secret on its way into a tool: what a [`Door`](crate::Door) gives.
///
/// Whoever holds one sends it to the sink that the door named. It is no more printable than a [`Secret`].
#[derive(Clone)]
pub struct Opened(Secret);

impl Opened {
    /// The value, for the one place that sends it.
    pub fn expose(&self) -> &str {
        self.0.value()
    }
}

impl AsRef<Secret> for Opened {
    /// The secret, closed: to be masked.
    fn as_ref(&self) -> &Secret {
        &self.0
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opened({MASK})")
    }
}

/// A value with secrets in it on its way into a tool: an
/// [`Argument`](easel_core::argument::Argument) that a door has opened.
///
/// It is a [`Value`] from which nobody can tell what is secret in it, so it goes to the tool whole and nowhere else.
#[derive(Clone)]
pub struct OpenedValue(Value);

impl OpenedValue {
    pub(crate) fn of(value: Value) -> OpenedValue {
        OpenedValue(value)
    }

    /// The value, for the one place that sends it.
    pub fn expose(&self) -> &Value {
        &self.0
    }

    /// The value as a text: `null` is nothing, all but text is JSON.
    pub fn into_text(self) -> Opened {
        Secret::new(self.0.to_string()).open()
    }

    /// The same, taken out.
    pub fn into_exposed(self) -> Value {
        self.0
    }
}

impl fmt::Debug for OpenedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenedValue({MASK})")
    }
}
