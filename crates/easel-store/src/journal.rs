//! Journals: batches as rows, and how a group of batches becomes few statements.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use easel_core::event::{Event, Usage};
use easel_runtime::{Batch, Journal, JournalError};
use futures::future::BoxFuture;

use crate::entry::{Change, Entry, Known, is_heavy};
use crate::error::StoreError;
use crate::sql::{Bound, Connection, Statement, in_rows};
use crate::store::{Store, now};
use crate::values::{self, Restorer};

impl Journal for Store {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move {
            let entry = match is_heavy(&batch) {
                true => tokio::task::spawn_blocking(move || Entry::new(batch))
                    .await
                    .map_err(|error| JournalError::Store(error.to_string()))?,
                false => Entry::new(batch),
            };
            self.writer().append(entry).await
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        Box::pin(async move { Ok(self.events(run).await?) })
    }
}

impl Store {
    /// All events of a run, in order; none for a run that is not there.
    async fn events(&self, run: &str) -> Result<Vec<Event>, StoreError> {
        let mut connection = self.reader().await?;
        let select = "SELECT journal.first, journal.count, journal.body FROM journal \
                      JOIN runs ON runs.number = journal.run WHERE runs.id = $1 ORDER BY journal.first";
        let rows = connection.rows(Statement::new(select).with(run)).await?;
        let corrupt = |cause: String| StoreError::Corrupt {
            what: format!("the journal of run {run}"),
            cause,
        };
        let mut bodies = Vec::with_capacity(rows.len());
        let mut length = 0;
        for row in rows {
            if row.count("first")? != length {
                return Err(corrupt(format!("the events behind {length} are missing")));
            }
            length += row.count("count")?;
            bodies.push(row.text("body")?);
        }
        let restorer = Restorer::fetch(&mut connection, bodies.iter().map(String::as_str)).await?;
        drop(connection);
        let mut events = Vec::new();
        for body in bodies {
            for line in restorer.restore(body)?.lines() {
                events.push(values::parse(
                    line,
                    &format!("event {} of run {run}", events.len()),
                )?);
            }
        }
        match events.len() as u64 == length {
            true => Ok(events),
            false => Err(corrupt(format!(
                "it has {} events, not {length}",
                events.len()
            ))),
        }
    }
}

/// What is known of runs while they are under way. Others are forgotten: a run that waits costs nothing here.
#[derive(Debug, Default)]
pub(crate) struct Cache(HashMap<Arc<str>, Known>);

/// More runs than that are not under way at once for long; what was forgotten is read again.
const CACHED: usize = 100_000;

impl Cache {
    /// Takes over what a group that was committed has made of its runs.
    pub(crate) fn learn(&mut self, group: HashMap<Arc<str>, Known>) {
        if self.0.len() > CACHED {
            self.0.clear();
        }
        for (run, known) in group {
            match known.state {
                "running" => self.0.insert(run, known),
                _ => self.0.remove(&run),
            };
        }
    }

    pub(crate) fn forget(&mut self, run: &str) {
        self.0.remove(run);
    }
}

/// Why a group of batches was not written.
#[derive(Debug)]
pub(crate) enum Refused {
    /// One of them contradicts what is stored: alone it would be refused for this.
    Contradicted(JournalError),
    /// The database refused the statements or failed.
    Failed(StoreError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Refused {
        Refused::Failed(error)
    }
}

/// Writes a group of batches in the open transaction; gives what is known of their runs then. After a refusal the
/// transaction, or its part since the last savepoint, is to be taken back.
pub(crate) async fn write(
    connection: &mut Connection,
    cache: &Cache,
    worker: &str,
    group: &[&Entry],
) -> Result<HashMap<Arc<str>, Known>, Refused> {
    let Plan {
        mut runs,
        begun,
        statements,
        ..
    } = Plan::new(connection, cache, worker, group).await?;
    for statement in statements.before {
        connection.execute(statement).await?;
    }
    // The numbers of runs that begin are needed before anything can refer to them.
    let rows = begun.iter().map(|entry| entry.run_row(worker)).collect();
    let insert = "INSERT INTO runs (id, document, agent, version, session, owner, user_name, key_id, started_by, \
                  traceparent, state, standing, summary, prompt_tokens, completion_tokens, total_tokens, calls, \
                  created, updated, worker) VALUES ";
    for statement in in_rows(insert, " RETURNING id, number", rows) {
        for row in connection.rows(statement).await? {
            let (id, number) = (row.shared("id")?, row.int("number")?);
            if let Some(known) = runs.get_mut(&id) {
                known.number = number;
            }
        }
    }
    for statement in rows_of(group, &runs) {
        connection.execute(statement).await?;
    }
    for statement in statements.behind {
        connection.execute(statement).await?;
    }
    // Always in the same order, so that two who write do not wait for each other in a circle.
    let mut changes: Vec<&Change> = group
        .iter()
        .filter_map(|entry| entry.change.as_ref())
        .collect();
    changes.sort_by(|a, b| a.session.cmp(&b.session));
    let at = now();
    for change in changes {
        apply(connection, change, at).await?;
    }
    Ok(runs)
}

/// The one statement that is all that a batch needs, if it is: events of a run that goes on as before.
pub(crate) fn alone(cache: &Cache, entry: &Entry) -> Option<(Statement, Known)> {
    let known = cache.0.get(&entry.run)?;
    let plain = entry.count > 0
        && entry.from == known.length
        && entry.state == known.state
        && entry.usage == known.usage
        && entry.held.is_empty()
        && entry.notes.is_empty()
        && entry.receipt.is_none()
        && entry.change.is_none();
    if !plain {
        return None;
    }
    let mut insert = Statement::new("INSERT INTO journal (run, first, count, body) VALUES ");
    insert.values(journal_row(entry, known.number));
    Some((insert, entry.known(known.number)))
}

fn journal_row(entry: &Entry, number: i64) -> [Bound; 4] {
    [
        number.into(),
        entry.from.into(),
        entry.count.into(),
        Bound::from(entry.body.clone()),
    ]
}

/// What a group needs, as far as it is known before the first statement.
struct Plan<'e> {
    /// What is known of each run once all is written; the number is 0 for one that begins.
    runs: HashMap<Arc<str>, Known>,
    /// First batches.
    begun: Vec<&'e Entry>,
    statements: Around,
}

#[derive(Default)]
struct Around {
    before: Vec<Statement>,
    behind: Vec<Statement>,
}

impl<'e> Plan<'e> {
    async fn new(
        connection: &mut Connection,
        cache: &Cache,
        worker: &str,
        group: &[&'e Entry],
    ) -> Result<Plan<'e>, Refused> {
        let mut runs: HashMap<Arc<str>, Known> = HashMap::new();
        let mut strangers = Vec::new();
        for entry in group {
            match cache.0.get(&entry.run) {
                // Whoever wrote there since is noticed by the journal's key, if there is a row to write.
                Some(known) if known.length == entry.from && entry.count > 0 => {
                    runs.insert(entry.run.clone(), *known);
                }
                None if entry.from == 0 && entry.origin.is_some() => {}
                _ => strangers.push(&entry.run),
            }
        }
        for some in strangers.chunks(256) {
            runs.extend(look_up(connection, some).await?);
        }
        let mut begun = Vec::new();
        let mut standings: BTreeMap<i64, [Bound; 10]> = BTreeMap::new();
        for entry in group {
            let known = match runs.get(&entry.run) {
                Some(known) => *known,
                None if entry.from == 0 => {
                    begun.push(*entry);
                    runs.insert(entry.run.clone(), entry.known(0));
                    continue;
                }
                None => return Err(Refused::Contradicted(entry.taken(0))),
            };
            // A second batch of a run that begins in this very group would need its number: it goes with the next one.
            if known.number == 0 || known.length != entry.from {
                let there = length_of(connection, &entry.run).await?;
                return Err(Refused::Contradicted(entry.taken(there)));
            }
            if entry.state != known.state || entry.usage != known.usage || entry.state != "running"
            {
                standings.insert(known.number, entry.standing_row(known.number, worker));
            }
            runs.insert(entry.run.clone(), entry.known(known.number));
        }
        let held = group.iter().flat_map(|entry| {
            let of_run = entry
                .held
                .iter()
                .map(|packed| (values::run(&entry.run), packed));
            let of_session = entry.change.iter().flat_map(|change| {
                let said = change.said_held.iter();
                let said = said.map(|packed| (values::session(&change.session), packed));
                let after = change.after_held.iter();
                said.chain(after.map(|packed| (values::lasting(&change.session), packed)))
            });
            of_run.chain(of_session)
        });
        let held = held.map(|(holder, packed)| (holder, packed.clone()));
        Ok(Plan {
            statements: Around {
                before: values::hold(held.collect()),
                behind: standing_updates(standings.into_values().collect()),
            },
            runs,
            begun,
        })
    }
}

fn standing_updates(rows: Vec<[Bound; 10]>) -> Vec<Statement> {
    in_rows(
        "UPDATE runs SET state = v.column2, standing = v.column3, summary = v.column4, prompt_tokens = v.column5, \
         completion_tokens = v.column6, total_tokens = v.column7, calls = v.column8, updated = v.column9, \
         worker = v.column10 FROM (VALUES ",
        ") AS v WHERE runs.number = v.column1",
        rows,
    )
}

/// The rows that all batches of a group add to those of their runs.
fn rows_of(group: &[&Entry], runs: &HashMap<Arc<str>, Known>) -> Vec<Statement> {
    let (mut journal, mut notes, mut receipts) = (Vec::new(), Vec::new(), Vec::new());
    for entry in group {
        let number = runs.get(&entry.run).map_or(0, |known| known.number);
        if entry.count > 0 {
            journal.push(journal_row(entry, number));
        }
        for (id, json) in &entry.notes {
            notes.push([
                number.into(),
                id.entry.into(),
                i64::from(id.counter).into(),
                id.shown.into(),
                Bound::from(json),
            ]);
        }
        if let Some(receipt) = &entry.receipt {
            receipts.push([Bound::from(number), receipt.into()]);
        }
    }
    let mut statements = in_rows(
        "INSERT INTO journal (run, first, count, body) VALUES ",
        "",
        journal,
    );
    // What people saw under a number stays what it is: the first that was written counts.
    statements.extend(in_rows(
        "INSERT INTO notes (run, entry, counter, shown, body) VALUES ",
        " ON CONFLICT (run, entry, counter) DO NOTHING",
        notes,
    ));
    statements.extend(in_rows(
        "INSERT INTO receipts (run, body) VALUES ",
        "",
        receipts,
    ));
    statements
}

/// How many events a run has; 0 for one that is not there.
pub(crate) async fn length_of(connection: &mut Connection, run: &str) -> Result<u64, StoreError> {
    let found = look_up(connection, &[&Arc::from(run)]).await?;
    Ok(found.first().map_or(0, |(_, known)| known.length))
}

async fn look_up(
    connection: &mut Connection,
    runs: &[&Arc<str>],
) -> Result<Vec<(Arc<str>, Known)>, StoreError> {
    let mut select = Statement::new(
        "SELECT id, number, state, prompt_tokens, completion_tokens, total_tokens, calls, \
         (SELECT first + count FROM journal WHERE run = runs.number ORDER BY first DESC LIMIT 1) AS length \
         FROM runs WHERE id IN ",
    );
    select.values(runs.iter().map(|run| Bound::from(*run)));
    let rows = connection.rows(select).await?;
    let known = rows.iter().map(|row| {
        let known = Known {
            number: row.int("number")?,
            length: row
                .optional_int("length")?
                .and_then(|n| u64::try_from(n).ok())
                .unwrap_or(0),
            // Only whether it is the same matters.
            state: match &*row.text("state")? {
                "running" => "running",
                _ => "",
            },
            usage: Usage {
                prompt_tokens: row.count("prompt_tokens")?,
                completion_tokens: row.count("completion_tokens")?,
                total_tokens: row.count("total_tokens")?,
                calls: row.count("calls")?,
            },
        };
        Ok((row.shared("id")?, known))
    });
    known.collect()
}

/// Writes what changes in a conversation, if nobody else has spoken in it.
async fn apply(connection: &mut Connection, change: &Change, at: i64) -> Result<(), Refused> {
    let count = change.said.len() as u64;
    let mut update = Statement::new("UPDATE sessions SET entries = ");
    update
        .value(change.from + count)
        .push(", updated = ")
        .value(at);
    if let Some((after, turns)) = &change.after {
        update.push(", conversation = ").value(after);
        update.push(", turns = ").value(i64::from(*turns));
    }
    if let Some(errors) = &change.errors {
        update.push(", errors = ").value(errors);
    }
    update.push(" WHERE id = ").value(&change.session);
    update.push(" AND entries = ").value(change.from);
    if connection.execute(update).await? == 0 {
        let select = Statement::new("SELECT entries FROM sessions WHERE id = $1");
        let row = connection.row(select.with(&change.session)).await?;
        return Err(Refused::Contradicted(match row {
            Some(row) => JournalError::Overtaken {
                session: change.session.to_string(),
                from: change.from,
                there: row.count("entries")?,
            },
            None => JournalError::Store(format!(
                "there is no conversation {}: it was deleted",
                change.session
            )),
        }));
    }
    let said = change.said.iter().zip(change.from..);
    let said = said.map(|(body, place)| [Bound::from(&change.session), place.into(), body.into()]);
    for statement in in_rows(
        "INSERT INTO said (session, place, body) VALUES ",
        "",
        said.collect(),
    ) {
        connection.execute(statement).await?;
    }
    if change.after.is_some() {
        // What lasted until now and does no longer would otherwise pile up with each turn.
        let keep: Vec<String> = change
            .after_held
            .iter()
            .map(|packed| packed.hash.clone())
            .collect();
        values::let_go(connection, &[values::lasting(&change.session)], &keep).await?;
    }
    Ok(())
}
