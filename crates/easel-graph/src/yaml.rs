//! YAML text to a marked value.
//!
//! The events come from granit-parser, the parser under serde-saphyr: it keeps the bytes of every event, holds to what
//! the old loader (PyYAML) tolerates, and bounds its own look-ahead. Deserialising with serde-saphyr itself would give
//! either the value or its places, its scalars follow YAML 1.2 with some of 1.1, and it stops at the first thing wrong;
//! so the tree and the rules for plain words ([`crate::scalar`]) are here.

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StructureStyle, Tag};

use crate::error::ReadError;
use crate::marked::{Data, Entry, Form, Key, Map, Marked};
use crate::place::{Place, Position, Step};
use crate::scalar;
use crate::source::{Duplicate, Limits, position};

/// The value of a YAML text, and the members that stand more than once. An empty text is an empty mapping.
pub(crate) fn read(text: &str, limits: Limits) -> Result<(Marked, Vec<Duplicate>), ReadError> {
    let options = granit_parser::options! {
        emit_comments: false,
        block_scalar_eof_without_line_feed: true,
    };
    let mut builder = Builder {
        limits,
        open: Vec::new(),
        root: None,
        values: 0,
        anchors: HashMap::new(),
        duplicates: Vec::new(),
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| syntax(text, &error))?;
        builder.event(event, &span)?;
    }
    let empty = Marked {
        data: Data::Map(Arc::default()),
        at: position(text, 0),
        form: Form::Block,
    };
    let root = builder.root.filter(|root| !root.is_null());
    Ok((root.unwrap_or(empty), builder.duplicates))
}

/// Puts events together.
struct Builder {
    limits: Limits,
    /// The collections that are not closed yet, the innermost last.
    open: Vec<Open>,
    root: Option<Marked>,
    /// Values so far, those behind aliases included.
    values: usize,
    /// What an alias may repeat, and how many values that is.
    anchors: HashMap<usize, (Marked, usize)>,
    duplicates: Vec<Duplicate>,
}

/// A collection that is not closed yet.
struct Open {
    start: Position,
    form: Form,
    anchor: usize,
    /// [`Builder::values`] before it.
    values_before: usize,
    parts: Parts,
}

enum Parts {
    List(Vec<Marked>),
    Map {
        map: Map,
        /// The key whose value comes next.
        key: Option<Next>,
        /// What `<<` takes in, the strongest last.
        merged: Vec<Marked>,
    },
}

/// What the next value in a mapping is for.
enum Next {
    Member(Key),
    Merge,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), ReadError> {
        let at = at(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1, at)?;
                let key = self.expects_key();
                let merges = key && style == ScalarStyle::Plain && text == "<<" && tag.is_none();
                if merges {
                    self.expect(Next::Merge);
                    return Ok(());
                }
                let value = scalar_value(&text, style, tag.as_deref(), at)?;
                self.finish(value, anchor, 1)
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(style, anchor, tag.as_deref(), at, Parts::List(Vec::new()))
            }
            Event::MappingStart(style, anchor, tag) => {
                let parts = Parts::Map {
                    map: Map::default(),
                    key: None,
                    merged: Vec::new(),
                };
                self.open(style, anchor, tag.as_deref(), at, parts)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(at),
            Event::Alias(anchor) => {
                let Some((value, values)) = self.anchors.get(&anchor).cloned() else {
                    let what = "a value inside which it stands";
                    return Err(ReadError::Alias { at, what });
                };
                self.count(values, at)?;
                if self.open.len() + depth(&value, self.limits.depth) > self.limits.depth {
                    return Err(self.too_deep(at));
                }
                let value = Marked {
                    at,
                    form: Form::Shared,
                    ..value
                };
                self.finish(value, 0, values)
            }
            Event::UnresolvedAlias(_) => {
                let what = "nothing that stands before it";
                Err(ReadError::Alias { at, what })
            }
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(ReadError::SeveralDocuments { at })
            }
            _ => Ok(()),
        }
    }

    fn too_deep(&self, at: Position) -> ReadError {
        ReadError::TooDeep {
            at,
            limit: self.limits.depth,
        }
    }

    fn count(&mut self, values: usize, at: Position) -> Result<(), ReadError> {
        self.values = self.values.saturating_add(values);
        if self.values > self.limits.values {
            let limit = self.limits.values;
            return Err(ReadError::TooMany { at, limit });
        }
        Ok(())
    }

    fn open(
        &mut self,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        at: Position,
        parts: Parts,
    ) -> Result<(), ReadError> {
        let values_before = self.values;
        self.count(1, at)?;
        if self.open.len() >= self.limits.depth {
            return Err(self.too_deep(at));
        }
        if self.expects_key() {
            let found = match parts {
                Parts::List(_) => "a list",
                Parts::Map { .. } => "a mapping",
            };
            return Err(ReadError::Key { at, found });
        }
        let own = match parts {
            Parts::List(_) => "seq",
            Parts::Map { .. } => "map",
        };
        if let Some(tag) = tag
            && tag.core_suffix() != Some(own)
        {
            let tag = tag.original();
            return Err(ReadError::Tag { at, tag });
        }
        let form = match style {
            _ if tag.is_some() => Form::Shared,
            StructureStyle::Flow => Form::Flow,
            StructureStyle::Block => Form::Block,
        };
        self.open.push(Open {
            start: at,
            form,
            anchor,
            values_before,
            parts,
        });
        Ok(())
    }

    fn close(&mut self, end: Position) -> Result<(), ReadError> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let (mut form, mut last) = (open.form, open.start.offset);
        let data = match open.parts {
            Parts::List(items) => {
                last = items
                    .last()
                    .map_or(last, |item| item.at.offset + item.at.len);
                Data::List(Arc::new(items))
            }
            Parts::Map { map, merged, .. } => {
                let ends = map
                    .iter()
                    .map(|entry| entry.value.at.offset + entry.value.at.len);
                last = ends.max().unwrap_or(last);
                if !merged.is_empty() {
                    form = Form::Shared;
                }
                Data::Map(Arc::new(with_merged(map, &merged)))
            }
        };
        if open.form == Form::Flow || end.len > 0 {
            last = end.offset + end.len;
        }
        let at = Position {
            len: last.saturating_sub(open.start.offset),
            ..open.start
        };
        let values = self.values - open.values_before;
        self.finish(Marked { data, at, form }, open.anchor, values)
    }

    /// True if the next value is a key of a mapping.
    fn expects_key(&self) -> bool {
        let parts = self.open.last().map(|open| &open.parts);
        matches!(parts, Some(Parts::Map { key: None, .. }))
    }

    fn expect(&mut self, next: Next) {
        if let Some(Parts::Map { key, .. }) = self.open.last_mut().map(|open| &mut open.parts) {
            *key = Some(next);
        }
    }

    /// Puts a whole value where it belongs.
    fn finish(&mut self, value: Marked, anchor: usize, values: usize) -> Result<(), ReadError> {
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), values));
        }
        if self.expects_key() {
            let key = key_of(&value)?;
            self.expect(Next::Member(key));
            return Ok(());
        }
        let mut duplicate = None;
        match self.open.last_mut().map(|open| &mut open.parts) {
            None => self.root = Some(value),
            Some(Parts::List(items)) => items.push(value),
            Some(Parts::Map { map, key, merged }) => match key.take() {
                Some(Next::Merge) => merged.extend(to_merge(value)?),
                Some(Next::Member(key)) => {
                    let (name, again) = (key.name.clone(), key.at);
                    duplicate = map
                        .insert(Entry { key, value })
                        .map(|first| (name, first.at, again));
                }
                None => {}
            },
        }
        if let Some((name, first, again)) = duplicate {
            let place = self.place().key(&name);
            self.duplicates.push(Duplicate {
                place,
                first,
                again,
            });
        }
        Ok(())
    }

    /// The place of the innermost open collection.
    fn place(&self) -> Place {
        let around = self.open.split_last().map_or(&[][..], |(_, around)| around);
        let steps = around.iter().filter_map(|open| match &open.parts {
            Parts::List(items) => Some(Step::Index(items.len())),
            Parts::Map {
                key: Some(Next::Member(key)),
                ..
            } => Some(Step::Key(key.name.clone())),
            Parts::Map { .. } => None,
        });
        steps.collect()
    }
}

/// The mappings that `<<: value` takes in, the strongest last: of a list the first wins.
fn to_merge(value: Marked) -> Result<Vec<Marked>, ReadError> {
    let not_a_mapping = |value: &Marked| ReadError::Merge {
        at: value.at,
        found: value.described(),
    };
    match &value.data {
        Data::Map(_) => Ok(vec![value]),
        Data::List(items) => {
            if let Some(other) = items.iter().find(|item| item.as_map().is_none()) {
                return Err(not_a_mapping(other));
            }
            Ok(items.iter().rev().cloned().collect())
        }
        _ => Err(not_a_mapping(&value)),
    }
}

/// What was taken in, then the mapping's own members, which win.
fn with_merged(own: Map, merged: &[Marked]) -> Map {
    if merged.is_empty() {
        return own;
    }
    let mut all = Map::default();
    let taken_in = merged.iter().filter_map(Marked::as_map);
    for entry in taken_in.flat_map(Map::iter).chain(own.iter()) {
        all.insert(entry.clone());
    }
    all
}

fn key_of(value: &Marked) -> Result<Key, ReadError> {
    let (name, not_text) = match &value.data {
        Data::Text(text) => (text.clone(), None),
        Data::Null => ("null".into(), Some("empty")),
        Data::Bool(true) => ("true".into(), Some("a boolean")),
        Data::Bool(false) => ("false".into(), Some("a boolean")),
        Data::Number(_) => (value.to_value().to_json_text().into(), Some("a number")),
        Data::List(_) => {
            let (at, found) = (value.at, "a list");
            return Err(ReadError::Key { at, found });
        }
        Data::Map(_) => {
            let (at, found) = (value.at, "a mapping");
            return Err(ReadError::Key { at, found });
        }
    };
    Ok(Key {
        name,
        not_text,
        at: value.at,
    })
}

fn scalar_value(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    at: Position,
) -> Result<Marked, ReadError> {
    let form = match style {
        _ if tag.is_some() => Form::Shared,
        ScalarStyle::Literal | ScalarStyle::Folded => Form::Block,
        _ => Form::Flow,
    };
    let as_text = || Some(Data::Text(text.into()));
    let data = match tag {
        None if style == ScalarStyle::Plain => Some(scalar::plain(text)),
        None => as_text(),
        Some(tag) => match tag.core_suffix() {
            // A date stays the text that it is written as.
            Some("str" | "timestamp") => as_text(),
            Some("int" | "float") => scalar::number(text).map(Data::Number),
            Some("bool") => scalar::boolean(text).map(Data::Bool),
            Some("null") => Some(Data::Null),
            _ if tag.original() == "!" => as_text(),
            _ => None,
        },
    };
    match (data, tag) {
        (Some(data), _) => Ok(Marked { data, at, form }),
        (None, tag) => Err(ReadError::Tag {
            at,
            tag: tag.map(Tag::original).unwrap_or_default(),
        }),
    }
}

/// How many levels a value has, counted no further than `enough`.
fn depth(value: &Marked, enough: usize) -> usize {
    let deepest = |parts: &mut dyn Iterator<Item = &Marked>| {
        let below = enough.saturating_sub(1);
        let mut most = 0;
        for part in parts {
            most = most.max(depth(part, below));
            if most >= below {
                break;
            }
        }
        1 + most
    };
    match &value.data {
        _ if enough == 0 => 0,
        Data::List(items) => deepest(&mut items.iter()),
        Data::Map(map) => deepest(&mut map.iter().map(|entry| &entry.value)),
        _ => 0,
    }
}

fn at(span: &Span) -> Position {
    let start = span.start.byte_offset().unwrap_or_default();
    let end = span.end.byte_offset().unwrap_or(start);
    Position {
        line: span.start.line(),
        column: span.start.col() + 1,
        offset: start,
        len: end.saturating_sub(start),
    }
}

fn syntax(text: &str, error: &ScanError) -> ReadError {
    let marker = error.marker();
    let at = Position {
        line: marker.line().max(1),
        column: marker.col() + 1,
        offset: marker.byte_offset().unwrap_or_default(),
        len: 0,
    };
    // The parser often stops at the line after the one that is wrong.
    let line = |number: usize| number.checked_sub(1).and_then(|at| text.lines().nth(at));
    let near = [line(at.line), line(at.line.saturating_sub(1))];
    let hint = near.into_iter().flatten().find_map(hint);
    ReadError::Syntax {
        at,
        message: error.info(),
        hint,
    }
}

/// What is most likely meant by a line that is no YAML.
fn hint(line: &str) -> Option<&'static str> {
    let indent: &str = line.get(..line.len() - line.trim_start().len())?;
    if indent.contains('\t') {
        return Some("Indent with spaces: YAML allows no tabs there");
    }
    let (_, value) = line.split_once(": ")?;
    let value = value.trim();
    if value.starts_with('{') && !value.ends_with('}') {
        return Some("Put a text that begins with `{` in quotes: \"{topic} …\"");
    }
    if value.starts_with(['%', '@', '`', '*', '&', '!', '|', '>', '[', ']', '}', ',']) {
        return Some("Put a text that begins with a sign in quotes");
    }
    if value.contains(": ") || value.ends_with(':') {
        return Some("Put a text with a colon in it in quotes");
    }
    None
}
