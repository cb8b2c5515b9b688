//! What scripts do to a program: they go away, they interrupt it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use crate::easel::{Desk, asks_a_model, says, wait};
use crate::model::{Server, hanging};

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let desk = Desk::new();
    let mut child = desk.command(&["components", "--markdown"]).spawn().unwrap();
    drop(child.stdout.take());
    let done = wait(child);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_is_cancelled() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    let server = Server::start(hanging);
    let arguments = [
        "run",
        "a.json",
        "Hi",
        "--model",
        "m",
        "--base-url",
        &server.url(),
        "--events",
    ];
    let mut child = desk.command(&arguments).spawn().unwrap();
    let mut events = BufReader::new(child.stdout.take().unwrap()).lines();
    // The model was asked once its node has begun.
    events
        .find(|line| {
            line.as_ref()
                .unwrap()
                .contains("\"component_id\":\"LLM:A\"")
        })
        .unwrap()
        .unwrap();
    server.wait_for_a_request();
    interrupt(&child);
    let rest: Vec<String> = events.map(Result::unwrap).collect();
    let done = wait(child);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("The run was cancelled."), "{}", done.err);
    assert!(
        rest.last().unwrap().contains("workflow_finished"),
        "{rest:?}"
    );
}

/// Presses Ctrl-C.
#[cfg(unix)]
fn interrupt(child: &Child) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
}

#[test]
#[cfg(unix)]
fn each_turn_of_a_conversation_can_be_interrupted() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    let server = Server::start(hanging);
    let url = server.url();
    let arguments = [
        "run",
        "a.json",
        "Hi",
        "--chat",
        "--model",
        "m",
        "--base-url",
        &url,
    ];
    let mut command = desk.command(&arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    for line in ["Still there?\n", "And now?\n"] {
        server.wait_for_a_request();
        interrupt(&child);
        keyboard.write_all(line.as_bytes()).unwrap();
    }
    server.wait_for_a_request();
    interrupt(&child);
    drop(keyboard);
    let done = wait(child);
    assert_eq!(done.code, 1, "{}", done.err);
    assert_eq!(done.err.matches("The run was cancelled.").count(), 3);
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_no_success() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    for arguments in [["run", "a.json"], ["export", "a.json"], ["check", "a.json"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let done = wait(desk.command(&arguments).stdout(full).spawn().unwrap());
        assert_eq!(done.code, 2, "{arguments:?}");
        assert!(done.err.contains("Standard output cannot be written"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_has_no_end_is_not_read_to_it() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    let cases: [&[&str]; 4] = [
        &["check", "/dev/zero"],
        &["run", "a.json", "--inputs", "/dev/zero"],
        &["run", "a.json", "--input", "a=@/dev/zero"],
        &["run", "a.json", "--config", "/dev/zero"],
    ];
    for arguments in cases {
        let done = desk.easel(arguments);
        assert_eq!(done.code, 2, "{arguments:?}");
        assert!(done.err.contains("larger than"), "{}", done.err);
    }
}

#[test]
fn a_variable_that_is_blank_is_not_set() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    let variables = [
        ("EASEL_MODEL", ""),
        ("EASEL_CONFIG", ""),
        ("EASEL_BASE_URL", ""),
    ];
    let mut command = desk.command(&["run", "a.json"]);
    let done = wait(command.envs(variables).spawn().unwrap());
    assert_eq!(
        (done.code, done.out.as_str()),
        (0, "Hello\n"),
        "{}",
        done.err
    );
}

#[test]
fn an_address_in_the_environment_waits_for_a_model() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    let mut command = desk.command(&["run", "a.json"]);
    let command = command.env("EASEL_BASE_URL", "http://localhost:1/v1");
    assert_eq!(wait(command.spawn().unwrap()).code, 0);
    let url = "http://localhost:1/v1";
    let done = desk.easel(&["run", "a.json", "--base-url", url]);
    assert_eq!(done.code, 2, "who writes it wants it used");
    assert!(done.err.contains("--model NAME"), "{}", done.err);
}
