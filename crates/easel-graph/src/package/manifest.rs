//! `workflow.yaml`: what a package is called.

use easel_core::{Object, Value};
use serde::Serialize;

use super::{GRAPH, PackageError};
use crate::document::Document;
use crate::finding::{Code, Finding, Stage};
use crate::marked::{Data, Map, Marked};
use crate::place::Place;
use crate::source::{Format, Limits, Source};

/// What a package is called and where its graph stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// Its name; the graph may have another.
    pub name: String,
    /// Its version, as it is written: `1.10` stays `1.10`.
    pub version: String,
    /// What it is for.
    pub description: String,
    /// The file of the graph.
    pub entrypoint: String,
    /// Who made it.
    pub created_by: Option<String>,
    /// When it was made, as it is written.
    pub created_at: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Keys that nothing here reads.
    #[serde(flatten)]
    pub more: Object,
}

/// The keys that are read.
const KEYS: [&str; 7] = [
    "name",
    "version",
    "description",
    "entrypoint",
    "created_by",
    "created_at",
    "tags",
];

impl Manifest {
    pub(super) fn read(bytes: &[u8]) -> Result<Manifest, PackageError> {
        let source =
            Source::read(bytes, Format::Yaml, Limits::default()).map_err(PackageError::Manifest)?;
        let root = source.root();
        let Some(map) = root.as_map() else {
            let cause = format!(
                "The manifest is {}, where a mapping with `name` belongs.",
                root.described()
            );
            return Err(refused(
                Code::Type,
                Place::top(),
                root,
                cause,
                "Write name: and a word.",
            ));
        };
        let text = |key: &str| text(&source, map, key);
        let name = text("name")?.filter(|name| !name.trim().is_empty());
        let Some(name) = name else {
            let place = Place::top().key("name");
            let cause = "The manifest has no `name`.".to_owned();
            return Err(refused(
                Code::Missing,
                place,
                root,
                cause,
                "Write name: and a word.",
            ));
        };
        let more = map.iter().filter(|entry| !KEYS.contains(&&*entry.key.name));
        Ok(Manifest {
            name: name.trim().to_owned(),
            version: text("version")?.unwrap_or_else(|| "1.0.0".to_owned()),
            description: text("description")?.unwrap_or_default(),
            entrypoint: text("entrypoint")?.unwrap_or_else(|| GRAPH.to_owned()),
            created_by: text("created_by")?,
            created_at: text("created_at")?,
            tags: tags(&source, map)?,
            more: more
                .map(|entry| (entry.key.name.clone(), entry.value.to_value()))
                .collect(),
        })
    }

    /// The manifest of a graph that stands alone.
    pub(super) fn of_graph(document: &Document, file: &str) -> Manifest {
        let name = match &*document.name.value {
            "" => file.split('.').next().unwrap_or(file),
            name => name,
        };
        let description = document.description.as_ref();
        Manifest {
            description: description.map(|text| text.to_string()).unwrap_or_default(),
            ..Manifest::of_name(name, file)
        }
    }

    /// A manifest that says no more than it has to.
    pub(super) fn of_name(name: &str, entrypoint: &str) -> Manifest {
        Manifest {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            description: String::new(),
            entrypoint: entrypoint.to_owned(),
            created_by: None,
            created_at: None,
            tags: Vec::new(),
            more: Object::default(),
        }
    }

    /// The manifest as a file.
    pub fn to_yaml(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        let members = match Value::from(value) {
            Value::Object(members) => members
                .iter()
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect(),
            _ => Object::default(),
        };
        let set = members.into_iter().filter(|(_, value): &(_, Value)| {
            !value.is_null() && *value != Value::from("") && *value != Value::empty_array()
        });
        crate::write::block(&Value::from(set.collect::<Object>()))
    }
}

/// A text; of a number or a boolean what is written.
fn text(source: &Source, map: &Map, key: &str) -> Result<Option<String>, PackageError> {
    let Some(entry) = map.get(key) else {
        return Ok(None);
    };
    match &entry.value.data {
        Data::Null => Ok(None),
        Data::Text(text) => Ok(Some(text.to_string())),
        Data::Bool(_) | Data::Number(_) => {
            let at = entry.value.at;
            Ok(source.text().get(at.offset..at.end()).map(str::to_owned))
        }
        Data::List(_) | Data::Map(_) => {
            let place = Place::top().key(key);
            let cause = format!(
                "`{key}` is {}, where text belongs.",
                entry.value.described()
            );
            Err(refused(
                Code::Type,
                place,
                &entry.value,
                cause,
                "Write it in quotes.",
            ))
        }
    }
}

fn tags(source: &Source, map: &Map) -> Result<Vec<String>, PackageError> {
    let Some(items) = map.get("tags").and_then(|entry| entry.value.as_list()) else {
        return Ok(text(source, map, "tags")?.into_iter().collect());
    };
    let words = items.iter().map(|item| match item.as_text() {
        Some(text) => text.to_string(),
        None => item.to_value().to_json_text(),
    });
    Ok(words.collect())
}

fn refused(code: Code, place: Place, at: &Marked, cause: String, fix: &str) -> PackageError {
    PackageError::ManifestKey(Box::new(Finding {
        code,
        severity: code.severity(),
        stage: Stage::Load,
        place,
        at: at.at,
        node: None,
        subject: None,
        cause,
        fix: fix.to_owned(),
    }))
}
