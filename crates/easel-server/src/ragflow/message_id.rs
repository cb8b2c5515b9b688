//! The ids of messages. A run that asks has several turns, and what is said in each has an id of its own, from which the run
//! is found again.

/// The id of what is said in a turn of a run, from 0; the first one has the run's own.
pub(super) fn of(run: &str, turn: usize) -> String {
    mixed(run, turn).unwrap_or_else(|| run.to_owned())
}

/// The runs that a message may be of, each with the turn it would be.
pub(super) fn candidates(message: &str) -> impl Iterator<Item = (String, usize)> {
    (0..TURNS).filter_map(move |turn| Some((mixed(message, turn)?, turn)))
}

/// The most turns of a run whose messages are found.
const TURNS: usize = 256;
/// The drawn digits at the end of an id.
const DIGITS: usize = 4;

/// Mixing in the same number again gives what was there before.
fn mixed(id: &str, turn: usize) -> Option<String> {
    let at = id.len().checked_sub(DIGITS)?;
    let digits = u16::from_str_radix(id.get(at..)?, 16).ok()?;
    let turn = u16::try_from(turn % 0x1_0000).ok()?;
    Some(format!("{}{:04x}", id.get(..at)?, digits ^ turn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_by_what_was_said_in_any_turn() {
        let run = "0192f3c4d5e67f8091a2b3c4d5e6ffff";
        assert_eq!(of(run, 0), run);
        let third = of(run, 2);
        assert_ne!(third, run);
        assert!(candidates(&third).any(|found| found == (run.to_owned(), 2)));
        assert_eq!(of("run-1", 0), "run-1", "no id of ours");
        assert!(candidates("é").next().is_none());
    }
}
