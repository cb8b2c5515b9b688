//! `easel runs` and `easel receipt`: runs that are kept.

use std::io::Read;
use std::net::TcpListener;

use serde_json::{Value, json};

use super::easel::{Desk, Done, asks_a_form, canvas, says};
use super::served::{Served, within};

/// A command over the folder `data` of a desk.
fn kept(desk: &Desk, arguments: &[&str]) -> Done {
    let output = desk
        .command(arguments)
        .env("EASEL_DATA", desk.path("data"))
        .env("EASEL_HOME", desk.path("home"))
        .output()
        .unwrap();
    Done {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Takes a canvas in, and gives the agent's id.
fn imported(desk: &Desk, title: &str, canvas: &Value) -> String {
    let file = format!("{title}.json");
    desk.json(&file, canvas);
    let done = kept(desk, &["agents", "import", &file, "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    done.json()["agents"][0]["agent"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_run_that_waits_is_answered_where_no_server_is() {
    let desk = Desk::new();
    let agent = imported(&desk, "form", &asks_a_form());
    let served = Served::start(&desk, &[]);
    let run = served.run(&agent, None, json!({"query": "Ada"}));
    served.stop();
    let id = run["id"].as_str().unwrap();

    let listed = kept(&desk, &["runs", "list", "--state", "waiting"]).out;
    assert!(listed.starts_with("RUN "), "{listed}");
    assert!(listed.contains(id) && listed.contains("form"), "{listed}");
    assert!(listed.contains("One more thing, Ada:"), "{listed}");

    let asked = kept(&desk, &["runs", "answer", "last"]);
    assert_eq!(asked.code, 4);
    assert!(
        asked.out.contains("age: Your age (integer)"),
        "{}",
        asked.out
    );
    assert!(
        asked
            .out
            .contains("colour: Colour (options, Red | Blue, may stay empty)"),
        "{}",
        asked.out
    );

    let unfit = kept(&desk, &["runs", "answer", "last", "size=3"]);
    assert_eq!(unfit.code, 2);
    assert!(unfit.err.contains("age, colour"), "{}", unfit.err);

    let answered = kept(&desk, &["runs", "answer", id, "age=36", "colour=Red"]);
    assert_eq!(
        (answered.code, answered.out.as_str()),
        (0, "36 and Red\n"),
        "{}",
        answered.err
    );
    let again = kept(&desk, &["runs", "answer", "last", "age=36"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("finished"), "{}", again.err);

    let value = kept(&desk, &["runs", "state", "last", "UserFillUp:F@age"]);
    assert_eq!((value.code, value.out.as_str()), (0, "36\n"));
    let everything = kept(&desk, &["runs", "state", "last"]).out;
    assert!(everything.contains("Message:M@content"), "{everything}");
    let before = kept(
        &desk,
        &["runs", "state", "last", "UserFillUp:F@age", "--at", "0"],
    );
    assert_ne!(before.out, "36\n", "it was not answered yet");
    assert_eq!(
        kept(&desk, &["runs", "state", "last", "Nobody:X@y"]).code,
        2
    );
}

#[test]
fn a_run_is_shown_with_its_steps_and_what_people_saw() {
    let desk = Desk::new();
    let agent = imported(&desk, "Greeter", &says("Hello {sys.query}"));
    let served = Served::start(&desk, &[]);
    served.run(&agent, None, json!({"query": "Ada", "user": "u1"}));
    served.stop();

    let shown = kept(&desk, &["runs", "show", "last"]).out;
    for part in [
        "State     finished",
        "Greeter, its draft",
        "for u1, by api",
        "Asked     Ada",
        "content: Hello Ada",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let steps = kept(&desk, &["runs", "show", "last", "--steps"]).out;
    assert!(steps.contains("Message:M"), "{steps}");
    let steps = kept(
        &desk,
        &[
            "runs",
            "show",
            "last",
            "--steps",
            "--node",
            "Message:M",
            "--json",
        ],
    )
    .json();
    assert_eq!(steps["steps"].as_array().unwrap().len(), 1);
    assert_eq!(steps["steps"][0]["outputs"]["content"], "Hello Ada");

    let seen = kept(&desk, &["runs", "events", "last"]).out;
    assert!(
        seen.contains("message ") && seen.contains("Hello Ada"),
        "{seen}"
    );
    let events = kept(&desk, &["runs", "events", "last", "--json"]).out;
    let names = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let names: Vec<String> = names
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        names.last().map(String::as_str),
        Some("workflow_finished"),
        "{names:?}"
    );
    let last: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    let none = kept(
        &desk,
        &[
            "runs",
            "events",
            "last",
            "--after",
            last["id"].as_str().unwrap(),
        ],
    );
    assert_eq!((none.code, none.out.as_str()), (0, ""));

    let receipt = kept(&desk, &["receipt", "last"]).out;
    assert!(receipt.contains("No secret was used."), "{receipt}");
    let signed = kept(&desk, &["receipt", "last", "--json"]).out;
    desk.write("receipt.json", &signed);
    assert_eq!(
        kept(&desk, &["receipt", "--verify", "receipt.json"]).code,
        0
    );
}

#[test]
fn through_a_server_the_runs_of_every_owner_can_be_answered_and_ended() {
    let desk = Desk::new();
    desk.json("form.json", &asks_a_form());
    let made = kept(
        &desk,
        &["agents", "import", "form.json", "--owner", "ada", "--json"],
    )
    .json();
    let agent = made["agents"][0]["agent"].as_str().unwrap().to_owned();
    let key = kept(&desk, &["keys", "new", "hers", "--owner", "ada"]).out;
    let served = Served::start(&desk, &[]);
    served.run(&agent, Some(key.trim()), json!({"query": "one"}));
    let answered = kept(&desk, &["runs", "answer", "last", "age=3"]);
    assert_eq!(
        (answered.code, answered.out.as_str()),
        (0, "3 and \n"),
        "{}",
        answered.err
    );

    let second = served.run(&agent, Some(key.trim()), json!({"query": "two"}));
    let second = second["id"].as_str().unwrap();
    let refused = kept(&desk, &["runs", "delete", second]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("is waiting"), "{}", refused.err);
    let cancelled = kept(&desk, &["runs", "cancel", second]);
    assert_eq!(
        cancelled.out,
        format!("{second} is cancelled.\n"),
        "{}",
        cancelled.err
    );
    assert_eq!(kept(&desk, &["runs", "delete", second]).code, 0);
    let left = kept(&desk, &["runs", "list", "--owner", "ada", "--json"]).json();
    assert_eq!(left["runs"].as_array().unwrap().len(), 1);
    served.stop();
}

#[test]
fn a_server_that_was_killed_keeps_nobody_from_acting() {
    let desk = Desk::new();
    let agent = imported(&desk, "form", &asks_a_form());
    let served = Served::start(&desk, &[]);
    served.run(&agent, None, json!({"query": "Ada"}));
    served.kill();
    assert!(
        desk.path("data/serve.json").exists(),
        "nobody has tidied up"
    );
    let answered = kept(&desk, &["runs", "answer", "last", "age=1", "--json"]);
    assert_eq!(answered.code, 0, "{}", answered.err);
    assert_eq!(answered.json()["state"], "finished");
}

#[test]
fn a_write_of_which_nobody_knows_is_decided_at_the_command_line() {
    let desk = Desk::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    desk.write("easel.toml", &format!("[http]\nallow = [\"{address}\"]\n"));
    let order =
        json!({"url": format!("http://{address}/orders"), "method": "post", "variables": []});
    let agent = imported(
        &desk,
        "order",
        &canvas(&[
            ("begin", "Begin", json!({}), &["Invoke:Order"]),
            ("Invoke:Order", "Invoke", order, &["Message:M"]),
            (
                "Message:M",
                "Message",
                json!({"content": ["Ordered: {Invoke:Order@result}"]}),
                &[],
            ),
        ]),
    );
    let served = Served::start(&desk, &[]);
    let id = served.begin(&agent, json!({"query": "go"}));
    // The request is out, and no answer will come.
    let (mut request, _) = silent.accept().unwrap();
    let mut first = [0; 4];
    request.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"POST");
    served.kill();

    let taken_up = kept(&desk, &["runs", "resume", "last"]);
    assert_eq!(taken_up.code, 4, "{}", taken_up.err);
    assert!(
        taken_up
            .err
            .contains("--repeat | --happened JSON | --failed REASON"),
        "{}",
        taken_up.err
    );
    let listed = kept(&desk, &["runs", "list", "--state", "uncertain", "--json"]).json();
    assert_eq!(listed["runs"][0]["id"], id);
    let plain = kept(&desk, &["runs", "answer", "last", "yes"]);
    assert_eq!(plain.code, 2);
    assert!(plain.err.contains("--happened"), "{}", plain.err);
    let decided = kept(
        &desk,
        &[
            "runs",
            "answer",
            "last",
            "--happened",
            r#"{"result": "no. 7"}"#,
        ],
    );
    assert_eq!(
        (decided.code, decided.out.as_str()),
        (0, "Ordered: no. 7\n"),
        "{}",
        decided.err
    );
}

#[test]
fn old_runs_are_tidied_up_and_only_counted_first() {
    let desk = Desk::new();
    let agent = imported(&desk, "Greeter", &says("Hello"));
    let served = Served::start(&desk, &[]);
    served.run(&agent, None, json!({"query": "a"}));
    served.run(&agent, None, json!({"query": "b"}));
    served.stop();
    let dry = kept(&desk, &["runs", "gc", "--older-than", "0s", "--dry-run"]).out;
    assert!(dry.starts_with("2 runs would go"), "{dry}");
    let young = kept(&desk, &["runs", "gc", "--older-than", "1d", "--json"]).json();
    assert_eq!(young["runs"], 0);
    let kept_one = kept(&desk, &["runs", "gc", "--older-than", "0s", "--keep", "1"]).out;
    assert!(kept_one.starts_with("1 run went"), "{kept_one}");
    let left = kept(&desk, &["runs", "list", "--json"]).json();
    assert_eq!(left["runs"].as_array().unwrap().len(), 1);
    assert_eq!(left["runs"][0]["summary"], "Hello");
}

#[test]
fn where_nothing_is_kept_a_verb_says_so_and_makes_nothing() {
    let desk = Desk::new();
    for verb in [
        ["runs", "list"],
        ["agents", "list"],
        ["keys", "list"],
        ["runs", "show"],
    ] {
        let mut arguments = verb.to_vec();
        if verb == ["runs", "show"] {
            arguments.push("last");
        }
        let done = desk.easel(&arguments);
        assert_eq!(done.code, 2, "{}", done.out);
        assert!(done.err.contains("There is no data in"), "{}", done.err);
    }
    assert!(!desk.path("easel-data").exists());
}

#[test]
fn events_can_be_followed_until_the_turn_ends() {
    let desk = Desk::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    desk.write("easel.toml", &format!("[http]\nallow = [\"{address}\"]\n"));
    let ask = json!({"url": format!("http://{address}/"), "method": "get", "timeout": 60});
    let agent = imported(
        &desk,
        "slow",
        &canvas(&[
            ("begin", "Begin", json!({}), &["Invoke:Ask"]),
            ("Invoke:Ask", "Invoke", ask, &["Message:M"]),
            ("Message:M", "Message", json!({"content": ["Done"]}), &[]),
        ]),
    );
    let served = Served::start(&desk, &[]);
    served.begin(&agent, json!({"query": "go"}));
    let mut following = desk.command(&["runs", "events", "last", "--follow", "--data", "data"]);
    let following = following.spawn().unwrap();
    let (mut request, _) = silent.accept().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    std::io::Write::write_all(
        &mut request,
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    )
    .unwrap();
    let seen = super::easel::wait(following);
    assert_eq!(seen.code, 0);
    assert!(seen.out.contains("Done"), "{}", seen.out);
    within(|| {
        let state = kept(&desk, &["runs", "list", "--json"]).json();
        (state["runs"][0]["state"] == "finished").then_some(())
    });
    served.stop();
}
