//! Several servers on one PostgreSQL database: whichever a client reaches does what it asks.

use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use easel_runtime::models::{
    ChatModel, ChatRequest, ChatStream, FinishReason, ModelError, ModelEvent, ModelInfo,
};
use easel_runtime::{Ending, EventId, Input, Standing};
use easel_server::Settings;
use easel_server::host::{Busy, HostError, Message};
use easel_store::{Dialect, Location, NewAgent, Store};
use futures::StreamExt;
use futures::channel::mpsc;
use reqwest::StatusCode;
use serde_json::{Value as Json, json};

use super::client::{Client, Seen, said};
use super::host::message;
use super::support::{Place, Setup, TestServer, echo, form, model};

/// A model that says what the test lets it say, when it does.
#[derive(Clone)]
struct Prompted {
    say: mpsc::UnboundedSender<ModelEvent>,
    heard: Arc<Mutex<Option<mpsc::UnboundedReceiver<ModelEvent>>>>,
}

impl Prompted {
    fn new() -> Prompted {
        let (say, heard) = mpsc::unbounded();
        Prompted {
            say,
            heard: Arc::new(Mutex::new(Some(heard))),
        }
    }

    fn say(&self, word: &str) {
        let word = ModelEvent::Text(word.into());
        self.say.unbounded_send(word).unwrap();
    }

    fn end(&self) {
        let finish = ModelEvent::Finish(FinishReason::Stop);
        self.say.unbounded_send(finish).unwrap();
        self.say.close_channel();
    }
}

impl ChatModel for Prompted {
    fn describe(&self, _: &str) -> Result<ModelInfo, ModelError> {
        Ok(ModelInfo::default())
    }

    /// The first call hears the test, a later one nothing.
    fn chat(&self, _: ChatRequest) -> ChatStream {
        match self.heard.lock().unwrap().take() {
            Some(words) => words.map(Ok).boxed(),
            None => futures::stream::pending().boxed(),
        }
    }
}

/// A database, and a server on it with that model.
async fn first(model: Option<Arc<dyn ChatModel>>) -> Option<(Place, TestServer)> {
    let place = Place::database().await?;
    let setup = Setup {
        model,
        ..Setup::default()
    };
    let world = json!({"llm": {}, "default_reply": "ok"});
    let server = place.set_up(world, setup).await;
    Some((place, server))
}

async fn begin(client: &Client, agent: &str) -> String {
    let path = format!("/v1/agents/{agent}/runs");
    let (status, run) = client.post(&path, &json!({"query": "hi"})).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{run}");
    run["id"].as_str().unwrap().to_owned()
}

/// Reads until that much was said, and gives what was seen.
async fn until(stream: &mut super::client::Stream, text: &str) -> Vec<Seen> {
    let mut seen = Vec::new();
    while said(&seen) != text {
        seen.push(stream.next().await.expect("the stream goes on"));
    }
    seen
}

/// Looks until the run stands so.
async fn stands(client: &Client, run: &str, state: &str) -> Json {
    loop {
        let (_, view) = client.get(&format!("/v1/runs/{run}")).await;
        if view["state"] == state {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_on_another_server() {
    let model_of_a = Prompted::new();
    let Some((place, a)) = first(Some(Arc::new(model_of_a.clone()))).await else {
        return;
    };
    let b = place.start().await;
    let agent = a.agent("local", "thinks", &model()).await;
    let run = begin(&Client::of(&a), &agent).await;
    let path = format!("/v1/runs/{run}/cancel");
    let (status, view) = Client::of(&b).post(&path, &json!({})).await;
    assert_eq!(
        (status, &view["state"]),
        (StatusCode::OK, &json!("cancelled"))
    );
    let record = a.app.host.record(&run).await.unwrap();
    assert_eq!(record.standing, Standing::Cancelled);
    // Once more does no harm, wherever.
    for server in [&a, &b] {
        assert!(!server.app.host.cancel(&run).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_is_answered_on_another_server() {
    let Some((place, a)) = first(None).await else {
        return;
    };
    let b = place.start().await;
    let agent = a.agent("local", "asks", &form()).await;
    let run = begin(&Client::of(&a), &agent).await;
    let before = Client::of(&a).watch(&run, None).await;
    assert_eq!(before.last().unwrap().data["state"], "waiting");
    let last = before[before.len() - 2].id.clone();
    let path = format!("/v1/runs/{run}/answer");
    let answer = json!({"text": "Ada", "wait": true});
    let (status, view) = Client::of(&b).post(&path, &answer).await;
    assert_eq!(
        (status, &view["state"]),
        (StatusCode::OK, &json!("finished"))
    );
    // The events go on with the same numbers, wherever they are read.
    let on_a = Client::of(&a).watch(&run, Some(&last)).await;
    let on_b = Client::of(&b).watch(&run, Some(&last)).await;
    assert_eq!(said(&on_a), "Hello Ada.");
    assert_eq!(on_a, on_b);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_word_by_word_on_another_server() {
    let prompted = Prompted::new();
    let Some((place, a)) = first(Some(Arc::new(prompted.clone()))).await else {
        return;
    };
    let b = place.start().await;
    let agent = a.agent("local", "speaks", &model()).await;
    let run = begin(&Client::of(&a), &agent).await;
    let mut stream = Client::of(&b).stream(&run, None).await;
    // The first events say that it is heard; each word is there before the next is said.
    let mut seen = Vec::new();
    while seen
        .last()
        .is_none_or(|seen: &Seen| seen.event != "node_started")
    {
        seen.push(stream.next().await.unwrap());
    }
    let mut text = String::new();
    for word in ["one ", "two ", "three "] {
        prompted.say(word);
        text += word;
        let more = until(&mut stream, word).await;
        seen.extend(more);
        assert_eq!(said(&seen), text);
    }
    // A client that is sent to the other server goes on where it was, and back.
    let last = seen.last().unwrap().id.clone();
    let mut on_a = Client::of(&a).stream(&run, Some(&last)).await;
    prompted.say("four ");
    let more = until(&mut on_a, "four ").await;
    let last = more.last().unwrap().id.clone();
    seen.extend(more);
    let back = tokio::spawn({
        let (client, run) = (Client::of(&b), run.clone());
        async move { client.watch(&run, Some(&last)).await }
    });
    prompted.say("five");
    prompted.end();
    let rest = back.await.unwrap();
    assert_eq!(rest.last().unwrap().event, "end");
    seen.extend(rest);
    assert_eq!(said(&seen), "one two three four five");
    let ids = seen.iter().filter(|seen| !seen.id.is_empty());
    let ids: Vec<EventId> = ids.map(|seen| seen.id.parse().unwrap()).collect();
    assert!(ids.windows(2).all(|two| two[0] < two[1]), "{ids:?}");
    let events = |seen: &[Seen]| -> Vec<String> {
        let told = seen.iter().filter(|seen| seen.event != "message");
        told.map(|seen| format!("{} {}", seen.id.split('+').next().unwrap(), seen.event))
            .collect()
    };
    let whole = Client::of(&a).watch(&run, None).await;
    assert_eq!(events(&seen), events(&whole));
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_to_one_conversation_on_two_servers_are_answered_one_after_the_other() {
    let Some((place, a)) = first(None).await else {
        return;
    };
    let b = place.start().await;
    let session = a.session(&echo()).await;
    let texts: Vec<String> = (0..20).map(|n| format!("message {n}")).collect();
    let said = texts.iter().zip([&a, &b].into_iter().cycle());
    let said = said.map(|(text, server)| {
        let (host, message) = (server.app.host.clone(), message(&session, text));
        async move { host.say(message).await.unwrap().end().await }
    });
    for end in futures::future::join_all(said).await {
        assert!(matches!(end.ending, Ok(Ending::Finished)), "{end:?}");
    }
    let (conversation, entries) = a.store.conversation(&session).await.unwrap().unwrap();
    assert_eq!(conversation.turns, 20);
    let entries: Vec<_> = entries.iter().map(|said| said.entry.text()).collect();
    let mut asked = Vec::new();
    for two in entries.chunks(2) {
        assert_eq!(*two[1], format!("You said {}.", two[0]));
        asked.push(two[0].to_string());
    }
    asked.sort();
    let mut texts = texts;
    texts.sort();
    assert_eq!(asked, texts, "each is answered once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_busy_on_one_server_is_busy_on_the_other() {
    let prompted = Prompted::new();
    let Some((place, a)) = first(Some(Arc::new(prompted.clone()))).await else {
        return;
    };
    let b = place.start().await;
    let session = a.session(&model()).await;
    let first = a.app.host.say(message(&session, "one")).await.unwrap();
    let refused = Message {
        busy: Busy::Refuse,
        ..message(&session, "no")
    };
    let refused = b.app.host.say(refused).await;
    assert!(matches!(refused, Err(HostError::Busy(_))));
    // One that queues gets its turn once the other is answered.
    let queued = tokio::spawn({
        let (host, message) = (b.app.host.clone(), message(&session, "two"));
        async move { host.say(message).await.unwrap().end().await }
    });
    prompted.say("first");
    prompted.end();
    assert!(matches!(first.end().await.ending, Ok(Ending::Finished)));
    assert!(matches!(queued.await.unwrap().ending, Ok(Ending::Finished)));
    let (_, entries) = b.store.conversation(&session).await.unwrap().unwrap();
    let texts = Vec::from_iter(entries.iter().map(|said| said.entry.text()));
    assert_eq!(texts, ["one", "first", "two", "ok"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_answers_on_two_servers_are_not_both_taken() {
    let Some((place, a)) = first(None).await else {
        return;
    };
    let b = place.start().await;
    let session = a.session(&form()).await;
    let asked = a.app.host.say(message(&session, "hi")).await.unwrap();
    asked.end().await;
    let run = asked.run();
    let (on_a, on_b) = tokio::join!(
        a.app.host.answer(run, Input::from("Ada")),
        b.app.host.answer(run, Input::from("Eve")),
    );
    let taken = [on_a, on_b].into_iter().filter_map(Result::ok);
    let taken: Vec<_> = taken.collect();
    assert_eq!(taken.len(), 1);
    let end = taken[0].end().await;
    assert!(matches!(end.ending, Ok(Ending::Finished)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_leaves_when_it_stops_goes_on_at_once() {
    let Some(place) = Place::database().await else {
        return;
    };
    let impatient = Setup {
        settings: Settings {
            patience: Duration::ZERO,
            ..Settings::default()
        },
        model: Some(Arc::new(Prompted::new())),
        ..Setup::default()
    };
    let a = place.set_up(json!({"llm": {}}), impatient).await;
    let b = place.start().await;
    let agent = a.agent("local", "thinks", &model()).await;
    let run = begin(&Client::of(&a), &agent).await;
    let worker = a.store.worker().clone();
    a.stop().await;
    let record = b.app.host.record(&run).await.unwrap();
    assert_ne!(
        record.worker,
        Some(worker),
        "it is nobody's, or the other's"
    );
    stands(&Client::of(&b), &run, "finished").await;
    let seen = Client::of(&b).watch(&run, None).await;
    assert_eq!(said(&seen), "ok");
}

/// The database on which a process of ours serves, and the file it writes its address to.
const DATABASE: &str = "EASEL_TEST_SERVES_ON";
const ADDRESS: &str = "EASEL_TEST_ADDRESS";

/// A process that serves, until this is dropped: then it is killed.
struct Process(Child, String);

impl Process {
    fn start(url: &str, test: &str) -> Process {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("address");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(DATABASE, url)
            .env(ADDRESS, &file)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..3_000 {
            if let Ok(address) = std::fs::read_to_string(&file) {
                return Process(child, format!("http://{address}"));
            }
            assert!(child.try_wait().unwrap().is_none(), "the process ended");
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the process does not serve");
    }

    fn client(&self) -> Client {
        Client::at(&self.1)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// In a process that a test started: serves, with a model that never answers, until it is killed.
async fn serves_if_asked() {
    let (Ok(url), Some(file)) = (std::env::var(DATABASE), std::env::var_os(ADDRESS)) else {
        return;
    };
    let silent = Setup {
        model: Some(Arc::new(Prompted::new())),
        ..Setup::default()
    };
    let server = Place::Database(url)
        .set_up(json!({"llm": {}}), silent)
        .await;
    let file = std::path::PathBuf::from(file);
    let new = file.with_extension("new");
    std::fs::write(&new, server.address.to_string()).unwrap();
    std::fs::rename(new, file).unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_was_about_when_it_was_killed_is_taken_over() {
    serves_if_asked().await;
    let Some((Place::Database(url), b)) = first(None).await else {
        return;
    };
    let test = "several::what_a_server_was_about_when_it_was_killed_is_taken_over";
    let a = Process::start(&url, test);
    let agent = b.agent("local", "thinks", &model()).await;
    let run = begin(&a.client(), &agent).await;
    drop(a);
    stands(&Client::of(&b), &run, "finished").await;
    let seen = Client::of(&b).watch(&run, None).await;
    assert_eq!(said(&seen), "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_server_was_killed_is_cancelled_by_whoever_is_asked() {
    serves_if_asked().await;
    let Some((Place::Database(url), b)) = first(Some(Arc::new(Prompted::new()))).await else {
        return;
    };
    let test = "several::a_run_whose_server_was_killed_is_cancelled_by_whoever_is_asked";
    let a = Process::start(&url, test);
    let agent = b.agent("local", "thinks", &model()).await;
    let run = begin(&a.client(), &agent).await;
    drop(a);
    assert!(b.app.host.cancel(&run).await.unwrap());
    let record = b.app.host.record(&run).await.unwrap();
    assert_eq!(record.standing, Standing::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_that_nobody_heard_is_found_by_the_server_that_takes_the_run_up() {
    serves_if_asked().await;
    let Some(Place::Database(url)) = Place::database().await else {
        return;
    };
    let test = "several::a_cancel_that_nobody_heard_is_found_by_the_server_that_takes_the_run_up";
    let a = Process::start(&url, test);
    let store = Store::open(&Location::Database(url.clone())).await.unwrap();
    let bytes = model().to_string().into_bytes();
    let new = NewAgent {
        owner: "local".to_owned(),
        title: "thinks".to_owned(),
        category: "agent_canvas".to_owned(),
        document: store
            .put_document(Dialect::Canvas, bytes)
            .await
            .unwrap()
            .to_string(),
        ..NewAgent::default()
    };
    let agent = store.create_agent(new).await.unwrap().id;
    let run = begin(&a.client(), &agent).await;
    drop(a);
    store.ask_to_cancel(&run.as_str().into()).await.unwrap();
    let b = Place::Database(url).start().await;
    stands(&Client::of(&b), &run, "cancelled").await;
    assert!(b.script.model_calls().is_empty(), "no model is asked");
}
