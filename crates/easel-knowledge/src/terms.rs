//! The words of a text as the index keeps them.
//!
//! Letters lose their case, their accents and their width; English words lose the commonest of their endings. A script
//! without spaces gives each two neighbouring characters as a term, and the last one of a run alone: so a query of one
//! character finds it as the beginning of a term.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::tokens::has_no_spaces;

/// Characters of a term that count. Longer ones are no words.
const LONGEST: usize = 64;

/// The terms of a text, in order, with repetitions.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut word = String::new();
    let mut run: Vec<char> = Vec::new();
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)).nfc() {
        let alone = has_no_spaces(c);
        if !alone {
            end_run(&mut run, &mut terms);
        }
        if alone && c.is_alphanumeric() {
            end_word(&mut word, &mut terms);
            run.push(c);
        } else if !alone && (c.is_alphanumeric() || c == '_') {
            word.extend(
                c.to_lowercase()
                    .filter(|c| c.is_alphanumeric() || *c == '_'),
            );
        } else {
            end_word(&mut word, &mut terms);
            end_run(&mut run, &mut terms);
        }
    }
    end_word(&mut word, &mut terms);
    end_run(&mut run, &mut terms);
    terms
}

/// A term that a query looks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QueryTerm {
    pub(crate) text: String,
    /// Terms that begin so are meant, too.
    pub(crate) prefix: bool,
}

impl QueryTerm {
    /// Whether a term of a passage is meant.
    pub(crate) fn is(&self, term: &str) -> bool {
        match self.prefix {
            true => term.starts_with(&self.text),
            false => term == self.text,
        }
    }
}

/// Terms of a query that are looked for at most.
const QUERY: usize = 64;

/// Words that questions are made of and that say nothing of what they are about.
const QUESTION_WORDS: &[&str] = &[
    "a", "about", "after", "am", "an", "and", "any", "are", "as", "at", "be", "been", "before",
    "but", "by", "can", "could", "did", "do", "does", "for", "from", "get", "had", "has", "have",
    "how", "i", "if", "in", "into", "is", "it", "its", "long", "many", "may", "me", "much", "my",
    "no", "not", "of", "on", "one", "or", "our", "should", "so", "some", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "to", "was", "we", "were", "what",
    "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "would", "you",
    "your", "什么", "怎么", "如何", "哪些", "为什", "多少", "是否", "可以",
];

/// The terms a query looks for, each once. Words that only make it a question are left out, unless there are no others.
pub(crate) fn query_terms(query: &str) -> Vec<QueryTerm> {
    let mut wanted: Vec<QueryTerm> = Vec::new();
    let mut last_pair: Option<String> = None;
    let stops: Vec<String> = QUESTION_WORDS
        .iter()
        .filter_map(|word| terms(word).into_iter().next())
        .collect();
    for term in terms(query) {
        let mut chars = term.chars();
        let (first, second) = (chars.next(), chars.next());
        let alone = second.is_none() && first.is_some_and(has_no_spaces);
        // The last character of a run stands in the pair before it.
        let in_pair = alone && last_pair.take().is_some_and(|pair| pair.ends_with(&term));
        last_pair = (second.is_some() && first.is_some_and(has_no_spaces)).then(|| term.clone());
        let term = QueryTerm {
            text: term,
            prefix: alone,
        };
        if !in_pair && !wanted.contains(&term) && wanted.len() < 4 * QUERY {
            wanted.push(term);
        }
    }
    let says_something = |term: &QueryTerm| !stops.contains(&term.text);
    if wanted.iter().any(says_something) {
        wanted.retain(says_something);
    }
    wanted.truncate(QUERY);
    wanted
}

fn end_word(word: &mut String, terms: &mut Vec<String>) {
    let whole = std::mem::take(word);
    let whole = whole.trim_matches('_');
    if !whole.is_empty() {
        let short: String = whole.chars().take(LONGEST).collect();
        terms.push(stem(&short).to_owned());
    }
}

fn end_run(run: &mut Vec<char>, terms: &mut Vec<String>) {
    let pairs = run.windows(2).map(|pair| pair.iter().collect());
    terms.extend(pairs);
    terms.extend(run.last().map(char::to_string));
    run.clear();
}

/// Endings and what is kept of them, the first that fits. Four letters must be left, or three before an `at`.
const ENDINGS: [(&str, &str); 11] = [
    ("ations", "at"),
    ("ation", "at"),
    ("ating", "at"),
    ("ated", "at"),
    ("ates", "at"),
    ("ate", "at"),
    ("ies", ""),
    ("ing", ""),
    ("ed", ""),
    ("es", ""),
    ("y", ""),
];

/// An English word without the commonest endings: `install`, `installed`, `installing` are one term, `policy` and
/// `policies`, too.
fn stem(word: &str) -> &str {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    for (ending, kept) in ENDINGS {
        let left = word.len().saturating_sub(ending.len());
        if word.ends_with(ending) && left + kept.len().min(1) >= 4 {
            return without_double(&word[..left + kept.len()]);
        }
    }
    let plural = |rest: &&str| rest.len() >= 3 && !rest.ends_with(['s', 'u', 'i']);
    let one = word.strip_suffix('s').filter(plural).unwrap_or(word);
    let mute = one.strip_suffix('e').filter(|rest| rest.len() >= 4);
    without_double(mute.unwrap_or(one))
}

/// `stopp` from `stopped` as `stop`; `install` from `installed` stays, for it is the word.
fn without_double(word: &str) -> &str {
    match word.as_bytes() {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z') && word.len() > 4 => {
            &word[..word.len() - 1]
        }
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_found_in_their_other_forms() {
        for forms in [
            &["install", "installs", "installed", "installing"][..],
            &["configuration", "configurations"],
            &["policy", "policies"],
            &["key", "keys"],
            &["licence", "licences"],
            &["rotate", "rotated", "rotating", "rotation", "rotates"],
            &["stopped", "stopping"],
            &["Straße", "strasse", "STRASSE"][..1],
            &["Café", "cafe", "ＣＡＦＥ"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| terms(form)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
        for (one, other) in [
            ("state", "station"),
            ("bus", "bu"),
            ("status", "statu"),
            ("date", "dat"),
        ] {
            assert_ne!(terms(one), terms(other));
        }
    }

    #[test]
    fn chinese_gives_pairs_and_the_last_character() {
        assert_eq!(terms("知识库"), ["知识", "识库", "库"]);
        assert_eq!(
            terms("安装 Easel 服务"),
            ["安装", "装", "easel", "服务", "务"]
        );
    }

    #[test]
    fn a_query_is_asked_by_what_it_is_about() {
        let words = |query| {
            query_terms(query)
                .into_iter()
                .map(|t| t.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(words("How do I install the server?"), ["install", "server"]);
        assert_eq!(words("what is it"), ["what", "is", "it"]);
        assert_eq!(words("知识库"), ["知识", "识库"]);
        let one = query_terms("库");
        assert!(one[0].prefix && one[0].is("库存") && one[0].is("库") && !one[0].is("识库"));
    }

    #[test]
    fn signs_are_no_terms() {
        assert_eq!(terms("a-b: \"c\" (d_e) __ — !"), ["a", "b", "c", "d_e"]);
    }

    proptest! {
        #[test]
        fn a_term_has_no_blank_and_no_quote(text in any::<String>()) {
            prop_assert!(terms(&text).iter().all(|t| !t.is_empty() && !t.contains([' ', '"'])));
        }
    }
}
