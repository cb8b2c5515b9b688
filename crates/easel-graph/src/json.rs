//! JSON text to a marked value.

use std::sync::Arc;

use easel_core::Value;

use crate::error::ReadError;
use crate::marked::{Data, Entry, Form, Key, Map, Marked};
use crate::place::{Place, Position, Step};
use crate::source::{Duplicate, Limits, position};

/// The value of a JSON text, and the members that stand more than once. An empty text is an empty mapping.
pub(crate) fn read(text: &str, limits: Limits) -> Result<(Marked, Vec<Duplicate>), ReadError> {
    if text.trim().is_empty() {
        let empty = Marked {
            data: Data::Map(Arc::default()),
            at: position(text, 0),
            form: Form::Flow,
        };
        return Ok((empty, Vec::new()));
    }
    let mut walk = Walk {
        text,
        at: 0,
        line: 1,
        counted: 0,
        column: 1,
        values: 0,
        limits,
        place: Vec::new(),
        duplicates: Vec::new(),
    };
    // The walk below trusts the grammar, so whatever refuses a text is `serde_json`; too deep a text it can refuse, too.
    let read = easel_core::value::from_text(text);
    let root = match (walk.value(), read) {
        (Err(error @ (ReadError::TooDeep { .. } | ReadError::TooMany { .. })), _) => {
            return Err(error);
        }
        (_, Err(error)) => {
            let at = point(text, error.line(), error.column());
            return Err(syntax(at, error.to_string()));
        }
        (root, Ok(_)) => root?,
    };
    Ok((root, walk.duplicates))
}

fn syntax(at: Position, message: String) -> ReadError {
    ReadError::Syntax {
        at,
        message,
        hint: None,
    }
}

/// The position of a line and a byte in it, both counted from 1.
fn point(text: &str, line: usize, byte: usize) -> Position {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = before.map(str::len).sum();
    let mut offset = (start + byte.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    position(text, offset)
}

/// A walk over a text that is taken to be JSON. On anything else it ends somewhere, without a panic.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Up to where columns are counted, and the column there.
    counted: usize,
    column: usize,
    values: usize,
    limits: Limits,
    place: Vec<Step>,
    duplicates: Vec<Duplicate>,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek() {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                (self.counted, self.column) = (self.at, 1);
            }
        }
    }

    fn here(&mut self) -> Position {
        let more = self.text.get(self.counted..self.at).unwrap_or_default();
        self.column += more.chars().count();
        self.counted = self.at;
        Position {
            line: self.line,
            column: self.column,
            offset: self.at,
            len: 0,
        }
    }

    /// The text from `start` to here.
    fn since(&self, start: Position) -> &str {
        self.text.get(start.offset..self.at).unwrap_or_default()
    }

    fn unexpected(&mut self) -> ReadError {
        syntax(self.here(), "unexpected character".to_owned())
    }

    fn value(&mut self) -> Result<Marked, ReadError> {
        self.skip_space();
        let start = self.here();
        self.values += 1;
        if self.values > self.limits.values {
            let limit = self.limits.values;
            return Err(ReadError::TooMany { at: start, limit });
        }
        let data = match self.peek() {
            Some(open @ (b'{' | b'[')) => {
                if self.place.len() >= self.limits.depth {
                    let limit = self.limits.depth;
                    return Err(ReadError::TooDeep { at: start, limit });
                }
                self.at += 1;
                match open {
                    b'{' => self.members()?,
                    _ => self.items()?,
                }
            }
            Some(b'"') => Data::Text(self.string()?),
            _ => {
                while let Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.') =
                    self.peek()
                {
                    self.at += 1;
                }
                match easel_core::value::from_text(self.since(start)) {
                    Ok(Value::Bool(value)) => Data::Bool(value),
                    Ok(Value::Number(number)) => Data::Number(number),
                    Ok(_) => Data::Null,
                    Err(_) => return Err(self.unexpected()),
                }
            }
        };
        let at = Position {
            len: self.at - start.offset,
            ..start
        };
        let form = Form::Flow;
        Ok(Marked { data, at, form })
    }

    fn string(&mut self) -> Result<Arc<str>, ReadError> {
        let start = self.here();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(self.unexpected()),
            }
        }
        self.at += 1;
        match serde_json::from_str::<String>(self.since(start)) {
            Ok(text) => Ok(text.into()),
            Err(_) => Err(self.unexpected()),
        }
    }

    fn items(&mut self) -> Result<Data, ReadError> {
        let mut items = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b']') => break,
                Some(b',') => self.at += 1,
                None => return Err(self.unexpected()),
                _ => {
                    self.place.push(Step::Index(items.len()));
                    items.push(self.value()?);
                    self.place.pop();
                }
            }
        }
        self.at += 1;
        Ok(Data::List(Arc::new(items)))
    }

    fn members(&mut self) -> Result<Data, ReadError> {
        let mut map = Map::default();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'}') => break,
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                Some(b'"') => {}
                _ => return Err(self.unexpected()),
            }
            let start = self.here();
            let name = self.string()?;
            let len = self.at - start.offset;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected());
            }
            self.at += 1;
            self.place.push(Step::Key(name.clone()));
            let value = self.value()?;
            let key = Key {
                name,
                not_text: None,
                at: Position { len, ..start },
            };
            let again = key.at;
            if let Some(first) = map.insert(Entry { key, value }) {
                self.duplicates.push(Duplicate {
                    place: self.place.iter().cloned().collect::<Place>(),
                    first: first.at,
                    again,
                });
            }
            self.place.pop();
        }
        self.at += 1;
        Ok(Data::Map(Arc::new(map)))
    }
}
