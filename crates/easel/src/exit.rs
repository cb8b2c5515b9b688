//! How commands end.

use std::process::ExitCode;

/// How a command ended. The numbers are promised to scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: it did what it was asked.
    Done,
    /// 1: the run failed or was cancelled, or a case differs.
    Failed,
    /// 2: the command was used wrongly: a file that is not there, settings that do not fit.
    Usage,
    /// 3: the check refused the workflow.
    Refused,
    /// 4: the run waits for input.
    Waiting,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Refused => 3,
            Exit::Waiting => 4,
        })
    }
}
