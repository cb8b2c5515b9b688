//! A real MariaDB.

use std::time::Duration;

use easel_tools::ToolError;
use mariadb_for_tests::{DATABASE, PASSWORD, USER};
use serde_json::json;

use crate::{Asked, opened};

const ORDERS: &str = "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer VARCHAR(40), total DECIMAL(10, 2), paid BOOLEAN, made DATE, at DATETIME, more JSON, image BLOB, n BIGINT UNSIGNED, rate DOUBLE);\n\
    INSERT INTO orders VALUES (1, 'Ädä', 12.50, TRUE, '2026-11-30', '2026-11-30 12:00:00', '{\"a\": [1]}', x'00ff', 7, 0.5), (2, 'Bo', NULL, FALSE, NULL, NULL, NULL, NULL, NULL, NULL);";

fn shop() -> Option<Asked> {
    let server = mariadb_for_tests::server(ORDERS)?;
    let mut asked = Asked::at("mariadb", server.port, DATABASE, USER);
    asked.connection.password = Some(opened(PASSWORD));
    Some(asked)
}

#[tokio::test]
async fn every_type_comes_as_data() {
    let Some(shop) = shop() else { return };
    let rows = shop.rows("SELECT * FROM orders ORDER BY id").await;
    assert_eq!(rows[0][1], json!("Ädä"));
    assert_eq!(rows[0][2], json!(12.5));
    assert_eq!(rows[0][4], json!("2026-11-30"));
    assert_eq!(rows[0][5], json!("2026-11-30 12:00:00"));
    assert_eq!(rows[0][7], json!("\\x00ff"));
    assert_eq!(rows[0][8], json!(7));
    assert_eq!(rows[0][9], json!(0.5));
    assert_eq!(rows[1][2], json!(null));
    let found = shop.run("SELECT count(*) AS n FROM orders").await.unwrap();
    assert_eq!(found.columns, ["n"]);
    assert_eq!(shop.rows("SHOW TABLES").await, [json!(["orders"])]);
}

#[tokio::test]
async fn the_session_cannot_write_whatever_is_sent() {
    let Some(shop) = shop() else { return };
    for statement in [
        "DELETE FROM orders",
        "UPDATE orders SET customer = 'x'",
        "INSERT INTO orders (id) VALUES (3)",
        "COMMIT; DELETE FROM orders",
    ] {
        let answer = shop.run(statement).await;
        assert!(answer.is_err(), "{statement}: {answer:?}");
    }
    assert_eq!(shop.rows("SELECT count(*) FROM orders").await, [json!([2])]);
}

#[tokio::test]
async fn what_the_database_says_against_a_statement_is_told() {
    let Some(shop) = shop() else { return };
    let error = shop.run("SELECT name FROM orders").await.unwrap_err();
    assert!(matches!(error, ToolError::Failed { .. }), "{error:?}");
    assert!(
        error.to_string().contains("Unknown column 'name'"),
        "{error}"
    );
}

#[tokio::test]
async fn a_wrong_password_is_told_and_not_repeated() {
    let Some(mut shop) = shop() else { return };
    shop.connection.password = Some(opened("wrong-password-1"));
    let error = shop.run("SELECT 1").await.unwrap_err();
    assert!(matches!(error, ToolError::NoConnection { .. }), "{error:?}");
    assert!(error.to_string().contains("Access denied"), "{error}");
    assert!(!error.to_string().contains("wrong-password-1"), "{error}");
}

#[tokio::test]
async fn a_slow_statement_ends_with_its_time() {
    let Some(mut shop) = shop() else { return };
    shop.timeout = Duration::from_millis(1500);
    let error = shop.run("SELECT SLEEP(600)").await.unwrap_err();
    let ended = matches!(error, ToolError::Timeout { .. } | ToolError::Failed { .. });
    assert!(ended, "{error}");
}

#[tokio::test]
async fn a_long_answer_is_cut_at_the_rows_that_were_asked_for() {
    let Some(mut shop) = shop() else { return };
    shop.most = 4;
    let rows = shop.rows("SELECT seq FROM seq_1_to_5000000").await;
    assert_eq!(rows.len(), 4);
}
