//! Canvases from the wild, where a checkout has them beside it. They belong to others and are in no repository of ours.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};

use easel_canvas::document::Document;
use easel_canvas::normalise::normalise;
use easel_core::Value;

/// Every canvas with its path, or nothing, loudly.
fn canvases() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/canvases");
    if !folder.is_dir() {
        println!(
            "SKIPPED: there are no real canvases at {}",
            folder.display()
        );
        return Vec::new();
    }
    let mut found = Vec::new();
    for kind in ["editor", "examples", "templates"] {
        let folder = folder.join(kind);
        for entry in std::fs::read_dir(folder).expect("the folder of canvases") {
            let path = entry.expect("an entry").path();
            let bytes = std::fs::read(&path).expect("a canvas");
            found.push((path, bytes));
        }
    }
    found.sort();
    assert_eq!(found.len(), 32, "this test knows 32 canvases");
    found
}

#[test]
fn every_real_canvas_loads_and_is_at_rest_once_normalised() {
    for (path, bytes) in canvases() {
        let read =
            Document::read(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let once = normalise(&read);
        let twice = normalise(&once.document);
        for note in &once.notes {
            println!(
                "{} {} {}: {}",
                path.file_name().unwrap().display(),
                note.rewrite.code(),
                note.place,
                note.what
            );
            assert!(
                read.locate(&note.place).is_some(),
                "{}: {note:?}",
                path.display()
            );
        }
        for asymmetry in once.document.asymmetries() {
            println!(
                "  {:?} {:?} {:?}",
                asymmetry.kind, asymmetry.edge.from, asymmetry.edge.to
            );
        }
        assert_eq!(twice.notes, [], "{}", path.display());
        assert_eq!(
            once.document.to_text(),
            twice.document.to_text(),
            "{}",
            path.display()
        );
        assert!(!once.document.components().is_empty(), "{}", path.display());
    }
}

#[test]
fn a_real_canvas_that_nothing_rewrote_is_exported_to_the_byte() {
    for (path, bytes) in canvases() {
        let read = Document::read(&bytes).expect("a canvas");
        assert_eq!(read.to_text().as_bytes(), bytes, "{}", path.display());
        let normal = normalise(&read);
        if normal.notes.is_empty() {
            assert_eq!(
                normal.document.to_text().as_bytes(),
                bytes,
                "{}",
                path.display()
            );
        }
        let value: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(
            read.to_value().to_json_text(),
            value.to_json_text(),
            "{}",
            path.display()
        );
    }
}
