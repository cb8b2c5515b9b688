//! What scripts do to a program: they go away, they interrupt it.

use std::io::{BufRead, BufReader};
use std::process::Command;

use crate::easel::{Desk, asks_a_model, wait};
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
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupt.success());
    let rest: Vec<String> = events.map(Result::unwrap).collect();
    let done = wait(child);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("The run was cancelled."), "{}", done.err);
    assert!(
        rest.last().unwrap().contains("workflow_finished"),
        "{rest:?}"
    );
}
