//! `easel check`: what is wrong or doubtful about workflows.

use std::fmt::Write;
use std::io::IsTerminal;

use easel_runtime::Engine;
use easel_runtime::check::{Diagnostic, Report, Severity, json, sarif};

use crate::cli::{CheckArguments, Format};
use crate::config::Config;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{self, Problem};
use crate::source::Source;

/// What is shown of one file, at most.
const SHOWN: usize = 100;

/// Checks workflows and prints what there is to say.
pub fn check(arguments: &CheckArguments) -> Result<Exit, Problem> {
    let config = Config::read(arguments.config.as_deref())?;
    let engine = Engine::builder()
        .model(config.models()?)
        .secrets(keyring::resolver()?)
        .build();
    let engine = engine.map_err(|error| Problem::usage(error.to_string()))?;
    let terminal = std::io::stdout().is_terminal();
    let mut reports = Vec::with_capacity(arguments.files.len());
    let mut shown = String::new();
    let mut unread = false;
    for file in &arguments.files {
        let source = match Source::read(file) {
            Ok(source) => source,
            // What there is to say about the others is said all the same.
            Err(problem) => {
                problem.tell();
                unread = true;
                continue;
            }
        };
        let diagnostics = match source.open(&engine) {
            Ok(workflow) => engine.check(&workflow),
            Err(found) => vec![found],
        };
        if arguments.format == Format::Text {
            show(&mut shown, &source, &diagnostics, terminal);
        }
        reports.push(Report {
            file: source.name,
            diagnostics,
        });
    }
    match arguments.format {
        Format::Text => out::print(&format!("{shown}{}", summary(&reports))),
        Format::Json => out::line(&format!("{:#}", json::reports(&reports))),
        Format::Sarif => out::line(&format!("{:#}", sarif::reports(&reports, crate::VERSION))),
    }
    Ok(match reports.iter().all(Report::passes) {
        _ if unread => Exit::Usage,
        true => Exit::Done,
        false => Exit::Refused,
    })
}

/// Adds what is shown of one file: errors and warnings with their lines, the rest in a line each.
fn show(out: &mut String, source: &Source, diagnostics: &[Diagnostic], terminal: bool) {
    let text = source.text();
    let (remarks, problems): (Vec<_>, Vec<_>) = diagnostics
        .iter()
        .partition(|d| d.severity == Severity::Info);
    for found in problems.iter().take(SHOWN) {
        out.push_str(&problem::diagnostic(found, &source.name, &text, terminal));
        out.push('\n');
    }
    for found in remarks.iter().take(SHOWN) {
        let at = found
            .place
            .map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "info[{}] {}{at}: {}",
            found.code, source.name, found.message
        );
    }
    if !remarks.is_empty() {
        out.push('\n');
    }
    let left = problems.len().saturating_sub(SHOWN) + remarks.len().saturating_sub(SHOWN);
    if left > 0 {
        let _ = writeln!(
            out,
            "{}: {left} more are not shown; --format json has all.\n",
            source.name
        );
    }
}

fn summary(reports: &[Report]) -> String {
    let count = |severity| -> usize { reports.iter().map(|report| report.count(severity)).sum() };
    let word = |n: usize, word: &str| match n {
        0 => format!("no {word}s"),
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    };
    let remarks = match count(Severity::Info) {
        0 => String::new(),
        n => format!(", {}", word(n, "remark")),
    };
    format!(
        "{}: {}, {}{remarks}.\n",
        word(reports.len(), "file"),
        word(count(Severity::Error), "error"),
        word(count(Severity::Warning), "warning"),
    )
}
