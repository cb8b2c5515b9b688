//! Sessions: conversations, apart from the agents that they are held with.

use std::sync::Arc;

use easel_runtime::{Conversation, Said};

use crate::error::StoreError;
use crate::runs;
use crate::sql::{Bound, Connection, Row, Statement, anywhere, in_rows};
use crate::store::{Listed, PageNumber, Store, new_id, now};
use crate::values::{self, Keeper, Restorer, to_json};
use crate::versions::VersionRecord;

/// A session, without what was said in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its id: 32 hexadecimal digits, unless the caller chose another.
    pub id: Arc<str>,
    /// The agent or the graph.
    pub agent: Arc<str>,
    /// Who owns it: the owner of the key it was opened with.
    pub owner: Arc<str>,
    /// The user, as the client names them; may be blank.
    pub user: Arc<str>,
    /// What people call it.
    pub name: Arc<str>,
    /// How it was opened: `agent`, `workflow`, `openai`, …
    pub source: Arc<str>,
    /// The version of the agent it goes by; blank for a draft.
    pub version: Arc<str>,
    /// The title of that version.
    pub version_title: Arc<str>,
    /// The hash of the document it goes by.
    pub document: Arc<str>,
    /// What the agent says before anybody has asked; may be blank.
    pub prologue: Arc<str>,
    /// Why the last run failed; blank if it did not.
    pub errors: Arc<str>,
    /// Turns so far.
    pub round: u32,
    /// How many entries its conversation has.
    pub entries: u64,
    /// When it was opened, in milliseconds since 1970.
    pub created: i64,
    /// When something was said in it last, or it got another name.
    pub updated: i64,
}

/// A session that is to be opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewSession {
    /// Its id; `None` draws one.
    pub id: Option<String>,
    /// The agent or the graph.
    pub agent: String,
    /// Who owns it.
    pub owner: String,
    /// The user, as the client names them.
    pub user: String,
    /// What people call it.
    pub name: String,
    /// How it was opened.
    pub source: String,
    /// The version of the agent; blank for a draft.
    pub version: String,
    /// The title of that version.
    pub version_title: String,
    /// The hash of the document.
    pub document: String,
    /// What the agent says before anybody has asked.
    pub prologue: String,
    /// What it begins with, where it was brought along.
    pub conversation: Conversation,
    /// What was said before.
    pub said: Vec<Said>,
}

/// What sessions are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionOrder {
    /// When they were opened.
    #[default]
    Created,
    /// When something was said in them last.
    Updated,
    /// Their names.
    Name,
}

/// Which sessions. What is empty or `None` lets all pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFilter {
    /// Of this agent.
    pub agent: Option<String>,
    /// With this id.
    pub id: Option<String>,
    /// Of these owners.
    pub owners: Vec<String>,
    /// Of this user.
    pub user: Option<String>,
    /// Opened in one of these ways.
    pub sources: Vec<String>,
    /// Their name, or something that was said in them, has this text in it.
    pub keywords: Option<String>,
    /// Opened not before this, in milliseconds since 1970.
    pub from: Option<i64>,
    /// Opened not after this.
    pub to: Option<i64>,
    /// In this order.
    pub order: SessionOrder,
    /// The last of the order first.
    pub desc: bool,
    /// This page.
    pub page: PageNumber,
}

const COLUMNS: &str = "id, agent, owner, user_id, name, source, version, version_title, document, prologue, errors, \
                       turns, entries, created, updated";

fn record(row: &Row) -> Result<SessionRecord, StoreError> {
    Ok(SessionRecord {
        id: row.shared("id")?,
        agent: row.shared("agent")?,
        owner: row.shared("owner")?,
        user: row.shared("user_id")?,
        name: row.shared("name")?,
        source: row.shared("source")?,
        version: row.shared("version")?,
        version_title: row.shared("version_title")?,
        document: row.shared("document")?,
        prologue: row.shared("prologue")?,
        errors: row.shared("errors")?,
        round: u32::try_from(row.int("turns")?).unwrap_or(u32::MAX),
        entries: row.count("entries")?,
        created: row.int("created")?,
        updated: row.int("updated")?,
    })
}

impl SessionFilter {
    /// Writes the conditions behind a statement.
    fn narrow(&self, select: &mut Statement) {
        for (column, value) in [
            ("agent", &self.agent),
            ("id", &self.id),
            ("user_id", &self.user),
        ] {
            if let Some(value) = value {
                select.push(&format!(" AND {column} = ")).value(value);
            }
        }
        for (column, values) in [("owner", &self.owners), ("source", &self.sources)] {
            if !values.is_empty() {
                select.push(&format!(" AND {column} IN ")).values(values);
            }
        }
        if let Some(from) = self.from {
            select.push(" AND created >= ").value(from);
        }
        if let Some(to) = self.to {
            select.push(" AND created <= ").value(to);
        }
        if let Some(keywords) = &self.keywords {
            select
                .push(" AND (name_key LIKE ")
                .value(anywhere(&keywords.to_lowercase()));
            // What was said is stored as JSON, so the text is looked for as it stands there.
            let json = to_json(&keywords.to_ascii_lowercase());
            let json = anywhere(json.trim_matches('"'));
            select
                .push(" ESCAPE '!' OR EXISTS (SELECT 1 FROM said WHERE said.session = sessions.id AND lower(said.body) LIKE ")
                .value(json)
                .push(" ESCAPE '!'))");
        }
    }
}

impl Store {
    /// Opens a session.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written, or there is one with that id.
    pub async fn create_session(&self, new: NewSession) -> Result<SessionRecord, StoreError> {
        let id = new.id.clone().unwrap_or_else(new_id);
        let at = now();
        let (mut for_said, mut for_lasting) = (Keeper::default(), Keeper::default());
        let said = new.said.iter().map(|said| for_said.shorten(to_json(said)));
        let said: Vec<String> = said.collect();
        let conversation = for_lasting.shorten(to_json(&new.conversation));
        let record = SessionRecord {
            id: id.clone().into(),
            agent: new.agent.into(),
            owner: new.owner.into(),
            user: new.user.into(),
            name: new.name.into(),
            source: new.source.into(),
            version: new.version.into(),
            version_title: new.version_title.into(),
            document: new.document.into(),
            prologue: new.prologue.into(),
            errors: "".into(),
            round: new.conversation.turns,
            entries: said.len() as u64,
            created: at,
            updated: at,
        };
        let insert = Statement::new(
            "INSERT INTO sessions (id, agent, owner, user_id, name, name_key, source, version, version_title, \
             document, prologue, errors, turns, entries, conversation, created, updated) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '', $12, $13, $14, $15, $15)",
        )
        .with(&record.id)
        .with(&record.agent)
        .with(&record.owner)
        .with(&record.user)
        .with(&record.name)
        .with(record.name.to_lowercase())
        .with(&record.source)
        .with(&record.version)
        .with(&record.version_title)
        .with(&record.document)
        .with(&record.prologue)
        .with(i64::from(record.round))
        .with(record.entries)
        .with(conversation)
        .with(at);
        let held = for_said
            .into_held()
            .into_iter()
            .map(|packed| (values::session(&id), packed));
        let lasting = for_lasting.into_held().into_iter();
        let held = held.chain(lasting.map(|packed| (values::lasting(&id), packed)));
        let mut statements = values::hold(held.collect());
        statements.push(insert);
        let said = said.into_iter().zip(0_i64..);
        let said = said.map(|(body, place)| [Bound::from(&id), place.into(), body.into()]);
        statements.extend(in_rows(
            "INSERT INTO said (session, place, body) VALUES ",
            "",
            said.collect(),
        ));
        self.write(move |connection| {
            let statements = statements.clone();
            Box::pin(async move {
                for statement in statements {
                    connection.execute(statement).await?;
                }
                Ok(())
            })
        })
        .await?;
        Ok(record)
    }

    /// A session.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn session(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM sessions WHERE id = "))
            .value(id);
        self.row(select).await?.as_ref().map(record).transpose()
    }

    /// A page of sessions.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn sessions(
        &self,
        filter: &SessionFilter,
    ) -> Result<Listed<SessionRecord>, StoreError> {
        let mut connection = self.reader().await?;
        let mut select =
            Statement::new("SELECT count(*) AS total FROM sessions WHERE 1 = 1").scanning();
        filter.narrow(&mut select);
        let total = connection.row(select).await?;
        let total = total.map_or(Ok(0), |row| row.count("total"))?;
        let mut select = Statement::new("").scanning();
        select.push(&format!("SELECT {COLUMNS} FROM sessions WHERE 1 = 1"));
        filter.narrow(&mut select);
        let column = match filter.order {
            SessionOrder::Created => "created",
            SessionOrder::Updated => "updated",
            SessionOrder::Name => "name_key",
        };
        let direction = if filter.desc { "DESC" } else { "ASC" };
        select.push(&format!(
            " ORDER BY {column} {direction}, id {direction} LIMIT "
        ));
        select
            .value(filter.page.limit())
            .push(" OFFSET ")
            .value(filter.page.offset());
        let rows = connection.rows(select).await?;
        let items = rows.iter().map(record).collect::<Result<_, _>>()?;
        Ok(Listed { items, total })
    }

    /// Gives a session another name; false if it is not there.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn rename_session(&self, id: &str, name: &str) -> Result<bool, StoreError> {
        let update = "UPDATE sessions SET name = $1, name_key = $2, updated = $3 WHERE id = $4";
        let update = Statement::new(update)
            .with(name)
            .with(name.to_lowercase())
            .with(now())
            .with(id);
        self.write(move |connection| {
            let update = update.clone();
            Box::pin(async move { Ok(connection.execute(update).await? > 0) })
        })
        .await
    }

    /// Lets the next run of a session go by another version of its agent; false if the session is not there. A run that is
    /// under way or waits keeps the one it began with.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn move_session(
        &self,
        id: &str,
        version: &VersionRecord,
    ) -> Result<bool, StoreError> {
        let update =
            "UPDATE sessions SET document = $1, version = $2, version_title = $3 WHERE id = $4";
        let update = Statement::new(update)
            .with(&version.document)
            .with(&version.id)
            .with(&version.title)
            .with(id);
        self.write(move |connection| {
            let update = update.clone();
            Box::pin(async move { Ok(connection.execute(update).await? > 0) })
        })
        .await
    }

    /// A conversation: what lasts of it, and all that was said, in order; `None` if there is no such session.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn conversation(
        &self,
        id: &str,
    ) -> Result<Option<(Conversation, Vec<Said>)>, StoreError> {
        self.conversation_from(id, None).await
    }

    /// The same with only the last entries of what was said.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn conversation_end(
        &self,
        id: &str,
        entries: u64,
    ) -> Result<Option<(Conversation, Vec<Said>)>, StoreError> {
        self.conversation_from(id, Some(entries)).await
    }

    async fn conversation_from(
        &self,
        id: &str,
        entries: Option<u64>,
    ) -> Result<Option<(Conversation, Vec<Said>)>, StoreError> {
        let mut connection = self.reader().await?;
        let select = Statement::new("SELECT conversation, entries FROM sessions WHERE id = $1");
        let Some(row) = connection.row(select.with(id)).await? else {
            return Ok(None);
        };
        let lasting = row.text("conversation")?;
        let length = row.count("entries")?;
        // What is said in the meantime belongs to what lasts after it, which was not read.
        let select = "SELECT body FROM said WHERE session = $1 AND place >= $2 AND place < $3 ORDER BY place";
        let first = entries.map_or(0, |entries| length.saturating_sub(entries));
        let select = Statement::new(select).with(id).with(first).with(length);
        let rows = connection.rows(select).await?;
        let bodies = rows.iter().map(|row| row.text("body"));
        let bodies: Vec<String> = bodies.collect::<Result<_, _>>()?;
        let texts = bodies.iter().map(String::as_str).chain([lasting.as_str()]);
        let restorer = Restorer::fetch(&mut connection, texts).await?;
        let what = format!("the conversation {id}");
        let conversation = restorer.read(lasting, &what)?;
        let said = bodies.into_iter().map(|body| restorer.read(body, &what));
        Ok(Some((conversation, said.collect::<Result<_, _>>()?)))
    }

    /// Deletes a session with its runs and files; false if it was not there. End what is under way in it before.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    pub async fn delete_session(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self
            .delete_sessions(std::slice::from_ref(&id.to_owned()))
            .await?
            > 0)
    }

    /// Deletes sessions with their runs and files; how many were there.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be deleted; some may be by then.
    pub async fn delete_sessions(&self, ids: &[String]) -> Result<u64, StoreError> {
        let mut deleted = 0;
        for id in ids {
            // A long conversation has many runs: they go first, some at a time.
            self.delete_runs_where("session", id).await?;
            let id = id.clone();
            let done = self.write(move |connection| {
                let id = id.clone();
                Box::pin(async move { remove(connection, &id).await })
            });
            deleted += u64::from(done.await?);
        }
        Ok(deleted)
    }

    /// Deletes all sessions of an agent with their runs and files; how many there were.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be deleted; some may be by then.
    pub async fn delete_sessions_of(&self, agent: &str) -> Result<u64, StoreError> {
        let select = Statement::new("SELECT id FROM sessions WHERE agent = $1");
        let rows = self.rows(select.with(agent)).await?;
        let ids = rows.iter().map(|row| row.text("id"));
        let ids: Vec<String> = ids.collect::<Result<_, _>>()?;
        self.delete_sessions(&ids).await
    }
}

/// Deletes a session in the open transaction, and what is left of its runs.
async fn remove(connection: &mut Connection, id: &str) -> Result<bool, StoreError> {
    let select = Statement::new("SELECT id FROM runs WHERE session = $1");
    let rows = connection.rows(select.with(id)).await?;
    let left = rows.iter().map(|row| row.text("id"));
    let left: Vec<String> = left.collect::<Result<_, _>>()?;
    runs::remove(connection, &left).await?;
    let delete = Statement::new("DELETE FROM files WHERE session = $1 RETURNING id");
    let rows = connection.rows(delete.with(id)).await?;
    let files = rows.iter().map(|row| Ok(values::file(&row.text("id")?)));
    let mut holders: Vec<String> = files.collect::<Result<_, StoreError>>()?;
    holders.extend([values::session(id), values::lasting(id)]);
    let delete = Statement::new("DELETE FROM sessions WHERE id = $1");
    let there = connection.execute(delete.with(id)).await? > 0;
    values::let_go(connection, &holders, &[]).await?;
    Ok(there)
}
