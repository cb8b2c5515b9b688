//! Documents to passages: the formats whose readers are Easel's own, and what is not packed in an archive.
#![no_main]

use easel_knowledge::{Chunking, Limits, chunks, read, tokens};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 6] = ["a.md", "a.html", "a.csv", "a.json", "a.txt", "a.eml"];

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    // A panic ends a fuzz target, and the libraries behind archives are known to panic; there they are caught.
    if bytes.starts_with(b"PK") {
        return;
    }
    let name = NAMES[usize::from(*choice) % NAMES.len()];
    let Ok((_, text)) = read(name, bytes, &Limits::default()) else {
        return;
    };
    let chunking = Chunking {
        tokens: 32 + usize::from(*choice),
        overlap_percent: usize::from(*choice) % 51,
    };
    let chunks = chunks(&text, chunking);
    for chunk in &chunks {
        assert!(tokens::count(&chunk.text) <= chunking.tokens, "a passage is above the limit");
    }
    let mut covered = 0;
    for chunk in &chunks {
        assert!(text.markdown[covered.min(chunk.place.start)..chunk.place.start].trim().is_empty(), "text is lost");
        covered = chunk.place.end;
    }
    assert!(text.markdown[covered..].trim().is_empty(), "the end is lost");
});
