//! Messages on their way to people, piece by piece, without secrets.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use easel_core::bind::Activation;
use easel_secrets::{Gate, MaskedStream};

/// The messages that are being said, by the firing that says them. Empty while there is nothing to mask.
pub(crate) struct Speech {
    gate: Gate,
    said: HashMap<Activation, MaskedStream>,
}

impl Speech {
    /// Nobody has said anything.
    pub fn new(gate: Gate) -> Speech {
        Speech {
            gate,
            said: HashMap::new(),
        }
    }

    /// What can be shown of a piece now; `None` if nothing, because it might go on as a secret.
    pub fn piece(&mut self, speaker: Activation, text: Arc<str>) -> Option<Arc<str>> {
        if !self.gate.is_armed() {
            return Some(text);
        }
        let stream = self.said.entry(speaker);
        let stream = stream.or_insert_with(|| self.gate.stream());
        match stream.push(&text) {
            Cow::Borrowed(same) if same.len() == text.len() => Some(text),
            masked => Some(masked.into()).filter(|masked: &Arc<str>| !masked.is_empty()),
        }
    }

    /// Ends a message and gives what was held back of it, if anything.
    pub fn end(&mut self, speaker: Activation) -> Option<Arc<str>> {
        let rest = self.said.remove(&speaker)?.finish();
        Some(rest.into()).filter(|rest: &Arc<str>| !rest.is_empty())
    }

    /// What was said so far no longer counts, and neither does what was held back.
    pub fn reset(&mut self, speaker: Activation) {
        self.said.remove(&speaker);
    }
}
