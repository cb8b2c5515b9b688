//! MySQL and MariaDB. Statements go by the text protocol, in which every value comes as text.

use std::net::SocketAddr;

use easel_core::Value;
use easel_tools::ToolError;
use easel_tools::sql::{SqlRequest, SqlRows};
use futures::FutureExt as _;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlRow, MySqlSslMode};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _, TypeInfo as _, ValueRef as _,
};

use crate::connected;
use crate::rows::taken;
use crate::text::{Meaning, hexadecimal, value};

/// Runs a statement in a session that cannot write.
pub(crate) async fn query(
    addresses: &[SocketAddr],
    request: &SqlRequest,
) -> Result<SqlRows, ToolError> {
    let dial = |address| connect(address, request).boxed();
    let mut session = connected(addresses, request, dial).await?;
    // The statement is the user's; what it may do is bounded by the session.
    let statement = sqlx::raw_sql(AssertSqlSafe(request.statement.clone()));
    let rows = taken(statement.fetch(&mut session), request, values).await;
    // What is left of the answer is not read, so the session ends without a farewell.
    if rows.is_ok() {
        let _ = session.close().await;
    }
    rows
}

async fn connect(
    address: SocketAddr,
    request: &SqlRequest,
) -> Result<MySqlConnection, sqlx::Error> {
    let connection = &request.connection;
    let mut options = MySqlConnectOptions::new()
        .host(&address.ip().to_string())
        .port(address.port())
        .database(&connection.database)
        .username(&connection.username)
        .ssl_mode(MySqlSslMode::Preferred)
        .disable_statement_logging();
    if let Some(password) = &connection.password {
        options = options.password(password.expose());
    }
    let mut session = options.connect().await?;
    let seconds = request.timeout.as_secs().clamp(1, 86_400);
    let bounds = [
        // The two call it differently, and each refuses the other's word.
        format!("SET SESSION max_execution_time = {}", seconds * 1_000),
        format!("SET SESSION max_statement_time = {seconds}"),
    ];
    for bound in bounds {
        let _ = sqlx::raw_sql(AssertSqlSafe(bound))
            .execute(&mut session)
            .await;
    }
    for guard in [
        "SET SESSION TRANSACTION READ ONLY",
        "START TRANSACTION READ ONLY",
    ] {
        sqlx::raw_sql(guard).execute(&mut session).await?;
    }
    Ok(session)
}

fn values(row: &MySqlRow) -> Result<(Vec<Value>, usize), sqlx::Error> {
    let mut values = Vec::with_capacity(row.len());
    let mut bytes = 0;
    for at in 0..row.len() {
        let raw = row.try_get_raw(at)?;
        if raw.is_null() {
            values.push(Value::Null);
            continue;
        }
        let meaning = meaning(raw.type_info().name());
        let sent: Vec<u8> = row.try_get_unchecked(at)?;
        bytes += sent.len();
        values.push(match (String::from_utf8(sent), meaning) {
            (Ok(text), meaning) => value(meaning, &text),
            (Err(error), _) => Value::from(hexadecimal(error.as_bytes())),
        });
    }
    Ok((values, bytes))
}

fn meaning(name: &str) -> Meaning {
    let name = name.strip_suffix(" UNSIGNED").unwrap_or(name);
    match name {
        "BOOLEAN" => Meaning::Truth,
        "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" | "FLOAT" | "DOUBLE"
        | "DECIMAL" | "YEAR" => Meaning::Number,
        "JSON" => Meaning::Json,
        "BINARY" | "VARBINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BIT" => {
            Meaning::Bytes
        }
        _ => Meaning::Text,
    }
}
