//! A strict, iterative walk over JSON text that knows at every moment where it is.
//!
//! The values themselves are read by `serde_json`. This walk is for what it can't tell: the place of a value in the
//! text, what is still open where a file was cut off, and nesting too deep to be read safely.

use std::borrow::Cow;
use std::ops::Range;

/// A piece of JSON text, with its place in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// The name of a member, quotes included.
    Key(Range<usize>),
    /// The first byte of an object or list.
    Open(usize),
    /// The whole object or list.
    Close(Range<usize>),
    /// A text, number or word.
    Scalar(Range<usize>),
}

/// An object or list that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// Where it begins.
    pub start: usize,
    /// Where in it the walk is.
    pub at: At,
}

/// The place of the walk in an open object or list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// In an object, before its first member.
    NoMember,
    /// At the member whose name stands there.
    Member(Range<usize>),
    /// At that item of a list.
    Item(usize),
}

/// Why the walk ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The text ended where `expected` should have followed.
    Ended {
        /// What should have followed.
        expected: &'static str,
    },
    /// Something else stands where `expected` should have followed.
    Unexpected {
        /// The byte at which it stands.
        at: usize,
        /// What should have stood there.
        expected: &'static str,
    },
    /// The object or list that begins there lies too deep.
    TooDeep {
        /// Its first byte.
        at: usize,
    },
}

/// What may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Value,
    FirstItem,
    FirstKey,
    Key,
    CommaOrClose,
    Nothing,
}

/// The walk. Costs one pass over the text and one entry for each open object or list.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    next: Next,
    open: Vec<Open>,
    depth_limit: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str, depth_limit: usize) -> Scanner<'t> {
        Scanner {
            text,
            at: 0,
            next: Next::Value,
            open: Vec::new(),
            depth_limit,
        }
    }

    /// The objects and lists around the walk, outermost first.
    pub(crate) fn open(&self) -> &[Open] {
        &self.open
    }

    /// The text between quotes at `range`, escapes resolved.
    pub(crate) fn text_at(&self, range: &Range<usize>) -> Cow<'t, str> {
        let quoted = self.text.get(range.clone()).unwrap_or_default();
        let inner = quoted
            .get(1..quoted.len().saturating_sub(1))
            .unwrap_or_default();
        if !inner.contains('\\') {
            return Cow::Borrowed(inner);
        }
        match serde_json::from_str::<String>(quoted) {
            Ok(resolved) => Cow::Owned(resolved),
            Err(_) => Cow::Borrowed(inner),
        }
    }

    /// The next token, or `None` after the last.
    pub(crate) fn token(&mut self) -> Result<Option<Token>, Fault> {
        loop {
            self.skip_blanks();
            let here = self.peek();
            match (self.next, here) {
                (Next::Nothing, None) => return Ok(None),
                (Next::Nothing, Some(_)) => return self.unexpected("the end of the file"),
                (_, None) => {
                    return Err(Fault::Ended {
                        expected: self.expected(),
                    });
                }
                (Next::FirstItem, Some(b']')) | (Next::FirstKey, Some(b'}')) => {
                    return Ok(Some(self.close()));
                }
                (Next::CommaOrClose, Some(b',')) => self.comma(),
                (Next::CommaOrClose, Some(close @ (b']' | b'}'))) if self.closes(close) => {
                    return Ok(Some(self.close()));
                }
                (Next::CommaOrClose, Some(_)) => return self.unexpected(self.expected()),
                (Next::FirstKey | Next::Key, Some(b'"')) => return self.key().map(Some),
                (Next::FirstKey | Next::Key, Some(_)) => return self.unexpected(self.expected()),
                (Next::Value | Next::FirstItem, Some(first)) => return self.value(first).map(Some),
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn unexpected<T>(&self, expected: &'static str) -> Result<T, Fault> {
        Err(Fault::Unexpected {
            at: self.at,
            expected,
        })
    }

    fn in_list(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                at: At::Item(_),
                ..
            })
        )
    }

    fn expected(&self) -> &'static str {
        match self.next {
            Next::Value => "a value",
            Next::FirstItem => "a value or `]`",
            Next::FirstKey => "a member's name in double quotes, or `}`",
            Next::Key => "a member's name in double quotes",
            Next::CommaOrClose if self.in_list() => "`,` or `]`",
            Next::CommaOrClose => "`,` or `}`",
            Next::Nothing => "the end of the file",
        }
    }

    fn closes(&self, close: u8) -> bool {
        self.in_list() == (close == b']')
    }

    fn comma(&mut self) {
        self.at += 1;
        self.next = match self.open.last_mut().map(|open| &mut open.at) {
            Some(At::Item(index)) => {
                *index += 1;
                Next::Value
            }
            _ => Next::Key,
        };
    }

    fn key(&mut self) -> Result<Token, Fault> {
        let range = self.string()?;
        self.skip_blanks();
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(_) => return self.unexpected("`:` after the member's name"),
            None => {
                return Err(Fault::Ended {
                    expected: "`:` after the member's name",
                });
            }
        }
        if let Some(open) = self.open.last_mut() {
            open.at = At::Member(range.clone());
        }
        self.next = Next::Value;
        Ok(Token::Key(range))
    }

    fn value(&mut self, first: u8) -> Result<Token, Fault> {
        let start = self.at;
        match first {
            b'{' | b'[' => {
                if self.open.len() >= self.depth_limit {
                    return Err(Fault::TooDeep { at: start });
                }
                self.at += 1;
                let (at, next) = if first == b'{' {
                    (At::NoMember, Next::FirstKey)
                } else {
                    (At::Item(0), Next::FirstItem)
                };
                self.open.push(Open { start, at });
                self.next = next;
                return Ok(Token::Open(start));
            }
            b'"' => {
                self.string()?;
            }
            b'-' | b'0'..=b'9' => self.number()?,
            _ => self.word()?,
        }
        self.after_value();
        Ok(Token::Scalar(start..self.at))
    }

    fn close(&mut self) -> Token {
        self.at += 1;
        let start = self.open.pop().map_or(self.at, |open| open.start);
        self.after_value();
        Token::Close(start..self.at)
    }

    fn after_value(&mut self) {
        self.next = if self.open.is_empty() {
            Next::Nothing
        } else {
            Next::CommaOrClose
        };
    }

    /// `true`, `false` or `null`; a word that is cut off by the end of the text counts as unfinished.
    fn word(&mut self) -> Result<(), Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        for word in ["true", "false", "null"] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(());
            }
            if !rest.is_empty() && word.starts_with(rest) {
                self.at = self.text.len();
                return Err(Fault::Ended {
                    expected: "the rest of a word",
                });
            }
        }
        self.unexpected(self.expected())
    }

    fn number(&mut self) -> Result<(), Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let written = self.text.get(start..self.at).unwrap_or_default();
        match written.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(()),
            _ => Err(Fault::Unexpected {
                at: start,
                expected: "a number that a 64-bit float can hold",
            }),
        }
    }

    fn digits(&mut self) -> Result<(), Fault> {
        match self.peek() {
            None => Err(Fault::Ended {
                expected: "a digit",
            }),
            Some(b'0'..=b'9') => {
                while let Some(b'0'..=b'9') = self.peek() {
                    self.at += 1;
                }
                Ok(())
            }
            Some(_) => self.unexpected("a digit"),
        }
    }

    /// Walks over a text in quotes; the walk stands at its opening quote.
    fn string(&mut self) -> Result<Range<usize>, Fault> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
            let plain = rest.iter().position(special);
            self.at += plain.unwrap_or(rest.len());
            match self.peek() {
                None => {
                    return Err(Fault::Ended {
                        expected: "the closing quote of a text",
                    });
                }
                Some(b'"') => {
                    self.at += 1;
                    return Ok(start..self.at);
                }
                Some(b'\\') => self.escape()?,
                Some(_) => {
                    return self.unexpected(
                        "a text without raw control characters (a line break is written `\\n`)",
                    );
                }
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            None => Err(Fault::Ended {
                expected: "the rest of an escape",
            }),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                let lone = Fault::Unexpected {
                    at: start,
                    expected: "both halves of a `\\u` surrogate pair",
                };
                match self.code_unit()? {
                    0xd800..=0xdbff => {
                        for expected in [b'\\', b'u'] {
                            match self.peek() {
                                None => {
                                    return Err(Fault::Ended {
                                        expected: "the rest of an escape",
                                    });
                                }
                                Some(found) if found == expected => self.at += 1,
                                Some(_) => return Err(lone),
                            }
                        }
                        self.at -= 1;
                        match self.code_unit()? {
                            0xdc00..=0xdfff => Ok(()),
                            _ => Err(lone),
                        }
                    }
                    0xdc00..=0xdfff => Err(lone),
                    _ => Ok(()),
                }
            }
            Some(_) => self.unexpected("one of `\" \\ / b f n r t u` after a backslash"),
        }
    }

    /// The four digits behind the `u` at which the walk stands.
    fn code_unit(&mut self) -> Result<u32, Fault> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let Some(byte) = self.peek() else {
                return Err(Fault::Ended {
                    expected: "four hexadecimal digits",
                });
            };
            let Some(digit) = char::from(byte).to_digit(16) else {
                return self.unexpected("four hexadecimal digits");
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(text: &str) -> Result<usize, Fault> {
        let mut scanner = Scanner::new(text, 8);
        let mut tokens = 0;
        while scanner.token()?.is_some() {
            tokens += 1;
        }
        Ok(tokens)
    }

    #[test]
    fn every_kind_of_value_is_walked_over() {
        assert_eq!(
            walk(r#"{"a":[1,-0.5e+3,true,null,"x\n\u00e9\ud83d\ude00"],"b":{},"c":[]}"#),
            Ok(16)
        );
    }

    #[test]
    fn what_serde_json_refuses_is_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{,}",
            "01",
            "1.",
            "-",
            "1e",
            "tru",
            "nope",
            "NaN",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\ude00\"",
            "\"\t\"",
            "1 2",
            "[}",
            "{]",
            "1e999",
            "\"\\u12g4\"",
            "{a:1}",
            "[1 2]",
        ] {
            assert!(walk(text).is_err(), "{text}");
            assert!(
                serde_json::from_str::<easel_core::Value>(text).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_fault_tells_what_was_expected_there() {
        assert_eq!(
            walk("[1 2]"),
            Err(Fault::Unexpected {
                at: 3,
                expected: "`,` or `]`"
            })
        );
        assert_eq!(
            walk("{\"a\" 2}"),
            Err(Fault::Unexpected {
                at: 5,
                expected: "`:` after the member's name"
            })
        );
        assert_eq!(
            walk("{\"a\":1"),
            Err(Fault::Ended {
                expected: "`,` or `}`"
            })
        );
        assert_eq!(walk("[[[[[[[[[1]]]]]]]]]"), Err(Fault::TooDeep { at: 8 }));
    }
}
