//! `python/easel.py`: graphs written in Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::easel::{Desk, Done, wait};

/// The folder of `easel.py`.
fn module() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python")
}

/// Runs a Python program beside the module; `None`, and a word about it, where there is no Python.
fn python(desk: &Desk, program: &str) -> Option<Done> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3 here, so python/easel.py is not tested.");
        return None;
    }
    desk.write("program.py", program);
    let mut command = desk.program("python3", &["program.py"]);
    let command = command
        .env("PYTHONPATH", module())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("EASEL", env!("CARGO_BIN_EXE_easel"));
    Some(wait(command.spawn().unwrap()))
}

#[test]
fn a_graph_in_python_is_checked_saved_and_run() {
    let desk = Desk::new();
    desk.write(
        "helpers.py",
        "def shout(topic, **kwargs):\n    return topic.upper() + '!'\n",
    );
    let program = r#"
from easel import Graph, GraphInput, GraphNode

graph = Graph(
    name="shouting",
    functions="helpers.py",
    inputs=[GraphInput(name="topic", type="string")],
    nodes=[GraphNode(id="loud", kind="function", callable="helpers:shout")],
)
graph.add(GraphNode(id="say", kind="output", depends_on=["loud"], value="{topic}:\n  {loud}\n"))
assert [str(problem) for problem in graph.check()] == []
assert graph.run({"topic": "owls"}) == {"say": {"loud": "OWLS!", "say": "owls:\n  OWLS!\n"}}
graph.save("graph.yaml")
"#;
    let Some(done) = python(&desk, program) else {
        return;
    };
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let ran = desk.easel(&["run", "graph.yaml", "bats"]);
    assert_eq!(ran.out, "bats:\n  BATS!\n", "{}", ran.err);
    let left: Vec<_> = std::fs::read_dir(desk.path(".")).unwrap().collect();
    assert_eq!(left.len(), 3, "nothing is left behind: {left:?}");
}

#[test]
fn code_for_the_old_engine_builds_the_same_graph() {
    let desk = Desk::new();
    let program = r#"
from easel import Graph, GraphBuilder, GraphInput, GraphNode

built = (
    GraphBuilder("notes", description="two steps")
    .input("items", type="array")
    .map("each", over="inputs.items", item_var="word", body=[
        GraphNode(id="line", kind="output", value="{word}?"),
    ])
    .router("way", depends_on=["each"], cases=[{"when": "len(nodes.each) > 1", "to": "many"}, {"to": "one"}])
    .node("many", kind="output", depends_on=["way"])
    .node("one", kind="output", depends_on=["way"])
    .build()
)
read = Graph.from_dict(built.to_dict())
assert read == built and read.to_yaml() == built.to_yaml()
assert [node.id for node in built.nodes] == ["each", "way", "many", "one"]
assert built.nodes[0].body[0].value == "{word}?" and built.nodes[0].when is None
print(built.run({"items": ["a", "b"]}))
"#;
    let Some(done) = python(&desk, program) else {
        return;
    };
    assert_eq!(done.err, "");
    assert_eq!(done.out, "{'many': 'many'}\n");
}

#[test]
fn a_function_as_until_is_refused_with_the_way_to_write_it() {
    let desk = Desk::new();
    let program = r#"
from easel import EaselError, GraphNode

def good_enough(it):
    return it.index > 1

try:
    GraphNode(id="l", kind="loop", max_iterations=3, until=good_enough, body=[])
except EaselError as error:
    print(error)
"#;
    let Some(done) = python(&desk, program) else {
        return;
    };
    assert_eq!(done.err, "");
    for part in ["`until`", "sidecar", "until='good_enough'"] {
        assert!(done.out.contains(part), "{}", done.out);
    }
}

#[test]
fn what_easel_refuses_python_hears_of() {
    let desk = Desk::new();
    let program = r#"
from easel import EaselError, Graph, GraphInput, GraphNode

def failed(run):
    try:
        run()
    except EaselError as error:
        return error
    raise AssertionError("nothing was raised")

circle = Graph(name="g", nodes=[GraphNode(id="a", depends_on=["b"]), GraphNode(id="b", depends_on=["a"])])
error = failed(circle.run)
assert error.code == 3 and "a" in str(error), error
assert any(problem["severity"] == "error" for problem in circle.check())
asks = Graph(name="g", inputs=[GraphInput("n", type="integer")], nodes=[GraphNode(id="o", kind="output", value="{n}")])
error = failed(asks.run)
assert error.code == 2 and "`n`" in str(error), error
assert asks.run({"n": 3}) == {"o": "3"}
assert "NaN" not in str(failed(lambda: Graph(name="g", nodes=[GraphNode(id="a", policy={"x": float("nan")})]).to_yaml()))
assert "cannot be started" in str(failed(lambda: asks.run({"n": 3}, easel="./nowhere")))
"#;
    let Some(done) = python(&desk, program) else {
        return;
    };
    assert_eq!((done.code, done.err.as_str()), (0, ""));
}

#[test]
fn yaml_from_python_says_the_same_to_easel() {
    let desk = Desk::new();
    let program = r##"
import json, random
from easel import to_yaml

LETTERS = list("ab {}:#-\n\n'\"\\,&*!|>%@`~[]?\u00e9\u2028\x85\x7f\t01.eE=\U0001f600yesnoNULL$")
WORDS = ["yes", "No", "null", "~", "1e3", "0x1f", "010", "1_000", "12:30:45", "2020-01-01", ".inf", "<<", "=", "- a", "a: b",
         " a", "a ", "\na", "a\n\n", "a\n b\n", "\ta\nb", "...", "---", "{topic}", "${TOKEN}", "a #b", "#", "!x", "&a", "*a"]

def text(r):
    return r.choice(WORDS) if r.random() < 0.3 else "".join(r.choice(LETTERS) for _ in range(r.randrange(14)))

def value(r, depth):
    kind = r.randrange(9 if depth < 3 else 7)
    if kind == 0:
        return r.choice([None, True, False, 0, -7, 10**12, 1.5, 1e20, 1e-7, 3.0])
    if kind <= 6:
        return text(r)
    if kind == 7:
        return {text(r): value(r, depth + 1) for _ in range(r.randrange(4))}
    return [value(r, depth + 1) for _ in range(r.randrange(4))]

r = random.Random(7)
args = {"k%d" % at: value(r, 0) for at in range(400)}
graph = {"name": "g", "nodes": [{"id": "t", "kind": "tool", "tools": ["x"], "tool_args": args}], "outputs": ["t"]}
open("graph.yaml", "w", encoding="utf-8").write(to_yaml(graph))
open("graph.json", "w", encoding="utf-8").write(json.dumps(graph))
"##;
    let Some(done) = python(&desk, program) else {
        return;
    };
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let read = |name: &str| {
        let bytes = std::fs::read(desk.path(name)).unwrap();
        let format = easel_runtime::graphs::source::Format::of_path(Path::new(name));
        let document = easel_runtime::graphs::document::Document::read(&bytes, format).unwrap();
        document.to_value()
    };
    let (yaml, json) = (read("graph.yaml"), read("graph.json"));
    let args = |graph: &easel_runtime::Value| {
        graph.get("nodes").unwrap().as_array().unwrap()[0]
            .get("tool_args")
            .unwrap()
            .clone()
    };
    let (yaml, json) = (args(&yaml), args(&json));
    for (name, expected) in json.as_object().unwrap() {
        assert_eq!(yaml.get(name), Some(expected), "{name}");
    }
}
