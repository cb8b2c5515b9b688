//! What a node reads: names, and texts with placeholders in them.

use easel_graph::document::InputType;
use easel_graph::kind::Kind;

use super::{Carried, Writer, item_of, port};
use crate::text::{self, Piece, Read, Source, Why};

impl<'a> Writer<'a> {
    /// A template as a text of a canvas.
    pub(super) fn text(
        &mut self,
        carried: &Carried<'a>,
        key: &str,
        said: &str,
        jinja: bool,
    ) -> Option<String> {
        let read = text::of_graph(said, |steps| self.template(carried, steps));
        let pieces: Vec<Piece> = match read {
            Ok(pieces) => pieces,
            Err(why) => {
                self.losses
                    .say(&carried.node.id, key, format!("Left out: {why}"));
                return None;
            }
        };
        for read in text::reads(&pieces) {
            if !self.is_text(read)
                && !self.is_number(read)
                && !matches!(read.source, Source::Error(_))
            {
                let why = "It inserts what may be no text: a graph writes lists, objects and truth values as Python does, a canvas as JSON.";
                self.losses.say(&carried.node.id, key, why);
            }
        }
        match text::to_canvas(&pieces, jinja, |read| self.spell(carried, read)) {
            Ok(text) => Some(text),
            Err(why) => {
                self.losses
                    .say(&carried.node.id, key, format!("Left out: {why}"));
                None
            }
        }
    }

    /// A read as a reference of a canvas, without braces.
    pub(super) fn spell(&self, carried: &Carried<'_>, read: &Read) -> String {
        let id = |name: &str| self.ids.get(name).cloned().unwrap_or_default();
        let root = match &read.source {
            Source::Query => "sys.query".to_owned(),
            Source::Input(name) => format!("begin@{name}"),
            Source::Node(name) => {
                let port = self.nodes.get(name).and_then(|carried| port(carried.node));
                format!("{}@{}", id(name), port.unwrap_or_default())
            }
            Source::Error(name) => format!("{}@_ERROR", id(name)),
            Source::Item | Source::Index => {
                let item = carried
                    .parent
                    .map(|parent| item_of(&parent.id))
                    .unwrap_or_default();
                let port = if read.source == Source::Item {
                    "item"
                } else {
                    "index"
                };
                format!("{item}@{port}")
            }
        };
        std::iter::once(&root)
            .chain(&read.path)
            .cloned()
            .collect::<Vec<_>>()
            .join(".")
    }

    /// What a placeholder reads.
    pub(super) fn template(&self, carried: &Carried<'_>, steps: &[String]) -> Result<Read, Why> {
        let (root, path) = steps.split_first().ok_or("it names nothing.")?;
        let is_dependency = carried
            .node
            .depends_on
            .iter()
            .any(|dep| *dep.value == **root);
        let source = match self.pass(carried, root) {
            Some(source) => source,
            None if is_dependency => self.value_of(root)?,
            None => match root.strip_suffix("__error") {
                Some(failed) if self.ids.contains_key(failed) => Source::Error(failed.to_owned()),
                _ => {
                    return match root.as_str() {
                        "inputs" | "nodes" | "vars" => self.expression(carried, steps),
                        _ => Ok(Read {
                            source: self.input(root)?,
                            path: path.to_vec(),
                        }),
                    };
                }
            },
        };
        Ok(Read {
            source,
            path: path.to_vec(),
        })
    }

    /// What a name in an expression reads.
    pub(super) fn expression(&self, carried: &Carried<'_>, steps: &[String]) -> Result<Read, Why> {
        let unknown = || format!("{} is no value that a canvas has.", steps.join("."));
        let (root, rest) = steps.split_first().ok_or_else(unknown)?;
        if let Some(source) = self.pass(carried, root) {
            return Ok(Read {
                source,
                path: rest.to_vec(),
            });
        }
        let (name, path) = rest.split_first().ok_or_else(unknown)?;
        let source = match root.as_str() {
            "inputs" => self.input(name)?,
            "nodes" => self.value_of(name)?,
            "vars" => match name.strip_suffix("__error") {
                Some(failed) if self.ids.contains_key(failed) => Source::Error(failed.to_owned()),
                _ => {
                    let writes = self
                        .nodes
                        .get(name)
                        .and_then(|carried| carried.node.writes.as_ref());
                    if writes.is_none_or(|written| *written.value != **name) {
                        return Err(unknown());
                    }
                    self.value_of(name)?
                }
            },
            _ => return Err(unknown()),
        };
        Ok(Read {
            source,
            path: path.to_vec(),
        })
    }

    pub(super) fn pass(&self, carried: &Carried<'_>, name: &str) -> Option<Source> {
        let parent = carried.parent?;
        match name {
            "index" => Some(Source::Index),
            name if *parent.item_var.value == *name => Some(Source::Item),
            _ => None,
        }
    }

    pub(super) fn value_of(&self, name: &str) -> Result<Source, Why> {
        let has_port = self
            .nodes
            .get(name)
            .is_some_and(|carried| port(carried.node).is_some());
        match has_port {
            true => Ok(Source::Node(name.to_owned())),
            false => Err(format!("the value of `{name}` is none that a canvas has.")),
        }
    }

    pub(super) fn input(&self, name: &str) -> Result<Source, Why> {
        match self
            .graph
            .inputs
            .iter()
            .any(|input| *input.name.value == *name)
        {
            true if name == "query" && self.has_query() => Ok(Source::Query),
            true => Ok(Source::Input(name.to_owned())),
            false => Err(format!("`{name}` is no declared input and no dependency.")),
        }
    }

    pub(super) fn has_query(&self) -> bool {
        self.graph.inputs.iter().any(|input| {
            *input.name.value == *"query" && *input.kind == InputType::String && *input.required
        })
    }

    pub(super) fn is_text(&self, read: &Read) -> bool {
        read.path.is_empty()
            && match &read.source {
                Source::Query | Source::Error(_) => true,
                Source::Input(name) => self.is_input(name, &InputType::String),
                Source::Node(name) => self.nodes.get(name).is_some_and(|carried| {
                    matches!(*carried.node.kind, Kind::Base | Kind::React)
                        && carried.node.output_schema.is_none()
                }),
                Source::Item | Source::Index => false,
            }
    }

    pub(super) fn is_number(&self, read: &Read) -> bool {
        read.path.is_empty()
            && match &read.source {
                Source::Index => true,
                Source::Input(name) => self.is_input(name, &InputType::Integer),
                _ => false,
            }
    }

    pub(super) fn is_input(&self, name: &str, kind: &InputType) -> bool {
        let mut inputs = self.graph.inputs.iter();
        inputs
            .any(|input| *input.name.value == *name && input.kind.value == *kind && *input.required)
    }
}
