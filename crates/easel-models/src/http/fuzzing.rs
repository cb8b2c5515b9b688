//! The door of the fuzz target `model_answer`: the body of an answer, in pieces, without a connection. Only a build with
//! `--cfg fuzzing` has it.

use super::frames::Frames;
use super::wire::{Decoder, Progress, Wire};
use super::{anthropic, gemini, ollama, openai};
use crate::config::ProviderKind;
use crate::reply::ModelEvent;

/// The events that such a body holds up to its end or its first fault. `whole`: its content type says that it is one
/// object.
pub fn read_answer(
    kind: ProviderKind,
    whole: bool,
    pieces: &[&[u8]],
) -> (Vec<ModelEvent>, Result<(), String>) {
    let wire = wire(kind);
    let mut frames = match whole {
        true => Frames::Whole(Vec::new()),
        false => wire.frames(),
    };
    let mut decoder = wire.decoder();
    let mut events = Vec::new();
    let pieces = pieces.iter().copied().map(Some).chain([None]);
    for piece in pieces {
        match read(&mut frames, &mut *decoder, piece, &mut events) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break,
            Err(fault) => return (events, Err(fault)),
        }
    }
    let ended = decoder.end(&mut events);
    (events, ended.map_err(|fault| format!("{fault:?}")))
}

/// Reads one piece, or for `None` what is left at the end.
fn read(
    frames: &mut Frames,
    decoder: &mut dyn Decoder,
    piece: Option<&[u8]>,
    events: &mut Vec<ModelEvent>,
) -> Result<Progress, String> {
    let mut complete = Vec::new();
    let cut = match piece {
        Some(piece) => frames.push(piece, &mut complete),
        None => frames.end(&mut complete),
    };
    for frame in &complete {
        match decoder.frame(frame, events) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => return Ok(Progress::Done),
            Err(fault) => return Err(format!("{fault:?}")),
        }
    }
    cut.map(|()| Progress::More)
        .map_err(|unframed| format!("{unframed:?}"))
}

fn wire(kind: ProviderKind) -> Box<dyn Wire> {
    match kind {
        ProviderKind::OpenAi => Box::new(openai::OpenAi::new("", true)),
        ProviderKind::Anthropic => Box::new(anthropic::Anthropic),
        ProviderKind::Gemini => Box::new(gemini::Gemini),
        ProviderKind::Ollama => Box::new(ollama::Ollama),
    }
}
