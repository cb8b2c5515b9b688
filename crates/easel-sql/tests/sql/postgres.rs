//! A real PostgreSQL.

use std::time::Duration;

use easel_tools::ToolError;
use serde_json::json;

use crate::{Asked, opened};

/// A database with a table, asked as a workflow would.
async fn shop() -> Option<Asked> {
    let url = postgres_for_tests::cluster()?.database().await;
    let (place, database) = url.rsplit_once('/').unwrap();
    let port = place.rsplit_once(':').unwrap().1.parse().unwrap();
    let mut session = <sqlx::PgConnection as sqlx::Connection>::connect(&url)
        .await
        .unwrap();
    let orders = "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer TEXT, total NUMERIC(10, 2), paid BOOLEAN, made DATE, \
                  at TIMESTAMPTZ, more JSONB, mark UUID, tags TEXT[], place POINT, image BYTEA, rate FLOAT8); \
                  INSERT INTO orders VALUES (1, 'Ada', 12.50, true, '2026-11-30', '2026-11-30 12:00:00+00', '{\"a\": [1]}', \
                  '7b6a3f0e-6c0e-4a5c-8f57-3f1f0b1f7a11', '{x,y}', '(1,2)', '\\x00ff', 'NaN'), \
                  (2, 'Bo', NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0.5)";
    sqlx::raw_sql(orders).execute(&mut session).await.unwrap();
    Some(Asked::at("postgres", port, database, "easel"))
}

#[tokio::test]
async fn every_type_comes_as_data() {
    let Some(shop) = shop().await else { return };
    assert_eq!(
        shop.rows("SELECT * FROM orders ORDER BY id").await,
        [
            json!([
                1, "Ada", 12.5, true, "2026-11-30", "2026-11-30 12:00:00+00", {"a": [1]},
                "7b6a3f0e-6c0e-4a5c-8f57-3f1f0b1f7a11", "{x,y}", "(1,2)", "\\x00ff", null
            ]),
            json!([
                2, "Bo", null, false, null, null, null, null, null, null, null, 0.5
            ]),
        ]
    );
    let found = shop
        .run("SELECT count(*) AS n, max(total) FROM orders")
        .await;
    let found = found.unwrap();
    assert_eq!(found.columns, ["n", "max"]);
}

#[tokio::test]
async fn the_session_cannot_write_whatever_is_sent() {
    let Some(shop) = shop().await else { return };
    for statement in [
        "DELETE FROM orders",
        "UPDATE orders SET customer = 'x'",
        "DROP TABLE orders",
        "WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone",
        "SELECT nextval(pg_get_serial_sequence('orders', 'id'))",
        "COMMIT; DELETE FROM orders",
        "CREATE TABLE t (a int)",
    ] {
        let answer = shop.run(statement).await;
        let harmless =
            matches!(&answer, Ok(rows) if rows.rows.iter().flatten().all(|v| v.is_null()));
        assert!(answer.is_err() || harmless, "{statement}: {answer:?}");
    }
    // This one runs in a transaction that only reads, before PostgreSQL 16; the transaction is never committed.
    let _ = shop.run("SELECT lo_create(0)").await;
    let objects = shop.rows("SELECT count(*) FROM pg_largeobject_metadata");
    assert_eq!(objects.await, [json!([0])]);
    assert_eq!(shop.rows("SELECT count(*) FROM orders").await, [json!([2])]);
}

#[tokio::test]
async fn what_the_database_says_against_a_statement_is_told() {
    let Some(shop) = shop().await else { return };
    let error = shop.run("SELECT name FROM orders").await.unwrap_err();
    assert!(matches!(error, ToolError::Failed { .. }), "{error:?}");
    assert!(
        error.to_string().contains("column \"name\" does not exist"),
        "{error}"
    );
}

#[tokio::test]
async fn a_long_answer_is_cut_at_the_rows_that_were_asked_for() {
    let Some(mut shop) = shop().await else { return };
    shop.most = 5;
    let rows = shop.rows("SELECT * FROM generate_series(1, 5000000)").await;
    assert_eq!(
        rows,
        [json!([1]), json!([2]), json!([3]), json!([4]), json!([5])]
    );
    shop.most = u32::MAX;
    let large = "SELECT repeat('x', 1000000) FROM generate_series(1, 1000)";
    let error = shop.run(large).await.unwrap_err();
    assert!(matches!(error, ToolError::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn a_slow_statement_ends_with_its_time() {
    let Some(mut shop) = shop().await else { return };
    shop.timeout = Duration::from_millis(300);
    let error = shop.run("SELECT pg_sleep(600)").await.unwrap_err();
    let ended = matches!(error, ToolError::Timeout { .. } | ToolError::Failed { .. });
    assert!(ended, "{error}");
}

#[tokio::test]
async fn a_password_is_in_no_error() {
    let Some(mut shop) = shop().await else { return };
    shop.connection.password = Some(opened("hunter2-secret"));
    let error = shop.run("SELECT 'hunter2-secret'::int").await.unwrap_err();
    assert!(!error.to_string().contains("hunter2-secret"), "{error}");
    shop.connection.database = "absent".to_owned();
    let error = shop.run("SELECT 1").await.unwrap_err();
    assert!(matches!(error, ToolError::NoConnection { .. }), "{error:?}");
    assert!(
        error.to_string().contains("\"absent\" does not exist"),
        "{error}"
    );
}
