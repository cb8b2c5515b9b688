//! The statements in a text that a person, a node or a model wrote.

use crate::chat::lenient::after_thoughts;

/// The statements, without what models put around them: thoughts, prose beside a fence, the fence, citations.
pub(super) fn of(text: &str, db_type: &str) -> Vec<String> {
    let text = without_citations(&unfenced(after_thoughts(text)));
    let parts = split(&text, db_type);
    let parts = parts.into_iter().map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// What stands in fences, if there are any; else all of it.
fn unfenced(text: &str) -> String {
    const FENCE: &str = "```";
    let mut inside = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(FENCE) {
        let (block, behind) = after.split_once(FENCE).unwrap_or((after, ""));
        inside.push(without_language(block));
        rest = behind;
    }
    match inside.is_empty() {
        true => text.to_owned(),
        false => inside.join("\n;\n"),
    }
}

/// A fenced block without the name of its language.
fn without_language(block: &str) -> &str {
    let word = block
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(block.len());
    let (word, rest) = block.split_at(word);
    match word.to_ascii_lowercase().as_str() {
        "sql" | "mysql" | "postgresql" | "postgres" | "sqlite" | "tsql" | "plsql" => rest,
        _ => block,
    }
}

/// The text without marks such as `[ID:31]`.
fn without_citations(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[ID:") {
        kept.push_str(before);
        rest = past_number(after).unwrap_or_else(|| {
            kept.push_str("[ID:");
            after
        });
    }
    kept + rest
}

/// What follows a number and its closing bracket.
fn past_number(text: &str) -> Option<&str> {
    let digits = text.trim_start();
    let behind = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    behind.trim_start().strip_prefix(']')
}

/// Cuts at each `;` that is not in a literal, a quoted name or a comment.
fn split(text: &str, db_type: &str) -> Vec<String> {
    let dialect = Quoting::of(db_type);
    let mut parts = vec![String::new()];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = dialect.skipped(rest).unwrap_or(c.len_utf8());
        let (taken, behind) = rest.split_at(length);
        match taken {
            ";" => parts.push(String::new()),
            _ => parts
                .last_mut()
                .into_iter()
                .for_each(|part| part.push_str(taken)),
        }
        rest = behind;
    }
    parts
}

/// How a database marks text that is no SQL.
struct Quoting {
    /// `\` escapes in literals, `#` begins a comment, and `` ` `` quotes names.
    mysql: bool,
    /// `$tag$` quotes literals.
    dollars: bool,
    /// `[` quotes names.
    brackets: bool,
}

impl Quoting {
    fn of(db_type: &str) -> Quoting {
        let kind = db_type.to_lowercase();
        Quoting {
            mysql: matches!(&*kind, "mysql" | "mariadb" | "oceanbase"),
            dollars: kind.starts_with("postgres"),
            brackets: kind == "mssql",
        }
    }

    /// The length of the literal, name or comment that begins here. One without an end reaches to the end of the text.
    fn skipped(&self, text: &str) -> Option<usize> {
        let until = |start: usize, end: &str| {
            let found = text.get(start..).and_then(|rest| rest.find(end));
            found.map_or(text.len(), |at| start + at + end.len())
        };
        match text.as_bytes() {
            [b'-', b'-', ..] => Some(until(2, "\n")),
            [b'/', b'*', ..] => Some(until(2, "*/")),
            [b'#', ..] if self.mysql => Some(until(1, "\n")),
            [quote @ (b'\'' | b'"'), ..] => Some(self.quoted(text, *quote)),
            [b'`', ..] => Some(until(1, "`")),
            [b'[', ..] if self.brackets => Some(until(1, "]")),
            [b'$', ..] if self.dollars => {
                let tag = text[1..].find('$').map(|at| &text[..at + 2])?;
                let word = |c: char| c.is_alphanumeric() || c == '_';
                let is_tag = tag[1..tag.len() - 1].chars().all(word);
                is_tag.then(|| until(tag.len(), tag))
            }
            _ => None,
        }
    }

    /// A doubled quote is read as the end of one literal and the start of the next, which comes to the same.
    fn quoted(&self, text: &str, quote: u8) -> usize {
        let bytes = text.as_bytes();
        let mut at = 1;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' if self.mysql => at += 2,
                byte if *byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn statements_end_at_semicolons_outside_of_literals_and_comments() {
        assert_eq!(
            of("SELECT 1; SELECT 2 ;", "mysql"),
            ["SELECT 1", "SELECT 2"]
        );
        assert_eq!(of("SELECT 'a;b''c;' -- d;\n, \"e;\"", "postgres").len(), 1);
        assert_eq!(of(r"SELECT 'it\';s'", "mysql").len(), 1);
        assert_eq!(of("SELECT $x$ a; b $x$; SELECT 2", "postgres").len(), 2);
        assert_eq!(of("SELECT [a;b] /* ; */ FROM t", "mssql").len(), 1);
        assert_eq!(of("SELECT $1; SELECT 'open", "postgres").len(), 2);
        assert!(of(" ; ;", "mysql").is_empty());
    }

    #[test]
    fn what_models_put_around_sql_is_taken_off() {
        assert_eq!(of("```sql\nSELECT 1;\n```", "mysql"), ["SELECT 1"]);
        assert_eq!(
            of(
                "Here it is:\n```\nSELECT 1\n```\nand\n```sql\nSELECT 2\n```\n",
                "mysql"
            ),
            ["SELECT 1", "SELECT 2"]
        );
        assert_eq!(
            of("<think>hm</think>SELECT a [ID:12] FROM t", "mysql"),
            ["SELECT a  FROM t"]
        );
        assert_eq!(of("SELECT x[ID:y]", "mysql"), ["SELECT x[ID:y]"]);
        assert_eq!(of("SELECT [ID: 1 ]2[ID:]", "mysql"), ["SELECT 2"]);
    }

    #[test]
    fn a_text_of_nothing_but_marks_is_read_once() {
        let marks = "[ID:".repeat(200_000);
        assert_eq!(of(&marks, "mysql"), [marks.as_str()]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_split(text in r#"[;'"`$\[\]#*/\\a-zä\n -]{0,40}"#, kind in "mysql|postgres|mssql|trino") {
            let parts = split(&text, &kind);
            let kept: usize = parts.iter().map(String::len).sum();
            prop_assert_eq!(kept + parts.len() - 1, text.len());
        }
    }
}
