//! Declared inputs, in the three spellings.

use std::collections::HashMap;

use easel_core::Value;

use super::members::{Members, stated};
use crate::document::{InputDecl, InputType, Spanned, Text};
use crate::field::{self, Holds};
use crate::finding::{Code, Stage};
use crate::marked::{Data, Key, Marked};
use crate::place::Place;

/// The `inputs` of a graph: a list of full declarations or of single names with a type, or one mapping of names.
pub(super) fn read(members: &mut Members<'_>) -> Vec<InputDecl> {
    let Some(value) = members.get("inputs") else {
        return Vec::new();
    };
    let place = members.place.key("inputs");
    let mut inputs = Vec::new();
    match &value.data {
        Data::Map(map) => {
            for entry in map.iter() {
                if members.text_key("inputs", entry) {
                    let place = place.key(&entry.key.name);
                    inputs.extend(short(members, &entry.key, &entry.value, place));
                }
            }
        }
        Data::List(items) => {
            for (at, item) in items.iter().enumerate() {
                inputs.extend(item_of_list(members, item, place.index(at)));
            }
        }
        _ => members.wrong_type("inputs", place, value, Holds::Inputs),
    }
    let mut first = HashMap::new();
    for input in &inputs {
        let Some(line) = first.insert(&*input.name.value, input.name.at.line) else {
            continue;
        };
        let cause = format!(
            "The input `{}` is declared in line {line} already.",
            &*input.name
        );
        let (place, at) = (input.place.clone(), input.name.at);
        let (subject, fix) = (Some(&**input.name), "Leave one of them out.");
        members.report(
            Code::DuplicateInput,
            Stage::Load,
            place,
            at,
            subject,
            cause,
            fix,
        );
    }
    inputs
}

fn item_of_list(members: &mut Members<'_>, item: &Marked, place: Place) -> Option<InputDecl> {
    let map = match item.as_map() {
        Some(map) if !map.is_empty() => map,
        _ => {
            let cause = format!(
                "An input is {}, where a name with a type belongs.",
                item.described()
            );
            let name = item.as_text().map_or("topic", |text| text);
            let fix = format!("Write it as {name}: string.");
            members.report(
                Code::Type,
                Stage::Load,
                place,
                item.at,
                Some("inputs"),
                cause,
                fix,
            );
            return None;
        }
    };
    if map.get("name").is_none()
        && map.len() == 1
        && let Some(entry) = map.iter().next()
    {
        if !members.text_key("inputs", entry) {
            return None;
        }
        let place = place.key(&entry.key.name);
        return short(members, &entry.key, &entry.value, place);
    }
    let mut members = members.inside(map, item.at, place);
    members.unknown_keys(field::INPUT);
    let name = members.required_text(
        "name",
        "A declared input has no `name`.",
        "Write name: and a word for it.",
    )?;
    Some(declaration(&mut members, name))
}

/// A name with a type, or with a mapping of everything else.
fn short(members: &mut Members<'_>, key: &Key, value: &Marked, place: Place) -> Option<InputDecl> {
    let name = stated(key.name.clone(), key.at);
    let kind = match &value.data {
        Data::Map(map) => {
            let mut members = members.inside(map, value.at, place);
            members.unknown_keys(field::INPUT);
            return Some(declaration(&mut members, name));
        }
        Data::Null => Spanned::new(InputType::String),
        Data::Text(text) => stated(InputType::of_name(text), value.at),
        _ => {
            members.wrong_type(&name, place, value, Holds::Text);
            return None;
        }
    };
    Some(InputDecl {
        place,
        name,
        kind,
        required: Spanned::new(true),
        description: None,
        accept: Vec::new(),
        max_bytes: None,
        allowed: None,
    })
}

fn declaration(members: &mut Members<'_>, name: Text) -> InputDecl {
    let kind = members.text("type", Holds::Text);
    let accept = match members.get("accept") {
        Some(one) if one.as_text().is_some() => {
            members.text("accept", Holds::Texts).into_iter().collect()
        }
        _ => members.texts("accept", Holds::Texts),
    };
    let allowed = members.get("enum").and_then(|value| match value.as_list() {
        Some(items) => {
            let values: Vec<Value> = items.iter().map(Marked::to_value).collect();
            Some(stated(values, value.at))
        }
        None => {
            members.wrong_type("enum", members.place.key("enum"), value, Holds::Values);
            None
        }
    });
    InputDecl {
        place: members.place.clone(),
        name,
        kind: match kind {
            Some(word) => stated(InputType::of_name(&word), word.at),
            None => Spanned::new(InputType::String),
        },
        required: members.flag("required", true),
        description: members.text("description", Holds::Text),
        accept,
        max_bytes: members.whole("max_bytes", 0),
        allowed,
    }
}
