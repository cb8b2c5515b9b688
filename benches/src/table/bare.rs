//! The floor of a durable answer over HTTP: a handler that reads JSON, has one row committed and answers.
//!
//! Those that wait at the same time share a commit, as in Easel.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use rusqlite::params;
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// With this argument and a folder behind it, the program serves the bare handler and prints its address.
pub const BARE: &str = "--bare";

/// A row that is to be committed, and who waits for it.
type Row = (String, oneshot::Sender<()>);

/// See [`BARE`].
pub fn serve(folder: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let folder = folder.ok_or("--bare takes a folder")?;
    let (rows, waiting) = mpsc::channel();
    let connection = open(&folder)?;
    std::thread::spawn(move || write(connection, &waiting));
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let routes = Router::new().route("/", post(insert)).with_state(rows);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        Ok(axum::serve(listener, routes).await?)
    })
}

async fn insert(
    State(rows): State<mpsc::Sender<Row>>,
    Json(body): Json<Value>,
) -> Result<Json<Value>, StatusCode> {
    let (committed, wait) = oneshot::channel();
    let query = body
        .get("query")
        .and_then(Value::as_str)
        .unwrap_or_default();
    rows.send((body.to_string(), committed))
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    wait.await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(Json(json!({"code": 0, "data": {"content": query}})))
}

fn open(folder: &Path) -> rusqlite::Result<rusqlite::Connection> {
    let connection = rusqlite::Connection::open(folder.join("bare.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT);",
    )?;
    Ok(connection)
}

/// Commits whatever waits, all of it at once; whom it cannot serve it leaves without an answer.
fn write(connection: rusqlite::Connection, waiting: &mpsc::Receiver<Row>) {
    while let Ok(first) = waiting.recv() {
        let rows: Vec<Row> = std::iter::once(first).chain(waiting.try_iter()).collect();
        if commit(&connection, &rows).is_ok() {
            for (_, committed) in rows {
                let _ = committed.send(());
            }
        }
    }
}

fn commit(connection: &rusqlite::Connection, rows: &[Row]) -> rusqlite::Result<()> {
    let commit = connection.unchecked_transaction()?;
    {
        let mut insert = commit.prepare_cached("INSERT INTO rows (body) VALUES (?1)")?;
        for (body, _) in rows {
            insert.execute(params![body])?;
        }
    }
    commit.commit()
}
