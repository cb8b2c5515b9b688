//! `easel crash-test`, and the workflows of every shape that it is run over.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::easel::{Desk, Done};

/// The case folders.
fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/crash");
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    cases.sort();
    assert!(cases.len() >= 20, "{} cases", cases.len());
    cases
}

/// What the report says of kills that ended otherwise.
fn differences(case: &Path, done: &Done) -> Option<String> {
    let report: Value = serde_json::from_str(done.out.trim()).unwrap_or_default();
    let kills = report["kills"].as_array().map_or(0, Vec::len);
    if done.code == 0 && report["differ"] == 0 && kills > 1 {
        return None;
    }
    let kills = report["kills"].as_array().into_iter().flatten();
    let different = kills.filter(|kill| kill["verdict"] == "differs");
    let lines = different.map(|kill| {
        format!(
            "  {} {}: {}",
            kill["number"], kill["when"], kill["differences"]
        )
    });
    let lines: Vec<String> = lines.collect();
    Some(format!(
        "{}: exit {}\n{}\n{}",
        case.display(),
        done.code,
        lines.join("\n"),
        done.err
    ))
}

fn all_are_survived(arguments: &[&str]) {
    let desk = Desk::new();
    let failed = cases().into_iter().filter_map(|case| {
        let path = case.display().to_string();
        let all = [&["crash-test", &path, "--json"], arguments].concat();
        differences(&case, &desk.easel(&all))
    });
    let failed: Vec<String> = failed.collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn no_kill_changes_what_a_workflow_of_any_shape_comes_to() {
    all_are_survived(&["--every-event"]);
}

#[test]
fn no_kill_changes_it_in_postgresql_either() {
    let Some(cluster) = postgres_for_tests::cluster() else {
        return;
    };
    all_are_survived(&["--database", &cluster.database_here()]);
}
