//! One thing that is not as expected, for people.

use std::fmt;

use serde_json::Value as Json;

use super::same::same;

/// One thing that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What differs.
    what: String,
    /// Each place in it that does: where, what is wanted, what is there.
    places: Vec<(String, String, String)>,
    /// How many more places there are.
    more: usize,
}

/// Places of one thing that are shown, at most.
const SHOWN: usize = 4;

/// The longest value that is shown, in characters.
const LONGEST: usize = 300;

impl Difference {
    /// Two things in words.
    pub fn new(what: &str, wanted: &str, got: &str) -> Difference {
        Difference {
            what: what.to_owned(),
            places: vec![(String::new(), wanted.to_owned(), got.to_owned())],
            more: 0,
        }
    }

    /// Two values, down to the parts of them that differ.
    pub fn of_values(what: String, wanted: &Json, got: &Json) -> Difference {
        let mut places = Vec::new();
        descend(wanted, got, String::new(), &mut places);
        let more = places.len().saturating_sub(SHOWN);
        places.truncate(SHOWN);
        Difference { what, places, more }
    }
}

/// Finds the innermost parts that differ.
fn descend(wanted: &Json, got: &Json, at: String, places: &mut Vec<(String, String, String)>) {
    match (wanted, got) {
        _ if same(wanted, got) => {}
        (Json::Object(wanted), Json::Object(got)) if !wanted.contains_key("$sha256") => {
            for (name, wanted) in wanted {
                let at = format!("{at}.{name}");
                match got.get(name) {
                    Some(got) => descend(wanted, got, at, places),
                    None => places.push((at, short(wanted), NOTHING.to_owned())),
                }
            }
            for (name, got) in got.iter().filter(|(name, _)| !wanted.contains_key(*name)) {
                places.push((format!("{at}.{name}"), NOTHING.to_owned(), short(got)));
            }
        }
        (Json::Array(wanted), Json::Array(got)) => {
            let longest = wanted.len().max(got.len());
            for index in 0..longest {
                let at = format!("{at}.{index}");
                match (wanted.get(index), got.get(index)) {
                    (Some(wanted), Some(got)) => descend(wanted, got, at, places),
                    (wanted, got) => places.push((at, or_nothing(wanted), or_nothing(got))),
                }
            }
        }
        _ => places.push((at, short(wanted), short(got))),
    }
}

const NOTHING: &str = "(nothing)";

fn or_nothing(value: Option<&Json>) -> String {
    value.map_or(NOTHING.to_owned(), short)
}

/// A value as JSON, cut where it is long.
pub fn short(value: &Json) -> String {
    let text = value.to_string();
    let mut cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        for (at, wanted, got) in &self.places {
            if let Some(at) = at.strip_prefix('.') {
                write!(f, "\n  at {at}")?;
            }
            write!(f, "\n    expected  {wanted}\n    got       {got}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n  and at {more} more places"),
        }
    }
}
