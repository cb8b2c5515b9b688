//! What attempts tell the driver while they are under way: pieces of messages, remarks, calls of tools.

use std::sync::Arc;

use easel_components::PieceKind;
use easel_core::bind::Activation;
use easel_core::event::Fact;
use easel_core::workflow::NodeId;

use super::Driver;
use crate::event::{EventKind, MessagePart};
use crate::masking;
use crate::wire::Told;

impl Driver {
    /// Something an attempt told while it was under way.
    pub(super) fn hear(&mut self, told: Told) {
        self.switchboard.heard();
        match told {
            Told::Opened(activation) => {
                let Some(attempt) = self.machine.attempt_of(activation) else {
                    return;
                };
                self.happened(Fact::Opened {
                    activation,
                    attempt,
                });
            }
            Told::Shown(piece) => {
                let Some(node) = self.machine.node_of(piece.speaker) else {
                    return;
                };
                match piece.kind {
                    PieceKind::Text(text) => {
                        if let Some(text) = self.speech.piece(piece.speaker, text) {
                            self.say(node, text, MessagePart::Text);
                        }
                    }
                    PieceKind::ThinkStart => {
                        self.said_all(piece.speaker, node);
                        self.say(node, "".into(), MessagePart::ThinkStart);
                    }
                    PieceKind::ThinkEnd => {
                        self.said_all(piece.speaker, node);
                        self.say(node, "".into(), MessagePart::ThinkEnd);
                    }
                    PieceKind::Reset => {
                        self.speech.reset(piece.speaker);
                        let subject = self.projection.subject(node);
                        self.emit_noted(EventKind::MessageReset { subject });
                    }
                }
            }
            Told::Note(node, mut note) => {
                masking::note(&self.gate, &mut note);
                match note {
                    easel_components::Note::Warning(text) => self.warn(Some(node), text),
                    easel_components::Note::ToolCall {
                        path,
                        tool,
                        arguments,
                        result,
                        milliseconds,
                    } => {
                        let call = EventKind::ToolCall {
                            subject: self.projection.subject(node),
                            path,
                            tool,
                            arguments,
                            result,
                            milliseconds,
                        };
                        self.emit_noted(call);
                    }
                    easel_components::Note::ModelRequest(_) => {}
                }
            }
        }
    }

    /// Shows a piece of a message.
    fn say(&mut self, node: NodeId, content: Arc<str>, part: MessagePart) {
        let event = self.projection.piece(node, content, part);
        self.outbox.push(event);
    }

    /// Shows what was held back of a message, because it might have gone on as a secret.
    pub(super) fn said_all(&mut self, speaker: Activation, node: NodeId) {
        if let Some(content) = self.speech.end(speaker) {
            self.say(node, content, MessagePart::Text);
        }
    }
}
