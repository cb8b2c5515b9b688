//! The one way to a deep syntax tree that the parser's own limit does not see: `1 + 1 + 1 + ...`, `a.b.b.b...`.
//!
//! Such a chain nests to the left without recursion in the parser, and whoever walks or drops the tree later would
//! recurse as deep as the chain is long.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// How deep an expression may become by its links. CPython's own compiler stops at a few thousand.
pub(super) const MOST_LINKS: usize = 1_000;

/// The expressions between two brackets.
#[derive(Clone, Copy, Default)]
struct Level {
    /// How deep the expression that is being read can be at most.
    depth: usize,
    /// How deep the deepest one before it can be.
    deepest: usize,
}

/// True if some expression of the text can be deeper than [`MOST_LINKS`]: every operator, member, call and subscript
/// counts for all that stands before it.
pub(super) fn too_long(text: &str) -> bool {
    let mut lexer = lexer::lex(text, Mode::Module);
    let mut around: Vec<Level> = Vec::new();
    let mut here = Level::default();
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return false,
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                around.push(here);
                here = Level::default();
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                let inner = here.deepest.max(here.depth);
                here = around.pop().unwrap_or_default();
                here.depth = here.depth.max(inner) + 1;
            }
            TokenKind::Comma | TokenKind::Semi => {
                here.deepest = here.deepest.max(here.depth);
                here.depth = 0;
            }
            TokenKind::Newline => {
                around.clear();
                here = Level::default();
            }
            TokenKind::Dot => here.depth += 1,
            kind if kind.is_operator() || is_word_operator(kind) => here.depth += 1,
            _ => {}
        }
        if here.depth > MOST_LINKS || around.len() > MOST_LINKS {
            return true;
        }
    }
}

fn is_word_operator(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::If | TokenKind::Else | TokenKind::Lambda | TokenKind::Not | TokenKind::Await
    )
}
