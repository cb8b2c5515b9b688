//! Which SQL may be run: statements that only read (D23). The session that runs them cannot write either; this guard
//! says so before anything is sent.

use std::ops::ControlFlow;

use sqlparser::ast::{Query, Select, Statement, Visit, Visitor};
use sqlparser::dialect::{
    Dialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

/// Words with which a statement that reads begins.
const READING: [&str; 8] = [
    "SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN",
];

/// Words that do not occur in a statement that only reads, unless as a quoted name.
const WRITING: [&str; 39] = [
    "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "UPSERT", "INTO", "OUTFILE", "DUMPFILE",
    "CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME", "GRANT", "REVOKE", "DENY", "CALL", "EXEC",
    "EXECUTE", "DO", "SET", "LOCK", "LOAD", "COPY", "ATTACH", "DETACH", "VACUUM", "KILL",
    "SHUTDOWN", "BACKUP", "RESTORE", "BULK", "COMMIT", "DBCC", "HANDLER", "PREPARE", "REFRESH",
    "ROLLBACK",
];

/// Pragmas of SQLite that tell about tables.
const PRAGMAS: [&str; 7] = [
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "foreign_key_list",
    "database_list",
];

/// The guard of one kind of database.
pub(super) struct Guard {
    dialect: Box<dyn Dialect + Send + Sync>,
    /// `/*! ... */` is run there.
    runs_comments: bool,
}

impl Guard {
    pub(super) fn new(db_type: &str) -> Guard {
        let kind = db_type.to_lowercase();
        let dialect: Box<dyn Dialect + Send + Sync> = match &*kind {
            "mysql" | "mariadb" | "oceanbase" => Box::new(MySqlDialect {}),
            "postgres" | "postgresql" => Box::new(PostgreSqlDialect {}),
            "mssql" => Box::new(MsSqlDialect {}),
            "sqlite" => Box::new(SQLiteDialect {}),
            _ => Box::new(GenericDialect {}),
        };
        Guard {
            dialect,
            runs_comments: matches!(&*kind, "mysql" | "mariadb" | "oceanbase"),
        }
    }

    /// Errors: why the statement is not run.
    pub(super) fn check(&self, statement: &str) -> Result<(), String> {
        if self.runs_comments && (statement.contains("/*!") || statement.contains("/*M!")) {
            return Err(
                "comments that are run are not allowed; write their content as plain SQL".into(),
            );
        }
        match Parser::parse_sql(&*self.dialect, statement) {
            Ok(parsed) if parsed.is_empty() => Err("it is no query".into()),
            Ok(parsed) => match parsed.visit(&mut Reads) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(what) => Err(format!("it would do more than read ({what})")),
            },
            Err(problem) => self
                .check_words(statement)
                .map_err(|why| format!("{why} ({problem})")),
        }
    }

    /// For the peculiarities of a database that the parser does not know: the words decide.
    fn check_words(&self, statement: &str) -> Result<(), &'static str> {
        let tokens = Tokenizer::new(&*self.dialect, statement).tokenize();
        let tokens = tokens.map_err(|_| "it cannot be read")?;
        let words = tokens.iter().filter_map(|token| match token {
            Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
            _ => None,
        });
        let words: Vec<String> = words.collect();
        // A quoted name at the beginning calls a procedure, whatever words follow.
        let first = tokens
            .iter()
            .find(|token| !matches!(token, Token::Whitespace(_) | Token::LParen));
        if !matches!(first, Some(Token::Word(word)) if word.quote_style.is_none()) {
            return Err("it is no query");
        }
        let reads = match words.as_slice() {
            [first, name, ..] if first == "PRAGMA" => {
                PRAGMAS.contains(&&*name.to_lowercase()) && !tokens.contains(&Token::Eq)
            }
            [first, ..] => READING.contains(&&**first),
            [] => false,
        };
        if !reads {
            return Err("it is no query");
        }
        match words.iter().any(|word| WRITING.contains(&&**word)) {
            true => Err("it cannot be told to be a query that only reads"),
            false => Ok(()),
        }
    }
}

/// Looks for the first thing in a statement that does more than read, at any depth.
struct Reads;

impl Visitor for Reads {
    type Break = &'static str;

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<&'static str> {
        match statement {
            Statement::Query(_)
            | Statement::Explain { .. }
            | Statement::ExplainTable { .. }
            | Statement::ShowFunctions { .. }
            | Statement::ShowVariable { .. }
            | Statement::ShowStatus { .. }
            | Statement::ShowVariables { .. }
            | Statement::ShowCreate { .. }
            | Statement::ShowColumns { .. }
            | Statement::ShowCatalogs { .. }
            | Statement::ShowDatabases { .. }
            | Statement::ShowProcessList { .. }
            | Statement::ShowSchemas { .. }
            | Statement::ShowCharset(_)
            | Statement::ShowObjects(_)
            | Statement::ShowTables { .. }
            | Statement::ShowViews { .. }
            | Statement::ShowCollation { .. } => ControlFlow::Continue(()),
            Statement::Pragma { name, .. } => {
                let name = name.to_string().to_lowercase();
                match PRAGMAS.contains(&&*name) {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break("a setting"),
                }
            }
            _ => ControlFlow::Break("a statement that is no query"),
        }
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<&'static str> {
        match query.locks.is_empty() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break("a lock"),
        }
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<&'static str> {
        match select.into {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break("SELECT INTO"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(db_type: &str, statement: &str) -> bool {
        Guard::new(db_type).check(statement).is_ok()
    }

    #[test]
    fn statements_that_read_pass() {
        for statement in [
            "SELECT * FROM t WHERE name = 'DROP TABLE t'",
            "WITH a AS (SELECT 1 AS n) SELECT n FROM a UNION ALL SELECT 2",
            "SHOW TABLES",
            "DESCRIBE t",
            "EXPLAIN SELECT 1",
            "(SELECT 1) UNION (SELECT 2)",
            "SELECT DATE_FORMAT(d, '%Y-%m') AS month, COUNT(*) FROM o GROUP BY month",
        ] {
            assert!(passes("mysql", statement), "{statement}");
        }
        assert!(passes("postgres", "SELECT a->>'b' FROM t LIMIT 3"));
        assert!(passes("mssql", "SELECT TOP 5 [a] FROM [dbo].[t]"));
        assert!(passes("sqlite", "PRAGMA table_info(t)"));
        assert!(passes("trino", "SHOW SCHEMAS"));
    }

    #[test]
    fn statements_that_could_write_do_not() {
        for statement in [
            "INSERT INTO t VALUES (1)",
            "update t set a = 1",
            "DROP TABLE t",
            "ALTER TABLE t ADD b INT",
            "CALL p()",
            "SET x = 1",
            "SELECT * INTO OUTFILE '/tmp/x' FROM t",
            "SELECT 1 /*! INTO OUTFILE '/tmp/x' */",
            "EXPLAIN DELETE FROM t",
            "SELECT * FROM t FOR UPDATE",
            "LOCK TABLES t READ",
            "please show me all orders",
            "",
        ] {
            assert!(!passes("mysql", statement), "{statement}");
        }
        assert!(!passes(
            "postgres",
            "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone"
        ));
        assert!(!passes("postgres", "SELECT * INTO copy FROM t"));
        assert!(!passes("postgres", "EXPLAIN ANALYZE UPDATE t SET a = 1"));
        assert!(!passes("sqlite", "PRAGMA journal_mode = DELETE"));
        assert!(!passes("mssql", "EXEC xp_cmdshell 'dir'"));
        assert!(!passes("mssql", "SELECT 1 AS a DBCC CHECKDB('d')"));
        assert!(!passes("mssql", "[xp_cmdshell] show"));
        assert!(!passes("mssql", "\"xp_cmdshell\" select"));
        assert!(!passes("mysql", "){}SELECT"));
    }

    #[test]
    fn deep_nesting_is_no_way_around_or_down() {
        let deep = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
        let _ = Guard::new("mysql").check(&deep);
    }
}
