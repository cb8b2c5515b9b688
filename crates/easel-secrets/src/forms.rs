//! The forms in which a value travels.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::mask::SHORTEST;

/// The forms in which a value may occur in a text: as it is, JSON-escaped, URL-encoded, base64. Those who send a value
/// often leave out the white space around it, so the forms without it count too.
pub(crate) fn forms(value: &str) -> Vec<String> {
    let mut forms = Vec::new();
    let trimmed = value.trim();
    let bare = Some(trimmed).filter(|bare| *bare != value && bare.chars().count() >= SHORTEST);
    for value in [Some(value), bare].into_iter().flatten() {
        forms.push(value.to_owned());
        forms.extend(json_escaped(value));
        forms.extend(url_encoded(value));
        forms.extend(base64_cores(value));
    }
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
const ENCODED: [&AsciiSet; 4] = [
    // All but letters and digits.
    NON_ALPHANUMERIC,
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
