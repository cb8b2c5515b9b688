//! The credentials of a webhook: named in the canvas, opened to be compared with what a caller brings.

use std::sync::Arc;

use easel_runtime::Value;
use easel_runtime::core::argument::Argument;
use easel_runtime::secrets::{Door, Gate, Opened, Resolver, Sink, SinkKind, Unset, parts};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::Refusal;

/// A credential as the canvas has it: the names of secrets, or what stands there.
#[derive(Clone)]
pub struct Credential {
    place: Arc<str>,
    argument: Argument,
}

impl Credential {
    /// What a member of Begin's parameters says. What is no text is the JSON of it.
    pub fn read(place: impl Into<Arc<str>>, value: Option<&Value>) -> Credential {
        let argument = match value {
            Some(Value::String(text)) => Argument::text(parts(text)),
            Some(Value::Null) | None => Argument::from(Value::Null),
            Some(other) => Argument::from(Value::from(other.to_json_text())),
        };
        Credential {
            place: place.into(),
            argument,
        }
    }

    /// Whether nothing stands there.
    pub fn is_blank(&self) -> bool {
        match &self.argument {
            Argument::Value(value) => value.as_str().unwrap_or_default().trim().is_empty(),
            _ => false,
        }
    }
}

impl std::fmt::Debug for Credential {
    /// Hides what stands there.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Credential").field(&self.place).finish()
    }
}

/// Opens credentials for the check of one request.
pub struct Keyring {
    gate: Gate,
    node: Arc<str>,
}

impl Keyring {
    /// For a request to the webhook of that Begin, with the secrets of the engine.
    pub fn new(node: &str, secrets: &Resolver) -> Keyring {
        Keyring {
            gate: Gate::new("webhook", secrets.clone()),
            node: node.into(),
        }
    }

    fn door(&self) -> Door<'_> {
        let sink = Sink::new(SinkKind::Component, "Begin", self.node.clone());
        self.gate.door(sink)
    }

    /// What a credential is; `None` if it is blank.
    ///
    /// # Errors
    /// It names a secret that is not set, or that cannot be had.
    pub fn open(&self, credential: &Credential) -> Result<Option<Opened>, Refusal> {
        let opened = self.door().open(&credential.argument, Unset::Refused);
        let opened = opened.map_err(|error| {
            // Who calls must not learn the names of secrets.
            let told = "Webhook security cannot be checked: a credential of it is not set. The server's log says which.";
            Refusal::because(told, format!("{}: {error}", credential.place))
        })?;
        let opened = opened.into_text();
        Ok(Some(opened).filter(|opened| !opened.expose().trim().is_empty()))
    }

    /// Whether a caller brought that credential. A blank one nobody can bring.
    ///
    /// # Errors
    /// As [`Keyring::open`].
    pub fn fits(&self, credential: &Credential, brought: &[u8]) -> Result<bool, Refusal> {
        Ok(match self.open(credential)? {
            Some(opened) => same(opened.expose().as_bytes(), brought),
            None => false,
        })
    }
}

/// Compares in a time that says nothing of either, not even of their lengths.
fn same(a: &[u8], b: &[u8]) -> bool {
    let (a, b) = (Sha256::digest(a), Sha256::digest(b));
    a.as_slice().ct_eq(b.as_slice()).into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use easel_runtime::secrets::Secret;

    use super::*;

    fn keyring() -> Keyring {
        let secrets = HashMap::from([("HOOK".to_owned(), Secret::new("s3cr3t-value"))]);
        Keyring::new("begin", &Resolver::from(secrets))
    }

    fn credential(text: &str) -> Credential {
        Credential::read("begin.security.token", Some(&Value::from(text)))
    }

    #[test]
    fn a_credential_is_a_secret_by_name_or_what_stands_there() {
        let fits = |text: &str, brought: &str| {
            keyring()
                .fits(&credential(text), brought.as_bytes())
                .unwrap()
        };
        assert!(fits("${HOOK}", "s3cr3t-value"));
        assert!(fits("Bearer ${HOOK}", "Bearer s3cr3t-value"));
        assert!(!fits("${HOOK}", "${HOOK}"));
        assert!(fits("plain", "plain"));
        assert!(!fits("plain", "plaim"));
        assert!(!fits("plain", "plai"));
        let number = Credential::read("p", Some(&Value::from(12_i64)));
        assert!(keyring().fits(&number, b"12").unwrap());
    }

    #[test]
    fn a_blank_credential_fits_nobody() {
        for blank in ["", "  "] {
            assert!(credential(blank).is_blank());
            assert!(!keyring().fits(&credential(blank), b"").unwrap());
            assert!(
                !keyring()
                    .fits(&credential(blank), blank.as_bytes())
                    .unwrap()
            );
        }
        let absent = Credential::read("p", None);
        assert!(!keyring().fits(&absent, b"").unwrap());
    }

    #[test]
    fn the_name_of_a_secret_that_is_not_set_is_for_the_log_alone() {
        let refused = keyring()
            .fits(&credential("${NOT_THERE}"), b"x")
            .unwrap_err();
        assert!(!refused.to_string().contains("NOT_THERE"));
        assert!(
            refused
                .cause()
                .unwrap()
                .contains("begin.security.token: the secret NOT_THERE is not set")
        );
        assert!(!format!("{:?}", credential("s3cr3t-value")).contains("s3cr3t"));
    }
}
