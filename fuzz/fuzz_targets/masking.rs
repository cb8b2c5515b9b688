//! A text in pieces is masked as the whole is, and no value comes through.
#![no_main]

use easel_runtime::secrets::{MASK, MaskStream, Masker, Secret};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<String>, Vec<String>)| {
    let (values, pieces) = input;
    let secrets: Vec<Secret> = values.iter().map(|value| Secret::new(value.as_str())).collect();
    let Ok(masker) = Masker::new(&secrets) else {
        return;
    };
    let whole = pieces.concat();
    let masked = masker.mask(&whole);
    let mut stream = MaskStream::new(masker.clone());
    let mut streamed = String::new();
    for piece in &pieces {
        streamed += &stream.push(piece);
    }
    streamed += &stream.finish();
    assert_eq!(streamed, masked, "{values:?} in {pieces:?}");
    for (value, secret) in values.iter().zip(&secrets) {
        let beside_a_mask = MASK.contains(value.as_str()) || value.contains('•');
        assert!(
            !secret.is_masked() || beside_a_mask || !masked.contains(value.as_str()),
            "{value:?} in {masked:?}"
        );
    }
});
