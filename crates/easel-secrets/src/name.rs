//! Names of secrets, and where they stand in a text.

use easel_core::argument::Part;

/// Whether that can name a secret: letters, digits and `_`, no digit first.
pub fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The names of secrets in a text of a file, in order: each `${NAME}`. `$${NAME}` is a literal `${NAME}`.
///
/// ```
/// assert_eq!(easel_secrets::names("Bearer ${TOKEN}, not $${THIS}"), ["TOKEN"]);
/// ```
pub fn names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        rest = after;
        if before.ends_with('$') {
            continue;
        }
        if let Some((name, behind)) = after.split_once('}')
            && is_name(name)
        {
            names.push(name);
            rest = behind;
        }
    }
    names
}

/// The parts of a text of a file: text, and the secrets that are named in it. `$${NAME}` is a literal `${NAME}`.
///
/// ```
/// use easel_core::argument::Part;
/// let parts = [Part::Text("Bearer ".into()), Part::Secret("TOKEN".into())];
/// assert_eq!(easel_secrets::parts("Bearer ${TOKEN}"), parts);
/// ```
pub fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        rest = after;
        if let Some(before) = before.strip_suffix('$') {
            literal.extend([before, "${"]);
            continue;
        }
        literal.push_str(before);
        match after.split_once('}') {
            Some((name, behind)) if is_name(name) => {
                push_literal(&mut parts, &mut literal);
                parts.push(Part::Secret(name.into()));
                rest = behind;
            }
            _ => literal.push_str("${"),
        }
    }
    literal.push_str(rest);
    push_literal(&mut parts, &mut literal);
    parts
}

fn push_literal(parts: &mut Vec<Part>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(Part::Text(std::mem::take(literal).into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_are_written() {
        assert_eq!(names("${A}${b_2}-${_}"), ["A", "b_2", "_"]);
        assert!(names("$A {A} ${} ${1A} ${a b} ${A $${A}").is_empty());
        assert_eq!(names("${${A}"), ["A"]);
    }

    #[test]
    fn the_parts_of_a_text_name_the_same_secrets() {
        for text in [
            "${A}${b_2}-${_}",
            "$A ${} ${1A} ${${A}",
            "$${A}-${B",
            "a ${A} b",
            "",
        ] {
            let parts = parts(text);
            let secrets = parts.iter().filter_map(|part| match part {
                Part::Secret(name) => Some(&**name),
                Part::Text(_) => None,
            });
            assert_eq!(secrets.collect::<Vec<_>>(), names(text), "{text}");
        }
        assert_eq!(parts("$${A}-${B"), [Part::Text("${A}-${B".into())]);
    }
}
