//! SQL from a model: what reaches the database is one statement that begins like a query.
//!
//! The kind of database is the first line, the SQL the rest.
#![no_main]

use std::sync::{Arc, LazyLock};

use easel_runtime::tools::sql::{SqlRequest, SqlRows, SqlRunner};
use easel_runtime::tools::{ToolError, World};
use easel_runtime::{Engine, Input};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

/// Words with which a statement may begin.
const READING: [&str; 9] = [
    "SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESC", "EXPLAIN", "PRAGMA", "FROM",
];

/// A database that holds nothing and looks at what it is asked.
struct Suspicious;

impl SqlRunner for Suspicious {
    fn query(&self, request: SqlRequest) -> BoxFuture<'_, Result<SqlRows, ToolError>> {
        let statement = without_comments(&request.statement);
        let start = statement.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
        let start = start.to_uppercase();
        let reads = READING.iter().any(|word| start.starts_with(word));
        assert!(reads, "{:?} got through", request.statement);
        ready(Ok(SqlRows::default())).boxed()
    }
}

/// A statement without the comments before it.
fn without_comments(mut statement: &str) -> &str {
    loop {
        statement = statement.trim_start();
        statement = match statement.get(..2) {
            Some("--") => statement.split_once('\n').map_or("", |(_, rest)| rest),
            Some("/*") => statement.split_once("*/").map_or("", |(_, rest)| rest),
            _ if statement.starts_with('#') => {
                statement.split_once('\n').map_or("", |(_, rest)| rest)
            }
            _ => return statement,
        };
    }
}

static ENGINE: LazyLock<Arc<Engine>> = LazyLock::new(|| {
    let world = World {
        sql: Arc::new(Suspicious),
        ..World::none()
    };
    let engine = easel_fuzz::engine().world(world).build();
    engine.expect("the components that come with Easel fit together")
});

fuzz_target!(|text: &str| {
    let (kind, sql) = text.split_once('\n').unwrap_or(("mysql", text));
    let params = json!({
        "db_type": kind, "sql": "{sys.query}", "database": "d", "host": "h", "username": "u", "password": "p"
    });
    let nodes = [
        ("begin", "Begin", json!({})),
        ("ExeSQL:S", "ExeSQL", params),
    ];
    let workflow = easel_fuzz::load(&ENGINE, &easel_fuzz::row(&nodes));
    easel_fuzz::Turn::first(&ENGINE, &workflow, Input::from(sql));
});
