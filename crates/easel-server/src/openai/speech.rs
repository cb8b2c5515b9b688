//! What a run says, for clients that can take nothing back once they have it.

use easel_runtime::core::event::Usage;
use easel_runtime::{Logged, Standing, Value};
use serde_json::{Value as Json, json};

use crate::retold::{Piece, Retold};

/// Something to pass on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heard {
    /// Text of the answer.
    Text(String),
    /// Text of the model's thoughts.
    Thought(String),
    /// What a message cites.
    Reference(Json),
    /// The run asks something.
    Question(Question),
    /// The run is over.
    Finished,
    /// The run failed.
    Failed { code: String, message: String },
}

/// What a run that waits asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Question {
    /// The open fields by key.
    pub fields: Json,
    /// The text that goes with them.
    pub tips: String,
}

impl Question {
    /// What a run asks that stands so.
    pub fn of(standing: &Standing) -> Option<Question> {
        match standing {
            Standing::Waiting { fields, tips } => Some(Question {
                fields: Value::from(fields.clone()).to_json(),
                tips: tips.to_string(),
            }),
            _ => None,
        }
    }

    /// The question as text: what its author wrote, else the fields.
    pub fn text(&self) -> String {
        if !self.tips.trim().is_empty() {
            return self.tips.clone();
        }
        let fields = self.fields.as_object().into_iter().flatten();
        let names = fields.map(|(key, field)| {
            let name = field.get("name").and_then(Json::as_str);
            name.filter(|name| !name.is_empty()).unwrap_or(key)
        });
        format!("Please give: {}.", Vec::from_iter(names).join(", "))
    }

    /// The form, for clients that can show one.
    pub fn form(&self) -> Json {
        json!({"tips": self.tips, "fields": self.fields})
    }
}

/// Turns events into what is passed on.
#[derive(Debug, Default)]
pub(crate) struct Speech {
    thinking: bool,
    message: Retold<char>,
    /// Whether anything was said at all.
    spoke: bool,
    usage: Option<Usage>,
}

impl Speech {
    /// Takes in an event.
    pub fn hear(&mut self, event: &Logged) -> Vec<Heard> {
        let name = event.name();
        let known = [
            "message",
            "message_end",
            "message_reset",
            "user_inputs",
            "workflow_finished",
            "error",
        ];
        if !known.contains(&name) {
            return Vec::new();
        }
        let data: Json = serde_json::from_str(event.data()).unwrap_or_default();
        let text = |name: &str| data.get(name).and_then(Json::as_str).unwrap_or_default();
        let usage = data.get("usage").cloned();
        if let Some(usage) = usage.and_then(|usage| serde_json::from_value(usage).ok()) {
            self.usage = Some(usage);
        }
        let mut heard = Vec::new();
        match name {
            "message" => {
                if data.get("start_to_think").is_some() {
                    self.thinking = true;
                } else if data.get("end_to_think").is_some() {
                    self.thinking = false;
                } else {
                    heard.extend(self.piece(text("content")));
                }
            }
            "message_end" => {
                self.message.end();
                self.thinking = false;
                let reference = data
                    .get("reference")
                    .filter(|reference| !reference.is_null());
                heard.extend(reference.cloned().map(Heard::Reference));
            }
            "message_reset" => {
                self.message.reset();
                self.thinking = false;
            }
            "user_inputs" => heard.push(Heard::Question(Question {
                fields: data.get("inputs").cloned().unwrap_or_default(),
                tips: text("tips").to_owned(),
            })),
            "workflow_finished" => {
                if !self.spoke {
                    heard.extend(outcome(data.get("outputs")).map(Heard::Text));
                }
                heard.push(Heard::Finished);
            }
            _ => heard.push(Heard::Failed {
                code: text("code").to_owned(),
                message: text("message").to_owned(),
            }),
        }
        heard
    }

    /// A piece of text: passed on unless the client has it from an attempt that was lost.
    fn piece(&mut self, text: &str) -> Option<Heard> {
        if text.is_empty() {
            return None;
        }
        if self.thinking {
            let repeats = self.message.repeats();
            return (!repeats).then(|| Heard::Thought(text.to_owned()));
        }
        self.spoke = true;
        let new = match self.message.piece(text.chars()) {
            Piece::New => text.to_owned(),
            Piece::Repeats => return None,
            Piece::Continues(rest) => String::from_iter(rest),
            Piece::Differs(whole) => format!("\n\n{}", String::from_iter(whole)),
        };
        Some(Heard::Text(new))
    }

    /// Tokens of the run, as its end told them.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

/// What a run that said nothing came to, as text.
fn outcome(outputs: Option<&Json>) -> Option<String> {
    let outputs = outputs?.as_object()?;
    let mut values = outputs.iter();
    match (values.next(), values.next()) {
        (None, _) => None,
        (Some((_, Json::String(only))), None) => Some(only.clone()),
        (Some((_, only)), None) => Some(only.to_string()),
        _ => Some(Json::Object(outputs.clone()).to_string()),
    }
}

/// All that was passed on in a turn.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub text: String,
    pub thoughts: String,
    pub references: Vec<Json>,
    pub question: Option<Question>,
    pub failed: Option<(String, String)>,
    pub finished: bool,
}

impl Answer {
    /// Takes in something that is passed on.
    pub fn take(&mut self, heard: Heard) {
        match heard {
            Heard::Text(text) => self.text.push_str(&text),
            Heard::Thought(text) => self.thoughts.push_str(&text),
            Heard::Reference(reference) => self.references.push(reference),
            Heard::Question(question) => {
                self.text.push_str(&self.lead_in());
                self.text.push_str(&question.text());
                self.question = Some(question);
            }
            Heard::Finished => self.finished = true,
            Heard::Failed { code, message } => self.failed = Some((code, message)),
        }
    }

    /// What stands between what was said and a question.
    pub fn lead_in(&self) -> String {
        match self.text.is_empty() {
            true => String::new(),
            false => "\n\n".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(speech: &mut Speech, events: &[(&str, Json)]) -> Vec<Heard> {
        let events = events.iter().flat_map(|(name, data)| {
            let json = format!("{{\"event\":\"{name}\",\"data\":{data}}}");
            speech.hear(&Logged {
                id: Default::default(),
                json: json.into(),
            })
        });
        events.collect()
    }

    fn says(text: &str) -> (&'static str, Json) {
        ("message", json!({"content": text}))
    }

    fn texts(events: &[(&str, Json)]) -> String {
        let heard = told(&mut Speech::default(), events);
        let texts = heard.iter().map(|heard| match heard {
            Heard::Text(text) => text.as_str(),
            _ => "",
        });
        texts.collect()
    }

    #[test]
    fn thoughts_are_kept_apart() {
        let heard = told(
            &mut Speech::default(),
            &[
                ("message", json!({"content": "", "start_to_think": true})),
                says("hm"),
                ("message", json!({"content": "", "end_to_think": true})),
                says("Hi"),
                ("message_end", json!({"reference": {"chunks": {}}})),
                ("node_started", json!({})),
            ],
        );
        let expected = [
            Heard::Thought("hm".into()),
            Heard::Text("Hi".into()),
            Heard::Reference(json!({"chunks": {}})),
        ];
        assert_eq!(heard, expected);
    }

    #[test]
    fn an_attempt_that_repeats_the_lost_one_goes_on_behind_it() {
        let reset = ("message_reset", json!({}));
        let end = ("message_end", json!({}));
        assert_eq!(
            texts(&[
                says("Once "),
                says("upon"),
                reset.clone(),
                says("Once"),
                says(" upon a time"),
                says("!")
            ]),
            "Once upon a time!"
        );
        assert_eq!(
            texts(&[
                says("Once upon"),
                reset.clone(),
                says("On"),
                says("e day"),
                end.clone(),
                says("x")
            ]),
            "Once upon\n\nOne dayx"
        );
        assert_eq!(
            texts(&[
                says("Once upon"),
                reset.clone(),
                reset,
                says("Once"),
                end,
                says(" x")
            ]),
            "Once upon x"
        );
    }

    #[test]
    fn a_run_that_says_nothing_gives_its_outputs() {
        let finished = |outputs: Json| texts(&[("workflow_finished", json!({"outputs": outputs}))]);
        assert_eq!(finished(json!({"value": "done"})), "done");
        assert_eq!(finished(json!({"value": [1]})), "[1]");
        assert_eq!(finished(json!({"a": 1, "b": 2})), r#"{"a":1,"b":2}"#);
        assert_eq!(finished(json!({})), "");
        let spoken = [
            says("Hi"),
            ("workflow_finished", json!({"outputs": {"content": "Hi"}})),
        ];
        assert_eq!(texts(&spoken), "Hi");
    }

    #[test]
    fn a_question_without_a_text_names_its_fields() {
        let fields = json!({"n": {"name": "Your name"}, "age": {"name": ""}});
        let question = |tips: &str| Question {
            fields: fields.clone(),
            tips: tips.into(),
        };
        assert_eq!(question(" ").text(), "Please give: Your name, age.");
        assert_eq!(question("Who?").text(), "Who?");
        let mut answer = Answer::default();
        answer.take(Heard::Text("First.".into()));
        answer.take(Heard::Question(question("Who?")));
        assert_eq!(answer.text, "First.\n\nWho?");
    }
}
