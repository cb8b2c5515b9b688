use easel_core::Number;
use proptest::prelude::*;

use super::*;
use crate::place::Place;

const FILE: &str = "# How notes are written.
name: notes   # short
inputs:
  topic: string # what it is about

nodes:
  # The first step.
  - id: write
    instructions: |
      Write about
      {topic}.
    tool_args: {q: \"{topic}\", n: 5}  # fixed
    depends_on: []
  - id: check # then this
    kind: base
    depends_on: [write]

    policy:
      retries: 2
outputs:
- check
";

fn read(text: &str) -> Document {
    Document::read(text.as_bytes(), Format::Yaml).unwrap()
}

fn place(text: &str) -> Place {
    let step = |part: &str| match part.parse() {
        Ok(index) => Step::Index(index),
        Err(_) => Step::Key(part.into()),
    };
    text.split('/').map(step).collect()
}

fn value(json: &str) -> Value {
    easel_core::value::from_text(json).unwrap()
}

/// The file after a change of one value.
fn with(at: &str, json: &str) -> String {
    let written = read(FILE).with(&place(at), Some(value(json))).unwrap();
    assert!(written.keeps_text, "{}", written.document.to_yaml());
    assert_eq!(
        written.document.get(&place(at)).unwrap().to_value(),
        value(json)
    );
    written.document.to_yaml()
}

fn without(at: &str) -> String {
    let written = read(FILE).with(&place(at), None).unwrap();
    assert!(written.keeps_text, "{}", written.document.to_yaml());
    written.document.to_yaml()
}

#[test]
fn an_unchanged_graph_is_written_as_it_was_read() {
    assert_eq!(read(FILE).to_yaml(), FILE);
    let crlf = FILE.replace('\n', "\r\n");
    assert_eq!(read(&crlf).to_yaml(), crlf);
}

#[test]
fn a_changed_value_changes_nothing_else() {
    assert_eq!(
        with("name", "\"other\""),
        FILE.replace("name: notes ", "name: other ")
    );
    assert_eq!(
        with("nodes/0/tool_args/n", "6"),
        FILE.replace("n: 5", "n: 6")
    );
    assert_eq!(
        with("nodes/0/tool_args/q", "\"a, b\""),
        FILE.replace("\"{topic}\", n", "\"a, b\", n")
    );
    assert_eq!(
        with("nodes/1/policy/retries", "3"),
        FILE.replace("retries: 2", "retries: 3")
    );
    assert_eq!(
        with("inputs/topic", "\"yes\""),
        FILE.replace("string #", "\"yes\" #")
    );
    assert_eq!(
        with("nodes/0/depends_on", "[\"a\", \"b\"]"),
        FILE.replace("depends_on: []", "depends_on: [a, b]")
    );
}

#[test]
fn a_prompt_of_several_lines_is_replaced_whole() {
    let text = with("nodes/0/instructions", "\"One.\\nTwo.\\n\"");
    assert_eq!(
        text,
        FILE.replace("Write about\n      {topic}.", "One.\n      Two.")
    );
    let text = with("nodes/0/instructions", "\"One.\"");
    assert_eq!(
        text,
        FILE.replace("|\n      Write about\n      {topic}.", "One.")
    );
    let text = with("nodes/1/kind", "\"a\\nb\"");
    assert_eq!(
        text,
        FILE.replace("kind: base", "kind: |-\n      a\n      b")
    );
}

#[test]
fn members_and_items_come_and_go_by_lines() {
    assert_eq!(
        with("nodes/1/policy/timeout_s", "9"),
        FILE.replace("retries: 2\n", "retries: 2\n      timeout_s: 9\n")
    );
    assert_eq!(
        with("nodes/1/when", "\"inputs.x\""),
        FILE.replace("retries: 2\n", "retries: 2\n    when: inputs.x\n")
    );
    assert_eq!(
        without("nodes/1/kind"),
        FILE.replace("    kind: base\n", "")
    );
    assert_eq!(
        without("nodes/0/instructions"),
        FILE.replace(
            "    instructions: |\n      Write about\n      {topic}.\n",
            ""
        )
    );
    let added = with("nodes/2", "{\"id\": \"last\", \"depends_on\": [\"check\"]}");
    assert_eq!(
        added,
        FILE.replace(
            "retries: 2\n",
            "retries: 2\n  - id: last\n    depends_on:\n      - check\n"
        )
    );
    assert_eq!(with("outputs/1", "\"write\""), format!("{FILE}- write\n"));
    let removed = without("nodes/1");
    assert!(removed.contains("# The first step.") && !removed.contains("id: check"));
}

#[test]
fn what_cannot_be_changed_in_place_is_written_anew_and_says_so() {
    let shared = "name: g\nbase: &b {x: 1}\nnodes: [{id: a, tool_args: *b}]\noutputs: [a] # why\n";
    let written = read(shared)
        .with(&place("base/x"), Some(2_i64.into()))
        .unwrap();
    assert!(!written.keeps_text, "the anchor is used twice");
    assert_eq!(
        written
            .document
            .get(&place("nodes/0/tool_args/x"))
            .unwrap()
            .to_value(),
        1_i64.into()
    );
    let at_alias = read(shared)
        .with(&place("nodes/0/tool_args/x"), Some(2_i64.into()))
        .unwrap();
    assert!(at_alias.keeps_text, "{}", at_alias.document.to_yaml());
    assert_eq!(
        at_alias.document.get(&place("base/x")).unwrap().to_value(),
        1_i64.into()
    );
}

#[test]
fn a_place_that_does_not_exist_is_refused() {
    let document = read(FILE);
    for at in ["nodes/7", "nodes/0/policy/retries", "name/x", "nope/x"] {
        let error = document.with(&place(at), Some(Value::Null)).unwrap_err();
        assert_eq!(error, ChangeError::NoSuchPlace, "{at}");
    }
    assert!(document.with(&place("nope"), None).is_err());
}

#[test]
fn a_graph_from_json_is_written_as_yaml() {
    let json = br#"{"name": "g", "nodes": [{"id": "a", "instructions": "x\ny", "yes": "no"}], "outputs": ["a"]}"#;
    let document = Document::read(json, Format::Json).unwrap();
    let yaml = document.to_yaml();
    assert_eq!(
        yaml,
        "name: g\nnodes:\n  - id: a\n    instructions: |-\n      x\n      y\n    \"yes\": \"no\"\noutputs:\n  - a\n"
    );
    assert!(is_same(&read(&yaml).to_value(), &document.to_value()));
}

/// Any value that a file can hold, with texts that YAML likes to misread.
fn values() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "yes",
        "No",
        "on",
        "~",
        "null",
        "010",
        "1:30",
        "1_000",
        "1e3",
        ".5",
        "2024-05-01",
        "<<",
        "=",
        "- x",
        "a: b",
        "a #b",
        "{topic}",
        "",
        " lead",
        "trail ",
        "a\tb",
        "a\nb",
        "a\nb\n",
        "\n\nx",
        "  x\ny",
        "x\n\n\n",
        "%x",
        "*x",
        "[x]",
        "a, b",
        "'q'",
        "\"",
        "\\",
        "é😀",
        "\r\n",
        "---",
        "...",
        "-",
        "?",
        ": ",
        "\u{feff}",
        "\u{85}",
        "# x",
        "${K}",
    ]);
    let text = prop_oneof![words.prop_map(str::to_owned), "\\PC{0,8}", "[a-z ]{60,120}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|n| Value::Number(Number::Int(n))),
        any::<f64>().prop_map(|n| Value::Number(Number::Float(n))),
        text.clone().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| Value::Array(Arc::new(items))),
            prop::collection::vec((text.clone(), inner), 0..4).prop_map(|members| Value::Object(
                Arc::new(members.into_iter().map(|(k, v)| (k.into(), v)).collect())
            )),
        ]
    })
}

fn mappings() -> impl Strategy<Value = Value> {
    prop::collection::vec(("[a-c]{1,2}|yes|5", values()), 1..5).prop_map(|members| {
        Value::Object(Arc::new(
            members.into_iter().map(|(k, v)| (k.into(), v)).collect(),
        ))
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_as_what_it_was(value in mappings()) {
        let document = Document::from_value(&value).unwrap();
        let yaml = document.to_yaml();
        let again = Document::read(yaml.as_bytes(), Format::Yaml);
        let again = again.map_err(|error| TestCaseError::fail(format!("{error}\n{yaml}")))?;
        prop_assert!(is_same(&again.to_value(), &value), "{yaml}");
    }

    #[test]
    fn a_rewritten_text_says_what_it_should(old in mappings(), new in mappings()) {
        let document = Document::from_value(&old).unwrap();
        let document = read(&document.to_yaml());
        let written = document.rewritten(&new).unwrap();
        prop_assert!(is_same(&written.document.to_value(), &new));
    }

    #[test]
    fn one_changed_member_keeps_the_rest_of_the_text(n in any::<i64>(), text in "[a-z{}: #'\"\\n-]{0,20}") {
        let document = read(FILE);
        for at in ["nodes/1/policy/retries", "nodes/0/tool_args/q", "nodes/0/instructions", "nodes/1/note", "name"] {
            for new in [Value::from(n), Value::from(text.clone())] {
                let written = document.with(&place(at), Some(new.clone())).unwrap();
                prop_assert!(is_same(&written.document.get(&place(at)).unwrap().to_value(), &new));
                prop_assert!(written.keeps_text, "{at} {new:?}");
                prop_assert!(written.document.to_yaml().contains("# How notes are written."));
            }
        }
    }
}
