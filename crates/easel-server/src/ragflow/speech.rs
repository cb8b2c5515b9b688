//! What is said, for clients that can take nothing back: pieces of a message that begins anew are held back while they repeat
//! what was shown.

use serde_json::json;

use super::envelope::Value;
use crate::retold::{Piece, Retold};

/// What a client is told next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A piece: the `data` of its event.
    Say(Value),
    /// What was shown is closed; what follows is another message.
    Break,
}

/// A character of a message, or a mark of thoughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Atom {
    Char(char),
    ThinkStart,
    ThinkEnd,
}

/// The message that is being said.
#[derive(Debug, Default)]
pub(super) struct Speech {
    /// The node that says it.
    speaker: String,
    message: Retold<Atom>,
}

impl Speech {
    /// A piece of a message.
    pub fn piece(&mut self, data: Value) -> Vec<Step> {
        let speaker = data
            .get("component_id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if self.speaker != speaker {
            // The message before it broke off.
            *self = Speech {
                speaker: speaker.to_owned(),
                ..Speech::default()
            };
        }
        match self.message.piece(atoms(&data)) {
            Piece::New => vec![Step::Say(data)],
            Piece::Repeats => Vec::new(),
            Piece::Continues(rest) => self.said(&rest),
            Piece::Differs(whole) => self.anew(&whole),
        }
    }

    /// The message begins anew.
    pub fn reset(&mut self) {
        self.message.reset();
    }

    /// The message is whole.
    pub fn end(&mut self) -> Vec<Step> {
        let steps = match self.message.end() {
            // It came out shorter than what was shown.
            Some(again) => self.anew(&again),
            None => Vec::new(),
        };
        *self = Speech::default();
        steps
    }

    fn anew(&self, atoms: &[Atom]) -> Vec<Step> {
        let mut steps = vec![Step::Break];
        steps.extend(self.said(atoms));
        steps
    }

    /// Atoms as pieces.
    fn said(&self, atoms: &[Atom]) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut text = String::new();
        for atom in atoms {
            let mark = match atom {
                Atom::Char(c) => {
                    text.push(*c);
                    continue;
                }
                Atom::ThinkStart => START,
                Atom::ThinkEnd => END,
            };
            steps.extend(self.text(&mut text));
            let mut data = json!({"content": ""});
            data[mark] = true.into();
            data["component_id"] = self.speaker.as_str().into();
            steps.push(Step::Say(data));
        }
        steps.extend(self.text(&mut text));
        steps
    }

    fn text(&self, text: &mut String) -> Option<Step> {
        let content = std::mem::take(text);
        let data = json!({"content": content, "component_id": self.speaker});
        (!content.is_empty()).then_some(Step::Say(data))
    }
}

/// The members of a piece that mark where thoughts begin and end.
pub(super) const START: &str = "start_to_think";
pub(super) const END: &str = "end_to_think";

fn atoms(data: &Value) -> Vec<Atom> {
    let is = |mark: &str| data.get(mark) == Some(&Value::Bool(true));
    if is(START) {
        return vec![Atom::ThinkStart];
    }
    if is(END) {
        return vec![Atom::ThinkEnd];
    }
    let content = data.get("content").and_then(Value::as_str);
    content
        .unwrap_or_default()
        .chars()
        .map(Atom::Char)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content: &str) -> Value {
        json!({"content": content, "component_id": "M"})
    }

    fn heard(steps: &[Step]) -> String {
        let heard = steps.iter().map(|step| match step {
            Step::Break => "|".to_owned(),
            Step::Say(data) if data.get(START).is_some() => "<".to_owned(),
            Step::Say(data) if data.get(END).is_some() => ">".to_owned(),
            Step::Say(data) => data["content"].as_str().unwrap_or_default().to_owned(),
        });
        heard.collect()
    }

    /// Says pieces; `!` begins anew.
    fn say(pieces: &[&str]) -> String {
        let mut speech = Speech::default();
        let mut steps = Vec::new();
        for piece in pieces {
            match *piece {
                "!" => speech.reset(),
                "<" => steps
                    .extend(speech.piece(json!({"content": "", START: true, "component_id": "M"}))),
                ">" => steps
                    .extend(speech.piece(json!({"content": "", END: true, "component_id": "M"}))),
                piece => steps.extend(speech.piece(text(piece))),
            }
        }
        steps.extend(speech.end());
        heard(&steps)
    }

    #[test]
    fn what_repeats_is_said_once() {
        assert_eq!(say(&["Hel", "lo", "!", "H", "ello ", "you"]), "Hello you");
        assert_eq!(say(&["Grü", "!", "G", "rüße"]), "Grüße");
        assert_eq!(say(&["ab", "!", "ab"]), "ab");
        assert_eq!(say(&["ab", "!", "a", "!", "abc"]), "abc");
    }

    #[test]
    fn what_differs_is_another_message() {
        assert_eq!(say(&["Hello", "!", "He", "y", " you"]), "Hello|Hey you");
        assert_eq!(say(&["Hello", "!", "He"]), "Hello|He");
        assert_eq!(say(&["Hello", "!"]), "Hello|");
    }

    #[test]
    fn thoughts_are_told_apart_from_text() {
        assert_eq!(
            say(&["<", "hm", ">", "a", "!", "<", "hm", ">", "ab"]),
            "<hm>ab"
        );
        assert_eq!(say(&["<", "hm", "!", "hm"]), "<hm|hm");
    }

    #[test]
    fn a_message_that_broke_off_is_not_the_next_ones() {
        let mut speech = Speech::default();
        speech.piece(text("abc"));
        speech.reset();
        let other = json!({"content": "x", "component_id": "N"});
        assert_eq!(heard(&speech.piece(other)), "x");
    }
}
