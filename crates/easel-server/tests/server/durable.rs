//! What a client sees of a run when its connection breaks, and when the server dies.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use easel_runtime::EventId;
use reqwest::StatusCode;
use serde_json::json;

use super::client::{Client, Seen, said};
use super::slow::SlowModel;
use super::support::{Setup, TestServer, form, model};

fn counting() -> SlowModel {
    SlowModel::counting(60, Duration::from_millis(20))
}

/// Numbers that ascend and never come twice.
fn ascends(events: &[Seen]) {
    let ids = events.iter().filter(|seen| !seen.id.is_empty());
    let ids: Vec<EventId> = ids.map(|seen| seen.id.parse().unwrap()).collect();
    for two in ids.windows(2) {
        assert!(
            two[0] < two[1],
            "{} is behind {}: {events:#?}",
            two[1],
            two[0]
        );
    }
}

async fn begin(client: &Client, agent: &str) -> String {
    let path = format!("/v1/agents/{agent}/runs");
    let (status, run) = client.post(&path, &json!({"query": "count"})).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{run}");
    run["id"].as_str().unwrap().to_owned()
}

/// Reads until the message has that many pieces.
async fn some(client: &Client, run: &str, pieces: usize) -> Vec<Seen> {
    let mut stream = client.stream(run, None).await;
    let mut seen = Vec::new();
    let mut count = 0;
    while count < pieces {
        let next = stream.next().await.expect("the stream goes on");
        count += usize::from(next.event == "message");
        seen.push(next);
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_goes_on_after_the_connection_broke() {
    let setup = Setup {
        model: Some(Arc::new(counting())),
        ..Setup::default()
    };
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::set_up(folder, json!({"llm": {}}), setup).await;
    let client = Client::of(&server);
    let agent = server.agent("local", "counts", &model()).await;
    let run = begin(&client, &agent).await;
    let mut seen = some(&client, &run, 5).await;
    // Again and again, from where it was.
    for pieces in [3, 10] {
        let last = seen.last().unwrap().id.clone();
        let mut stream = client.stream(&run, Some(&last)).await;
        for _ in 0..pieces {
            seen.push(stream.next().await.unwrap());
        }
    }
    let last = seen.last().unwrap().id.clone();
    seen.extend(client.watch(&run, Some(&last)).await);
    assert_eq!(said(&seen), counting().text());
    assert_eq!(seen.last().unwrap().event, "end");
    ascends(&seen);
    // After its end too, from any event.
    for at in [0, seen.len() / 2] {
        let mut whole = seen[..=at].to_vec();
        whole.extend(client.watch(&run, Some(&seen[at].id)).await);
        assert_eq!(said(&whole), counting().text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_watch_one_run_and_a_slow_one_holds_back_nobody() {
    let setup = Setup {
        model: Some(Arc::new(counting())),
        ..Setup::default()
    };
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::set_up(folder, json!({"llm": {}}), setup).await;
    let client = Client::of(&server);
    let agent = server.agent("local", "counts", &model()).await;
    let run = begin(&client, &agent).await;
    let mut slow = client.stream(&run, None).await;
    let first = slow.next().await.unwrap();
    let fast = client.watch(&run, None).await;
    assert_eq!(said(&fast), counting().text());
    let mut rest = vec![first];
    while let Some(seen) = slow.next().await {
        rest.push(seen);
    }
    assert_eq!(said(&rest), counting().text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_is_watched_before_and_after_its_answer() {
    let server = TestServer::start().await;
    let client = Client::of(&server);
    let agent = server.agent("local", "asks", &form()).await;
    let run = begin(&client, &agent).await;
    let first = client.watch(&run, None).await;
    assert_eq!(first.last().unwrap().data["state"], "waiting");
    let last = first[first.len() - 2].id.clone();
    let server = server.restart().await;
    let client = Client::of(&server);
    let answer = json!({"text": "Ada"});
    let (status, _) = client
        .post(&format!("/v1/runs/{run}/answer"), &answer)
        .await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let rest = client.watch(&run, Some(&last)).await;
    assert_eq!(said(&rest), "Hello Ada.");
    assert_eq!(rest.last().unwrap().data["state"], "finished");
    let whole: Vec<Seen> = [&first[..first.len() - 1], &rest].concat();
    ascends(&whole);
}

/// The folder in which a process of ours serves; it writes its address there.
const FOLDER: &str = "EASEL_TEST_SERVES_IN";

/// What the process does that is killed.
async fn serve_until_killed(folder: &Path) {
    let setup = Setup {
        model: Some(Arc::new(counting())),
        ..Setup::default()
    };
    let server = TestServer::set_up_in(folder, json!({"llm": {}}), setup).await;
    let address = folder.join("address.new");
    std::fs::write(&address, server.address.to_string()).unwrap();
    std::fs::rename(address, folder.join("address")).unwrap();
    std::future::pending::<()>().await;
}

/// A process that serves, until this is dropped.
struct Process(Child, String);

impl Process {
    fn start(folder: &Path) -> Process {
        let _ = std::fs::remove_file(folder.join("address"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "durable::a_stream_goes_on_after_the_server_was_killed",
            ])
            .arg("--nocapture")
            .env(FOLDER, folder)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..3_000 {
            if let Ok(address) = std::fs::read_to_string(folder.join("address")) {
                return Process(child, address);
            }
            assert!(child.try_wait().unwrap().is_none(), "the process ended");
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the process does not serve");
    }

    fn client(&self) -> Client {
        Client::at(&format!("http://{}", self.1))
    }
}

impl Drop for Process {
    /// `kill -9`.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_goes_on_after_the_server_was_killed() {
    // In the process that this test starts, this is where it serves.
    if let Ok(folder) = std::env::var(FOLDER) {
        return serve_until_killed(Path::new(&folder)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let agent = {
        let server = TestServer::set_up_in(folder.path(), json!({"llm": {}}), Setup::default());
        let server = server.await;
        let agent = server.agent("local", "counts", &model()).await;
        server.stop().await;
        agent
    };
    let process = Process::start(folder.path());
    let run = begin(&process.client(), &agent).await;
    let mut seen = some(&process.client(), &run, 10).await;
    drop(process);

    let process = Process::start(folder.path());
    let last = seen.last().unwrap().id.clone();
    let rest = process.client().watch(&run, Some(&last)).await;
    assert!(
        rest.iter().any(|seen| seen.event == "message_reset"),
        "the lost attempt is announced: {rest:#?}"
    );
    seen.extend(rest);
    assert_eq!(
        said(&seen),
        counting().text(),
        "no piece is lost, none comes twice"
    );
    assert_eq!(seen.last().unwrap().data["state"], "finished");
    ascends(&seen);
    let ends = seen.iter().filter(|seen| seen.event == "workflow_finished");
    assert_eq!(ends.count(), 1);
    // Whoever comes late sees the same.
    let whole = process.client().watch(&run, None).await;
    assert_eq!(said(&whole), counting().text());
    // How much of a message was shown by then is no part of what an event is.
    let numbered = |events: &[Seen]| -> Vec<String> {
        let events = events.iter().filter(|seen| seen.event != "message");
        let place = |seen: &Seen| seen.id.split('+').next().unwrap_or_default().to_owned();
        events
            .map(|seen| format!("{} {}", place(seen), seen.event))
            .collect()
    };
    assert_eq!(numbered(&whole), numbered(&seen));
}
