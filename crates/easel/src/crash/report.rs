//! What a crash test found, for people and for programs.

use serde::Serialize;
use serde_json::Value as Json;

use super::moments::Described;
use crate::out;

/// What one kill came to.
#[derive(Clone, Debug, Serialize)]
pub struct Killed {
    /// Which moment, from 1.
    pub number: u64,
    /// When it was.
    #[serde(flatten)]
    pub moment: Described,
    /// Whose attempts were made again.
    pub made_again: Vec<String>,
    /// What it came to.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What a kill came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// It ended as the undisturbed run.
    Same,
    /// The run waits for somebody to decide, as it should: its write was cut in half.
    Undecided {
        /// What is to be decided.
        questions: Vec<String>,
    },
    /// It ended otherwise.
    Differs {
        /// In what.
        differences: Vec<String>,
    },
}

/// What a crash test found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The workflow.
    pub file: String,
    /// Where the undisturbed run stood in the end.
    pub undisturbed: Vec<String>,
    /// What it changed outside.
    pub effects: usize,
    /// How many kills ended as the undisturbed run.
    pub same: usize,
    /// How many wait for a decision.
    pub undecided: usize,
    /// How many ended otherwise.
    pub differ: usize,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
    /// Each kill.
    pub kills: Vec<Killed>,
}

impl Report {
    /// Counts the verdicts.
    pub fn count(&mut self) {
        let count = |is: fn(&Verdict) -> bool| {
            let these = self.kills.iter().filter(|killed| is(&killed.verdict));
            these.count()
        };
        self.same = count(|verdict| *verdict == Verdict::Same);
        self.undecided = count(|verdict| matches!(verdict, Verdict::Undecided { .. }));
        self.differ = count(|verdict| matches!(verdict, Verdict::Differs { .. }));
    }

    /// Writes it as one line of JSON.
    pub fn print_json(&self) {
        let json = serde_json::to_string(self).unwrap_or_default();
        out::line(&json);
    }

    /// Writes the last lines for people.
    pub fn print_summary(&self) {
        let seconds = self.milliseconds as f64 / 1000.0;
        let kills = match self.kills.len() {
            1 => "1 kill".to_owned(),
            kills => format!("{kills} kills"),
        };
        let mut line = format!(
            "{}: {kills} in {seconds:.1} s: {} same",
            self.file, self.same
        );
        if self.undecided > 0 {
            line += &format!(", {} wait for a decision", self.undecided);
        }
        line += &match self.differ {
            0 => String::from(", none different"),
            differ => format!(", {differ} DIFFERENT"),
        };
        out::line(&line);
        let effects = match self.effects {
            0 => "nothing changed outside".to_owned(),
            1 => "1 effect outside, made once each time".to_owned(),
            count => format!("{count} effects outside, each made once each time"),
        };
        let ended = self.undisturbed.join(", then ");
        match self.differ {
            0 => out::line(&format!("undisturbed: {ended}; {effects}")),
            _ => out::line(&format!("undisturbed: {ended}")),
        }
    }
}

impl Killed {
    /// Writes it for people.
    pub fn print(&self) {
        let mark = match self.verdict {
            Verdict::Same => "✓",
            Verdict::Undecided { .. } => "?",
            Verdict::Differs { .. } => "✗",
        };
        let mut line = format!("{mark} {:>3}  killed {}", self.number, self.moment.when);
        let names = |names: &[String]| {
            let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            quoted.join(", ")
        };
        if !self.moment.under_way.is_empty() {
            line += &format!("; under way: {}", names(&self.moment.under_way));
        }
        if !self.made_again.is_empty() {
            line += &format!("; made again: {}", names(&self.made_again));
        }
        out::line(&line);
        let more = match &self.verdict {
            Verdict::Same => return,
            Verdict::Undecided { questions } => questions,
            Verdict::Differs { differences } => differences,
        };
        for text in more {
            out::line(&format!("         {text}"));
        }
    }
}

/// The most differences that are told of one kill.
const TOLD: usize = 8;

/// Where two results differ, each difference a line.
pub fn differences(undisturbed: &Json, killed: &Json) -> Vec<String> {
    let mut found = Vec::new();
    compare("", undisturbed, killed, &mut found);
    shorten(found)
}

/// What one list of effects has more often than the other.
pub fn effects(undisturbed: &[String], killed: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let count = |list: &[String], effect: &String| list.iter().filter(|e| *e == effect).count();
    let mut all: Vec<&String> = undisturbed.iter().chain(killed).collect();
    all.sort();
    all.dedup();
    for effect in all {
        let (wanted, made) = (count(undisturbed, effect), count(killed, effect));
        if wanted != made {
            let times = |count| match count {
                0 => "not at all".to_owned(),
                1 => "once".to_owned(),
                2 => "twice".to_owned(),
                more => format!("{more} times"),
            };
            found.push(format!(
                "effect made {} instead of {}: {effect}",
                times(made),
                times(wanted)
            ));
        }
    }
    shorten(found)
}

fn shorten(mut found: Vec<String>) -> Vec<String> {
    let left = found.len().saturating_sub(TOLD);
    found.truncate(TOLD);
    if left > 0 {
        found.push(format!("and {left} more"));
    }
    found
}

fn compare(path: &str, one: &Json, other: &Json, found: &mut Vec<String>) {
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            for (key, value) in one {
                let there = other.get(key).unwrap_or(&Json::Null);
                compare(&format!("{path}.{key}"), value, there, found);
            }
            for (key, value) in other.iter().filter(|(key, _)| !one.contains_key(*key)) {
                compare(&format!("{path}.{key}"), &Json::Null, value, found);
            }
        }
        (Json::Array(one), Json::Array(other)) => {
            for at in 0..one.len().max(other.len()) {
                let item = |list: &[Json]| list.get(at).cloned().unwrap_or_default();
                compare(&format!("{path}.{at}"), &item(one), &item(other), found);
            }
        }
        _ if one == other => {}
        _ => {
            let path = path.trim_start_matches('.');
            found.push(format!(
                "{path}: {} instead of {}",
                short(other),
                short(one)
            ));
        }
    }
}

fn short(value: &Json) -> String {
    /// Characters of a value that are shown.
    const SHOWN: usize = 120;
    let text = match value {
        Json::Null => "nothing".to_owned(),
        value => value.to_string(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_says_where_and_what() {
        let one = json!({"runs": [{"state": "finished", "n": 1}]});
        let other = json!({"runs": [{"state": "failed"}, 2]});
        assert_eq!(
            differences(&one, &other),
            [
                r#"runs.0.state: "failed" instead of "finished""#,
                "runs.0.n: nothing instead of 1",
                "runs.1: 2 instead of nothing",
            ]
        );
        assert!(differences(&one, &one).is_empty());
    }

    #[test]
    fn an_effect_that_was_made_twice_is_told() {
        let list = |effects: &[&str]| Vec::from_iter(effects.iter().map(|e| (*e).to_owned()));
        let told = effects(&list(&["a", "b"]), &list(&["a", "a"]));
        assert_eq!(
            told,
            [
                "effect made twice instead of once: a",
                "effect made not at all instead of once: b"
            ]
        );
    }
}
