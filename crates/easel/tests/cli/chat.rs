//! Conversations through a pipe: forms, further messages.

use serde_json::json;

use crate::easel::{Desk, asks_a_form, says};

#[test]
fn lines_answer_the_fields_of_a_form() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_form());
    let ran = desk.typed(&["run", "a.json", "Ada", "--chat"], "42\n2\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "42 and Blue\n"));
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_again() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_form());
    let ran = desk.typed(
        &["run", "a.json", "Ada", "--chat"],
        "many\n42\ngreen\nred\n",
    );
    assert_eq!((ran.code, ran.out.as_str()), (0, "42 and Red\n"));
}

#[test]
fn what_may_stay_empty_may_stay_empty() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_form());
    let ran = desk.typed(&["run", "a.json", "Ada", "--chat"], "\n42\n\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "42 and \n"));
}

#[test]
fn a_form_that_nobody_answers_keeps_the_run_waiting() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_form());
    assert_eq!(desk.typed(&["run", "a.json", "Ada", "--chat"], "").code, 4);
}

#[test]
fn further_lines_are_further_turns() {
    let desk = Desk::new();
    desk.json("a.json", &says("{sys.conversation_turns}: {sys.query}"));
    let ran = desk.typed(&["run", "a.json", "one", "--chat"], "two\n\nthree\n");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "1: one\n2: two\n3: three\n")
    );
}

#[test]
fn a_chat_begins_with_the_greeting_and_the_first_line() {
    let desk = Desk::new();
    let mut document = says("You said {sys.query}");
    document["components"]["begin"]["obj"]["params"] = json!({"prologue": "Welcome!"});
    desk.json("a.json", &document);
    let ran = desk.typed(&["run", "a.json", "--chat"], "hi\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "Welcome!\nYou said hi\n"));
}

#[test]
fn bytes_that_are_no_text_end_no_conversation() {
    let desk = Desk::new();
    desk.json("a.json", &says("{sys.query}"));
    let ran = desk.typed(&["run", "a.json", "one", "--chat"], b"\xff\r\nthree");
    assert_eq!((ran.code, ran.out.as_str()), (0, "one\n\u{fffd}\nthree\n"));
}

#[test]
fn programs_are_told_that_nobody_began() {
    let desk = Desk::new();
    desk.json("a.json", &says("{sys.query}"));
    let ran = desk.typed(&["run", "a.json", "--chat", "--json"], "");
    assert_eq!(ran.code, 4);
    assert_eq!(ran.json()["ending"], "waiting");
}
