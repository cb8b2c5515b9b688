//! SQL nodes as users set them up.

use easel_core::Value;
use easel_tools::ScriptedWorld;
use serde_json::{Value as Json, json};

use crate::testing::{Trial, Tried};

fn run(sql: &str, rules: Json) -> (Tried, Vec<Json>) {
    let params = json!({"sql": sql, "database": "d", "host": "db.example.com", "username": "u", "password": "p"});
    let world = ScriptedWorld::new(serde_json::from_value(json!({"sql": rules})).unwrap());
    let tried = Trial::new("ExeSQL", params).world(world.world()).run();
    let calls = world.take_calls().iter().map(Value::to_json).collect();
    (tried, calls)
}

#[test]
fn rows_are_given_as_data_and_as_a_table() {
    let (tried, calls) = run(
        "```sql\nSELECT a FROM t;\n```",
        json!([{"columns": ["a"], "rows": [[1]]}]),
    );
    assert_eq!(
        tried.ports(),
        json!({"formalized_content": "|   a |\n|----:|\n|   1 |", "json": [[{"a": 1}]]})
    );
    assert_eq!(calls, [json!({"sql": "SELECT a FROM t"})]);
}

#[test]
fn every_statement_has_its_own_answer() {
    let rules = json!([{"match": {"contains": "bad"}, "error": "no such table"}, {"match": {"contains": "one"}, "columns": ["n"], "rows": [["x"]]}]);
    let (tried, calls) = run("SELECT one; SELECT bad; SELECT empty; DROP TABLE t", rules);
    let answers = tried.port("json");
    assert_eq!(answers[0], json!([{"n": "x"}]));
    assert_eq!(
        answers[1],
        json!({"content": "SQL Execution Failed: SELECT bad\nno such table"})
    );
    assert_eq!(answers[2], json!({"content": "No record in the database!"}));
    assert!(
        answers[3]["content"]
            .as_str()
            .unwrap()
            .starts_with("This statement was not run: ")
    );
    assert_eq!(calls.len(), 3);
}

#[test]
fn a_node_without_sql_fails() {
    let (tried, _) = run(" ; ", json!([]));
    assert_eq!(&*tried.fault().code, "bad_input");
}

#[test]
fn a_world_that_answers_is_asked_without_a_connection() {
    let rules = json!({"sql": [{"columns": ["a"], "rows": [[1]]}]});
    let world = ScriptedWorld::new(serde_json::from_value(rules).unwrap());
    let params = json!({"sql": "SELECT a FROM t", "database": "", "host": "", "username": ""});
    let tried = Trial::new("ExeSQL", params).world(world.world()).run();
    assert_eq!(tried.port("json"), json!([[{"a": 1}]]));
}

#[test]
fn a_database_that_cannot_be_asked_fails_the_node() {
    let params =
        json!({"sql": "SELECT 1", "database": "d", "host": "h", "username": "u", "password": "p"});
    let tried = Trial::new("ExeSQL", params).run();
    assert_eq!(
        (&*tried.fault().code, tried.fault().nothing_sent),
        ("tool.not_configured", true)
    );
}
