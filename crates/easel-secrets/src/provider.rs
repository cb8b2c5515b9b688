//! Where secret values live.

use std::collections::HashMap;

use crate::Secret;

/// A place where secret values live. A value is asked for each time it is used, so a changed one takes effect at once.
pub trait Provider: Send + Sync {
    /// The value of that name, if there is one. A blank value counts as none.
    fn get(&self, name: &str) -> Option<Secret>;
}

/// The process's environment variables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Environment;

impl Provider for Environment {
    fn get(&self, name: &str) -> Option<Secret> {
        // `var_os` treats a name it cannot look up (empty, or with `=` or NUL in it) as not set.
        let value = std::env::var_os(name)?.into_string().ok()?;
        (!value.trim().is_empty()).then(|| Secret::new(value))
    }
}

/// Values held in memory: for tests, and for programs that embed Easel and have their own store.
impl Provider for HashMap<String, Secret> {
    fn get(&self, name: &str) -> Option<Secret> {
        let secret = HashMap::get(self, name)?;
        (!secret.expose().trim().is_empty()).then(|| secret.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_gives_what_is_set() {
        let path = std::env::var("PATH").unwrap();
        assert_eq!(Environment.get("PATH").unwrap().expose(), path);
        assert!(Environment.get("EASEL_NO_SUCH_VARIABLE").is_none());
        assert!(Environment.get("").is_none());
        assert!(Environment.get("A=B\0").is_none());
    }

    #[test]
    fn a_blank_value_is_none() {
        let values = HashMap::from([
            ("A".to_owned(), Secret::new(" ")),
            ("B".to_owned(), Secret::new("b")),
        ]);
        assert!(Provider::get(&values, "A").is_none());
        assert_eq!(Provider::get(&values, "B").unwrap().expose(), "b");
    }
}
