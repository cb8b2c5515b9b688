//! Questions to people.

use serde_json::json;

use crate::Value;
use crate::effect::Observation;
use crate::event::{Answer, Fact};
use crate::machine::RunLife;
use crate::testing::{Deed, Order, World, draw};

#[test]
fn a_form_waits_for_its_answer_and_gives_it_on() {
    let drawing = draw("begin -> ask -> hello")
        .form("ask", "name")
        .reads("hello", "ask@name");
    let mut run = World::new(&drawing).run();
    assert_eq!(run.machine.life(), RunLife::Waiting);
    assert_eq!(run.question().0, ["name"]);
    assert_eq!(run.started(), ["begin"], "it has not started yet");
    run.answer(&[("name", "bob")]);
    assert!(run.is_done());
    assert_eq!(run.out("hello"), "hello(bob)");
}

#[test]
fn a_question_lists_each_field_with_its_declaration_and_no_value() {
    let run = World::new(&draw("begin -> ask").form("ask", "name")).run();
    let fields = run.seen.iter().find_map(|seen| match seen {
        Observation::Asked { fields, .. } => Some(fields.clone()),
        _ => None,
    });
    assert_eq!(
        Value::from(fields.unwrap()),
        json!({"name": {"type": "line", "value": null}}).into()
    );
}

#[test]
fn a_form_blocks_only_what_is_behind_it() {
    let drawing = draw("begin -> ask -> behind; begin -> a -> b").form("ask", "name");
    let mut run = World::new(&drawing).holds("b").run();
    assert_eq!(run.questions(), 0, "something can still run");
    run.release("b");
    assert_eq!(run.questions(), 1);
    assert_eq!(run.started(), ["begin", "a", "b"]);
    run.answer(&[("name", "x")]);
    assert_eq!(run.started(), ["begin", "a", "b", "ask", "behind"]);
}

#[test]
fn two_open_forms_make_one_question_with_the_tips_of_the_last() {
    let drawing = draw("begin -> one, two; one -> a; two -> b")
        .form("one", "x y")
        .form("two", "z")
        .tips("one", "first")
        .tips("two", "tell {begin@out}");
    let mut run = World::new(&drawing).run();
    assert_eq!(run.question(), (vec!["x", "y", "z"], "tell begin"));
    run.answer(&[("x", "1"), ("y", "2"), ("z", "3")]);
    assert!(run.is_done());
    assert_eq!(run.questions(), 1);
}

#[test]
fn forms_are_listed_in_the_order_in_which_they_opened() {
    let drawing = draw("begin -> late, one; late -> two")
        .form("one", "x")
        .form("two", "y");
    let run = World::new(&drawing).run();
    assert_eq!(run.question().0, ["x", "y"]);
    let slow_first = draw("begin -> two; begin -> late -> one")
        .form("one", "x")
        .form("two", "y");
    assert_eq!(World::new(&slow_first).run().question().0, ["y", "x"]);
}

#[test]
fn open_forms_may_be_answered_one_by_one() {
    let drawing = draw("begin -> one, two; one -> a; two -> b")
        .form("one", "x")
        .form("two", "y")
        .reads("a", "one@x")
        .reads("b", "two@y");
    let mut run = World::new(&drawing).run();
    run.answer(&[("x", "1")]);
    assert_eq!(run.out("a"), "a(1)");
    assert_eq!(run.machine.life(), RunLife::Waiting);
    assert_eq!(run.question().0, ["y"]);
    assert_eq!(run.count("b"), 0);
    run.answer(&[("y", "2")]);
    assert!(run.is_done());
    assert_eq!((run.count("a"), run.count("b")), (1, 1));
}

#[test]
fn the_fields_of_one_form_may_be_answered_one_by_one() {
    let drawing = draw("begin -> ask -> a")
        .form("ask", "x y")
        .reads("a", "ask@x ask@y");
    let mut run = World::new(&drawing).run();
    run.answer(&[("y", "2")]);
    assert_eq!(run.question().0, ["x"]);
    run.answer(&[("y", "3"), ("x", "1")]);
    assert_eq!(
        run.out("a"),
        "a(1,3)",
        "while a form is open its answers can be changed"
    );
}

#[test]
fn an_answer_goes_to_every_form_that_declares_the_field() {
    let drawing = draw("begin -> one, two -> a")
        .form("one", "x")
        .form("two", "x y")
        .reads("a", "one@x two@x two@y");
    let mut run = World::new(&drawing).run();
    assert_eq!(run.question().0, ["x", "y"]);
    run.answer(&[("x", "1"), ("y", "2")]);
    assert_eq!(run.out("a"), "a(1,1,2)");
}

#[test]
fn plain_text_answers_the_only_open_field() {
    let drawing = draw("begin -> ask -> a")
        .form("ask", "x")
        .reads("a", "ask@x");
    let mut run = World::new(&drawing).run();
    run.say("hi");
    assert_eq!(run.out("a"), "a(hi)");
}

#[test]
fn plain_text_answers_the_only_field_that_is_left() {
    let drawing = draw("begin -> ask -> a")
        .form("ask", "x y")
        .reads("a", "ask@x ask@y");
    let mut run = World::new(&drawing).run();
    run.answer(&[("x", "1")]);
    run.say("2");
    assert_eq!(run.out("a"), "a(1,2)");
}

#[test]
fn a_text_that_is_an_object_answers_by_key() {
    let drawing = draw("begin -> ask -> a")
        .form("ask", "x y")
        .reads("a", "ask@x ask@y");
    let mut run = World::new(&drawing).run();
    run.say(json!({"x": 1, "y": 2, "z": 3}));
    assert_eq!(run.out("a"), "a(1,2)");
}

#[test]
fn an_answer_that_fits_nothing_leaves_the_run_waiting_and_says_what_would_fit() {
    let drawing = draw("begin -> ask").form("ask", "x y");
    let mut run = World::new(&drawing).run();
    let before = run.digest();
    for answer in [
        Answer {
            fields: [("nope".into(), Value::from(1))].into_iter().collect(),
            ..Answer::default()
        },
        Answer {
            text: Some("which one?".into()),
            ..Answer::default()
        },
        Answer::default(),
    ] {
        run.answers(answer);
        assert_eq!(run.machine.life(), RunLife::Waiting);
        let Some(Observation::AnswerUnfit { open, .. }) = run.seen.last() else {
            panic!("{:?}", run.seen.last());
        };
        assert_eq!(open[..], ["x".into(), "y".into()]);
        assert_eq!(run.digest(), before, "nothing has changed");
    }
    assert_eq!(run.questions(), 1);
}

#[test]
fn an_answer_to_a_run_that_asks_nothing_is_ignored() {
    let drawing = draw("begin -> slow -> ask").form("ask", "x");
    let mut run = World::new(&drawing).holds("slow").run();
    run.answer(&[("x", "1")]);
    run.release("slow");
    assert_eq!(run.question().0, ["x"]);
}

#[test]
fn a_form_without_fields_passes_through() {
    let run = World::new(&draw("begin -> ask -> a").form("ask", "")).run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin", "ask", "a"]);
}

#[test]
fn an_optional_file_alone_is_no_reason_to_ask() {
    let run = World::new(&draw("begin -> ask -> a").form("ask", "photo!")).run();
    assert!(run.is_done());
}

#[test]
fn a_form_goes_on_without_its_optional_fields() {
    let drawing = draw("begin -> ask -> a")
        .form("ask", "x y?")
        .reads("a", "ask@x ask@y");
    let mut run = World::new(&drawing).run();
    assert_eq!(run.question().0, ["x", "y"]);
    run.answer(&[("x", "1")]);
    assert_eq!(run.out("a"), "a(1,-)");
}

#[test]
fn an_optional_answer_alone_does_not_complete_a_form() {
    let drawing = draw("begin -> ask -> a")
        .form("ask", "x y?")
        .reads("a", "ask@x ask@y");
    let mut run = World::new(&drawing).run();
    run.answer(&[("y", "2")]);
    assert_eq!(run.question().0, ["x"]);
    run.say("1");
    assert_eq!(run.out("a"), "a(1,2)");
}

#[test]
fn a_form_with_only_optional_fields_may_be_answered_with_nothing() {
    let drawing = draw("begin -> ask -> a").form("ask", "x?");
    let mut run = World::new(&drawing).run();
    assert_eq!(run.question().0, ["x"]);
    run.answers(Answer::default());
    assert!(run.is_done());
}

#[test]
fn null_is_no_answer_to_a_required_field() {
    let drawing = draw("begin -> ask").form("ask", "x");
    let mut run = World::new(&drawing).run();
    run.answers(Answer {
        fields: [("x".into(), Value::Null)].into_iter().collect(),
        ..Answer::default()
    });
    assert_eq!(run.machine.life(), RunLife::Waiting);
    run.say(json!(false));
    assert!(run.is_done(), "but a falsy value is one");
    assert_eq!(run.port("ask", "x"), Some(false.into()));
}

#[test]
fn an_answer_brings_its_context_and_variables() {
    let drawing = draw("begin -> ask -> a")
        .form("ask", "x")
        .variable("sys.query", "first")
        .reads("a", "sys.query");
    let mut run = World::new(&drawing).run();
    run.answers(Answer {
        text: Some("second".into()),
        variables: [("sys.query".into(), "second".into())]
            .into_iter()
            .collect(),
        context: json!({"user": "u"}).into(),
        ..Answer::default()
    });
    assert_eq!(run.out("a"), "a(second)");
    assert_eq!(*run.machine.context(), json!({"user": "u"}).into());
}

#[test]
fn what_may_be_cited_belongs_to_a_turn() {
    let drawing = draw("begin -> find -> ask -> a").form("ask", "x");
    let mut run = World::new(&drawing)
        .does("find", |_| {
            let mut deed = Deed::gives(1);
            if let Ok(completion) = &mut deed.result {
                completion.references = vec!["chunk".into()];
            }
            deed
        })
        .run();
    assert_eq!(**run.machine.gathered(), vec![Value::from("chunk")]);
    run.say("x");
    assert!(run.machine.gathered().is_empty());
}

#[test]
fn a_form_in_a_loop_asks_in_every_pass_and_an_answer_is_used_once() {
    let drawing = draw("begin -> loop -> bye")
        .repeat("loop", 5)
        .until("loop", "ask@answer = \"stop\"")
        .inside("loop", "item -> ask -> echo")
        .item("item")
        .form("ask", "answer")
        .reads("echo", "ask@answer");
    let mut run = World::new(&drawing).run();
    run.answer(&[("answer", "red")]);
    assert_eq!(run.out("echo"), "echo(red)");
    assert_eq!(run.machine.life(), RunLife::Waiting);
    run.answer(&[("answer", "stop")]);
    assert!(run.is_done());
    assert_eq!(run.questions(), 2);
    assert_eq!(run.out("echo"), "echo(stop)");
    assert_eq!(run.count("bye"), 1);
}

#[test]
fn a_form_in_a_loop_ends_at_the_maximum() {
    let drawing = draw("begin -> loop")
        .repeat("loop", 2)
        .inside("loop", "item -> ask")
        .item("item")
        .form("ask", "x");
    let mut run = World::new(&drawing).run();
    run.say("1");
    run.say("2");
    assert!(run.is_done());
    assert_eq!(run.questions(), 2);
}

#[test]
fn a_form_in_an_iteration_asks_for_every_item() {
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 1)
        .collect("each", "all", "a@out")
        .inside("each", "item -> ask -> a")
        .item("item")
        .form("ask", "x")
        .tips("ask", "what of {item}?")
        .reads("a", "item@item ask@x");
    let mut run = World::new(&drawing).gives("begin", json!(["p", "q"])).run();
    assert_eq!(run.question().1, "what of p?");
    run.say("1");
    assert_eq!(run.question().1, "what of q?");
    run.say("2");
    assert!(run.is_done());
    assert_eq!(
        run.port("each", "all"),
        Some(json!(["a(p,1)", "a(q,2)"]).into())
    );
}

#[test]
fn a_form_in_concurrent_items_is_one_question_and_one_answer_for_all_that_are_open() {
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 2)
        .collect("each", "all", "a@out")
        .inside("each", "item -> ask -> a")
        .item("item")
        .form("ask", "x")
        .reads("a", "item@item ask@x");
    let mut run = World::new(&drawing)
        .gives("begin", json!(["p", "q", "r"]))
        .run();
    assert_eq!(run.question().0, ["x"]);
    run.say("1");
    assert_eq!(run.questions(), 2, "the third item asks anew");
    run.say("2");
    assert_eq!(
        run.port("each", "all"),
        Some(json!(["a(p,1)", "a(q,1)", "a(r,2)"]).into())
    );
}

#[test]
fn two_forms_in_a_row_are_two_questions() {
    let drawing = draw("begin -> one -> two -> a")
        .form("one", "x")
        .form("two", "y")
        .reads("a", "one@x two@y");
    let mut run = World::new(&drawing).run();
    run.say("1");
    assert_eq!(run.question().0, ["y"]);
    run.say("2");
    assert_eq!(run.out("a"), "a(1,2)");
}

#[test]
fn what_a_form_waits_for_comes_before_its_question() {
    let drawing = draw("begin -> ask, x")
        .form("ask", "f")
        .tips("ask", "given {x@out}");
    let run = World::new(&drawing).order(Order::Reverse).run();
    assert_eq!(run.question().1, "given x");
}

#[test]
fn tips_can_be_read_while_the_form_waits() {
    let drawing = draw("begin -> ask")
        .form("ask", "f")
        .tips("ask", "hello {begin@out}");
    let run = World::new(&drawing).run();
    assert_eq!(run.port("ask", "tips"), Some("hello begin".into()));
}

#[test]
fn a_form_whose_tips_name_nothing_that_exists_fails() {
    let drawing = draw("begin -> ask")
        .form("ask", "f")
        .tips("ask", "{nobody@out}");
    let run = World::new(&drawing).run();
    assert_eq!(run.failure().0, "ask");
}

#[test]
fn a_form_that_fails_after_the_answer_is_tried_again_without_asking_again() {
    let drawing = draw("begin -> ask -> a")
        .form("ask", "x")
        .attempts("ask", 2, 0);
    let mut run = World::new(&drawing)
        .does("ask", |e| match e.attempt {
            1 => Deed::fails("cannot read the file"),
            _ => Deed::gives(e.answers.clone().map_or(Value::Null, |a| Value::from(*a))),
        })
        .run();
    run.say("1");
    assert!(run.is_done());
    assert_eq!(run.questions(), 1);
    assert_eq!(run.out("ask"), r#"{"x": "1"}"#);
}

#[test]
fn an_optional_file_stays_when_a_loop_asks_again() {
    let drawing = draw("begin -> loop")
        .repeat("loop", 2)
        .inside("loop", "item -> ask")
        .item("item")
        .form("ask", "x photo!");
    let mut run = World::new(&drawing).run();
    run.answer(&[("x", "1"), ("photo", "p.png")]);
    run.answer(&[("x", "2")]);
    assert!(run.is_done());
    assert_eq!(run.port("ask", "photo"), Some("p.png".into()));
    assert_eq!(run.port("ask", "x"), Some("2".into()));
}

#[test]
fn a_waiting_run_can_be_ended() {
    let mut run = World::new(&draw("begin -> ask").form("ask", "x")).run();
    run.happens(Fact::Cancelled);
    assert_eq!(run.machine.life(), RunLife::Cancelled);
    run.answer(&[("x", "1")]);
    assert_eq!(run.count("ask"), 0);
}

#[test]
fn a_failure_beside_an_open_form_closes_it() {
    let drawing = draw("begin -> ask, bad").form("ask", "x");
    let run = World::new(&drawing).fails("bad").run();
    assert_eq!(run.failure().0, "bad");
    assert_eq!(run.questions(), 0);
}
