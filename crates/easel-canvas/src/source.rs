//! The text of a file: reading it within limits, and finding the line of anything in it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use easel_core::Value;

use crate::error::ReadError;
use crate::pointer::{Pointer, Step};
use crate::scan::{At, Fault, Open, Scanner, Token};

/// What is accepted before a file is refused unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file, at most.
    pub bytes: usize,
    /// Objects and lists inside one another, at most. Values above 100 are taken as 100.
    pub depth: usize,
}

impl Limits {
    /// The deepest nesting that is ever read; real canvases stay below 30.
    const DEEPEST: usize = 100;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes: 10_000_000,
            depth: Limits::DEEPEST,
        }
    }
}

/// A place in a file as people and editors count it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Position {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// Bytes before it.
    pub offset: usize,
    /// Bytes it covers; 0 for a point.
    pub len: usize,
}

/// A member that its object has more than once. The last one counts; the others are lost when the file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The member.
    pub place: Pointer,
    /// The name where it stands first.
    pub first: Position,
    /// The name where it stands again.
    pub again: Position,
}

/// The text of a file, kept to find lines in. Looking something up is one walk over the text.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
}

/// The marker that some editors put before UTF-8 text. It takes no column.
const BYTE_ORDER_MARK: &str = "\u{feff}";

impl Source {
    /// Reads a file that holds one JSON value, and the value.
    ///
    /// # Errors
    ///
    /// If it is too large or too deep, isn't UTF-8 or isn't JSON; each names the line and column.
    pub fn read(bytes: &[u8], limits: Limits) -> Result<(Source, Value), ReadError> {
        if bytes.len() > limits.bytes {
            return Err(ReadError::TooLarge {
                bytes: bytes.len(),
                limit: limits.bytes,
            });
        }
        let (text, invalid) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                // A character cut in half by the end of the file is a file cut off, not a wrong encoding.
                (
                    std::str::from_utf8(valid).unwrap_or_default(),
                    error.error_len().is_some(),
                )
            }
        };
        let source = Source {
            text: text.to_owned(),
        };
        let not_utf8 = |source: &Source| ReadError::NotUtf8 {
            at: source.point(source.text().len()),
        };
        if invalid {
            return Err(not_utf8(&source));
        }
        let depth_limit = limits.depth.min(Limits::DEEPEST);
        let value = easel_core::value::from_text(source.text())
            .map_err(|error| source.fault(depth_limit, error.to_string()))?;
        if value.depth() > depth_limit {
            return Err(source.fault(depth_limit, "more levels".to_owned()));
        }
        // Behind a whole value, half a character is no sign that anything is missing.
        match text.len() == bytes.len() {
            true => Ok((source, value)),
            false => Err(not_utf8(&source)),
        }
    }

    /// The text as it was read, without a byte order mark.
    pub fn text(&self) -> &str {
        self.text
            .strip_prefix(BYTE_ORDER_MARK)
            .unwrap_or(&self.text)
    }

    /// Where the value at `pointer` stands; of members with one name, the last.
    pub fn locate(&self, pointer: &[Step]) -> Option<Position> {
        let found = self.find(pointer);
        Some(self.position(&found.get(pointer.len())?.value))
    }

    /// Where the name of the member at `pointer` stands; of several, the last.
    pub fn locate_key(&self, pointer: &[Step]) -> Option<Position> {
        let found = self.find(pointer);
        Some(self.position(found.get(pointer.len())?.key.as_ref()?))
    }

    /// Where the value at `pointer`, or else the innermost one around it, stands.
    pub fn locate_nearest(&self, pointer: &[Step]) -> Option<Position> {
        self.find(pointer)
            .last()
            .map(|found| self.position(&found.value))
    }

    /// Every member whose object has it more than once, in the order of the file.
    pub fn duplicate_keys(&self) -> Vec<Duplicate> {
        let mut scanner = self.scanner(usize::MAX);
        let mut names: Vec<HashMap<Cow<'_, str>, Range<usize>>> = Vec::new();
        let (mut places, mut ranges) = (Vec::new(), Vec::new());
        while let Ok(Some(token)) = scanner.token() {
            match token {
                Token::Open(_) => names.push(HashMap::new()),
                Token::Close(_) => drop(names.pop()),
                Token::Scalar(_) => {}
                Token::Key(range) => {
                    let name = scanner.text_at(&range);
                    let Some(seen) = names.last_mut() else {
                        continue;
                    };
                    match seen.get(&name) {
                        None => drop(seen.insert(name, range)),
                        Some(first) => {
                            places.push(self.place(&scanner, scanner.open()));
                            ranges.extend([first.clone(), range]);
                        }
                    }
                }
            }
        }
        let positions = self.positions(&ranges);
        let duplicate = |(place, at): (Pointer, &[Position])| match *at {
            [first, again] => Some(Duplicate {
                place,
                first,
                again,
            }),
            _ => None,
        };
        let both = places.into_iter().zip(positions.chunks(2));
        both.filter_map(duplicate).collect()
    }

    fn scanner(&self, depth_limit: usize) -> Scanner<'_> {
        Scanner::new(self.text(), depth_limit)
    }

    /// What is wrong with a text that `serde_json` refuses, or that lies too deep; `found` is what it says of it, for
    /// the case that the walk over the text sees nothing wrong.
    fn fault(&self, depth_limit: usize, found: String) -> ReadError {
        let mut scanner = self.scanner(depth_limit);
        loop {
            match scanner.token() {
                Ok(Some(_)) => {}
                Err(fault) => return self.error(&scanner, fault, depth_limit),
                Ok(None) => {
                    return ReadError::Syntax {
                        at: self.point(0),
                        expected: "a JSON value",
                        found,
                        inside: Pointer::root(),
                    };
                }
            }
        }
    }

    fn error(&self, scanner: &Scanner<'_>, fault: Fault, depth_limit: usize) -> ReadError {
        let (inside, opened) = self.innermost(scanner);
        match fault {
            Fault::Ended { expected } => ReadError::Unfinished {
                at: self.point(self.text().len()),
                expected,
                inside,
                opened,
            },
            Fault::Unexpected { at, expected } => ReadError::Syntax {
                at: self.point(at),
                expected,
                found: self.excerpt(at),
                inside,
            },
            Fault::TooDeep { at } => ReadError::TooDeep {
                at: self.point(at),
                limit: depth_limit,
            },
        }
    }

    /// The innermost object or list that is open, and where it begins.
    fn innermost(&self, scanner: &Scanner<'_>) -> (Pointer, Option<Position>) {
        match scanner.open().split_last() {
            Some((innermost, around)) => (
                self.place(scanner, around),
                Some(self.point(innermost.start)),
            ),
            None => (Pointer::root(), None),
        }
    }

    fn place(&self, scanner: &Scanner<'_>, open: &[Open]) -> Pointer {
        open.iter()
            .filter_map(|open| match &open.at {
                At::NoMember => None,
                At::Member(name) => Some(Step::Key(scanner.text_at(name).as_ref().into())),
                At::Item(index) => Some(Step::Index(*index)),
            })
            .collect()
    }

    /// A few characters of what stands there, for a message.
    fn excerpt(&self, at: usize) -> String {
        let rest = self.text().get(at..).unwrap_or_default();
        let word: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric())
            .take(20)
            .collect();
        if word.is_empty() {
            rest.chars().take(1).flat_map(char::escape_debug).collect()
        } else {
            word
        }
    }

    /// The values on the way to `pointer`, the root first, as far as they exist.
    fn find(&self, pointer: &[Step]) -> Vec<Found> {
        let mut scanner = self.scanner(usize::MAX);
        let mut found: Vec<Found> = Vec::new();
        // How many of the open objects and lists are at a member that lies on the way.
        let mut on_way = 0;
        while let Ok(Some(token)) = scanner.token() {
            let (value, depth) = match token {
                Token::Key(_) => continue,
                Token::Open(start) => (start..start + 1, scanner.open().len() - 1),
                Token::Scalar(range) => (range, scanner.open().len()),
                Token::Close(range) => {
                    let depth = scanner.open().len();
                    if on_way >= depth
                        && let Some(found) = found.get_mut(depth)
                        && found.value.start == range.start
                    {
                        found.value = range;
                    }
                    on_way = on_way.min(depth);
                    continue;
                }
            };
            let around = scanner.open().get(..depth).unwrap_or_default();
            if depth > pointer.len() || on_way + 1 < depth {
                continue;
            }
            let key = match (
                around.last(),
                depth.checked_sub(1).and_then(|last| pointer.get(last)),
            ) {
                (None, _) => None,
                (Some(open), Some(step)) => match (&open.at, step) {
                    (At::Member(name), Step::Key(wanted)) if scanner.text_at(name) == **wanted => {
                        Some(name.clone())
                    }
                    (At::Item(index), Step::Index(wanted)) if index == wanted => None,
                    _ => {
                        on_way = on_way.min(depth - 1);
                        continue;
                    }
                },
                (Some(_), None) => continue,
            };
            on_way = depth;
            found.truncate(depth);
            found.push(Found { value, key });
        }
        found
    }

    fn point(&self, at: usize) -> Position {
        self.position(&(at..at))
    }

    /// The positions of ranges of [`Source::text`], in their order. The lines are counted once.
    pub(crate) fn positions(&self, ranges: &[Range<usize>]) -> Vec<Position> {
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        order.sort_unstable_by_key(|&at| ranges.get(at).map(|range| range.start));
        let mut positions = vec![Position::default(); ranges.len()];
        let mark = self.text.len() - self.text().len();
        let (mut counted, mut line, mut column) = (0, 1, 1);
        for at in order {
            let (Some(range), Some(position)) = (ranges.get(at), positions.get_mut(at)) else {
                continue;
            };
            let more = self.text().get(counted..range.start).unwrap_or_default();
            match more.rfind('\n') {
                None => column += more.chars().count(),
                Some(last) => {
                    line += more.matches('\n').count();
                    column = more.get(last..).unwrap_or_default().chars().count();
                }
            }
            counted = range.start;
            *position = Position {
                line,
                column,
                offset: range.start + mark,
                len: range.len(),
            };
        }
        positions
    }

    /// The position of a range of [`Source::text`].
    fn position(&self, range: &Range<usize>) -> Position {
        let before = self.text().get(..range.start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            offset: range.start + self.text.len() - self.text().len(),
            len: range.len(),
        }
    }
}

/// A value on the way to the one that is looked for.
struct Found {
    value: Range<usize>,
    key: Option<Range<usize>>,
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
