//! Several stores in one PostgreSQL database, each in a schema of its own: for tests that need a fresh one each time.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::error::StoreError;
use crate::store::Location;

/// Makes a schema in a PostgreSQL database, and says where a store in it is. The name has letters, digits and `_`.
///
/// # Errors
/// [`StoreError::Open`] if the database cannot be reached, or the schema is there already. A folder has no schemas.
pub async fn make_schema(location: &Location, name: &str) -> Result<Location, StoreError> {
    let url = run(location, name, &format!("CREATE SCHEMA {name}")).await?;
    let separator = if url.contains('?') { '&' } else { '?' };
    Ok(Location::Database(format!(
        "{url}{separator}options[search_path]={name}"
    )))
}

/// Deletes a schema and everything in it.
///
/// # Errors
/// As [`make_schema`].
pub async fn drop_schema(location: &Location, name: &str) -> Result<(), StoreError> {
    let drop_it = format!("DROP SCHEMA IF EXISTS {name} CASCADE");
    run(location, name, &drop_it).await.map(drop)
}

async fn run<'l>(location: &'l Location, name: &str, sql: &str) -> Result<&'l str, StoreError> {
    let failed = |cause: String| StoreError::Open {
        place: location.to_string(),
        cause,
    };
    let Location::Database(url) = location else {
        return Err(failed("a folder has no schemas".to_owned()));
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(failed(format!("{name:?} is no name of a schema")));
    }
    let options: PgConnectOptions = url
        .parse()
        .map_err(|error: sqlx::Error| failed(error.to_string()))?;
    let connection = options.connect().await;
    let mut connection = connection.map_err(|error| failed(error.to_string()))?;
    // The name was looked at above.
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await;
    done.map_err(|error| failed(error.to_string()))?;
    Ok(url)
}
