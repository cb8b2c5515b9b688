//! Signed tokens: the algorithm is the canvas's to say, never the token's.

use std::collections::HashSet;
use std::sync::Arc;

use easel_runtime::{Object, Value};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, Validation};

use super::{Credential, Keyring, Refusal};

/// Claims that have a meaning of their own, so that none of them can be asked for as a further one.
const RESERVED: [&str; 6] = ["exp", "sub", "aud", "iss", "nbf", "iat"];

/// What a token must be.
#[derive(Clone, Debug)]
pub struct Jwt {
    secret: Credential,
    algorithm: Algorithm,
    audience: Option<Arc<str>>,
    issuer: Option<Arc<str>>,
    required: Vec<Arc<str>>,
}

impl Jwt {
    /// What Begin's `security.jwt` says.
    ///
    /// # Errors
    /// It has a fault.
    pub fn read(secret: Credential, jwt: Option<&Value>) -> Result<Jwt, Refusal> {
        let text = |name: &str| {
            let text = jwt.and_then(|jwt| jwt.get(name))?.as_str()?.trim();
            (!text.is_empty()).then(|| Arc::from(text))
        };
        if secret.is_blank() {
            return Err(Refusal::new("JWT secret not configured"));
        }
        let algorithm: Arc<str> = text("algorithm").unwrap_or_else(|| "HS256".into());
        let algorithm = algorithm.parse().map_err(|_| {
            Refusal::new(format!(
                "Unsupported JWT algorithm: {algorithm}. Use HS256, HS384 or HS512, or RS, PS, ES256, ES384 or EdDSA with a public key in PEM form"
            ))
        })?;
        let required = match jwt.and_then(|jwt| jwt.get("required_claims")) {
            Some(Value::Array(claims)) => {
                let claims = claims.iter().filter_map(Value::as_str);
                claims.map(Arc::from).collect()
            }
            Some(Value::String(claim)) => vec![claim.clone()],
            _ => Vec::new(),
        };
        let required: Vec<Arc<str>> = required.into_iter().filter(|c| !c.is_empty()).collect();
        if let Some(claim) = required.iter().find(|claim| RESERVED.contains(&&***claim)) {
            return Err(Refusal::new(format!(
                "Reserved JWT claim cannot be required: {claim}"
            )));
        }
        Ok(Jwt {
            secret,
            algorithm,
            audience: text("audience"),
            issuer: text("issuer"),
            required,
        })
    }

    /// Verifies what the header `Authorization` has.
    ///
    /// # Errors
    /// Why it does not hold.
    pub fn verify(&self, authorization: &str, keyring: &Keyring) -> Result<(), Refusal> {
        let secret = keyring.open(&self.secret)?;
        let secret = secret.ok_or_else(|| Refusal::new("JWT secret not configured"))?;
        let token = match authorization.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
            None if authorization.eq_ignore_ascii_case("bearer") => "",
            _ => return Err(Refusal::new("Missing Bearer token")),
        };
        if token.is_empty() {
            return Err(Refusal::new("Empty Bearer token"));
        }
        let key = self.key(secret.expose().as_bytes())?;
        let decoded = jsonwebtoken::decode::<Object>(token, &key, &self.validation());
        let claims = decoded.map_err(|error| Refusal::new(format!("Invalid JWT: {error}")))?;
        match self
            .required
            .iter()
            .find(|c| !claims.claims.contains_key(*c))
        {
            Some(claim) => Err(Refusal::new(format!("Missing JWT claim: {claim}"))),
            None => Ok(()),
        }
    }

    fn key(&self, secret: &[u8]) -> Result<DecodingKey, Refusal> {
        let is_pem = secret.trim_ascii_start().starts_with(b"-----BEGIN");
        let key = match self.algorithm.family() {
            // A public key as a shared secret would let everybody sign who has read it.
            AlgorithmFamily::Hmac if is_pem => {
                return Err(Refusal::new(
                    "JWT secret does not fit its algorithm: HS256, HS384 and HS512 need a shared secret, not a key in PEM form",
                ));
            }
            AlgorithmFamily::Hmac => DecodingKey::from_secret(secret),
            AlgorithmFamily::Rsa => DecodingKey::from_rsa_pem(secret),
            AlgorithmFamily::Ec => DecodingKey::from_ec_pem(secret),
            AlgorithmFamily::Ed => DecodingKey::from_ed_pem(secret),
        };
        key.map_err(|_| {
            Refusal::new(
                "JWT secret does not fit its algorithm: RS, PS, ES and EdDSA need a public key in PEM form",
            )
        })
    }

    /// An audience or an issuer counts only if one is asked for; times count if the token has them.
    fn validation(&self) -> Validation {
        let mut validation = Validation::new(self.algorithm);
        let mut required = HashSet::new();
        validation.leeway = 0;
        validation.validate_nbf = true;
        validation.validate_aud = self.audience.is_some();
        if let Some(audience) = &self.audience {
            validation.set_audience(&[audience]);
            required.insert("aud".to_owned());
        }
        if let Some(issuer) = &self.issuer {
            validation.set_issuer(&[issuer]);
            required.insert("iss".to_owned());
        }
        validation.required_spec_claims = required;
        validation
    }
}

#[cfg(test)]
#[path = "jwt_tests.rs"]
mod tests;
