//! What runs in a worker process: a built-in interpreter, or the launcher that confines CPython.

mod calls;
mod confine;
mod convert;
mod files;
mod javascript;
mod limit;
mod python;
mod serve;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

/// The program of a worker: `python` and `javascript` serve calls on standard input and output until the input ends;
/// `confine` limits this process and becomes the program behind `--`.
///
/// A program that hosts a sandbox calls this first thing for its hidden verb, before it starts any thread.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let verb = arguments.next();
    let outcome = match verb.as_ref().and_then(|verb| verb.to_str()) {
        Some("python") => serve::serve::<python::Python>(),
        Some("javascript") => serve::serve::<javascript::JavaScript>(),
        Some("confine") => confine::become_program(arguments),
        _ => Err(std::io::Error::other(
            "a worker is started by a sandbox, as `python`, `javascript` or `confine`",
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
