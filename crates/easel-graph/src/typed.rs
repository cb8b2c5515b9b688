//! From a marked value to typed fields. Everything of a wrong type is reported and left out; nothing stops the reading.

mod inputs;
mod members;
mod node;

use std::sync::{Arc, OnceLock};

use crate::document::{Compat, Document, Spanned};
use crate::field::{self, Holds};
use crate::finding::{Code, Finding, Severity, Stage};
use crate::marked::{Map, Marked};
use crate::place::Place;
use crate::source::Source;

use members::{Members, stated};

/// The typed view of a value that is a mapping.
pub(crate) fn document(root: Marked, source: Option<Arc<Source>>) -> Document {
    let mut findings = Vec::new();
    for duplicate in source.iter().flat_map(|source| source.duplicate_keys()) {
        let name = duplicate.place.last_key();
        findings.push(Finding {
            code: Code::DuplicateKey,
            severity: Severity::Warning,
            stage: Stage::Check,
            place: duplicate.place.clone(),
            at: duplicate.again,
            node: None,
            cause: format!(
                "`{name}` stands in line {} already; this one counts.",
                duplicate.first.line
            ),
            subject: Some(name),
            fix: "Leave one of them out.".to_owned(),
        });
    }
    let map = root.as_map().cloned().unwrap_or_default();
    let mut document = read(&map, &root, &mut findings);
    document.root = root;
    document.source = source;
    document.findings = findings;
    document
}

fn read(map: &Map, root: &Marked, findings: &mut Vec<Finding>) -> Document {
    let mut members = Members::new(map, root.at, Place::top(), findings);
    members.unknown_keys(field::GRAPH);
    let name = members.required_text(
        "name",
        "A graph has no `name`.",
        "Write name: and a word for it.",
    );
    let description = members.text("description", Holds::Text);
    let outputs = members.texts("outputs", Holds::Ids);
    let functions = members.text("functions", Holds::Text);
    let fail_fast = members.flag("fail_fast", false);
    let strict_inputs = members.flag("strict_inputs", false);
    let compat = members
        .text("compat", Holds::Text)
        .and_then(|word| match &*word.value {
            "neurosurfer-2.0" => Some(stated(Compat::Neurosurfer2, word.at)),
            _ => {
                members.wrong_choice("compat", word.at, &word, &["neurosurfer-2.0"]);
                None
            }
        });
    let inputs = inputs::read(&mut members);
    let nodes = match members.get("nodes") {
        Some(nodes) => node::list(&mut members, "nodes", nodes),
        None => Vec::new(),
    };
    if members
        .get("nodes")
        .is_none_or(|nodes| nodes.as_list().is_some_and(<[_]>::is_empty))
    {
        let (at, place) = (members.at_key("nodes"), members.place.key("nodes"));
        let fix = "Write nodes: and a list with at least one node.";
        members.report(
            Code::NoNodes,
            Stage::Load,
            place,
            at,
            Some("nodes"),
            "The graph has no nodes.".to_owned(),
            fix,
        );
    }
    Document {
        name: name.unwrap_or_else(|| Spanned::new("".into())),
        description,
        nodes,
        inputs,
        outputs,
        functions,
        fail_fast,
        strict_inputs,
        compat,
        root: Marked::from_value(&easel_core::Value::Null),
        source: None,
        findings: Vec::new(),
        readers: OnceLock::new(),
    }
}
