//! Patterns that find headings and tell their levels.

use regex::{Regex, RegexBuilder};

use crate::error::KnowledgeError;
use crate::reading::leads_to_a_page;

/// Patterns at most.
const PATTERNS: usize = 200;

/// Bytes that a compiled pattern may take.
const COMPILED: usize = 1 << 20;

/// Families of patterns.
pub(super) struct Levels(Vec<Family>);

/// Patterns that belong together: the first finds headings of level 1, and so on.
pub(super) struct Family(Vec<Option<Regex>>);

impl Levels {
    /// Compiles patterns; a blank one finds nothing.
    pub(super) fn read(levels: &[Vec<String>]) -> Result<Levels, KnowledgeError> {
        if levels.iter().map(Vec::len).sum::<usize>() > PATTERNS {
            return Err(KnowledgeError::Invalid {
                what: "the patterns of headings".into(),
                problem: format!(
                    "there are more than {PATTERNS}. Leave out those that find nothing"
                ),
            });
        }
        let family = |patterns: &Vec<String>| {
            let patterns = patterns.iter().map(|pattern| compiled(pattern));
            patterns.collect::<Result<_, KnowledgeError>>().map(Family)
        };
        let families = levels.iter().map(family);
        families.collect::<Result<_, _>>().map(Levels)
    }

    /// The family that finds most headings in these lines, the first of several. `None`: none finds any.
    pub(super) fn family<'l>(
        &self,
        lines: impl Iterator<Item = &'l str> + Clone,
    ) -> Option<&Family> {
        let mut best: Option<(usize, &Family)> = None;
        for family in &self.0 {
            let hits = lines.clone().filter(|line| family.level(line).is_some());
            let hits = hits.count();
            if hits > best.map_or(0, |(most, _)| most) {
                best = Some((hits, family));
            }
        }
        best.map(|(_, family)| family)
    }
}

impl Family {
    /// The level of a line, if it is a heading.
    pub(super) fn level(&self, line: &str) -> Option<usize> {
        let line = line.trim();
        let mut patterns = self.0.iter().enumerate();
        let found = patterns.find(|(_, pattern)| {
            let pattern = pattern.as_ref();
            pattern.is_some_and(|pattern| pattern.is_match(line))
        });
        found
            .filter(|_| !leads_to_a_page(line))
            .map(|(at, _)| at + 1)
    }
}

/// Compiles a pattern that must fit from the start of a line on.
fn compiled(pattern: &str) -> Result<Option<Regex>, KnowledgeError> {
    if pattern.is_empty() {
        return Ok(None);
    }
    let built = RegexBuilder::new(&format!("^(?:{})", with_lower_bounds(pattern)))
        .size_limit(COMPILED)
        .build();
    built.map(Some).map_err(|error| {
        let error = error.to_string();
        let why = error.lines().last().unwrap_or_default();
        KnowledgeError::Invalid {
            what: format!("the pattern {pattern:?}"),
            problem: format!(
                "it is no regular expression that can be used ({}). Look-around and back references are not known here",
                why.trim_start_matches("error: ")
            ),
        }
    })
}

/// Writes the `{,n}` of Python as `{0,n}`.
fn with_lower_bounds(pattern: &str) -> String {
    pattern.replace("{,", "{0,")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(families: &[&[&str]]) -> Levels {
        let families: Vec<Vec<String>> = families
            .iter()
            .map(|family| family.iter().map(|p| (*p).to_owned()).collect())
            .collect();
        Levels::read(&families).unwrap()
    }

    #[test]
    fn the_family_that_finds_most_counts() {
        let levels = levels(&[
            &["^#[^#]", "^##[^#]"],
            &["[0-9]+\\. ", "[\\(（][0-9]{,2}[\\)）]"],
        ]);
        let text = [
            "# Title",
            "1. First",
            "(12) inner",
            "2. Second",
            "no heading 3. here",
        ];
        let family = levels.family(text.iter().copied()).unwrap();
        let found: Vec<_> = text.iter().map(|line| family.level(line)).collect();
        assert_eq!(found, [None, Some(1), Some(2), Some(1), None]);
        assert!(levels.family(["plain"].into_iter()).is_none());
    }

    #[test]
    fn a_line_of_a_table_of_contents_is_no_heading() {
        let levels = levels(&[&["[0-9]+\\. "]]);
        let family = levels.family(["1. Install"].into_iter()).unwrap();
        assert_eq!(family.level("1. Install ........ 7"), None);
        assert_eq!(family.level("1. Install 7"), Some(1));
    }

    #[test]
    fn a_pattern_that_cannot_be_used_is_named() {
        let read = Levels::read(&[vec!["(?<=a)b".to_owned()]]);
        let told = read.err().map(|error| error.to_string()).unwrap();
        assert!(
            told.starts_with("the pattern \"(?<=a)b\" cannot be used: "),
            "{told}"
        );
        assert!(told.contains("look-around"), "{told}");
    }
}
