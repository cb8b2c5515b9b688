//! Members that stand twice in one object.

use easel_canvas::pointer::Step;
use easel_canvas::source::Duplicate;

use crate::code::Code;
use crate::findings::{Findings, Found};
use crate::spots::Spot;

/// Reports every duplicate.
pub(crate) fn report(findings: &mut Findings<'_>) {
    for duplicate in findings.canvas.document.duplicate_keys() {
        match node(&duplicate) {
            Some(found) => findings.add(found),
            None => findings.add(member(&duplicate)),
        }
    }
}

/// Reports nodes with one id.
pub(crate) fn report_errors(findings: &mut Findings<'_>) {
    let duplicates = findings.canvas.document.duplicate_keys();
    duplicates
        .iter()
        .filter_map(node)
        .for_each(|found| findings.add(found));
}

/// Two components under one id.
fn node(duplicate: &Duplicate) -> Option<Found> {
    let [Step::Key(components), Step::Key(id)] = &duplicate.place[..] else {
        return None;
    };
    let is_node = **components == *"components";
    is_node.then(|| {
        let line = duplicate.first.line;
        let message =
            format!("Two nodes have the id `{id}`; the other stands at line {line} and is lost.");
        Found::new(Code::DuplicateId, message)
            .node(id)
            .at(Spot::Exactly(duplicate.again))
    })
}

fn member(duplicate: &Duplicate) -> Found {
    let name = match duplicate.place.last() {
        Some(Step::Key(name)) => &**name,
        _ => "",
    };
    let line = duplicate.first.line;
    let message =
        format!("`{name}` stands twice in one object; the first, at line {line}, is lost.");
    let found = Found::new(Code::DuplicateMember, message).at(Spot::Exactly(duplicate.again));
    match &duplicate.place[..] {
        [Step::Key(components), Step::Key(id), ..] if **components == *"components" => {
            found.node(id)
        }
        _ => found,
    }
}
