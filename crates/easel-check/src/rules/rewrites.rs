//! What was rewritten because it has a shape of former times.

use easel_canvas::normalise::Rewrite;
use easel_canvas::pointer::Step;

use crate::code::Code;
use crate::diagnostic::sentence;
use crate::findings::{Findings, Found};
use crate::spots::Spot;

/// Reports every rewrite.
pub(crate) fn report(findings: &mut Findings<'_>) {
    for note in findings.canvas.notes {
        let message = sentence(&note.what);
        let found = Found::new(code(note.rewrite), message).at(Spot::AsRead(note.place.clone()));
        findings.add(match &note.place[..] {
            [Step::Key(components), Step::Key(id), ..] if **components == *"components" => {
                found.node(id)
            }
            _ => found,
        });
    }
}

fn code(rewrite: Rewrite) -> Code {
    match rewrite {
        Rewrite::DrawingLifted => Code::DrawingLifted,
        Rewrite::DrawingRepaired => Code::DrawingRepaired,
        Rewrite::HistoryReshaped => Code::HistoryReshaped,
        Rewrite::RetrievalReshaped => Code::RetrievalReshaped,
        Rewrite::MemoryReshaped => Code::MemoryReshaped,
        Rewrite::VariablesReshaped => Code::VariablesReshaped,
        Rewrite::EntryReshaped => Code::EntryReshaped,
        Rewrite::ClassRenamed => Code::ClassRenamed,
        Rewrite::IdRenamed => Code::IdRenamed,
        Rewrite::ComponentsDerived => Code::ComponentsDerived,
        Rewrite::SubAgentLeftOut => Code::SubAgentLeftOut,
        Rewrite::ParamReshaped => Code::ParamReshaped,
        Rewrite::PlaceholderRewritten => Code::PlaceholderRewritten,
        Rewrite::LegacyReplaced => Code::LegacyReplaced,
        Rewrite::AnswerReplaced => Code::AnswerReplaced,
        Rewrite::MessageAdded => Code::MessageAdded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewrite_keeps_the_name_that_its_dialect_gave_it() {
        let rewrites = [
            Rewrite::DrawingLifted,
            Rewrite::DrawingRepaired,
            Rewrite::HistoryReshaped,
            Rewrite::RetrievalReshaped,
            Rewrite::MemoryReshaped,
            Rewrite::VariablesReshaped,
            Rewrite::EntryReshaped,
            Rewrite::ClassRenamed,
            Rewrite::IdRenamed,
            Rewrite::ComponentsDerived,
            Rewrite::SubAgentLeftOut,
            Rewrite::ParamReshaped,
            Rewrite::PlaceholderRewritten,
            Rewrite::LegacyReplaced,
            Rewrite::AnswerReplaced,
            Rewrite::MessageAdded,
        ];
        for rewrite in rewrites {
            assert_eq!(code(rewrite).name(), rewrite.code());
        }
    }
}
