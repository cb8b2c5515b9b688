//! Versions of agents: every new draft is one, and those that were released stay.

use std::sync::Arc;

use crate::agents::must_have_document;
use crate::error::StoreError;
use crate::sql::{Connection, Row, Statement};
use crate::store::{Store, new_id, now};

/// How many versions stay that were not released.
const KEPT: i64 = 20;

/// A version of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRecord {
    /// Its id: 32 hexadecimal digits.
    pub id: Arc<str>,
    /// The agent.
    pub agent: Arc<str>,
    /// Its title.
    pub title: Arc<str>,
    /// What the agent was for.
    pub description: Arc<str>,
    /// Whether it was released.
    pub released: bool,
    /// The hash of its document.
    pub document: Arc<str>,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// When it was saved last.
    pub updated: i64,
}

/// A draft that is saved.
pub(crate) struct Save<'a> {
    pub(crate) agent: &'a str,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) released: bool,
    pub(crate) document: &'a str,
}

const COLUMNS: &str = "id, agent, title, description, released, document, created, updated";

/// The same of the version that an agent released last, beside the columns of the agent.
pub(crate) const RELEASED: &str = "release.id AS release_id, release.title AS release_title, \
     release.description AS release_description, release.document AS release_document, \
     release.created AS release_created, release.updated AS release_updated";
/// Where these come from.
pub(crate) const JOINED: &str = " LEFT JOIN versions AS release ON release.id = (SELECT id FROM versions \
     WHERE versions.agent = agents.id AND versions.released = 1 ORDER BY created DESC, id DESC LIMIT 1)";

/// The version that an agent released last, if there is one.
pub(crate) fn released(row: &Row, agent: &Arc<str>) -> Result<Option<VersionRecord>, StoreError> {
    let Some(id) = row.optional_text("release_id")? else {
        return Ok(None);
    };
    Ok(Some(VersionRecord {
        id: id.into(),
        agent: agent.clone(),
        title: row.shared("release_title")?,
        description: row.shared("release_description")?,
        released: true,
        document: row.shared("release_document")?,
        created: row.int("release_created")?,
        updated: row.int("release_updated")?,
    }))
}

fn record(row: &Row) -> Result<VersionRecord, StoreError> {
    Ok(VersionRecord {
        id: row.shared("id")?,
        agent: row.shared("agent")?,
        title: row.shared("title")?,
        description: row.shared("description")?,
        released: row.flag("released")?,
        document: row.shared("document")?,
        created: row.int("created")?,
        updated: row.int("updated")?,
    })
}

/// Makes a version of a draft, or brings the latest up to date if it has the same document; its id.
pub(crate) async fn save(
    connection: &mut Connection,
    save: &Save<'_>,
) -> Result<String, StoreError> {
    let select = "SELECT id, released, document FROM versions WHERE agent = $1 ORDER BY created DESC, id DESC LIMIT 1";
    let latest = connection
        .row(Statement::new(select).with(save.agent))
        .await?;
    let at = now();
    if let Some(latest) = latest {
        let protected = latest.flag("released")? && !save.released;
        if latest.text("document")? == save.document && !protected {
            let id = latest.text("id")?;
            let update =
                "UPDATE versions SET description = $1, released = $2, updated = $3 WHERE id = $4";
            let update = Statement::new(update)
                .with(save.description)
                .with(save.released)
                .with(at)
                .with(&id);
            connection.execute(update).await?;
            return Ok(id);
        }
    }
    let id = new_id();
    let insert = "INSERT INTO versions (id, agent, title, description, released, document, created, updated) \
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $7)";
    let insert = Statement::new(insert)
        .with(&id)
        .with(save.agent)
        .with(save.title)
        .with(save.description)
        .with(save.released)
        .with(save.document)
        .with(at);
    connection.execute(insert).await?;
    let delete = "DELETE FROM versions WHERE agent = $1 AND released = 0 AND id NOT IN (SELECT id FROM versions \
                  WHERE agent = $1 AND released = 0 ORDER BY created DESC, id DESC LIMIT $2)";
    connection
        .execute(Statement::new(delete).with(save.agent).with(KEPT))
        .await?;
    Ok(id)
}

impl Store {
    /// The versions of an agent, the newest first. The same document as the latest version changes that one, unless that
    /// was released and the save is not; of those that were not released the newest 20 stay.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn versions(&self, agent: &str) -> Result<Vec<VersionRecord>, StoreError> {
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM versions WHERE agent = "))
            .value(agent);
        select.push(" ORDER BY created DESC, id DESC");
        self.rows(select).await?.iter().map(record).collect()
    }

    /// A version.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn version(&self, id: &str) -> Result<Option<VersionRecord>, StoreError> {
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM versions WHERE id = "))
            .value(id);
        self.row(select).await?.as_ref().map(record).transpose()
    }

    /// The version of an agent that the outside gets: of the released ones the one that was made last.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn released_version(&self, agent: &str) -> Result<Option<VersionRecord>, StoreError> {
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM versions WHERE agent = "))
            .value(agent);
        select.push(" AND released = 1 ORDER BY created DESC, id DESC LIMIT 1");
        self.row(select).await?.as_ref().map(record).transpose()
    }

    /// Releases the draft of an agent: its version, which has that title if it is a new one.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] agent; [`StoreError`] if it cannot be written.
    pub async fn publish(&self, agent: &str, title: &str) -> Result<VersionRecord, StoreError> {
        let (id, title) = (agent.to_owned(), title.to_owned());
        let version = self.write(move |connection| {
            let (id, title) = (id.clone(), title.clone());
            Box::pin(async move {
                let select =
                    Statement::new("SELECT document, description FROM agents WHERE id = $1");
                let row = connection.row(select.with(&id)).await?;
                let row = row.ok_or_else(|| unknown("agent", &id))?;
                let update =
                    Statement::new("UPDATE agents SET released = 1, updated = $1 WHERE id = $2");
                connection.execute(update.with(now()).with(&id)).await?;
                let draft = Save {
                    agent: &id,
                    title: &title,
                    description: &row.text("description")?,
                    released: true,
                    document: &row.text("document")?,
                };
                save(connection, &draft).await
            })
        });
        let version = version.await?;
        self.version(&version)
            .await?
            .ok_or_else(|| unknown("version", &version))
    }

    /// Makes the document of a version the draft again, which saves it as a version with that title.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] version; [`StoreError`] if it cannot be written.
    pub async fn restore_version(
        &self,
        version: &str,
        title: &str,
    ) -> Result<VersionRecord, StoreError> {
        let (id, title) = (version.to_owned(), title.to_owned());
        let saved = self.write(move |connection| {
            let (id, title) = (id.clone(), title.clone());
            Box::pin(async move {
                let select = Statement::new(
                    "SELECT agent, document, description FROM versions WHERE id = $1",
                );
                let row = connection.row(select.with(&id)).await?;
                let row = row.ok_or_else(|| unknown("version", &id))?;
                let (agent, document) = (row.text("agent")?, row.text("document")?);
                must_have_document(connection, &document).await?;
                let update =
                    "UPDATE agents SET document = $1, released = 0, updated = $2 WHERE id = $3";
                let update = Statement::new(update)
                    .with(&document)
                    .with(now())
                    .with(&agent);
                connection.execute(update).await?;
                let draft = Save {
                    agent: &agent,
                    title: &title,
                    description: &row.text("description")?,
                    released: false,
                    document: &document,
                };
                save(connection, &draft).await
            })
        });
        let saved = saved.await?;
        self.version(&saved)
            .await?
            .ok_or_else(|| unknown("version", &saved))
    }

    /// Whether a document is the draft or a version of an agent of that owner.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn owns_document(&self, owner: &str, hash: &str) -> Result<bool, StoreError> {
        let select = "SELECT 1 AS one FROM agents WHERE owner = $1 AND (document = $2 OR EXISTS \
                      (SELECT 1 FROM versions WHERE versions.agent = agents.id AND versions.document = $2)) LIMIT 1";
        let select = Statement::new(select).with(owner).with(hash);
        Ok(self.row(select).await?.is_some())
    }

    /// Whether a document is the draft or a version of an agent.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn has_document(&self, agent: &str, hash: &str) -> Result<bool, StoreError> {
        let select = "SELECT 1 AS one FROM agents WHERE id = $1 AND (document = $2 OR EXISTS \
                      (SELECT 1 FROM versions WHERE versions.agent = agents.id AND versions.document = $2)) LIMIT 1";
        let select = Statement::new(select).with(agent).with(hash);
        Ok(self.row(select).await?.is_some())
    }

    /// Deletes a version; false if it was not there. The draft and what runs by it are not touched.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    pub async fn delete_version(&self, id: &str) -> Result<bool, StoreError> {
        let delete = Statement::new("DELETE FROM versions WHERE id = $1").with(id);
        self.write(move |connection| {
            let delete = delete.clone();
            Box::pin(async move { Ok(connection.execute(delete).await? > 0) })
        })
        .await
    }
}

fn unknown(kind: &'static str, id: &str) -> StoreError {
    StoreError::Unknown {
        kind,
        id: id.to_owned(),
    }
}
