//! Where delimiters stand in a text.

use std::ops::Range;

use super::too_many;
use crate::error::KnowledgeError;

/// Parts of a text at most.
const PARTS: usize = 1_000_000;

/// The parts of a text between delimiters, in order. With `keep` each delimiter ends the part before it; without, it is left
/// out. Of delimiters that begin at one place the longest counts.
pub(super) fn parts(
    text: &str,
    delimiters: &[String],
    keep: bool,
) -> Result<Vec<Range<usize>>, KnowledgeError> {
    let mut delimiters: Vec<&str> = delimiters
        .iter()
        .map(String::as_str)
        .filter(|delimiter| !delimiter.is_empty())
        .collect();
    delimiters.sort_by_key(|delimiter| std::cmp::Reverse(delimiter.len()));
    let is_blank = |part: &Range<usize>| text[part.clone()].trim().is_empty();
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        match delimiters.iter().find(|d| rest.starts_with(**d)) {
            Some(delimiter) => {
                let end = if keep { at + delimiter.len() } else { at };
                parts.extend(Some(from..end).filter(|part| !is_blank(part)));
                at += delimiter.len();
                from = at;
                if parts.len() > PARTS {
                    return Err(too_many());
                }
            }
            None => at += c.len_utf8(),
        }
    }
    parts.extend(Some(from..text.len()).filter(|part| !is_blank(part)));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut<'t>(text: &'t str, delimiters: &[&str], keep: bool) -> Vec<&'t str> {
        let delimiters: Vec<_> = delimiters.iter().map(|d| (*d).to_owned()).collect();
        let parts = parts(text, &delimiters, keep).unwrap().into_iter();
        parts.map(|part| &text[part]).collect()
    }

    #[test]
    fn delimiters_end_parts_or_are_left_out() {
        assert_eq!(cut("a;b;;c", &[";"], false), ["a", "b", "c"]);
        assert_eq!(cut("一。二。", &["。"], true), ["一。", "二。"]);
        assert_eq!(cut("a##b#c", &["#", "##"], false), ["a", "b", "c"]);
        assert_eq!(cut("as it is", &["", "zz"], false), ["as it is"]);
    }

    proptest! {
        #[test]
        fn with_delimiters_kept_nothing_visible_is_lost(text in "[a-c;\\n ]{0,40}") {
            let parts = parts(&text, &[";".to_owned(), "\n".to_owned()], true).unwrap();
            let joined: String = parts.into_iter().map(|part| &text[part]).collect();
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            prop_assert_eq!(letters(&joined), letters(&text));
        }
    }
}
