//! When two values count as the same.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value as Json;

/// The shortest text or any object that a wanted `{"$sha256", "chars"}` may stand for, in characters.
const HASHED: usize = 200;

/// True if a value is as wanted: of the same type and the same, with symbols such as `<id>` in wanted texts matching anything
/// and a hash matching any long text. `1` and `1.0` are two values.
pub fn same(wanted: &Json, got: &Json) -> bool {
    match (wanted, got) {
        (Json::Object(wanted), got) if wanted.contains_key("$sha256") => match got {
            Json::Object(_) => true,
            Json::String(text) => text.chars().count() > HASHED,
            _ => false,
        },
        (Json::Object(wanted), Json::Object(got)) => {
            let equal = |(name, wanted): (&String, &Json)| {
                got.get(name).is_some_and(|got| same(wanted, got))
            };
            wanted.len() == got.len() && wanted.iter().all(equal)
        }
        (Json::Array(wanted), Json::Array(got)) => {
            wanted.len() == got.len()
                && wanted
                    .iter()
                    .zip(got)
                    .all(|(wanted, got)| same(wanted, got))
        }
        (Json::String(wanted), Json::String(got)) => {
            wanted == got || Pattern::of(wanted).is_some_and(|p| p.matches(got))
        }
        _ => wanted == got,
    }
}

/// Symbols that stand for some text; those of capitals name parts of prompts that every engine words for itself.
const SOME: [&str; 6] = ["id", "date", "today", "yesterday", "tomorrow", "error"];
const ANY: [&str; 2] = ["stream", "notice"];

/// A text in which some parts may be anything.
struct Pattern<'t> {
    /// Literal parts with a gap between each two.
    literals: Vec<&'t str>,
    /// Characters that each gap has at least.
    gaps: Vec<usize>,
}

impl<'t> Pattern<'t> {
    /// The pattern that a text is, if it holds symbols.
    fn of(text: &'t str) -> Option<Pattern<'t>> {
        let (mut literals, mut gaps) = (Vec::new(), Vec::new());
        let (mut written, mut at) = (0, 0);
        while let Some(open) = text.get(at..)?.find('<').map(|found| at + found) {
            at = open + 1;
            let Some((symbol, _)) = text.get(at..)?.split_once('>') else {
                break;
            };
            let least = match symbol {
                symbol if ANY.contains(&symbol) => 0,
                symbol if SOME.contains(&symbol) => 1,
                _ => continue,
            };
            literals.push(text.get(written..open)?);
            gaps.push(least);
            at += symbol.len() + 1;
            written = at;
        }
        literals.push(text.get(written..)?);
        (!gaps.is_empty()).then_some(Pattern { literals, gaps })
    }

    /// Whether a whole text fits.
    fn matches(&self, text: &str) -> bool {
        let Some((first, literals)) = self.literals.split_first() else {
            return false;
        };
        let Some(mut rest) = text.strip_prefix(first) else {
            return false;
        };
        let last = literals.len();
        for (at, (literal, least)) in literals.iter().zip(&self.gaps).enumerate() {
            let Some(from) = skip(rest, *least) else {
                return false;
            };
            if at + 1 == last {
                return from.ends_with(literal);
            }
            match from.find(literal) {
                Some(found) => rest = from.get(found + literal.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        rest.is_empty()
    }
}

/// The text behind so many characters, if there are as many.
fn skip(text: &str, characters: usize) -> Option<&str> {
    match characters {
        0 => Some(text),
        n => {
            let (at, last) = text.char_indices().nth(n - 1)?;
            text.get(at + last.len_utf8()..)
        }
    }
}

/// Remarks about tools at work, and that an answer was cut off, as canvases' own engine words them.
static NOTICE: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| {
    Regex::new(
        r"<think>(?:Running the .{1,120}? tool\.\.\.)+</think>|Running the .{1,120}? tool\.\.\.",
    )
});
static CUT_OFF: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| {
    Regex::new(r"\n*(?:The answer is truncated by your chosen LLM|回答被)[^\n]*\n?$")
});

/// The wanted value with the remarks that every engine words for itself as symbols.
pub fn worded(wanted: &Json) -> Json {
    match wanted {
        Json::String(text) => {
            let mut text = text.clone();
            for pattern in [&NOTICE, &CUT_OFF] {
                if let Ok(pattern) = &**pattern {
                    text = pattern.replace_all(&text, "<notice>").into_owned();
                }
            }
            Json::String(text)
        }
        Json::Array(items) => items.iter().map(worded).collect(),
        Json::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), worded(value)));
            Json::Object(members.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_count() {
        assert!(same(&json!(1), &json!(1)));
        assert!(!same(&json!(1), &json!(1.0)));
        assert!(!same(&json!(1), &json!(true)));
        assert!(!same(&json!(null), &json!("")));
        assert!(same(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": null})));
    }

    #[test]
    fn symbols_match_what_they_stand_for() {
        let fits = |wanted: &str, got: &str| same(&json!(wanted), &json!(got));
        assert!(fits("run <id> on <date>", "run 42 on 2026-01-02"));
        assert!(!fits("run <id>", "run "), "an id is not blank");
        assert!(fits("a<notice>b", "ab") && fits("a<notice>b", "a - b"));
        assert!(fits("<date><date>", "ab") && !fits("<date><date>", "a"));
        assert!(fits("<error>", "line\nline"));
        assert!(!fits("<b>bold</b>", "<b>bald</b>"), "other marks are text");
        assert!(fits("<b><id>", "<b>x"));
    }

    #[test]
    fn a_hash_stands_for_a_long_text() {
        let hash = json!({"$sha256": "x", "chars": 300});
        assert!(same(&hash, &json!("a".repeat(300))) && !same(&hash, &json!("short")));
    }

    #[test]
    fn remarks_of_the_engine_are_no_difference() {
        let wanted = json!(["<think>Running the search tool...</think>Done"]);
        assert!(same(&worded(&wanted), &json!(["Calling search. Done"])));
    }
}
