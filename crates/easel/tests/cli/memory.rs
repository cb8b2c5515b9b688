//! Memory of users, from one conversation to the next, and `easel memory`.

use serde_json::{Value, json};

use super::easel::{Desk, Done, canvas};
use super::served::Served;

/// A canvas that says what it remembers of what the user says, and remembers that too.
fn remembers() -> Value {
    canvas(&[
        ("begin", "Begin", json!({}), &["Retrieval:Recall"]),
        (
            "Retrieval:Recall",
            "Retrieval",
            json!({"query": "sys.query", "retrieval_from": "memory", "memory_ids": ["facts"], "top_n": 1,
                   "empty_response": "nothing"}),
            &["Message:Say"],
        ),
        (
            "Message:Say",
            "Message",
            json!({"content": ["I remember: {Retrieval:Recall@formalized_content}"], "memory_ids": ["facts"]}),
            &[],
        ),
    ])
}

/// Runs with the data folder `data`.
fn easel(desk: &Desk, arguments: &[&str]) -> Done {
    let mut command = desk.command(arguments);
    command.env("EASEL_DATA", "data");
    Done::of(command.output().unwrap())
}

#[test]
fn what_was_said_in_one_run_is_known_in_the_next_to_the_same_user_and_file() {
    let desk = Desk::new();
    desk.json("a.json", &remembers());
    desk.json("b.json", &remembers());
    let without = easel(&desk, &["run", "a.json", "My favourite tea is Assam"]);
    assert_ne!(without.code, 0, "there is nothing to search in");
    assert!(without.err.contains("data folder"), "{}", without.err);
    std::fs::create_dir(desk.path("data")).unwrap();
    for (file, user) in [("a.json", "ada"), ("a.json", "bob"), ("b.json", "ada")] {
        let query = format!("{user} likes Assam tea in {file}");
        let said = easel(&desk, &["run", file, "--user", user, &query]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("I remember: nothing"), "{}", said.out);
    }
    let said = easel(&desk, &["run", "a.json", "--user", "ada", "Which tea?"]);
    assert!(
        said.out.contains("User: ada likes Assam tea in a.json"),
        "{}",
        said.out
    );
    let listed = easel(
        &desk,
        &[
            "memory", "list", "--user", "ada", "--agent", "a.json", "--json",
        ],
    );
    let listed = listed.json()["memories"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[1]["user_input"], "ada likes Assam tea in a.json");
    let id = listed[1]["id"].as_str().unwrap();
    let forgotten = easel(&desk, &["memory", "delete", id]);
    assert_eq!(forgotten.out, "1 exchange is forgotten.\n");
    let again = easel(&desk, &["memory", "delete", id]);
    assert_eq!(
        (again.code, again.out.as_str()),
        (2, "0 exchanges are forgotten.\n")
    );
    let unsaid = easel(&desk, &["memory", "delete"]);
    assert!(
        unsaid.code == 2 && unsaid.err.contains("--user"),
        "{}",
        unsaid.err
    );
    let forgotten = easel(&desk, &["memory", "delete", "--user", "ada"]);
    assert_eq!(forgotten.out, "2 exchanges are forgotten.\n");
    let left = easel(&desk, &["memory", "list"]);
    assert!(
        left.out.contains("bob likes") && !left.out.contains("ada likes"),
        "{}",
        left.out
    );
    let said = easel(&desk, &["run", "a.json", "--user", "ada", "Which tea?"]);
    assert!(said.out.contains("I remember: nothing"), "{}", said.out);
}

#[test]
fn whoever_sits_at_the_terminal_is_one_user() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("data")).unwrap();
    desk.json("a.json", &remembers());
    easel(&desk, &["run", "a.json", "The code of the gate is 4711"]);
    let said = easel(&desk, &["run", "a.json", "Which code has the gate?"]);
    assert!(
        said.out.contains("User: The code of the gate is 4711"),
        "{}",
        said.out
    );
}

#[test]
fn an_agent_of_a_server_remembers_each_user_apart_and_over_a_restart() {
    let desk = Desk::new();
    desk.json("a.json", &remembers());
    let imported = desk.easel(&["agents", "import", "a.json", "--data", "data", "--json"]);
    assert_eq!(imported.code, 0, "{}", imported.err);
    let agents = desk
        .easel(&["agents", "list", "--data", "data", "--json"])
        .json();
    let agent = agents["agents"][0]["id"].as_str().unwrap().to_owned();
    let answer = |served: &Served, user: Option<&str>, query: &str| {
        let run = served.run(&agent, None, json!({"query": query, "user": user}));
        run["final"]["content"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let served = Served::start(&desk, &[]);
    let first = answer(&served, Some("ada"), "My dog is called Rex");
    assert_eq!(first, "I remember: nothing");
    assert_eq!(
        answer(&served, None, "My dog is called Max"),
        "I remember: nothing"
    );
    served.stop();
    let served = Served::start(&desk, &[]);
    let known = answer(&served, Some("ada"), "What is my dog called?");
    assert!(known.contains("User: My dog is called Rex"), "{known}");
    assert_eq!(
        answer(&served, Some("bob"), "What is my dog called?"),
        "I remember: nothing"
    );
    let unknown = answer(&served, None, "What is my dog called?");
    assert_eq!(unknown, "I remember: nothing", "another stranger's");
    served.stop();
}
