//! Databases as workflows ask them: SQLite files, a real PostgreSQL, a real MariaDB.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod mariadb;
mod postgres;
mod sqlite;

use std::path::Path;
use std::time::Duration;

use easel_secrets::{Gate, Opened, Resolver, Sink, SinkKind};
use easel_sql::{DatabaseConfig, Databases};
use easel_tools::ToolError;
use easel_tools::guard::Allow;
use easel_tools::sql::{SqlConnection, SqlRequest, SqlRows, SqlRunner};

/// A password as a workflow brings it.
fn opened(value: &str) -> Opened {
    let gate = Gate::new("run-1", Resolver::default());
    let door = gate.door(Sink::new(SinkKind::Component, "ExeSQL", "Ask"));
    door.literal("password", value).unwrap()
}

/// A question to a database.
struct Asked {
    connection: SqlConnection,
    allow: Allow,
    files: Option<std::path::PathBuf>,
    most: u32,
    timeout: Duration,
}

impl Asked {
    fn at(db_type: &str, port: u16, database: &str, username: &str) -> Asked {
        Asked {
            connection: SqlConnection {
                db_type: db_type.to_owned(),
                host: "127.0.0.1".to_owned(),
                port,
                database: database.to_owned(),
                username: username.to_owned(),
                password: None,
            },
            allow: Allow::parse(["127.0.0.1"]).unwrap(),
            files: None,
            most: 100,
            timeout: Duration::from_secs(20),
        }
    }

    fn file(folder: &Path, name: &str) -> Asked {
        Asked {
            files: Some(folder.to_owned()),
            ..Asked::at("sqlite", 1, name, "")
        }
    }

    async fn run(&self, statement: &str) -> Result<SqlRows, ToolError> {
        let databases = Databases::new(DatabaseConfig {
            allow: self.allow.clone(),
            files: self.files.clone(),
        });
        let request = SqlRequest {
            connection: self.connection.clone(),
            statement: statement.to_owned(),
            max_records: self.most,
            timeout: self.timeout,
        };
        databases.query(request).await
    }

    async fn rows(&self, statement: &str) -> Vec<serde_json::Value> {
        let found = self.run(statement).await.unwrap();
        let row = |row: Vec<easel_core::Value>| easel_core::Value::from(row).to_json();
        found.rows.into_iter().map(row).collect()
    }
}

#[tokio::test]
async fn a_kind_that_nobody_speaks_to_is_said_to_be_one() {
    let error = Asked::at("oracle", 1521, "d", "u").run("SELECT 1").await;
    let error = error.unwrap_err();
    assert!(matches!(error, ToolError::NotAvailable { .. }), "{error}");
    assert!(error.to_string().contains("oracle"), "{error}");
}

#[tokio::test]
async fn a_host_that_is_not_public_is_refused_unless_it_is_allowed() {
    for kind in ["postgres", "mysql"] {
        for host in [
            "127.0.0.1",
            "localhost",
            "0x7f.1",
            "2130706433",
            "[::1]",
            "10.0.0.7",
        ] {
            let mut asked = Asked::at(kind, 5432, "d", "u");
            asked.allow = Allow::default();
            asked.connection.host = host.to_owned();
            let error = asked.run("SELECT 1").await.unwrap_err();
            assert!(
                matches!(error, ToolError::Blocked(_)),
                "{kind} {host}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn nobody_there_is_told_with_the_host() {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    for kind in ["postgres", "mysql"] {
        let error = Asked::at(kind, port, "d", "u").run("SELECT 1").await;
        let error = error.unwrap_err();
        assert!(matches!(error, ToolError::NoConnection { .. }), "{error}");
        assert!(
            error.to_string().contains(&format!("127.0.0.1:{port}")),
            "{error}"
        );
    }
}
