use std::path::Path;

use easel_canvas::document::Document as Canvas;
use easel_catalog::Catalog;
use easel_core::Value;
use easel_graph::document::Document as Graph;
use easel_graph::source::Format;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::compare::{inputs, keys};
use crate::{Loss, to_canvas, to_graph};

fn graph(yaml: &str) -> Graph {
    let graph = Graph::read(yaml.as_bytes(), Format::Yaml).unwrap();
    let errors: Vec<_> = graph.errors().collect();
    assert!(errors.is_empty(), "{errors:?}");
    graph
}

fn canvas(json: Json) -> Canvas {
    Canvas::from_value(Value::from(json)).unwrap()
}

fn told(losses: &[Loss]) -> Vec<String> {
    losses.iter().map(Loss::to_string).collect()
}

/// What a graph says, in whatever way it is written.
fn said(graph: &Graph) -> Json {
    let nodes: Vec<Json> = graph
        .all_nodes()
        .map(|node| keys(graph, node).into())
        .collect();
    let nodes: Vec<Json> = nodes
        .into_iter()
        .map(|mut node| {
            node.as_object_mut().unwrap().remove("body");
            node
        })
        .collect();
    json!({"name": graph.name.to_string(), "inputs": inputs(graph), "nodes": nodes})
}

const FORK: &str = "\
name: fork
fail_fast: true
inputs:
  query: string
  tone: {type: string, enum: [kind, stern]}
  age: integer
nodes:
  - {id: read, kind: base, instructions: 'Read {query}, {{be}} {tone}.', provider: p, model: m, policy: {retries: 2, delay_s: 1.5}, on_error: sorry, writes: read}
  - {id: way, kind: router, depends_on: [read], default: plain, cases: [
      {when: \"contains(lower(nodes.read), lower('Urgent')) or inputs.tone == 'stern'\", to: urgent},
      {when: \"inputs.age > 17\", to: adult}]}
  - {id: urgent, kind: base, depends_on: [way], instructions: 'At once: {vars.read}'}
  - {id: adult, kind: base, depends_on: [way], instructions: 'Age {age}: {query}'}
  - {id: plain, kind: base, depends_on: [way], instructions: 'Some time: {query}'}
  - {id: told, kind: output, depends_on: [urgent], value: 'Answer: {urgent}'}
  - {id: sorry, kind: base, depends_on: [read], instructions: 'It failed: {read__error}'}
";

#[test]
fn what_both_say_goes_there_and_back_unchanged() {
    let before = graph(FORK);
    let there = to_canvas(&before, Catalog::builtin()).unwrap();
    assert_eq!(told(&there.losses), Vec::<String>::new());
    let back = to_graph(&there.value, Catalog::builtin()).unwrap();
    assert_eq!(said(&back.value), said(&before));
    // A canvas with a question may be a conversation; a graph never is.
    assert!(
        back.losses.iter().all(|loss| loss.key == "mode"),
        "{:?}",
        told(&back.losses)
    );
}

#[test]
fn references_and_edges_are_spelt_as_a_canvas_does() {
    let there = to_canvas(&graph(FORK), Catalog::builtin()).unwrap().value;
    let components = there.components();
    let prompt = |id: &str| components[id].params["prompts"].to_json()[0]["content"].clone();
    assert_eq!(prompt("Agent:read"), "Read {sys.query}, {be} {begin@tone}.");
    assert_eq!(prompt("Agent:urgent"), "At once: {Agent:read@content}");
    let switch = components["Switch:way"].params["conditions"].to_json();
    assert_eq!(
        switch[0]["items"][0],
        json!({"cpn_id": "Agent:read@content", "operator": "contains", "value": "Urgent"})
    );
    assert_eq!(switch[0]["logical_operator"], "or");
    assert_eq!(
        components["Agent:read"].params["exception_goto"].to_json(),
        json!(["Agent:sorry"])
    );
    assert_eq!(components["Agent:sorry"].upstream, Some(vec![]));
    assert_eq!(
        components["Agent:read"].upstream.as_ref().unwrap()[0],
        "begin".into()
    );
}

#[test]
fn a_map_is_an_iteration() {
    let before = graph(
        "\
name: g
fail_fast: true
inputs: {items: array}
nodes:
  - {id: each, kind: map, over: inputs.items, concurrency: 3, body_outputs: [line], body: [
      {id: line, kind: base, instructions: 'Number {index}'}]}
  - {id: said, kind: output, depends_on: [each], value: done}
",
    );
    let there = to_canvas(&before, Catalog::builtin()).unwrap();
    assert_eq!(told(&there.losses), Vec::<String>::new());
    let components = there.value.components();
    let each = &components["Iteration:each"].params;
    assert_eq!(each["items_ref"].to_json(), "begin@items");
    assert_eq!(
        each["outputs"].to_json(),
        json!({"value": {"ref": "Agent:line@content", "type": "Array<string>"}})
    );
    assert_eq!(
        components["Agent:line"].parent.as_deref(),
        Some("Iteration:each")
    );
    assert_eq!(
        components["Agent:line"].upstream.as_ref().unwrap()[0],
        "IterationItem:each".into()
    );
    let back = to_graph(&there.value, Catalog::builtin()).unwrap();
    assert_eq!(said(&back.value), said(&before));
}

#[test]
fn everything_that_is_not_carried_is_named_with_why() {
    let before = graph(
        "\
name: g
functions: f.py
inputs: {size: float, n: {type: integer, required: false}}
outputs: [t]
nodes:
  - {id: a, kind: base, instructions: 'x', when: 'inputs.n > 3', writes: other, mode: text}
  - {id: f, kind: function, callable: 'f:x', depends_on: [a]}
  - {id: t, kind: base, depends_on: [f], instructions: '{f} and {a!r}', secrets: [K], tools: [nowhere]}
  - {id: r, kind: router, depends_on: [t], cases: [{when: 'len(nodes.t) > 3', to: x}]}
  - {id: x, kind: base, instructions: y, depends_on: [r], policy: {timeout_s: 3}}
",
    );
    let there = to_canvas(&before, Catalog::builtin()).unwrap();
    let names: Vec<String> = there
        .losses
        .iter()
        .map(|loss| format!("{} {}", loss.node, loss.key).trim().to_owned())
        .collect();
    for name in [
        "inputs.size",
        "fail_fast",
        "outputs",
        "functions",
        "a when",
        "a writes",
        "a mode",
        "f",
        "t instructions",
        "t secrets",
        "t tools nowhere",
        "r cases[0]",
        "r default",
        "x policy.timeout_s",
    ] {
        assert!(
            names.iter().any(|said| said == name),
            "{name} is missing in {names:?}"
        );
    }
    assert!(
        there.losses.iter().all(|loss| loss.why.ends_with('.')),
        "{:?}",
        told(&there.losses)
    );
}

#[test]
fn a_canvas_in_todays_form_goes_there_and_back_unchanged() {
    let node = |class: &str, params: Json, up: &[&str], down: &[&str]| json!({"obj": {"component_name": class, "params": params}, "upstream": up, "downstream": down});
    let prompts =
        |text: &str| json!({"llm_id": "m@p", "prompts": [{"role": "user", "content": text}]});
    let before = canvas(json!({
        "title": "triage",
        "components": {
            "begin": node("Begin", json!({"mode": "task", "inputs": {"name": {"name": "Name", "type": "line", "optional": false}}}), &[], &["Agent:sort"]),
            "Agent:sort": node("Agent", prompts("Sort {begin@name}"), &["begin"], &["Switch:way"]),
            "Switch:way": node("Switch", json!({
                "conditions": [{"logical_operator": "and", "to": ["Agent:hot"], "items": [
                    {"cpn_id": "Agent:sort@content", "operator": "start with", "value": "It's \"hot\"\n"},
                    {"cpn_id": "begin@name", "operator": "not empty", "value": ""}]}],
                "end_cpn_ids": ["Agent:cold"]}), &["Agent:sort"], &["Agent:hot", "Agent:cold"]),
            "Agent:hot": node("Agent", prompts("{Agent:sort@content}!"), &["Switch:way"], &["Message:end"]),
            "Agent:cold": node("Agent", prompts("{{literal}} {Agent:sort@content}"), &["Switch:way"], &["Message:end"]),
            "Message:end": node("Message", json!({"content": ["{Agent:sort@content} it is"]}), &["Agent:hot", "Agent:cold"], &[]),
        },
    }));
    let there = to_graph(&before, Catalog::builtin()).unwrap();
    assert_eq!(told(&there.losses), Vec::<String>::new());
    let yaml = there.value.to_yaml();
    assert!(there.value.errors().next().is_none(), "{yaml}");
    assert!(
        yaml.contains("writes: sort") && yaml.contains("{vars.sort}"),
        "{yaml}"
    );
    let back = to_canvas(&there.value, Catalog::builtin()).unwrap().value;
    let (before, back) = (before.components(), back.components());
    assert!(before.keys().eq(back.keys()));
    for (id, component) in &before {
        assert_eq!(component.upstream, back[id].upstream, "{id}");
        for (name, value) in component.params.iter() {
            assert_eq!(
                back[id].params.get(name).map(Value::to_json),
                Some(value.to_json()),
                "{id} {name}"
            );
        }
    }
}

#[test]
fn a_way_back_is_left_out_and_named() {
    let node = |class: &str, up: &[&str], down: &[&str]| {
        let params = json!({"prompts": [{"role": "user", "content": "again {sys.query}"}]});
        json!({"obj": {"component_name": class, "params": params}, "upstream": up, "downstream": down})
    };
    let before = canvas(json!({"components": {
        "begin": node("Begin", &[], &["Agent:a"]),
        "Agent:a": node("Agent", &["begin", "Agent:b"], &["Agent:b"]),
        "Agent:b": node("Agent", &["Agent:a"], &["Agent:a"]),
    }}));
    let there = to_graph(&before, Catalog::builtin()).unwrap();
    assert!(
        there.value.errors().next().is_none(),
        "{}",
        there.value.to_yaml()
    );
    let said = told(&there.losses);
    assert!(
        said.iter()
            .any(|said| said.starts_with("Agent:a upstream: The edge from `Agent:b`")),
        "{said:?}"
    );
}

/// Nodes that are left out, each before both of the next two: there are more ways through them than can be walked.
#[test]
fn nodes_that_are_left_out_cost_no_more_than_they_are_many() {
    let mut components = json!({"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["CodeExec:0a", "CodeExec:0b"]}});
    for at in 0..200 {
        for side in ["a", "b"] {
            let next = [
                format!("CodeExec:{}a", at + 1),
                format!("CodeExec:{}b", at + 1),
            ];
            let down = if at < 199 {
                json!(next)
            } else {
                json!(["Message:end"])
            };
            components[format!("CodeExec:{at}{side}")] =
                json!({"obj": {"component_name": "CodeExec", "params": {}}, "downstream": down});
        }
    }
    components["Message:end"] = json!({"obj": {"component_name": "Message", "params": {"content": ["{sys.query}"]}}, "downstream": []});
    let there = to_graph(
        &canvas(json!({"components": components})),
        Catalog::builtin(),
    )
    .unwrap();
    assert_eq!(there.value.nodes.len(), 1);
    assert_eq!(
        there
            .losses
            .iter()
            .filter(|loss| loss.key.is_empty())
            .count(),
        400
    );
    let nodes: Vec<Json> = (0..200)
        .flat_map(|at| ["a", "b"].map(|side| {
            let deps = if at == 0 { json!([]) } else { json!([format!("f{}a", at - 1), format!("f{}b", at - 1)]) };
            json!({"id": format!("f{at}{side}"), "kind": "function", "callable": "m:f", "depends_on": deps})
        }))
        .chain([json!({"id": "end", "kind": "output", "depends_on": ["f199a"], "value": "x"})])
        .collect();
    let graph = Graph::from_value(&Value::from(json!({"name": "g", "nodes": nodes}))).unwrap();
    let there = to_canvas(&graph, Catalog::builtin()).unwrap();
    assert_eq!(
        there.value.components()["Message:end"]
            .upstream
            .as_ref()
            .unwrap()[0],
        "begin".into()
    );
}

/// A part of a text.
fn piece(names: Vec<String>) -> impl Strategy<Value = String> {
    let names = names
        .into_iter()
        .map(|name| format!("{{{name}}}"))
        .collect::<Vec<_>>();
    prop_oneof![
        "[a-z .,\n]{0,6}",
        Just(" {{a}} ".to_owned()),
        prop::sample::select(names)
    ]
}

/// A graph of models in a row, each after some of those before it, with a router somewhere, and an output.
fn family() -> impl Strategy<Value = Json> {
    (1_usize..6, any::<u64>(), prop::bool::ANY).prop_flat_map(|(count, seed, routes)| {
        let texts: Vec<_> = (0..count)
            .map(|at| {
                let mut names = vec!["query".to_owned(), "tone".to_owned()];
                names.extend((0..at).filter(|before| seed >> (at * 6 + before) & 1 == 1).map(|before| format!("n{before}")));
                prop::collection::vec(piece(names), 1..5).prop_map(|pieces| pieces.concat())
            })
            .collect();
        let operators = ["contains", "startswith", "endswith"];
        (texts, 0_usize..3, "[a-zA-Z' é\\\\]{0,5}", 0_u32..4).prop_map(move |(texts, operator, word, retries)| {
            let mut nodes = Vec::new();
            for (at, text) in texts.iter().enumerate() {
                let deps: Vec<String> = (0..at).filter(|before| seed >> (at * 6 + before) & 1 == 1).map(|before| format!("n{before}")).collect();
                // An input that nobody reads is no input of a canvas.
                let mut text = if at == 0 { format!("{text} {{query}}") } else { text.clone() };
                for dep in deps.iter().filter(|dep| !text.contains(&format!("{{{dep}}}"))).cloned().collect::<Vec<_>>() {
                    text.push_str(&format!(" {{{dep}}}"));
                }
                let mut node = json!({"id": format!("n{at}"), "kind": "base", "instructions": text});
                if !deps.is_empty() {
                    node["depends_on"] = json!(deps);
                }
                if retries > 0 {
                    node["policy"] = json!({"retries": retries});
                }
                nodes.push(node);
            }
            if routes {
                let word = word.replace('\\', "\\\\").replace('\'', "\\'");
                let when = format!("{}(lower(nodes.n0), lower('{word}'))", operators[operator]);
                nodes.push(json!({"id": "way", "kind": "router", "depends_on": ["n0"], "cases": [{"when": when, "to": "one"}], "default": "two"}));
                nodes.push(json!({"id": "one", "kind": "output", "depends_on": ["way"], "value": "one {query}"}));
                nodes.push(json!({"id": "two", "kind": "output", "depends_on": ["way"], "value": "two {tone}"}));
            }
            nodes.push(json!({"id": "last", "kind": "output", "depends_on": ["n0"], "value": "{n0}"}));
            json!({
                "name": "family", "fail_fast": true, "inputs": {"query": "string", "tone": "string"}, "nodes": nodes,
            })
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn there_and_back_is_the_same_graph_or_the_report_says_what_is_not(value in family()) {
        let before = Graph::from_value(&Value::from(value)).unwrap();
        prop_assert_eq!(before.errors().count(), 0, "{:?}", before.findings());
        let there = to_canvas(&before, Catalog::builtin()).unwrap();
        let back = to_graph(&there.value, Catalog::builtin()).unwrap().value;
        let (mut was, mut is) = (said(&before), said(&back));
        for loss in &there.losses {
            for nodes in [&mut was, &mut is] {
                for node in nodes["nodes"].as_array_mut().unwrap().iter_mut().filter(|node| node["id"] == loss.node.as_str()) {
                    node.as_object_mut().unwrap().remove(&loss.key);
                }
            }
        }
        prop_assert_eq!(was, is, "{:?}\n{}", told(&there.losses), there.value.to_text());
    }

    #[test]
    fn graphs_of_the_family_are_carried_whole(value in family()) {
        let before = Graph::from_value(&Value::from(value)).unwrap();
        let there = to_canvas(&before, Catalog::builtin()).unwrap();
        prop_assert_eq!(told(&there.losses), Vec::<String>::new());
    }
}

/// The canvases that lie with the project; each is converted, and what came out can be read again.
#[test]
fn every_example_becomes_a_graph_with_a_report() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|suffix| suffix != "json") {
            continue;
        }
        count += 1;
        let before = Canvas::read(&std::fs::read(&path).unwrap()).unwrap();
        let there = to_graph(&before, Catalog::builtin()).unwrap();
        assert!(Graph::read(there.value.to_yaml().as_bytes(), Format::Yaml).is_ok());
        let carried: Vec<String> = there
            .value
            .all_nodes()
            .map(|node| node.id.to_string())
            .collect();
        for component in before.components().values() {
            let start = component.is("Begin") || component.is("IterationItem");
            let own = component.id.rsplit(':').next().unwrap();
            let named = there.losses.iter().any(|loss| loss.node == *component.id);
            assert!(
                start || named || carried.iter().any(|id| id == own),
                "{}: {}",
                path.display(),
                component.id
            );
        }
    }
    assert!(count >= 6);
}
