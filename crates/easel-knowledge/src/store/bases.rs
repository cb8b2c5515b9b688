//! Knowledge bases.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::{hex, now_ms};
use crate::chunks::Chunking;
use crate::error::KnowledgeError;

/// Characters of a name at most.
const NAME: usize = 128;

/// What a new knowledge base is to be like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewBase {
    /// Its name, which no other has.
    pub name: String,
    /// The embedding model. `None`: it is searched by words alone.
    pub model: Option<String>,
    /// How documents are cut.
    pub chunking: Chunking,
}

/// A knowledge base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Its id: 32 hexadecimal digits.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The embedding model, if it has one.
    pub model: Option<String>,
    /// The length of its vectors, once there is one.
    pub dimensions: Option<usize>,
    /// How documents are cut.
    pub chunking: Chunking,
    /// How many documents it holds, those with errors included.
    pub documents: usize,
    /// How many passages it holds.
    pub chunks: usize,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
}

/// A knowledge base with the number of its row.
#[derive(Clone, Debug)]
pub(crate) struct BaseRow {
    pub(crate) row: i64,
    pub(crate) base: Base,
}

const COLUMNS: &str = "SELECT b.id, b.key, b.name, b.model, b.dimensions, b.chunk_tokens, b.overlap_percent, b.created_ms, \
     (SELECT COUNT(*) FROM documents d WHERE d.base = b.id), \
     (SELECT COALESCE(SUM(d.chunks), 0) FROM documents d WHERE d.base = b.id) FROM bases b";

fn read(row: &Row<'_>) -> rusqlite::Result<BaseRow> {
    let size = |at| row.get::<_, i64>(at).map(|n| n.max(0) as usize);
    let base = Base {
        id: row.get(1)?,
        name: row.get(2)?,
        model: row.get(3)?,
        dimensions: row.get::<_, Option<i64>>(4)?.map(|n| n.max(0) as usize),
        chunking: Chunking {
            tokens: size(5)?,
            overlap_percent: size(6)?,
        },
        created_ms: row.get(7)?,
        documents: size(8)?,
        chunks: size(9)?,
    };
    Ok(BaseRow {
        row: row.get(0)?,
        base,
    })
}

impl BaseRow {
    /// Makes a knowledge base.
    pub(crate) fn create(at: &Transaction<'_>, new: &NewBase) -> Result<BaseRow, KnowledgeError> {
        check_name(&new.name)?;
        new.chunking.check()?;
        let mut key = [0; 16];
        getrandom::fill(&mut key)
            .map_err(|cause| KnowledgeError::Broken(format!("no chance could be had: {cause}")))?;
        let made = at.execute(
            "INSERT INTO bases (key, name, model, chunk_tokens, overlap_percent, created_ms) VALUES (?, ?, ?, ?, ?, ?) \
             ON CONFLICT (name) DO NOTHING",
            params![
                hex(&key),
                new.name,
                new.model,
                new.chunking.tokens as i64,
                new.chunking.overlap_percent as i64,
                now_ms()
            ],
        )?;
        match made {
            0 => Err(KnowledgeError::NameTaken(new.name.clone())),
            _ => BaseRow::find(at, &hex(&key)),
        }
    }

    /// The knowledge base with an id or, if there is none, with a name.
    pub(crate) fn find(at: &Transaction<'_>, asked: &str) -> Result<BaseRow, KnowledgeError> {
        let found = at
            .prepare_cached(&format!(
                "{COLUMNS} WHERE b.key = ?1 OR b.name = ?1 ORDER BY b.key = ?1 DESC LIMIT 1"
            ))?
            .query_row([asked], read)
            .optional()?;
        found.ok_or_else(|| KnowledgeError::NoBase(asked.into()))
    }

    /// All of them, by name.
    pub(crate) fn all(at: &Transaction<'_>) -> Result<Vec<BaseRow>, KnowledgeError> {
        let mut statement = at.prepare_cached(&format!("{COLUMNS} ORDER BY b.name"))?;
        let rows = statement.query_map([], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(crate) fn rename(&self, at: &Transaction<'_>, name: &str) -> Result<(), KnowledgeError> {
        check_name(name)?;
        let taken: bool = at.query_row(
            "SELECT EXISTS (SELECT 1 FROM bases WHERE name = ? AND id <> ?)",
            params![name, self.row],
            |row| row.get(0),
        )?;
        if taken {
            return Err(KnowledgeError::NameTaken(name.into()));
        }
        at.execute(
            "UPDATE bases SET name = ? WHERE id = ?",
            params![name, self.row],
        )?;
        Ok(())
    }

    /// Removes it with all that it holds.
    pub(crate) fn remove(&self, at: &Transaction<'_>) -> Result<(), KnowledgeError> {
        at.execute(
            "DELETE FROM passages WHERE rowid IN (SELECT id FROM chunks WHERE document IN \
             (SELECT id FROM documents WHERE base = ?))",
            [self.row],
        )?;
        at.execute("DELETE FROM bases WHERE id = ?", [self.row])?;
        Ok(())
    }

    /// Says how long its vectors are; from the first one on that is fixed.
    pub(crate) fn fix_dimensions(
        &self,
        at: &Transaction<'_>,
        length: usize,
    ) -> Result<(), KnowledgeError> {
        let fixed: i64 = at.query_row(
            "UPDATE bases SET dimensions = COALESCE(dimensions, ?) WHERE id = ? RETURNING dimensions",
            params![length as i64, self.row],
            |row| row.get(0),
        )?;
        if fixed != length as i64 {
            return Err(KnowledgeError::Model {
                model: self.base.model.clone().unwrap_or_default(),
                cause: format!(
                    "it gave vectors of {length} numbers, and those in \"{}\" have {fixed}. Make the knowledge base anew",
                    self.base.name
                ),
            });
        }
        Ok(())
    }
}

fn check_name(name: &str) -> Result<(), KnowledgeError> {
    let problem = match name.trim() {
        "" => "it is empty. Give it one".to_owned(),
        trimmed if trimmed.len() != name.len() => "it begins or ends with a blank".to_owned(),
        _ if name.chars().count() > NAME => format!("it has more than {NAME} characters"),
        _ if name.chars().any(char::is_control) => "it has control characters".to_owned(),
        _ => return Ok(()),
    };
    Err(KnowledgeError::Invalid {
        what: "the name of the knowledge base".into(),
        problem,
    })
}
