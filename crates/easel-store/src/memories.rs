//! Long-term memories: exchanges between a user and an agent, which later conversations of the same two find again.

use std::sync::Arc;

use crate::error::StoreError;
use crate::sql::{Row, Statement};
use crate::store::{Page, Store, new_id, now};

/// Exchanges that one memory keeps of one user with one agent. The oldest go.
pub const MEMORY_EXCHANGES: u64 = 1_000;

/// Characters that are kept of what either side said.
pub const MEMORY_TEXT: usize = 4_000;

/// Whose memory it is, and which. Nobody else's is ever read or written with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryOf {
    /// Who owns the runs.
    pub owner: String,
    /// The agent.
    pub agent: String,
    /// The user. Blank: nobody knows who it is, and the memory ends with the conversation.
    pub user: String,
    /// The conversation.
    pub session: String,
    /// The name of the memory, as the canvas has it.
    pub memory: String,
}

/// An exchange that is to be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewExchange {
    /// By what it is known again: with the same key it is kept once.
    pub key: String,
    /// What the user said.
    pub user_input: String,
    /// What the agent answered.
    pub agent_response: String,
}

/// An exchange that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Its id.
    pub id: Arc<str>,
    /// Who owns it.
    pub owner: Arc<str>,
    /// The agent.
    pub agent: Arc<str>,
    /// The user; blank if nobody knows who it is.
    pub user: Arc<str>,
    /// The conversation in which it was said.
    pub session: Arc<str>,
    /// The name of the memory.
    pub memory: Arc<str>,
    /// What the user said.
    pub user_input: Arc<str>,
    /// What the agent answered.
    pub agent_response: Arc<str>,
    /// When, in milliseconds since 1970.
    pub created: i64,
}

/// Which exchanges. What is `None` lets all pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    /// Of this owner.
    pub owner: Option<String>,
    /// With this agent.
    pub agent: Option<String>,
    /// Of this user; blank: of those whom nobody knows.
    pub user: Option<String>,
    /// In the memory of this name.
    pub memory: Option<String>,
    /// How many at most; 0 means 30, and more than 100 means 100.
    pub limit: usize,
    /// Where the last page ended: [`Page::next`].
    pub cursor: Option<String>,
}

const COLUMNS: &str =
    "id, owner, agent, user_name, session, memory, user_input, agent_response, created";

fn exchange(row: &Row) -> Result<Exchange, StoreError> {
    Ok(Exchange {
        id: row.shared("id")?,
        owner: row.shared("owner")?,
        agent: row.shared("agent")?,
        user: row.shared("user_name")?,
        session: row.shared("session")?,
        memory: row.shared("memory")?,
        user_input: row.shared("user_input")?,
        agent_response: row.shared("agent_response")?,
        created: row.int("created")?,
    })
}

impl MemoryOf {
    /// Narrows a statement to what is in this memory.
    fn narrow(&self, statement: &mut Statement) {
        statement.push(" WHERE owner = ").value(&self.owner);
        statement.push(" AND agent = ").value(&self.agent);
        statement.push(" AND user_name = ").value(&self.user);
        statement.push(" AND memory = ").value(&self.memory);
        if self.user.is_empty() {
            statement.push(" AND session = ").value(&self.session);
        }
    }

    /// Puts an exchange there, unless it is there.
    fn insert(&self, new: &NewExchange) -> Statement {
        Statement::new(
            "INSERT INTO memories (id, owner, agent, user_name, session, memory, exchange, user_input, agent_response, created) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (owner, memory, exchange) DO NOTHING",
        )
        .with(new_id())
        .with(&self.owner)
        .with(&self.agent)
        .with(&self.user)
        .with(&self.session)
        .with(&self.memory)
        .with(&new.key)
        .with(shortened(&new.user_input))
        .with(shortened(&new.agent_response))
        .with(now())
    }

    /// Deletes what is older than what is kept.
    fn trim(&self) -> Statement {
        let mut delete = Statement::new("");
        delete.push("DELETE FROM memories WHERE id IN (SELECT id FROM memories");
        self.narrow(&mut delete);
        delete
            .push(" ORDER BY created DESC, id DESC LIMIT ")
            // SQLite has no OFFSET without a LIMIT.
            .value(i64::MAX);
        delete.push(" OFFSET ").value(MEMORY_EXCHANGES).push(")");
        delete
    }
}

/// The beginning of a text that is longer than what is kept.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MEMORY_TEXT) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}

impl MemoryFilter {
    fn narrow(&self, statement: &mut Statement) {
        statement.push(" WHERE 1 = 1");
        for (column, value) in [
            ("owner", &self.owner),
            ("agent", &self.agent),
            ("user_name", &self.user),
            ("memory", &self.memory),
        ] {
            if let Some(value) = value {
                statement.push(&format!(" AND {column} = ")).value(value);
            }
        }
    }

    fn limit(&self) -> usize {
        match self.limit {
            0 => 30,
            limit => limit.min(100),
        }
    }
}

/// The place behind an exchange in the order of lists.
fn read_cursor(text: &str) -> Result<(i64, &str), StoreError> {
    let parts = text.split_once('-');
    let parts = parts.and_then(|(created, id)| Some((created.parse().ok()?, id)));
    parts.ok_or_else(|| StoreError::Cursor(text.to_owned()))
}

impl Store {
    /// Keeps an exchange in a memory. What either side said is cut to [`MEMORY_TEXT`] characters, and of more than
    /// [`MEMORY_EXCHANGES`] exchanges the oldest go.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn remember(&self, of: MemoryOf, new: NewExchange) -> Result<(), StoreError> {
        let statements = [of.insert(&new), of.trim()];
        self.write(move |connection| {
            let statements = statements.clone();
            Box::pin(async move {
                for statement in statements {
                    connection.execute(statement).await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// All that a memory holds, the newest first.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn memory(&self, of: &MemoryOf) -> Result<Vec<Exchange>, StoreError> {
        let mut select = Statement::new("").scanning();
        select.push(&format!("SELECT {COLUMNS} FROM memories"));
        of.narrow(&mut select);
        select
            .push(" ORDER BY created DESC, id DESC LIMIT ")
            .value(MEMORY_EXCHANGES);
        self.rows(select).await?.iter().map(exchange).collect()
    }

    /// A page of exchanges, the newest first.
    ///
    /// # Errors
    /// [`StoreError::Cursor`]; [`StoreError`] if they cannot be read.
    pub async fn exchanges(&self, filter: &MemoryFilter) -> Result<Page<Exchange>, StoreError> {
        let mut select = Statement::new("");
        select.push(&format!("SELECT {COLUMNS} FROM memories"));
        filter.narrow(&mut select);
        if let Some(text) = &filter.cursor {
            let (created, id) = read_cursor(text)?;
            select.push(" AND (created, id) < (").value(created);
            select.push(", ").value(id).push(")");
        }
        select.push(" ORDER BY created DESC, id DESC LIMIT ");
        // One more, to know whether there is a next page.
        let limit = filter.limit();
        select.value(limit as i64 + 1);
        let rows = self.rows(select).await?;
        let items: Result<Vec<Exchange>, StoreError> =
            rows.iter().take(limit).map(exchange).collect();
        let items = items?;
        let last = items.last().filter(|_| rows.len() > limit);
        Ok(Page {
            next: last.map(|last| format!("{}-{}", last.created, last.id)),
            items,
        })
    }

    /// An exchange.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn exchange(&self, id: &str) -> Result<Option<Exchange>, StoreError> {
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM memories WHERE id = "))
            .value(id);
        self.row(select).await?.as_ref().map(exchange).transpose()
    }

    /// Deletes an exchange; false if it was not there.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    pub async fn forget(&self, id: &str) -> Result<bool, StoreError> {
        let delete = Statement::new("DELETE FROM memories WHERE id = $1").with(id);
        Ok(self.delete_exchanges(delete).await? > 0)
    }

    /// Deletes all exchanges that pass a filter, whatever its limit and cursor; how many there were.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be deleted.
    pub async fn forget_all(&self, filter: &MemoryFilter) -> Result<u64, StoreError> {
        let mut delete = Statement::new("");
        delete.push("DELETE FROM memories");
        filter.narrow(&mut delete);
        self.delete_exchanges(delete).await
    }

    async fn delete_exchanges(&self, delete: Statement) -> Result<u64, StoreError> {
        self.write(move |connection| {
            let delete = delete.clone();
            Box::pin(async move { connection.execute(delete).await })
        })
        .await
    }
}
