//! Why the host cannot do what it is asked.

use easel_runtime::{LoadError, NoSuchWrite, TurnError};
use easel_store::StoreError;

/// Why the host cannot do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// There is no such conversation.
    #[error("there is no session {0}")]
    NoSession(String),
    /// There is no such run.
    #[error("there is no run {0}")]
    NoRun(String),
    /// The file is somebody else's, which nobody needs to know.
    #[error("there is no file {0}; upload it first")]
    ForeignFile(String),
    /// There is no such document.
    #[error("the workflow with the hash {0} is not in the store")]
    NoDocument(String),
    /// A turn is under way in the conversation.
    #[error("the session {0} is answering another message; wait for it, or let messages queue")]
    Busy(String),
    /// Another worker drives it.
    #[error("the run {0} is under way; wait for its turn to end, or cancel it")]
    Elsewhere(String),
    /// Somebody must decide first.
    #[error("the run {run} does not know whether a write happened, and waits for a decision: {}", questions.join(" "))]
    Undecided {
        /// The run.
        run: String,
        /// What is to be decided.
        questions: Vec<String>,
    },
    /// It does not wait.
    #[error("the run {run} is {state} and waits for no answer")]
    NotWaiting {
        /// The run.
        run: String,
        /// How it stands.
        state: &'static str,
    },
    /// It is not uncertain.
    #[error("the run {run} is {state} and has no uncertain write")]
    NotUncertain {
        /// The run.
        run: String,
        /// How it stands.
        state: &'static str,
    },
    /// Nothing is left to do.
    #[error("the run {run} is {state}; there is nothing to go on with")]
    NothingToDrive {
        /// The run.
        run: String,
        /// How it stands.
        state: &'static str,
    },
    /// Too many turns are under way.
    #[error("{0} turns are under way, which is the limit; try again in a moment")]
    Full(usize),
    /// The server is about to stop.
    #[error("the server is stopping; try again when it is back")]
    Stopping,
    /// It has no such write.
    #[error(transparent)]
    NoSuchWrite(#[from] NoSuchWrite),
    /// The document is no workflow.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The turn cannot be made.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl HostError {
    /// Tells the operator about a run that could not be taken up.
    pub(super) fn tell(&self, run: &str) {
        match self {
            // Somebody else has it, or it ended meanwhile.
            HostError::Elsewhere(_) | HostError::NothingToDrive { .. } => {}
            error => eprintln!("easel: the run {run} could not be taken up: {error}"),
        }
    }
}
