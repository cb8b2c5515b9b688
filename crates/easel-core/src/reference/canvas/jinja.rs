//! Where the references of a text stand in its Jinja.

use std::collections::HashSet;

use super::{Grammar, Place, Token, is_id, is_port, is_variable};
use crate::reference::Root;

/// Openers without an end after which the rest of a text is looked at no more: each costs a walk to the text's end.
const HOPELESS: usize = 64;

/// Sorts the references in braces by where they stand, leaves out those in comments and string literals, and adds the
/// bare ones in blocks. `None` if the text holds no Jinja.
pub(super) fn place(grammar: &Grammar<'_>, text: &str, braced: &[Token]) -> Option<Vec<Token>> {
    let mut lexer = Lexer {
        grammar,
        text,
        at: 0,
        braced,
        tokens: Vec::new(),
        bound: HashSet::new(),
    };
    let mut found = false;
    let mut failed = 0;
    while let Some(marker) = lexer.next_marker() {
        let undo = lexer.mark();
        if lexer.block(marker).is_some() {
            found = true;
        } else {
            lexer.back_to(undo);
            failed += 1;
        }
        if failed == HOPELESS {
            break;
        }
    }
    lexer.rest();
    found.then_some(lexer.tokens)
}

/// What a Jinja block begins with.
#[derive(Clone, Copy)]
enum Marker {
    Comment,
    Statement,
    Expression,
}

struct Lexer<'t> {
    grammar: &'t Grammar<'t>,
    text: &'t str,
    at: usize,
    /// References in braces that are still ahead.
    braced: &'t [Token],
    tokens: Vec<Token>,
    /// Names that the text's own `for` and `set` bind.
    bound: HashSet<&'t str>,
}

impl<'t> Lexer<'t> {
    /// Goes on to the next marker, placing the references before it, and steps over it.
    fn next_marker(&mut self) -> Option<Marker> {
        loop {
            let brace = self.at + self.ahead().find('{')?;
            self.at = brace;
            if let Some(token) = self.token_here() {
                if !self.shadowed(&token) {
                    self.at = token.range.end;
                    self.tokens.push(token);
                    continue;
                }
            } else if self
                .braced
                .first()
                .is_some_and(|next| next.range.start == brace + 1)
            {
                self.at += 1;
                continue;
            }
            let marker = match self.ahead().as_bytes().get(1) {
                Some(b'#') => Marker::Comment,
                Some(b'%') => Marker::Statement,
                Some(b'{') => Marker::Expression,
                _ => {
                    self.at += 1;
                    continue;
                }
            };
            self.at += 2;
            return Some(marker);
        }
    }

    /// Places what is left as running text.
    fn rest(&mut self) {
        self.tokens.extend_from_slice(self.braced);
        self.braced = &[];
    }

    /// Reads a block to its end, and a raw region to its own. `None` if there is none.
    fn block(&mut self, marker: Marker) -> Option<()> {
        let start = self.at;
        match marker {
            Marker::Comment => {
                self.at += self.ahead().find("#}")? + 2;
                self.drop_passed();
                return Some(());
            }
            Marker::Expression => self.code("}}")?,
            Marker::Statement => self.code("%}")?,
        }
        let body = self.text.get(start..self.at - 2).unwrap_or_default();
        if let Marker::Statement = marker {
            let words = words(body);
            if words == ["raw"] {
                self.raw();
            }
            self.bound.extend(bindings(&words));
        }
        Some(())
    }

    /// Reads the inside of a block up to and with its end, which counts only outside of brackets and literals.
    fn code(&mut self, end: &str) -> Option<()> {
        let mut brackets = 0_usize;
        loop {
            if let Some(token) = self.token_here() {
                self.at = token.range.end;
                self.tokens.push(Token {
                    place: Place::Block,
                    ..token
                });
                continue;
            }
            if brackets == 0 && self.ahead().starts_with(end) {
                self.at += end.len();
                return Some(());
            }
            match self.ahead().chars().next()? {
                quote @ ('"' | '\'') => self.literal(quote)?,
                '(' | '[' | '{' => {
                    brackets += 1;
                    self.at += 1;
                }
                ')' | ']' | '}' => {
                    brackets = brackets.saturating_sub(1);
                    self.at += 1;
                }
                c if c.is_ascii() && is_id(c as u8) => self.word(),
                c => self.at += c.len_utf8(),
            }
        }
    }

    /// Steps over a string literal.
    fn literal(&mut self, quote: char) -> Option<()> {
        let mut chars = self.ahead().char_indices().skip(1);
        loop {
            match chars.next()? {
                (_, '\\') => {
                    chars.next()?;
                }
                (length, c) if c == quote => {
                    self.at += length + 1;
                    self.drop_passed();
                    return Some(());
                }
                _ => {}
            }
        }
    }

    /// Steps over a word of code, which may be a bare reference.
    fn word(&mut self) {
        let start = self.at;
        let member = self
            .text
            .get(..start)
            .is_some_and(|before| before.ends_with('.'));
        self.skip(is_id);
        let word = self.text.get(start..self.at).unwrap_or_default();
        if member {
            return;
        } else if self.ahead().starts_with('@') {
            self.at += 1;
            self.skip(is_port);
        } else if matches!(word, "sys" | "env") && self.ahead().starts_with('.') {
            self.skip(is_variable);
        } else {
            // The colon may have been a slice's.
            self.at = start + word.find(':').map_or(word.len(), |colon| colon + 1);
            return;
        }
        let mut key = self.text.get(start..self.at).unwrap_or_default();
        // What follows may be the minus of `-}}`, or the call of a method of the value.
        key = key.trim_end_matches(['-', '.']);
        if self.ahead().starts_with('(')
            && let Some(method) = key.rfind('.')
        {
            key = key.get(..method).unwrap_or_default();
        }
        if let Some(reference) = self.grammar.key(key) {
            self.at = start + key.len();
            self.tokens.push(Token {
                range: start..self.at,
                reference,
                place: Place::Block,
            });
        }
    }

    /// Places the references of a raw region and steps over its end.
    fn raw(&mut self) {
        while let Some(next) = self.ahead().find('{') {
            self.at += next;
            if let Some(token) = self.token_here() {
                self.at = token.range.end;
                self.tokens.push(Token {
                    place: Place::Raw,
                    ..token
                });
            } else if let Some(rest) = past_endraw(self.ahead()) {
                self.at = self.text.len() - rest.len();
                return;
            } else {
                self.at += 1;
            }
        }
        self.at = self.text.len();
    }

    /// The text from here on.
    fn ahead(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, alphabet: fn(u8) -> bool) {
        self.at += self.ahead().bytes().take_while(|b| alphabet(*b)).count();
    }

    /// The reference in braces that begins here, taken.
    fn token_here(&mut self) -> Option<Token> {
        let (token, rest) = self.braced.split_first()?;
        if token.range.start != self.at {
            return None;
        }
        self.braced = rest;
        Some(token.clone())
    }

    /// Forgets references that began before here: they stood in a comment or a literal.
    fn drop_passed(&mut self) {
        while let Some((token, rest)) = self.braced.split_first()
            && token.range.start < self.at
        {
            self.braced = rest;
        }
    }

    /// True for `{{ item }}` where the text's own Jinja binds that name.
    fn shadowed(&self, token: &Token) -> bool {
        let expression = self.ahead().starts_with("{{");
        matches!(&token.reference.root, Root::Pass(name) if expression && self.bound.contains(&**name))
    }

    fn mark(&self) -> (usize, &'t [Token], usize) {
        (self.at, self.braced, self.tokens.len())
    }

    fn back_to(&mut self, (at, braced, tokens): (usize, &'t [Token], usize)) {
        self.at = at;
        self.braced = braced;
        self.tokens.truncate(tokens);
    }
}

/// What follows `{% endraw %}`, if the text begins with it.
fn past_endraw(text: &str) -> Option<&str> {
    let signs = ['-', '+'];
    let name = text
        .strip_prefix("{%")?
        .trim_start_matches(signs)
        .trim_start();
    let end = name
        .strip_prefix("endraw")?
        .trim_start()
        .trim_start_matches(signs);
    end.strip_prefix("%}")
}

/// The words of a statement, without the signs that control blanks.
fn words(body: &str) -> Vec<&str> {
    let body = body
        .trim_start_matches(['-', '+'])
        .trim_end_matches(['-', '+']);
    let separate = |c: char| c.is_whitespace() || c == ',';
    body.split(separate)
        .filter(|word| !word.is_empty())
        .collect()
}

/// The names that a `for` or `set` statement binds.
fn bindings<'t>(words: &[&'t str]) -> Vec<&'t str> {
    let Some((keyword @ (&"for" | &"set"), rest)) = words.split_first() else {
        return Vec::new();
    };
    let stop = if *keyword == "for" { "in" } else { "=" };
    rest.iter()
        .copied()
        .take_while(|word| *word != stop)
        .collect()
}
