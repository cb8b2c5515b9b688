//! What the command says of itself.

use crate::easel::Desk;

#[test]
fn every_verb_explains_itself() {
    let desk = Desk::new();
    let verbs: [&[&str]; 24] = [
        &["--help"],
        &["run", "--help"],
        &["serve", "--help"],
        &["check", "--help"],
        &["test", "--help"],
        &["crash-test", "--help"],
        &["explain", "--help"],
        &["components", "--help"],
        &["export", "--help"],
        &["new", "--help"],
        &["pack", "--help"],
        &["unpack", "--help"],
        &["requirements", "--help"],
        &["schema", "--help"],
        &["convert", "--help"],
        &["runs", "--help"],
        &["runs", "answer", "--help"],
        &["agents", "import", "--help"],
        &["keys", "--help"],
        &["kb", "add", "--help"],
        &["mcp", "--help"],
        &["mcp", "call", "--help"],
        &["memory", "--help"],
        &["completions", "--help"],
    ];
    let mut all = String::new();
    for verb in verbs {
        let help = desk.easel(verb);
        assert_eq!((help.code, help.err.as_str()), (0, ""));
        all.push_str(&format!("$ easel {}\n{}\n", verb.join(" "), help.out));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_version_names_the_commit() {
    let version = Desk::new().easel(&["--version"]).out;
    assert!(
        version.starts_with(&format!("easel {} (", env!("CARGO_PKG_VERSION"))),
        "{version}"
    );
}

#[test]
fn without_a_verb_it_helps() {
    let helped = Desk::new().easel(&[]);
    assert_eq!(helped.code, 2);
    assert!(helped.err.contains("Usage: easel"));
}

#[test]
fn shells_complete_it() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            Desk::new()
                .easel(&["completions", shell])
                .out
                .contains("easel")
        );
    }
}
