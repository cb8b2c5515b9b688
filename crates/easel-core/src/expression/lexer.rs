//! Text of an expression to tokens.

use std::ops::Range;
use std::sync::Arc;

use super::SyntaxError;
use crate::{Number, Value};

/// One token and the bytes it takes up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name or a keyword.
    Name(Arc<str>),
    /// A number.
    Number(Number),
    /// A text, quotes and escapes resolved.
    Text(String),
    /// An operator or a bracket.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// Operators and brackets, the longer first. What no expression may hold is read too, so that it can be refused by name.
const SYMBOLS: [&str; 40] = [
    "...", "**", "//", "==", "!=", "<=", ">=", "<<", ">>", ":=", "&&", "||", "->", "<>", "+", "-",
    "*", "/", "%", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=", "&", "|", "^", "~",
    "@", "!", "?", ";", "$",
];

/// The tokens of a text, the last one being [`TokenKind::End`]. Blanks, line breaks and comments separate them.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        let kind = lexer.token()?;
        let end = kind == TokenKind::End;
        tokens.push(Token {
            kind,
            span: start..lexer.at,
        });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Moves behind the longest run of such characters, and returns it.
    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take(char::is_whitespace);
            match self.rest() {
                rest if rest.starts_with('#') => self.take(|c| c != '\n'),
                // A line that goes on in the next one.
                rest if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") => {
                    self.at += 1;
                    continue;
                }
                _ => return,
            };
        }
    }

    fn token(&mut self) -> Result<TokenKind, SyntaxError> {
        let Some(first) = self.peek() else {
            return Ok(TokenKind::End);
        };
        let second = self.rest().chars().nth(1);
        if first.is_ascii_digit() || (first == '.' && second.is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        if matches!(first, '"' | '\'') {
            return self.quoted("");
        }
        if starts_name(first) {
            let start = self.at;
            let name = self.take(continues_name);
            let prefix = name.len() <= 2 && name.bytes().all(|b| b"rRbBuUfFtT".contains(&b));
            if prefix && matches!(self.peek(), Some('"' | '\'')) {
                self.refuse_prefix(name, start)?;
                return self.quoted(name);
            }
            return Ok(TokenKind::Name(name.into()));
        }
        if let Some(symbol) = SYMBOLS
            .into_iter()
            .find(|symbol| self.rest().starts_with(symbol))
        {
            self.at += symbol.len();
            return Ok(TokenKind::Symbol(symbol));
        }
        let span = self.at..self.at + first.len_utf8();
        Err(SyntaxError::new(
            format!("\"{first}\" means nothing here"),
            span,
            "texts stand in quotes; operators are + - * / // % ** == != < <= > >= in, not in, is, and, or, not",
        ))
    }

    fn refuse_prefix(&self, prefix: &str, start: usize) -> Result<(), SyntaxError> {
        let span = start..self.at;
        match prefix.to_ascii_lowercase().as_str() {
            "r" | "u" => Ok(()),
            p if p.contains('f') || p.contains('t') => Err(SyntaxError::new(
                "a text in an expression cannot hold expressions",
                span,
                "join the parts with +, as in 'n = ' + str(inputs.n)",
            )),
            p if p.contains('b') => Err(SyntaxError::new(
                "bytes are no value of a workflow",
                span,
                "leave out the b before the quote",
            )),
            _ => Err(SyntaxError::new(
                format!("\"{prefix}\" is no prefix of a text"),
                span,
                "leave it out, or write r for a text without escapes",
            )),
        }
    }

    fn number(&mut self) -> Result<TokenKind, SyntaxError> {
        let start = self.at;
        let radix = match self.rest().get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("0x") => 16,
            Some("0o") => 8,
            Some("0b") => 2,
            _ => 10,
        };
        let text = if radix == 10 {
            self.decimal()
        } else {
            self.at += 2;
            self.take(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if self.peek().is_some_and(continues_name) {
            let imaginary = matches!(self.take(continues_name), "j" | "J");
            let (message, fix) = if imaginary {
                (
                    "complex numbers are no values of a workflow",
                    "leave out the j",
                )
            } else {
                (
                    "a number runs into a name",
                    "put a blank or an operator between them",
                )
            };
            return Err(SyntaxError::new(message, start..self.at, fix));
        }
        let malformed = |at: usize| {
            SyntaxError::new(
                "this is no number",
                start..at,
                "write numbers as 12, 1_000, 1.5, 2e3 or 0xff, without a leading 0",
            )
        };
        let underscored =
            text.starts_with('_') && radix == 10 || text.ends_with('_') || text.contains("__");
        let digits = text.replace('_', "");
        if underscored || digits.is_empty() {
            return Err(malformed(self.at));
        }
        let whole = radix != 10 || digits.bytes().all(|b| b.is_ascii_digit());
        if !whole {
            let float: f64 = digits.parse().map_err(|_| malformed(self.at))?;
            return match float.is_finite() && !broken_underscore(text) {
                true => Ok(TokenKind::Number(Number::Float(float))),
                false => Err(malformed(self.at)),
            };
        }
        if radix == 10 && digits.starts_with('0') && digits.bytes().any(|b| b != b'0') {
            return Err(malformed(self.at));
        }
        match u64::from_str_radix(&digits, radix).map(Value::from) {
            Ok(Value::Number(number)) => Ok(TokenKind::Number(number)),
            Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => {
                Err(SyntaxError::new(
                    "a whole number is too large",
                    start..self.at,
                    format!("{} is the most; write a float (1e30) beyond it", u64::MAX),
                ))
            }
            Ok(_) | Err(_) => Err(malformed(self.at)),
        }
    }

    /// Moves behind a decimal number, which may have a fraction and an exponent.
    fn decimal(&mut self) -> &'t str {
        let start = self.at;
        let digit = |c: char| c.is_ascii_digit() || c == '_';
        self.take(digit);
        if self.rest().starts_with('.') {
            self.at += 1;
            self.take(digit);
        }
        if let Some(exponent) = self.rest().strip_prefix(['e', 'E']) {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.starts_with(|c: char| c.is_ascii_digit()) {
                self.at += 1 + exponent.len() - digits.len();
                self.take(digit);
            }
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// A text in quotes; the prefix was read.
    fn quoted(&mut self, prefix: &str) -> Result<TokenKind, SyntaxError> {
        let raw = prefix.eq_ignore_ascii_case("r");
        let start = self.at - prefix.len();
        let quote = match self.rest() {
            rest if rest.starts_with("\"\"\"") => "\"\"\"",
            rest if rest.starts_with("'''") => "'''",
            rest if rest.starts_with('"') => "\"",
            _ => "'",
        };
        self.at += quote.len();
        let mut text = String::new();
        loop {
            let rest = self.rest();
            if rest.starts_with(quote) {
                self.at += quote.len();
                return Ok(TokenKind::Text(text));
            }
            let Some(c) = rest.chars().next() else {
                return Err(SyntaxError::new(
                    "a text has no closing quote",
                    start..self.at,
                    format!("end it with {quote}"),
                ));
            };
            if c == '\n' && quote.len() == 1 {
                return Err(SyntaxError::new(
                    "a text ends with its line, but has no closing quote there",
                    start..self.at,
                    format!("end it with {quote}, or write a line break as \\n"),
                ));
            }
            self.at += c.len_utf8();
            match c {
                '\\' if raw => {
                    text.push('\\');
                    // A quote behind a backslash does not end a raw text, but both stay.
                    if let Some(next) = self.peek() {
                        text.push(next);
                        self.at += next.len_utf8();
                    }
                }
                '\\' => self.escape(&mut text)?,
                c => text.push(c),
            }
        }
    }

    /// Appends what an escape stands for; its backslash was read.
    fn escape(&mut self, text: &mut String) -> Result<(), SyntaxError> {
        let start = self.at - 1;
        let Some(c) = self.peek() else {
            return Ok(());
        };
        self.at += c.len_utf8();
        let plain = match c {
            '\n' => return Ok(()),
            '\\' | '\'' | '"' => c,
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => return self.numbered(start, 2, text),
            'u' => return self.numbered(start, 4, text),
            'U' => return self.numbered(start, 8, text),
            '0'..='7' => {
                let mut number = c.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else {
                        break;
                    };
                    number = number * 8 + digit;
                    self.at += 1;
                }
                char::from_u32(number).unwrap_or('\u{fffd}')
            }
            'N' => {
                return Err(SyntaxError::new(
                    "characters cannot be written by name",
                    start..self.at,
                    "write the character itself, or its number as \\u2026",
                ));
            }
            other => {
                text.push('\\');
                other
            }
        };
        text.push(plain);
        Ok(())
    }

    fn numbered(
        &mut self,
        start: usize,
        digits: usize,
        text: &mut String,
    ) -> Result<(), SyntaxError> {
        let number = self
            .rest()
            .get(..digits)
            .filter(|n| n.bytes().all(|b| b.is_ascii_hexdigit()));
        let character = number
            .and_then(|n| u32::from_str_radix(n, 16).ok())
            .and_then(char::from_u32);
        match character {
            Some(c) => {
                self.at += digits;
                text.push(c);
                Ok(())
            }
            None => Err(SyntaxError::new(
                "an escape names no character",
                start..self.at,
                format!(
                    "\\x takes two hexadecimal digits, \\u four, \\U eight; here {digits} of a character are needed"
                ),
            )),
        }
    }
}

/// True if an underscore does not stand between two digits.
fn broken_underscore(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_digit)
    };
    let mut underscores = bytes.iter().enumerate().filter(|(_, b)| **b == b'_');
    underscores.any(|(at, _)| !digit(at.checked_sub(1)) || !digit(Some(at + 1)))
}

fn starts_name(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn continues_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
