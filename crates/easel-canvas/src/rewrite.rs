//! Changing texts of a file where they stand, every other byte left as it is.

use std::fmt::Write;

use crate::scan::{At, Scanner, Token};

/// The JSON with some of its texts replaced: `change` is asked for each text that is the value of a member, with the
/// member's name, and gives what stands there from now on.
///
/// Names, numbers, white space and the order of things stay byte for byte. Text that is no JSON is given back as far as it
/// was understood and unchanged from there on.
pub fn member_texts(text: &str, change: &mut dyn FnMut(&str, &str) -> Option<String>) -> String {
    let mut scanner = Scanner::new(text, usize::MAX);
    let mut rewritten = String::with_capacity(text.len());
    let mut written = 0;
    while let Ok(Some(token)) = scanner.token() {
        let Token::Scalar(range) = token else {
            continue;
        };
        let is_text = text.get(range.clone()).is_some_and(|t| t.starts_with('"'));
        let name = scanner.open().last().and_then(|open| match &open.at {
            At::Member(name) => Some(scanner.text_at(name)),
            At::NoMember | At::Item(_) => None,
        });
        let Some(name) = name.filter(|_| is_text) else {
            continue;
        };
        if let Some(new) = change(&name, &scanner.text_at(&range)) {
            rewritten.push_str(text.get(written..range.start).unwrap_or_default());
            // Writing to a string does not fail.
            let _ = write!(rewritten, "{}", serde_json::Value::from(new));
            written = range.end;
        }
    }
    rewritten.push_str(text.get(written..).unwrap_or_default());
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(text: &str) -> String {
        member_texts(text, &mut |name, value| {
            (name == "key" && value == "a\"b").then(|| "${KEY}".to_owned())
        })
    }

    #[test]
    fn only_the_texts_that_are_meant_change() {
        let text = "{ \"key\" :\t\"a\\\"b\",\n \"other\": \"a\\\"b\", \"list\": [\"a\\\"b\", {\"key\":\"\\u0061\\\"b\"}], \"n\": 1.50 }\n";
        let expected = "{ \"key\" :\t\"${KEY}\",\n \"other\": \"a\\\"b\", \"list\": [\"a\\\"b\", {\"key\":\"${KEY}\"}], \"n\": 1.50 }\n";
        assert_eq!(hide(text), expected);
    }

    #[test]
    fn what_is_no_json_stays_from_there_on() {
        assert_eq!(
            hide("{\"key\": \"a\\\"b\", oops \"key\": \"a\\\"b\"}"),
            "{\"key\": \"${KEY}\", oops \"key\": \"a\\\"b\"}"
        );
    }
}
