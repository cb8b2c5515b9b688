//! The example of each code is a graph that has it.

use easel_check::{Code, Dialect, Severity};

use crate::documents::{checked, nothing};

/// The codes that a graph alone can have, with their examples.
fn examples() -> impl Iterator<Item = (Code, &'static str)> {
    let codes = Code::ALL.iter().copied();
    let graphs = codes.filter(|code| code.rule().dialect == Dialect::Graph);
    // Two are about files beside the graph.
    let graphs = graphs.filter(|code| !matches!(code, Code::Override | Code::Functions));
    graphs.map(|code| (code, code.rule().example))
}

#[test]
fn the_example_of_each_code_has_it() {
    let mut text = String::new();
    for (code, example) in examples() {
        let found = checked(example, &nothing()).all;
        let of_code: Vec<_> = found.iter().filter(|d| d.code == code).collect();
        assert!(!of_code.is_empty(), "{code}: {found:#?}");
        for d in of_code {
            assert_eq!(d.severity, code.rule().severity, "{code}");
            let at = d.place.map_or("-".to_owned(), |at| {
                assert!(example.get(at.offset..at.offset + at.len).is_some());
                format!("{}:{}", at.line, at.column)
            });
            let node = d.node.as_deref().unwrap_or("-");
            text.push_str(&format!(
                "{}[{code}] {at} {node}\n    {}\n",
                d.severity.name(),
                d.message
            ));
            if let Some(detail) = &d.detail {
                text.push_str(&format!("    {detail}\n"));
            }
            text.push_str(&format!("    fix: {}\n", d.fix));
        }
    }
    insta::assert_snapshot!("diagnostics", text);
}

#[test]
fn the_example_of_an_error_refuses_and_that_of_a_warning_does_not() {
    for (code, example) in examples() {
        let refusals = checked(example, &nothing()).refusals;
        let refuses = !refusals.is_empty();
        assert_eq!(
            refuses,
            code.rule().severity == Severity::Error,
            "{code}: {refusals:#?}"
        );
    }
}

#[test]
fn an_example_of_an_error_has_no_other() {
    for (code, example) in examples() {
        let refusals = checked(example, &nothing()).refusals;
        assert!(
            refusals.iter().all(|d| d.code == code),
            "{code}: {refusals:#?}"
        );
    }
}
