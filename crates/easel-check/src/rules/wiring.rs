//! Edges that only one of their sides knows of.

use easel_canvas::wiring::{Asymmetry, AsymmetryKind};

use crate::code::Code;
use crate::findings::{Findings, Found};
use crate::spots::Spot;

/// Reports every edge that is drawn or wired on one side only.
pub(crate) fn report(findings: &mut Findings<'_>) {
    let document = findings.canvas.document;
    for asymmetry in document.asymmetries(findings.spots.components()) {
        let Asymmetry { edge, kind, place } = asymmetry;
        let (from, to) = (&edge.from, &edge.to);
        let (message, fix) = match kind {
            AsymmetryKind::NotInUpstream => (
                format!("The edge from `{from}` to `{to}` is not among the `upstream` of `{to}`."),
                format!(
                    "Add `{from}` to the `upstream` of `{to}`, or remove the edge from `{from}`."
                ),
            ),
            AsymmetryKind::NotInDownstream => (
                format!(
                    "The edge from `{from}` to `{to}` is not among the `downstream` of `{from}`."
                ),
                format!(
                    "Add `{to}` to the `downstream` of `{from}`, or remove the edge from `{to}`."
                ),
            ),
            AsymmetryKind::NotDrawn => (
                format!("The edge from `{from}` to `{to}` is not drawn."),
                format!("Draw the line from `{from}` to `{to}`, or remove the edge."),
            ),
            AsymmetryKind::NotWired => (
                format!(
                    "The line from `{from}` to `{to}` is drawn, but neither of the two knows of it."
                ),
                format!("Add `{to}` to the `downstream` of `{from}`, or remove the line."),
            ),
        };
        let spot = match kind {
            AsymmetryKind::NotWired => Spot::whole(place),
            _ => findings.spots.edge(from, to),
        };
        let found = Found::new(Code::OneSidedEdge, message).node(from).at(spot);
        findings.add(found.detail("Easel goes along it all the same.").fix(fix));
    }
}
