//! What older versions wrote is read for ever: a journal of each format, and a database of each schema.

use std::path::PathBuf;
use std::sync::Arc;

use easel_runtime::core::event::{Event, Fact, VERSION};
use easel_runtime::core::workflow::NodeId;
use easel_runtime::core::{Machine, effect::Outcome};
use easel_runtime::{
    Batch, Ending, Engine, Input, Journal, MemoryJournal, Object, ScriptedWorld, Value, Workflow,
};
use easel_store::{Location, MemoryFilter, RunFilter, Store};
use serde_json::{Value as Json, json};

use crate::bench::{Bench, both};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name)
}

/// The canvas of the journals: a model that fails twice, a loop, a form, a text that streams.
fn workflow() -> Arc<Workflow> {
    let canvas = std::fs::read(fixture("canvas.json")).unwrap();
    Arc::new(Workflow::load(&canvas).unwrap())
}

/// All that one can ask a run for once it is over.
fn end_state(events: Vec<Event>) -> Json {
    let workflow = workflow();
    let (machine, _) = Machine::replay(workflow.compiled().clone(), events).unwrap();
    let outcome = match machine.outcome() {
        Some(Outcome::Done) => "done",
        Some(_) => "another",
        None => "none",
    };
    let nodes = workflow.compiled().nodes.iter().zip(0_u32..);
    let ports = nodes.filter_map(|(node, n)| {
        let ports = machine.ports(NodeId(n))?;
        Some((node.draft.id.clone(), Value::from(ports.to_object())))
    });
    let variables = machine
        .variables()
        .map(|(name, value)| (name.clone(), value.clone()));
    json!({
        "outcome": outcome,
        "usage": machine.usage(),
        "variables": variables.collect::<Object>(),
        "ports": ports.collect::<Object>(),
    })
}

/// The journal of a run of today.
fn journal_of_today() -> Vec<Event> {
    let world = json!({"rules": [
        {"match": {"component": "LLM:Try"}, "error": "the model is overloaded"},
        {"match": {"component": "Agent:Tell"}, "chunks": ["Grains ", "double ", "on each square — 2^63 \"on\" the last."]},
    ]});
    let world = ScriptedWorld::read(world, || {}).unwrap();
    let journal = Arc::new(MemoryJournal::new());
    let engine = Engine::builder()
        .model(world.model())
        .journal(journal.clone())
        .seed(7)
        .build()
        .unwrap();
    let mut session = engine.session(&workflow());
    let mut turn = |input| {
        let mut unseen = |_| {};
        let turn = session.turn(input, &mut unseen);
        futures::executor::block_on(turn).unwrap()
    };
    assert_eq!(turn(Input::from("How many grains?")), Ending::Waiting);
    let inputs = [("topic".into(), Value::from("chess"))]
        .into_iter()
        .collect();
    let answer = Input {
        inputs,
        ..Input::default()
    };
    assert_eq!(turn(answer), Ending::Finished);
    let mut events = futures::executor::block_on(journal.read("run-8")).unwrap();
    // As if the process had ended while the text came, and another had taken the run up.
    let opened = events
        .iter()
        .position(|event| matches!(event.fact, Fact::Opened { .. }))
        .unwrap();
    events.insert(opened + 1, Event::new(events[opened].at, Fact::Recovered));
    events
}

fn lines(events: &[Event]) -> String {
    events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap() + "\n")
        .collect()
}

/// With `EASEL_WRITE=1` it writes the fixture of a version that has none yet. What is there is never written again.
#[test]
fn the_format_of_today_has_its_fixture() {
    let file = fixture(&format!("journal-v{VERSION}.jsonl"));
    let events = journal_of_today();
    if !file.exists() && std::env::var_os("EASEL_WRITE").is_some() {
        let end = serde_json::to_string_pretty(&end_state(events.clone())).unwrap();
        std::fs::write(&file, lines(&events)).unwrap();
        std::fs::write(file.with_extension("end.json"), end + "\n").unwrap();
    }
    assert!(
        file.exists(),
        "{} is missing: EASEL_WRITE=1 writes it",
        file.display()
    );
    let has = |word: &str| lines(&events).contains(word);
    assert!(has("\"answered\"") && has("\"opened\"") && has("\"failed\"") && has("\"woke\""));
    assert!(has("\"recovered\""));
}

both! {
    async fn a_journal_of_each_format_is_replayed_to_the_same_end(bench) {
        for version in 1..=VERSION {
            let text = std::fs::read_to_string(fixture(&format!("journal-v{version}.jsonl"))).unwrap();
            let end = std::fs::read_to_string(fixture(&format!("journal-v{version}.end.json"))).unwrap();
            let end: Json = serde_json::from_str(&end).unwrap();
            let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let run = format!("run of version {version}");
            let mut from = 0;
            for some in events.chunks(3) {
                bench.append(Batch::new(run.as_str(), from, some.to_vec())).await.unwrap();
                from += some.len() as u64;
            }
            let read = bench.read(&run).await.unwrap();
            assert_eq!(read, events);
            assert_eq!(end_state(read), end);
            assert_eq!(end["outcome"], "done");
        }
    }
}

/// A database that this version wrote. `EASEL_WRITE=1` writes it if the schema of today has none.
#[tokio::test]
async fn a_database_of_each_schema_is_brought_up_to_date_and_read() {
    for schema in 1..=SCHEMA {
        let file = fixture(&format!("schema-{schema}.db"));
        if schema == SCHEMA && !file.exists() && std::env::var_os("EASEL_WRITE").is_some() {
            write_database(&file).await;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(&file, folder.path().join("easel.db")).unwrap();
        let store = Store::open(&Location::Folder(folder.path().to_owned()))
            .await
            .unwrap();
        let events = store.read("kept").await.unwrap();
        assert_eq!(
            end_state(events[..events.len()].to_vec())["outcome"],
            "done"
        );
        let runs = store.runs(&RunFilter::default()).await.unwrap();
        assert_eq!(runs.items.len(), 1);
        assert_eq!(
            (&*runs.items[0].state, &*runs.items[0].origin.owner),
            ("finished", "me")
        );
        assert_eq!(store.notes("kept").await.unwrap().len(), 1);
        let session = store.session("talk").await.unwrap().unwrap();
        let (conversation, said) = store.conversation("talk").await.unwrap().unwrap();
        assert_eq!((session.entries, said.len(), conversation.turns), (1, 1, 1));
        assert_eq!(
            conversation.variables["env.long"].as_str().map(str::len),
            Some(20_000)
        );
        let agents = store.agents(&Default::default()).await.unwrap();
        let agent = &agents.items[0];
        assert_eq!(
            (&*agent.title, &agent.tags[..]),
            ("Grains", &["chess".into()][..])
        );
        let version = store.released_version(&agent.id).await.unwrap().unwrap();
        let document = store.document(&version.document).await.unwrap().unwrap();
        assert_eq!(document.bytes, b"{\"components\": {}}");
        assert_eq!(store.keys(None).await.unwrap()[0].scopes, ["agents".into()]);
        let files = store.files("me", Default::default()).await.unwrap();
        assert_eq!(
            store.file_bytes(&files.items[0].id).await.unwrap().unwrap(),
            b"bytes"
        );
        assert_eq!(store.team_members("team").await.unwrap(), ["me".into()]);
        let memories = store.exchanges(&MemoryFilter::default()).await.unwrap();
        let inputs: Vec<&str> = memories
            .items
            .iter()
            .map(|kept| &*kept.user_input)
            .collect();
        assert_eq!(inputs, ["I like tea."][..usize::from(schema >= 3)]);
        // And it is of use: something can be added.
        store
            .append(Batch::new("new", 0, Vec::new()))
            .await
            .unwrap();
        store.close().await;
    }
}

/// The schema's version of today.
const SCHEMA: u32 = 3;

async fn write_database(file: &std::path::Path) {
    use easel_runtime::components::HistoryEntry;
    use easel_runtime::{
        Conversation, ConversationChange, EventId, Note, Origin, Said, Standing, Timestamp,
    };
    use easel_store::{Dialect, MemoryOf, NewAgent, NewExchange, NewFile, NewKey, NewSession};
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&Location::Folder(folder.path().to_owned()))
        .await
        .unwrap();
    let session = NewSession {
        id: Some("talk".into()),
        owner: "me".into(),
        ..NewSession::default()
    };
    store.create_session(session).await.unwrap();
    let whose = MemoryOf {
        owner: "me".into(),
        user: "ada".into(),
        memory: "tastes".into(),
        ..MemoryOf::default()
    };
    let exchange = NewExchange {
        key: "kept".into(),
        user_input: "I like tea.".into(),
        agent_response: "So do I.".into(),
    };
    store.remember(whose, exchange).await.unwrap();
    let mut batch = Batch::new("kept", 0, journal_of_today());
    let origin = Origin {
        owner: "me".into(),
        session: Some("talk".into()),
        ..Origin::default()
    };
    batch.origin = Some(Arc::new(origin));
    batch.standing = Standing::Finished {
        outputs: Object::default(),
    };
    batch.notes = vec![Note {
        id: EventId {
            entry: 1,
            counter: 2,
            shown: 0,
        },
        json: "{\"event\":\"warning\"}".into(),
    }];
    let long = Value::from("long ".repeat(4_000));
    batch.conversation = Some(ConversationChange {
        session: "talk".into(),
        from: 0,
        said: vec![Said {
            entry: HistoryEntry::new("user", "How many grains?"),
            run: "kept".into(),
            at: Timestamp(5),
            files: Vec::new(),
            reference: None,
        }],
        after: Some(Conversation {
            variables: [("env.long".into(), long)].into_iter().collect(),
            turns: 1,
            ..Conversation::default()
        }),
    });
    store.append(batch).await.unwrap();
    let document = store
        .put_document(Dialect::Canvas, b"{\"components\": {}}".to_vec())
        .await
        .unwrap();
    let agent = NewAgent {
        owner: "me".into(),
        title: "Grains".into(),
        tags: vec!["chess".into()],
        released: true,
        document: document.to_string(),
        ..NewAgent::default()
    };
    store.create_agent(agent).await.unwrap();
    let key = NewKey {
        owner: "me".into(),
        scopes: vec!["agents".into()],
        ..NewKey::default()
    };
    store.create_key(key).await.unwrap();
    let new = NewFile {
        owner: "me".into(),
        ..NewFile::default()
    };
    store.put_file(new, b"bytes".to_vec(), 5).await.unwrap();
    store.join_team("team", "me").await.unwrap();
    store.close().await;
    // Small pages make a small fixture.
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(folder.path().join("easel.db"));
    let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let small = sqlx::AssertSqlSafe(format!(
        "PRAGMA page_size = 1024; VACUUM INTO '{}'",
        file.display()
    ));
    sqlx::raw_sql(small).execute(&mut connection).await.unwrap();
}
