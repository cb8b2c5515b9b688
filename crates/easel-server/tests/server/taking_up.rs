//! Runs that a process left: nobody is answered twice, nobody is forgotten, and nothing is out of order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use easel_runtime::core::event::Event;
use easel_runtime::{
    Batch, Decision, Ending, Engine, Input, Journal, JournalError, ScriptedWorld, Standing,
};
use easel_server::host::{Host, HostError, HostLimits};
use easel_store::Store;
use futures::future::BoxFuture;
use serde_json::json;

use super::host::message;
use super::support::{TestServer, both, form, model};

/// A store whose process ends behind so many batches: nothing is ever heard of the next one.
struct Dying {
    store: Store,
    left: AtomicU32,
}

impl Journal for Dying {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), JournalError>> {
        match self.left.load(Ordering::SeqCst) {
            0 => Box::pin(std::future::pending()),
            left => {
                self.left.store(left - 1, Ordering::SeqCst);
                self.store.append(batch)
            }
        }
    }

    fn read<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        self.store.read(run)
    }
}

/// A host over the server's store that stands still behind so many batches.
fn dying(server: &TestServer, batches: u32) -> Arc<Host> {
    let script = json!({"default_reply": "never heard"});
    let script = ScriptedWorld::read(script, || {}).unwrap();
    let journal = Dying {
        store: server.store.clone(),
        left: AtomicU32::new(batches),
    };
    let engine = Engine::builder()
        .model(script.model())
        .world(script.tools())
        .journal(Arc::new(journal))
        .build()
        .unwrap();
    Host::new(server.store.clone(), engine, HostLimits::default())
}

async fn entries(server: &TestServer, session: &str) -> Vec<String> {
    let (_, said) = server.store.conversation(session).await.unwrap().unwrap();
    let line = |said: &easel_runtime::Said| format!("{}: {}", said.entry.role, said.entry.text());
    said.iter().map(line).collect()
}

both! {
    async fn a_message_waits_for_the_one_that_a_crash_interrupted(place) {
        let server = place.start().await;
        let session = server.session(&model()).await;
        let first = dying(&server, 1).say(message(&session, "first")).await;
        let first = first.unwrap();
        assert!(first.accepted().await);
        // Another process, to which the message comes before it has come to the run.
        let second = server.app.host.say(message(&session, "second")).await;
        let second = second.unwrap();
        assert!(matches!(second.end().await.ending, Ok(Ending::Finished)));
        let entries = entries(&server, &session).await;
        assert_eq!(entries.len(), 4, "{entries:?}");
        assert_eq!(entries[0], "user: first");
        assert!(
            entries[1].starts_with("assistant: ") && entries[1].contains("ok"),
            "{entries:?}"
        );
        assert_eq!(entries[2], "user: second");
        let record = server.app.host.record(first.run()).await.unwrap();
        assert!(matches!(record.standing, Standing::Finished { .. }));
    }
}

both! {
    async fn an_answer_that_was_never_kept_leaves_the_question_open(place) {
        let server = place.start().await;
        let session = server.session(&form()).await;
        let live = server.app.host.say(message(&session, "hi")).await.unwrap();
        live.end().await;
        let before = entries(&server, &session).await;
        // The process takes the run, and ends before the answer is in the journal.
        let dead = dying(&server, 0);
        let answering = dead.answer(live.run(), Input::from("Ada")).await.unwrap();
        let record = server.store.run(live.run()).await.unwrap().unwrap();
        assert_eq!(record.standing, Standing::Running, "it is claimed");
        assert!(!answering.is_accepted());
        let server = server.restart().await;
        let host = &server.app.host;
        let resumed = host.resume(live.run()).await;
        assert!(matches!(resumed, Err(HostError::NothingToDrive { .. })));
        let record = host.record(live.run()).await.unwrap();
        assert!(matches!(record.standing, Standing::Waiting { .. }));
        assert_eq!(entries(&server, &session).await, before, "nothing was said");
        let again = host.say(message(&session, "Ada")).await.unwrap();
        assert_eq!(again.run(), live.run());
        assert!(matches!(again.end().await.ending, Ok(Ending::Finished)));
    }
}

both! {
    async fn what_does_not_fit_leaves_a_run_as_it_stands(place) {
        let server = place.start().await;
        let host = &server.app.host;
        let session = server.session(&form()).await;
        let live = host.say(message(&session, "hi")).await.unwrap();
        live.end().await;
        let run = live.run();
        let resumed = host.resume(run).await;
        assert!(matches!(resumed, Err(HostError::NothingToDrive { .. })));
        let decided = host.decide(run, 1, Decision::Repeat).await;
        assert!(matches!(decided, Err(HostError::NotUncertain { .. })));
        // A file that nobody has cannot be read, so the turn never begins.
        let unreadable = Input {
            files: vec![json!({"id": "nobody", "name": "a.txt", "mime_type": "text/plain"}).into()],
            ..Input::from("Ada")
        };
        if let Ok(live) = host.answer(run, unreadable).await {
            assert!(live.end().await.ending.is_err());
        }
        let record = host.record(run).await.unwrap();
        assert!(
            matches!(record.standing, Standing::Waiting { .. }),
            "{record:?}"
        );
        let live = host.answer(run, Input::from("Ada")).await.unwrap();
        assert!(matches!(live.end().await.ending, Ok(Ending::Finished)));
    }
}
