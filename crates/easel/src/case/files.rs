//! The files of a case folder.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::problem::Problem;
use crate::read;

/// A case as it lies in its folder.
#[derive(Debug)]
pub struct Case {
    /// The canvas, as text.
    pub canvas: Vec<u8>,
    /// The scripted world: `llm.json`.
    pub world: Json,
    /// What the caller does: `turns.json`.
    pub turns: Turns,
    /// What should happen: `expected.json`.
    pub expected: Option<Json>,
}

/// `turns.json`.
#[derive(Debug, Deserialize)]
pub struct Turns {
    /// The turns, in order.
    pub turns: Vec<Turn>,
    /// Whether the session starts fresh rather than from what the canvas holds.
    #[serde(default = "yes")]
    pub reset: bool,
}

/// One turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Turn {
    /// What the user says.
    pub query: Json,
    /// Inputs by name.
    pub inputs: Option<serde_json::Map<String, Json>>,
    /// Uploaded files.
    pub files: Vec<Json>,
    /// The user's id.
    pub user_id: Option<String>,
    /// What a webhook brings.
    pub webhook_payload: Option<serde_json::Map<String, Json>>,
    /// Handed to the chat template.
    pub chat_template_kwargs: Option<Json>,
    /// When somebody ends the run.
    pub cancel: Option<Cancel>,
    /// After how many events the client goes away.
    pub disconnect_after_events: Option<usize>,
}

/// When somebody ends a run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cancel {
    /// At a fixed moment: `before_run`.
    When(String),
    /// After an event.
    After(AfterEvent),
}

/// An event, and the how-manieth of its kind.
#[derive(Debug, Deserialize)]
pub struct AfterEvent {
    /// The event's name.
    pub event: String,
    /// The node it is about.
    pub component: Option<String>,
    /// Which of them, from 1.
    pub count: Option<usize>,
}

fn yes() -> bool {
    true
}

impl Case {
    /// Reads a case folder.
    pub fn read(folder: &Path) -> Result<Case, Problem> {
        Ok(Case {
            canvas: read::bytes(&folder.join("canvas.json"))?,
            world: json(&folder.join("llm.json"))?.unwrap_or_default(),
            turns: read::json(&folder.join("turns.json"))?,
            expected: json(&folder.join("expected.json"))?,
        })
    }
}

fn json(path: &Path) -> Result<Option<Json>, Problem> {
    match path.exists() {
        true => read::json(path).map(Some),
        false => Ok(None),
    }
}
