//! One secret value.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// A value that must not be seen. It is overwritten in memory when it is dropped.
///
/// It has no `Serialize` and no `Display`, and its `Debug` hides it, so a struct that holds one can be printed.
///
/// ```
/// let key = easel_secrets::Secret::new("sk-1234567890");
/// assert_eq!(format!("{key:?}"), "Secret(••••••)");
/// assert_eq!(key.expose(), "sk-1234567890");
/// ```
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes a value in.
    pub fn new(value: impl Into<String>) -> Secret {
        Secret(SecretString::from(value.into()))
    }

    /// The value, for the one place that needs it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Secret {
        Secret::new(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", crate::MASK)
    }
}
