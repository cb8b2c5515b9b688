//! Spans of time as one types them.

use std::str::FromStr;

/// A span of time as one types it: `90s`, `30m`, `12h`, `7d`, `8w`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    /// Its length in milliseconds.
    pub milliseconds: i64,
}

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Age, String> {
        let unit = match text.chars().last() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 60 * 60,
            Some('d') => 24 * 60 * 60,
            Some('w') => 7 * 24 * 60 * 60,
            _ => 0,
        };
        let count = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
        let count: Option<i64> = count.parse().ok().filter(|count| *count >= 0 && unit > 0);
        let milliseconds = count.and_then(|count| count.checked_mul(unit * 1000));
        match milliseconds {
            Some(milliseconds) => Ok(Age { milliseconds }),
            None => Err("write a number and s, m, h, d or w, such as 12h or 30d".to_owned()),
        }
    }
}
