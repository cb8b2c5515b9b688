//! Text of a template to pieces.

use std::ops::Range;
use std::sync::Arc;

use super::spec::FormatSpec;
use super::{Conversion, Field, Finding, FindingKind, Format, MAX_NAME, Parsed, Piece, Secrets};
use crate::reference::Step;
use crate::reference::graph::Chain;

pub(super) fn parse(text: &str, secrets: Secrets<'_>) -> Parsed {
    let mut scanner = Scanner {
        text,
        secrets,
        braces: Braces::new(text),
        chains: Vec::new(),
        findings: Vec::new(),
    };
    let pieces = scanner.pieces(0..text.len(), false);
    scanner.findings.sort_by_key(|finding| finding.span.start);
    Parsed {
        pieces,
        chains: scanner.chains,
        findings: scanner.findings,
    }
}

struct Scanner<'t> {
    text: &'t str,
    secrets: Secrets<'t>,
    braces: Braces,
    chains: Vec<Chain>,
    findings: Vec<Finding>,
}

/// The parts of a placeholder, as places in the text.
struct Parts {
    name: Range<usize>,
    conversion: Option<char>,
    format: Option<Range<usize>>,
    /// Behind its closing brace.
    end: usize,
}

impl<'t> Scanner<'t> {
    fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    fn find(&mut self, kind: FindingKind, span: Range<usize>) {
        self.findings.push(Finding { kind, span });
    }

    /// The pieces of a stretch of the text: of the whole, or of the format of a placeholder.
    fn pieces(&mut self, range: Range<usize>, in_format: bool) -> Vec<Piece> {
        let mut pieces = Pieces::default();
        let mut at = range.start;
        while at < range.end {
            let rest = self.slice(at..range.end);
            let plain = rest.find(['{', '}', '$']).unwrap_or(rest.len());
            pieces.literal.push_str(self.slice(at..at + plain));
            at += plain;
            let rest = self.slice(at..range.end);
            let span = at..at + 1;
            if let Some(doubled) = ["{{", "}}"]
                .into_iter()
                .find(|brace| rest.starts_with(brace))
            {
                pieces.literal.push_str(&doubled[1..]);
                at += 2;
            } else if rest.starts_with('}') {
                pieces.literal.push('}');
                self.find(FindingKind::UnpairedBrace, span);
                at += 1;
            } else if rest.starts_with('{') {
                match self.parts(at, range.end) {
                    Some(parts) => {
                        let end = parts.end;
                        let field = self.field(at, parts, in_format);
                        pieces.push(Piece::Field(Box::new(field)));
                        at = end;
                    }
                    None => {
                        pieces.literal.push('{');
                        self.find(FindingKind::UnpairedBrace, span);
                        at += 1;
                    }
                }
            } else if rest.starts_with('$') {
                at += match in_format {
                    true => pieces.text("$"),
                    false => self.dollar(at, rest, &mut pieces),
                };
            }
        }
        pieces.end()
    }

    /// Reads what begins with a dollar, and returns how long it is.
    fn dollar(&mut self, at: usize, rest: &'t str, pieces: &mut Pieces) -> usize {
        if let Some(escaped) = rest.strip_prefix("$${") {
            let length = match self.braces.closes_behind(at) {
                true => escaped.find('}').map_or(0, |close| close + 1),
                false => 0,
            };
            pieces.literal.push_str("${");
            pieces
                .literal
                .push_str(escaped.get(..length).unwrap_or_default());
            return "$${".len() + length;
        }
        let Some((written, name)) = secret(rest) else {
            return pieces.text("$");
        };
        if self.secrets.has(name) {
            pieces.push(Piece::Secret(name.into()));
        } else {
            self.find(FindingKind::Secret(name.into()), at..at + written.len());
            pieces.literal.push_str(written);
        }
        written.len()
    }

    /// Finds the parts of the placeholder whose brace opens there; `None` if none can be read.
    fn parts(&self, open: usize, end: usize) -> Option<Parts> {
        let bytes = self.text.as_bytes();
        let start = open + 1;
        let longest = end.min(start.saturating_add(MAX_NAME));
        let mut at = start;
        let stop = loop {
            match bytes.get(at).filter(|_| at < longest)? {
                b'{' => return None,
                stop @ (b'}' | b':' | b'!') => break *stop,
                // Between brackets anything goes.
                b'[' => {
                    let inside = bytes.get(at..longest)?;
                    at += inside.iter().position(|b| *b == b']')?;
                }
                _ => at += 1,
            }
        };
        let name = start..at;
        at += 1;
        if stop == b'}' {
            return Some(Parts {
                name,
                conversion: None,
                format: None,
                end: at,
            });
        }
        let mut conversion = None;
        if stop == b'!' {
            let letter = self.slice(at..end).chars().next()?;
            conversion = Some(letter);
            at += letter.len_utf8();
            match bytes.get(at).filter(|_| at < end)? {
                b'}' => {
                    return Some(Parts {
                        name,
                        conversion,
                        format: None,
                        end: at + 1,
                    });
                }
                b':' => at += 1,
                _ => return None,
            }
        }
        let close = self.braces.close(self.text, at, end)?;
        Some(Parts {
            name,
            conversion,
            format: Some(at..close),
            end: close + 1,
        })
    }

    /// The placeholder of these parts. One that can never be filled has no chain.
    fn field(&mut self, open: usize, parts: Parts, in_format: bool) -> Field {
        let span = open..parts.end;
        let name: Arc<str> = self.slice(parts.name).into();
        let steps = steps(&name);
        let conversion = match parts.conversion {
            None => Some(None),
            Some('s') => Some(Some(Conversion::Text)),
            Some('r') => Some(Some(Conversion::Source)),
            Some('a') => Some(Some(Conversion::Ascii)),
            Some(_) => None,
        };
        let format = parts.format.clone().map_or("", |format| self.slice(format));
        let fixed = match format {
            "" => Some(Format::None),
            _ if !format.contains('{') => FormatSpec::parse(format).map(Format::Fixed),
            // A format in a format in a format is none.
            _ if in_format => None,
            _ => Some(Format::Nested(Vec::new())),
        };
        let (Some((root, steps)), Some(conversion), Some(mut fixed)) = (steps, conversion, fixed)
        else {
            self.find(FindingKind::Literal(name.clone()), span.clone());
            return Field {
                written: self.slice(span).into(),
                name,
                chain: None,
                conversion: None,
                format: Format::None,
            };
        };
        if !looks_like_name(root) {
            self.find(FindingKind::Literal(name.clone()), span.clone());
        }
        let chain = Some(self.chains.len());
        self.chains.push(Chain {
            root: root.into(),
            steps,
            span: span.clone(),
        });
        if let (Format::Nested(pieces), Some(range)) = (&mut fixed, parts.format) {
            *pieces = self.pieces(range, true);
        }
        Field {
            written: self.slice(span).into(),
            name,
            chain,
            conversion,
            format: fixed,
        }
    }
}

/// `${NAME}` at the start of a text, and its name.
fn secret(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix("${")?;
    let length = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (name, behind) = inside.split_at(length);
    let named = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && behind.starts_with('}');
    let written = text.get(..length + "${}".len())?;
    named.then_some((written, name))
}

/// The root and the steps of a name; `None` if it is positional or cannot be read.
fn steps(name: &str) -> Option<(&str, Vec<Step>)> {
    let (root, mut rest) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
    if root.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let key = if let Some(behind) = rest.strip_prefix('.') {
            let (key, behind) = behind.split_at(behind.find(['.', '[']).unwrap_or(behind.len()));
            rest = behind;
            steps.push(Step::member(key));
            key
        } else {
            let (key, behind) = rest.strip_prefix('[')?.split_once(']')?;
            rest = behind;
            let digits = key.bytes().all(|b| b.is_ascii_digit());
            steps.push(if digits {
                Step::parse(key)
            } else {
                Step::member(key)
            });
            key
        };
        if key.is_empty() {
            return None;
        }
    }
    Some((root, steps))
}

/// False for what people would hardly call a node or an input.
fn looks_like_name(root: &str) -> bool {
    root.trim() == root
        && !root.contains([
            '"', '\'', '\n', ',', ';', '(', ')', '=', '<', '>', '/', '\\',
        ])
}

/// Pieces under construction: literal text is gathered until something else comes.
#[derive(Default)]
struct Pieces {
    pieces: Vec<Piece>,
    literal: String,
}

impl Pieces {
    /// Appends literal text and returns its length.
    fn text(&mut self, text: &str) -> usize {
        self.literal.push_str(text);
        text.len()
    }

    fn push(&mut self, piece: Piece) {
        if !self.literal.is_empty() {
            let text = std::mem::take(&mut self.literal);
            self.pieces.push(Piece::Text(text.into()));
        }
        self.pieces.push(piece);
    }

    fn end(mut self) -> Vec<Piece> {
        if !self.literal.is_empty() {
            self.pieces.push(Piece::Text(self.literal.into()));
        }
        self.pieces
    }
}

/// The braces of a text, so that a placeholder without end is seen without reading on to the end of the text each time.
struct Braces {
    /// For each brace: its place, how many are open before it, and the fewest that are open behind it or any later one.
    braces: Vec<(usize, i64, i64)>,
    last_close: Option<usize>,
}

impl Braces {
    fn new(text: &str) -> Braces {
        let mut open = 0;
        let mut braces = Vec::new();
        for (place, _) in text.match_indices(['{', '}']) {
            let before = open;
            open += if text.as_bytes().get(place) == Some(&b'{') {
                1
            } else {
                -1
            };
            braces.push((place, before, open));
        }
        let mut fewest = i64::MAX;
        for (_, _, behind) in braces.iter_mut().rev() {
            fewest = fewest.min(*behind);
            *behind = fewest;
        }
        Braces {
            braces,
            last_close: text.rfind('}'),
        }
    }

    fn closes_behind(&self, place: usize) -> bool {
        self.last_close > Some(place)
    }

    /// The brace that closes what is open at that place.
    fn close(&self, text: &str, place: usize, end: usize) -> Option<usize> {
        let first = self.braces.partition_point(|(at, _, _)| *at < place);
        let (_, open, fewest) = *self.braces.get(first)?;
        if fewest >= open {
            return None;
        }
        let mut now = open;
        for (at, _, _) in self.braces.get(first..)? {
            now += if text.as_bytes().get(*at) == Some(&b'{') {
                1
            } else {
                -1
            };
            if now < open {
                return Some(*at).filter(|at| *at < end);
            }
        }
        None
    }
}
