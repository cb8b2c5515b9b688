//! One answer to the question whether a secret is set, and what it is.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::error::SecretError;
use crate::name::is_name;
use crate::provider::{Environment, Provider};
use crate::secret::Secret;

/// Several providers, asked in order; the first that has a value gives it.
///
/// The check that says what a workflow still needs and the call that uses the value ask the same resolver, so what is
/// said to be there is there. Names are compared exactly: `token` is not `TOKEN`.
///
/// The usual order goes from the nearest to the farthest: the environment, which somebody set for this very process; then
/// `.env`, which belongs to this folder; then the vault, which belongs to this user. So a value can be changed for one
/// command without touching what is kept.
#[derive(Clone, Default)]
pub struct Resolver {
    providers: Arc<[Arc<dyn Provider>]>,
}

/// A secret that is set.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its value.
    pub secret: Secret,
    /// The provider that has it.
    pub provider: String,
}

impl Resolver {
    /// These providers, first to last.
    pub fn new(providers: impl IntoIterator<Item = Arc<dyn Provider>>) -> Resolver {
        Resolver {
            providers: providers.into_iter().collect(),
        }
    }

    /// The environment alone.
    pub fn environment() -> Resolver {
        Resolver::from(Environment)
    }

    /// The secret of that name and the provider that has it; `None` if none has, or it is no name.
    ///
    /// # Errors
    /// A provider before the first that has it cannot be asked: what it might say would count.
    pub fn find(&self, name: &str) -> Result<Option<Found>, SecretError> {
        if !is_name(name) {
            return Ok(None);
        }
        for provider in self.providers.iter() {
            if let Some(secret) = provider.get(name)? {
                return Ok(Some(Found {
                    secret,
                    provider: provider.name().to_owned(),
                }));
            }
        }
        Ok(None)
    }

    /// The names of the providers, first to last.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.providers.iter().map(|provider| provider.name())
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.providers()).finish()
    }
}

impl From<Arc<dyn Provider>> for Resolver {
    fn from(provider: Arc<dyn Provider>) -> Resolver {
        Resolver::new([provider])
    }
}

impl From<Environment> for Resolver {
    fn from(environment: Environment) -> Resolver {
        Resolver::new([Arc::new(environment) as Arc<dyn Provider>])
    }
}

impl From<HashMap<String, Secret>> for Resolver {
    fn from(values: HashMap<String, Secret>) -> Resolver {
        Resolver::new([Arc::new(values) as Arc<dyn Provider>])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(values: &[(&str, &str)]) -> Arc<dyn Provider> {
        let values = values.iter();
        let values = values.map(|(name, value)| (name.to_string(), Secret::new(*value)));
        Arc::new(values.collect::<HashMap<_, _>>())
    }

    struct Broken;

    impl Provider for Broken {
        fn name(&self) -> &str {
            "broken"
        }

        fn get(&self, _: &str) -> Result<Option<Secret>, SecretError> {
            Err(SecretError::Provider {
                provider: "broken".into(),
                cause: "no connection".into(),
            })
        }
    }

    #[test]
    fn the_nearest_provider_that_has_it_gives_it() {
        let near = values(&[("A", "near"), ("B", " ")]);
        let far = values(&[("A", "far"), ("B", "far")]);
        let resolver = Resolver::new([near, far]);
        let find = |name: &str| resolver.find(name).unwrap();
        assert_eq!(find("A").unwrap().secret.value(), "near");
        assert_eq!(find("B").unwrap().secret.value(), "far");
        assert!(find("a").is_none());
        assert!(find("C").is_none());
        assert!(find("A B").is_none());
    }

    #[test]
    fn a_provider_that_cannot_be_asked_is_not_passed_over() {
        let resolver = Resolver::new([values(&[("A", "near")]), Arc::new(Broken)]);
        assert!(resolver.find("A").unwrap().is_some());
        let told = resolver.find("B").unwrap_err().to_string();
        assert_eq!(told, "broken cannot be asked: no connection");
    }
}
