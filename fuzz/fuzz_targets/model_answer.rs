//! The body of a provider's HTTP answer, in pieces of any size: server-sent events, lines of JSON, or one object.
#![no_main]

use easel_runtime::models::config::ProviderKind;
use easel_runtime::models::fuzzing;
use libfuzzer_sys::fuzz_target;

const KINDS: [ProviderKind; 4] = [
    ProviderKind::OpenAi,
    ProviderKind::Anthropic,
    ProviderKind::Gemini,
    ProviderKind::Ollama,
];

fuzz_target!(|body: &[u8]| {
    for kind in KINDS {
        for whole in [false, true] {
            let at_once = fuzzing::read_answer(kind, whole, &[body]);
            for pieces in [bytes(body), cut(body)] {
                let in_pieces = fuzzing::read_answer(kind, whole, &pieces);
                assert_eq!(in_pieces, at_once, "borders change what is read");
            }
        }
    }
});

/// A piece for each byte.
fn bytes(body: &[u8]) -> Vec<&[u8]> {
    body.chunks(1).collect()
}

/// Pieces whose lengths depend on what is in them.
fn cut(mut body: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while let Some(first) = body.first() {
        let (piece, rest) = body.split_at((usize::from(*first) % 23 + 1).min(body.len()));
        pieces.push(piece);
        body = rest;
    }
    pieces
}
