//! The command at a terminal, as `script` makes one: what people see and type.

use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::json;

use crate::easel::{Desk, asks_a_form, asks_a_model, canvas, says, wait};

/// What a terminal of that many columns shows when somebody gives a command to its shell and types that.
fn seen(columns: u16, desk: &Desk, command: &str, typed: &str) -> String {
    let line = format!("stty rows 24 cols {columns} -echo; {command}; echo \"exit $?\"");
    let mut terminal = desk.program("script", &["-qec", &line, "/dev/null"]);
    terminal
        .env("EASEL", env!("CARGO_BIN_EXE_easel"))
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped());
    let mut child = terminal.spawn().unwrap();
    // Open to the end: a keyboard does not go away.
    let mut keyboard = child.stdin.take().unwrap();
    keyboard.write_all(typed.as_bytes()).unwrap();
    wait(child).out.replace("\r\n", "\n")
}

/// The text without the sequences that move cursors and colour letters.
fn plain(seen: &str) -> String {
    let mut text = String::new();
    let mut rest = seen;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        text.push_str(before);
        let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        rest = &after[end + 1..];
    }
    text + rest
}

#[test]
fn each_node_has_a_line_and_so_has_the_answer() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    let seen = plain(&seen(80, &desk, "$EASEL run a.json", ""));
    // What moved in a line, if the node took long enough to be seen moving, was wiped before the line got its text.
    let last = |line| str::rsplit(line, '\r').next().unwrap_or(line).trim_end();
    let lines: Vec<&str> = seen.lines().map(last).collect();
    assert!(lines.contains(&"Hello"), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("exit 0"), "{lines:?}");
    let node = lines.iter().find(|line| line.contains("✓ Message:M"));
    assert!(node.unwrap().ends_with("ms"), "{lines:?}");
}

#[test]
fn colours_can_be_switched_off() {
    const RED: &str = "\u{1b}[31m";
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    assert!(seen(80, &desk, "$EASEL run a.json Hi", "").contains(RED));
    let seen = seen(80, &desk, "NO_COLOR=1 $EASEL run a.json Hi", "");
    assert!(!seen.contains("\u{1b}[3"), "{seen:?}");
}

#[test]
fn errors_fit_a_narrow_terminal() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    let seen = plain(&seen(50, &desk, "$EASEL run a.json Hi", ""));
    let told = seen.lines().skip_while(|line| !line.contains('×'));
    for line in told {
        assert!(line.trim_end().chars().count() <= 50, "{line}");
    }
}

#[test]
fn a_form_is_asked_field_by_field() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_form());
    let seen = plain(&seen(80, &desk, "$EASEL run a.json Ada", "many\n42\n2\n"));
    for part in [
        "One more thing, Ada:",
        "Write a number.",
        "1. Red",
        "42 and Blue",
        "exit 0",
    ] {
        assert!(seen.contains(part), "{seen}");
    }
}

#[test]
fn who_goes_away_from_a_question_leaves_the_line_in_order() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_form());
    let seen = plain(&seen(80, &desk, "$EASEL run a.json Ada", "\u{4}"));
    assert!(seen.contains("Your age (a number): \nexit 4"), "{seen:?}");
}

#[test]
fn names_do_not_move_the_cursor() {
    let desk = Desk::new();
    desk.json(
        "a.json",
        &canvas(&[
            ("begin", "Begin", json!({}), &["Message:\u{1b}[2J\nM"]),
            (
                "Message:\u{1b}[2J\nM",
                "Message",
                json!({"content": ["Hello"]}),
                &[],
            ),
        ]),
    );
    let seen = seen(80, &desk, "$EASEL run a.json", "");
    assert!(
        seen.contains("Message: [2J M") && !seen.contains("\u{1b}[2J"),
        "{seen:?}"
    );
}

#[test]
fn the_value_of_a_secret_is_not_shown_while_it_is_typed() {
    let desk = Desk::new();
    let mut terminal = desk.program("script", &["-qec", "$EASEL secrets set TOKEN", "/dev/null"]);
    terminal
        .env("EASEL", env!("CARGO_BIN_EXE_easel"))
        .env("EASEL_HOME", desk.path("home"))
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped());
    let mut child = terminal.spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let mut shown = String::new();
    let mut read = |until: &str| {
        let mut bytes = [0; 256];
        while !shown.contains(until) {
            let read = screen.read(&mut bytes).unwrap();
            assert_ne!(read, 0, "{shown}");
            shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        shown.clone()
    };
    read("Value of TOKEN");
    // What is typed before the terminal stops showing it would be dropped.
    std::thread::sleep(std::time::Duration::from_millis(500));
    keyboard.write_all(b"s3cr3t-value\n").unwrap();
    let shown = read("is set in the vault");
    assert!(!shown.contains("s3cr3t"), "{shown}");
    drop(keyboard);
    wait(child);
}

#[test]
fn adding_documents_shows_how_far_it_is() {
    let desk = Desk::new();
    desk.write("docs/a.md", "Tea at noon.");
    desk.write("docs/b.md", "Rain at night.");
    desk.easel(&["kb", "new", "b"]);
    let shown = seen(80, &desk, "$EASEL kb add b docs", "");
    assert!(shown.contains("\u{1b}["), "something moves: {shown:?}");
    let plain = plain(&shown);
    let last = |line| str::rsplit(line, '\r').next().unwrap_or(line).trim_end();
    let lines: Vec<&str> = plain.lines().map(last).collect();
    assert!(lines.contains(&"[1/2] a.md: added"), "{lines:?}");
    assert!(
        lines.contains(&"2 added, 0 replaced, 0 unchanged."),
        "{lines:?}"
    );
    let piped = desk.easel(&["kb", "add", "b", "docs"]);
    assert_eq!(piped.err, "0 added, 0 replaced, 2 unchanged.\n");
}
