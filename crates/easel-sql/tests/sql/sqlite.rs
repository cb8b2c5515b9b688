//! SQLite files.

use std::time::Duration;

use easel_sql::MOST_BYTES;
use easel_tools::ToolError;
use serde_json::json;
use tempfile::TempDir;

use crate::Asked;

fn shop() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = rusqlite::Connection::open(folder.path().join("shop.db")).unwrap();
    file.execute_batch(
        "CREATE TABLE orders (id INTEGER, customer TEXT, total REAL, paid BOOLEAN, made DATE, more JSON, image BLOB);
         INSERT INTO orders VALUES (1, 'Ada', 12.5, 1, '2026-11-30', '{\"tags\": [\"a\"]}', x'00ff'), (2, 'Bo', NULL, 0, NULL, NULL, NULL);",
    )
    .unwrap();
    folder
}

#[tokio::test]
async fn rows_come_as_what_they_are() {
    let shop = shop();
    let asked = Asked::file(shop.path(), "shop.db");
    let found = asked.run("SELECT * FROM orders ORDER BY id").await.unwrap();
    assert_eq!(
        found.columns,
        ["id", "customer", "total", "paid", "made", "more", "image"]
    );
    assert_eq!(
        asked.rows("SELECT * FROM orders ORDER BY id").await,
        [
            json!([1, "Ada", 12.5, 1, "2026-11-30", {"tags": ["a"]}, "\\x00ff"]),
            json!([2, "Bo", null, 0, null, null, null]),
        ]
    );
}

#[tokio::test]
async fn names_of_columns_are_there_without_rows() {
    let shop = shop();
    let found = Asked::file(shop.path(), "shop.db")
        .run("SELECT id, total FROM orders WHERE id > 9")
        .await
        .unwrap();
    assert_eq!(found.columns, ["id", "total"]);
    assert!(found.rows.is_empty());
}

#[tokio::test]
async fn a_file_is_read_and_never_written() {
    let shop = shop();
    let asked = Asked::file(shop.path(), "shop.db");
    for statement in [
        "DELETE FROM orders",
        "INSERT INTO orders (id) VALUES (3)",
        "CREATE TABLE t (a)",
        "PRAGMA user_version = 7",
        "ATTACH DATABASE 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
    ] {
        // A pragma that is not heeded is no error.
        let _ = asked.run(statement).await;
    }
    assert_eq!(
        asked.rows("SELECT count(*) FROM orders").await,
        [json!([2])]
    );
    assert_eq!(asked.rows("PRAGMA user_version").await, [json!([0])]);
    let files: Vec<_> = std::fs::read_dir(shop.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[tokio::test]
async fn what_the_database_says_against_a_statement_is_told() {
    let shop = shop();
    let error = Asked::file(shop.path(), "shop.db")
        .run("SELECT name FROM orders")
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::Failed { .. }), "{error:?}");
    assert!(
        error.to_string().contains("no such column: name"),
        "{error}"
    );
}

#[tokio::test]
async fn files_outside_of_the_folder_are_out_of_reach() {
    let outside = shop();
    let folder = tempfile::tempdir().unwrap();
    let absolute = outside.path().join("shop.db");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&absolute, folder.path().join("link.db")).unwrap();
    for name in [
        absolute.to_str().unwrap(),
        "../shop.db",
        "a/../../shop.db",
        "link.db",
        "file:shop.db?mode=rwc",
        "absent.db",
        ".",
        "",
    ] {
        let error = Asked::file(folder.path(), name).run("SELECT 1").await;
        let error = error.unwrap_err();
        assert!(
            matches!(error, ToolError::InvalidRequest { .. }),
            "{name}: {error}"
        );
    }
    assert!(!folder.path().join("absent.db").exists());
    let mut without = Asked::file(folder.path(), "shop.db");
    without.files = None;
    let error = without.run("SELECT 1").await.unwrap_err().to_string();
    assert!(error.contains("[sql]"), "{error}");
}

#[tokio::test]
async fn no_more_rows_than_asked_for_and_no_more_bytes_than_allowed() {
    let shop = shop();
    let mut asked = Asked::file(shop.path(), "shop.db");
    let numbers =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    assert_eq!(asked.rows(numbers).await.len(), 100);
    asked.most = 3;
    assert_eq!(asked.rows(numbers).await.len(), 3);
    asked.most = u32::MAX;
    let large = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                 SELECT printf('%.*c', 1000000, 'x') FROM n";
    let error = asked.run(large).await.unwrap_err();
    assert!(
        matches!(error, ToolError::TooLarge { limit, .. } if limit == MOST_BYTES as u64),
        "{error}"
    );
    let one = format!("SELECT hex(zeroblob({MOST_BYTES}))");
    assert!(asked.run(&one).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_without_end_is_stopped() {
    let shop = shop();
    let mut asked = Asked::file(shop.path(), "shop.db");
    asked.timeout = Duration::from_millis(300);
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let error = asked.run(endless).await.unwrap_err();
    assert!(matches!(error, ToolError::Timeout { .. }), "{error}");
    // Its thread is free again: as many more of them as there are threads would not be, otherwise.
    let others = (0..600).map(|_| asked.run("SELECT 1"));
    let done = futures::future::join_all(others).await;
    assert!(done.iter().all(Result::is_ok), "{done:?}");
}
