//! `easel check` and `easel explain`.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use easel_check::{Canvas, Code, Diagnostic, Report, Severity, Surroundings};
use easel_runtime::catalog::Catalog;
use easel_runtime::{LoadError, Workflow};

use crate::cli::{CheckArguments, Format};

/// Checks workflows. Exit 0: no errors. 3: one has an error. 2: one cannot be read from the disk.
pub fn check(arguments: &CheckArguments) -> ExitCode {
    let mut reports = Vec::new();
    let mut shown = String::new();
    for file in &arguments.files {
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("error: {} cannot be read: {error}", file.display());
                return ExitCode::from(2);
            }
        };
        let diagnostics = match Workflow::load(&bytes) {
            Ok(workflow) => {
                let canvas = canvas(&workflow, Catalog::builtin());
                easel_check::check(&canvas, &Surroundings::default())
            }
            Err(LoadError::Unreadable(error)) => vec![easel_check::unreadable(&error)],
        };
        let text = String::from_utf8_lossy(&bytes);
        for diagnostic in &diagnostics {
            shown += &rendered(diagnostic, file, &text);
        }
        reports.push(Report {
            file: file.display().to_string(),
            diagnostics,
        });
    }
    match arguments.format {
        Format::Text => print!("{shown}{}", summary(&reports)),
        Format::Json => println!("{:#}", easel_check::json::reports(&reports)),
        Format::Sarif => {
            println!("{:#}", easel_check::sarif::reports(&reports, crate::VERSION));
        }
    }
    match reports.iter().all(Report::passes) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(3),
    }
}

/// A loaded workflow as the check takes it.
pub fn canvas<'a>(workflow: &'a Workflow, catalog: &'a Catalog) -> Canvas<'a> {
    Canvas {
        document: workflow.document(),
        notes: workflow.notes(),
        parameters: workflow.parameter_findings(),
        structure: workflow.structure_findings(),
        workflow: workflow.compiled(),
        catalog,
    }
}

/// One diagnostic for people: what, where, the line of the file, why, what to do.
pub fn rendered(diagnostic: &Diagnostic, file: &Path, text: &str) -> String {
    let mut out = String::new();
    let severity = diagnostic.severity.name();
    // Writing to a string does not fail.
    let _ = writeln!(out, "{severity}[{}]: {}", diagnostic.code.name(), diagnostic.message);
    match diagnostic.place {
        Some(place) => {
            let _ = writeln!(out, "  --> {}:{}:{}", file.display(), place.line, place.column);
            out += &excerpt(text, place.line, place.column, place.len);
        }
        None => {
            let _ = writeln!(out, "  --> {}", file.display());
        }
    }
    if let Some(detail) = &diagnostic.detail {
        let _ = writeln!(out, "  {detail}");
    }
    let _ = writeln!(out, "  fix: {}\n", diagnostic.fix);
    out
}

/// The longest piece of a line that is shown.
const SHOWN: usize = 100;

/// The line with a mark under the place; of a long line the part around it.
fn excerpt(text: &str, line: usize, column: usize, len: usize) -> String {
    let Some(whole) = text.lines().nth(line.saturating_sub(1)) else {
        return String::new();
    };
    let column = column.saturating_sub(1);
    let from = column.saturating_sub(SHOWN / 2);
    let part: String = whole.chars().skip(from).take(SHOWN).collect();
    let part = part.replace('\t', " ");
    let mark = len.clamp(1, SHOWN.saturating_sub(column - from).max(1));
    format!(
        "{line:>5} | {part}\n      | {}{}\n",
        " ".repeat(column - from),
        "^".repeat(mark)
    )
}

fn summary(reports: &[Report]) -> String {
    let count = |severity| -> usize { reports.iter().map(|r| r.count(severity)).sum() };
    let word = |n: usize, word: &str| match n {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    };
    format!(
        "{}: {}, {}, {}\n",
        word(reports.len(), "file"),
        word(count(Severity::Error), "error"),
        word(count(Severity::Warning), "warning"),
        word(count(Severity::Info), "remark"),
    )
}

/// Explains a code of the check.
pub fn explain(code: &str) -> ExitCode {
    let Some(code) = Code::find(code) else {
        eprintln!("There is no code {code}. The check prints codes in brackets.");
        return ExitCode::from(2);
    };
    let rule = code.rule();
    let example: String = rule.example.lines().map(|line| format!("    {line}\n")).collect();
    println!("{}[{}]: {}\n", rule.severity.name(), rule.name, rule.title);
    println!("{}\n\n{}\n", rule.means, rule.matters);
    println!("Example:\n\n{example}\nFix: {}", rule.fix);
    ExitCode::SUCCESS
}
