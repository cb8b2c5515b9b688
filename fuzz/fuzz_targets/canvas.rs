//! A canvas from anywhere: read, brought to today's form, loaded, checked, exported.
#![no_main]

use std::sync::{Arc, LazyLock};

use easel_canvas::document::Document;
use easel_canvas::normalise::normalise;
use easel_runtime::Engine;
use easel_runtime::check::{self, Diagnostic, Report, Severity, sarif};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::json;

static ENGINE: LazyLock<Arc<Engine>> =
    LazyLock::new(|| easel_fuzz::scripted(json!({})).expect("an empty script is one"));

fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    match seed % 8 {
        0 => fuzzer_mutate(data, size, most),
        _ => easel_fuzz::tree::mutate(data, size, most, seed)
            .unwrap_or_else(|| fuzzer_mutate(data, size, most)),
    }
});

fuzz_target!(|bytes: &[u8]| {
    let document = match Document::read(bytes) {
        Ok(document) => document,
        Err(error) => {
            let at = error.position().unwrap_or_default();
            assert!(
                at.offset + at.len <= bytes.len(),
                "{error} stands outside of the file"
            );
            assert!(ENGINE.load(bytes).is_err());
            return;
        }
    };
    export_after_import_is_the_same(bytes, &document);
    a_canvas_that_loads_also_checks(bytes);
});

fn export_after_import_is_the_same(bytes: &[u8], document: &Document) {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    assert_eq!(document.to_text().as_bytes(), text);
    let once = normalise(document).document;
    let again = normalise(&once);
    assert!(again.notes.is_empty(), "{:?}", again.notes);
    assert_eq!(again.document.to_value(), once.to_value());
    let read = Document::read(once.to_text().as_bytes()).expect("an export can be read");
    assert_eq!(
        read.to_value().to_json_text(),
        once.to_value().to_json_text()
    );
}

fn a_canvas_that_loads_also_checks(bytes: &[u8]) {
    let workflow = ENGINE.load(bytes).expect("what can be read loads");
    let found = ENGINE.check(&workflow);
    for diagnostic in &found {
        let end = diagnostic.place.map_or(0, |place| place.offset + place.len);
        assert!(end <= bytes.len(), "{diagnostic:?}");
        assert!(!diagnostic.message.is_empty() && !diagnostic.fix.is_empty());
    }
    let errors = found
        .iter()
        .filter(|found| found.severity == Severity::Error);
    assert_eq!(errors.count(), workflow.refusals().count(), "{found:?}");
    programs_are_told_everything(found);
}

fn programs_are_told_everything(found: Vec<Diagnostic>) {
    let count = found.len();
    let report = [Report {
        file: "canvas.json".to_owned(),
        diagnostics: found,
    }];
    let told = sarif::reports(&report, "0");
    let results = told["runs"][0]["results"].as_array();
    assert_eq!(results.map(Vec::len), Some(count));
    let told = check::json::reports(&report);
    let found = told["files"][0]["diagnostics"].as_array();
    assert_eq!(found.map(Vec::len), Some(count));
}
