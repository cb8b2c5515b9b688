//! Which model is asked and how it samples: what LLM, Agent and Categorize share.

use std::sync::Arc;

use easel_core::event::Fault;
use easel_core::{Object, Value};
use easel_models::{Sampling, Thinking};

use crate::site::Site;

/// The settings of a node that asks a model.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The model's id as the file has it; blank: the default model.
    pub model: Arc<str>,
    /// How the answer is drawn.
    pub sampling: Sampling,
    /// Whether the model thinks first.
    pub thinking: Thinking,
}

impl Settings {
    /// Reads the parameters. A number is sent only where its switch is on (spec/canvas-components §3.1).
    ///
    /// Errors: a parameter is no number.
    pub(crate) fn read(site: &Site<'_>) -> Result<Settings, Fault> {
        let sent = |name: &str, switch: &str, counts: fn(f64) -> bool| {
            let number = site.number(name)?;
            Ok::<_, Fault>(number.filter(|n| site.flag(switch) && counts(*n)))
        };
        let max_tokens = sent("max_tokens", "maxTokensEnabled", |n| n >= 1.0)?;
        let penalty = |name, switch| sent(name, switch, |n| n != 0.0);
        Ok(Settings {
            model: site.text("llm_id").trim().into(),
            sampling: Sampling {
                temperature: sent("temperature", "temperatureEnabled", |n| n >= 0.0)?,
                top_p: sent("top_p", "topPEnabled", |n| n > 0.0)?,
                presence_penalty: penalty("presence_penalty", "presencePenaltyEnabled")?,
                frequency_penalty: penalty("frequency_penalty", "frequencyPenaltyEnabled")?,
                max_tokens: max_tokens.map(|n| n as u32),
            },
            thinking: match site.text("thinking") {
                "enabled" => Thinking::Enabled,
                "disabled" => Thinking::Disabled,
                _ => Thinking::Default,
            },
        })
    }

    /// The default model, as it samples by itself.
    pub(crate) fn of_default_model() -> Settings {
        Settings {
            model: "".into(),
            sampling: Sampling::default(),
            thinking: Thinking::Default,
        }
    }
}

/// What goes to the provider's chat template: an object, or the JSON text of one.
pub(crate) fn template_kwargs(value: Option<&Value>) -> Option<Object> {
    match value? {
        Value::Object(members) => Some(Object::clone(members)),
        Value::String(text) => serde_json::from_str::<Value>(text)
            .ok()?
            .as_object()
            .cloned(),
        _ => None,
    }
}
