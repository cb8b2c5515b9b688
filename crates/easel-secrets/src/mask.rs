//! Taking secret values out of text.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Secret;

/// What stands in place of a secret's value.
pub const MASK: &str = "••••••";

/// The shortest value that is masked, in characters: a shorter one occurs in ordinary text (design §5.4).
const SHORTEST: usize = 6;

/// Replaces secret values by [`MASK`] wherever they occur in a text.
///
/// Besides the raw value it knows the forms in which values travel: JSON-escaped, URL-encoded, and base64 at any
/// alignment in either alphabet. Where values overlap, all that any of them covers goes; nothing of the longer one
/// remains beside the shorter.
///
/// ```
/// use easel_secrets::{Masker, Secret};
///
/// let masker = Masker::new(&[Secret::new("s3cr3t value")])?;
/// assert_eq!(masker.mask("GET /?key=s3cr3t%20value&page=1"), "GET /?key=••••••&page=1");
/// # Ok::<(), easel_secrets::TooManySecrets>(())
/// ```
#[derive(Clone, Default)]
pub struct Masker {
    /// `None` where there is nothing to mask.
    forms: Option<AhoCorasick>,
}

/// The values are too many or too long to be searched for; nothing may leave unsearched, so this is an error.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the secrets are too many or too long to be masked: {0}; remove some")]
pub struct TooManySecrets(#[from] aho_corasick::BuildError);

impl Masker {
    /// A masker of these values. Those under six characters are left alone.
    ///
    /// Errors: [`TooManySecrets`] beyond some gigabytes of values.
    pub fn new<'a>(
        secrets: impl IntoIterator<Item = &'a Secret>,
    ) -> Result<Masker, TooManySecrets> {
        let long = secrets
            .into_iter()
            .map(Secret::expose)
            .filter(|value| value.chars().count() >= SHORTEST);
        let forms: BTreeSet<String> = long.flat_map(forms).collect();
        Ok(Masker {
            forms: match forms.is_empty() {
                true => None,
                false => Some(AhoCorasick::new(forms)?),
            },
        })
    }

    /// The text without the values; borrowed if none is in it.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(forms) = &self.forms else {
            return Cow::Borrowed(text);
        };
        let mut masked = String::new();
        let mut written = 0;
        for (start, end) in merged(
            forms
                .find_overlapping_iter(text)
                .map(|found| (found.start(), found.end())),
        ) {
            masked.push_str(&text[written..start]);
            masked.push_str(MASK);
            written = end;
        }
        match written {
            0 => Cow::Borrowed(text),
            _ => Cow::Owned(masked + &text[written..]),
        }
    }
}

impl fmt::Debug for Masker {
    /// Hides the values: the automaton would spell them out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masker").finish_non_exhaustive()
    }
}

/// Ranges that overlap, as one each, in order.
fn merged(ranges: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, usize)> {
    let mut sorted: Vec<_> = ranges.collect();
    sorted.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in sorted {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// The forms in which a value may occur in a text.
fn forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned()];
    forms.extend(json_escaped(value));
    forms.extend(url_encoded(value));
    forms.extend(base64_cores(value));
    forms
}

/// As a JSON text holds it: plain, with other than ASCII as `\u`, and each with `/` escaped.
fn json_escaped(value: &str) -> Vec<String> {
    // A string always serialises; an empty form would match everywhere, so a failure gives none.
    let Ok(quoted) = serde_json::to_string(value) else {
        return Vec::new();
    };
    let Some(plain) = quoted.get(1..quoted.len() - 1) else {
        return Vec::new();
    };
    let mut ascii = String::new();
    for c in plain.chars() {
        match c.is_ascii() {
            true => ascii.push(c),
            false => ascii.extend(
                c.encode_utf16(&mut [0; 2])
                    .iter()
                    .map(|unit| format!("\\u{unit:04x}")),
            ),
        }
    }
    [plain.to_owned(), ascii]
        .into_iter()
        .flat_map(|form| [form.replace('/', "\\/"), form])
        .collect()
}

/// What the usual encoders leave as it is, from the strictest to the most lenient.
const ENCODED: [&AsciiSet; 3] = [
    // RFC 3986: only the unreserved.
    &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'~'),
    // JavaScript's encodeURIComponent.
    &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'~')
        .remove(b'!')
        .remove(b'*')
        .remove(b'\'')
        .remove(b'(')
        .remove(b')'),
    // A query as a browser writes it.
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>'),
];

/// As a URL or a form holds it: percent-encoded to several degrees, hex digits in either case, a space also as `+`.
fn url_encoded(value: &str) -> Vec<String> {
    // What a form's encoder leaves: it writes `~` in hex, unlike the others.
    const FORM: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'*')
        .remove(b'-')
        .remove(b'.')
        .remove(b'_');
    let percent = |set| utf8_percent_encode(value, set).to_string();
    let form = percent(FORM).replace("%20", "+");
    let encoded = ENCODED.into_iter().map(percent).chain([form]);
    encoded.flat_map(|form| [lower_hex(&form), form]).collect()
}

/// The same percent-encoded text with lower-case hex digits.
fn lower_hex(encoded: &str) -> String {
    let mut pieces = encoded.split('%');
    let mut lower = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        // Two ASCII digits follow each sign that the encoder wrote; a literal `%` is written `%25`, save in the
        // lenient set, where what follows it may be anything.
        let (digits, rest) = piece.split_at_checked(2).unwrap_or((piece, ""));
        lower.push('%');
        lower.push_str(&digits.to_ascii_lowercase());
        lower.push_str(rest);
    }
    lower
}

/// The characters of base64 text that the value alone decides, whatever stands before and after it: one text for
/// each of the three positions in which it may lie, in both alphabets.
fn base64_cores(value: &str) -> Vec<String> {
    let mut cores = Vec::new();
    for offset in 0..3 {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(value.as_bytes());
        // A character holds six bits; those that also hold bits of a neighbour are left out.
        let first = (offset * 8).div_ceil(6);
        let end = bytes.len() * 8 / 6;
        for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            cores.extend(alphabet.encode(&bytes).get(first..end).map(str::to_owned));
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;

    fn masker(values: &[&str]) -> Masker {
        let secrets: Vec<Secret> = values.iter().copied().map(Secret::new).collect();
        Masker::new(&secrets).unwrap()
    }

    #[test]
    fn a_value_is_masked_wherever_it_occurs() {
        let masker = masker(&["s3cr3t-value"]);
        assert_eq!(
            masker.mask("x s3cr3t-value, s3cr3t-value."),
            "x ••••••, ••••••."
        );
        assert!(matches!(masker.mask("nothing here"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_short_value_is_left_alone() {
        assert_eq!(masker(&["abc", "12345"]).mask("abc 12345"), "abc 12345");
        assert_eq!(masker(&["123456"]).mask("123456"), MASK);
        assert_eq!(masker(&["éééééé"]).mask("éééééé"), MASK);
    }

    #[test]
    fn of_two_values_the_longer_goes_whole() {
        let masker = masker(&["s3cr3t-value", "s3cr3t-value-longer"]);
        assert_eq!(masker.mask("s3cr3t-value-longer"), MASK);
        assert_eq!(masker.mask("s3cr3t-value-long"), "••••••-long");
    }

    #[test]
    fn nothing_remains_of_values_that_overlap() {
        assert_eq!(
            masker(&["abcdefgh", "fghijklmno"]).mask("-abcdefghijklmno-"),
            "-••••••-"
        );
    }

    #[test]
    fn a_value_is_found_inside_json() {
        let masker = masker(&["pa\"ss\nwörd/x"]);
        assert_eq!(
            masker.mask(r#"{"a": "pa\"ss\nwörd/x"}"#),
            r#"{"a": "••••••"}"#
        );
        assert_eq!(
            masker.mask(r#"{"a": "pa\"ss\nw\u00f6rd\/x"}"#),
            r#"{"a": "••••••"}"#
        );
    }

    #[test]
    fn a_value_is_found_inside_a_url() {
        let masker = masker(&["a b/c+d~e%(é)"]);
        for written in [
            "a%20b%2Fc%2Bd~e%25%28%C3%A9%29",
            "a%20b%2fc%2bd~e%25%28%c3%a9%29",
            "a%20b%2Fc%2Bd~e%25(%C3%A9)",
            "a+b%2Fc%2Bd%7Ee%25%28%C3%A9%29",
        ] {
            assert_eq!(
                masker.mask(&format!("?q={written}&r")),
                "?q=••••••&r",
                "{written}"
            );
        }
    }

    #[test]
    fn a_basic_authorization_header_is_masked() {
        let header = format!("Basic {}", STANDARD.encode("ada:correct horse"));
        let masked = masker(&["correct horse"]).mask(&header).into_owned();
        assert!(masked.contains(MASK), "{masked}");
        assert!(!masked.contains("Y29ycmVj"), "{masked}");
    }

    #[test]
    fn debug_shows_no_value() {
        assert_eq!(format!("{:?}", masker(&["s3cr3t-value"])), "Masker { .. }");
    }

    proptest! {
        #[test]
        fn no_form_of_a_value_gets_through(
            value in "[ -~]{8,24}|\\PC{8,16}",
            before in "[a-z]{0,5}",
            after in "[a-z]{0,5}",
        ) {
            let masker = masker(&[&value]);
            let whole = format!("{before}{value}{after}");
            for text in [
                whole.clone(),
                serde_json::to_string(&whole).unwrap(),
                STANDARD.encode(&whole),
                URL_SAFE.encode(&whole),
                utf8_percent_encode(&whole, NON_ALPHANUMERIC).to_string().replace("%2D", "-").replace("%5F", "_").replace("%2E", ".").replace("%7E", "~"),
            ] {
                prop_assert!(masker.mask(&text).contains(MASK), "{} in {}", value, text);
            }
        }

        #[test]
        fn a_text_without_the_value_stays_as_it_is(text in "[a-m ]{0,40}") {
            let masker = masker(&["nopqrstuvw"]);
            prop_assert_eq!(masker.mask(&text), text.clone());
        }

        #[test]
        fn whatever_the_text_masking_does_not_panic(value in "\\PC{6,8}", text in "\\PC{0,40}") {
            let _ = masker(&[&value]).mask(&format!("{text}{value}{text}"));
        }
    }
}
