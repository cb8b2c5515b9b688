//! A workflow's file: read, loaded, refused.

use std::io::IsTerminal;
use std::path::Path;

use easel_runtime::check::Diagnostic;
use easel_runtime::{Engine, Workflow};

use crate::exit::Exit;
use crate::out;
use crate::problem::{self, Problem};
use crate::read;

/// The file name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// What some editors put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The file of a workflow.
#[derive(Debug)]
pub struct Source {
    /// The file as the user named it.
    pub name: String,
    /// What is in it, without a byte order mark.
    pub bytes: Vec<u8>,
}

impl Source {
    /// Reads a file, or standard input for `-`.
    pub fn read(path: &Path) -> Result<Source, Problem> {
        let standard_input = path.as_os_str() == STANDARD_INPUT;
        let (name, mut bytes) = match standard_input {
            true => ("(standard input)".to_owned(), read::standard_input()?),
            false => (path.display().to_string(), read::bytes(path)?),
        };
        // Places are counted without it.
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Source { name, bytes })
    }

    /// The text, as far as it is one.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Loads the workflow. A file that is none is refused.
    pub fn load(&self, engine: &Engine) -> Result<Workflow, Problem> {
        engine.load(&self.bytes).map_err(|error| {
            let found = error.diagnostic();
            Problem::new(Exit::Refused, found.message.clone())
                .at(&self.name, &self.text(), found.place)
                .fix(found.fix)
        })
    }

    /// Says why a workflow must not run, if so.
    pub fn refuse(&self, workflow: &Workflow) -> Result<(), Problem> {
        let refusals: Vec<&Diagnostic> = workflow.refusals().collect();
        let text = self.text();
        let terminal = std::io::stderr().is_terminal();
        for refusal in &refusals {
            out::tell(&problem::diagnostic(refusal, &self.name, &text, terminal));
        }
        match refusals.len() {
            0 => Ok(()),
            count => {
                let errors = if count == 1 { "error" } else { "errors" };
                let message = format!("{} has {count} {errors} and is not run.", self.name);
                Err(Problem::new(Exit::Refused, message)
                    .fix("Mend what is named above; `easel explain CODE` says more about a code."))
            }
        }
    }
}
