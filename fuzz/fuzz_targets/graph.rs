//! A graph from anywhere: read, written as it was, written anew, changed in one place.
#![no_main]

use easel_graph::document::Document;
use easel_graph::place::Place;
use easel_graph::source::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let document = match Document::read(bytes, Format::Yaml) {
        Ok(document) => document,
        Err(error) => {
            let at = error.position().unwrap_or_default();
            assert!(at.end() <= bytes.len(), "{error} stands outside of the file");
            return;
        }
    };
    for finding in document.findings() {
        assert!(finding.at.end() <= bytes.len(), "{finding} stands outside of the file");
    }
    let value = document.to_value();
    let again = Document::read(document.to_yaml().as_bytes(), Format::Yaml).expect("it was read before");
    assert_eq!(again.to_value().to_json_text(), value.to_json_text());
    let anew = Document::from_value(&value).expect("it is a mapping").to_yaml();
    let anew = Document::read(anew.as_bytes(), Format::Yaml).expect("what is written can be read");
    assert_eq!(anew.to_value().to_json_text(), value.to_json_text());
    let place = Place::top().key("name");
    let changed = document.with(&place, Some("a: #b\n".into())).expect("a member can always be set");
    let name = changed.document.get(&place).map(|found| found.to_value());
    assert_eq!(name, Some("a: #b\n".into()));
});
