//! No document makes the check panic, and every place it names is in the file.

use crate::documents::{checked, nothing};
use easel_check::{Diagnostic, Report, json, sarif};
use proptest::prelude::*;
use serde_json::{Value, json};

fn holds(text: &str, all: &[Diagnostic]) {
    for d in all {
        assert!(d.message.ends_with(['.', '?', '!']), "{}", d.message);
        assert!(!d.fix.is_empty());
        if let Some(at) = d.place {
            assert!(
                text.get(at.offset..at.offset + at.len).is_some(),
                "{at:?} of {text}"
            );
        }
    }
}

const NAMES: &[&str] = &["begin", "A", "B", "C:é", "D.x"];
const CLASSES: &[&str] = &[
    "Begin",
    "Message",
    "LLM",
    "Agent",
    "Switch",
    "Categorize",
    "Loop",
    "LoopItem",
    "Iteration",
    "IterationItem",
    "ExitLoop",
    "UserFillUp",
    "VariableAssigner",
    "VariableAggregator",
    "TavilySearch",
    "Answer",
    "Splitter",
    "Nonsense",
    "",
];

fn id() -> impl Strategy<Value = String> {
    proptest::sample::select(NAMES).prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    (id(), "[a-z@.{}$ ]{0,12}", 0..6u8).prop_map(|(id, rest, kind)| match kind {
        0 => format!("{{{id}@content}}"),
        1 => format!("{id}@result"),
        2 => "{{ sys.query }}".to_owned(),
        3 => "${KEY} $${KEY}".to_owned(),
        4 => "env.x".to_owned(),
        _ => rest,
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text().prop_map(Value::from),
        id().prop_map(Value::from),
    ];
    let names = proptest::sample::select(vec![
        "cpn_id",
        "operator",
        "value",
        "to",
        "items",
        "variable",
        "ref",
        "component_name",
        "params",
        "A",
        "type",
        "input_mode",
    ]);
    leaf.prop_recursive(3, 16, 3, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((names.clone(), inner), 0..4).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

fn params() -> impl Strategy<Value = Value> {
    let names = proptest::sample::select(vec![
        "content",
        "sys_prompt",
        "llm_id",
        "conditions",
        "end_cpn_ids",
        "category_description",
        "items_ref",
        "outputs",
        "loop_variables",
        "loop_termination_condition",
        "maximum_loop_count",
        "inputs",
        "tools",
        "variables",
        "groups",
        "exception_method",
        "exception_goto",
        "exception_default_value",
        "api_key",
        "query",
        "tips",
    ]);
    proptest::collection::vec((names, value()), 0..5).prop_map(|members| {
        members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    })
}

fn document() -> impl Strategy<Value = Value> {
    let ids = || proptest::collection::vec(id(), 0..3);
    let class = proptest::sample::select(CLASSES);
    let node = (class, params(), ids(), ids(), proptest::option::of(id())).prop_map(|(class, params, down, up, parent)| {
        let mut node = json!({"obj": {"component_name": class, "params": params}, "downstream": down, "upstream": up});
        if let Some(parent) = parent {
            node["parent_id"] = parent.into();
        }
        node
    });
    proptest::collection::vec((id(), node), 0..6).prop_map(|nodes| {
        let nodes: serde_json::Map<String, Value> = nodes.into_iter().collect();
        json!({"components": nodes})
    })
}

proptest! {
    #[test]
    fn no_canvas_makes_it_panic(document in document()) {
        let text = serde_json::to_string_pretty(&document).unwrap();
        let (all, refusals) = checked(&text, &nothing());
        holds(&text, &all);
        let errors: Vec<&Diagnostic> = all.iter().filter(|d| d.severity == easel_check::Severity::Error).collect();
        prop_assert_eq!(errors, refusals.iter().collect::<Vec<_>>());
        let reports = [Report { file: "a b.json".to_owned(), diagnostics: all }];
        let written = json::reports(&reports);
        prop_assert_eq!(written["files"][0]["diagnostics"].as_array().unwrap().len(), reports[0].diagnostics.len());
        let written = sarif::reports(&reports, "0");
        prop_assert_eq!(written["runs"][0]["results"].as_array().unwrap().len(), reports[0].diagnostics.len());
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}|\\{\"components\":\\PC{0,40}") {
        let (all, _) = checked(&text, &nothing());
        holds(&text, &all);
    }
}
