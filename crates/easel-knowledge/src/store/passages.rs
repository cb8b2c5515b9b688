//! Passages as a search reads them.

use std::collections::HashSet;

use easel_core::{Object, Value};
use rusqlite::{Transaction, params};

use super::documents::base_term;
use crate::error::KnowledgeError;
use crate::terms::QueryTerm;

/// Where a search looks.
pub(crate) struct Scope {
    /// Rows of knowledge bases.
    pub(crate) bases: Vec<i64>,
    /// Rows of the documents that a filter lets through. `None`: all.
    pub(crate) documents: Option<HashSet<i64>>,
}

/// A passage with all that an answer tells of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Passage {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) heading: String,
    pub(crate) page: Option<usize>,
    pub(crate) document_id: String,
    pub(crate) document: String,
    pub(crate) metadata: Object,
    pub(crate) base_id: String,
    /// What a pipeline found out about it.
    pub(crate) fields: Object,
}

impl Scope {
    /// The metadata of every document, with its row.
    pub(crate) fn metadata(
        &self,
        at: &Transaction<'_>,
    ) -> Result<Vec<(i64, Value)>, KnowledgeError> {
        let mut all = Vec::new();
        let sql = "SELECT id, metadata FROM documents WHERE base = ? AND chunks > 0";
        let mut statement = at.prepare_cached(sql)?;
        for base in &self.bases {
            let rows = statement.query_map([base], |row| {
                let text: String = row.get(1)?;
                Ok((row.get(0)?, serde_json::from_str(&text).unwrap_or_default()))
            })?;
            for row in rows {
                all.push(row?);
            }
        }
        Ok(all)
    }

    /// How many passages there are.
    pub(crate) fn size(&self, at: &Transaction<'_>) -> Result<usize, KnowledgeError> {
        let sql = "SELECT COALESCE(SUM(chunks), 0) FROM documents WHERE base = ?";
        let mut statement = at.prepare_cached(sql)?;
        let mut size = 0;
        for base in &self.bases {
            size += statement.query_row([base], |row| row.get::<_, i64>(0))?;
        }
        Ok(size.max(0) as usize)
    }

    /// The rows of the passages that the filter lets through. `None`: all.
    pub(crate) fn allowed(
        &self,
        at: &Transaction<'_>,
    ) -> Result<Option<HashSet<i64>>, KnowledgeError> {
        let Some(documents) = &self.documents else {
            return Ok(None);
        };
        let mut statement = at.prepare_cached("SELECT id FROM chunks WHERE document = ?")?;
        let mut allowed = HashSet::new();
        for document in documents {
            for row in statement.query_map([document], |row| row.get(0))? {
                allowed.insert(row?);
            }
        }
        Ok(Some(allowed))
    }

    /// The rows of all passages in which a term stands.
    pub(crate) fn with_term(
        &self,
        at: &Transaction<'_>,
        term: &QueryTerm,
    ) -> Result<Vec<i64>, KnowledgeError> {
        let mut statement =
            at.prepare_cached("SELECT rowid FROM passages WHERE passages MATCH ?")?;
        let mut rows = Vec::new();
        for base in &self.bases {
            // Terms have letters, digits and `_` only, so nothing in them can end the quotes.
            let star = if term.prefix { "*" } else { "" };
            let asked = format!(
                "base:{} AND terms:\"{}\"{star}",
                base_term(*base),
                term.text
            );
            for row in statement.query_map([asked], |row| row.get(0))? {
                rows.push(row?);
            }
        }
        Ok(rows)
    }

    /// Calls `visit` with the row of each passage that the filter lets through, and with its vector.
    pub(crate) fn each_vector(
        &self,
        at: &Transaction<'_>,
        mut visit: impl FnMut(i64, &[u8]),
    ) -> Result<(), KnowledgeError> {
        let sql = "SELECT chunk, document, vector FROM vectors WHERE base = ?";
        let mut statement = at.prepare_cached(sql)?;
        for base in &self.bases {
            let mut rows = statement.query([base])?;
            while let Some(row) = rows.next()? {
                let document = row.get(1)?;
                let lets_through = |all: &HashSet<i64>| all.contains(&document);
                if self.documents.as_ref().is_none_or(lets_through) {
                    let vector = row.get_ref(2)?.as_blob().unwrap_or_default();
                    visit(row.get(0)?, vector);
                }
            }
        }
        Ok(())
    }
}

/// The terms of a passage, in order, with blanks between.
pub(crate) fn terms_of(at: &Transaction<'_>, row: i64) -> Result<String, KnowledgeError> {
    let mut statement = at.prepare_cached("SELECT terms FROM passages WHERE rowid = ?")?;
    Ok(statement.query_row([row], |row| row.get(0))?)
}

/// The vector of a passage; empty if it has none.
pub(crate) fn vector_of(at: &Transaction<'_>, row: i64) -> Result<Vec<u8>, KnowledgeError> {
    let mut statement = at.prepare_cached("SELECT vector FROM vectors WHERE chunk = ?")?;
    let mut rows = statement.query([row])?;
    Ok(match rows.next()? {
        Some(row) => row.get(0)?,
        None => Vec::new(),
    })
}

impl Passage {
    /// Reads a passage.
    pub(crate) fn read(at: &Transaction<'_>, row: i64) -> Result<Passage, KnowledgeError> {
        let mut statement = at.prepare_cached(
            "SELECT c.key, c.text, c.heading, c.page, d.key, d.name, d.metadata, b.key, c.fields FROM chunks c \
             JOIN documents d ON d.id = c.document JOIN bases b ON b.id = c.base WHERE c.id = ?",
        )?;
        Ok(statement.query_row(params![row], |row| {
            let metadata: String = row.get(6)?;
            Ok(Passage {
                id: row.get(0)?,
                text: row.get(1)?,
                heading: row.get(2)?,
                page: row
                    .get::<_, Option<i64>>(3)?
                    .map(|page| page.max(0) as usize),
                document_id: row.get(4)?,
                document: row.get(5)?,
                metadata: serde_json::from_str(&metadata).unwrap_or_default(),
                base_id: row.get(7)?,
                fields: row
                    .get::<_, Option<String>>(8)?
                    .and_then(|fields| serde_json::from_str(&fields).ok())
                    .unwrap_or_default(),
            })
        })?)
    }
}
