//! Files that people sent along or that runs made, and the documents that workflows are compiled from.

use std::sync::Arc;

use crate::error::StoreError;
use crate::sql::{Row, Statement};
use crate::store::{Listed, PageNumber, Store, new_id, now};
use crate::values::{self, Packed};

/// A file, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    /// Its id.
    pub id: Arc<str>,
    /// Who sent it.
    pub owner: Arc<str>,
    /// The session it belongs to, if any.
    pub session: Option<Arc<str>>,
    /// Its name, as it was sent.
    pub name: Arc<str>,
    /// Its media type, as it was sent.
    pub mime: Arc<str>,
    /// Its size in bytes.
    pub size: u64,
    /// When it was sent, in milliseconds since 1970.
    pub created: i64,
}

/// A file that is to be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewFile {
    /// Who sends it.
    pub owner: String,
    /// The session it belongs to, if any; it goes when that goes.
    pub session: Option<String>,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub mime: String,
}

/// A workflow's file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// A canvas: JSON.
    Canvas,
    /// A graph: YAML, or a package as the bytes of its archive.
    Graph,
}

impl Dialect {
    /// The word for it: `canvas`, `graph`.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Canvas => "canvas",
            Dialect::Graph => "graph",
        }
    }

    pub(crate) fn of(name: &str) -> Dialect {
        match name {
            "graph" => Dialect::Graph,
            _ => Dialect::Canvas,
        }
    }
}

/// What a workflow is compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub hash: Arc<str>,
    /// Its format.
    pub dialect: Dialect,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

const COLUMNS: &str = "id, owner, session, name, mime, size, created";

fn record(row: &Row) -> Result<FileRecord, StoreError> {
    Ok(FileRecord {
        id: row.shared("id")?,
        owner: row.shared("owner")?,
        session: row.optional_text("session")?.map(Arc::from),
        name: row.shared("name")?,
        mime: row.shared("mime")?,
        size: row.count("size")?,
        created: row.int("created")?,
    })
}

/// Packs bytes where that keeps nobody else from working.
async fn pack(bytes: Vec<u8>) -> Result<Packed, StoreError> {
    tokio::task::spawn_blocking(move || Packed::new(bytes))
        .await
        .map_err(|_| StoreError::Closed)
}

impl Store {
    /// Keeps a file of at most `limit` bytes.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`]; [`StoreError`] if it cannot be written.
    pub async fn put_file(
        &self,
        new: NewFile,
        bytes: Vec<u8>,
        limit: u64,
    ) -> Result<FileRecord, StoreError> {
        self.put_file_as(&new_id(), new, bytes, limit).await
    }

    /// The same under an id. A file that is there already is replaced: whoever makes it again makes no second one.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`]; [`StoreError`] if it cannot be written.
    pub async fn put_file_as(
        &self,
        id: &str,
        new: NewFile,
        bytes: Vec<u8>,
        limit: u64,
    ) -> Result<FileRecord, StoreError> {
        let size = bytes.len() as u64;
        if size > limit {
            return Err(StoreError::TooLarge {
                name: new.name,
                size,
                limit,
            });
        }
        let packed = pack(bytes).await?;
        let record = FileRecord {
            id: id.into(),
            owner: new.owner.into(),
            session: new.session.map(Arc::from),
            name: new.name.into(),
            mime: new.mime.into(),
            size,
            created: now(),
        };
        let insert = Statement::new(
            "INSERT INTO files (id, owner, session, name, mime, size, hash, created) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .with(&record.id)
        .with(&record.owner)
        .with(record.session.as_deref())
        .with(&record.name)
        .with(&record.mime)
        .with(size)
        .with(&packed.hash)
        .with(record.created);
        let mut statements = values::hold(vec![(values::file(&record.id), packed)]);
        statements.push(insert);
        let id = id.to_owned();
        self.write(move |connection| {
            let (id, statements) = (id.clone(), statements.clone());
            Box::pin(async move {
                let delete = Statement::new("DELETE FROM files WHERE id = $1");
                if connection.execute(delete.with(&id)).await? > 0 {
                    values::let_go(connection, &[values::file(&id)], &[]).await?;
                }
                for statement in statements {
                    connection.execute(statement).await?;
                }
                Ok(())
            })
        })
        .await?;
        Ok(record)
    }

    /// A file, without its bytes.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn file(&self, id: &str) -> Result<Option<FileRecord>, StoreError> {
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM files WHERE id = "))
            .value(id);
        self.row(select).await?.as_ref().map(record).transpose()
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn file_bytes(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let select = "SELECT held.packed, held.body FROM held JOIN files ON files.hash = held.hash WHERE files.id = $1";
        let row = self.row(Statement::new(select).with(id)).await?;
        row.map(|row| Packed::unpack(&row, &format!("the file {id}")))
            .transpose()
    }

    /// A page of an owner's files, the newest first.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn files(
        &self,
        owner: &str,
        page: PageNumber,
    ) -> Result<Listed<FileRecord>, StoreError> {
        let mut connection = self.reader().await?;
        let select = Statement::new("SELECT count(*) AS total FROM files WHERE owner = $1");
        let total = connection.row(select.with(owner)).await?;
        let total = total.map_or(Ok(0), |row| row.count("total"))?;
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM files WHERE owner = "))
            .value(owner);
        select
            .push(" ORDER BY created DESC, id DESC LIMIT ")
            .value(page.limit());
        select.push(" OFFSET ").value(page.offset());
        let rows = connection.rows(select).await?;
        let items = rows.iter().map(record).collect::<Result<_, _>>()?;
        Ok(Listed { items, total })
    }

    /// Deletes a file; false if it was not there.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be deleted.
    pub async fn delete_file(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let id = id.clone();
            Box::pin(async move {
                let delete = Statement::new("DELETE FROM files WHERE id = $1");
                let there = connection.execute(delete.with(&id)).await? > 0;
                values::let_go(connection, &[values::file(&id)], &[]).await?;
                Ok(there)
            })
        })
        .await
    }

    /// Keeps what a workflow is compiled from; gives its hash, under which it is found again.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn put_document(
        &self,
        dialect: Dialect,
        bytes: Vec<u8>,
    ) -> Result<Arc<str>, StoreError> {
        let packed = pack(bytes).await?;
        let hash: Arc<str> = packed.hash.as_str().into();
        let select = Statement::new("SELECT 1 AS one FROM documents WHERE hash = $1");
        if self.row(select.with(&hash)).await?.is_some() {
            return Ok(hash);
        }
        let insert = Statement::new(
            "INSERT INTO documents (hash, dialect, size, packed, body, created) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (hash) DO NOTHING",
        )
        .with(&packed.hash)
        .with(dialect.name())
        .with(packed.size)
        .with(packed.packed)
        .with(packed.body)
        .with(now());
        self.write(move |connection| {
            let insert = insert.clone();
            Box::pin(async move { connection.execute(insert).await.map(drop) })
        })
        .await?;
        Ok(hash)
    }

    /// What was kept under that hash.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn document(&self, hash: &str) -> Result<Option<Document>, StoreError> {
        let select =
            Statement::new("SELECT hash, dialect, packed, body FROM documents WHERE hash = $1");
        let Some(row) = self.row(select.with(hash)).await? else {
            return Ok(None);
        };
        Ok(Some(Document {
            hash: row.shared("hash")?,
            dialect: Dialect::of(&row.text("dialect")?),
            bytes: Packed::unpack(&row, &format!("the document {hash}"))?,
        }))
    }
}
