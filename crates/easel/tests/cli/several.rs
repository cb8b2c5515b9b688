//! `easel runs` on a PostgreSQL database while a server drives its runs.

use std::net::TcpListener;

use serde_json::{Value, json};

use super::easel::{Desk, Done, asks_a_form, canvas};
use super::served::Served;

/// A database with an agent in it, and a server that drives its runs.
struct Shared {
    desk: Desk,
    url: String,
    key: String,
    agent: String,
    served: Served,
}

impl Shared {
    /// `None` where there is no PostgreSQL.
    fn with(canvas: &Value, settings: &str) -> Option<Shared> {
        let url = postgres_for_tests::cluster()?.database_here();
        let desk = Desk::new();
        desk.write("easel.toml", settings);
        desk.json("agent.json", canvas);
        let import = ["agents", "import", "agent.json", "--owner", "ada", "--json"];
        let agent = obey(&desk, &url, &import).json();
        let agent = agent["agents"][0]["agent"].as_str().unwrap().to_owned();
        let key = obey(&desk, &url, &["keys", "new", "hers", "--owner", "ada"]);
        let key = key.out.trim().to_owned();
        let served = Served::on(&desk, &url, &key);
        Some(Shared {
            desk,
            url,
            key,
            agent,
            served,
        })
    }

    fn easel(&self, arguments: &[&str]) -> Done {
        obey(&self.desk, &self.url, arguments)
    }

    /// Where the server says that a run stands.
    fn state(&self, run: &str) -> Value {
        let path = format!("/v1/runs/{run}");
        let (status, view) = self
            .served
            .ask("GET", &path, &self.key, Value::Null)
            .unwrap();
        assert_eq!(status, 200, "{view}");
        view["state"].clone()
    }
}

fn obey(desk: &Desk, url: &str, arguments: &[&str]) -> Done {
    let mut command = desk.command(arguments);
    command
        .env("EASEL_DATABASE", url)
        .env("EASEL_HOME", desk.path("home"));
    Done::of(command.output().unwrap())
}

#[test]
fn a_run_that_a_server_drives_is_seen_and_ended_at_the_command_line() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let ask = json!({"url": format!("http://{address}/"), "method": "get", "timeout": 60});
    let waits = canvas(&[
        ("begin", "Begin", json!({}), &["Invoke:Ask"]),
        ("Invoke:Ask", "Invoke", ask, &["Message:M"]),
        ("Message:M", "Message", json!({"content": ["Done"]}), &[]),
    ]);
    let allow = format!("[http]\nallow = [\"{address}\"]\n");
    let Some(shared) = Shared::with(&waits, &allow) else {
        return;
    };
    let run = shared.served.begin(&shared.agent, json!({"query": "go"}));
    // The server is in the midst of it.
    let (_request, _) = silent.accept().unwrap();
    let listed = shared.easel(&["runs", "list", "--json"]).json();
    assert_eq!(listed["runs"][0]["id"], run);
    assert_eq!(listed["runs"][0]["state"], "running");
    let shown = shared.easel(&["runs", "show", "last"]);
    assert!(shown.out.contains("State     running"), "{}", shown.out);
    let cancelled = shared.easel(&["runs", "cancel", "last"]);
    assert_eq!(
        cancelled.out,
        format!("{run} is cancelled.\n"),
        "{}",
        cancelled.err
    );
    assert_eq!(shared.state(&run), "cancelled");
    shared.served.stop();
}

#[test]
fn a_run_that_waits_is_answered_at_the_command_line_beside_a_server() {
    let Some(shared) = Shared::with(&asks_a_form(), "") else {
        return;
    };
    let key = Some(shared.key.as_str());
    let asked = json!({"query": "Ada"});
    let run = shared.served.run(&shared.agent, key, asked);
    let run = run["id"].as_str().unwrap();
    let listed = shared.easel(&["runs", "list", "--state", "waiting"]).out;
    assert!(listed.contains(run), "{listed}");
    let answered = shared.easel(&["runs", "answer", run, "age=36"]);
    assert_eq!(
        (answered.code, answered.out.as_str()),
        (0, "36 and \n"),
        "{}",
        answered.err
    );
    assert_eq!(shared.state(run), "finished");
    shared.served.stop();
}
