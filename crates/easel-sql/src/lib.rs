//! Queries on users' databases: SQLite, PostgreSQL, MySQL and MariaDB (spec/canvas-components §6.3).
//!
//! [`Databases`] is an [`SqlRunner`]: one connection a statement, in a session that cannot write, within limits of rows,
//! bytes and time. Which statements are sent at all is decided before it is asked; that the session cannot write holds
//! whatever is sent.
//!
//! A host that a workflow names goes through the guard of easel-tools, and what is dialled is the address that the guard
//! has seen. A file is read from the operator's folder and from nowhere else.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

#[cfg(feature = "mysql")]
mod mysql;
mod postgres;
mod rows;
mod sqlite;
mod text;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use easel_secrets::Masker;
use easel_tools::ToolError;
use easel_tools::guard::Allow;
use easel_tools::live::resolve_host;
use easel_tools::sql::{SqlRequest, SqlRows, SqlRunner};
use futures::FutureExt as _;
use futures::future::BoxFuture;

/// The largest answer, in bytes of its values.
pub const MOST_BYTES: usize = 8 << 20;

/// How long making a connection may take.
const CONNECTING: Duration = Duration::from_secs(10);

/// Which databases may be reached.
#[derive(Clone, Debug, Default)]
pub struct DatabaseConfig {
    /// Hosts and networks beyond the public internet.
    pub allow: Allow,
    /// The folder whose SQLite files may be read; without it none may.
    pub files: Option<PathBuf>,
}

/// Asks databases. Needs a tokio runtime with I/O and time around each call.
#[derive(Clone, Debug, Default)]
pub struct Databases(DatabaseConfig);

/// The kinds of databases that are spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sqlite,
    Postgres,
    Mysql,
}

impl Kind {
    /// By the name that a canvas gives.
    fn named(name: &str) -> Option<Kind> {
        Some(match &*name.trim().to_ascii_lowercase() {
            "sqlite" => Kind::Sqlite,
            "postgres" | "postgresql" => Kind::Postgres,
            "mysql" | "mariadb" | "oceanbase" => Kind::Mysql,
            _ => return None,
        })
    }
}

impl Databases {
    /// Databases within the bounds of a deployment.
    pub fn new(config: DatabaseConfig) -> Databases {
        Databases(config)
    }

    async fn ask(&self, request: &SqlRequest) -> Result<SqlRows, ToolError> {
        let kind = &request.connection.db_type;
        match Kind::named(kind) {
            Some(Kind::Sqlite) => sqlite::query(self.0.files.as_deref(), request).await,
            Some(Kind::Postgres) => postgres::query(&self.addresses(request).await?, request).await,
            #[cfg(feature = "mysql")]
            Some(Kind::Mysql) => mysql::query(&self.addresses(request).await?, request).await,
            _ => Err(ToolError::NotAvailable {
                what: format!("a database of the kind \"{kind}\""),
                instead: "set db_type to postgres, mysql, mariadb or sqlite, or reach the database through an MCP server"
                    .to_owned(),
            }),
        }
    }

    /// The addresses of the host that may be dialled.
    async fn addresses(&self, request: &SqlRequest) -> Result<Vec<SocketAddr>, ToolError> {
        let connection = &request.connection;
        for (name, value) in [
            ("host", &connection.host),
            ("database", &connection.database),
        ] {
            if value.trim().is_empty() {
                return Err(ToolError::InvalidRequest {
                    what: name.to_owned(),
                    problem: "it is blank; set it on the node".to_owned(),
                });
            }
        }
        resolve_host(&connection.host, connection.port, &self.0.allow).await
    }
}

impl SqlRunner for Databases {
    fn query(&self, request: SqlRequest) -> BoxFuture<'_, Result<SqlRows, ToolError>> {
        async move {
            let asked = tokio::time::timeout(request.timeout, self.ask(&request));
            let answer = asked.await.unwrap_or_else(|_| Err(too_slow(&request)));
            answer.map_err(|error| masked(error, &request))
        }
        .boxed()
    }
}

/// The database as texts name it.
fn name(request: &SqlRequest) -> String {
    format!("the database \"{}\"", request.connection.database)
}

fn too_slow(request: &SqlRequest) -> ToolError {
    ToolError::Timeout {
        what: name(request),
        after: request.timeout,
    }
}

fn too_large(request: &SqlRequest) -> ToolError {
    ToolError::TooLarge {
        what: name(request),
        limit: MOST_BYTES as u64,
    }
}

/// What a database says may repeat what it was told, the password among it.
fn masked(error: ToolError, request: &SqlRequest) -> ToolError {
    let Some(password) = &request.connection.password else {
        return error;
    };
    let mask = |text: String| match Masker::new([password.as_ref()]) {
        Ok(masker) => masker.mask(&text).into_owned(),
        Err(error) => error.to_string(),
    };
    match error {
        ToolError::Failed { what, message } => ToolError::Failed {
            what,
            message: mask(message),
        },
        ToolError::NoConnection { host, cause } => ToolError::NoConnection {
            host,
            cause: mask(cause),
        },
        ToolError::Interrupted { host, cause } => ToolError::Interrupted {
            host,
            cause: mask(cause),
        },
        other => other,
    }
}

/// Connects to the first address that answers. Why the last one did not, otherwise.
async fn connected<'c, C>(
    addresses: &[SocketAddr],
    request: &SqlRequest,
    connect: impl Fn(SocketAddr) -> BoxFuture<'c, Result<C, sqlx::Error>>,
) -> Result<C, ToolError> {
    let connection = &request.connection;
    let mut last = ToolError::NoConnection {
        host: connection.host.clone(),
        cause: "it has no address".to_owned(),
    };
    for address in addresses {
        let made = tokio::time::timeout(CONNECTING, connect(*address)).await;
        let cause = match made {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(sqlx::Error::Database(error))) => error.message().to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} s", CONNECTING.as_secs()),
        };
        last = ToolError::NoConnection {
            host: format!("{}:{}", connection.host, connection.port),
            cause,
        };
    }
    Err(last)
}

/// What went wrong while a statement was run.
fn failed(error: sqlx::Error, request: &SqlRequest) -> ToolError {
    match error {
        sqlx::Error::Database(error) => ToolError::Failed {
            what: name(request),
            message: error.message().to_owned(),
        },
        other => ToolError::Interrupted {
            host: request.connection.host.clone(),
            cause: other.to_string(),
        },
    }
}
