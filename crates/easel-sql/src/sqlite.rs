//! SQLite files of the operator's folder.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use easel_core::Value;
use easel_tools::ToolError;
use easel_tools::sql::{SqlRequest, SqlRows};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use crate::rows::Rows;
use crate::text::hexadecimal;
use crate::{MOST_BYTES, name, too_large};

/// How long a file that somebody writes to is waited for.
const BUSY: Duration = Duration::from_secs(5);

/// How often a statement looks whether anybody waits for it, in steps of SQLite.
const LOOK_EVERY: i32 = 10_000;

/// As long as this lives, somebody waits for the statement. To interrupt it from outside would not do: one that has not
/// begun yet would not hear of it.
#[derive(Default)]
struct Waiting(Arc<()>);

impl Waiting {
    /// Lets a connection end what nobody waits for, begun or not.
    fn watch(&self, connection: &Connection) -> rusqlite::Result<()> {
        let waiting = Arc::downgrade(&self.0);
        let gone = move || waiting.strong_count() == 0;
        connection.progress_handler(LOOK_EVERY, Some(gone))
    }
}

/// Runs a statement on a file that is opened for reading.
pub(crate) async fn query(
    folder: Option<&Path>,
    request: &SqlRequest,
) -> Result<SqlRows, ToolError> {
    let file = place(folder, request)?;
    let waiting = Waiting::default();
    let connection = aside(request, move |request| {
        open(&file).map_err(|error| cannot_open(&error, request))
    })
    .await?;
    let watched = waiting.watch(&connection);
    watched.map_err(|error| cannot_open(&error, request))?;
    aside(request, move |request| read(&connection, request)).await
}

/// Does something where it keeps nobody else from working.
async fn aside<T: Send + 'static>(
    request: &SqlRequest,
    work: impl FnOnce(&SqlRequest) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let asked = request.clone();
    let done = tokio::task::spawn_blocking(move || work(&asked)).await;
    done.unwrap_or_else(|error| {
        Err(ToolError::Failed {
            what: name(request),
            message: error.to_string(),
        })
    })
}

/// The file that a workflow names, if it lies in the folder.
fn place(folder: Option<&Path>, request: &SqlRequest) -> Result<PathBuf, ToolError> {
    let invalid = |problem: String| ToolError::InvalidRequest {
        what: format!("the SQLite file \"{}\"", request.connection.database),
        problem,
    };
    let folder = folder.ok_or_else(|| {
        invalid(
            "no folder of SQLite files is open to workflows; name one as `files` in the section [sql] of easel.toml"
                .to_owned(),
        )
    })?;
    let named = Path::new(request.connection.database.trim());
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if named.as_os_str().is_empty() || !named.components().all(plain) {
        return Err(invalid(
            "name it by its path inside of the folder, without `..`".to_owned(),
        ));
    }
    let absent = |error: std::io::Error| invalid(error.to_string());
    let folder = folder.canonicalize().map_err(absent)?;
    let file = folder.join(named).canonicalize().map_err(absent)?;
    match file.starts_with(&folder) && file.is_file() {
        true => Ok(file),
        false => Err(invalid("it is no file inside of the folder".to_owned())),
    }
}

fn open(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
    // No other file comes in through this one, and no value is larger than an answer.
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES as i32)?;
    Ok(connection)
}

fn cannot_open(error: &rusqlite::Error, request: &SqlRequest) -> ToolError {
    ToolError::NoConnection {
        host: name(request),
        cause: error.to_string(),
    }
}

fn read(connection: &Connection, request: &SqlRequest) -> Result<SqlRows, ToolError> {
    let failed = |error: rusqlite::Error| ToolError::Failed {
        what: name(request),
        message: match error {
            rusqlite::Error::SqliteFailure(_, Some(message)) => message,
            other => other.to_string(),
        },
    };
    let mut statement = connection.prepare(&request.statement).map_err(failed)?;
    let mut rows = Rows::new(request);
    rows.name(statement.column_names().into_iter());
    let json: Vec<bool> = statement
        .columns()
        .iter()
        .map(|column| {
            let declared = column.decl_type().unwrap_or_default();
            declared.to_ascii_uppercase().contains("JSON")
        })
        .collect();
    let mut found = statement.query([]).map_err(failed)?;
    while !rows.are_enough() {
        let Some(row) = found.next().map_err(failed)? else {
            break;
        };
        let (mut values, mut bytes) = (Vec::with_capacity(json.len()), 0);
        for (at, json) in json.iter().enumerate() {
            let raw = row.get_ref(at).map_err(failed)?;
            values.push(value(raw, *json, &mut bytes));
        }
        rows.push(values, bytes).map_err(|_| too_large(request))?;
    }
    Ok(rows.into_rows())
}

fn value(raw: ValueRef<'_>, json: bool, bytes: &mut usize) -> Value {
    match raw {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => Value::from(whole),
        ValueRef::Real(number) if number.is_finite() => Value::from(number),
        ValueRef::Real(_) => Value::Null,
        ValueRef::Text(text) => {
            *bytes += text.len();
            let text = String::from_utf8_lossy(text);
            match json.then(|| serde_json::from_str(&text)) {
                Some(Ok(value)) => value,
                _ => Value::from(&*text),
            }
        }
        ValueRef::Blob(blob) => {
            *bytes += 2 * blob.len();
            Value::from(hexadecimal(blob))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_begins_when_nobody_waits_any_more_ends_at_once() {
        let connection = Connection::open_in_memory().unwrap();
        let waiting = Waiting::default();
        waiting.watch(&connection).unwrap();
        let count = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) SELECT max(i) FROM n";
        let run = |rows: i64| connection.query_row(count, [rows], |row| row.get::<_, i64>(0));
        assert_eq!(run(100_000), Ok(100_000));
        drop(waiting);
        assert!(run(-1).is_err(), "without end");
    }
}
