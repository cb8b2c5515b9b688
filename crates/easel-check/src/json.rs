//! Reports as JSON.

use serde::Serialize;
use serde_json::Value;

use crate::diagnostic::{Report, Severity};

/// All reports with their totals:
/// `{"errors", "warnings", "infos", "files": [{"file", "diagnostics": [{"code", "severity", "place", "node", "message", "detail", "fix"}]}]}`.
/// A place is `{"line", "column", "offset", "len"}`: the first two from 1, columns in characters, the others in bytes.
pub fn reports(reports: &[Report]) -> Value {
    let total = |severity| reports.iter().map(|report| report.count(severity)).sum();
    let all = All {
        errors: total(Severity::Error),
        warnings: total(Severity::Warning),
        infos: total(Severity::Info),
        files: reports,
    };
    serde_json::to_value(&all).unwrap_or_default()
}

#[derive(Serialize)]
struct All<'a> {
    errors: usize,
    warnings: usize,
    infos: usize,
    files: &'a [Report],
}
