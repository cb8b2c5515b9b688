//! Graphs and the Python beside them, from the command line.

use serde_json::{Value, json};

use super::easel::{Desk, Done, wait};

/// A desk with a package in `p/`: a graph and its files.
fn package(graph: &str, files: &[(&str, &str)]) -> Desk {
    let desk = Desk::new();
    desk.write("p/workflow.yaml", "name: p\n");
    desk.write("p/graph.yaml", graph);
    for (name, text) in files {
        desk.write(&format!("p/{name}"), text);
    }
    desk
}

/// A function node that calls `fns:run`, and gives out what it returns.
const CALLS: &str =
    "name: g\nnodes:\n  - {id: f, kind: function, callable: 'fns:run'}\noutputs: [f]\n";

fn calling(python: &str) -> Desk {
    package(CALLS, &[("fns.py", python)])
}

fn run(desk: &Desk) -> Done {
    desk.easel(&["run", "p", "--json"])
}

fn result(done: &Done, node: &str) -> Value {
    done.json()["results"][node].clone()
}

#[test]
fn a_function_of_a_package_is_told_everything_by_name() {
    let graph = "name: g\ninputs: {topic: string, n: integer}\nnodes:\n  - {id: a, kind: output, value: 'about {topic}'}\n  - {id: b, kind: function, callable: 'nodes.b:run'}\n  - {id: c, kind: python, callable: nodes.b.run, depends_on: [b]}\noutputs: [c]\n";
    let python = "def run(topic, **kwargs):\n    return {'topic': topic, 'keys': sorted(kwargs)}\n";
    let desk = package(graph, &[("nodes/b.py", python)]);
    let done = desk.easel(&[
        "run",
        "p",
        "--json",
        "--input",
        "topic=owls",
        "--input",
        "n=3",
    ]);
    assert_eq!(done.code, 0, "{}", done.seen());
    assert_eq!(
        done.json()["results"]["a"],
        json!("about owls"),
        "an output node is what a run gives out: {}",
        done.out
    );
    let listed = graph.replace("  - {id: a, kind: output, value: 'about {topic}'}\n", "");
    let desk = package(&listed, &[("nodes/b.py", python)]);
    let done = desk.easel(&[
        "run",
        "p",
        "--json",
        "--input",
        "topic=owls",
        "--input",
        "n=3",
    ]);
    assert_eq!(
        result(&done, "c"),
        json!({"topic": "owls", "keys": ["b", "n"]})
    );
}

#[test]
fn a_module_keeps_its_globals_within_a_run_and_starts_afresh_in_the_next() {
    let graph = "name: g\nnodes:\n  - {id: a, kind: function, callable: 'fns:count'}\n  - {id: b, kind: function, callable: 'fns:count', depends_on: [a]}\noutputs: [a, b]\n";
    let python =
        "calls = 0\n\ndef count(**kwargs):\n    global calls\n    calls += 1\n    return calls\n";
    let desk = package(graph, &[("fns.py", python)]);
    for _ in 0..2 {
        let done = run(&desk);
        assert_eq!(
            (result(&done, "a"), result(&done, "b")),
            (json!(1), json!(2)),
            "{}",
            done.seen()
        );
    }
}

#[test]
fn an_unexpected_keyword_is_an_error_as_in_python() {
    let graph = "name: g\ninputs: {topic: string, extra: string}\nnodes:\n  - {id: f, kind: function, callable: 'fns:run'}\n  - {id: g, kind: function, callable: 'fns:all'}\noutputs: [f]\n";
    let python =
        "def run(topic):\n    return topic\n\ndef all(**kwargs):\n    return len(kwargs)\n";
    let desk = package(graph, &[("fns.py", python)]);
    let done = desk.easel(&["run", "p", "--input", "topic=a", "--input", "extra=b"]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("unexpected keyword argument 'extra'"),
        "{}",
        done.err
    );
}

#[test]
fn a_coroutine_is_awaited() {
    let desk = calling("async def run(**kwargs):\n    return 'awaited'\n");
    assert_eq!(result(&run(&desk), "f"), json!("awaited"));
}

#[test]
fn a_traceback_has_the_lines_of_the_users_file() {
    let desk = calling(
        "def inner():\n    raise ValueError('no such owl')\n\n\ndef run(**kwargs):\n    return inner()\n",
    );
    let done = run(&desk);
    assert_eq!(done.code, 1);
    let error = done.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.contains("ValueError: no such owl"), "{error}");
    assert!(
        error.contains("fns.py\", line 2") && error.contains("fns.py\", line 6"),
        "{error}"
    );
}

#[test]
fn a_function_that_never_ends_is_stopped_and_the_run_says_so() {
    let graph = CALLS.replace("'fns:run'", "'fns:run', policy: {timeout_s: 0.5}");
    let desk = package(
        &graph,
        &[(
            "fns.py",
            "def run(**kwargs):\n    while True:\n        pass\n",
        )],
    );
    let done = run(&desk);
    assert_eq!(done.code, 1);
    assert_eq!(done.json()["error"]["code"], "timeout", "{}", done.seen());
}

#[test]
fn a_function_that_eats_memory_takes_nothing_along() {
    let desk = calling(
        "def run(**kwargs):\n    xs = []\n    while True:\n        xs.append('x' * 1000000)\n",
    );
    let done = run(&desk);
    assert_eq!(done.code, 1, "{}", done.seen());
    assert!(
        done.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("memory"),
        "{}",
        done.seen()
    );
}

#[test]
fn python_that_needs_more_than_the_built_in_interpreter_says_what_to_do() {
    let desk =
        calling("import statistics\n\ndef run(**kwargs):\n    return statistics.mean([1, 2, 3])\n");
    let done = run(&desk);
    assert_eq!(done.code, 1);
    let error = done.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        error.contains("fns.py") && error.contains("statistics"),
        "{error}"
    );
    assert!(
        error.contains("[python]") && error.contains("easel.toml"),
        "{error}"
    );
}

#[test]
fn an_operator_may_allow_cpython_and_the_record_says_which_ran() {
    let Some(python) = python3() else {
        eprintln!("SKIPPED: there is no python3 on the PATH");
        return;
    };
    let desk =
        calling("import statistics\n\ndef run(**kwargs):\n    return statistics.mean([1, 2, 6])\n");
    desk.write("easel.toml", &format!("[python]\ncpython = {python:?}\n"));
    let done = run(&desk);
    assert_eq!(result(&done, "f"), json!(3), "{}", done.seen());
    let events = desk.easel(&["run", "p", "--events"]);
    let finished = events
        .out
        .lines()
        .find(|line| line.contains("node_finished"))
        .unwrap();
    let finished: Value = serde_json::from_str(finished).unwrap();
    let details = &finished["data"]["outputs"]["details"];
    assert_eq!(details["runtime"], "cpython", "{details}");
    assert!(
        details["why"].as_str().unwrap().contains("statistics"),
        "{details}"
    );
}

#[test]
fn cpython_runs_the_file_beside_a_graph_of_the_current_folder() {
    let Some(python) = python3() else {
        eprintln!("SKIPPED: there is no python3 on the PATH");
        return;
    };
    let desk = Desk::new();
    desk.write(
        "g.yaml",
        "name: g\nnodes: [{id: f, kind: function, callable: 'fns:run'}]\noutputs: [f]\n",
    );
    let python_code = "import statistics\n\ndef run(**kwargs):\n    return len(open('data.txt').read()) + statistics.mean([1, 2, 6])\n";
    desk.write("fns.py", python_code);
    desk.write("data.txt", "owls");
    desk.write("easel.toml", &format!("[python]\ncpython = {python:?}\n"));
    let done = desk.easel(&["run", "g.yaml"]);
    assert_eq!(
        (done.code, done.out.trim_end()),
        (0, "7"),
        "{}",
        done.seen()
    );
}

fn python3() -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    // A shim is no interpreter: it would ask its manager, which is not there.
    places.find(|place| place.is_file() && !place.to_string_lossy().contains("shims"))
}

#[test]
fn a_loop_ends_by_a_function_of_the_sidecar() {
    let graph = "name: g\nfunctions: helpers.py\nnodes:\n  - id: l\n    kind: loop\n    max_iterations: 5\n    until: done\n    accumulate: all\n    body:\n      - {id: b, kind: function, callable: draft}\noutputs: [l]\n";
    let python = "def draft(index, feedback, **kwargs):\n    return f'{index}:{feedback}'\n\n\ndef done(it):\n    return (it.iteration >= 3, f'after {it.output} of {it.max_iterations} {it.is_last}')\n";
    let desk = package(graph, &[("helpers.py", python)]);
    let done = run(&desk);
    assert_eq!(
        result(&done, "l"),
        json!([
            "0:",
            "1:after 0: of 5 False",
            "2:after 1:after 0: of 5 False of 5 False"
        ]),
        "{}",
        done.seen()
    );
}

#[test]
fn a_graph_alone_finds_the_python_beside_it() {
    let desk = Desk::new();
    desk.write("g.yaml", CALLS);
    desk.write("fns.py", "def run(**kwargs):\n    return 'beside'\n");
    let done = desk.easel(&["run", "g.yaml", "--json"]);
    assert_eq!(result(&done, "f"), json!("beside"), "{}", done.seen());
}

#[test]
fn the_environment_and_files_are_out_of_reach_of_python() {
    let desk = calling("import os\n\ndef run(**kwargs):\n    return sorted(os.environ)\n");
    let done = run(&desk);
    assert!(
        done.code == 1 || result(&done, "f") == json!([]),
        "{}",
        done.seen()
    );
    let desk = calling("def run(**kwargs):\n    return open('/etc/passwd').read()\n");
    let done = run(&desk);
    assert_eq!(done.code, 1, "{}", done.seen());
    assert!(!done.out.contains("root:"), "{}", done.out);
}

#[test]
fn a_graph_that_cannot_be_read_shows_the_line() {
    let desk = Desk::new();
    desk.write(
        "g.yaml",
        "name: g\nnodes:\n  - id: a\n    instructions: {topic}\n",
    );
    let done = desk.easel(&["check", "g.yaml"]);
    assert_eq!(done.code, 3, "{}", done.seen());
    assert!(done.out.contains("g.yaml:4"), "{}", done.out);
    desk.write("g.yaml", "name: g\nnodes: [\n");
    let done = desk.easel(&["run", "g.yaml"]);
    assert_eq!(done.code, 3, "{}", done.seen());
}

#[test]
fn a_relative_import_of_a_sidecar_is_found_by_the_check_with_its_line() {
    let desk = Desk::new();
    let graph = "name: g\nfunctions: helpers.py\nnodes: [{id: f, kind: function, callable: run}]\noutputs: [f]\n";
    desk.write("g.yaml", graph);
    desk.write(
        "helpers.py",
        "import json\nfrom .other import x\n\n\ndef run(**kwargs):\n    return x\n",
    );
    let done = desk.easel(&["check", "--format", "json", "g.yaml"]);
    assert_eq!(done.code, 3, "{}", done.seen());
    let found = done.json()["files"][0]["diagnostics"][0]["message"].to_string();
    assert!(
        found.contains("helpers.py:2") && found.contains("stands alone"),
        "{found}"
    );
    let asked = desk.easel(&["requirements", "g.yaml"]);
    assert!(asked.out.contains("helpers.py:2"), "{}", asked.seen());
}

/// A run of a graph with one search whose tool has these settings.
fn searching(settings: &str) -> Done {
    let desk = Desk::new();
    let graph = format!(
        "name: g\ninputs: {{q: string, depth: {{type: string, required: false}}}}\nnodes:\n  - {{id: find, kind: tool, tools: [tavily_search], secrets: [SEARCH_KEY], tool_args: {{query: '{{q}}'}}, tool_settings: {{tavily_search: {settings}}}}}\noutputs: [find]\n"
    );
    desk.write("g.yaml", &graph);
    let found = json!([{"title": "Owls", "url": "http://x", "content": "They fly.", "score": 1}]);
    desk.json("w.json", &json!({"search": [{"results": found}]}));
    let mut command = desk.command(&[
        "run", "g.yaml", "--input", "q=owls", "--world", "w.json", "--json",
    ]);
    command.env("SEARCH_KEY", "secret-0123456789");
    command.env("EASEL_HOME", desk.path("home"));
    wait(command.spawn().unwrap())
}

#[test]
fn a_secret_in_the_settings_of_a_tool_reaches_the_tool() {
    let done = searching("{api_key: '${SEARCH_KEY}', max_results: 3}");
    assert_eq!(done.code, 0, "{}", done.seen());
    let entries = &done.json()["receipt"]["receipt"]["entries"];
    assert_eq!(entries[0]["secret"], "SEARCH_KEY", "{entries}");
    assert_eq!(entries[0]["sink"], "tavily_search");
    assert!(!done.seen().contains("secret-0123456789"));
    let undeclared = searching("{api_key: '${OTHER_KEY}'}");
    let entries = &undeclared.json()["receipt"]["receipt"]["entries"];
    assert_eq!(entries[0]["provider"], "file", "it is text: {entries}");
}

#[test]
fn a_setting_that_a_tool_cannot_take_fails_the_step_before_anything_is_asked() {
    let number = searching("{api_key: k, max_results: 99}");
    assert_eq!(number.code, 1);
    let error = number.json()["error"]["message"].to_string();
    assert!(error.contains("max_results"), "{error}");
    let missing = searching("{api_key: '{depth.key}'}");
    assert_eq!(missing.code, 1);
    let error = missing.json()["error"]["message"].to_string();
    assert!(
        error.contains("tool_settings") && error.contains("{depth.key}"),
        "{error}"
    );
}

#[test]
fn an_input_that_nothing_reads_is_told_on_the_terminal_in_the_events_and_in_the_record() {
    let graph = "name: g\nnodes:\n  - {id: a, kind: output, value: hi}\n";
    let desk = package(graph, &[]);
    let told = "Nothing in this graph reads the input `extra`.";
    let run = |more: &[&str]| {
        let words = ["run", "p", "--input", "extra=1"];
        desk.easel(&[&words[..], more].concat())
    };
    let plain = run(&[]);
    assert!(plain.err.contains(told), "{}", plain.seen());
    assert_eq!(plain.out, "hi\n");
    let events = run(&["--events"]);
    let warned = |line: &str| line.contains("\"event\":\"warning\"") && line.contains(told);
    assert!(events.out.lines().any(warned), "{}", events.seen());
    let warnings = run(&["--json"]).json()["warnings"].clone();
    let message = warnings[0]["message"].as_str().unwrap_or_default();
    assert!(
        message.starts_with(told) && message.contains("{extra}"),
        "{warnings}"
    );
    assert_eq!(warnings[0]["node_id"], Value::Null);

    // Who is told everything may read it.
    let desk = package(
        CALLS,
        &[("fns.py", "def run(**kw):\n    return sorted(kw)\n")],
    );
    let done = desk.easel(&["run", "p", "--input", "extra=1", "--json"]);
    assert_eq!(done.json()["warnings"], Value::Null);
    assert_eq!(result(&done, "f"), json!(["extra"]));
}

#[test]
fn a_canvas_is_one_whatever_its_file_is_called() {
    let desk = Desk::new();
    desk.write(
        "canvas.yaml",
        include_str!("../../../../examples/hello.json"),
    );
    let ran = desk.easel(&["run", "canvas.yaml", "Ada"]);
    assert_eq!(ran.code, 0, "{}", ran.seen());
    assert!(ran.out.starts_with("Hello, Ada!"), "{}", ran.out);
    // A graph in braces is no canvas.
    desk.write(
        "flow.yaml",
        "{name: g, nodes: [{id: a, kind: output, value: hi}]}\n",
    );
    assert_eq!(desk.easel(&["run", "flow.yaml"]).out, "hi\n");
}
