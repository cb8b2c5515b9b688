//! What a node reads: references, and texts with references in them.

use std::collections::HashSet;
use std::sync::Arc;

use easel_canvas::component::Component;
use easel_core::reference::{Reference, Root};
use indexmap::IndexSet;

use super::inputs::{input_type, is_optional};
use super::{Class, Writer};
use crate::edges::handler;
use crate::names;
use crate::text::{self, Piece, Read, Source, Why};

impl Writer<'_> {
    /// The id in the graph of a node, if its value there is that port.
    pub(super) fn value_of(&self, id: &str, port: &str) -> Option<String> {
        let component = self.components.get(id)?;
        let is_value = match self.class(component)? {
            Class::Iteration => {
                let outputs = component
                    .params
                    .get("outputs")
                    .and_then(|all| all.as_object());
                let mut outputs = outputs
                    .into_iter()
                    .flatten()
                    .filter(|(_, output)| output.get("ref").is_some());
                outputs.next().is_some_and(|(name, _)| **name == *port) && outputs.next().is_none()
            }
            class => class.port() == Some(port),
        };
        is_value.then(|| self.names.get(id).cloned()).flatten()
    }

    /// A text as a template.
    pub(super) fn text(
        &mut self,
        component: &Component,
        deps: &IndexSet<String>,
        key: &str,
        said: &str,
        jinja: bool,
    ) -> Option<String> {
        let read = text::of_canvas(said, jinja, |reference| self.resolve(component, reference));
        let pieces: Vec<Piece> = match read {
            Ok(pieces) => pieces,
            Err(why) => {
                self.losses
                    .say(&component.id, key, format!("Left out: {why}"));
                return None;
            }
        };
        for read in text::reads(&pieces) {
            if !self.is_text(read)
                && !self.is_number(read)
                && !matches!(read.source, Source::Error(_))
            {
                let why = "It inserts what may be no text: a canvas writes lists, objects and truth values as JSON and nothing for what is missing, a graph writes them as Python does.";
                self.losses.say(&component.id, key, why);
            } else if let Source::Node(name) = &read.source
                && !self.surely_ran(component, name)
            {
                let why = "It inserts the text of a node that may not have run: a canvas writes nothing there, a graph None or the placeholder.";
                self.losses.say(&component.id, key, why);
            }
        }
        let near: HashSet<String> = deps
            .iter()
            .filter_map(|id| self.names.get(id).cloned())
            .collect();
        let mut published = Vec::new();
        let written = text::to_graph(&pieces, |read| {
            let root = match &read.source {
                Source::Query => "query".to_owned(),
                Source::Input(name) => name.clone(),
                Source::Node(name) if near.contains(name) => name.clone(),
                Source::Node(name) => {
                    published.push(name.clone());
                    format!("vars.{name}")
                }
                Source::Error(name) => format!("{name}__error"),
                Source::Item => "item".to_owned(),
                Source::Index => "index".to_owned(),
            };
            spelt(root, &read.path)
        });
        self.published.extend(published);
        match written {
            Ok(written) => Some(written),
            Err(why) => {
                self.losses
                    .say(&component.id, key, format!("Left out: {why}"));
                None
            }
        }
    }

    /// A read as an expression.
    pub(super) fn named(&mut self, read: &Read) -> String {
        let root = match &read.source {
            Source::Query => "inputs.query".to_owned(),
            Source::Input(name) => format!("inputs.{name}"),
            Source::Node(name) => format!("nodes.{name}"),
            Source::Error(name) => format!("vars.{name}__error"),
            Source::Item => "item".to_owned(),
            Source::Index => "index".to_owned(),
        };
        spelt(root, &read.path)
    }

    pub(super) fn resolve(
        &mut self,
        component: &Component,
        reference: &Reference,
    ) -> Result<Read, Why> {
        let path: Vec<String> = reference
            .path
            .0
            .iter()
            .map(|step| step.name.to_string())
            .collect();
        if !path.iter().all(|step| names::is_identifier(step)) {
            return Err(format!(
                "{} has a step that is no plain name.",
                reference.text
            ));
        }
        let source = match &reference.root {
            Root::Variable(key) if **key == *"sys.query" => {
                self.reads_query = true;
                Source::Query
            }
            Root::Output { node, port } => {
                let source = self.components.get(node);
                match source {
                    Some(source)
                        if source.is("Begin")
                            && self.declared.contains_key(port)
                            && names::is_identifier(port)
                            && **port != *"query" =>
                    {
                        Source::Input(port.to_string())
                    }
                    Some(source)
                        if source.is("IterationItem") && source.parent == component.parent =>
                    {
                        match &**port {
                            "item" => Source::Item,
                            "index" => Source::Index,
                            _ => {
                                return Err(format!(
                                    "{} is nothing that a graph has.",
                                    reference.text
                                ));
                            }
                        }
                    }
                    Some(source) if **port == *"_ERROR" && source.parent == component.parent => {
                        match self.names.get(&**node) {
                            Some(name) => Source::Error(name.clone()),
                            None => {
                                return Err(format!(
                                    "{} is of a node that is left out.",
                                    reference.text
                                ));
                            }
                        }
                    }
                    Some(_) => match self.value_of(node, port) {
                        Some(name) => Source::Node(name),
                        None => {
                            return Err(format!(
                                "{} is of a node or port that a graph does not have.",
                                reference.text
                            ));
                        }
                    },
                    None => return Err(format!("there is no node for {}.", reference.text)),
                }
            }
            _ => return Err(format!("{} is nothing that a graph has.", reference.text)),
        };
        Ok(Read { source, path })
    }

    /// Whether a value is surely text.
    pub(super) fn is_text(&self, read: &Read) -> bool {
        read.path.is_empty()
            && match &read.source {
                Source::Query => true,
                Source::Input(name) => self.declared.get(name.as_str()).is_some_and(|field| {
                    matches!(input_type(field), Some("string")) && !is_optional(field)
                }),
                Source::Node(name) => {
                    let id = self.id_of(name);
                    id.and_then(|id| self.components.get(id))
                        .is_some_and(|one| self.class(one) == Some(Class::Model))
                }
                Source::Error(_) => true,
                Source::Item | Source::Index => false,
            }
    }

    pub(super) fn is_number(&self, read: &Read) -> bool {
        read.path.is_empty()
            && match &read.source {
                Source::Index => true,
                Source::Input(name) => self.declared.get(name.as_str()).is_some_and(|field| {
                    matches!(input_type(field), Some("integer")) && !is_optional(field)
                }),
                _ => false,
            }
    }

    pub(super) fn id_of(&self, name: &str) -> Option<&str> {
        self.names
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(id, _)| id.as_str())
    }

    /// Whether a node ran whenever another does: there is no branch before it, or every way to the other leads through it.
    pub(super) fn surely_ran(&self, reader: &Component, name: &str) -> bool {
        let Some(id) = self.id_of(name) else {
            return false;
        };
        let branches = |id: &Arc<str>| {
            self.components.get(id).is_some_and(|one| {
                matches!(self.class(one), Some(Class::Switch | Class::Categorize))
                    || handler(one).is_some()
            })
        };
        // A failure that is handled leaves no value, and only its handler goes on.
        let handler = self.components.get(id).and_then(handler);
        let unconditional = handler.is_none() && !self.edges.above(id, None).iter().any(branches);
        let handles = handler.is_some_and(|handler| {
            handler == &*reader.id || self.edges.above(&reader.id, None).contains(handler)
        });
        let same_level = self
            .components
            .get(id)
            .is_some_and(|one| one.parent == reader.parent);
        // Without the node, nothing that starts a run or a pass leads to the reader.
        let starts = |id: &Arc<str>| {
            let one = self.components.get(id);
            one.is_some_and(|one| one.is("Begin") || one.is("IterationItem"))
        };
        let only_way = || same_level && !self.edges.above(&reader.id, Some(id)).iter().any(starts);
        unconditional || !handles && only_way()
    }
}

fn spelt(root: String, path: &[String]) -> String {
    std::iter::once(&root)
        .chain(path)
        .cloned()
        .collect::<Vec<_>>()
        .join(".")
}
