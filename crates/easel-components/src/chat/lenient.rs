//! JSON as models write it: in prose, in a fence, with single quotes, bare names, comments, or without its end.

use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

use easel_core::value::MAX_DEPTH;
use easel_core::{Number, Object, Value};

/// The JSON in a model's answer. What is not well formed is read as it was probably meant. `None`: no object and no list
/// is in it.
///
/// Thoughts before the answer are passed over; of several objects the first counts.
pub(crate) fn json(answer: &str) -> Option<Value> {
    let answer = after_thoughts(answer).trim();
    if let Some(value) = strict(answer) {
        return Some(value);
    }
    let fenced = fenced(answer);
    if let Some(value) = fenced.and_then(strict) {
        return Some(value);
    }
    [fenced, Some(answer)]
        .into_iter()
        .flatten()
        .find_map(|text| {
            let start = text.find('{').or_else(|| text.find('['))?;
            let mut reader = Reader {
                rest: text[start..].chars().peekable(),
            };
            reader.value(0)
        })
}

/// The answer without the thoughts that a model wrote before it.
pub(crate) fn after_thoughts(answer: &str) -> &str {
    answer
        .rsplit_once("</think>")
        .map_or(answer, |(_, rest)| rest)
}

/// An object or a list that is well formed.
fn strict(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    matches!(value, Value::Object(_) | Value::Array(_)).then_some(value)
}

/// What stands in the first fence that holds JSON, or that begins with a bracket.
fn fenced(text: &str) -> Option<&str> {
    text.match_indices("```").find_map(|(at, fence)| {
        let inside = &text[at + fence.len()..];
        let inside = inside.strip_prefix("json").unwrap_or(inside).trim_start();
        let inside = inside.split("```").next().unwrap_or(inside);
        inside.starts_with(['{', '[']).then_some(inside)
    })
}

/// Reads one value and takes the missing for given.
struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth >= MAX_DEPTH {
            return None;
        }
        self.skip_blanks();
        match self.rest.peek()? {
            '{' => self.object(depth),
            '[' => self.list(depth),
            quote if closing(*quote).is_some() => self.quoted().map(Value::from),
            _ => Some(bare_value(&self.bare(&[',', '}', ']', '\n']))),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.rest.next();
        let mut members = Object::new();
        loop {
            self.skip_blanks_and(',');
            match self.rest.peek() {
                None => break,
                Some('}') => {
                    self.rest.next();
                    break;
                }
                // The end of something around it: this one was not closed.
                Some(']') => break,
                Some(_) => {}
            }
            let name: Arc<str> = match self.quoted() {
                Some(name) => name.into(),
                None => self.bare(&[':', ',', '}', ']']).trim().into(),
            };
            self.skip_blanks();
            if self.rest.peek() == Some(&':') {
                self.rest.next();
                let value = self.value(depth + 1).unwrap_or_default();
                members.insert(name, value);
            }
        }
        Some(members.into())
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.rest.next();
        let mut items = Vec::new();
        loop {
            self.skip_blanks_and(',');
            match self.rest.peek() {
                None => break,
                Some(']') => {
                    self.rest.next();
                    break;
                }
                Some('}') => break,
                Some(_) => items.push(self.value(depth + 1)?),
            }
        }
        Some(items.into())
    }

    /// A text in quotes of any kind, if one begins here. A quote inside it that is not escaped is part of it, unless
    /// what follows can only come after a text.
    fn quoted(&mut self) -> Option<String> {
        let close = closing(*self.rest.peek()?)?;
        self.rest.next();
        let mut text = String::new();
        while let Some(c) = self.rest.next() {
            if c == '\\' {
                self.escaped(&mut text);
            } else if c == close && self.ends_a_text() {
                return Some(text);
            } else {
                text.push(c);
            }
        }
        Some(text)
    }

    fn ends_a_text(&self) -> bool {
        let mut ahead = self.rest.clone();
        let next = ahead.find(|c| !c.is_whitespace());
        next.is_none_or(|c| matches!(c, ',' | ':' | '}' | ']'))
    }

    fn escaped(&mut self, text: &mut String) {
        match self.rest.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('u') => self.escaped_unit(text),
            Some(other) => text.push(other),
            None => {}
        }
    }

    /// `\uXXXX`, two of them where they are a pair.
    fn escaped_unit(&mut self, text: &mut String) {
        let Some(first) = self.hexadecimal() else {
            text.push_str("\\u");
            return;
        };
        let mut ahead = self.rest.clone();
        let paired = (ahead.next(), ahead.next()) == (Some('\\'), Some('u'));
        let mut units = vec![first];
        if paired && (0xD800..0xDC00).contains(&first) {
            self.rest = ahead;
            units.extend(self.hexadecimal());
        }
        text.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
    }

    fn hexadecimal(&mut self) -> Option<u16> {
        let digits: String = self.rest.clone().take(4).collect();
        let unit = u16::from_str_radix(&digits, 16)
            .ok()
            .filter(|_| digits.len() == 4)?;
        self.rest.nth(3);
        Some(unit)
    }

    /// What stands before one of these, at least one character.
    fn bare(&mut self, ends: &[char]) -> String {
        let mut text = String::new();
        text.extend(self.rest.next());
        while let Some(c) = self.rest.next_if(|c| !ends.contains(c)) {
            text.push(c);
        }
        text
    }

    fn skip_blanks_and(&mut self, also: char) {
        self.skip_blanks();
        while self.rest.next_if_eq(&also).is_some() {
            self.skip_blanks();
        }
    }

    /// Passes over white space and comments.
    fn skip_blanks(&mut self) {
        loop {
            while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
            let mut ahead = self.rest.clone();
            match (ahead.next(), ahead.next()) {
                (Some('/'), Some('/')) => while self.rest.next_if(|c| *c != '\n').is_some() {},
                (Some('/'), Some('*')) => {
                    let mut before = ' ';
                    let end = |c: char| {
                        let end = before == '*' && c == '/';
                        before = c;
                        end
                    };
                    if !ahead.any(end) {
                        return self.rest.by_ref().for_each(drop);
                    }
                    self.rest = ahead;
                }
                _ => return,
            }
        }
    }
}

/// The quote that closes one opened by this.
fn closing(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

/// A value without quotes, in the spelling of JSON, JavaScript or Python; any other is text.
fn bare_value(text: &str) -> Value {
    let text = text.trim();
    match text {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        "null" | "None" | "undefined" | "NaN" | "" => Value::Null,
        _ => match Number::parse(text) {
            Some(number) => Value::Number(number),
            None => Value::from(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> serde_json::Value {
        json_of(text).unwrap_or_else(|| panic!("nothing in {text:?}"))
    }

    fn json_of(text: &str) -> Option<serde_json::Value> {
        super::json(text).map(|value| value.to_json())
    }

    #[test]
    fn well_formed_json_is_read_as_it_is() {
        assert_eq!(
            read(r#" {"a": "it's \"1\"", "b": [1, 2.0]} "#),
            json!({"a": "it's \"1\"", "b": [1, 2.0]})
        );
        assert_eq!(read("[1]"), json!([1]));
    }

    #[test]
    fn json_is_found_in_prose_fences_and_after_thoughts() {
        assert_eq!(
            read("Here you are:\n```json\n{\"a\": 1}\n```\nDone {b}."),
            json!({"a": 1})
        );
        assert_eq!(read("```\n[1, 2]\n```"), json!([1, 2]));
        assert_eq!(read("As [ID:3] says: {\"a\": 1}. Yes."), json!({"a": 1}));
        assert_eq!(
            read("<think>{\"no\": 1}</think>{\"a\": 1}"),
            json!({"a": 1})
        );
    }

    #[test]
    fn what_is_broken_is_read_as_it_was_meant() {
        assert_eq!(read("{a: 5, 'b': [1, 2"), json!({"a": 5, "b": [1, 2]}));
        assert_eq!(
            read(r#"{"a": True, "b": None, "c": 1,}"#),
            json!({"a": true, "b": null, "c": 1})
        );
        assert_eq!(
            read("{\"a\": \"two\nlines\", // note\n \"b\": /* x */ word }"),
            json!({"a": "two\nlines", "b": "word"})
        );
        assert_eq!(
            read(r#"{"say": "he said "hi" to me", "n": 1}"#),
            json!({"say": "he said \"hi\" to me", "n": 1})
        );
        assert_eq!(read(r#"{“a”: “b”}"#), json!({"a": "b"}));
        assert_eq!(read(r#"{'a': '\u00e9\ud83d\ude00'}"#), json!({"a": "é😀"}));
        assert_eq!(
            read("{\"a\": {\"b\": [1, {\"c\": 2]}"),
            json!({"a": {"b": [1, {"c": 2}]}})
        );
    }

    #[test]
    fn prose_holds_no_json() {
        assert_eq!(json_of("no json here"), None);
        assert_eq!(json_of(""), None);
        assert_eq!(json_of("17"), None);
    }

    #[test]
    fn nesting_without_end_is_given_up() {
        assert_eq!(json_of(&"[".repeat(100_000)), None);
        assert!(json_of(&"{a:".repeat(100_000)).is_some());
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in r#"[\[\]{}:,"'`\\u0-9a-f/* \n]{0,60}"#) {
            let _ = json_of(&text);
        }

        #[test]
        fn what_is_written_is_read_again(name in "[a-z]{1,8}", text in "\\PC{0,20}", number in any::<i64>()) {
            let value = json!({name: [text, number, null, {"x": true}]});
            prop_assert_eq!(read(&format!("So: {value} .")), value);
        }
    }
}
