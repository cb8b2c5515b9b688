//! Documents, each there wholly or not at all.

use std::collections::HashMap;
use std::ops::Range;

use easel_core::Object;
use rusqlite::{OptionalExtension, Row, Transaction, params};
use sha2::{Digest, Sha256};

use super::bases::BaseRow;
use super::{hex, now_ms};
use crate::chunks::Chunk;
use crate::error::KnowledgeError;
use crate::terms::terms;

/// What became of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It can be searched.
    Ready,
    /// Some pages of it could not be read, which are named; the others can be searched.
    Partial(String),
    /// It could not be read; this is why.
    Failed(String),
}

/// A document of a knowledge base.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its id: 32 hexadecimal digits, the same for the same name in the same knowledge base.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it was when it was added: `pdf`, `md`, ... `None` if that could not be told.
    pub format: Option<String>,
    /// The size of its file, in bytes.
    pub bytes: u64,
    /// What is known of it beside its text; searches filter by it.
    pub metadata: Object,
    /// Whether it can be searched.
    pub state: State,
    /// How many passages it has.
    pub chunks: usize,
    /// The folder it was read from, if it was.
    pub origin: Option<String>,
    /// When it was last written, in milliseconds since 1970.
    pub updated_ms: i64,
}

/// What adding asks about a document that may be there.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) hash: Vec<u8>,
    pub(crate) ready: bool,
    pub(crate) origin: Option<String>,
    pub(crate) metadata: String,
}

/// A document that is to be written.
pub(crate) struct NewDocument {
    pub(crate) name: String,
    pub(crate) origin: Option<String>,
    pub(crate) hash: Vec<u8>,
    pub(crate) bytes: u64,
    /// `None` keeps what is known, or begins with nothing.
    pub(crate) metadata: Option<Object>,
    /// What was read, or why nothing was.
    pub(crate) content: Result<Content, String>,
}

/// What was read out of a document.
pub(crate) struct Content {
    /// Its format, if it is known.
    pub(crate) format: Option<String>,
    pub(crate) passages: Vec<NewPassage>,
    /// What could not be read, if something could not.
    pub(crate) unread: Option<String>,
}

/// A passage that is to be written.
pub(crate) struct NewPassage {
    /// What is shown of it.
    pub(crate) text: String,
    pub(crate) heading: String,
    pub(crate) page: Option<usize>,
    /// Where it stands in the document's text, in bytes.
    pub(crate) place: Range<usize>,
    /// What was found out about it.
    pub(crate) fields: Option<String>,
    /// The words by which it is found.
    pub(crate) searched: String,
    /// None where words alone are compared.
    pub(crate) vector: Option<Vec<f32>>,
}

impl NewPassage {
    /// A passage of a document of that name, as it was cut.
    pub(crate) fn of(name: &str, chunk: Chunk, vector: Option<Vec<f32>>) -> NewPassage {
        NewPassage {
            searched: searched_text(name, &chunk),
            text: chunk.text,
            heading: chunk.heading,
            page: chunk.page,
            place: chunk.place,
            fields: None,
            vector,
        }
    }
}

const COLUMNS: &str =
    "SELECT key, name, format, bytes, metadata, error, chunks, origin, updated_ms FROM documents";

fn read(row: &Row<'_>) -> rusqlite::Result<Document> {
    let metadata: String = row.get(4)?;
    let chunks = row.get::<_, i64>(6)?.max(0) as usize;
    Ok(Document {
        id: row.get(0)?,
        name: row.get(1)?,
        format: row.get(2)?,
        bytes: row.get::<_, i64>(3)?.max(0) as u64,
        metadata: serde_json::from_str(&metadata).unwrap_or_default(),
        state: match (row.get::<_, Option<String>>(5)?, chunks) {
            (None, _) => State::Ready,
            (Some(why), 0) => State::Failed(why),
            (Some(why), _) => State::Partial(why),
        },
        chunks,
        origin: row.get(7)?,
        updated_ms: row.get(8)?,
    })
}

impl BaseRow {
    /// The documents, by name.
    pub(crate) fn documents(&self, at: &Transaction<'_>) -> Result<Vec<Document>, KnowledgeError> {
        let sql = format!("{COLUMNS} WHERE base = ? ORDER BY name");
        let mut statement = at.prepare_cached(&sql)?;
        let rows = statement.query_map([self.row], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(crate) fn document(
        &self,
        at: &Transaction<'_>,
        name: &str,
    ) -> Result<Document, KnowledgeError> {
        let found = at
            .prepare_cached(&format!("{COLUMNS} WHERE base = ? AND name = ?"))?
            .query_row(params![self.row, name], read)
            .optional()?;
        found.ok_or_else(|| self.no_document(name))
    }

    fn no_document(&self, name: &str) -> KnowledgeError {
        KnowledgeError::NoDocument {
            base: self.base.name.clone(),
            name: name.into(),
        }
    }

    /// What is known of the documents, or of one, by their names.
    pub(crate) fn known(
        &self,
        at: &Transaction<'_>,
        name: Option<&str>,
    ) -> Result<HashMap<String, Known>, KnowledgeError> {
        let sql = "SELECT name, hash, error IS NULL OR chunks > 0, origin, metadata FROM documents \
                   WHERE base = ?1 AND name = COALESCE(?2, name)";
        let mut statement = at.prepare_cached(sql)?;
        let rows = statement.query_map(params![self.row, name], |row| {
            let known = Known {
                hash: row.get(1)?,
                ready: row.get(2)?,
                origin: row.get(3)?,
                metadata: row.get(4)?,
            };
            Ok((row.get(0)?, known))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The id of a document of that name.
    pub(crate) fn document_key(&self, name: &str) -> String {
        document_key(&self.base.id, name)
    }

    /// Sets what is known of a document beside its text.
    pub(crate) fn set_metadata(
        &self,
        at: &Transaction<'_>,
        name: &str,
        metadata: &Object,
    ) -> Result<(), KnowledgeError> {
        let changed = at.execute(
            "UPDATE documents SET metadata = ?, updated_ms = ? WHERE base = ? AND name = ?",
            params![metadata_text(metadata), now_ms(), self.row, name],
        )?;
        match changed {
            0 => Err(self.no_document(name)),
            _ => Ok(()),
        }
    }

    /// Removes a document with its passages.
    pub(crate) fn remove_document(
        &self,
        at: &Transaction<'_>,
        name: &str,
    ) -> Result<(), KnowledgeError> {
        self.forget_answers(at, &self.document_key(name))?;
        match self.clear(at, name)? {
            0 => Err(self.no_document(name)),
            _ => Ok(()),
        }
    }

    /// Removes a document if it is there; tells how many that were.
    fn clear(&self, at: &Transaction<'_>, name: &str) -> Result<usize, KnowledgeError> {
        at.execute(
            "DELETE FROM passages WHERE rowid IN (SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document \
             WHERE d.base = ? AND d.name = ?)",
            params![self.row, name],
        )?;
        Ok(at.execute(
            "DELETE FROM documents WHERE base = ? AND name = ?",
            params![self.row, name],
        )?)
    }

    /// Writes a document in place of the one of its name.
    pub(crate) fn put_document(
        &self,
        at: &Transaction<'_>,
        new: &NewDocument,
    ) -> Result<(), KnowledgeError> {
        let kept: Option<String> = at
            .query_row(
                "SELECT metadata FROM documents WHERE base = ? AND name = ?",
                params![self.row, new.name],
                |row| row.get(0),
            )
            .optional()?;
        let metadata = match &new.metadata {
            Some(metadata) => metadata_text(metadata),
            None => kept.unwrap_or_else(|| "{}".into()),
        };
        self.clear(at, &new.name)?;
        let key = self.document_key(&new.name);
        let (format, chunks, error) = match &new.content {
            Ok(content) => (
                content.format.as_deref(),
                content.passages.len(),
                content.unread.as_ref(),
            ),
            Err(error) => (None, 0, Some(error)),
        };
        at.execute(
            "INSERT INTO documents (base, key, name, origin, hash, bytes, format, metadata, error, chunks, updated_ms) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                self.row,
                key,
                new.name,
                new.origin,
                new.hash,
                new.bytes as i64,
                format,
                metadata,
                error,
                chunks as i64,
                now_ms()
            ],
        )?;
        let document = at.last_insert_rowid();
        if let Ok(content) = &new.content {
            self.put_passages(at, (document, &key), &content.passages)?;
            self.forget_answers(at, &key)?;
        }
        Ok(())
    }

    fn put_passages(
        &self,
        at: &Transaction<'_>,
        (document, document_key): (i64, &str),
        passages: &[NewPassage],
    ) -> Result<(), KnowledgeError> {
        if let Some(vector) = passages.iter().find_map(|passage| passage.vector.as_ref()) {
            self.fix_dimensions(at, vector.len())?;
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for passage in passages {
            let again = seen.entry(&passage.text).or_default();
            let key = chunk_key(document_key, &passage.text, *again);
            *again += 1;
            at.prepare_cached(
                "INSERT INTO chunks (base, document, key, heading, text, page, starts, ends, fields) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                self.row,
                document,
                key,
                passage.heading,
                passage.text,
                passage.page.map(|page| page as i64),
                passage.place.start as i64,
                passage.place.end as i64,
                passage.fields
            ])?;
            let row = at.last_insert_rowid();
            let terms = terms(&passage.searched).join(" ");
            at.prepare_cached("INSERT INTO passages (rowid, base, terms) VALUES (?, ?, ?)")?
                .execute(params![row, base_term(self.row), terms])?;
            if let Some(vector) = &passage.vector {
                let bytes: Vec<u8> = vector.iter().flat_map(|v| v.to_le_bytes()).collect();
                at.prepare_cached(
                    "INSERT INTO vectors (chunk, base, document, vector) VALUES (?, ?, ?, ?)",
                )?
                .execute(params![row, self.row, document, bytes])?;
            }
        }
        Ok(())
    }
}

/// What of a passage is searched: its document's name without the ending, the headings above it, its text.
pub(crate) fn searched_text(name: &str, chunk: &Chunk) -> String {
    let title = title_of(name);
    match chunk.heading.as_str() {
        "" => format!("{title}\n{}", chunk.text),
        heading => format!("{title}: {heading}\n{}", chunk.text),
    }
}

/// A document's name without folders and ending.
pub(crate) fn title_of(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(title, _)| title)
}

/// The term by which the index knows a knowledge base.
pub(crate) fn base_term(row: i64) -> String {
    format!("base{row}")
}

fn metadata_text(metadata: &Object) -> String {
    easel_core::Value::from(metadata.clone()).to_json_text()
}

/// The id of a document: the same whenever it is added anew.
fn document_key(base: &str, name: &str) -> String {
    let hash = Sha256::new()
        .chain_update(base)
        .chain_update([0])
        .chain_update(name);
    hex(&hash.finalize()[..16])
}

/// The id of a passage: the same as long as its text is, wherever it stands in the document.
fn chunk_key(document: &str, text: &str, again: usize) -> String {
    let hash = Sha256::new()
        .chain_update(document)
        .chain_update(text)
        .chain_update([0])
        .chain_update(again.to_le_bytes());
    hex(&hash.finalize()[..16])
}
