//! Questions to people.

use crate::event::Answer;
use crate::machine::RunLife;
use crate::testing::{World, draw};

#[test]
fn a_form_waits_for_its_answer_and_gives_it() {
    let drawing = draw("begin -> form -> end")
        .form("form", "name")
        .tips("form", "Who, {begin@out}?")
        .reads("end", "form@out");
    let mut run = World::new(&drawing).run();
    assert_eq!(run.machine.life(), RunLife::Waiting);
    assert_eq!(run.question(), (vec!["name"], "Who, begin?"));
    run.answer(&[("name", "Ada")]);
    assert!(run.is_done());
}

#[test]
fn two_open_forms_are_one_question_with_the_tips_of_the_last() {
    let drawing = draw("begin -> one, two; one -> a; two -> b")
        .form("one", "x")
        .form("two", "y")
        .tips("one", "first")
        .tips("two", "second");
    let mut run = World::new(&drawing).run();
    assert_eq!(run.question(), (vec!["x", "y"], "second"));
    run.answer(&[("y", "2")]);
    assert_eq!(run.question().0, ["x"]);
    assert_eq!((run.count("a"), run.count("b")), (0, 1));
    run.answer(&[("x", "1")]);
    assert!(run.is_done());
    assert_eq!(run.questions(), 2);
}

#[test]
fn a_form_blocks_only_what_is_behind_it() {
    let drawing = draw("begin -> form -> behind; begin -> beside").form("form", "x");
    let run = World::new(&drawing).run();
    assert_eq!((run.count("beside"), run.count("behind")), (1, 0));
}

#[test]
fn plain_text_answers_the_only_open_field() {
    let drawing = draw("begin -> form -> end").form("form", "x");
    let mut run = World::new(&drawing).run();
    run.say("hello");
    assert!(run.is_done());
}

#[test]
fn an_answer_to_no_open_field_leaves_the_run_waiting() {
    let drawing = draw("begin -> form -> end").form("form", "x y");
    let mut run = World::new(&drawing).run();
    run.answer(&[("z", "1")]);
    run.say("which of the two?");
    run.answers(Answer::default());
    assert_eq!(run.machine.life(), RunLife::Waiting);
    assert_eq!(run.count("end"), 0);
    run.answer(&[("x", "1")]);
    assert_eq!(run.question().0, ["y"]);
}

#[test]
fn a_form_without_fields_and_one_with_only_an_optional_file_do_not_ask() {
    let drawing = draw("begin -> none -> file -> end")
        .form("none", "")
        .form("file", "photo!");
    let run = World::new(&drawing).run();
    assert!(run.is_done());
    assert_eq!(run.questions(), 0);
}

#[test]
fn an_optional_field_is_asked_for_and_may_stay_empty() {
    let drawing = draw("begin -> form -> end").form("form", "name age?");
    let mut run = World::new(&drawing).run();
    assert_eq!(run.question().0, ["name", "age"]);
    run.answer(&[("name", "Ada")]);
    assert!(run.is_done());
}

#[test]
fn a_form_in_a_circle_asks_every_turn() {
    let drawing = draw("begin -> form -> switch -> form, end")
        .form("form", "x")
        .branch("switch");
    let mut run = World::new(&drawing)
        .chooses_in_turn("switch", &["form", "end"])
        .run();
    run.answer(&[("x", "1")]);
    assert_eq!(run.machine.life(), RunLife::Waiting);
    run.answer(&[("x", "2")]);
    assert!(run.is_done());
    assert_eq!((run.questions(), run.count("switch")), (2, 2));
}

#[test]
fn a_waiting_run_can_be_cancelled() {
    let drawing = draw("begin -> form -> end").form("form", "x");
    let mut run = World::new(&drawing).run();
    run.cancel();
    assert_eq!(run.machine.life(), RunLife::Cancelled);
}
