//! References that may be missing, and targets that run whatever a branch chooses: what is said, and what is not.

use crate::documents::{Node, begin, canvas, checked, node, says, switch};
use easel_check::{Code, Surroundings};
use serde_json::json;

fn said(code: Code, nodes: Vec<(&str, Node)>) -> Vec<String> {
    let text = canvas(nodes).to_string();
    let (all, _) = checked(&text, &Surroundings::default());
    let of_code = all.into_iter().filter(|d| d.code == code);
    of_code.map(|d| d.message).collect()
}

fn missing(nodes: Vec<(&str, Node)>) -> usize {
    said(Code::MaybeMissing, nodes).len()
}

fn step(text: &str) -> Node {
    node(
        "StringTransform",
        json!({"method": "merge", "script": text}),
    )
}

#[test]
fn an_optional_step_is_missing_on_the_way_around_it() {
    let nodes = vec![
        begin(&["Switch:S"]),
        ("Switch:S", switch(&["A"], &["M"])),
        ("A", step("a").to(&["M"])),
        ("M", says("{A@result}")),
    ];
    assert_eq!(
        said(Code::MaybeMissing, nodes),
        ["`M` reads `A@result`, which is missing on some of the ways that lead to it."]
    );
}

#[test]
fn a_file_that_is_read_with_what_was_uploaded_is_told_of_once() {
    let form = node(
        "UserFillUp",
        json!({"inputs": {"f": {"type": "file", "name": "f"}}}),
    );
    let nodes = vec![
        begin(&["Switch:S"]),
        ("Switch:S", switch(&["F"], &["E"])),
        ("F", form.to(&["E"])),
        ("E", node("ExcelProcessor", json!({"input_files": ["F@f"]}))),
    ];
    assert_eq!(
        said(Code::MaybeMissing, nodes),
        ["`E` reads `F@f`, which is missing on some of the ways that lead to it."]
    );
}

#[test]
fn alternatives_that_leave_no_way_out_are_fine() {
    let nodes = |text: &str| {
        vec![
            begin(&["Switch:S"]),
            ("Switch:S", switch(&["A"], &["B"])),
            ("A", step("a").to(&["M"])),
            ("B", step("b").to(&["M"])),
            ("M", says(text)),
        ]
    };
    assert_eq!(missing(nodes("{A@result}{B@result}")), 0);
    assert_eq!(missing(nodes("{A@result}")), 1);
}

#[test]
fn who_asks_whether_it_is_there_may_use_it() {
    let nodes = |reader: Node| {
        vec![
            begin(&["Switch:S"]),
            ("Switch:S", switch(&["A"], &["M"])),
            ("A", step("a").to(&["M"])),
            ("M", reader),
        ]
    };
    assert_eq!(
        missing(nodes(says("{% if {A@result} %}{A@result}{% endif %}"))),
        0
    );
    let group = json!({"groups": [{"group_name": "g", "variables": [{"value": "A@result"}, {"value": "sys.query"}]}]});
    assert_eq!(missing(nodes(node("VariableAggregator", group))), 0);
    let test = json!({"cpn_id": "A@result", "operator": "not empty", "value": ""});
    let asks = json!({"conditions": [{"items": [test], "to": []}], "end_cpn_ids": []});
    assert_eq!(missing(nodes(node("Switch", asks))), 0);
    assert_eq!(missing(nodes(says("{A@_ERROR}"))), 0);
}

#[test]
fn what_one_case_starts_together_is_there_together() {
    let nodes = vec![
        begin(&["Switch:S"]),
        ("Switch:S", switch(&["A", "B"], &["C"])),
        ("A", step("a").to(&["M"])),
        ("B", step("b")),
        ("C", step("c")),
        ("M", says("{B@result}")),
    ];
    assert_eq!(missing(nodes), 0);
}

#[test]
fn a_step_behind_every_case_always_runs() {
    let nodes = |rest: &'static [&'static str]| {
        vec![
            begin(&["Switch:S", "M"]),
            ("Switch:S", switch(&["A"], rest)),
            ("A", step("a").to(&["C"])),
            ("B", step("b").to(&["C"])),
            ("C", step("c")),
            ("M", says("{C@result}")),
        ]
    };
    assert_eq!(missing(nodes(&["B"])), 0);
    assert_eq!(
        missing(nodes(&[])),
        1,
        "without a rest nothing may be chosen"
    );
}

#[test]
fn a_step_that_goes_elsewhere_when_it_fails_is_a_fork() {
    let risky = json!({"method": "merge", "script": "a", "exception_method": "goto", "exception_goto": ["H"]});
    let nodes = vec![
        begin(&["A"]),
        ("A", node("StringTransform", risky).to(&["B"])),
        ("B", step("b").to(&["M"])),
        ("H", step("h").to(&["M"])),
        ("M", says("{B@result}")),
    ];
    assert_eq!(missing(nodes), 1);
}

#[test]
fn a_body_reads_what_is_around_it() {
    let nodes = |rest: &'static [&'static str]| {
        vec![
            begin(&["A"]),
            ("A", step("a").to(&["Switch:S"])),
            ("Switch:S", switch(&["X"], rest)),
            ("X", step("x").to(&["I"])),
            ("I", node("Iteration", json!({"items_ref": "sys.files"}))),
            (
                "Start",
                node("IterationItem", json!({})).to(&["M"]).inside("I"),
            ),
            ("M", says("{A@result} {X@result} {item}").inside("I")),
        ]
    };
    assert_eq!(missing(nodes(&[])), 0);
    assert_eq!(missing(nodes(&["I"])), 1);
}

#[test]
fn the_turn_before_is_read_in_a_loop() {
    let nodes = vec![
        begin(&["Write"]),
        ("Write", step("{Review@result}").to(&["Review"])),
        ("Review", step("{Write@result}").to(&["Switch:S"])),
        ("Switch:S", switch(&["Write"], &["M"])),
        ("M", says("{Write@result}")),
    ];
    assert_eq!(missing(nodes), 0);
}

#[test]
fn a_target_with_a_life_of_its_own_runs_anyway() {
    let nodes = |other: Node| {
        vec![
            begin(&["Switch:S", "X"]),
            ("Switch:S", switch(&["A"], &["B"])),
            ("A", says("a")),
            ("B", step("b").to(&["A"])),
            ("X", other),
        ]
    };
    assert_eq!(
        said(Code::TargetRunsAnyway, nodes(step("x"))),
        Vec::<String>::new(),
        "a step on another case is no surprise"
    );
    assert_eq!(
        said(Code::TargetRunsAnyway, nodes(step("x").to(&["A"]))),
        ["`A` runs even if `Switch:S` does not choose it, because `X` leads to it too."]
    );
}

#[test]
fn a_branch_behind_another_is_no_surprise() {
    let nodes = vec![
        begin(&["Switch:S"]),
        ("Switch:S", switch(&["M"], &["Switch:T"])),
        ("Switch:T", switch(&["M"], &["N"])),
        ("M", says("m")),
        ("N", says("n")),
    ];
    assert_eq!(said(Code::TargetRunsAnyway, nodes), Vec::<String>::new());
}
