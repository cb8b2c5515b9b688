//! Reports as SARIF 2.1.0, which code hosts and editors read.

use serde_json::{Value, json};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Severity, sentence};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// All reports as one run. `version` is that of the program that asks.
pub fn reports(reports: &[Report], version: &str) -> Value {
    let rules: Vec<Value> = Code::ALL.iter().map(|code| rule(*code)).collect();
    let results: Vec<Value> = reports
        .iter()
        .flat_map(|report| report.diagnostics.iter().map(|d| result(&report.file, d)))
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "easel", "version": version, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Value {
    let rule = code.rule();
    json!({
        "id": rule.name,
        "shortDescription": {"text": sentence(rule.title)},
        "fullDescription": {"text": format!("{} {}", rule.means, rule.matters)},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": level(rule.severity)},
    })
}

fn result(file: &str, diagnostic: &Diagnostic) -> Value {
    let mut text = diagnostic.message.clone();
    for more in diagnostic.detail.iter().chain([&diagnostic.fix]) {
        text.push(' ');
        text.push_str(more);
    }
    let mut physical = json!({"artifactLocation": {"uri": uri(file)}});
    if let (Some(place), Some(members)) = (diagnostic.place, physical.as_object_mut()) {
        let mut region = json!({"startLine": place.line, "startColumn": place.column});
        if let Some(region) = region.as_object_mut() {
            region.insert("byteOffset".to_owned(), place.offset.into());
            region.insert("byteLength".to_owned(), place.len.into());
        }
        members.insert("region".to_owned(), region);
    }
    let mut location = json!({"physicalLocation": physical});
    if let (Some(node), Some(members)) = (&diagnostic.node, location.as_object_mut()) {
        members.insert(
            "logicalLocations".to_owned(),
            json!([{"name": node, "kind": "element"}]),
        );
    }
    json!({
        "ruleId": diagnostic.code.name(),
        "ruleIndex": Code::ALL.iter().position(|code| *code == diagnostic.code),
        "level": level(diagnostic.severity),
        "message": {"text": text},
        "locations": [location],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A path as a relative reference: what an address cannot hold is escaped.
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    for byte in file.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                uri.push(char::from(byte))
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_an_address() {
        assert_eq!(uri("a b/ü.json"), "a%20b/%C3%BC.json");
    }
}
