//! `agents/*.yaml`: keys that replace those of one node of the top level.

use std::path::Path;
use std::sync::Arc;

use super::Files;
use crate::document::Document;
use crate::finding::{Code, Finding, Stage};
use crate::marked::{Data, Entry, Map, Marked};
use crate::place::{Place, Position};
use crate::source::{Format, Limits, Source};

/// Puts every override into the document. One that changes nothing is reported and left out.
pub(super) fn apply(document: &mut Document, files: &Files) {
    let mut findings = Vec::new();
    let mut root = document.root.clone();
    let mut changed = false;
    for (name, bytes) in files {
        let path = Path::new(name);
        let is_override = name.starts_with("agents/")
            && name.matches('/').count() == 1
            && Format::of_path(path) == Format::Yaml;
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let Some(stem) = stem.filter(|_| is_override) else {
            continue;
        };
        match put_in(&root, stem, bytes) {
            Ok(with) => {
                root = with;
                changed = true;
            }
            Err((cause, fix)) => findings.push(Finding {
                code: Code::Override,
                severity: Code::Override.severity(),
                stage: Stage::Check,
                place: Place::top(),
                at: Position::default(),
                node: None,
                subject: Some(name.as_str().into()),
                cause: format!("{name}: {cause}"),
                fix,
            }),
        }
    }
    if changed && let Ok(with) = Document::of_root(root, document.source.clone()) {
        *document = with;
    }
    document.findings.extend(findings);
    document.sort_findings();
}

type Ignored = (String, String);

/// The document with one override in it.
fn put_in(root: &Marked, stem: &str, bytes: &[u8]) -> Result<Marked, Ignored> {
    let source = Source::read(bytes, Format::Yaml, Limits::default()).map_err(|error| {
        (
            format!("{error}."),
            "Correct the file, or delete it.".to_owned(),
        )
    })?;
    let Some(keys) = source.root().as_map() else {
        let cause = format!(
            "An override is {}, where a mapping of keys belongs.",
            source.root().described()
        );
        return Err((
            cause,
            "Write the keys of the node that are to be replaced.".to_owned(),
        ));
    };
    let id = keys.get("id").and_then(|entry| entry.value.as_text());
    let id = id.map_or(stem, |id| id.trim());
    let Data::Map(top) = &root.data else {
        return Ok(root.clone());
    };
    let Some((entry, nodes)) = top
        .get("nodes")
        .and_then(|entry| Some((entry, entry.value.as_list()?)))
    else {
        return Ok(root.clone());
    };
    let is_meant = |node: &Marked| {
        let own = node.as_map().and_then(|map| map.get("id"));
        own.and_then(|own| own.value.as_text())
            .is_some_and(|own| own.trim() == id)
    };
    let Some(found) = nodes.iter().position(is_meant) else {
        let cause = format!("The top level has no node `{id}`, so this changes nothing.");
        let fix = "Write the id of a node as `id`, or name the file after it; nodes of bodies can't be overridden.";
        return Err((cause, fix.to_owned()));
    };
    let mut nodes = nodes.to_vec();
    if let Some(node) = nodes.get_mut(found)
        && let Data::Map(own) = &node.data
    {
        let mut merged = Map::clone(own);
        for entry in keys {
            merged.insert(Entry {
                key: crate::marked::Key {
                    at: Position { len: 0, ..node.at },
                    ..entry.key.clone()
                },
                value: placed(&entry.value, Position { len: 0, ..node.at }),
            });
        }
        node.data = Data::Map(Arc::new(merged));
    }
    let mut top = Map::clone(top);
    top.insert(Entry {
        key: entry.key.clone(),
        value: Marked {
            data: Data::List(Arc::new(nodes)),
            ..entry.value.clone()
        },
    });
    Ok(Marked {
        data: Data::Map(Arc::new(top)),
        ..root.clone()
    })
}

/// A value of another file, at the node that it is put into: its own lines are lines of that file.
fn placed(value: &Marked, at: Position) -> Marked {
    let data = match &value.data {
        Data::List(items) => Data::List(Arc::new(
            items.iter().map(|item| placed(item, at)).collect(),
        )),
        Data::Map(map) => {
            let mut with = Map::default();
            for entry in map.iter() {
                with.insert(Entry {
                    key: crate::marked::Key {
                        at,
                        ..entry.key.clone()
                    },
                    value: placed(&entry.value, at),
                });
            }
            Data::Map(Arc::new(with))
        }
        other => other.clone(),
    };
    Marked {
        data,
        at,
        form: value.form,
    }
}
