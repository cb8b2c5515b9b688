//! Canvases from the wild, where a checkout has them beside it. They belong to others and are in no repository of ours.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use easel_canvas::component::Component;
use easel_canvas::document::Document;
use easel_canvas::normalise::normalise;
use easel_core::Value;

/// Every canvas with its path, or nothing, loudly.
fn canvases() -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/canvases");
    if !folder.is_dir() {
        println!(
            "SKIPPED: there are no real canvases at {}",
            folder.display()
        );
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for kind in ["editor", "examples", "templates"] {
        let folder = folder.join(kind);
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let bytes = std::fs::read(&path)?;
            found.push((path, bytes));
        }
    }
    found.sort();
    assert_eq!(found.len(), 32, "this test knows 32 canvases");
    Ok(found)
}

#[test]
fn every_real_canvas_loads_and_is_at_rest_once_normalised() {
    for (path, bytes) in canvases().unwrap() {
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
        for asymmetry in once.document.asymmetries(&once.document.components()) {
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
    for (path, bytes) in canvases().unwrap() {
        let read = Document::read(&bytes).unwrap();
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
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            read.to_value().to_json_text(),
            value.to_json_text(),
            "{}",
            path.display()
        );
    }
}

/// A canvas that is drawn and wired says the same thing twice: what is derived from the drawing must be what is wired.
#[test]
fn what_is_derived_from_a_real_drawing_is_what_its_components_say() {
    let mut compared = 0;
    for (path, bytes) in canvases().unwrap() {
        let wired = normalise(&Document::read(&bytes).unwrap()).document;
        let mut canvas = match wired.canvas() {
            Value::Object(members) => std::sync::Arc::unwrap_or_clone(members),
            other => panic!("{other:?}"),
        };
        canvas.shift_remove("components");
        let Ok(drawn) = Document::from_value(canvas.into()) else {
            continue;
        };
        let drawn = normalise(&drawn).document;
        let shape = |document: &Document| {
            let set = |ids: &[std::sync::Arc<str>]| {
                ids.iter().map(|id| id.to_string()).collect::<BTreeSet<_>>()
            };
            let node = |component: &Component| {
                let tools = component
                    .params
                    .get("tools")
                    .and_then(Value::as_array)
                    .unwrap_or_default();
                let tools: Vec<_> = tools.iter().map(|tool| tool.get("id").cloned()).collect();
                let to = component
                    .params
                    .get("category_description")
                    .and_then(Value::as_object);
                let to: BTreeMap<_, _> = to
                    .into_iter()
                    .flatten()
                    .map(|(name, to)| (name.to_string(), to.get("to").cloned()))
                    .collect();
                (
                    component.class.to_string(),
                    set(&component.downstream),
                    component.parent.clone(),
                    tools.len(),
                    format!("{to:?}"),
                )
            };
            document
                .components()
                .values()
                .map(|component| (component.id.to_string(), node(component)))
                .collect::<BTreeMap<_, _>>()
        };
        assert_eq!(shape(&drawn), shape(&wired), "{}", path.display());
        compared += 1;
    }
    println!("{compared} drawings compared");
}
