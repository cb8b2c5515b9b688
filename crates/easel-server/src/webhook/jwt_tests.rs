use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use easel_runtime::secrets::{Resolver, Secret};
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value as Json, json};

use super::*;

const KEY: &str = "a-shared-secret-of-enough-bytes-for-hmac";

fn keyring() -> Keyring {
    let secrets = HashMap::from([("JWT_KEY".to_owned(), Secret::new(KEY))]);
    Keyring::new("begin", &Resolver::from(secrets))
}

fn read(jwt: Json) -> Result<Jwt, Refusal> {
    let jwt = Value::from(jwt);
    let secret = Credential::read("begin.security.jwt.secret", jwt.get("secret"));
    Jwt::read(secret, Some(&jwt))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs()
}

fn signed(algorithm: Algorithm, claims: &Json) -> String {
    let key = EncodingKey::from_secret(KEY.as_bytes());
    encode(&Header::new(algorithm), claims, &key.unwrap()).unwrap()
}

fn verify(jwt: Json, claims: Json) -> Result<(), String> {
    let token = signed(Algorithm::HS256, &claims);
    let jwt = read(jwt).unwrap();
    let verified = jwt.verify(&format!("Bearer {token}"), &keyring());
    verified.map_err(|refusal| refusal.to_string())
}

#[test]
fn a_signed_token_lets_in() {
    assert_eq!(
        verify(json!({"secret": "${JWT_KEY}"}), json!({"sub": "a"})),
        Ok(())
    );
    let fresh = json!({"exp": now() + 60, "nbf": now() - 60});
    assert_eq!(verify(json!({"secret": KEY}), fresh), Ok(()));
    for algorithm in [Algorithm::HS384, Algorithm::HS512] {
        let name = format!("{algorithm:?}");
        let jwt = read(json!({"secret": KEY, "algorithm": name})).unwrap();
        let token = format!("bearer {}", signed(algorithm, &json!({})));
        assert_eq!(jwt.verify(&token, &keyring()), Ok(()));
    }
}

#[test]
fn a_token_that_does_not_hold_stays_outside() {
    let told = |claims: Json| verify(json!({"secret": KEY}), claims).unwrap_err();
    assert_eq!(
        told(json!({"exp": now() - 1})),
        "Invalid JWT: ExpiredSignature"
    );
    assert_eq!(
        told(json!({"nbf": now() + 60})),
        "Invalid JWT: ImmatureSignature"
    );
    assert!(told(json!({"exp": "never"})).starts_with("Invalid JWT: "));
    let other = verify(
        json!({"secret": "another-secret-that-is-long-enough"}),
        json!({}),
    );
    assert_eq!(other, Err("Invalid JWT: InvalidSignature".into()));
    let jwt = read(json!({"secret": KEY})).unwrap();
    let told = |authorization: &str| {
        jwt.verify(authorization, &keyring())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(told(""), "Missing Bearer token");
    assert_eq!(told("Basic abc"), "Missing Bearer token");
    assert_eq!(told("Bearer "), "Empty Bearer token");
    assert_eq!(told("Bearer"), "Empty Bearer token");
    assert!(told("Bearer abc").starts_with("Invalid JWT: "));
    let token = signed(Algorithm::HS256, &json!({}));
    assert!(told(&format!("Bearer {token}x")).starts_with("Invalid JWT: "));
}

#[test]
fn the_token_does_not_choose_its_algorithm() {
    let encoded = |json: Json| URL_SAFE_NO_PAD.encode(json.to_string());
    let jwt = read(json!({"secret": KEY})).unwrap();
    for algorithm in ["none", "None", "nOnE", ""] {
        let header = encoded(json!({"alg": algorithm, "typ": "JWT"}));
        for signature in ["", "x"] {
            let token = format!("Bearer {header}.{}.{signature}", encoded(json!({})));
            let told = jwt.verify(&token, &keyring()).unwrap_err().to_string();
            assert!(told.starts_with("Invalid JWT: "), "{told}");
        }
    }
    let stronger = format!("Bearer {}", signed(Algorithm::HS512, &json!({})));
    assert!(jwt.verify(&stronger, &keyring()).is_err());
    for algorithm in ["none", "HS1", "RS256 "] {
        let read = read(json!({"secret": KEY, "algorithm": algorithm}));
        assert_eq!(read.is_err(), algorithm.trim() != "RS256");
    }
}

#[test]
fn audience_and_issuer_count_only_if_asked_for() {
    let claims = json!({"aud": ["a", "b"], "iss": "me"});
    assert_eq!(verify(json!({"secret": KEY}), claims.clone()), Ok(()));
    let both = json!({"secret": KEY, "audience": "b", "issuer": "me"});
    assert_eq!(verify(both.clone(), claims), Ok(()));
    for wrong in [
        json!({"aud": "c", "iss": "me"}),
        json!({"aud": "b", "iss": "you"}),
        json!({"iss": "me"}),
        json!({"aud": "b"}),
    ] {
        let told = verify(both.clone(), wrong).unwrap_err();
        assert!(told.starts_with("Invalid JWT: "), "{told}");
    }
}

#[test]
fn further_claims_can_be_required() {
    let jwt = json!({"secret": KEY, "required_claims": ["team", "role"]});
    assert_eq!(
        verify(jwt.clone(), json!({"team": 1, "role": null})),
        Ok(())
    );
    assert_eq!(
        verify(jwt, json!({"team": 1})),
        Err("Missing JWT claim: role".into())
    );
    let one = json!({"secret": KEY, "required_claims": "team"});
    assert_eq!(
        verify(one, json!({})),
        Err("Missing JWT claim: team".into())
    );
    for claim in RESERVED {
        let told = read(json!({"secret": KEY, "required_claims": claim})).unwrap_err();
        assert_eq!(
            told.to_string(),
            format!("Reserved JWT claim cannot be required: {claim}")
        );
    }
    for unset in [json!({}), json!({"secret": ""}), json!({"secret": null})] {
        assert_eq!(
            read(unset).unwrap_err().to_string(),
            "JWT secret not configured"
        );
    }
}

/// A key pair for ES256, made for this test.
const EC_PRIVATE: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgK5jSLTI1wpfIWaBR
Uvf4abnr4AHJlYyqacGpelox6FChRANCAATCnuVnXgklxXv5Y7AKEYFJEBvdLPsd
Pr0+D6YJkOZqA5C5ytpnULgo5a6c0H+AKD1bkw3DSHFvtlIzWhNj184e
-----END PRIVATE KEY-----";
const EC_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEwp7lZ14JJcV7+WOwChGBSRAb3Sz7
HT69Pg+mCZDmagOQucraZ1C4KOWunNB/gCg9W5MNw0hxb7ZSM1oTY9fOHg==
-----END PUBLIC KEY-----";

#[test]
fn a_public_key_verifies_what_its_private_key_signed() {
    let key = EncodingKey::from_ec_pem(EC_PRIVATE.as_bytes()).unwrap();
    let token = encode(&Header::new(Algorithm::ES256), &json!({"team": 1}), &key).unwrap();
    let jwt = read(json!({"secret": EC_PUBLIC, "algorithm": "ES256"})).unwrap();
    assert_eq!(jwt.verify(&format!("Bearer {token}"), &keyring()), Ok(()));
    // The public key as a shared secret, which is how tokens are forged.
    let shared = EncodingKey::from_secret(EC_PUBLIC.as_bytes()).unwrap();
    let forged = encode(&Header::new(Algorithm::HS256), &json!({"team": 1}), &shared).unwrap();
    assert!(jwt.verify(&format!("Bearer {forged}"), &keyring()).is_err());
    let confused = read(json!({"secret": EC_PUBLIC, "algorithm": "HS256"})).unwrap();
    let told = confused
        .verify(&format!("Bearer {forged}"), &keyring())
        .unwrap_err();
    assert!(
        told.to_string()
            .starts_with("JWT secret does not fit its algorithm")
    );
    let no_key = read(json!({"secret": KEY, "algorithm": "RS256"})).unwrap();
    let told = no_key
        .verify(&format!("Bearer {token}"), &keyring())
        .unwrap_err();
    assert!(
        told.to_string()
            .starts_with("JWT secret does not fit its algorithm")
    );
}
