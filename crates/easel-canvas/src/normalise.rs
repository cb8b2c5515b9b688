//! Old and unusual shapes of a canvas, rewritten to today's.
//!
//! [`normalise`] is pure and idempotent: the document it is given stays as it is, and a document in today's form comes
//! back unchanged and without a note. Every rewrite leaves a [`Note`]. One file per theme. Their order matters: a
//! drawing has its names before components are derived by them, parameters their shapes before the old interaction points come
//! apart, and ids change last, when nothing that is removed can free one any more.

mod answer;
mod derive;
mod form;
mod legacy;
mod params;
mod placeholder;
mod rename;
mod shape;

use std::sync::Arc;

use easel_core::{Object, Value};

use crate::component::{entry_class, entry_params};
use crate::document::Document;
use crate::edit::{members, rename};
use crate::pointer::Pointer;

/// A document in today's form, and what was done to get there.
#[derive(Clone, Debug)]
pub struct Normalised {
    /// The document; its [`locate`](Document::locate) still finds the lines of the file that was read.
    pub document: Document,
    /// What was rewritten, in the order in which it was.
    pub notes: Vec<Note>,
}

/// One rewrite, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Which rewrite.
    pub rewrite: Rewrite,
    /// Where, in the document as it was read: see [`Document::locate_as_read`].
    pub place: Pointer,
    /// One sentence that says what it was and what it is now.
    pub what: String,
}

/// The kinds of rewrites. [`code`](Rewrite::code) is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rewrite {
    /// `nodes` and `edges` at the top of the canvas went under `graph`.
    DrawingLifted,
    /// Kinds of drawn nodes got their present names.
    DrawingRepaired,
    /// Entries of `history` became pairs of role and payload.
    HistoryReshaped,
    /// `retrieval` became a list of buckets.
    RetrievalReshaped,
    /// Entries of `memory` became triples.
    MemoryReshaped,
    /// `variables` became an object.
    VariablesReshaped,
    /// A flat component got its `obj`.
    EntryReshaped,
    /// A component class got its present name.
    ClassRenamed,
    /// An id that begins with an old class name changed with it, everywhere.
    IdRenamed,
    /// `components` were derived from the drawing.
    ComponentsDerived,
    /// A sub-agent that would contain itself, or lies too deep, was left out of its agent's tools.
    SubAgentLeftOut,
    /// A parameter got its present name or type.
    ParamReshaped,
    /// An old placeholder became a reference.
    PlaceholderRewritten,
    /// A component class that no longer exists became one that does the same.
    LegacyReplaced,
    /// An old interaction point became the end of a turn or a form.
    AnswerReplaced,
    /// A Message was added, to show what an old interaction point showed.
    MessageAdded,
}

impl Rewrite {
    /// The stable code, for diagnostics.
    pub fn code(self) -> &'static str {
        match self {
            Rewrite::DrawingLifted => "drawing-lifted",
            Rewrite::DrawingRepaired => "drawing-repaired",
            Rewrite::HistoryReshaped => "history-reshaped",
            Rewrite::RetrievalReshaped => "retrieval-reshaped",
            Rewrite::MemoryReshaped => "memory-reshaped",
            Rewrite::VariablesReshaped => "variables-reshaped",
            Rewrite::EntryReshaped => "entry-reshaped",
            Rewrite::ClassRenamed => "class-renamed",
            Rewrite::IdRenamed => "id-renamed",
            Rewrite::ComponentsDerived => "components-derived",
            Rewrite::SubAgentLeftOut => "sub-agent-left-out",
            Rewrite::ParamReshaped => "param-reshaped",
            Rewrite::PlaceholderRewritten => "placeholder-rewritten",
            Rewrite::LegacyReplaced => "legacy-replaced",
            Rewrite::AnswerReplaced => "answer-replaced",
            Rewrite::MessageAdded => "message-added",
        }
    }
}

/// Rewrites every old shape that Easel knows (spec/canvas-engine §1.5, spec/canvas-components §8 and §10).
///
/// Left alone on purpose: edges to nothing and self edges (the check reports them), stored outputs (state, T6), missing
/// `sys.*` and `env.*` (the views fill them in), and the handles of drawn lines ([`Document::drawing`] repairs a copy).
pub fn normalise(document: &Document) -> Normalised {
    let mut rewriter = Rewriter {
        document: document.clone(),
        notes: Vec::new(),
    };
    for pass in PASSES {
        rewriter.document.origin.moves.begin_stage();
        pass(&mut rewriter);
    }
    let Rewriter {
        mut document,
        notes,
    } = rewriter;
    document.origin.changed |= !notes.is_empty();
    Normalised { document, notes }
}

/// The rewrites in their order.
const PASSES: [fn(&mut Rewriter); 10] = [
    shape::document,
    shape::entries,
    rename::drawn,
    derive::components,
    rename::classes,
    placeholder::references,
    params::shapes,
    legacy::classes,
    answer::turns,
    rename::ids,
];

/// A document on its way to today's form.
struct Rewriter {
    document: Document,
    notes: Vec<Note>,
}

impl Rewriter {
    /// Notes a rewrite at a place of the document as it is now.
    fn note(&mut self, rewrite: Rewrite, place: &Pointer, what: impl Into<String>) {
        self.notes.push(Note {
            rewrite,
            place: self.document.place_as_read(place),
            what: what.into(),
        });
    }

    /// Remembers that what stands at `now` was made from what stood at `before`.
    fn moved(&mut self, now: Pointer, before: Pointer) {
        self.document.origin.moves.add(now, before);
    }

    /// The members at the top of the canvas.
    fn canvas(&mut self) -> &mut Object {
        &mut self.document.canvas
    }

    /// The entries of `components`.
    fn entries(&mut self) -> Option<&mut Object> {
        self.canvas().get_mut("components").and_then(members)
    }

    /// Lets `visit` change the class and the parameters of each component in turn. What it leaves no note about is
    /// taken as unchanged.
    fn each_node(&mut self, mut visit: impl FnMut(&mut Node)) {
        let entries = self
            .document
            .get("components")
            .and_then(Value::as_object)
            .cloned();
        for (id, entry) in entries.into_iter().flatten() {
            if entry.get("obj").and_then(Value::as_object).is_none() {
                continue;
            }
            let mut node = Node {
                id: id.clone(),
                class: entry_class(&entry),
                params: Arc::unwrap_or_clone(entry_params(&entry)),
                remarks: Vec::new(),
                renamed: Vec::new(),
            };
            visit(&mut node);
            if node.remarks.is_empty() {
                continue;
            }
            for (rewrite, param, what) in node.remarks {
                let place = match param {
                    Some(param) => Pointer::param(&id, &param),
                    None => Pointer::component(&id),
                };
                self.note(rewrite, &place, what);
            }
            for (old, new) in node.renamed {
                self.moved(Pointer::param(&id, new), Pointer::param(&id, old));
            }
            let obj = self
                .entries()
                .and_then(|entries| entries.get_mut(&id))
                .and_then(members);
            if let Some(obj) = obj.and_then(|entry| entry.get_mut("obj")).and_then(members) {
                obj.insert("component_name".into(), node.class.into());
                obj.insert("params".into(), node.params.into());
            }
        }
    }
}

/// One component that may be rewritten.
struct Node {
    id: Arc<str>,
    class: Arc<str>,
    params: Object,
    /// Which rewrite, of which parameter, and in words.
    remarks: Vec<(Rewrite, Option<String>, String)>,
    /// Parameters that have another name now: the old and the new one.
    renamed: Vec<(&'static str, &'static str)>,
}

impl Node {
    /// True if this is the class, whatever the case.
    fn is(&self, class: &str) -> bool {
        self.class.eq_ignore_ascii_case(class)
    }

    /// Gives a parameter another name at the same place.
    fn rename_param(&mut self, old: &'static str, new: &'static str) {
        rename(&mut self.params, old, new);
        self.renamed.push((old, new));
        let what = format!("`{old}` is called `{new}` now");
        self.note_param(Rewrite::ParamReshaped, old, what);
    }

    /// Notes a rewrite of the component as a whole.
    fn note(&mut self, rewrite: Rewrite, what: impl Into<String>) {
        self.remarks.push((rewrite, None, what.into()));
    }

    /// Notes a rewrite of one parameter.
    fn note_param(&mut self, rewrite: Rewrite, param: &str, what: impl Into<String>) {
        self.remarks
            .push((rewrite, Some(param.to_owned()), what.into()));
    }
}

/// The value with every text in it rewritten, however deep, or `None` if that changes nothing. Names of members stay.
fn rewritten(value: &Value, rewrite: &impl Fn(&str) -> Option<String>) -> Option<Value> {
    match value {
        Value::String(text) => rewrite(text).map(Value::from),
        Value::Array(items) => {
            let new: Vec<_> = items.iter().map(|item| rewritten(item, rewrite)).collect();
            new.iter().any(Option::is_some).then(|| {
                let items = items
                    .iter()
                    .zip(new)
                    .map(|(old, new)| new.unwrap_or_else(|| old.clone()));
                Value::from(items.collect::<Vec<_>>())
            })
        }
        Value::Object(members) => {
            let new: Vec<_> = members
                .values()
                .map(|member| rewritten(member, rewrite))
                .collect();
            new.iter().any(Option::is_some).then(|| {
                let members = members.iter().zip(new);
                let members = members
                    .map(|((name, old), new)| (name.clone(), new.unwrap_or_else(|| old.clone())));
                Value::from(members.collect::<Object>())
            })
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "normalise/tests.rs"]
mod tests;
