//! Conversations and runs that the host drives.

use std::sync::Arc;

use easel_runtime::{Ending, Input, Logged, Standing};
use easel_server::host::{Busy, Events, HostError, Message};
use serde_json::json;

use super::support::{both, canvas, echo, form, model, origin};

pub fn message(session: &Arc<str>, text: &str) -> Message {
    Message {
        session: session.clone(),
        input: Input::from(text),
        origin: origin(),
        busy: Busy::Queue,
        abandon: false,
        opened: None,
    }
}

async fn all(mut events: Events) -> Vec<Logged> {
    let mut all = Vec::new();
    while let Some(event) = events.next().await.unwrap() {
        all.push(event);
    }
    all
}

fn said(events: &[Logged]) -> String {
    let messages = events.iter().filter(|event| event.name() == "message");
    let texts = messages.map(|event| {
        let data: serde_json::Value = serde_json::from_str(event.data()).unwrap();
        data["content"].as_str().unwrap().to_owned()
    });
    texts.collect()
}

both! {
    async fn a_message_is_answered_and_the_conversation_remembers(place) {
        let server = place.start().await;
        let session = server.session(&echo()).await;
        let host = &server.app.host;
        for (turn, text) in ["one", "two"].into_iter().enumerate() {
            let live = host.say(message(&session, text)).await.unwrap();
            assert!(live.accepted().await);
            let events = all(Events::of(host.clone(), live.clone())).await;
            assert_eq!(said(&events), format!("You said {text}."));
            assert!(matches!(live.end().await.ending, Ok(Ending::Finished)));
            let (conversation, entries) = server.store.conversation(&session).await.unwrap().unwrap();
            assert_eq!(conversation.turns as usize, turn + 1);
            assert_eq!(entries.len(), 2 * (turn + 1));
            let record = host.record(live.run()).await.unwrap();
            assert!(matches!(record.standing, Standing::Finished { .. }));
            assert_eq!(record.origin.session.as_deref(), Some(&*session));
        }
        assert_eq!(host.turns_under_way(), 0);
    }
}

both! {
    async fn a_run_that_waits_is_answered_after_a_restart(place) {
        let server = place.start().await;
        let session = server.session(&form()).await;
        let live = server.app.host.say(message(&session, "hi")).await.unwrap();
        assert!(matches!(live.end().await.ending, Ok(Ending::Waiting)));
        assert_eq!(
            server.app.host.turns_under_way(),
            0,
            "it is in the store only"
        );
        let run = live.run().clone();
        let server = server.restart().await;
        let host = &server.app.host;
        let record = host.record(&run).await.unwrap();
        let Standing::Waiting { fields, tips } = record.standing else {
            panic!("{:?}", record.standing);
        };
        assert_eq!((&*tips, fields.len()), ("Who are you?", 1));
        // A plain message answers the only field.
        let live = host.say(message(&session, "Ada")).await.unwrap();
        assert_eq!(live.run(), &run, "the same run goes on");
        let events = all(host.watch(&run, None).await.unwrap()).await;
        assert!(said(&events).contains("Hello Ada."), "{events:?}");
        assert!(matches!(
            live.end().await.standing,
            Standing::Finished { .. }
        ));
        let again = host.answer(&run, Input::from("Eve")).await;
        assert!(matches!(again, Err(HostError::NothingToDrive { .. })));
    }
}

both! {
    async fn a_new_question_can_take_the_place_of_one_that_waits(place) {
        let server = place.start().await;
        let session = server.session(&form()).await;
        let host = &server.app.host;
        let first = host.say(message(&session, "hi")).await.unwrap();
        first.end().await;
        let again = Message {
            abandon: true,
            opened: None,
            ..message(&session, "again")
        };
        let second = host.say(again).await.unwrap();
        assert_ne!(first.run(), second.run());
        assert!(matches!(second.end().await.ending, Ok(Ending::Waiting)));
        let old = host.record(first.run()).await.unwrap();
        assert_eq!(old.standing, Standing::Cancelled);
    }
}

both! {
    async fn messages_to_one_conversation_queue_or_are_refused(place) {
        let slow = json!({"llm": {}, "default_reply": "slow", "slow_ms": 150});
        let server = place.with_world(slow).await;
        let session = server.session(&model()).await;
        let host = &server.app.host;
        let first = host.say(message(&session, "one")).await.unwrap();
        first.accepted().await;
        let refused = Message {
            busy: Busy::Refuse,
            ..message(&session, "no")
        };
        assert!(matches!(host.say(refused).await, Err(HostError::Busy(_))));
        let second = host.say(message(&session, "two")).await.unwrap();
        second.end().await;
        let (conversation, entries) = server.store.conversation(&session).await.unwrap().unwrap();
        let texts = Vec::from_iter(entries.iter().map(|said| said.entry.text()));
        assert_eq!(texts, ["one", "slow", "two", "slow"]);
        assert_eq!(conversation.turns, 2);
    }
}

both! {
    async fn a_thousand_turns_compile_their_workflow_once(place) {
        let server = place.start().await;
        let session = server.session(&echo()).await;
        let host = &server.app.host;
        for _ in 0..1_000 {
            let live = host.say(message(&session, "again")).await.unwrap();
            live.end().await;
        }
        assert_eq!(host.compiled().compiles(), 1);
    }
}

both! {
    async fn a_run_is_watched_from_any_of_its_events_on(place) {
        let server = place.start().await;
        let session = server.session(&model()).await;
        let host = &server.app.host;
        let live = host.say(message(&session, "hi")).await.unwrap();
        let whole = all(Events::of(host.clone(), live.clone())).await;
        live.end().await;
        let run = live.run();
        let shown = |events: &[Logged]| {
            let numbered = events.iter().filter(|event| event.name() != "message");
            Vec::from_iter(numbered.map(|event| (event.id.entry, event.id.counter)))
        };
        for (at, event) in whole.iter().enumerate() {
            let rest = all(host.watch(run, Some(event.id)).await.unwrap()).await;
            assert_eq!(shown(&rest), shown(&whole[at + 1..]), "after {}", event.id);
            let text = said(&whole[..=at]) + &said(&rest);
            assert_eq!(text, said(&whole), "after {}", event.id);
        }
    }
}

both! {
    async fn a_run_is_cancelled_while_a_model_thinks_and_while_it_waits(place) {
        let slow = json!({"llm": {}, "default_reply": "slow", "slow_ms": 60_000});
        let server = place.with_world(slow).await;
        let host = &server.app.host;
        let session = server.session(&model()).await;
        let live = host.say(message(&session, "hi")).await.unwrap();
        live.accepted().await;
        assert!(host.cancel(live.run()).await.unwrap());
        let record = host.record(live.run()).await.unwrap();
        assert_eq!(record.standing, Standing::Cancelled);
        assert!(!host.cancel(live.run()).await.unwrap(), "it is over");

        let session = server.session(&form()).await;
        let live = host.say(message(&session, "hi")).await.unwrap();
        live.end().await;
        assert!(host.cancel(live.run()).await.unwrap());
        let (conversation, _) = server.store.conversation(&session).await.unwrap().unwrap();
        assert_eq!(conversation.run, None);
    }
}

both! {
    async fn a_workflow_that_must_not_run_is_refused_before_anything_is_kept(place) {
        let server = place.start().await;
        let broken = canvas(&[("Message:A", "Message", json!({"content": ["x"]}))]);
        let mut broken = broken;
        broken["components"]["begin"]["downstream"] = json!(["Message:A", "Message:Nowhere"]);
        let session = server.session(&broken).await;
        let refused = server.app.host.say(message(&session, "hi")).await;
        assert!(
            matches!(refused, Err(HostError::Turn(_))),
            "{:?}",
            refused.err()
        );
        let (_, entries) = server.store.conversation(&session).await.unwrap().unwrap();
        assert!(entries.is_empty());
    }
}
