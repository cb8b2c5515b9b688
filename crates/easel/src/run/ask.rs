//! Asks a person: for the fields of a form, for what a canvas wants to start with, for the next message.

use std::io::{IsTerminal, Write};
use std::sync::Arc;

use easel_runtime::{Input, Object, Value, Workflow};

use super::files::LocalFiles;
use super::lines::Lines;

/// Somebody who can be asked.
pub struct Asker {
    lines: Lines,
    files: Arc<LocalFiles>,
    /// Whether the conversation goes on after an answer.
    chat: bool,
    /// Whether a person is there.
    terminal: bool,
}

impl Asker {
    /// Whoever is at standard input. Lines of a pipe are answers only in a chat.
    pub fn new(files: Arc<LocalFiles>, chat: bool) -> Asker {
        let terminal = std::io::stdin().is_terminal();
        Asker {
            lines: Lines::default(),
            files,
            chat,
            terminal,
        }
    }

    /// Whether there is somebody to ask.
    pub fn is_there(&self) -> bool {
        self.terminal || self.chat
    }

    /// The next message of a chat; `None` if there is none.
    pub async fn message(&self) -> Option<Input> {
        loop {
            let line = self.line("> ").await?;
            if !line.trim().is_empty() {
                return Some(Input::from(line.trim_end()));
            }
        }
    }

    /// The answer to a form; `None` if nobody answers.
    pub async fn answers(&self, fields: &Object) -> Option<Input> {
        let inputs = self.ask_for(fields.iter()).await?;
        Some(Input {
            inputs,
            ..Input::default()
        })
    }

    /// Asks for what the canvas wants to start with and was not given, and in a chat for the first message. `false` if
    /// nobody answers.
    pub async fn complete(&self, workflow: &Workflow, input: &mut Input) -> bool {
        let declared = workflow.inputs();
        let wanted = blank(&declared, input);
        if self.terminal && !wanted.is_empty() {
            let Some(given) = self.ask_for(wanted.into_iter()).await else {
                return false;
            };
            input.inputs.extend(given);
        }
        let begun = !input.query.is_null() || !input.inputs.is_empty() || input.webhook.is_some();
        if self.chat && !begun {
            let Some(first) = self.message().await else {
                return false;
            };
            input.query = first.query;
        }
        true
    }

    /// What somebody should know of the inputs a run starts with: those that are needed and blank, and those that the
    /// canvas does not know.
    pub fn doubts(workflow: &Workflow, input: &Input) -> Vec<String> {
        // A graph says it in the run itself: its inputs are admitted before anything of it starts.
        if workflow.graph().is_some() {
            return Vec::new();
        }
        let declared = workflow.inputs();
        let names = |names: Vec<&str>| names.join(", ");
        let needed = blank(&declared, input).into_iter();
        let needed = needed.filter(|(name, declaration)| !Field::new(name, declaration).optional);
        let needed: Vec<&str> = needed.map(|(name, _)| &**name).collect();
        let given = input.inputs.keys().map(|name| &**name);
        let unknown: Vec<&str> = given.filter(|name| !declared.contains_key(*name)).collect();
        let mut doubts = Vec::new();
        if !needed.is_empty() {
            let needed = names(needed);
            doubts.push(format!(
                "Blank, because nobody gave it: {needed}. Give it with --input NAME=VALUE."
            ));
        }
        if !unknown.is_empty() {
            let known = match declared.is_empty() {
                true => "it declares none".to_owned(),
                false => format!(
                    "it declares {}",
                    names(declared.keys().map(|n| &**n).collect())
                ),
            };
            let unknown = names(unknown);
            doubts.push(format!("Not an input of this canvas: {unknown}; {known}."));
        }
        doubts
    }

    async fn ask_for<'f>(
        &self,
        fields: impl Iterator<Item = (&'f Arc<str>, &'f Value)>,
    ) -> Option<Object> {
        let mut answers = Object::new();
        for (key, declaration) in fields {
            let field = Field::new(key, declaration);
            if let Some(answer) = self.ask(&field).await? {
                answers.insert(key.clone(), answer);
            }
        }
        Some(answers)
    }

    /// One field, asked until the answer fits. `Some(None)`: left empty.
    async fn ask(&self, field: &Field<'_>) -> Option<Option<Value>> {
        loop {
            let line = self.line(&field.prompt()).await?;
            match field.read(line.trim(), &self.files) {
                Ok(answer) => return Some(answer),
                Err(why) => self.prompt(&format!("  {why}\n")),
            }
        }
    }

    /// The line that somebody writes behind a prompt; `None` if nobody does.
    async fn line(&self, prompt: &str) -> Option<String> {
        self.prompt(prompt);
        let line = self.lines.next().await;
        if line.is_none() {
            // Whatever comes next, be it the prompt of a shell, begins a line.
            self.prompt("\n");
        }
        line
    }

    /// Shows a prompt to a person.
    fn prompt(&self, text: &str) {
        if self.terminal {
            let mut out = std::io::stderr();
            // A terminal that is gone needs no prompt.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }
}

/// The declared inputs that a run begins without. A message fills in the only field there is, or those that it names as
/// an object, unless inputs are given by name (spec/canvas-engine §6.4).
fn blank<'d>(declared: &'d Object, input: &Input) -> Vec<(&'d Arc<str>, &'d Value)> {
    let brought = |name: &str| {
        let webhook = input.webhook.as_ref();
        webhook.is_some_and(|parts| parts.contains_key(name)) || input.inputs.contains_key(name)
    };
    let said = |name: &str| {
        let named = input
            .query
            .as_object()
            .is_some_and(|o| o.contains_key(name));
        named || declared.len() == 1 && input.query.is_truthy()
    };
    let filled = |name: &str| brought(name) || input.inputs.is_empty() && said(name);
    declared.iter().filter(|(name, _)| !filled(name)).collect()
}

/// One field of a form.
struct Field<'a> {
    name: &'a str,
    kind: Kind,
    optional: bool,
    options: Vec<String>,
}

/// What a field takes.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Choice,
    Number,
    Boolean,
    Json,
    File,
}

impl<'a> Field<'a> {
    fn new(key: &'a str, declaration: &'a Value) -> Field<'a> {
        let text = |name: &str| {
            declaration
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let options = declaration
            .get("options")
            .and_then(Value::as_array)
            .unwrap_or_default();
        let options: Vec<String> = options.iter().map(Value::to_string).collect();
        let kind = match text("type").to_lowercase().as_str() {
            "options" if !options.is_empty() => Kind::Choice,
            "integer" | "number" => Kind::Number,
            "boolean" => Kind::Boolean,
            kind if kind.contains("file") => Kind::File,
            kind if kind == "object" || kind.starts_with("array") => Kind::Json,
            _ => Kind::Text,
        };
        Field {
            name: Some(text("name"))
                .filter(|name| !name.trim().is_empty())
                .unwrap_or(key),
            kind,
            optional: declaration.get("optional").is_some_and(Value::is_truthy),
            options,
        }
    }

    fn prompt(&self) -> String {
        let mut hints: Vec<&str> = Vec::new();
        match self.kind {
            Kind::Text | Kind::Choice => {}
            Kind::Number => hints.push("a number"),
            Kind::Boolean => hints.push("yes or no"),
            Kind::Json => hints.push("JSON"),
            Kind::File => hints.push("the path of a file"),
        }
        if self.optional {
            hints.push("may stay empty");
        }
        let mut prompt = String::new();
        for (at, option) in self.options.iter().enumerate() {
            prompt.push_str(&format!("  {}. {option}\n", at + 1));
        }
        let hints = if hints.is_empty() {
            String::new()
        } else {
            format!(" ({})", hints.join(", "))
        };
        format!("{prompt}{}{hints}: ", self.name)
    }

    /// What a line says. Errors: why it does not fit.
    fn read(&self, line: &str, files: &LocalFiles) -> Result<Option<Value>, String> {
        if line.is_empty() {
            return match self.optional {
                true => Ok(None),
                false => Err("This needs an answer.".to_owned()),
            };
        }
        let value = match self.kind {
            Kind::Text => Value::from(line),
            Kind::Choice => {
                let number = line.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                let chosen = number.and_then(|at| self.options.get(at));
                let chosen = chosen.or_else(|| {
                    self.options
                        .iter()
                        .find(|option| option.eq_ignore_ascii_case(line))
                });
                match chosen {
                    Some(option) => Value::from(option.as_str()),
                    None => return Err("Write one of these, or its number.".to_owned()),
                }
            }
            Kind::Number => match line.parse::<i64>() {
                Ok(number) => Value::from(number),
                Err(_) => match line.parse::<f64>() {
                    Ok(number) if number.is_finite() => Value::from(serde_json::json!(number)),
                    _ => return Err("Write a number.".to_owned()),
                },
            },
            Kind::Boolean => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" | "1" => Value::from(true),
                "n" | "no" | "false" | "0" => Value::from(false),
                _ => return Err("Write yes or no.".to_owned()),
            },
            Kind::Json => match serde_json::from_str::<serde_json::Value>(line) {
                Ok(json) => Value::from(json),
                Err(error) => return Err(format!("This is not JSON: {error}.")),
            },
            Kind::File => files
                .hand_in(std::path::Path::new(line))
                .map_err(|error| format!("{line} cannot be read: {error}."))?,
        };
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(
        declaration: serde_json::Value,
        line: &str,
    ) -> Result<Option<serde_json::Value>, String> {
        let declaration = Value::from(declaration);
        let field = Field::new("key", &declaration);
        let read = field.read(line, &LocalFiles::new(std::path::Path::new("downloads")));
        read.map(|value| value.map(|value| value.to_json()))
    }

    #[test]
    fn answers_are_read_as_their_field_says() {
        assert_eq!(read(json!({"type": "integer"}), "12"), Ok(Some(json!(12))));
        assert_eq!(
            read(json!({"type": "integer"}), "1.5"),
            Ok(Some(json!(1.5)))
        );
        assert!(read(json!({"type": "integer"}), "many").is_err());
        assert_eq!(
            read(json!({"type": "boolean"}), "Yes"),
            Ok(Some(json!(true)))
        );
        assert_eq!(
            read(json!({"type": "object"}), r#"{"a": 1}"#),
            Ok(Some(json!({"a": 1})))
        );
        assert_eq!(read(json!({"type": "line"}), "12"), Ok(Some(json!("12"))));
    }

    #[test]
    fn an_option_is_named_or_numbered() {
        let options = json!({"type": "options", "options": ["Red", "Blue"]});
        assert_eq!(read(options.clone(), "2"), Ok(Some(json!("Blue"))));
        assert_eq!(read(options.clone(), "red"), Ok(Some(json!("Red"))));
        assert!(read(options, "3").is_err());
    }

    #[test]
    fn only_what_is_optional_may_stay_empty() {
        assert_eq!(read(json!({"optional": true}), ""), Ok(None));
        assert!(read(json!({}), "").is_err());
    }

    #[test]
    fn the_prompt_says_what_is_wanted() {
        let declaration = Value::from(json!({"name": "Age", "type": "integer", "optional": true}));
        assert_eq!(
            Field::new("age", &declaration).prompt(),
            "Age (a number, may stay empty): "
        );
        assert_eq!(Field::new("age", &Value::Null).prompt(), "age: ");
    }
}
