//! No graph makes the check panic, and every place it names is in the file.

use easel_check::{Code, Diagnostic, Report, Severity, json, sarif};
use easel_graph::source::Format;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::documents::{Checked, checked, checked_as, everything, nothing};

fn holds(text: &str, checked: &Checked) {
    for d in &checked.all {
        assert!(d.message.ends_with(['.', '?', '!']), "{}", d.message);
        assert!(
            d.fix
                .ends_with(['.', '?', '!', '`', ']', ')', '}', ':', ',']),
            "{d:?}"
        );
        if let Some(at) = d.place {
            assert!(
                text.get(at.offset..at.offset + at.len).is_some(),
                "{at:?} of {text}"
            );
        }
    }
    assert!(
        !checked.uncompiled || !checked.refusals.is_empty(),
        "{text}"
    );
    let errors: Vec<&Diagnostic> = checked
        .all
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .collect();
    assert_eq!(errors, checked.refusals.iter().collect::<Vec<_>>());
}

const IDS: &[&str] = &["a", "b", "c", "my-id", "é"];

fn id() -> impl Strategy<Value = Value> {
    proptest::sample::select(IDS).prop_map(Value::from)
}

fn ids() -> impl Strategy<Value = Value> {
    proptest::collection::vec(id(), 0..3).prop_map(Value::from)
}

fn text() -> impl Strategy<Value = Value> {
    let texts = vec![
        "{a}",
        "{b.x} ${KEY} {",
        "send an email",
        "{item} {index} {v}",
        "inputs.n > 3",
        "nodes.a.x == 'y'",
        "len(nodes)",
        "{\"k\": {topic}}",
        "",
        " ",
        "vars.v",
        "stop",
        "helpers:strict",
        "{inputs} $${x}",
        "it is done",
    ];
    prop_oneof![
        4 => proptest::sample::select(texts).prop_map(Value::from),
        1 => "[a-z{}.$é'\\[\\] ]{0,12}".prop_map(Value::from),
        1 => any::<i32>().prop_map(Value::from),
    ]
}

fn member() -> impl Strategy<Value = (String, Value)> {
    let key = |key: &str| Just(key.to_owned());
    let named =
        |keys: &[&'static str]| proptest::sample::select(keys.to_vec()).prop_map(str::to_owned);
    prop_oneof![
        (
            named(&[
                "instructions",
                "goal",
                "when",
                "over",
                "until",
                "value",
                "callable",
                "writes",
                "provider",
                "model"
            ]),
            text()
        ),
        (named(&["depends_on", "body_outputs"]), ids()),
        (named(&["on_error", "default"]), id()),
        (
            key("routes"),
            id().prop_map(|to| json!({"yes": to, "": "b"}))
        ),
        (
            key("cases"),
            (text(), id()).prop_map(|(when, to)| json!([{"when": when, "to": to}]))
        ),
        (
            key("tools"),
            proptest::sample::select(vec!["tavily_search", "TavilySearch", "execute_sql", "nope"])
                .prop_map(|t| json!([t]))
        ),
        (
            key("tool_args"),
            (text(), text()).prop_map(|(a, b)| json!({"query": a, "x": [b, {"y": 1}]}))
        ),
        (
            key("tool_settings"),
            text().prop_map(|a| json!({"tavily_search": {"api_key": a, "zz": 1}, "other": 2}))
        ),
        (key("secrets"), Just(json!(["KEY", "K2"]))),
        (key("max_iterations"), Just(json!(3))),
        (key("mode"), Just(json!("structured"))),
        (
            key("output_schema"),
            text().prop_map(|t| json!({"type": "object", "properties": {"x": {"type": t}}}))
        ),
        (key("disabled"), any::<bool>().prop_map(Value::from)),
        (key("input_mode"), Just(json!("dict"))),
        (key("zz"), text()),
    ]
}

fn node(depth: u32) -> BoxedStrategy<Value> {
    let kinds = vec![
        "base", "react", "tool", "function", "python", "router", "loop", "map", "subgraph",
        "input", "output", "nope",
    ];
    let kind = proptest::sample::select(kinds);
    let body = match depth {
        0 => Just(Vec::new()).boxed(),
        depth => proptest::collection::vec(node(depth - 1), 0..3).boxed(),
    };
    (id(), kind, proptest::collection::vec(member(), 0..6), body)
        .prop_map(|(id, kind, members, body)| {
            let mut node = Map::new();
            node.insert("id".to_owned(), id);
            node.insert("kind".to_owned(), kind.into());
            node.extend(members);
            if !body.is_empty() {
                node.insert("body".to_owned(), body.into());
            }
            Value::from(node)
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_graph_can_be_checked(
        nodes in proptest::collection::vec(node(2), 0..6),
        inputs in prop_oneof![Just(json!({})), Just(json!({"n": "integer", "topic": "string"}))],
        outputs in ids(),
    ) {
        let graph = json!({"name": "g", "inputs": inputs, "outputs": outputs, "nodes": nodes, "functions": "f.py"});
        let text = serde_json::to_string_pretty(&graph).unwrap();
        let found = checked_as(Format::Json, &text, &nothing());
        holds(&text, &found);
        let yaml = checked_as(Format::Yaml, &text, &nothing());
        prop_assert_eq!(found.all.len(), yaml.all.len());
        let reports = [Report { file: "g.yaml".to_owned(), diagnostics: found.all }];
        sarif::reports(&reports, "0");
        json::reports(&reports);
    }

    #[test]
    fn any_text_can_be_checked(text in "(name: g\nnodes:\n)?[-a-z{}:\\[\\] \n\"'|é]{0,80}") {
        let found = checked(&text, &everything());
        holds(&text, &found);
    }
}

/// A graph of that many steps, each behind the one before.
fn chain(steps: usize) -> String {
    let mut text = String::from("name: g\ninputs: {topic: string}\noutputs: [s0]\nnodes:\n");
    for at in 0..steps {
        let before = match at {
            0 => String::new(),
            at => format!(", depends_on: [s{}]", at - 1),
        };
        text.push_str(&format!(
            "  - {{id: s{at}, kind: tool, tools: [tavily_search], tool_args: {{query: \"{{topic}}\", zz: 1}}, when: \"inputs.topic == 'x'\"{before}}}\n"
        ));
    }
    text
}

#[test]
fn thousands_of_steps_are_checked() {
    let steps = 5_000;
    let found = checked(&chain(steps), &nothing());
    assert_eq!(found.refusals, vec![]);
    let of = |code: Code| found.all.iter().filter(|d| d.code == code).count();
    assert_eq!(of(Code::UnusedArgument), steps);
    assert_eq!(of(Code::UnusedNode), 1);
}
