//! Conversations: nobody speaks over another, and nothing crosses from one to the next.

use std::sync::Arc;

use easel_runtime::components::HistoryEntry;
use easel_runtime::core::event::Fault;
use easel_runtime::{
    Batch, Conversation, ConversationChange, Journal, JournalError, Origin, Said, Standing,
    Timestamp, Value,
};
use easel_store::{NewFile, NewSession, PageNumber, SessionFilter, SessionOrder, Store};

use crate::bench::{Bench, both, completed, count, first};

fn said(role: &str, content: impl Into<Value>, run: &str) -> Said {
    Said {
        entry: HistoryEntry::new(role, content),
        run: run.into(),
        at: Timestamp(7),
        files: Vec::new(),
        reference: None,
    }
}

/// The first batch of a run in a session, in which somebody says something.
fn speaks(session: &str, run: &str, from: u64, text: &str) -> Batch {
    let mut batch = first(run, "me");
    batch.origin = Some(Arc::new(Origin {
        owner: "me".into(),
        session: Some(session.into()),
        ..Origin::default()
    }));
    batch.conversation = Some(ConversationChange {
        session: session.into(),
        from,
        said: vec![said("user", text, run)],
        after: None,
    });
    batch
}

/// The last batch of a run in a session.
fn answers(
    session: &str,
    run: &str,
    from: u64,
    content: impl Into<Value>,
    after: Conversation,
) -> Batch {
    let mut batch = Batch::new(run, 1, vec![completed(0, 1)]);
    batch.standing = Standing::Finished {
        outputs: Default::default(),
    };
    batch.conversation = Some(ConversationChange {
        session: session.into(),
        from,
        said: vec![said("assistant", content, run)],
        after: Some(after),
    });
    batch
}

async fn open(store: &Store, agent: &str, user: &str, name: &str) -> String {
    let new = NewSession {
        agent: agent.into(),
        owner: "me".into(),
        user: user.into(),
        name: name.into(),
        source: "agent".into(),
        ..NewSession::default()
    };
    store.create_session(new).await.unwrap().id.to_string()
}

fn lasts(turns: u32, value: impl Into<Value>) -> Conversation {
    Conversation {
        variables: [("env.x".into(), value.into())].into_iter().collect(),
        turns,
        ..Conversation::default()
    }
}

both! {
    async fn a_conversation_goes_on_where_it_was(bench) {
        let id = open(&bench, "A", "u", "Chat").await;
        assert_eq!(bench.conversation(&id).await.unwrap(), Some((Conversation::default(), vec![])));
        bench.append(speaks(&id, "r1", 0, "hi")).await.unwrap();
        bench.append(answers(&id, "r1", 1, "hello", lasts(1, "old"))).await.unwrap();
        bench.append(speaks(&id, "r2", 2, "bye")).await.unwrap();
        bench.append(answers(&id, "r2", 3, Value::from(vec![Value::Null]), lasts(2, "new"))).await.unwrap();
        let (conversation, entries) = bench.other().await.conversation(&id).await.unwrap().unwrap();
        assert_eq!(conversation, lasts(2, "new"));
        assert_eq!(entries, [
            said("user", "hi", "r1"),
            said("assistant", "hello", "r1"),
            said("user", "bye", "r2"),
            said("assistant", Value::from(vec![Value::Null]), "r2"),
        ]);
        let (conversation, end) = bench.conversation_end(&id, 1).await.unwrap().unwrap();
        assert_eq!((conversation, end), (lasts(2, "new"), entries[3..].to_vec()));
        assert_eq!(bench.conversation_end(&id, 100).await.unwrap().unwrap().1.len(), 4);
        let record = bench.session(&id).await.unwrap().unwrap();
        assert_eq!((record.round, record.entries), (2, 4));
        assert!(bench.conversation("nobody").await.unwrap().is_none());
    }

    async fn of_two_messages_at_once_one_is_refused_and_leaves_nothing(bench) {
        let id = open(&bench, "A", "u", "Chat").await;
        let (one, two) = futures::future::join(
            bench.append(speaks(&id, "r1", 0, "first")),
            bench.append(speaks(&id, "r2", 0, "second")),
        )
        .await;
        let overtaken = JournalError::Overtaken { session: id.clone(), from: 0, there: 1 };
        let (won, lost, refused) = match &one {
            Ok(()) => ("r1", "r2", two),
            Err(_) => ("r2", "r1", one),
        };
        assert_eq!(refused, Err(overtaken));
        assert_eq!(bench.read(won).await.unwrap().len(), 1);
        assert_eq!(bench.read(lost).await.unwrap(), []);
        assert!(bench.run(lost).await.unwrap().is_none());
        assert_eq!(bench.conversation(&id).await.unwrap().unwrap().1.len(), 1);
        let gone = bench.append(speaks("nobody", "r3", 0, "hi")).await;
        assert!(matches!(gone, Err(JournalError::Store(text)) if text.contains("nobody")));
    }

    async fn a_failure_is_told_with_the_session_until_the_next_success(bench) {
        let id = open(&bench, "A", "u", "Chat").await;
        let mut batch = speaks(&id, "r1", 0, "hi");
        batch.standing = Standing::Failed { node: None, fault: Fault::new("x", "it broke") };
        bench.append(batch).await.unwrap();
        assert_eq!(&*bench.session(&id).await.unwrap().unwrap().errors, "it broke");
        bench.append(speaks(&id, "r2", 1, "again")).await.unwrap();
        assert_eq!(&*bench.session(&id).await.unwrap().unwrap().errors, "it broke");
        bench.append(answers(&id, "r2", 2, "hello", lasts(2, 1))).await.unwrap();
        assert_eq!(&*bench.session(&id).await.unwrap().unwrap().errors, "");
    }

    async fn what_lasts_no_longer_takes_no_room(bench) {
        let id = open(&bench, "A", "u", "Chat").await;
        for turn in 0..10_u32 {
            let (run, from) = (format!("r{turn}"), u64::from(2 * turn));
            bench.append(speaks(&id, &run, from, "hi")).await.unwrap();
            let memory = (0..5_000 * (turn + 1)).map(|n| Value::from(i64::from(n))).collect::<Vec<_>>();
            bench.append(answers(&id, &run, from + 1, "ok", lasts(turn, memory))).await.unwrap();
        }
        assert_eq!(count(&bench, "held").await, 1);
        let (conversation, _) = bench.conversation(&id).await.unwrap().unwrap();
        assert_eq!(conversation.variables["env.x"].as_array().unwrap().len(), 50_000);
        bench.append(speaks(&id, "end", 20, "hi")).await.unwrap();
        bench.append(answers(&id, "end", 21, "ok", lasts(11, 1))).await.unwrap();
        assert_eq!(count(&bench, "held").await, 0);
    }

    async fn a_session_goes_with_its_runs_its_files_and_its_values(bench) {
        let (one, two) = (open(&bench, "A", "u", "One").await, open(&bench, "A", "u", "Two").await);
        let big = "big".repeat(20_000);
        for (id, run) in [(&one, "r1"), (&two, "r2")] {
            bench.append(speaks(id, run, 0, &big)).await.unwrap();
            bench.append(answers(id, run, 1, big.as_str(), lasts(1, big.as_str()))).await.unwrap();
            let file = NewFile { owner: "me".into(), session: Some(id.clone()), name: "f".into(), mime: "m".into() };
            bench.put_file(file, vec![0; 100], 1_000).await.unwrap();
        }
        assert!(bench.delete_session(&one).await.unwrap());
        assert!(!bench.delete_session(&one).await.unwrap());
        assert!(bench.session(&one).await.unwrap().is_none());
        assert!(bench.conversation(&one).await.unwrap().is_none());
        assert!(bench.run("r1").await.unwrap().is_none());
        let (conversation, entries) = bench.conversation(&two).await.unwrap().unwrap();
        assert_eq!((conversation, entries.len()), (lasts(1, big.as_str()), 2));
        assert_eq!(bench.read("r2").await.unwrap().len(), 2);
        assert_eq!(bench.delete_sessions_of("A").await.unwrap(), 1);
        for table in ["held", "uses", "said", "runs", "journal", "files", "sessions"] {
            assert_eq!(count(&bench, table).await, 0, "{table}");
        }
    }

    async fn sessions_are_found_by_what_one_knows_of_them(bench) {
        let one = open(&bench, "A", "u1", "Größe").await;
        let two = open(&bench, "A", "u2", "second").await;
        let other = open(&bench, "B", "u1", "third").await;
        bench.append(speaks(&two, "r", 0, "Where is \"Paris\"?")).await.unwrap();
        let found = async |filter: SessionFilter| {
            let listed = bench.sessions(&filter).await.unwrap();
            assert_eq!(listed.items.len() as u64, listed.total);
            let name = |id: &str| [(&one, "one"), (&two, "two"), (&other, "other")].into_iter().find(|(known, _)| *known == id);
            listed.items.iter().map(|session| name(&session.id).unwrap().1).collect::<Vec<_>>()
        };
        let base = SessionFilter::default;
        assert_eq!(found(SessionFilter { agent: Some("A".into()), ..base() }).await, ["one", "two"]);
        assert_eq!(found(SessionFilter { user: Some("u1".into()), desc: true, ..base() }).await, ["other", "one"]);
        assert_eq!(found(SessionFilter { keywords: Some("grÖSSE".replace("SS", "ß")), ..base() }).await, ["one"]);
        assert_eq!(found(SessionFilter { keywords: Some("is \"paris\"".into()), ..base() }).await, ["two"]);
        assert_eq!(found(SessionFilter { id: Some(two.clone()), ..base() }).await, ["two"]);
        assert_eq!(found(SessionFilter { owners: vec!["you".into()], ..base() }).await, [""; 0]);
        assert_eq!(found(SessionFilter { to: Some(5), ..base() }).await, [""; 0]);
        assert!(bench.rename_session(&other, "A first").await.unwrap());
        assert!(!bench.rename_session("nobody", "A first").await.unwrap());
        assert_eq!(found(SessionFilter { order: SessionOrder::Name, ..base() }).await, ["other", "one", "two"]);
        let page = SessionFilter { page: PageNumber { page: 2, size: 2 }, ..base() };
        let listed = bench.sessions(&page).await.unwrap();
        assert_eq!((listed.items.len(), listed.total), (1, 3));
        let far = SessionFilter { page: PageNumber { page: u32::MAX, size: u32::MAX }, ..base() };
        assert!(bench.sessions(&far).await.unwrap().items.is_empty());
    }

    async fn a_session_that_is_brought_along_begins_where_it_was(bench) {
        let entries = vec![said("assistant", "Hello, I am here.", ""), said("user", "x".repeat(30_000), "")];
        let new = NewSession {
            id: Some("mine".into()),
            conversation: lasts(3, "kept"),
            said: entries.clone(),
            prologue: "Hello, I am here.".into(),
            ..NewSession::default()
        };
        let record = bench.create_session(new.clone()).await.unwrap();
        assert_eq!(bench.session("mine").await.unwrap(), Some(record));
        assert_eq!(bench.conversation("mine").await.unwrap(), Some((lasts(3, "kept"), entries)));
        assert!(bench.create_session(new).await.is_err(), "the id is taken");
        bench.append(speaks("mine", "r", 2, "go on")).await.unwrap();
    }
}
