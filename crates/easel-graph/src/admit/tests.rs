use serde_json::json;

use super::*;
use crate::source::Format;

const DECLARED: &str = "name: g
inputs:
  - s: str
  - i: {type: int, required: false}
  - f: {type: number, required: false}
  - b: {type: bool, required: false}
  - o: {type: dict, required: false}
  - l: {type: list, required: false}
  - p: {type: file, required: false}
  - e: {type: string, required: false, enum: [x, y]}
  - q: {type: weird, required: false}
  - n: {type: int, required: false, enum: [1, 2]}
  - m: {type: str, required: false, max_bytes: 4}
nodes:
  - {id: ask, kind: input}
  - {id: a, kind: base, instructions: '{s}'}
";

fn read(text: &str) -> Document {
    let document = Document::read(text.as_bytes(), Format::Yaml).unwrap();
    assert_eq!(document.errors().count(), 0, "{:?}", document.findings());
    document
}

fn value(json: serde_json::Value) -> Value {
    easel_core::value::from_text(&json.to_string()).unwrap()
}

/// What is admitted, or the first error.
fn admitted(document: &Document, given: serde_json::Value) -> Result<serde_json::Value, String> {
    match document.admit(value(given)) {
        Ok(admitted) => Ok(Value::Object(Arc::new(admitted.values)).to_json()),
        Err(errors) => Err(errors.first().map(ToString::to_string).unwrap_or_default()),
    }
}

#[test]
fn declared_inputs_are_cast_as_the_old_engine_cast_them() {
    let document = read(DECLARED);
    let rows = [
        (json!({"s": 5}), json!({"s": "5"})),
        (json!({"s": true}), json!({"s": "True"})),
        (json!({"s": ["x"]}), json!({"s": "['x']"})),
        (json!({"s": {"a": 1}}), json!({"s": "{'a': 1}"})),
        (json!({"s": "a", "extra": 1}), json!({"s": "a"})),
        (json!({"s": "a", "ask": "v"}), json!({"s": "a", "ask": "v"})),
        (
            json!({"s": "a", "i": " 1_000 "}),
            json!({"s": "a", "i": 1000}),
        ),
        (json!({"s": "a", "i": 7.9}), json!({"s": "a", "i": 7})),
        (json!({"s": "a", "f": "1.5"}), json!({"s": "a", "f": 1.5})),
        (json!({"s": "a", "f": 2}), json!({"s": "a", "f": 2.0})),
        (json!({"s": "a", "b": "YES"}), json!({"s": "a", "b": true})),
        (
            json!({"s": "a", "b": " no "}),
            json!({"s": "a", "b": false}),
        ),
        (
            json!({"s": "a", "o": {"k": 1}}),
            json!({"s": "a", "o": {"k": 1}}),
        ),
        (json!({"s": "a", "l": [1]}), json!({"s": "a", "l": [1]})),
        (json!({"s": "a", "p": 5}), json!({"s": "a", "p": 5})),
        (json!({"s": "a", "q": [1]}), json!({"s": "a", "q": [1]})),
    ];
    for (given, expected) in rows {
        assert_eq!(admitted(&document, given.clone()), Ok(expected), "{given}");
    }
    let nan = document
        .admit(value(json!({"s": "a", "f": "nan"})))
        .unwrap();
    assert!(nan.values["f"].as_f64().unwrap().is_nan());
}

#[test]
fn what_cannot_be_cast_is_refused_with_its_name() {
    let document = read(DECLARED);
    let rows = [
        (
            json!({}),
            "the input `s` is required and not given: give a text",
        ),
        (
            json!({"s": "a", "i": "7.5"}),
            "the input `i` is a text, where a whole number belongs",
        ),
        (
            json!({"s": "a", "i": "1__0"}),
            "the input `i` is a text, where a whole number belongs",
        ),
        (
            json!({"s": "a", "i": true}),
            "the input `i` is a boolean, where a whole number belongs",
        ),
        (
            json!({"s": "a", "f": true}),
            "the input `f` is a boolean, where a number belongs",
        ),
        (
            json!({"s": "a", "b": "maybe"}),
            "the input `b` is a text, where true or false belongs",
        ),
        (
            json!({"s": "a", "o": "{\"k\":1}"}),
            "the input `o` is a text, where a mapping belongs",
        ),
        (
            json!({"s": "a", "l": "a,b"}),
            "the input `l` is a text, where a list belongs",
        ),
        (
            json!("bare"),
            "the inputs are a text, where a mapping of names to values belongs: give {\"s\": …}",
        ),
        (
            json!(null),
            "the inputs are null, where a mapping of names to values belongs: give {\"s\": …}",
        ),
    ];
    for (given, expected) in rows {
        assert_eq!(
            admitted(&document, given.clone()),
            Err(expected.to_owned()),
            "{given}"
        );
    }
    let all = document
        .admit(value(json!({"i": true, "b": "maybe"})))
        .unwrap_err();
    assert_eq!(all.len(), 3, "everything is said at once");
    assert_eq!(document.place_of(&all[1]).to_string(), "inputs[1].i");
}

#[test]
fn one_and_zero_are_booleans_and_null_is_no_text() {
    let document = read(DECLARED);
    assert_eq!(
        admitted(&document, json!({"s": "a", "b": 1})),
        Ok(json!({"s": "a", "b": true}))
    );
    assert!(admitted(&document, json!({"s": null})).is_err());
    assert_eq!(
        admitted(&document, json!({"s": "a", "i": null})),
        Ok(json!({"s": "a", "i": null}))
    );
    let old = read(&format!("compat: neurosurfer-2.0\n{DECLARED}"));
    assert_eq!(admitted(&old, json!({"s": null})), Ok(json!({"s": "None"})));
    assert!(admitted(&old, json!({"s": "a", "b": 1})).is_err());
}

#[test]
fn allowed_values_and_sizes_are_kept_to() {
    let document = read(DECLARED);
    assert_eq!(
        admitted(&document, json!({"s": "a", "e": "zzz"})),
        Err("the input `e` has a value that is not allowed: give one of \"x\", \"y\"".to_owned())
    );
    assert_eq!(
        admitted(&document, json!({"s": "a", "e": "y", "n": "2"})),
        Ok(json!({"s": "a", "e": "y", "n": 2}))
    );
    assert!(admitted(&document, json!({"s": "a", "n": 3})).is_err());
    assert_eq!(
        admitted(&document, json!({"s": "a", "m": "éé"})),
        Ok(json!({"s": "a", "m": "éé"}))
    );
    assert!(
        admitted(&document, json!({"s": "a", "m": "ééé"}))
            .unwrap_err()
            .contains("6 bytes and may have 4")
    );
}

#[test]
fn strict_inputs_refuse_what_is_not_declared() {
    let document = read(
        "name: g\nstrict_inputs: true\ninputs: {topic: str}\nnodes: [{id: a, kind: input}, {id: b, instructions: '{topic}'}]",
    );
    assert_eq!(
        admitted(&document, json!({"topic": "x", "a": 1})),
        Ok(json!({"topic": "x", "a": 1}))
    );
    let error = admitted(&document, json!({"topic": "x", "topik": 1})).unwrap_err();
    assert_eq!(
        error,
        "the input `topik` is not declared, and this graph takes only what is: did you mean `topic`?"
    );
}

#[test]
fn a_bare_value_goes_to_the_only_input_node_or_is_the_query() {
    let none = read("name: g\nnodes: [{id: a}]");
    assert_eq!(admitted(&none, json!("hi")), Ok(json!({"query": "hi"})));
    assert_eq!(
        admitted(&none, json!({"topic": 1, "zzz": 2})),
        Ok(json!({"topic": 1, "zzz": 2}))
    );
    assert_eq!(admitted(&none, json!(null)), Ok(json!({})));
    let one = read("name: g\nnodes: [{id: ask, kind: input, writes: who}]");
    assert_eq!(admitted(&one, json!("hi")), Ok(json!({"who": "hi"})));
    let two = read("name: g\nnodes: [{id: a, kind: input}, {id: b, kind: input}]");
    assert_eq!(admitted(&two, json!("hi")), Ok(json!({"query": "hi"})));
}

#[test]
fn a_node_that_asks_for_all_inputs_may_be_given_them_later() {
    let document = read(
        "name: g\ninputs: {a: str, b: str}\nnodes: [{id: form, kind: input, input_mode: dict}]",
    );
    assert_eq!(
        admitted(&document, json!({"a": "x"})),
        Ok(json!({"a": "x"}))
    );
}

#[test]
fn what_nothing_reads_is_warned_about_unless_code_may_read_it() {
    let warned = |nodes: &str| -> Vec<String> {
        let document = read(&format!("name: g\nnodes: [{nodes}]"));
        let given = json!({"topic": 1, "with space": 2, "user-id": 3, "n": 4, "colour": 5, "k": 6});
        let admitted = document.admit(value(given)).unwrap();
        admitted
            .warnings
            .iter()
            .map(|warning| warning.input.to_string())
            .collect()
    };
    let reads = "{id: a, instructions: 'on {topic} {with space}', when: 'inputs.n > 3'}, {id: b, kind: react, tools: [t], tool_args: {k: [{x: '{k}'}], user: '{user-id}'}, depends_on: [a]}";
    assert_eq!(warned(reads), ["colour"]);
    assert_eq!(
        warned("{id: f, kind: function, callable: 'm:f'}"),
        Vec::<String>::new()
    );
    let nested = "{id: s, kind: subgraph, body: [{id: t, kind: tool, tools: [x]}]}";
    assert_eq!(
        warned(nested),
        Vec::<String>::new(),
        "a tool anywhere may read everything"
    );
}
