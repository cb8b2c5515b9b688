//! Names of files that mean the same file on every system, and one inside the package.

use std::collections::HashMap;

use super::PackageError;

/// Bytes of a name, at most.
const LONGEST: usize = 240;

/// What is wrong with the name of a file; `None` if nothing is. A name has `/` between its parts.
pub fn fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("is empty");
    }
    if name.len() > LONGEST {
        return Some("is longer than 240 bytes");
    }
    if name.starts_with('/') {
        return Some("begins at the root of the disk");
    }
    if name.contains('\\') {
        return Some("has a backslash, which some systems take for a folder");
    }
    if name.contains(':') {
        return Some("has a colon, which some systems take for a drive");
    }
    if name.chars().any(char::is_control) {
        return Some("has a sign that cannot be seen");
    }
    for part in name.split('/') {
        match part {
            "" | "." => return Some("has an empty part"),
            ".." => return Some("leads out of the package"),
            part if part.ends_with(['.', ' ']) => {
                return Some("has a part that ends with a dot or a blank, which some systems drop");
            }
            _ => {}
        }
    }
    None
}

/// The name as it stands in a package, of a path that somebody wrote: without `./`. `None` if it leads elsewhere.
pub fn normal(path: &str) -> Option<String> {
    let mut path = path.trim();
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    fault(path).is_none().then(|| path.to_owned())
}

/// Checks names that are to stand beside one another.
pub(crate) fn check_all<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), PackageError> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    let refuse = |name: &str, why| {
        let name = name.to_owned();
        Err(PackageError::Name { name, why })
    };
    let names: Vec<&String> = names.collect();
    for name in &names {
        if let Some(why) = fault(name) {
            return refuse(name, why);
        }
        if seen.insert(name.to_lowercase(), name).is_some() {
            let why = "differs from another only by capital letters, which some systems take for the same";
            return refuse(name, why);
        }
    }
    for name in &names {
        let lower = name.to_lowercase();
        let folders = lower
            .match_indices('/')
            .filter_map(|(at, _)| lower.get(..at));
        if folders.into_iter().any(|folder| seen.contains_key(folder)) {
            return refuse(name, "lies in a folder that has the name of a file");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_or_differ_between_systems_are_refused() {
        let bad = [
            "",
            "/etc/passwd",
            "../x",
            "a/../b",
            "a//b",
            "./a",
            "a/.",
            "a\\b",
            "C:x",
            "a\0b",
            "a\nb",
            "a./b",
            "nodes/x ",
        ];
        for name in bad {
            assert!(fault(name).is_some(), "{name:?}");
        }
        assert!(fault(&"a".repeat(241)).is_some());
        for name in [
            "graph.yaml",
            "nodes/fetch.py",
            "a/b/c-d_e.F",
            "é.py",
            ".hidden",
            "a b.txt",
        ] {
            assert_eq!(fault(name), None, "{name:?}");
        }
        assert_eq!(normal("./helpers.py").as_deref(), Some("helpers.py"));
        assert_eq!(normal("../helpers.py"), None);
    }

    #[test]
    fn names_that_are_one_on_some_systems_are_refused() {
        let check = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            check_all(names.iter()).map_err(|error| error.to_string())
        };
        assert!(check(&["a.py", "b.py", "a/b.py"]).is_ok());
        assert!(
            check(&["a.py", "A.py"])
                .unwrap_err()
                .contains("capital letters")
        );
        assert!(check(&["a", "A/b"]).unwrap_err().contains("folder"));
    }
}
