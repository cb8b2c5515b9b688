//! Runs: their records, their lists, who drives them, and their end.

use std::sync::Arc;

use easel_core::Value;
use easel_core::event::Usage;
use easel_runtime::{Origin, Standing};

use crate::error::StoreError;
use crate::sql::{Connection, Row, Statement, anywhere};
use crate::store::{Page, Store};
use crate::values::{self, Restorer};

/// The most runs on a page.
const PAGE: usize = 100;
/// The longest summary, in characters.
const SUMMARY: usize = 200;
/// How many runs are deleted in one transaction, so that others are not kept waiting.
pub(crate) const AT_ONCE: usize = 50;

/// A run, without its journal.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Its id.
    pub id: Arc<str>,
    /// Where it came from.
    pub origin: Origin,
    /// Where it stands.
    pub standing: Standing,
    /// Tokens so far.
    pub usage: Usage,
    /// How many events its journal has.
    pub entries: u64,
    /// When it began, in milliseconds since 1970.
    pub created: i64,
    /// When its standing or its usage changed last.
    pub updated: i64,
    /// The worker that drives it.
    pub worker: Option<Arc<str>>,
}

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Its id.
    pub id: Arc<str>,
    /// Where it came from.
    pub origin: Origin,
    /// The word for where it stands: [`Standing::name`].
    pub state: Arc<str>,
    /// A line about where it stands: what it said, what it asks, why it failed. At most 200 characters.
    pub summary: Arc<str>,
    /// Tokens so far.
    pub usage: Usage,
    /// When it began, in milliseconds since 1970.
    pub created: i64,
    /// When its standing or its usage changed last.
    pub updated: i64,
}

/// Which runs. What is empty or `None` lets all pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFilter {
    /// Of these agents.
    pub agents: Vec<String>,
    /// Of this conversation.
    pub session: Option<String>,
    /// In one of these states, by the names that [`Standing::name`] gives.
    pub states: Vec<String>,
    /// Of these owners.
    pub owners: Vec<String>,
    /// On behalf of this user.
    pub user: Option<String>,
    /// Started by this: [`Origin::trigger`].
    pub trigger: Option<String>,
    /// Not before this, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Not after this.
    pub until: Option<i64>,
    /// Their summary or user has this text in it (ASCII letters of either case), or it is their id.
    pub text: Option<String>,
    /// How many at most; 0 means 30, and more than 100 means 100.
    pub limit: usize,
    /// Where the last page ended: [`Page::next`].
    pub cursor: Option<String>,
}

/// How many runs there are in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCount {
    /// The state.
    pub state: Arc<str>,
    /// How many.
    pub runs: u64,
}

/// A line about where a run stands.
pub(crate) fn summary(standing: &Standing) -> String {
    let text = match standing {
        Standing::Running | Standing::Cancelled => String::new(),
        Standing::Waiting { fields, tips } => match tips.trim().is_empty() {
            true => fields
                .keys()
                .map(|key| &**key)
                .collect::<Vec<_>>()
                .join(", "),
            false => tips.to_string(),
        },
        Standing::Uncertain { writes } => {
            let question = writes.first().map(|write| write.question.to_string());
            question.unwrap_or_default()
        }
        Standing::Finished { outputs } => {
            let content = outputs.get("content").and_then(Value::as_str);
            let first = outputs.values().find_map(Value::as_str);
            content
                .or(first)
                .unwrap_or_default()
                .chars()
                .take(4 * SUMMARY)
                .collect()
        }
        Standing::Failed { fault, .. } => fault.message.to_string(),
    };
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(SUMMARY - 1) {
        Some((at, last)) if at + last.len_utf8() < line.len() => {
            line.truncate(at);
            line + "…"
        }
        _ => line,
    }
}

const COLUMNS: &str = "id, document, agent, version, session, owner, user_name, key_id, started_by, traceparent, \
                       state, prompt_tokens, completion_tokens, total_tokens, calls, created, updated";

fn origin(row: &Row) -> Result<Origin, StoreError> {
    Ok(Origin {
        document: row.shared("document")?,
        agent: row.shared("agent")?,
        version: row.shared("version")?,
        session: row.optional_text("session")?.map(Arc::from),
        owner: row.shared("owner")?,
        user: row.shared("user_name")?,
        key: row.shared("key_id")?,
        trigger: row.shared("started_by")?,
        traceparent: row.shared("traceparent")?,
    })
}

fn usage(row: &Row) -> Result<Usage, StoreError> {
    Ok(Usage {
        prompt_tokens: row.count("prompt_tokens")?,
        completion_tokens: row.count("completion_tokens")?,
        total_tokens: row.count("total_tokens")?,
        calls: row.count("calls")?,
    })
}

/// The place behind a run in the order of lists.
fn cursor(created: i64, number: i64) -> String {
    format!("{created}-{number}")
}

fn read_cursor(text: &str) -> Result<(i64, i64), StoreError> {
    let parts = text.split_once('-');
    let parts =
        parts.and_then(|(created, number)| Some((created.parse().ok()?, number.parse().ok()?)));
    parts.ok_or_else(|| StoreError::Cursor(text.to_owned()))
}

impl RunFilter {
    /// The statement for a page of runs.
    pub(crate) fn select(&self) -> Result<Statement, StoreError> {
        let mut select = Statement::new("");
        select.push(&format!(
            "SELECT {COLUMNS}, summary, number FROM runs WHERE 1 = 1"
        ));
        for (column, values) in [
            ("agent", &self.agents),
            ("owner", &self.owners),
            ("state", &self.states),
        ] {
            match values.as_slice() {
                [] => {}
                // Then the rows of an index are in the order of the list.
                [one] => {
                    select.push(&format!(" AND {column} = ")).value(one);
                }
                several => {
                    select.push(&format!(" AND {column} IN ")).values(several);
                }
            }
        }
        for (column, value) in [
            ("session", &self.session),
            ("user_name", &self.user),
            ("started_by", &self.trigger),
        ] {
            if let Some(value) = value {
                select.push(&format!(" AND {column} = ")).value(value);
            }
        }
        if let Some(since) = self.since {
            select.push(" AND created >= ").value(since);
        }
        if let Some(until) = self.until {
            select.push(" AND created <= ").value(until);
        }
        if let Some(text) = &self.text {
            let pattern = anywhere(&text.to_ascii_lowercase());
            select.push(" AND (id = ").value(text);
            select.push(" OR lower(summary) LIKE ").value(&pattern);
            select
                .push(" ESCAPE '!' OR lower(user_name) LIKE ")
                .value(&pattern);
            select.push(" ESCAPE '!')");
        }
        if let Some(text) = &self.cursor {
            let (created, number) = read_cursor(text)?;
            select.push(" AND (created, number) < (").value(created);
            select.push(", ").value(number).push(")");
        }
        select.push(" ORDER BY created DESC, number DESC LIMIT ");
        // One more, to know whether there is a next page.
        select.value(self.limit() as i64 + 1);
        Ok(select)
    }

    /// The SQL of the statement for a page, for those who want to know how the database reads it.
    ///
    /// # Errors
    /// [`StoreError::Cursor`].
    pub fn sql(&self) -> Result<String, StoreError> {
        Ok(self.select()?.into_sql())
    }

    fn limit(&self) -> usize {
        match self.limit {
            0 => 30,
            limit => limit.min(PAGE),
        }
    }
}

impl Store {
    /// A run.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn run(&self, id: &str) -> Result<Option<RunRecord>, StoreError> {
        let mut connection = self.reader().await?;
        let mut select = Statement::new("");
        select.push(&format!(
            "SELECT {COLUMNS}, standing, worker, (SELECT first + count FROM journal WHERE run = runs.number \
             ORDER BY first DESC LIMIT 1) AS entries FROM runs WHERE id = "
        ));
        select.value(id);
        let Some(row) = connection.row(select).await? else {
            return Ok(None);
        };
        let standing = match &*row.text("state")? {
            // Whoever claims a run changes its state, and the rest with the first batch.
            "running" => Standing::Running,
            _ => {
                let json = row.text("standing")?;
                let restorer = Restorer::fetch(&mut connection, [json.as_str()]).await?;
                restorer.read(json, &format!("where run {id} stands"))?
            }
        };
        let entries = row.optional_int("entries")?;
        Ok(Some(RunRecord {
            id: row.shared("id")?,
            origin: origin(&row)?,
            standing,
            usage: usage(&row)?,
            entries: entries.and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
            created: row.int("created")?,
            updated: row.int("updated")?,
            worker: row.optional_text("worker")?.map(Arc::from),
        }))
    }

    /// A page of runs, the newest first. It reads neither journals nor big values.
    ///
    /// # Errors
    /// [`StoreError::Cursor`]; [`StoreError`] if they cannot be read.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Page<RunSummary>, StoreError> {
        let mut rows = self.rows(filter.select()?.scanning()).await?;
        let more = rows.len() > filter.limit();
        rows.truncate(filter.limit());
        let next = match rows.last() {
            Some(last) if more => Some(cursor(last.int("created")?, last.int("number")?)),
            _ => None,
        };
        let items = rows.iter().map(|row| {
            Ok(RunSummary {
                id: row.shared("id")?,
                origin: origin(row)?,
                state: row.shared("state")?,
                summary: row.shared("summary")?,
                usage: usage(row)?,
                created: row.int("created")?,
                updated: row.int("updated")?,
            })
        });
        let items = items.collect::<Result<_, StoreError>>()?;
        Ok(Page { items, next })
    }

    /// How many runs there are in each state that has any.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be counted.
    pub async fn run_counts(&self) -> Result<Vec<RunCount>, StoreError> {
        let select = "SELECT state, count(*) AS runs FROM runs GROUP BY state ORDER BY state";
        let rows = self.rows(Statement::new(select).scanning()).await?;
        let counts = rows.iter().map(|row| {
            Ok(RunCount {
                state: row.shared("state")?,
                runs: row.count("runs")?,
            })
        });
        counts.collect()
    }

    /// Deletes a run, its journal, and the values that nobody else holds; false if it was not there. One that is under way
    /// cannot write any more then: end it before.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    pub async fn delete_run(&self, id: &str) -> Result<bool, StoreError> {
        let ids = vec![id.to_owned()];
        let deleted = self.delete_runs(ids).await?;
        Ok(deleted.runs > 0)
    }

    /// Deletes all runs that have this value in that column, some at a time.
    pub(crate) async fn delete_runs_where(
        &self,
        column: &'static str,
        value: &str,
    ) -> Result<(), StoreError> {
        loop {
            let mut select = Statement::new("SELECT id FROM runs WHERE ");
            select.push(column).push(" = ").value(value);
            select.push(" LIMIT ").value(AT_ONCE as i64);
            let rows = self.rows(select).await?;
            let some = rows.iter().map(|row| row.text("id"));
            let some: Vec<String> = some.collect::<Result<_, _>>()?;
            if some.is_empty() {
                return Ok(());
            }
            self.delete_runs(some).await?;
        }
    }

    /// Deletes a few runs in one transaction.
    pub(crate) async fn delete_runs(&self, ids: Vec<String>) -> Result<Deleted, StoreError> {
        self.write(move |connection| {
            let ids = ids.clone();
            Box::pin(async move { remove(connection, &ids).await })
        })
        .await
    }
}

/// What was deleted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deleted {
    pub(crate) runs: u64,
    pub(crate) values: u64,
}

/// Deletes runs in the open transaction.
pub(crate) async fn remove(
    connection: &mut Connection,
    ids: &[String],
) -> Result<Deleted, StoreError> {
    let mut deleted = Deleted::default();
    for some in ids.chunks(AT_ONCE) {
        let mut delete = Statement::new("DELETE FROM runs WHERE id IN ");
        delete.values(some);
        deleted.runs += connection.execute(delete).await?;
        let holders: Vec<String> = some.iter().map(|id| values::run(id)).collect();
        deleted.values += values::let_go(connection, &holders, &[]).await?;
    }
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use easel_core::event::Fault;

    #[test]
    fn a_summary_is_one_short_line() {
        let failed = |message: &str| Standing::Failed {
            node: None,
            fault: Fault::new("x", message),
        };
        assert_eq!(summary(&failed("two\n  lines")), "two lines");
        let long = summary(&failed(&"ü".repeat(1_000)));
        assert_eq!(long.chars().count(), SUMMARY);
        assert!(long.ends_with("ü…"));
        assert_eq!(summary(&failed(&"ü".repeat(SUMMARY))), "ü".repeat(SUMMARY));
        let outputs = [
            ("n".into(), Value::from(1)),
            ("content".into(), Value::from("hi")),
        ];
        let finished = Standing::Finished {
            outputs: outputs.into_iter().collect(),
        };
        assert_eq!(summary(&finished), "hi");
    }

    #[test]
    fn a_cursor_comes_back() {
        assert_eq!(read_cursor(&cursor(5, 7)).unwrap(), (5, 7));
        assert!(matches!(read_cursor("5"), Err(StoreError::Cursor(_))));
    }
}
