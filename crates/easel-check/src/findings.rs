//! What the rules find, on its way to diagnostics.

use std::collections::HashMap;
use std::sync::Arc;

use easel_core::workflow::NodeId;

use crate::canvas::Canvas;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::spots::{Spot, Spots};

/// A canvas under check, and what was found so far.
pub(crate) struct Findings<'a> {
    pub canvas: Canvas<'a>,
    /// Finds the places of things.
    pub spots: Spots<'a>,
    found: Vec<Found>,
    /// The nodes by id.
    nodes: Option<HashMap<&'a str, NodeId>>,
}

/// One thing found; its line is looked up at the end, for all at once.
pub(crate) struct Found {
    code: Code,
    severity: Severity,
    node: Option<Arc<str>>,
    spot: Spot,
    message: String,
    detail: Option<String>,
    fix: Option<String>,
}

impl Found {
    /// Something about no node and no place.
    pub fn new(code: Code, message: impl Into<String>) -> Found {
        Found {
            code,
            severity: code.rule().severity,
            node: None,
            spot: Spot::Nowhere,
            message: message.into(),
            detail: None,
            fix: None,
        }
    }

    /// Says that it is less bad than the code's rule has it.
    pub fn severity(mut self, severity: Severity) -> Found {
        self.severity = severity;
        self
    }

    /// Says which node it is about.
    pub fn node(mut self, id: &Arc<str>) -> Found {
        self.node = Some(id.clone());
        self
    }

    /// Says where it is.
    pub fn at(mut self, spot: Spot) -> Found {
        self.spot = spot;
        self
    }

    /// Adds what follows from it.
    pub fn detail(mut self, detail: impl Into<String>) -> Found {
        self.detail = Some(detail.into());
        self
    }

    /// Says what to do in this case; without it, what the code's rule says.
    pub fn fix(mut self, fix: impl Into<String>) -> Found {
        self.fix = Some(fix.into());
        self
    }

    pub fn diagnostic(self, place: Option<Place>) -> Diagnostic {
        let rule = self.code.rule();
        Diagnostic {
            code: self.code,
            severity: self.severity,
            place,
            node: self.node,
            message: self.message,
            detail: self.detail,
            fix: self.fix.unwrap_or_else(|| rule.fix.to_owned()),
        }
    }
}

impl<'a> Findings<'a> {
    pub fn new(canvas: &Canvas<'a>) -> Findings<'a> {
        Findings {
            canvas: *canvas,
            spots: Spots::new(canvas),
            found: Vec::new(),
            nodes: None,
        }
    }

    /// The nodes of the workflow by id.
    pub fn nodes(&mut self) -> &HashMap<&'a str, NodeId> {
        let workflow = self.canvas.workflow;
        self.nodes.get_or_insert_with(|| {
            let nodes = workflow.nodes.iter().enumerate();
            let visible = nodes.filter(|(_, node)| !node.implicit);
            visible
                .map(|(at, node)| (&*node.draft.id, NodeId(at as u32)))
                .collect()
        })
    }

    /// The node of that id.
    pub fn node(&mut self, id: &str) -> Option<NodeId> {
        self.nodes().get(id).copied()
    }

    pub fn add(&mut self, found: Found) {
        self.found.push(found);
    }

    /// Everything found, in the order of the file; what has no place comes first.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        let spots: Vec<&Spot> = self.found.iter().map(|found| &found.spot).collect();
        let places = crate::spots::locate(self.canvas.document, &spots);
        let found = self.found.into_iter().zip(places);
        let mut diagnostics: Vec<Diagnostic> = found
            .map(|(found, place)| found.diagnostic(place))
            .collect();
        diagnostics.sort_by_key(|d| (d.place.map(|at| at.offset), d.severity, d.code));
        diagnostics
    }
}
