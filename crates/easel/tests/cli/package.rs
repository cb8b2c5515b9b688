//! Graphs from the command line: packages, what they require, what a run of one prints.

use crate::easel::Desk;
use serde_json::{Value, json};

const GREETING: &str = "\
name: greeting
functions: helpers.py
inputs: {name: string}
nodes:
  - {id: polite, kind: function, callable: 'helpers:polite'}
  - {id: say, kind: output, depends_on: [polite], value: 'Dear {polite[name]}'}
  - {id: count, kind: output, value: '{name} again'}
";

const HELPERS: &str = "def polite(name, **kwargs):\n    return {'name': name.title()}\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("in/workflow.yaml", "name: greeting\n");
    desk.write("in/graph.yaml", GREETING);
    desk.write("in/helpers.py", HELPERS);
    desk.write("in/.env", "TOKEN=never packed\n");
    desk
}

#[test]
fn a_folder_goes_through_an_archive_and_back_and_runs_all_the_way() {
    let desk = desk();
    let packed = desk.easel(&["pack", "in"]);
    assert_eq!(packed.code, 0, "{}", packed.err);
    assert!(packed.out.contains("in.zip: 3 files"), "{}", packed.out);
    let unpacked = desk.easel(&["unpack", "in.zip", "out"]);
    assert_eq!(unpacked.code, 0, "{}", unpacked.err);
    for name in ["workflow.yaml", "graph.yaml", "helpers.py"] {
        let (before, after) = (
            desk.read(&format!("in/{name}")),
            desk.read(&format!("out/{name}")),
        );
        assert_eq!(before, after, "{name}");
    }
    assert!(!desk.path("out/.env").exists(), "keys stay at home");
    let expected = json!({"say": "Dear Ada", "count": "ada again"});
    for workflow in ["in", "in.zip", "out", "out/graph.yaml"] {
        let ran = desk.easel(&["run", workflow, "ada"]);
        assert_eq!(ran.code, 0, "{workflow}: {}", ran.err);
        assert_eq!(ran.json(), expected, "{workflow}");
    }
}

#[test]
fn packing_and_unpacking_overwrite_nothing_unasked() {
    let desk = desk();
    desk.write("in.zip", "mine");
    let packed = desk.easel(&["pack", "in"]);
    assert_eq!(packed.code, 2);
    assert!(packed.err.contains("--force"), "{}", packed.err);
    assert_eq!(desk.read("in.zip"), "mine");
    assert_eq!(desk.easel(&["pack", "in", "--force"]).code, 0);
    desk.write("in2/keep.txt", "mine");
    let unpacked = desk.easel(&["unpack", "in.zip", "in2"]);
    assert_eq!(unpacked.code, 2);
    assert!(unpacked.err.contains("new or empty"), "{}", unpacked.err);
    assert!(!desk.path("in2/graph.yaml").exists());
    assert_eq!(desk.easel(&["unpack", "in/graph.yaml"]).code, 2);
    assert_eq!(desk.easel(&["unpack", "nowhere.zip"]).code, 2);
}

#[test]
fn requirements_say_what_is_missing_and_why() {
    let desk = Desk::new();
    desk.write(
        "g.yaml",
        "\
name: g
nodes:
  - {id: a, kind: function, callable: 'm:f'}
  - {id: t, kind: tool, tools: [nope], depends_on: [a], secrets: [TOKEN], tool_args: {k: '${TOKEN}'}}
  - {id: c, instructions: 'say {a}', provider: ghost, model: gpt, depends_on: [t]}
  - {id: d, instructions: 'say {a}', depends_on: [c]}
outputs: [d]
",
    );
    desk.write(
        "m.py",
        "import math\nimport requests\n\ndef f(**kw):\n    return 1\n",
    );
    let asked = desk.easel(&["requirements", "g.yaml", "--json"]);
    assert_eq!(asked.code, 3, "{}", asked.err);
    let found = asked.json();
    let states = |kind: &str| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let rows = found[kind].as_array().unwrap().iter();
        rows.map(|row| (text(&row["name"]), text(&row["state"])))
            .collect()
    };
    let missing = |name: &str| (name.to_owned(), "missing".to_owned());
    assert_eq!(found["satisfied"], false);
    assert_eq!(states("secrets"), [missing("TOKEN")]);
    assert_eq!(
        states("models"),
        [missing("gpt@ghost"), missing("(default)")]
    );
    assert_eq!(states("tools"), [missing("nope")]);
    assert_eq!(
        states("python"),
        [("m:f".to_owned(), "unusable".to_owned())]
    );
    let why = found["python"][0]["detail"].as_str().unwrap();
    assert!(
        why.contains("m.py:2:8") && why.contains("requests"),
        "{why}"
    );
    let text = desk.easel(&["requirements", "g.yaml"]).out;
    assert_eq!(text.lines().count(), 5, "{text}");
}

#[test]
fn requirements_that_are_met_are_said_with_where_from() {
    let desk = desk();
    desk.write("world.json", r#"{"default_reply": "yes"}"#);
    desk.write(
        "g.yaml",
        "\
name: g
functions: helpers.py
nodes:
  - {id: t, kind: tool, tools: [TavilySearch], secrets: [TOKEN], tool_args: {url: 'http://x/?k=${TOKEN}'}}
  - {id: c, instructions: 'say {t}', depends_on: [t]}
  - {id: l, kind: loop, max_iterations: 2, until: polite, depends_on: [c], body: [{id: b, kind: output, value: x}]}
outputs: [l]
",
    );
    desk.write("helpers.py", HELPERS);
    let mut command = desk.command(&["requirements", "g.yaml", "--world", "world.json"]);
    let output = command.env("TOKEN", "not to be shown").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("TOKEN") && text.contains("set, from"),
        "{text}"
    );
    assert!(
        text.contains("polite") && text.contains("runs in monty"),
        "{text}"
    );
    assert!(!text.contains("not to be shown"), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn a_new_graph_runs_as_it_is() {
    let desk = Desk::new();
    assert_eq!(desk.easel(&["new", "hello.yaml"]).code, 0);
    assert_eq!(
        desk.easel(&["check", "hello.yaml"]).out,
        "1 file: no errors, no warnings.\n"
    );
    let said = desk.easel(&["run", "hello.yaml", "Ada"]);
    assert_eq!(
        (said.out.as_str(), said.err.as_str()),
        (
            "Hello, Ada! This graph ran without a model, a key or a service.\n",
            ""
        )
    );
    let colours = r#"colours=["red", "blue"]"#;
    let said = desk.easel(&[
        "run",
        "hello.yaml",
        "--input",
        "name=Ada",
        "--input",
        colours,
    ]);
    assert!(said.out.contains("red is number 0"), "{}", said.out);
}

#[test]
fn inputs_that_a_graph_refuses_are_named_with_the_way_to_give_them() {
    let desk = Desk::new();
    desk.easel(&["new", "hello.yaml"]);
    let missing = desk.easel(&["run", "hello.yaml"]);
    assert_eq!((missing.code, missing.out.as_str()), (2, ""));
    assert!(
        missing.err.contains("`name`") && missing.err.contains("--input"),
        "{}",
        missing.err
    );
    let wrong = desk.easel(&[
        "run",
        "hello.yaml",
        "--input",
        "name=A",
        "--input",
        "colours=red",
    ]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("`colours`"), "{}", wrong.err);
    let unknown = desk.easel(&[
        "run",
        "hello.yaml",
        "--input",
        "name=A",
        "--input",
        "nmae=B",
    ]);
    assert_eq!(unknown.code, 0);
    assert!(unknown.err.contains("`nmae`"), "{}", unknown.err);
}

#[test]
fn results_stand_in_the_json_of_a_run() {
    let desk = Desk::new();
    desk.easel(&["new", "hello.yaml"]);
    let ran = desk.easel(&["run", "hello.yaml", "Ada", "--json"]).json();
    let said = &ran["results"]["plain"]["plain"];
    assert!(said.as_str().unwrap().starts_with("Hello, Ada!"), "{ran}");
}

#[test]
fn the_schema_is_one_that_editors_can_use() {
    let schema = Desk::new().easel(&["schema"]).json();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert!(schema["$defs"]["node"]["properties"]["depends_on"].is_object());
}
