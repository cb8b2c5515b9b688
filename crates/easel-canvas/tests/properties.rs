//! What holds for every file, however odd: reading never panics, places are right, normalising comes to rest.

use std::sync::Arc;

use easel_canvas::document::Document;
use easel_canvas::normalise::normalise;
use easel_canvas::pointer::Pointer;
use easel_canvas::source::{Limits, Source};
use easel_core::{Object, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const CLASSES: [&str; 20] = [
    "Begin",
    "Answer",
    "Answer",
    "Generate",
    "Message",
    "Categorize",
    "Switch",
    "Agent",
    "LLM",
    "Splitter",
    "TokenChunker",
    "Parallel",
    "Iteration",
    "IterationItem",
    "UserFillUp",
    "Fillup",
    "RewriteQuestion",
    "WaitingDialogue",
    "DataOperations",
    "Retrieval",
];

const IDS: [&str; 10] = [
    "begin",
    "Splitter:A",
    "TokenChunker:A",
    "Message:g_0",
    "g:0",
    "a:0",
    "a:1",
    "Agent:X",
    "é b",
    "Tool:T",
];

const NAMES: [&str; 40] = [
    "components",
    "graph",
    "nodes",
    "edges",
    "obj",
    "component_name",
    "name",
    "params",
    "downstream",
    "upstream",
    "parent_id",
    "parentId",
    "id",
    "source",
    "target",
    "sourceHandle",
    "targetHandle",
    "type",
    "data",
    "label",
    "form",
    "tools",
    "items",
    "uuid",
    "examples",
    "to",
    "conditions",
    "category_description",
    "content",
    "messages",
    "prompt",
    "query",
    "cpn_id",
    "inputs",
    "outputs",
    "value",
    "history",
    "retrieval",
    "memory",
    "variables",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(IDS.to_vec()).prop_map(str::to_owned),
        2 => select(CLASSES.to_vec()).prop_map(str::to_owned),
        2 => select(vec![
            "", "start", "end", "agentTop", "agentBottom", "agentException", "tool", "Case 1", "Tool", "group", "{input}",
            "{a:0}", "{ {Splitter:A@x} }", "Splitter:A@chunks.0", "{g:0", "}{", "sys.query", "{\"components\":{}}",
        ]).prop_map(str::to_owned),
        1 => ".{0,6}",
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
    ]
}

fn object(member: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let name = prop_oneof![3 => select(NAMES.to_vec()).prop_map(str::to_owned), 1 => text()];
    vec((name, member), 0..6).prop_map(|members| {
        Value::from(
            members
                .into_iter()
                .map(|(name, value)| (Arc::from(name), value))
                .collect::<Object>(),
        )
    })
}

/// Any JSON, made of words that mean something in a canvas.
fn json() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            object(inner)
        ]
    })
}

fn members(parts: Vec<(&str, Value)>) -> Value {
    Value::from(
        parts
            .into_iter()
            .map(|(name, value)| (Arc::from(name), value))
            .collect::<Object>(),
    )
}

fn ids() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => vec(select(IDS.to_vec()), 0..4).prop_map(|ids| Value::from(ids.into_iter().map(Value::from).collect::<Vec<_>>())),
        1 => text().prop_map(Value::from),
    ]
}

fn params() -> impl Strategy<Value = Value> {
    let name = select(vec![
        "prompt",
        "messages",
        "content",
        "conditions",
        "category_description",
        "query",
        "tools",
        "inputs",
        "exception_goto",
        "end_cpn_id",
        "end_cpn_ids",
        "items",
        "outputs",
        "parameters",
        "temperature",
    ]);
    vec((name, json()), 0..4).prop_map(members)
}

/// A component that could stand in a file, legacy or not.
fn entry() -> impl Strategy<Value = Value> {
    let parts = (
        select(CLASSES.to_vec()),
        params(),
        ids(),
        ids(),
        proptest::option::of(select(IDS.to_vec())),
        any::<bool>(),
    );
    parts.prop_map(|(class, params, downstream, upstream, parent, flat)| {
        let mut parts = if flat {
            vec![("name", Value::from(class)), ("params", params)]
        } else {
            vec![(
                "obj",
                members(vec![
                    ("component_name", Value::from(class)),
                    ("params", params),
                ]),
            )]
        };
        parts.extend([("downstream", downstream), ("upstream", upstream)]);
        parts.extend(parent.map(|parent| ("parent_id", Value::from(parent))));
        members(parts)
    })
}

fn drawn() -> impl Strategy<Value = Value> {
    let node =
        (select(IDS.to_vec()), select(CLASSES.to_vec()), params()).prop_map(|(id, label, form)| {
            let data = members(vec![
                ("label", label.into()),
                ("name", label.into()),
                ("form", form),
            ]);
            members(vec![
                ("id", id.into()),
                ("type", "group".into()),
                ("data", data),
            ])
        });
    let handle = select(vec![
        "start",
        "end",
        "agentTop",
        "agentBottom",
        "agentException",
        "tool",
        "Case 1",
        "u",
    ]);
    let edge = (
        select(IDS.to_vec()),
        handle.clone(),
        select(IDS.to_vec()),
        handle,
    )
        .prop_map(|(from, out, to, into)| {
            let id = format!("xy-edge__{from}{out}-{to}{into}");
            members(vec![
                ("id", id.into()),
                ("source", from.into()),
                ("sourceHandle", out.into()),
                ("target", to.into()),
                ("targetHandle", into.into()),
            ])
        });
    (vec(node, 0..6), vec(edge, 0..8))
        .prop_map(|(nodes, edges)| members(vec![("nodes", nodes.into()), ("edges", edges.into())]))
}

/// A canvas as files have them, with all that can be wrong in one.
fn canvas() -> impl Strategy<Value = Value> {
    let components = vec((select(IDS.to_vec()), entry()), 0..7).prop_map(members);
    let rest = vec(
        (
            select(vec![
                "history",
                "retrieval",
                "memory",
                "variables",
                "globals",
                "path",
            ]),
            json(),
        ),
        0..4,
    );
    (
        proptest::option::of(components),
        proptest::option::of(drawn()),
        rest,
        any::<bool>(),
    )
        .prop_map(|(components, graph, rest, wrapped)| {
            let mut parts = rest;
            parts.push(("components", components.unwrap_or_else(Value::empty_object)));
            parts.extend(graph.map(|graph| ("graph", graph)));
            let canvas = members(parts);
            if wrapped {
                members(vec![("title", "t".into()), ("dsl", canvas)])
            } else {
                canvas
            }
        })
}

/// Looks at a document from every side.
fn look(document: &Document) {
    let components = document.components();
    for component in components.values() {
        component.initial_outputs();
    }
    document.edges();
    for asymmetry in document.asymmetries(&document.components()) {
        document.locate(&asymmetry.place);
    }
    document.drawing();
    document.globals();
    document.fresh_globals();
    document.history();
    document.retrieval();
    document.memory();
    document.path();
    document.duplicate_keys();
    document.to_text();
}

/// Every value in a value, with its place.
fn places(value: &Value, place: Pointer, found: &mut Vec<(Pointer, Value)>) {
    found.push((place.clone(), value.clone()));
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                places(item, place.clone().index(at), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter() {
                places(member, place.clone().key(name), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn normalising_comes_to_rest_and_leaves_the_document_alone(file in canvas()) {
        let text = file.to_json_text();
        let read = Document::read(text.as_bytes()).unwrap();
        let once = normalise(&read);
        prop_assert_eq!(read.to_text(), text);
        let twice = normalise(&once.document);
        prop_assert_eq!(twice.notes, vec![]);
        prop_assert_eq!(once.document.to_text(), twice.document.to_text());
        for note in &once.notes {
            prop_assert!(read.locate(&note.place).is_some());
        }
        look(&once.document);
    }

    #[test]
    fn a_normal_document_read_again_is_the_same(file in canvas()) {
        let normal = normalise(&Document::from_value(file).unwrap()).document;
        let again = normalise(&Document::read(normal.to_text().as_bytes()).unwrap());
        prop_assert_eq!(again.notes, vec![]);
        prop_assert_eq!(again.document.to_value().to_json_text(), normal.to_value().to_json_text());
    }

    #[test]
    fn no_json_panics(file in json()) {
        let text = file.to_json_text();
        if let Ok(document) = Document::read(text.as_bytes()) {
            look(&document);
            look(&normalise(&document).document);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..200)) {
        if let Err(error) = Document::read(&bytes) {
            prop_assert!(error.position().is_some());
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn a_file_cut_off_anywhere_is_refused_with_the_place_of_the_cut(file in canvas(), at in any::<prop::sample::Index>()) {
        let text = serde_json::to_string_pretty(&file).unwrap();
        let cut = at.index(text.len());
        let error = Document::read(&text.as_bytes()[..cut]).unwrap_err();
        let position = error.position().unwrap();
        prop_assert!(position.offset <= cut && position.line >= 1 && position.column >= 1);
        // A number cut short is still a number; everything else is found to be unfinished.
        prop_assert!(error.to_string().contains("cut off"), "{}", error);
    }

    #[test]
    fn what_stands_at_a_place_is_the_value_of_that_place(file in json()) {
        let text = serde_json::to_string_pretty(&file).unwrap();
        let source = Source::read(text.as_bytes(), Limits::default()).unwrap().0;
        let mut all = Vec::new();
        places(&file, Pointer::root(), &mut all);
        for (place, value) in all {
            let found = source.locate(&place).unwrap();
            let there = &text[found.offset..found.offset + found.len];
            prop_assert_eq!(serde_json::from_str::<Value>(there).unwrap().to_json_text(), value.to_json_text());
            let line = text.lines().nth(found.line - 1).unwrap();
            let rest: String = line.chars().skip(found.column - 1).collect();
            prop_assert!(there.starts_with(&rest) || rest.starts_with(there));
        }
    }
}
