//! Asks the interpreter itself: what is found to need nothing must run in it, and what is found to need CPython must
//! not. A new version of it that can do more, or less, fails here.

use monty::MontyRepl;
use monty_types::{CompileOptions, PrintWriter, ResourceLimits, ResourceTracker};

use crate::source::Source;

/// What the interpreter says of a text; `None` if it runs to its end.
fn complaint(text: &str) -> Option<String> {
    let limits = ResourceTracker::new(ResourceLimits::default());
    let mut session = MontyRepl::new("helpers.py", limits, CompileOptions::default());
    let ran = session.feed_run(text, Vec::new(), PrintWriter::Disabled);
    ran.err().map(|error| error.to_string())
}

fn needs(text: &str) -> Vec<String> {
    let source = Source::read("helpers.py", text).unwrap();
    source
        .needs()
        .iter()
        .map(|need| need.what.clone())
        .collect()
}

/// Texts as people write them, one after another, parted by a line of dashes.
fn texts(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.split("\n# ----\n")
        .filter(|text| !text.trim().is_empty())
}

#[test]
fn what_needs_nothing_runs() {
    let mut count = 0;
    for text in texts(include_str!("runs.py")) {
        assert_eq!(needs(text), Vec::<String>::new(), "{text}");
        assert_eq!(complaint(text), None, "{text}");
        count += 1;
    }
    assert!(count > 40, "{count}");
}

#[test]
fn what_needs_cpython_does_not_run() {
    let mut count = 0;
    for text in texts(include_str!("refuses.py")) {
        assert!(!needs(text).is_empty(), "nothing found in: {text}");
        assert!(complaint(text).is_some(), "it runs after all: {text}");
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn every_member_of_the_tables_can_be_imported() {
    for (module, members) in super::tables::MODULES {
        for member in *members {
            // What the host answers cannot be imported without one.
            if (*module, *member) == ("os", "environ") {
                continue;
            }
            let text = format!("from {module} import {member}\n");
            assert_eq!(complaint(&text), None, "{text}");
        }
    }
}

#[test]
fn every_missing_builtin_is_missing() {
    for name in super::tables::MISSING_BUILTINS {
        assert!(complaint(&format!("{name}\n")).is_some(), "{name}");
    }
}
