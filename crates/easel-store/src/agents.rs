//! Agents: their records, drafts and lists.

use std::sync::Arc;

use crate::error::StoreError;
use crate::files::Dialect;
use crate::memories::MemoryFilter;
use crate::sql::{Bound, Connection, Row, Statement, anywhere, in_rows};
use crate::store::{Listed, PageNumber, Store, new_id, now};
use crate::values::{parse, to_json};
use crate::versions::{self, JOINED, RELEASED, VersionRecord};

/// Who may see and run an agent beside its owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permission {
    /// Nobody.
    #[default]
    Me,
    /// All who share a team with the owner.
    Team,
}

impl Permission {
    /// The word for it: `me`, `team`.
    pub fn name(self) -> &'static str {
        match self {
            Permission::Me => "me",
            Permission::Team => "team",
        }
    }

    /// What a word stands for.
    pub fn of(name: &str) -> Option<Permission> {
        match name {
            "me" => Some(Permission::Me),
            "team" => Some(Permission::Team),
            _ => None,
        }
    }
}

/// An agent: a workflow that has an owner, a draft and versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRecord {
    /// Its id: 32 hexadecimal digits, unless the caller chose another.
    pub id: Arc<str>,
    /// Who owns it.
    pub owner: Arc<str>,
    /// Its title; each owner has a title once in a category, whatever the case of its letters.
    pub title: Arc<str>,
    /// What it is for.
    pub description: Arc<str>,
    /// A picture, as clients send it.
    pub avatar: Arc<str>,
    /// `agent_canvas` or `dataflow_canvas`, or what else clients call it.
    pub category: Arc<str>,
    /// What clients call `canvas_type`.
    pub kind: Arc<str>,
    /// Words to find it by.
    pub tags: Vec<Arc<str>>,
    /// Who else may see it.
    pub permission: Permission,
    /// The flag that the last save set.
    pub released: bool,
    /// The format of its document.
    pub dialect: Dialect,
    /// The name by which graphs are called; each owner has it once.
    pub name: Option<Arc<str>>,
    /// The hash of its draft.
    pub document: Arc<str>,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// When it was changed last.
    pub updated: i64,
    /// When a released version was changed last.
    pub published: Option<i64>,
    /// When the newest released version was made.
    pub released_at: Option<i64>,
}

/// An agent that is to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewAgent {
    /// Its id; `None` draws one.
    pub id: Option<String>,
    /// Who owns it.
    pub owner: String,
    /// Its title.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// A picture.
    pub avatar: String,
    /// Its category.
    pub category: String,
    /// What clients call `canvas_type`.
    pub kind: String,
    /// Words to find it by.
    pub tags: Vec<Arc<str>>,
    /// Who else may see it.
    pub permission: Permission,
    /// Whether its first version is released.
    pub released: bool,
    /// The format of its document; `None` is a canvas.
    pub dialect: Option<Dialect>,
    /// The name by which it is called, for graphs.
    pub name: Option<String>,
    /// The hash of its draft, which [`Store::put_document`] gave.
    pub document: String,
    /// The title of its first version.
    pub version_title: String,
}

/// What is to change in an agent; `None` leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentPatch {
    /// Its title.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// A picture.
    pub avatar: Option<String>,
    /// Its category.
    pub category: Option<String>,
    /// What clients call `canvas_type`.
    pub kind: Option<String>,
    /// Words to find it by.
    pub tags: Option<Vec<Arc<str>>>,
    /// Who else may see it.
    pub permission: Option<Permission>,
    /// The release flag, of it and of the version that a new document makes.
    pub released: Option<bool>,
    /// The hash of a new draft; it makes a version.
    pub document: Option<String>,
    /// The title of that version, if it is a new one.
    pub version_title: String,
}

/// What agents are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentOrder {
    /// When they were made.
    #[default]
    Created,
    /// When they were changed last.
    Updated,
    /// Their titles.
    Title,
}

/// Which agents. What is empty or `None` lets all pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFilter {
    /// Those that this owner may see: their own, and those that are shared with a team of theirs.
    pub visible_to: Option<String>,
    /// Of these owners.
    pub owners: Vec<String>,
    /// Their title has this text in it, whatever the case of its letters.
    pub keywords: Option<String>,
    /// They have one of these tags.
    pub tags: Vec<String>,
    /// In this category.
    pub category: Option<String>,
    /// Of this kind.
    pub kind: Option<String>,
    /// In this format.
    pub dialect: Option<Dialect>,
    /// With this name.
    pub name: Option<String>,
    /// With this title, to the letter.
    pub title: Option<String>,
    /// Only those that have a released version.
    pub released: bool,
    /// In this order.
    pub order: AgentOrder,
    /// The last of the order first.
    pub desc: bool,
    /// This page.
    pub page: PageNumber,
}

/// How many agents have a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagCount {
    /// The tag.
    pub tag: Arc<str>,
    /// How many.
    pub agents: u64,
}

const COLUMNS: &str = "agents.id, owner, agents.title, agents.description, avatar, category, kind, tags, permission, \
     agents.released, dialect, name, agents.document, agents.created, agents.updated, \
     (SELECT max(versions.updated) FROM versions WHERE versions.agent = agents.id AND versions.released = 1) AS published, \
     (SELECT max(versions.created) FROM versions WHERE versions.agent = agents.id AND versions.released = 1) AS released_at";

fn record(row: &Row) -> Result<AgentRecord, StoreError> {
    Ok(AgentRecord {
        id: row.shared("id")?,
        owner: row.shared("owner")?,
        title: row.shared("title")?,
        description: row.shared("description")?,
        avatar: row.shared("avatar")?,
        category: row.shared("category")?,
        kind: row.shared("kind")?,
        tags: parse(&row.text("tags")?, "the tags of an agent")?,
        permission: Permission::of(&row.text("permission")?).unwrap_or_default(),
        released: row.flag("released")?,
        dialect: Dialect::of(&row.text("dialect")?),
        name: row.optional_text("name")?.map(Arc::from),
        document: row.shared("document")?,
        created: row.int("created")?,
        updated: row.int("updated")?,
        published: row.optional_int("published")?,
        released_at: row.optional_int("released_at")?,
    })
}

/// The condition that an owner may see an agent.
fn visible(select: &mut Statement, owner: &str) {
    select.push(" AND (owner = ").value(owner);
    select
        .push(
            " OR (permission = 'team' AND owner IN (SELECT theirs.owner FROM members AS mine \
             JOIN members AS theirs ON theirs.team = mine.team WHERE mine.owner = ",
        )
        .value(owner)
        .push(")))");
}

impl AgentFilter {
    fn narrow(&self, select: &mut Statement) {
        if let Some(owner) = &self.visible_to {
            visible(select, owner);
        }
        if !self.owners.is_empty() {
            select.push(" AND owner IN ").values(&self.owners);
        }
        if let Some(keywords) = &self.keywords {
            select
                .push(" AND title_key LIKE ")
                .value(anywhere(&keywords.to_lowercase()));
            select.push(" ESCAPE '!'");
        }
        if !self.tags.is_empty() {
            select
                .push(" AND EXISTS (SELECT 1 FROM agent_tags WHERE agent_tags.agent = agents.id AND agent_tags.tag IN ")
                .values(&self.tags)
                .push(")");
        }
        for (column, value) in [
            ("category", self.category.as_deref()),
            ("kind", self.kind.as_deref()),
            ("dialect", self.dialect.map(Dialect::name)),
            ("name", self.name.as_deref()),
            ("title", self.title.as_deref()),
        ] {
            if let Some(value) = value {
                select.push(&format!(" AND {column} = ")).value(value);
            }
        }
        if self.released {
            select.push(" AND EXISTS (SELECT 1 FROM versions WHERE versions.agent = agents.id AND versions.released = 1)");
        }
    }
}

impl Store {
    /// Makes an agent, and its first version.
    ///
    /// # Errors
    /// [`StoreError::TitleTaken`], [`StoreError::NameTaken`], [`StoreError::Unknown`] document; [`StoreError`] if it cannot
    /// be written.
    pub async fn create_agent(&self, new: NewAgent) -> Result<AgentRecord, StoreError> {
        let id = new.id.clone().unwrap_or_else(new_id);
        let made = id.clone();
        self.write(move |connection| {
            let (new, id) = (new.clone(), id.clone());
            Box::pin(async move { create(connection, &id, &new).await })
        })
        .await?;
        self.agent(&made).await?.ok_or(StoreError::Unknown {
            kind: "agent",
            id: made,
        })
    }

    /// An agent.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn agent(&self, id: &str) -> Result<Option<AgentRecord>, StoreError> {
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM agents WHERE id = "))
            .value(id);
        self.row(select).await?.as_ref().map(record).transpose()
    }

    /// An agent, if that owner may see it.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn agent_for(
        &self,
        owner: &str,
        id: &str,
    ) -> Result<Option<AgentRecord>, StoreError> {
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM agents WHERE id = "))
            .value(id);
        visible(&mut select, owner);
        self.row(select).await?.as_ref().map(record).transpose()
    }

    /// The same with the version that was released last, if there is one.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn agent_to_run(
        &self,
        owner: &str,
        id: &str,
    ) -> Result<Option<(AgentRecord, Option<VersionRecord>)>, StoreError> {
        let mut select = Statement::new("");
        select
            .push(&format!(
                "SELECT {COLUMNS}, {RELEASED} FROM agents{JOINED} WHERE agents.id = "
            ))
            .value(id);
        visible(&mut select, owner);
        let Some(row) = self.row(select).await? else {
            return Ok(None);
        };
        let agent = record(&row)?;
        let release = versions::released(&row, &agent.id)?;
        Ok(Some((agent, release)))
    }

    /// A page of agents.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn agents(&self, filter: &AgentFilter) -> Result<Listed<AgentRecord>, StoreError> {
        let mut connection = self.reader().await?;
        let mut select =
            Statement::new("SELECT count(*) AS total FROM agents WHERE 1 = 1").scanning();
        filter.narrow(&mut select);
        let total = connection.row(select).await?;
        let total = total.map_or(Ok(0), |row| row.count("total"))?;
        let mut select = Statement::new("").scanning();
        select.push(&format!("SELECT {COLUMNS} FROM agents WHERE 1 = 1"));
        filter.narrow(&mut select);
        let column = match filter.order {
            AgentOrder::Created => "created",
            AgentOrder::Updated => "updated",
            AgentOrder::Title => "title_key",
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

    /// How many of the agents that pass a filter have each tag, the most frequent first.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be counted.
    pub async fn agent_tags(&self, filter: &AgentFilter) -> Result<Vec<TagCount>, StoreError> {
        let mut select = Statement::new(
            "SELECT tag, count(*) AS n FROM agent_tags WHERE agent IN (SELECT id FROM agents WHERE 1 = 1",
        )
        .scanning();
        filter.narrow(&mut select);
        select.push(") GROUP BY tag ORDER BY n DESC, tag");
        let rows = self.rows(select).await?;
        let counts = rows.iter().map(|row| {
            Ok(TagCount {
                tag: row.shared("tag")?,
                agents: row.count("n")?,
            })
        });
        counts.collect()
    }

    /// Changes an agent; a new document makes a version, as [`Store::versions`] tells. `None` if it is not there.
    ///
    /// # Errors
    /// [`StoreError::TitleTaken`], [`StoreError::Unknown`] document; [`StoreError`] if it cannot be written.
    pub async fn update_agent(
        &self,
        id: &str,
        patch: AgentPatch,
    ) -> Result<Option<AgentRecord>, StoreError> {
        let changed = id.to_owned();
        self.write(move |connection| {
            let (id, patch) = (changed.clone(), patch.clone());
            Box::pin(async move { update(connection, &id, &patch).await })
        })
        .await?;
        self.agent(id).await
    }

    /// Deletes an agent with its versions, and with its sessions, their runs and its memories unless `keep_sessions`; false if it was not
    /// there.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    pub async fn delete_agent(&self, id: &str, keep_sessions: bool) -> Result<bool, StoreError> {
        let deleted = id.to_owned();
        let there = self.write(move |connection| {
            let delete = Statement::new("DELETE FROM agents WHERE id = $1").with(&deleted);
            Box::pin(async move { Ok(connection.execute(delete).await? > 0) })
        });
        let there = there.await?;
        if !keep_sessions {
            self.delete_sessions_of(id).await?;
            self.delete_runs_where("agent", id).await?;
            self.forget_all(&MemoryFilter {
                agent: Some(id.to_owned()),
                ..MemoryFilter::default()
            })
            .await?;
        }
        Ok(there)
    }
}

/// Fails if there is no such document.
pub(crate) async fn must_have_document(
    connection: &mut Connection,
    hash: &str,
) -> Result<(), StoreError> {
    let select = Statement::new("SELECT 1 AS one FROM documents WHERE hash = $1");
    match connection.row(select.with(hash)).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Unknown {
            kind: "document",
            id: hash.to_owned(),
        }),
    }
}

async fn create(connection: &mut Connection, id: &str, new: &NewAgent) -> Result<(), StoreError> {
    must_have_document(connection, &new.document).await?;
    title_must_be_free(connection, id, &new.owner, &new.category, &new.title).await?;
    let at = now();
    let insert = Statement::new(
        "INSERT INTO agents (id, owner, title, title_key, description, avatar, category, kind, tags, permission, \
         released, dialect, name, document, created, updated) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)",
    )
    .with(id)
    .with(&new.owner)
    .with(&new.title)
    .with(new.title.to_lowercase())
    .with(&new.description)
    .with(&new.avatar)
    .with(&new.category)
    .with(&new.kind)
    .with(to_json(&new.tags))
    .with(new.permission.name())
    .with(new.released)
    .with(new.dialect.unwrap_or(Dialect::Canvas).name())
    .with(new.name.clone())
    .with(&new.document)
    .with(at);
    match connection.execute(insert).await {
        // The title was free a moment ago: it is the name, or somebody was faster.
        Err(error) if error.is_duplicate() => {
            return Err(match &new.name {
                Some(name) => StoreError::NameTaken(name.clone()),
                None => StoreError::TitleTaken(new.title.clone()),
            });
        }
        done => done?,
    };
    set_tags(connection, id, &new.tags).await?;
    let save = versions::Save {
        agent: id,
        title: &new.version_title,
        description: &new.description,
        released: new.released,
        document: &new.document,
    };
    versions::save(connection, &save).await.map(drop)
}

async fn update(
    connection: &mut Connection,
    id: &str,
    patch: &AgentPatch,
) -> Result<(), StoreError> {
    let select =
        Statement::new("SELECT owner, title, category, description FROM agents WHERE id = $1");
    let Some(row) = connection.row(select.with(id)).await? else {
        return Ok(());
    };
    let (owner, title, category) = (
        row.text("owner")?,
        row.text("title")?,
        row.text("category")?,
    );
    let title = patch.title.clone().unwrap_or(title);
    if patch.title.is_some() || patch.category.is_some() {
        let category = patch.category.as_ref().unwrap_or(&category);
        title_must_be_free(connection, id, &owner, category, &title).await?;
    }
    if let Some(document) = &patch.document {
        must_have_document(connection, document).await?;
    }
    let mut update = Statement::new("UPDATE agents SET updated = ");
    update.value(now());
    let key = patch.title.as_ref().map(|title| title.to_lowercase());
    for (column, value) in [
        ("title", patch.title.clone()),
        ("title_key", key),
        ("description", patch.description.clone()),
        ("avatar", patch.avatar.clone()),
        ("category", patch.category.clone()),
        ("kind", patch.kind.clone()),
        ("tags", patch.tags.as_ref().map(to_json)),
        ("permission", patch.permission.map(|p| p.name().to_owned())),
        ("document", patch.document.clone()),
    ] {
        if let Some(value) = value {
            update.push(&format!(", {column} = ")).value(value);
        }
    }
    if let Some(released) = patch.released {
        update.push(", released = ").value(released);
    }
    update.push(" WHERE id = ").value(id);
    match connection.execute(update).await {
        Err(error) if error.is_duplicate() => return Err(StoreError::TitleTaken(title)),
        done => done?,
    };
    if let Some(tags) = &patch.tags {
        set_tags(connection, id, tags).await?;
    }
    if let Some(document) = &patch.document {
        let description = row.text("description")?;
        let save = versions::Save {
            agent: id,
            title: &patch.version_title,
            description: patch.description.as_ref().unwrap_or(&description),
            released: patch.released.unwrap_or(false),
            document,
        };
        versions::save(connection, &save).await?;
    }
    Ok(())
}

/// Titles are compared without regard to case.
async fn title_must_be_free(
    connection: &mut Connection,
    id: &str,
    owner: &str,
    category: &str,
    title: &str,
) -> Result<(), StoreError> {
    let select = "SELECT 1 AS one FROM agents WHERE owner = $1 AND category = $2 AND title_key = $3 AND id <> $4";
    let select = Statement::new(select)
        .with(owner)
        .with(category)
        .with(title.to_lowercase())
        .with(id);
    match connection.row(select).await? {
        Some(_) => Err(StoreError::TitleTaken(title.to_owned())),
        None => Ok(()),
    }
}

async fn set_tags(
    connection: &mut Connection,
    id: &str,
    tags: &[Arc<str>],
) -> Result<(), StoreError> {
    let delete = Statement::new("DELETE FROM agent_tags WHERE agent = $1");
    connection.execute(delete.with(id)).await?;
    let rows = tags.iter().map(|tag| [Bound::from(id), tag.into()]);
    for insert in in_rows(
        "INSERT INTO agent_tags (agent, tag) VALUES ",
        " ON CONFLICT (agent, tag) DO NOTHING",
        rows.collect(),
    ) {
        connection.execute(insert).await?;
    }
    Ok(())
}
