//! The cases of a Switch as expressions, for the operators that mean the same in both.

use serde_json::{Value, json};

/// The tests of one case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case<T> {
    /// Whether one test is enough.
    pub any: bool,
    pub tests: Vec<Test<T>>,
}

/// One test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Test<T> {
    pub left: T,
    /// As canvases write it.
    pub operator: String,
    /// Text, a number, or nothing.
    pub right: Value,
}

/// How a test on text is written: the operator, what stands before the function, the function.
const FUNCTIONS: [(&str, &str, &str); 4] = [
    ("contains", "", "contains"),
    ("not contains", "not ", "contains"),
    ("start with", "", "startswith"),
    ("end with", "", "endswith"),
];

/// How a comparison is written.
const COMPARISONS: [(&str, &str); 6] = [
    ("=", "=="),
    ("≠", "!="),
    ("≥", ">="),
    ("≤", "<="),
    (">", ">"),
    ("<", "<"),
];

/// Whether a test compares text, and is the same in both dialects for text alone.
pub(crate) fn compares_text(operator: &str) -> bool {
    matches!(operator, "=" | "≠") || FUNCTIONS.iter().any(|(known, ..)| *known == operator)
}

/// Whether a test compares numbers.
pub(crate) fn compares_numbers(operator: &str) -> bool {
    matches!(operator, ">" | "<" | "≥" | "≤")
}

/// The expression that holds when the case does; `None` if there is none that surely means the same.
pub(crate) fn expression(case: &Case<String>) -> Option<String> {
    if case.tests.is_empty() {
        return None;
    }
    let tests: Option<Vec<String>> = case.tests.iter().map(test).collect();
    let expression = tests?.join(if case.any { " or " } else { " and " });
    // A name may be a word of the language.
    easel_core::expression::parse(&expression).ok()?;
    Some(expression)
}

fn test(test: &Test<String>) -> Option<String> {
    let left = &test.left;
    let operator = test.operator.as_str();
    match operator {
        "empty" => return Some(format!("not {left}")),
        "not empty" => return Some(format!("bool({left})")),
        _ => {}
    }
    let function = FUNCTIONS.iter().find(|(known, ..)| *known == operator);
    if let Some((_, before, function)) = function {
        let right = quoted(test.right.as_str()?);
        return Some(format!("{before}{function}(lower({left}), lower({right}))"));
    }
    let (_, sign) = COMPARISONS.iter().find(|(known, _)| *known == operator)?;
    let right = match (&test.right, compares_numbers(operator)) {
        (Value::String(text), false) => quoted(text),
        (Value::Number(number), true) => number.to_string(),
        (Value::String(text), true) => text
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())?
            .to_string(),
        _ => return None,
    };
    Some(format!("{left} {sign} {right}"))
}

/// The case that an expression says, if it is one that [`expression`] writes.
pub(crate) fn case(text: &str) -> Option<Case<String>> {
    let mut rest = text.trim();
    let mut tests = Vec::new();
    let mut any = None;
    loop {
        let (test, behind) = read_test(rest)?;
        tests.push(test);
        let behind = behind.trim_start();
        if behind.is_empty() {
            break;
        }
        let (word, behind) = behind.split_once(' ')?;
        let or = match word {
            "or" => true,
            "and" => false,
            _ => return None,
        };
        if any.is_some_and(|any| any != or) {
            return None;
        }
        any = Some(or);
        rest = behind.trim_start();
    }
    Some(Case {
        any: any.unwrap_or(false),
        tests,
    })
}

fn read_test(text: &str) -> Option<(Test<String>, &str)> {
    for (operator, before, function) in FUNCTIONS {
        let Some(rest) = text.strip_prefix(before) else {
            continue;
        };
        let Some(rest) = rest
            .strip_prefix(function)
            .and_then(|rest| rest.strip_prefix("(lower("))
        else {
            continue;
        };
        let (left, rest) = read_name(rest)?;
        let rest = rest.strip_prefix("), lower(")?;
        let (right, rest) = read_text(rest)?;
        return Some((made(left, operator, right.into()), rest.strip_prefix("))")?));
    }
    if let Some(rest) = text.strip_prefix("bool(") {
        let (left, rest) = read_name(rest)?;
        return Some((made(left, "not empty", json!("")), rest.strip_prefix(')')?));
    }
    if let Some(rest) = text.strip_prefix("not ") {
        let (left, rest) = read_name(rest)?;
        return Some((made(left, "empty", json!("")), rest));
    }
    let (left, rest) = read_name(text)?;
    let rest = rest.trim_start();
    let (operator, sign) = COMPARISONS
        .iter()
        .find(|(_, sign)| rest.starts_with(sign))?;
    let rest = rest.strip_prefix(sign)?.trim_start();
    let (right, rest) = match compares_numbers(operator) {
        true => read_number(rest)?,
        false => read_text(rest).map(|(text, rest)| (text.into(), rest))?,
    };
    Some((made(left, operator, right), rest))
}

fn made(left: &str, operator: &str, right: Value) -> Test<String> {
    Test {
        left: left.to_owned(),
        operator: operator.to_owned(),
        right,
    }
}

/// Names with dots between them.
fn read_name(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    name.split('.')
        .all(crate::names::is_identifier)
        .then_some((name, rest))
}

fn read_number(text: &str) -> Option<(Value, &str)> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-')))
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((serde_json::from_str(number).ok()?, rest))
}

/// A text in quotes, as [`quoted`] writes it or in double quotes.
fn read_text(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut said = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => said.push(match letters.next()?.1 {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other @ ('\\' | '\'' | '"') => other,
                _ => return None,
            }),
            letter if letter == quote => return Some((said, text.get(at + 1..)?)),
            letter => said.push(letter),
        }
    }
    None
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        match letter {
            '\\' => quoted.push_str("\\\\"),
            '\'' => quoted.push_str("\\'"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            letter => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tests() -> impl Strategy<Value = Test<String>> {
        let operator = prop::sample::select(vec![
            "contains",
            "not contains",
            "start with",
            "end with",
            "empty",
            "not empty",
            "=",
            "≠",
            ">",
            "<",
            "≥",
            "≤",
        ]);
        (
            operator,
            "v[a-z_]{0,4}(\\.v[a-z_]{0,4}){0,2}",
            any::<String>(),
            -999_i64..999,
        )
            .prop_map(|(operator, left, text, number)| Test {
                right: match operator {
                    "empty" | "not empty" => json!(""),
                    operator if compares_numbers(operator) => json!(number),
                    _ => json!(text),
                },
                left,
                operator: operator.to_owned(),
            })
    }

    proptest! {
        #[test]
        fn a_case_is_what_its_expression_says(tests in prop::collection::vec(tests(), 1..4), any: bool) {
            let case = Case { any: any && tests.len() > 1, tests };
            let text = expression(&case).unwrap();
            prop_assert!(easel_core::expression::parse(&text).is_ok(), "{}", text);
            prop_assert_eq!(super::case(&text), Some(case), "{}", text);
        }

        #[test]
        fn no_text_is_too_odd_to_be_looked_at(text: String) {
            super::case(&text);
        }
    }

    #[test]
    fn what_a_switch_cannot_say_is_no_case() {
        for text in [
            "a and b or c",
            "len(a) > 1",
            "a == b",
            "a > 'x'",
            "not a and",
            "a == 'x",
            "a <= 1 or (b)",
            "",
        ] {
            assert_eq!(case(text), None, "{text}");
        }
    }
}
