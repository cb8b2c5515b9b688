//! What models said about documents that are on their way.

use rusqlite::{OptionalExtension, Transaction, params};

use super::bases::BaseRow;
use crate::error::KnowledgeError;

impl BaseRow {
    /// What was answered to a request about a document, if it is known.
    pub(crate) fn answer(
        &self,
        at: &Transaction<'_>,
        document: &str,
        request: &[u8],
    ) -> Result<Option<String>, KnowledgeError> {
        let mut statement = at.prepare_cached(
            "SELECT answer FROM answers WHERE base = ? AND document = ? AND request = ?",
        )?;
        let found = statement.query_row(params![self.row, document, request], |row| row.get(0));
        Ok(found.optional()?)
    }

    /// Keeps what was answered to a request about a document.
    pub(crate) fn put_answer(
        &self,
        at: &Transaction<'_>,
        document: &str,
        request: &[u8],
        answer: &str,
    ) -> Result<(), KnowledgeError> {
        at.prepare_cached(
            "INSERT OR REPLACE INTO answers (base, document, request, answer) VALUES (?, ?, ?, ?)",
        )?
        .execute(params![self.row, document, request, answer])?;
        Ok(())
    }

    /// Forgets what was answered about a document.
    pub(crate) fn forget_answers(
        &self,
        at: &Transaction<'_>,
        document: &str,
    ) -> Result<(), KnowledgeError> {
        at.execute(
            "DELETE FROM answers WHERE base = ? AND document = ?",
            params![self.row, document],
        )?;
        Ok(())
    }
}
