//! The floor of what is durable: rows in SQLite, committed one after the other, and nothing else.

use std::path::Path;

use rusqlite::{Connection, params};

/// As much as the journal keeps of a node that gave a short text, in bytes.
const BODY: usize = 128;

/// A file that rows are committed to.
pub struct Commits {
    connection: Connection,
    runs: i64,
}

impl Commits {
    /// A new file in a folder, as Easel's own is set: WAL, and the disk has each commit before it counts.
    pub fn open(folder: &Path) -> rusqlite::Result<Commits> {
        let connection = Connection::open(folder.join("floor.db"))?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE journal (run INTEGER, at INTEGER, body BLOB, PRIMARY KEY (run, at));",
        )?;
        Ok(Commits {
            connection,
            runs: 0,
        })
    }

    /// One run: as many commits as nodes, a row each.
    pub fn one(&mut self, nodes: usize) -> rusqlite::Result<()> {
        self.many(1, nodes)
    }

    /// Runs at once, as one writer can serve them best: as many commits as nodes, with a row of each run in each.
    pub fn many(&mut self, runs: usize, nodes: usize) -> rusqlite::Result<()> {
        let body = vec![b'x'; BODY];
        let first = self.runs;
        self.runs += runs as i64;
        for at in 0..nodes as i64 {
            let commit = self.connection.unchecked_transaction()?;
            {
                let mut insert = commit
                    .prepare_cached("INSERT INTO journal (run, at, body) VALUES (?1, ?2, ?3)")?;
                for run in first..self.runs {
                    insert.execute(params![run, at, body])?;
                }
            }
            commit.commit()?;
        }
        Ok(())
    }
}
