//! `easel agents` and `easel keys`.

use serde_json::{Value, json};

use super::easel::{Desk, Done, canvas, says};
use super::served::Served;

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

/// What a template's file has around a canvas.
fn titled(title: &str, canvas: Value) -> Value {
    json!({"title": title, "description": "Greets.", "canvas_type": "Other", "dsl": canvas})
}

#[test]
fn a_file_makes_an_agent_and_brings_it_up_to_date_in_place() {
    let desk = Desk::new();
    desk.json("a.json", &titled("Greeter", says("Hello")));
    let first = kept(&desk, &["agents", "import", "a.json", "--json"]).json();
    assert_eq!(first["agents"][0]["outcome"], "created");
    let again = kept(&desk, &["agents", "import", "a.json"]);
    assert_eq!(
        (again.code, again.out.as_str()),
        (0, "Greeter: unchanged\n"),
        "{}",
        again.err
    );

    desk.json("a.json", &titled("greeter", says("Good day")));
    let dry = kept(
        &desk,
        &["agents", "import", "a.json", "--dry-run", "--publish"],
    )
    .out;
    let changes = "  ~ Message:M\n      content.0: \"Hello\" → \"Good day\"\n";
    assert_eq!(
        dry,
        format!("greeter: 1 node changed, would be released\n{changes}")
    );
    let done = kept(&desk, &["agents", "import", "a.json", "--publish"]).out;
    assert_eq!(
        done,
        format!("greeter: 1 node changed, released\n{changes}"),
        "a dry run wrote nothing"
    );
    let listed = kept(&desk, &["agents", "list", "--json"]).json();
    assert_eq!(
        listed["agents"].as_array().unwrap().len(),
        1,
        "a title is the same in any case"
    );
    assert_eq!(listed["agents"][0]["id"], first["agents"][0]["agent"]);
    assert_eq!(listed["agents"][0]["state"], "released");
    let nothing = kept(&desk, &["agents", "import", "a.json", "--publish"]).out;
    assert_eq!(nothing, "greeter: unchanged\n");
}

#[test]
fn versions_are_compared_restored_and_released() {
    let desk = Desk::new();
    for (at, text) in ["one", "two", "three"].into_iter().enumerate() {
        desk.json("Greeter.json", &says(text));
        let mut arguments = vec!["agents", "import", "Greeter.json"];
        if at == 1 {
            arguments.push("--publish");
        }
        assert_eq!(kept(&desk, &arguments).code, 0);
    }
    let versions = kept(&desk, &["agents", "versions", "greeter", "--json"]).json();
    let numbers = versions["versions"].as_array().unwrap().iter();
    let numbers: Vec<(u64, bool, bool)> = numbers
        .map(|v| {
            (
                v["number"].as_u64().unwrap(),
                v["current"] == true,
                v["draft"] == true,
            )
        })
        .collect();
    assert_eq!(
        numbers,
        [(3, false, true), (2, true, false), (1, false, false)]
    );
    let table = kept(&desk, &["agents", "versions", "Greeter"]).out;
    assert!(table.contains("2  released"), "{table}");
    let listed = kept(&desk, &["agents", "list"]).out;
    assert!(listed.contains("released, draft differs"), "{listed}");

    let diff = kept(&desk, &["agents", "diff", "Greeter"]);
    assert_eq!(diff.code, 1);
    assert!(
        diff.out.contains("content.0: \"two\" → \"three\""),
        "{}",
        diff.out
    );
    let same = kept(&desk, &["agents", "diff", "Greeter@3", "Greeter.json"]);
    assert_eq!(
        (same.code, same.out.as_str()),
        (0, "They are the same.\n"),
        "{}",
        same.err
    );
    assert_eq!(
        kept(&desk, &["agents", "diff", "Greeter@9", "Greeter"]).code,
        2
    );

    let released = kept(&desk, &["agents", "export", "Greeter@released", "--bare"]);
    let released = released.json()["components"]["Message:M"]["obj"]["params"]["content"].clone();
    assert_eq!(released, json!(["two"]));

    let back = kept(&desk, &["agents", "rollback", "Greeter", "1"]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert!(back.out.contains("\"three\" → \"one\""), "{}", back.out);
    let diff = kept(&desk, &["agents", "diff", "Greeter", "--json"]).json();
    assert_eq!(diff["changed"][0]["fields"][0]["new"], "one");
    let published = kept(&desk, &["agents", "publish", "Greeter"]).out;
    assert!(published.contains("\"two\" → \"one\""), "{published}");
    assert_eq!(kept(&desk, &["agents", "diff", "Greeter"]).code, 0);
}

#[test]
fn credentials_go_into_the_vault_and_never_out_again() {
    let desk = Desk::new();
    let search = json!({"query": "{sys.query}", "api_key": "tvly-abcdef123456"});
    desk.json(
        "search.json",
        &canvas(&[
            ("begin", "Begin", json!({}), &["TavilySearch:S"]),
            ("TavilySearch:S", "TavilySearch", search, &["Message:M"]),
            (
                "Message:M",
                "Message",
                json!({"content": ["{TavilySearch:S@formalized_content}"]}),
                &[],
            ),
        ]),
    );
    let done = kept(&desk, &["agents", "import", "search.json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.err.contains("TAVILY_SEARCH_API_KEY is in the vault"),
        "{}",
        done.err
    );
    assert!(
        desk.read("search.json").contains("tvly-abcdef123456"),
        "the file stays as it is"
    );
    let secrets = kept(&desk, &["secrets", "list"]).out;
    assert!(secrets.contains("TAVILY_SEARCH_API_KEY"), "{secrets}");

    let out = kept(&desk, &["agents", "export", "search", "-o", "out.json"]);
    assert_eq!(out.code, 0, "{}", out.err);
    let text = desk.read("out.json");
    assert!(
        text.contains("${TAVILY_SEARCH_API_KEY}") && !text.contains("tvly-"),
        "{text}"
    );
    let bytes = std::fs::read(desk.path("data/easel.db")).unwrap();
    let all = [
        bytes,
        std::fs::read(desk.path("data/easel.db-wal")).unwrap_or_default(),
    ]
    .concat();
    assert!(!all.windows(5).any(|part| part == b"tvly-"));
    let again = kept(&desk, &["agents", "import", "out.json"]);
    assert_eq!(again.out, "search: unchanged\n", "{}", again.err);
}

#[test]
fn if_one_file_is_refused_none_is_taken_in() {
    let desk = Desk::new();
    desk.json("good.json", &says("Hello"));
    let dangling = canvas(&[("begin", "Begin", json!({}), &["Message:Nobody"])]);
    desk.json("bad.json", &dangling);
    let done = kept(&desk, &["agents", "import", "good.json", "bad.json"]);
    assert_eq!(done.code, 3);
    assert!(done.err.contains("edge-to-nothing"), "{}", done.err);
    assert!(!desk.path("data").exists());
    desk.json("other.json", &titled("GOOD", says("Hi")));
    let twice = kept(&desk, &["agents", "import", "good.json", "other.json"]);
    assert_eq!(twice.code, 2);
    assert!(twice.err.contains("for the same agent"), "{}", twice.err);
}

#[test]
fn a_graph_is_taken_in_compared_and_given_back_as_it_was_written() {
    let desk = Desk::new();
    assert_eq!(desk.easel(&["new", "hello.yaml"]).code, 0);
    let made = kept(&desk, &["agents", "import", "hello.yaml", "--json"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let title = made.json()["agents"][0]["title"]
        .as_str()
        .unwrap()
        .to_owned();
    let exported = kept(&desk, &["agents", "export", &title]).out;
    assert_eq!(exported, desk.read("hello.yaml"), "comments and all");
    desk.write("hello.yaml", &exported.replace("Hello", "Good day"));
    let changed = kept(&desk, &["agents", "import", "hello.yaml"]);
    assert!(changed.out.contains("2 nodes changed"), "{}", changed.out);
    desk.json("canvas.json", &says("Hello"));
    let canvas = kept(
        &desk,
        &["agents", "import", "--agent", &title, "canvas.json"],
    );
    assert_eq!(canvas.code, 2);
    assert!(canvas.err.contains("is a graph"), "{}", canvas.err);
}

#[test]
fn an_agent_is_deleted_only_by_who_says_so() {
    let desk = Desk::new();
    desk.json("Greeter.json", &says("Hello"));
    kept(&desk, &["agents", "import", "Greeter.json"]);
    let asked = kept(&desk, &["agents", "delete", "Greeter"]);
    assert_eq!(asked.code, 2);
    assert!(asked.err.contains("--yes"), "{}", asked.err);
    assert_eq!(
        kept(&desk, &["agents", "delete", "Greeter", "--yes"]).code,
        0
    );
    let gone = kept(&desk, &["agents", "export", "Greeter"]);
    assert_eq!(gone.code, 2);
    assert!(
        gone.err.contains("There is no agent \"Greeter\"."),
        "{}",
        gone.err
    );
}

#[test]
fn a_key_is_shown_once_opens_the_door_and_can_be_revoked() {
    let desk = Desk::new();
    let made = kept(
        &desk,
        &["keys", "new", "ci", "--scopes", "read", "--expires", "90d"],
    );
    assert_eq!(made.code, 0, "{}", made.err);
    let key = made.out.trim().to_owned();
    assert!(key.starts_with("easel_"), "the key alone, for scripts");
    assert!(made.err.contains("It is the first key"), "{}", made.err);
    let served = Served::start(&desk, &[]);
    let status = |key: &str| served.ask("GET", "/v1/runs", key, Value::Null).unwrap().0;
    assert_eq!((status(&key), status("easel_wrong")), (200, 401));
    let listed = kept(&desk, &["keys", "list"]).out;
    assert!(listed.contains("ci") && listed.contains("read"), "{listed}");
    assert!(!listed.contains(&key));
    let revoked = kept(&desk, &["keys", "revoke", "ci"]);
    assert_eq!(revoked.code, 0, "{}", revoked.err);
    assert_eq!(status(&key), 401, "at once");
    let none = kept(&desk, &["keys", "list"]);
    assert!(none.err.contains("No key is in use"), "{}", none.err);
    let all = kept(&desk, &["keys", "list", "--all", "--json"]).json();
    assert!(all["keys"][0]["revoked_at"].is_f64());
    assert_eq!(
        kept(&desk, &["keys", "new", "x", "--scopes", "all"]).code,
        2
    );
    served.stop();
}
