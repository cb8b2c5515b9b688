//! Names of secrets, and where they stand in a text.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_are_written() {
        assert_eq!(names("${A}${b_2}-${_}"), ["A", "b_2", "_"]);
        assert!(names("$A {A} ${} ${1A} ${a b} ${A $${A}").is_empty());
        assert_eq!(names("${${A}"), ["A"]);
    }
}
