//! Where secret values live.

use std::collections::HashMap;

use crate::error::SecretError;
use crate::secret::Secret;

/// A place where secret values live. A value is asked for each time it is used, so a changed one takes effect at once.
pub trait Provider: Send + Sync {
    /// What people call the place: `environment`, `.env`, `vault`.
    fn name(&self) -> &str;

    /// The value of that name, in exactly that case; `None` if there is none. A blank value counts as none.
    ///
    /// # Errors
    /// The place cannot be asked. Then nobody knows whether there is one, and no other place is asked instead.
    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError>;
}

/// The process's environment variables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Environment;

impl Provider for Environment {
    fn name(&self) -> &str {
        "environment"
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        // `var_os` treats a name it cannot look up (empty, or with `=` or NUL in it) as not set.
        let value = std::env::var_os(name).and_then(|value| value.into_string().ok());
        Ok(value.map(Secret::new).filter(|secret| !secret.is_blank()))
    }
}

/// Values held in memory: for tests, and for programs that embed Easel and have their own store.
impl Provider for HashMap<String, Secret> {
    fn name(&self) -> &str {
        "memory"
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let secret = HashMap::get(self, name).cloned();
        Ok(secret.filter(|secret| !secret.is_blank()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(provider: &impl Provider, name: &str) -> Option<String> {
        let secret = provider.get(name).unwrap();
        secret.map(|secret| secret.value().to_owned())
    }

    #[test]
    fn the_environment_gives_what_is_set() {
        assert_eq!(get(&Environment, "PATH"), std::env::var("PATH").ok());
        for missing in ["EASEL_NO_SUCH_VARIABLE", "Path", "", "A=B\0"] {
            assert_eq!(get(&Environment, missing), None, "{missing}");
        }
    }

    #[test]
    fn a_blank_value_is_none() {
        let values = HashMap::from([
            ("A".to_owned(), Secret::new(" ")),
            ("B".to_owned(), Secret::new("b")),
        ]);
        assert_eq!(get(&values, "A"), None);
        assert_eq!(get(&values, "B").as_deref(), Some("b"));
    }
}
