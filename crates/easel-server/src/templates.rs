//! Agents to begin with, written for Easel.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A text in every language it is there in, by the language's code.
pub type Translated = indexmap::IndexMap<String, String>;

/// An agent to begin with: a canvas and what is said of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Its id, by which `easel new --template` knows it.
    pub id: String,
    /// Its name.
    pub title: Translated,
    /// What it does.
    pub description: Translated,
    /// Its picture; blank if it has none.
    pub avatar: String,
    /// What it is for, as lists sort it.
    pub canvas_type: String,
    /// Everything it is for, the [`Template::canvas_type`] among them.
    pub canvas_types: Vec<String>,
    /// What kind of canvas it is: always `agent_canvas`.
    pub canvas_category: String,
    /// The canvas.
    pub dsl: Json,
}

impl Template {
    /// Its name in English.
    pub fn english_title(&self) -> &str {
        english(&self.title)
    }

    /// What it does, in English.
    pub fn english_description(&self) -> &str {
        english(&self.description)
    }
}

fn english(text: &Translated) -> &str {
    text.get("en").map(String::as_str).unwrap_or_default()
}

/// The files, in the order in which they are shown: what most people want comes first.
const FILES: [&str; 12] = [
    include_str!("../templates/first-answer.json"),
    include_str!("../templates/draft-and-follow-up.json"),
    include_str!("../templates/question-router.json"),
    include_str!("../templates/support-triage.json"),
    include_str!("../templates/two-researchers.json"),
    include_str!("../templates/summarise-notes.json"),
    include_str!("../templates/refine-until-good.json"),
    include_str!("../templates/invoice-to-json.json"),
    include_str!("../templates/look-it-up.json"),
    include_str!("../templates/ask-the-database.json"),
    include_str!("../templates/webhook-intake.json"),
    include_str!("../templates/running-list.json"),
];

/// Every template, in the order in which they are shown.
pub fn templates() -> &'static [Template] {
    // A file that cannot be read is left out here; a test sees to it that none is.
    static ALL: LazyLock<Vec<Template>> = LazyLock::new(|| {
        let read = |text: &&str| serde_json::from_str(text).ok();
        FILES.iter().filter_map(read).collect()
    });
    &ALL
}

/// The template of that id.
pub fn template(id: &str) -> Option<&'static Template> {
    templates().iter().find(|template| template.id == id)
}
