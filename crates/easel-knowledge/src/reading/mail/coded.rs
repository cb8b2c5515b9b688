//! How mails carry what is not ASCII: base64, quoted-printable, and words of the head in either.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::decoded;

/// Base64 as mails have it: with or without its end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Bytes of base64. What is in no alphabet is passed over, and a last sign that says nothing alone.
pub(super) fn base64(coded: &[u8]) -> Vec<u8> {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut signs: Vec<u8> = coded.iter().copied().filter(is_sign).collect();
    if signs.len() % 4 == 1 {
        signs.pop();
    }
    LENIENT.decode(signs).unwrap_or_default()
}

/// Bytes of quoted-printable; in the words of a head `_` is a blank.
pub(super) fn quoted(coded: &[u8], word: bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(coded.len());
    let mut rest = coded;
    while let [first, after @ ..] = rest {
        let hex = |at: usize| after.get(at).and_then(|byte| (*byte as char).to_digit(16));
        rest = match (first, after, hex(0), hex(1)) {
            (b'=', _, Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                &after[2..]
            }
            // The line goes on.
            (b'=', [b'\r', b'\n', more @ ..] | [b'\n', more @ ..], ..) => more,
            (b'_', ..) if word => {
                bytes.push(b' ');
                after
            }
            _ => {
                bytes.push(*first);
                after
            }
        };
    }
    bytes
}

/// A line of a head with its coded words (`=?utf-8?Q?caf=C3=A9?=`) as they are read. Blanks between two of them are none.
pub(super) fn words(line: &str) -> String {
    let (mut text, mut rest, mut after_word) = (String::new(), line, false);
    while let Some(at) = rest.find("=?") {
        let (before, coded) = rest.split_at(at);
        let Some((word, behind)) = word(coded) else {
            text.push_str(before);
            text.push_str("=?");
            rest = &coded[2..];
            after_word = false;
            continue;
        };
        if !(after_word && before.trim().is_empty()) {
            text.push_str(before);
        }
        text.push_str(&word);
        rest = behind;
        after_word = true;
    }
    text + rest
}

/// The coded word with which a text begins, and what follows.
fn word(text: &str) -> Option<(String, &str)> {
    let mut parts = text.strip_prefix("=?")?.splitn(3, '?');
    let (charset, way, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (coded, behind) = rest.split_once("?=")?;
    let bytes = match way {
        "B" | "b" => base64(coded.as_bytes()),
        "Q" | "q" => quoted(coded.as_bytes(), true),
        _ => return None,
    };
    Some((decoded(&bytes, Some(charset)), behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn anything_can_be_decoded(line in any::<String>(), bytes in any::<Vec<u8>>()) {
            let _ = (words(&line), base64(&bytes), quoted(&bytes, true));
            prop_assert_eq!(words("plain"), "plain");
        }
    }

    #[test]
    fn words_of_a_head_are_read_in_either_code() {
        assert_eq!(
            words("=?utf-8?Q?caf=C3=A9_noir?= =?iso-8859-1?B?6XTp?= & more =? end"),
            "café noirété & more =? end"
        );
        assert_eq!(words("=?utf-8?X?a?="), "=?utf-8?X?a?=");
    }

    #[test]
    fn a_line_that_goes_on_is_one_line() {
        assert_eq!(quoted(b"one=\r\ntwo =3D=3 _", false), b"onetwo ==3 _");
        assert_eq!(base64(b"SGV s\r\nbG8="), b"Hello");
        assert_eq!(base64(b"SGVsbG8hI"), b"Hello!");
    }
}
