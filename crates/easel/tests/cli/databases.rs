//! `easel run` with nodes that ask databases.

use serde_json::{Value, json};

use super::easel::{Desk, canvas};

/// A canvas that asks a database and says what it got.
fn asks(params: Value) -> Value {
    canvas(&[
        (
            "begin",
            "Begin",
            json!({"mode": "conversational"}),
            &["ExeSQL:Ask"],
        ),
        ("ExeSQL:Ask", "ExeSQL", params, &["Message:Say"]),
        (
            "Message:Say",
            "Message",
            json!({"content": ["{ExeSQL:Ask@formalized_content}"]}),
            &[],
        ),
    ])
}

#[test]
fn a_question_to_postgresql_is_answered_as_a_table() {
    let Some(cluster) = postgres_for_tests::cluster() else {
        return;
    };
    let url = cluster.database_here();
    let (place, database) = url.rsplit_once('/').unwrap();
    let port: u16 = place.rsplit_once(':').unwrap().1.parse().unwrap();
    let desk = Desk::new();
    desk.json(
        "ask.json",
        &asks(json!({
            "sql": "SELECT n, n * 0.5 AS half FROM generate_series(1, 2) AS n; DROP TABLE orders; SELECT 1 WHERE false",
            "db_type": "postgres", "host": "127.0.0.1", "port": port, "database": database,
            "username": "easel", "password": "${DB_PASSWORD}",
        })),
    );
    let run = |desk: &Desk| {
        let mut command = desk.command(&["run", "ask.json", "hi"]);
        command.env("DB_PASSWORD", "not-to-be-seen");
        super::easel::Done::of(command.output().unwrap())
    };
    let refused = run(&desk);
    assert_ne!(refused.code, 0, "{}", refused.out);
    assert!(
        refused.err.contains("127.0.0.1") && refused.err.contains("[http]"),
        "{}",
        refused.err
    );
    desk.write("easel.toml", "[http]\nallow = [\"127.0.0.1\"]\n");
    let done = run(&desk);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.out.contains("|   1 |    0.5 |") && done.out.contains("No record in the database!"),
        "{}",
        done.out
    );
    assert!(
        done.out.contains("This statement was not run"),
        "{}",
        done.out
    );
    for seen in [&done.out, &done.err, &refused.out, &refused.err] {
        assert!(!seen.contains("not-to-be-seen"), "{seen}");
    }
}

#[test]
fn a_file_of_sqlite_is_read_from_the_operators_folder() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("data")).unwrap();
    let file = rusqlite::Connection::open(desk.path("data/shop.db")).unwrap();
    file.execute_batch(
        "CREATE TABLE orders (id INTEGER, customer TEXT); INSERT INTO orders VALUES (7, 'Ada')",
    )
    .unwrap();
    desk.json(
        "ask.json",
        &asks(json!({"sql": "SELECT customer FROM orders WHERE id = 7", "db_type": "sqlite", "database": "shop.db"})),
    );
    let closed = desk.easel(&["run", "ask.json", "hi"]);
    assert_ne!(closed.code, 0, "{}", closed.out);
    assert!(closed.err.contains("[sql]"), "{}", closed.err);
    desk.write("easel.toml", "[sql]\nfiles = \"data\"\n");
    let done = desk.easel(&["run", "ask.json", "hi"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("Ada"), "{}", done.out);
}
