//! A canvas as data: read from a file, everything in it kept, its parts seen through typed views.

mod places;

use std::collections::HashMap;
use std::sync::Arc;

use easel_core::{Object, Value};

pub use places::{Part, Wanted};

use crate::error::ReadError;
use crate::pointer::{Pointer, Step};
use crate::source::{Duplicate, Limits, Position, Source};

/// A canvas, with every key of its file in the order of the file, known to Easel or not.
///
/// Reading rewrites nothing; [`normalise`](crate::normalise::normalise) gives a copy in today's form. The views
/// ([`components`](Document::components), [`edges`](Document::edges), [`globals`](Document::globals) and so on) show
/// what is there, put the documented default where something is missing, and leave out what has an impossible type.
/// Every [`Pointer`] counts from the canvas, not from the file around it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The canvas itself: `components`, `graph`, `globals` and the rest.
    pub(crate) canvas: Object,
    /// What stands around it in its file.
    pub(crate) wrapper: Option<Wrapper>,
    /// Where it came from.
    pub(crate) origin: Origin,
}

/// The object around a canvas: a template or an export that has a title and more beside its `dsl`.
#[derive(Clone, Debug)]
pub(crate) struct Wrapper {
    /// All members of the object; the canvas is taken out of `dsl`.
    pub(crate) members: Object,
    /// True if `dsl` was a text that held the canvas.
    pub(crate) as_text: bool,
}

/// Where a document came from and what happened to it since.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The text of the file; `None` for a document made from a value.
    source: Option<Arc<Source>>,
    /// The place of the canvas in the file.
    base: Pointer,
    /// The canvas's own text, where it stands in the file as a JSON text: nothing in it has a line of the file.
    inner: Option<Arc<Source>>,
    /// The place of the canvas in that text.
    inner_base: Pointer,
    /// What normalising moved.
    pub(crate) moves: Moves,
    /// True once the document says something else than its file.
    pub(crate) changed: bool,
}

/// What was moved inside a document, stage by stage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves(Vec<HashMap<Pointer, Pointer>>);

impl Moves {
    /// Begins a stage: places before the next moves are places after the last ones.
    pub(crate) fn begin_stage(&mut self) {
        if self.0.last().is_none_or(|stage| !stage.is_empty()) {
            self.0.push(HashMap::new());
        }
    }

    /// Remembers that what stands at `now` was made from what stood at `before`.
    pub(crate) fn add(&mut self, now: Pointer, before: Pointer) {
        match self.0.last_mut() {
            Some(stage) => drop(stage.insert(now, before)),
            None => self.0.push(HashMap::from([(now, before)])),
        }
    }

    /// The place from which what stands at `place` now was made. In each stage the longest move counts.
    fn back(&self, place: &[Step]) -> Pointer {
        let mut place: Pointer = place.iter().cloned().collect();
        for stage in self.0.iter().rev() {
            let moved = (0..=place.len()).rev().find_map(|end| {
                let (prefix, rest) = place.split_at(end);
                Some(stage.get(prefix)?.clone().join(rest))
            });
            place = moved.unwrap_or(place);
        }
        place
    }
}

/// The member of a wrapper that holds the canvas.
pub(crate) const DSL: &str = "dsl";

impl Document {
    /// Reads a canvas from a file: the DSL, an editor's drawing alone, or either under `dsl` in an object; each of
    /// these also as a JSON text (spec/canvas-engine §1.5 N1). No bytes make this panic.
    ///
    /// # Errors
    ///
    /// See [`ReadError`]; each names the line and column.
    pub fn read(bytes: &[u8]) -> Result<Document, ReadError> {
        Document::read_within(bytes, Limits::default())
    }

    /// Like [`read`](Document::read), with other limits.
    ///
    /// # Errors
    ///
    /// See [`ReadError`]; each names the line and column, except that of a file too large.
    pub fn read_within(bytes: &[u8], limits: Limits) -> Result<Document, ReadError> {
        let (source, whole) = Source::read(bytes, limits)?;
        let mut origin = Origin::default();
        // Looked for only where something is wrong there.
        let at = |origin: &Origin| source.locate_nearest(&origin.base).unwrap_or_default();
        let members = origin.open(whole, at, limits)?;
        let (canvas, wrapper) = match Holds::of(&members) {
            Holds::Canvas => (members, None),
            Holds::Nothing => return Err(ReadError::NotACanvas { at: at(&origin) }),
            Holds::Wrapped => {
                let (wrapper, dsl) = Wrapper::around(members);
                let dsl_place = Pointer::root().key(DSL);
                match origin.inner.is_some() {
                    true => origin.inner_base = dsl_place,
                    false => origin.base = dsl_place,
                }
                let canvas = origin.open(dsl, at, limits)?;
                if Holds::of(&canvas) != Holds::Canvas {
                    return Err(ReadError::NotACanvas { at: at(&origin) });
                }
                (canvas, Some(wrapper))
            }
        };
        origin.source = Some(Arc::new(source));
        Ok(Document {
            canvas,
            wrapper,
            origin,
        })
    }

    /// A canvas that is already a value, in any of the shapes that [`read`](Document::read) accepts. It has no lines.
    ///
    /// # Errors
    ///
    /// If the value, or the text in it, is no canvas; positions in the error are of that text, or zero.
    pub fn from_value(value: Value) -> Result<Document, ReadError> {
        let text = serde_json::to_vec(&value).unwrap_or_default();
        let read = Document::read(&text)?;
        Ok(Document {
            origin: Origin {
                changed: true,
                ..Origin::default()
            },
            ..read
        })
    }

    /// Where the value at `place`, or else the innermost one around it, stands in the file. Follows what normalising
    /// moved back to where it was.
    pub fn locate(&self, place: &[Step]) -> Option<Position> {
        self.locate_as_read(&self.place_as_read(place))
    }

    /// Like [`locate`](Document::locate), for a place in the canvas as it was read, such as that of a
    /// [`Note`](crate::normalise::Note).
    pub fn locate_as_read(&self, place: &[Step]) -> Option<Position> {
        let source = self.origin.source.as_ref()?;
        if self.origin.inner.is_some() {
            return source.locate_nearest(&self.origin.base);
        }
        source.locate_nearest(&self.origin.base.clone().join(place))
    }

    /// The place in the canvas as it was read from which what stands at `place` now was made.
    pub fn place_as_read(&self, place: &[Step]) -> Pointer {
        self.origin.moves.back(place)
    }

    /// Members that stand more than once in one object of the canvas, in the order of the file; two components of one
    /// id are such. The last one counts.
    pub fn duplicate_keys(&self) -> Vec<Duplicate> {
        let Origin {
            source,
            base,
            inner,
            inner_base,
            ..
        } = &self.origin;
        let whole = source
            .as_ref()
            .and_then(|source| source.locate_nearest(base));
        let (text, base) = match inner {
            Some(inner) => (Some(inner), inner_base),
            None => (source.as_ref(), base),
        };
        let duplicates = text.map(|text| text.duplicate_keys()).unwrap_or_default();
        duplicates
            .into_iter()
            .filter_map(|duplicate| {
                let place = duplicate.place.below(base)?.iter().cloned().collect();
                Some(match (inner, whole) {
                    (Some(_), Some(whole)) => Duplicate {
                        place,
                        first: whole,
                        again: whole,
                    },
                    _ => Duplicate { place, ..duplicate },
                })
            })
            .collect()
    }

    /// The member of that name at the top of the canvas.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.canvas.get(name)
    }

    /// The title of a template or an export, where the object around the canvas has one. A template's title may be an
    /// object with one text a language.
    pub fn title(&self) -> Option<&Value> {
        self.wrapper.as_ref()?.members.get("title")
    }

    /// The text of the file, if the document still says the same.
    pub(crate) fn text_as_read(&self) -> Option<&str> {
        let source = self.origin.source.as_ref()?;
        (!self.origin.changed).then(|| source.text())
    }
}

impl Origin {
    /// The object that `value` is, or that it holds as a text.
    fn open(
        &mut self,
        value: Value,
        at: impl Fn(&Origin) -> Position,
        limits: Limits,
    ) -> Result<Object, ReadError> {
        let value = match &value {
            Value::String(text) => {
                let read = Source::read(text.as_bytes(), limits);
                let (inner, value) = read.map_err(|error| ReadError::InText {
                    at: at(self),
                    error: Box::new(error),
                })?;
                self.inner = Some(Arc::new(inner));
                self.inner_base = Pointer::root();
                value
            }
            _ => value,
        };
        match value {
            Value::Object(members) => Ok(Arc::unwrap_or_clone(members)),
            other => Err(ReadError::NotAnObject {
                at: at(self),
                found: other.type_name(),
            }),
        }
    }
}

impl Wrapper {
    /// Takes the canvas out of the object around it; an empty place is kept for it.
    fn around(mut members: Object) -> (Wrapper, Value) {
        let dsl = members.insert(DSL.into(), Value::Null).unwrap_or_default();
        let as_text = dsl.as_str().is_some();
        (Wrapper { members, as_text }, dsl)
    }
}

/// What an object holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A canvas's own members.
    Canvas,
    /// A canvas under `dsl`.
    Wrapped,
    /// Neither.
    Nothing,
}

impl Holds {
    fn of(members: &Object) -> Holds {
        if ["components", "graph", "nodes"]
            .iter()
            .any(|name| members.contains_key(*name))
        {
            return Holds::Canvas;
        }
        match members.get(DSL) {
            Some(Value::Object(_) | Value::String(_)) => Holds::Wrapped,
            _ => Holds::Nothing,
        }
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
