//! The modules of one run, and calls into them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use monty_types::MontyObject;

use super::super::convert;
use super::super::serve::Interpreter;
use super::module::{Module, Printed};
use crate::protocol::{Call, Failure, FailureKind, Opening, Reply};

/// The modules of a run; each is loaded once and keeps its globals.
pub(crate) struct Python {
    opening: Opening,
    modules: HashMap<Arc<str>, Module>,
}

impl Interpreter for Python {
    fn open(opening: Opening) -> Python {
        Python {
            opening,
            modules: HashMap::new(),
        }
    }

    fn call(&mut self, call: &Call) -> Reply {
        let mut printed = Printed::new(call.printed);
        let mut reply = match self.value(call, &mut printed) {
            Ok(value) => answer(call, &value),
            Err(failure) => failed(failure),
        };
        (reply.printed, reply.dropped) = printed.finish();
        reply
    }
}

impl Python {
    fn value(&mut self, call: &Call, printed: &mut Printed) -> Result<MontyObject, Failure> {
        let file = call.file.clone().unwrap_or_default();
        let module = match self.modules.entry(file) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let text = self
                    .opening
                    .files
                    .get(entry.key())
                    .cloned()
                    .unwrap_or_default();
                let module = Module::load(entry.key(), &text, call, self.opening.memory, printed)?;
                entry.insert(module)
            }
        };
        module.call(call, printed)
    }
}

fn answer(call: &Call, value: &MontyObject) -> Reply {
    if call.verdict {
        return match convert::verdict(value) {
            Ok(verdict) => Reply {
                verdict: Some(verdict),
                ..Reply::default()
            },
            Err(problem) => failed(plain(FailureKind::Result, problem)),
        };
    }
    match convert::to_json(value) {
        Ok(value) => {
            let size = value.to_json_text().len();
            if size > call.result {
                return failed(plain(FailureKind::TooLarge, size.to_string()));
            }
            Reply {
                value,
                ..Reply::default()
            }
        }
        Err(problem) => failed(plain(FailureKind::Result, problem)),
    }
}

fn failed(failure: Failure) -> Reply {
    Reply {
        failure: Some(failure),
        ..Reply::default()
    }
}

fn plain(kind: FailureKind, message: String) -> Failure {
    Failure {
        kind,
        exception: String::new(),
        message,
        frames: Vec::new(),
        traceback: String::new(),
    }
}
