//! Where the run's gate stands: what comes into a run is masked before anybody sees it, and what goes to a model before
//! it is sent. Events pass once more on their way out.
//!
//! Facts are masked before the machine and the journal take them in, so the state of a run, its journal, its events and
//! every text that is rendered later are all without secrets, and a run that is read back from its journal sees what it saw
//! the first time. What does not come in as a fact passes here on its own: pieces of messages, remarks, requests to
//! models, what a user brings.

use std::sync::Arc;

use easel_components::{HistoryEntry, Note};
use easel_core::bind::Resolved;
use easel_core::event::{Answer, Completion, Fact, Ports, Start};
use easel_models::{ChatRequest, Content, Part};
use easel_secrets::{Gate, Secret};

use crate::event::EventKind;
use crate::input::Input;

/// Takes the secrets out of a fact. A clock's or a count's fact has none.
pub(crate) fn fact(gate: &Gate, fact: &mut Fact) {
    if !gate.is_armed() {
        return;
    }
    match fact {
        Fact::Started(start) => self::start(gate, start),
        Fact::Completed { completion, .. } => self::completion(gate, completion),
        Fact::Failed { fault, .. } => gate.mask_text(&mut fault.message),
        Fact::Answered(Answer {
            fields,
            text,
            variables,
            context,
        }) => {
            gate.mask_object(fields);
            text.iter_mut().for_each(|text| gate.mask_value(text));
            gate.mask_object(variables);
            gate.mask_value(context);
        }
        Fact::Opened { .. } | Fact::Woke { .. } | Fact::Cancelled | Fact::Recovered => {}
    }
}

/// Takes the secrets out of what a run begins with.
pub(crate) fn start(gate: &Gate, start: &mut Start) {
    gate.mask_object(&mut start.variables);
    gate.mask_value(&mut start.context);
}

fn completion(gate: &Gate, completion: &mut Completion) {
    self::ports(gate, &mut completion.ports);
    for write in &mut completion.writes {
        gate.mask_value(&mut write.value);
    }
    for found in &mut completion.references {
        gate.mask_value(found);
    }
}

pub(crate) fn ports(gate: &Gate, ports: &mut Ports) {
    let mut masked = ports.clone();
    for (name, value) in ports.iter() {
        let mut new = value.clone();
        gate.mask_value(&mut new);
        if new != *value {
            masked.set(name.clone(), new);
        }
    }
    *ports = masked;
}

/// Takes the secrets out of an event. Most of it was masked when it came in as a fact; what came in before a secret was
/// known was not, and what stands in the file never is.
pub(crate) fn event(gate: &Gate, kind: &mut EventKind) {
    if !gate.is_armed() {
        return;
    }
    match kind {
        EventKind::WorkflowStarted { inputs } => gate.mask_value(inputs),
        EventKind::AttemptFailed { step, .. } | EventKind::NodeFinished { step, .. } => {
            for resolved in Arc::make_mut(&mut step.inputs.0) {
                if let Resolved::Value(value) = resolved {
                    gate.mask_value(value);
                }
            }
            ports(gate, &mut step.ports);
            if let Some(fault) = &mut step.fault {
                gate.mask_text(&mut fault.message);
            }
        }
        EventKind::MessageEnd { extras, .. } => gate.mask_object(extras),
        EventKind::UserInputs { fields, tips } => {
            gate.mask_object(fields);
            gate.mask_text(tips);
        }
        EventKind::WorkflowFinished { outputs, .. } => ports(gate, outputs),
        EventKind::Error { fault, .. } => gate.mask_text(&mut fault.message),
        // Their texts were masked where they came in: pieces of messages across their borders.
        EventKind::Message { .. } | EventKind::Warning { .. } | EventKind::ToolCall { .. } => {}
        EventKind::NodeStarted { .. }
        | EventKind::NodeSkipped { .. }
        | EventKind::MessageReset { .. }
        | EventKind::Recovered { .. }
        | EventKind::Uncertain { .. }
        | EventKind::AnswerUnfit { .. } => {}
    }
}

/// The values of the headers that a user brings, as secrets: tools get them, and the record and models do not.
pub(crate) fn header_values(input: &Input) -> Vec<(Arc<str>, Secret)> {
    let texts = input.custom_header.iter().filter_map(|(name, value)| {
        let value = value.as_str()?;
        Some((format!("header:{name}").into(), Secret::new(value)))
    });
    texts.collect()
}

/// Takes the secrets out of what a user brings. Headers stay: they are for tools, and leave the run with nothing else.
pub(crate) fn input(gate: &Gate, input: &mut Input) {
    gate.mask_value(&mut input.query);
    gate.mask_object(&mut input.inputs);
    for file in &mut input.files {
        gate.mask_value(file);
    }
    if let Some(webhook) = &mut input.webhook {
        gate.mask_object(webhook);
    }
}

/// Takes the secrets out of a conversation.
pub(crate) fn history(gate: &Gate, history: &mut [HistoryEntry]) {
    for entry in history {
        gate.mask_value(&mut entry.content);
    }
}

/// Takes the secrets out of a remark.
pub(crate) fn note(gate: &Gate, note: &mut Note) {
    match note {
        Note::Warning(text) => gate.mask_text(text),
        Note::ToolCall {
            tool,
            arguments,
            result,
            ..
        } => {
            gate.mask_text(tool);
            gate.mask_value(arguments);
            gate.mask_value(result);
        }
        Note::ModelRequest(request) => gate.mask_value(request),
    }
}

/// Takes the secrets out of a request to a model. What a provider wants back as it was is its own.
pub(crate) fn request(gate: &Gate, request: &mut ChatRequest) {
    if !gate.is_armed() {
        return;
    }
    for message in &mut request.messages {
        match &mut message.content {
            Content::Empty => {}
            Content::Text(text) => gate.mask_text(text),
            Content::Parts(parts) => parts.iter_mut().for_each(|part| match part {
                Part::Text { text } => gate.mask_text(text),
                Part::ImageUrl { image_url } => gate.mask_text(&mut image_url.url),
            }),
        }
        for call in &mut message.tool_calls {
            gate.mask_text(&mut call.arguments);
        }
    }
    for tool in &mut request.tools {
        gate.mask_text(&mut tool.description);
        gate.mask_value(&mut tool.parameters);
    }
    if let Some(format) = &mut request.response_format {
        gate.mask_value(&mut format.schema);
    }
    if let Some(kwargs) = &mut request.chat_template_kwargs {
        gate.mask_object(kwargs);
    }
}

/// What to tell of a secret that could not be masked.
pub(crate) fn unmasked(secret: &str) -> Arc<str> {
    format!(
        "The value of the secret {secret} stands in a number, where it cannot be masked: it is in the record as it is. \
         Give the secret a value with a letter in it, or keep the tool from answering with it."
    )
    .into()
}
