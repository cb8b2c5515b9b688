//! What was found when the file was read: keys, types, and how nodes hang together.

use easel_graph::finding::{self, Finding};

use super::context::{Context, Findings};
use super::position;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Severity};

/// Reports what reading found.
pub(super) fn report(context: &Context<'_>, findings: &mut Findings) {
    for found in context.document.findings() {
        findings.push(diagnostic(found));
    }
}

fn diagnostic(found: &Finding) -> Diagnostic {
    Diagnostic {
        code: code(found),
        severity: match found.severity {
            finding::Severity::Error => Severity::Error,
            finding::Severity::Warning => Severity::Warning,
            finding::Severity::Info => Severity::Info,
        },
        place: position::of(found.at),
        node: found.node.clone(),
        message: found.cause.clone(),
        detail: None,
        fix: found.fix.clone(),
    }
}

/// The code of a finding: of the same name, but for secrets on a kind that takes none.
fn code(found: &Finding) -> Code {
    match (found.code, found.subject.as_deref()) {
        (finding::Code::InertKey, Some("secrets")) => Code::SecretUnusable,
        (code, _) => of_same_name(code),
    }
}

fn of_same_name(code: finding::Code) -> Code {
    use finding::Code as Read;
    match code {
        Read::Type => Code::Type,
        Read::Missing => Code::Missing,
        Read::Choice => Code::Choice,
        Read::KeyNotText => Code::KeyNotText,
        Read::UnknownKind => Code::UnknownKind,
        Read::NoNodes => Code::NoNodes,
        Read::DuplicateId => Code::DuplicateId,
        Read::DuplicateInput => Code::DuplicateInput,
        Read::Dag => Code::Dag,
        Read::Structure => Code::Structure,
        Read::BlankWhen => Code::BlankWhen,
        Read::DependsOnOutput => Code::DependsOnOutput,
        Read::OutputAsHandler => Code::OutputAsHandler,
        Read::HandlerNotDownstream => Code::HandlerNotDownstream,
        Read::RouterTargets => Code::RouterTargets,
        Read::RoutesAndCases => Code::RoutesAndCases,
        Read::RouterBlankLabel => Code::RouterBlankLabel,
        Read::RouterUnknownTarget => Code::RouterUnknownTarget,
        Read::RouterTargetNotDownstream => Code::RouterTargetNotDownstream,
        Read::RouterKeyElsewhere => Code::RouterKeyElsewhere,
        Read::BlankUntil => Code::BlankUntil,
        Read::BreakWhen => Code::BreakWhen,
        Read::Callable => Code::Callable,
        Read::BodyDependencyOutside => Code::BodyDependencyOutside,
        Read::BodyOutputs => Code::BodyOutputs,
        Read::UnknownKey => Code::UnknownKey,
        Read::InertKey => Code::InertKey,
        Read::DuplicateKey => Code::DuplicateKey,
        Read::OnlyFirstTool => Code::OnlyFirstTool,
        Read::NoResult => Code::NoResult,
        Read::Override => Code::Override,
        Read::Functions => Code::Functions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_checking_call_the_same_thing_the_same() {
        for &code in finding::Code::ALL {
            let here = of_same_name(code);
            assert_eq!(here.name(), code.name());
            assert_eq!(
                here.rule().severity.name(),
                format!("{:?}", code.severity()).to_lowercase()
            );
        }
    }
}
