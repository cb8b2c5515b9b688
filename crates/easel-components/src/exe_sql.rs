//! ExeSQL: statements that only read are run on a database, and the rows are given as data and as tables
//! (spec/canvas-components §6.3).

mod guard;
mod statements;
mod table;

use std::sync::Arc;
use std::time::Duration;

use easel_catalog as catalog;
use easel_core::event::{Fault, Ports};
use easel_core::{Object, Value};
use easel_secrets::SinkKind;
use easel_tools::ToolError;
use easel_tools::sql::{SqlConnection, SqlRequest, SqlRows};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::behaviour::Call;
use crate::function::{Function, Outcome, Trouble, text};
use crate::given::Given;
use crate::site::Site;
use guard::Guard;

/// Rows that a statement gives at most where the node does not say.
const ROWS: u32 = 1024;

/// Seconds a statement may take where the node does not say.
const SECONDS: f64 = 60.0;

/// What stands in place of the rows of a statement that gave none. Canvases test for it.
const NO_ROWS: &str = "No record in the database!";

/// Reads the parameters.
pub(crate) fn make(site: &Site<'_>, _: &catalog::Component) -> Result<Arc<dyn Function>, Fault> {
    let db_type = match site.text("db_type").trim() {
        "" => "mysql",
        kind => kind,
    };
    let port = site.count("port")?.map(u16::try_from).transpose();
    let port =
        port.map_err(|_| site.wrong("port", "is no port", "Set a number from 1 to 65535"))?;
    let seconds = site.number("timeout_s")?.filter(|seconds| *seconds > 0.0);
    let password = site.given("password", true);
    Ok(Arc::new(ExeSql {
        guard: Guard::new(db_type),
        database: site.given("database", true),
        host: site.given("host", true),
        username: site.given("username", true),
        password: site.get("password").is_some().then_some(password),
        port: port.unwrap_or(3306),
        db_type: db_type.to_owned(),
        rows: site.count("max_records")?.unwrap_or(ROWS),
        timeout: Duration::try_from_secs_f64(seconds.unwrap_or(SECONDS)).unwrap_or(Duration::MAX),
    }))
}

struct ExeSql {
    guard: Guard,
    db_type: String,
    database: Given,
    host: Given,
    username: Given,
    password: Option<Given>,
    port: u16,
    rows: u32,
    timeout: Duration,
}

/// What a statement gave: rows, or a sentence.
enum Answer {
    Rows(SqlRows),
    Sentence(String),
}

impl Function for ExeSql {
    fn call<'a>(
        &'a self,
        arguments: Object,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Outcome, Trouble>> {
        async move {
            let sql = text(&arguments, "sql");
            let statements = statements::of(&sql, &self.db_type);
            if statements.is_empty() {
                let text = "there is no SQL to run: `sql` is empty. Check what it refers to";
                return Err(Trouble::new("bad_input", text).without_trace());
            }
            let connection = self.connection(call)?;
            let mut results = Vec::with_capacity(statements.len());
            for statement in statements {
                results.push(self.run(statement, &connection, call).await?);
            }
            Ok(outcome(results))
        }
        .boxed()
    }
}

impl ExeSql {
    fn connection(&self, call: &Call) -> Result<SqlConnection, Fault> {
        let door = call.door(SinkKind::Component, "ExeSQL");
        let text = |given: &Given| Ok(given.open(call, &door)?.expose().to_string());
        Ok(SqlConnection {
            db_type: self.db_type.clone(),
            host: text(&self.host)?,
            port: self.port,
            database: text(&self.database)?,
            username: text(&self.username)?,
            password: match &self.password {
                Some(password) => password.open_credential(call, &door, "password")?,
                None => None,
            },
        })
    }

    /// Runs one statement. What the database says against a statement is an answer; that it cannot be asked is not.
    async fn run(
        &self,
        statement: String,
        connection: &SqlConnection,
        call: &Call,
    ) -> Result<Answer, Trouble> {
        if let Err(refusal) = self.guard.check(&statement) {
            return Ok(Answer::Sentence(format!(
                "This statement was not run: {refusal}.\n{statement}"
            )));
        }
        let request = SqlRequest {
            connection: connection.clone(),
            statement: statement.clone(),
            max_records: self.rows,
            timeout: self.timeout,
        };
        match call.run.services.world.sql.query(request).await {
            Ok(rows) if rows.rows.is_empty() => Ok(Answer::Sentence(NO_ROWS.to_owned())),
            Ok(rows) => Ok(Answer::Rows(rows)),
            Err(ToolError::Failed { message, .. }) => Ok(Answer::Sentence(format!(
                "SQL Execution Failed: {statement}\n{message}"
            ))),
            Err(error) => Err(error.into()),
        }
    }
}

fn outcome(results: Vec<Answer>) -> Outcome {
    let (mut data, mut texts) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Answer::Rows(rows) => {
                texts.push(table::markdown(&rows));
                data.push(objects(rows));
            }
            Answer::Sentence(text) => {
                let content = (Arc::from("content"), Value::from(&*text));
                data.push(Value::from(Object::from_iter([content])));
                texts.push(text);
            }
        }
    }
    let text: Arc<str> = texts.join("\n\n").into();
    let mut ports = Ports::one("formalized_content", text.clone());
    ports.set("json", data);
    Outcome {
        ports,
        told: text,
        ..Outcome::default()
    }
}

/// Each row as an object; of columns with one name the last counts.
fn objects(rows: SqlRows) -> Value {
    let columns: Vec<Arc<str>> = rows.columns.iter().map(|name| Arc::from(&**name)).collect();
    let rows = rows.rows.into_iter().map(|row| {
        let members = columns.iter().cloned().zip(row);
        Value::from(members.collect::<Object>())
    });
    rows.collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests;
