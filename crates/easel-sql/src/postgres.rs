//! PostgreSQL. Statements go by its simple protocol, in which every value comes as text: so no type is unknown.

use std::net::SocketAddr;

use easel_core::Value;
use easel_tools::ToolError;
use easel_tools::sql::{SqlRequest, SqlRows};
use futures::FutureExt as _;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow, PgSslMode};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _, TypeInfo as _, ValueRef as _,
};

use crate::connected;
use crate::rows::taken;
use crate::text::{Meaning, value};

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

async fn connect(address: SocketAddr, request: &SqlRequest) -> Result<PgConnection, sqlx::Error> {
    let connection = &request.connection;
    let mut options = PgConnectOptions::new_without_pgpass()
        .host(&address.ip().to_string())
        .port(address.port())
        .database(&connection.database)
        .username(&connection.username)
        .application_name("easel")
        .ssl_mode(PgSslMode::Prefer)
        .options([
            ("default_transaction_read_only", "on".to_owned()),
            (
                "statement_timeout",
                request.timeout.as_millis().min(2_147_483_647).to_string(),
            ),
        ])
        .disable_statement_logging();
    if let Some(password) = &connection.password {
        options = options.password(password.expose());
    }
    let mut session = options.connect().await?;
    // A transaction that only reads cannot be made to write by what stands in it.
    sqlx::raw_sql("BEGIN READ ONLY")
        .execute(&mut session)
        .await?;
    Ok(session)
}

fn values(row: &PgRow) -> Result<(Vec<Value>, usize), sqlx::Error> {
    let mut values = Vec::with_capacity(row.len());
    let mut bytes = 0;
    for at in 0..row.len() {
        let raw = row.try_get_raw(at)?;
        if raw.is_null() {
            values.push(Value::Null);
            continue;
        }
        let text = raw.as_str().map_err(sqlx::Error::Decode)?;
        bytes += text.len();
        values.push(value(meaning(raw.type_info().name()), text));
    }
    Ok((values, bytes))
}

fn meaning(name: &str) -> Meaning {
    match name {
        "BOOL" => Meaning::Truth,
        "INT2" | "INT4" | "INT8" | "OID" | "FLOAT4" | "FLOAT8" | "NUMERIC" => Meaning::Number,
        "JSON" | "JSONB" => Meaning::Json,
        _ => Meaning::Text,
    }
}
