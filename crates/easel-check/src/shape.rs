//! Texts that look like keys.

use std::ops::Range;

/// What a key of some service looks like: a beginning that nothing else has, then many letters and digits.
struct Shape {
    what: &'static str,
    prefix: &'static str,
    /// Characters in all, at least.
    length: usize,
}

const SHAPES: &[Shape] = &[
    shape("an Anthropic key", "sk-ant-", 30),
    shape("an OpenRouter key", "sk-or-", 30),
    shape("an API key", "sk-", 20),
    shape("a Tavily key", "tvly-", 20),
    shape("a Google API key", "AIza", 35),
    shape("an AWS access key", "AKIA", 20),
    shape("an AWS access key", "ASIA", 20),
    shape("a GitHub token", "ghp_", 30),
    shape("a GitHub token", "gho_", 30),
    shape("a GitHub token", "ghs_", 30),
    shape("a GitHub token", "github_pat_", 30),
    shape("a GitLab token", "glpat-", 20),
    shape("a Slack token", "xoxb-", 20),
    shape("a Slack token", "xoxp-", 20),
    shape("a Hugging Face token", "hf_", 30),
    shape("a Groq key", "gsk_", 30),
    shape("an xAI key", "xai-", 30),
    shape("a Perplexity key", "pplx-", 30),
    shape("a Stripe key", "sk_live_", 20),
    shape("a Replicate token", "r8_", 30),
    shape("a SendGrid key", "SG.", 40),
];

const fn shape(what: &'static str, prefix: &'static str, length: usize) -> Shape {
    Shape {
        what,
        prefix,
        length,
    }
}

/// The first text in `text` that looks like a key: what it looks like, and where it stands. One pass over the text.
pub(crate) fn secret_in(text: &str) -> Option<(&'static str, Range<usize>)> {
    private_key(text)
        .or_else(|| words(text).find_map(|word| Some((key(text.get(word.clone())?)?, word))))
        .or_else(|| password_in_address(text))
}

/// What kind of key a word looks like.
fn key(word: &str) -> Option<&'static str> {
    if is_jwt(word) {
        return Some("a signed token (JWT)");
    }
    let shape = SHAPES.iter().find(|shape| word.starts_with(shape.prefix))?;
    let rest = word.get(shape.prefix.len()..)?;
    let random = word.len() >= shape.length && is_random(rest);
    random.then_some(shape.what)
}

/// Runs of letters, digits, `-`, `_` and `.`.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find(part)?;
        let rest = text.get(start..)?;
        let end = start + rest.find(|c| !part(c)).unwrap_or(rest.len());
        at = end;
        Some(start..end)
    })
}

/// Three parts of base64, the first two of them JSON objects.
fn is_jwt(word: &str) -> bool {
    /// `{"` in base64.
    const OBJECT: &str = "eyJ";
    let parts: Vec<&str> = word.split('.').take(4).collect();
    matches!(parts.as_slice(), [head, body, mark] if head.starts_with(OBJECT) && body.starts_with(OBJECT)
        && head.len() > 10 && body.len() > 10 && mark.len() > 10)
}

/// Digits and letters mixed, and not the same few again and again: no placeholder such as `sk-xxxxxxxx` or `sk-your-key-here`.
fn is_random(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let distinct: std::collections::HashSet<u8> = text.bytes().collect();
    digits > 0 && letters > 0 && distinct.len() >= 8
}

fn private_key(text: &str) -> Option<(&'static str, Range<usize>)> {
    let start = text.find("-----BEGIN ")?;
    let rest = text.get(start..)?;
    let head = rest.lines().next()?;
    head.contains("PRIVATE KEY")
        .then(|| ("a private key", start..start + head.len()))
}

/// A password in an address: `postgres://user:password@host`.
fn password_in_address(text: &str) -> Option<(&'static str, Range<usize>)> {
    text.match_indices("://").find_map(|(at, mark)| {
        let start = at + mark.len();
        let rest = text.get(start..)?;
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<'));
        let (account, _) = rest.get(..end.unwrap_or(rest.len()))?.rsplit_once('@')?;
        let (user, password) = account.split_once(':')?;
        // References, secrets and placeholders are no passwords.
        let written = !password.is_empty() && !password.contains(['{', '$', '<', '*']);
        let start = start + user.len() + 1;
        written.then(|| ("a password in an address", start..start + password.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_known_by_how_they_look() {
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N";
        for (text, what) in [
            (
                format!("use {}-abcdefghij0123456789 now", "sk"),
                "an API key",
            ),
            (
                format!("{}-dev-0123456789abcdefghij", "tvly"),
                "a Tavily key",
            ),
            (
                format!("\"{}IOSFODNN7EXAMPL3\"", "AKIA"),
                "an AWS access key",
            ),
            (format!("Bearer {jwt}"), "a signed token (JWT)"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE".to_owned(),
                "a private key",
            ),
            (
                "postgres://me:hunter22@db/x".to_owned(),
                "a password in an address",
            ),
        ] {
            assert_eq!(secret_in(&text).map(|(what, _)| what), Some(what), "{text}");
        }
    }

    #[test]
    fn placeholders_and_prose_are_no_keys() {
        for text in [
            "sk-your-key-goes-in-here-please",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxx1",
            "${TAVILY_API_KEY}",
            "task-0123456789abcdefghijkl",
            "http://user:${PASSWORD}@host/",
            "http://host:8080/a@b",
            "see https://example.org/a:b and write to me@example.org",
            "-----BEGIN CERTIFICATE-----",
            "eyJ.eyJ.x",
        ] {
            assert_eq!(secret_in(text), None, "{text}");
        }
    }

    #[test]
    fn the_place_is_that_of_the_key_alone() {
        let text = format!("é {}-abcdefghij0123456789.", "sk");
        let (_, range) = secret_in(&text).unwrap();
        assert!(text[range].starts_with("sk-abc"));
        let (_, range) = secret_in("x postgres://me:hunter22@db").unwrap();
        assert_eq!(&"x postgres://me:hunter22@db"[range], "hunter22");
    }

    proptest! {
        #[test]
        fn any_text_can_be_looked_at(text in "[-a1é:/@.{\n ]{0,40}|\\PC{0,40}") {
            if let Some((_, range)) = secret_in(&text) {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
