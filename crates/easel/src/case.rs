//! `easel test`: case folders with a scripted world.

mod canvas;
mod files;

use std::process::ExitCode;

use crate::cli::TestArguments;

/// Runs the cases. Exit 0: all as expected. 1: one differs. 2: one cannot be read.
pub fn test(arguments: &TestArguments) -> ExitCode {
    let mut differs = false;
    for folder in &arguments.cases {
        let case = match files::Case::read(folder) {
            Ok(case) => case,
            Err(error) => {
                eprintln!("{}: {error}", folder.display());
                return ExitCode::from(2);
            }
        };
        let trace = canvas::run(&case);
        if let Some(path) = &arguments.trace {
            let text = serde_json::to_string(&trace).unwrap_or_default();
            if let Err(error) = std::fs::write(path, text) {
                eprintln!("{}: cannot be written: {error}", path.display());
                return ExitCode::from(2);
            }
        }
        differs |= case.expected.is_none();
    }
    match differs {
        true => ExitCode::from(1),
        false => ExitCode::SUCCESS,
    }
}
