//! What it costs to look for secrets in text that has none, beside a copy of it.

use std::error::Error;
use std::hint::black_box;

use easel_runtime::secrets::{MaskStream, Masker, Secret};

use crate::pairs::measure;
use crate::row;

/// How many secrets are looked for, in all their forms.
const SECRETS: usize = 100;

/// The length of the text, in bytes.
const LENGTH: usize = 1_000_000;

/// The length of a piece of the text where it comes in pieces, in bytes.
const PIECE: usize = 4_096;

/// Measures the text whole and in pieces.
pub fn rows() -> Result<(), Box<dyn Error>> {
    let secrets: Vec<Secret> = (0..SECRETS).map(secret).collect();
    let masker = Masker::new(&secrets)?;
    let text = text();
    let copy = || drop(black_box(black_box(&text).clone()));
    let whole = || {
        let masked = masker.mask(black_box(&text));
        assert_eq!(masked.len(), text.len());
    };
    let pair = measure(whole, copy);
    row(
        "1 MB of text without a hit, 100 secrets / a copy",
        "5 ms",
        pair,
        1,
    );
    let streamed = || {
        let mut stream = MaskStream::new(masker.clone());
        let (mut rest, mut length) = (black_box(text.as_str()), 0);
        while !rest.is_empty() {
            // The text is ASCII.
            let (piece, after) = rest.split_at(PIECE.min(rest.len()));
            length += stream.push(piece).len();
            rest = after;
        }
        assert_eq!(length + stream.finish().len(), text.len());
    };
    let pair = measure(streamed, copy);
    row(
        "the same as a stream of 4 KB pieces / a copy",
        "5 ms",
        pair,
        1,
    );
    Ok(())
}

/// A value as services hand them out, with characters that have other forms in JSON and URLs.
fn secret(number: usize) -> Secret {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_ ";
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number as u64 + 1);
    let length = 20 + number % 28;
    let value = (0..length).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(ALPHABET[state as usize % ALPHABET.len()])
    });
    Secret::new(value.collect::<String>())
}

/// Ordinary text: words, a bit of JSON, an address.
fn text() -> String {
    const WORDS: &str = "The quick brown fox jumps over the lazy dog. {\"key\": \"value\", \"n\": 12345} \
                         https://example.com/path?x=1&y=two ";
    WORDS.chars().cycle().take(LENGTH).collect()
}
