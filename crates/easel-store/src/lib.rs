//! Journals and records in SQLite and PostgreSQL.
