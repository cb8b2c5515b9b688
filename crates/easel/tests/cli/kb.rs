//! `easel kb`, and Retrieval on what it keeps.

use serde_json::{Value, json};

use super::easel::{Desk, canvas};

const LEAVE: &str =
    "# Leave\n\nEvery employee has 28 days of leave a year. Ask for it two weeks before.\n";
const PARKING: &str = "# Parking\n\nBicycles stand in the yard, cars behind the building.\n";

/// A folder with two documents.
fn handbook() -> Desk {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("docs")).unwrap();
    desk.write("docs/leave.md", LEAVE);
    desk.write("docs/parking.md", PARKING);
    desk
}

/// A canvas that looks something up and says what it found.
fn looks_up(dataset: &str) -> Value {
    canvas(&[
        (
            "begin",
            "Begin",
            json!({"mode": "conversational"}),
            &["Retrieval:Find"],
        ),
        (
            "Retrieval:Find",
            "Retrieval",
            json!({"query": "sys.query", "dataset_ids": [dataset], "similarity_threshold": 0.2, "top_n": 1,
                   "empty_response": "Nothing is known of that."}),
            &["Message:Say"],
        ),
        (
            "Message:Say",
            "Message",
            json!({"content": ["{Retrieval:Find@formalized_content}"]}),
            &[],
        ),
    ])
}

#[test]
fn documents_are_added_once_listed_searched_and_removed() {
    let desk = handbook();
    let made = desk.easel(&["kb", "new", "handbook"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let added = desk.easel(&["kb", "add", "handbook", "docs", "--set", "team=people"]);
    assert_eq!(added.code, 0, "{}", added.err);
    assert!(added.err.contains("2 added"), "{}", added.err);
    desk.write("docs/leave.md", &LEAVE.replace("28", "30"));
    std::fs::remove_file(desk.path("docs/parking.md")).unwrap();
    let again = desk.easel(&["kb", "add", "handbook", "docs"]);
    assert!(
        again.err.contains("1 replaced") && again.err.contains("--remove-gone"),
        "{}",
        again.err
    );
    let again = desk.easel(&["kb", "add", "handbook", "docs", "--remove-gone", "--json"]);
    assert_eq!(again.json()["gone"], json!(["parking.md"]));
    let listed = desk.easel(&["kb", "list", "handbook", "--json"]).json();
    assert_eq!(listed["documents"][0]["name"], "leave.md");
    assert_eq!(
        listed["documents"][0]["metadata"],
        json!({"team": "people"})
    );
    assert_eq!(listed["documents"].as_array().unwrap().len(), 1);
    let found = desk.easel(&["kb", "search", "handbook", "How many days of leave?"]);
    assert!(found.out.contains("30 days of leave"), "{}", found.out);
    assert!(found.out.contains("leave.md"), "{}", found.out);
    let gone = desk.easel(&["kb", "rm", "handbook"]);
    assert_eq!(gone.code, 0, "{}", gone.err);
    let missing = desk.easel(&["kb", "search", "handbook", "leave"]);
    assert_eq!(missing.code, 2, "{}", missing.out);
    assert!(missing.err.contains("easel kb list"), "{}", missing.err);
}

#[test]
fn a_document_that_cannot_be_read_is_told_and_the_others_are_added() {
    let desk = handbook();
    desk.write("docs/broken.docx", "no archive at all");
    desk.easel(&["kb", "new", "handbook"]);
    let added = desk.easel(&["kb", "add", "handbook", "docs"]);
    assert_eq!(added.code, 1, "{}", added.err);
    assert!(
        added.err.contains("broken.docx") && added.err.contains("2 added"),
        "{}",
        added.err
    );
}

#[test]
fn what_cannot_be_searched_is_refused_with_what_to_write() {
    let desk = handbook();
    desk.easel(&["kb", "new", "a,b"]);
    desk.easel(&["kb", "new", "other"]);
    desk.easel(&["kb", "add", "a,b", "docs"]);
    let found = desk.easel(&["kb", "search", "a,b", "leave", "--and", "other"]);
    assert!(found.out.contains("28 days"), "{}{}", found.out, found.err);
    for (arguments, said) in [
        (vec!["a,b", " "], "the query is blank"),
        (vec!["a,b", "leave", "--threshold", "nan"], "from 0 to 1"),
        (vec!["a,b", "leave", "--words", "7"], "from 0 to 1"),
    ] {
        let refused = desk.easel(&[vec!["kb", "search"], arguments].concat());
        assert_eq!(refused.code, 2, "{}", refused.out);
        assert!(refused.err.contains(said), "{}", refused.err);
    }
}

#[test]
fn retrieval_finds_what_was_added() {
    let desk = handbook();
    desk.json("ask.json", &looks_up("handbook"));
    desk.easel(&["kb", "new", "handbook"]);
    desk.easel(&["kb", "add", "handbook", "docs"]);
    let answered = desk.easel(&["run", "ask.json", "How many days of leave are there?"]);
    assert_eq!(answered.code, 0, "{}", answered.err);
    assert!(
        answered.out.contains("28 days of leave") && answered.out.contains("leave.md"),
        "{}",
        answered.out
    );
    assert!(!answered.out.contains("Bicycles"), "{}", answered.out);
    let nothing = desk.easel(&["run", "ask.json", "zzz qqq"]);
    assert!(
        nothing.out.contains("Nothing is known of that."),
        "{}",
        nothing.out
    );
    desk.json("other.json", &looks_up("other"));
    let missing = desk.easel(&["run", "other.json", "leave"]);
    assert_ne!(missing.code, 0, "{}", missing.out);
    assert!(missing.err.contains("other"), "{}", missing.err);
}
