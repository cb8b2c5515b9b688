use super::*;
use crate::finding::Code;

fn read(text: &str) -> Document {
    Document::read(text.as_bytes(), Format::Yaml).unwrap()
}

fn codes(document: &Document) -> Vec<String> {
    let findings = document.findings().iter();
    findings
        .map(|found| format!("{} {} {}", found.code, found.place, found.at.line))
        .collect()
}

#[test]
fn every_key_of_a_node_is_read_into_its_type() {
    let document = read(
        r#"
name: all
description: d
functions: helpers.py
fail_fast: "yes"
strict_inputs: true
compat: neurosurfer-2.0
outputs: [l]
nodes:
  - id: " a "
    name: A
    description: what
    instructions: "do {x}"
    purpose: p
    goal: g
    expected_result: e
    disabled: false
    when: inputs.x
    writes: w
    on_error: h
    tools: [t]
    tool_args: {q: "{x}", n: 5}
    tool_settings: {t: {root: /data}}
    secrets: [K]
    mode: structured
    output_schema: {type: object, properties: {a: {type: string}}}
    provider: cheap
    model: m
    policy: {retries: "2", delay_s: 0.5, timeout_s: 9, temperature: 0, max_new_tokens: 10}
    export: true
    export_path: out
  - {id: h, depends_on: [a], output_schema: "schemas:Answer"}
  - {id: r, kind: router, depends_on: [a], cases: [{when: "x > 1", to: l, label: L}], default: l, repair: false}
  - id: l
    kind: loop
    depends_on: [r]
    max_iterations: 3
    until: done
    accumulate: true
    as: prev
    body_outputs: [b]
    body:
      - {id: b, kind: map, over: inputs.xs, concurrency: 4, item_var: row, body: [{id: c}]}
  - {id: i, kind: input, options: [x, y], input_mode: dict}
  - {id: f, kind: function, callable: "fns:go"}
  - {id: o, kind: output, value: "{i}"}
"#,
    );
    assert_eq!(document.errors().count(), 0, "{:?}", document.findings());
    assert!(document.fail_fast.value && document.strict_inputs.value && document.is_compat());
    let a = &document.nodes[0];
    assert_eq!(
        (&*a.id.value, a.kind.value, a.id.at.line),
        ("a", Kind::Base, 10)
    );
    assert_eq!(a.tool_args.as_ref().unwrap().get("n"), Some(&5_i64.into()));
    assert_eq!(a.mode.value, Mode::Structured);
    assert!(matches!(
        a.output_schema.as_ref().unwrap().value,
        OutputSchema::Schema(_)
    ));
    assert_eq!(a.policy.retries.unwrap().value, 2);
    assert_eq!(a.policy.delay_s.unwrap().value, 0.5);
    assert_eq!(a.policy.temperature.unwrap().value, 0.0);
    assert!(
        matches!(&document.nodes[1].output_schema.as_ref().unwrap().value, OutputSchema::Class(path) if &**path == "schemas:Answer")
    );
    let router = &document.nodes[2];
    assert_eq!(router.routing(), Some(Routing::Cases));
    assert_eq!(router.cases[0].label().value, "L".into());
    assert!(!router.repair.value);
    let l = &document.nodes[3];
    assert_eq!(l.accumulate.as_ref().unwrap().value, "accumulated".into());
    assert_eq!(
        (&*l.item_var.value, &*l.body[0].item_var.value),
        ("prev", "row")
    );
    assert_eq!(l.body[0].concurrency.value, 4);
    assert_eq!(document.nodes[4].input_mode.value, InputMode::Dict);
    let ids: Vec<&str> = document.all_nodes().map(|node| &*node.id.value).collect();
    assert_eq!(ids, ["a", "h", "r", "l", "b", "c", "i", "f", "o"]);
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_its_line() {
    let document = read(
        "nme: g\nnodes:\n  - {id: 5}\n  - id: b\n    kind: bse\n    tools: http\n    disabled: perhaps\n    writes: 5\n    when: True\n    policy: {retries: many, strict_json: true}\n    wobble: 4\n  - just text\nfail_fast: 3\n",
    );
    let expected = [
        "missing name 1",
        "workflow.no_result  1",
        "unknown_key nme 1",
        "type nodes[0].id 3",
        "unknown_kind nodes[1].kind 5",
        "type nodes[1].tools 6",
        "type nodes[1].disabled 7",
        "type nodes[1].writes 8",
        "type nodes[1].when 9",
        "inert_key nodes[1].policy.strict_json 10",
        "type nodes[1].policy.retries 10",
        "unknown_key nodes[1].wobble 11",
        "type nodes[2] 12",
        "type fail_fast 13",
    ];
    let mut found = codes(&document);
    found.sort();
    let mut expected: Vec<String> = expected.map(str::to_owned).into();
    expected.sort();
    assert_eq!(found, expected);
    let kind = document
        .findings()
        .iter()
        .find(|found| found.code == Code::UnknownKind)
        .unwrap();
    assert_eq!(
        kind.to_string(),
        "line 5, column 11: nodes[1].kind: There is no kind `bse`. Did you mean `base`?"
    );
    let tools = document
        .findings()
        .iter()
        .find(|found| found.subject.as_deref() == Some("tools"))
        .unwrap();
    assert_eq!(tools.fix, "Put it in brackets: [http].");
}

#[test]
fn a_forgotten_quote_around_a_placeholder_is_recognised() {
    let document = read("name: g\noutputs: [a]\nnodes:\n  - id: a\n    instructions: {topic}\n");
    let found = document.errors().next().unwrap();
    assert_eq!(
        found.cause,
        "`instructions` is a mapping, where text with placeholders belongs."
    );
    assert_eq!(found.fix, "Put it in quotes: \"{topic}\".");
}

#[test]
fn an_unfinished_graph_is_a_document_all_the_same() {
    let empty = read("");
    assert_eq!(codes(&empty), ["missing name 1", "no_nodes nodes 1"]);
    let half = read("name: g\nnodes:\n  - id:\n  - id: b\n    kind:\n");
    assert_eq!(half.nodes.len(), 2);
    assert_eq!(half.errors().count(), 1, "{:?}", half.findings());
    let error = Document::read(b"- a\n", Format::Yaml).unwrap_err();
    assert!(matches!(error, ReadError::NotAMapping { .. }));
}

#[test]
fn inputs_are_declared_in_three_spellings() {
    let short = |document: &Document| -> Vec<String> {
        let inputs = document.inputs.iter();
        inputs
            .map(|input| {
                format!(
                    "{} {} {}",
                    &*input.name,
                    input.kind.name(),
                    input.required.value
                )
            })
            .collect()
    };
    let mapping =
        read("name: g\nnodes: [{id: a}]\ninputs: {x: str, y: {type: INT, required: false}, z: }\n");
    assert_eq!(
        short(&mapping),
        ["x string true", "y integer false", "z string true"]
    );
    let list = read(
        "name: g\nnodes: [{id: a}]\ninputs: [{x: list}, {y: {type: weird}}, {name: z, enum: [1, 2], max_bytes: 9, accept: [.pdf]}, {name: str}]\n",
    );
    assert_eq!(
        short(&list),
        [
            "x array true",
            "y weird true",
            "z string true",
            "str string true"
        ]
    );
    assert_eq!(list.inputs[2].allowed.as_ref().unwrap().len(), 2);
    assert_eq!(list.inputs[0].place.to_string(), "inputs[0].x");
    let twice =
        read("name: g\nnodes: [{id: a}]\ninputs: [{name: a}, {a: str}, topic, {x: 1, y: 2}]\n");
    let errors: Vec<_> = twice.errors().map(|found| found.code.name()).collect();
    assert_eq!(errors, ["duplicate_input", "type", "missing"]);
}

#[test]
fn keys_that_nothing_reads_are_found_at_every_level() {
    let document = read(
        "name: g\ncolour: blue\noutputs: [s]\nnodes:\n  - {id: a, instrctions: x, rag: true}\n  - {id: s, kind: subgraph, depends_on: [a], value: x, body: [{id: p, wobble: 4, cases: [{to: p, wenn: x}]}]}\ninputs: [{name: a, extra: 1}]\n",
    );
    let expected = [
        "unknown_key colour 2",
        "unknown_key nodes[0].instrctions 5",
        "inert_key nodes[0].rag 5",
        "inert_key nodes[1].value 6",
        "unknown_key nodes[1].body[0].wobble 6",
        "inert_key nodes[1].body[0].cases 6",
        "unknown_key nodes[1].body[0].cases[0].wenn 6",
        "unknown_key inputs[0].extra 7",
    ];
    assert_eq!(codes(&document), expected);
    assert!(
        document
            .findings()
            .iter()
            .all(|found| found.severity == Severity::Warning)
    );
    assert_eq!(document.findings()[1].fix, "Did you mean `instructions`?");
    let value = document
        .get(&document.nodes[1].body[0].key("wobble"))
        .unwrap();
    assert_eq!(value.to_value(), 4_i64.into(), "what nothing reads is kept");
}

#[test]
fn sampling_is_inert_where_no_model_is_asked() {
    let document = read(
        "name: g\noutputs: [t]\nnodes: [{id: t, kind: tool, tools: [x], policy: {temperature: 1, retries: 1}}]\n",
    );
    assert_eq!(
        codes(&document),
        ["inert_key nodes[0].policy.temperature 3"]
    );
}

#[test]
fn a_place_is_found_by_its_value_its_key_or_what_is_around_it() {
    let document = read("name: g\noutputs: [a]\nnodes:\n  - id: a\n    when: x\n");
    let node = &document.nodes[0];
    let line = |at: Option<Position>| at.map(|at| (at.line, at.column));
    assert_eq!(line(document.locate(&node.key("when"))), Some((5, 11)));
    assert_eq!(line(document.locate_key(&node.key("when"))), Some((5, 5)));
    assert_eq!(
        line(document.locate(&node.key("tools").index(3))),
        Some((4, 5))
    );
    assert_eq!(document.locate_key(&node.key("tools")), None);
}

#[test]
fn a_key_written_twice_is_warned_about_with_both_lines() {
    let document = read("name: g\nname: h\noutputs: [a]\nnodes: [{id: a}]\n");
    assert_eq!(codes(&document), ["duplicate_key name 2"]);
    assert_eq!(
        document.findings()[0].cause,
        "`name` stands in line 1 already; this one counts."
    );
    assert_eq!(&*document.name.value, "h");
}

#[test]
fn a_misspelt_input_mode_is_taken_as_text_with_a_warning() {
    let document = read("name: g\noutputs: [i]\nnodes: [{id: i, kind: input, input_mode: form}]\n");
    assert_eq!(document.errors().count(), 0);
    assert_eq!(document.findings()[0].code, Code::Choice);
}

#[test]
fn a_document_made_from_a_value_has_no_lines() {
    let value =
        easel_core::value::from_text(r#"{"name": "g", "nodes": [{"id": "a"}], "outputs": ["a"]}"#)
            .unwrap();
    let document = Document::from_value(&value).unwrap();
    assert!(document.findings().is_empty() && document.locate(&document.nodes[0].place).is_none());
    assert_eq!(document.root().to_value(), value);
}
