//! What an expression may not hold, refused by its name and with what to write instead.

use super::SyntaxError;
use super::function::Function;
use super::lexer::TokenKind;
use super::parser::Parser;
use super::tree::{Access, Kind, Node};

impl Parser {
    /// The error for a call of anything but a function.
    pub(super) fn refuse_call(&self, base: &Node, steps: &[Access]) -> SyntaxError {
        let span = base.span.start..self.span().end;
        let member = match (&base.kind, steps.last()) {
            (_, Some(Access::Step(step))) => Some(step),
            (Kind::Name(name), None) => self.chains.get(*name).and_then(|chain| chain.steps.last()),
            _ => None,
        };
        match (&base.kind, member) {
            (_, Some(step)) => {
                let fix = match Function::named(&step.name) {
                    Some(function) => format!("write {function}(…) around the value instead"),
                    None if &*step.name == "get" => {
                        "write ['name'] behind the value: a missing name reads as None".into()
                    }
                    None => format!("the functions are {}", Function::list()),
                };
                SyntaxError::new(
                    format!("methods cannot be called: .{}()", step.name),
                    span,
                    fix,
                )
            }
            (Kind::Name(name), None) => {
                let root = self.chains.get(*name).map_or("this", |chain| &*chain.root);
                SyntaxError::new(
                    format!("\"{root}\" is no function of expressions"),
                    span,
                    format!("the functions are {}", Function::list()),
                )
            }
            _ => SyntaxError::new(
                "only functions can be called",
                span,
                format!("the functions are {}", Function::list()),
            ),
        }
    }

    /// The error for what stands here instead of what is wanted.
    pub(super) fn unexpected(&self, wanted: &str) -> SyntaxError {
        let written = match self.kind() {
            TokenKind::Symbol(symbol) => symbol,
            TokenKind::Name(name) => &**name,
            TokenKind::Number(_) | TokenKind::Text(_) | TokenKind::End => "",
        };
        let (message, fix) = match REFUSED.iter().find(|(refused, _, _)| *refused == written) {
            Some((_, message, fix)) => ((*message).to_owned(), *fix),
            None if *self.kind() == TokenKind::End => (
                format!("the expression ends where {wanted} should stand"),
                "complete it, or close what is open",
            ),
            None if self.is_dotted_number() => (
                "an element of a list is not read with a dot".to_owned(),
                "write its number in brackets: [0]",
            ),
            None => (
                format!("expected {wanted}"),
                "put an operator between two values, and a text in quotes",
            ),
        };
        SyntaxError::new(message, self.span(), fix)
    }

    /// True for the `.0` of `items.0`, which is read as a number.
    fn is_dotted_number(&self) -> bool {
        let adjacent = self.at > 0 && self.end() == self.span().start;
        adjacent && matches!(self.kind(), TokenKind::Number(_))
    }
}

const BITS: &str = "there are no operators on bits";
const CONDITIONS: &str = "write and, or, not for conditions";

/// What Python and other languages have and expressions have not: the token, what is said of it, and what to do.
const REFUSED: [(&str, &str, &str); 23] = [
    (
        "=",
        "nothing can be assigned, and arguments have no names",
        "compare with ==; give arguments in their order",
    ),
    (
        ":=",
        "nothing can be assigned in an expression",
        "write the value where it is used",
    ),
    ("&&", "\"&&\" is no operator", "write and"),
    ("||", "\"||\" is no operator", "write or"),
    ("!", "\"!\" is no operator", "write not"),
    ("<>", "\"<>\" is no operator", "write !="),
    ("?", "\"?\" is no operator", "write a if condition else b"),
    ("&", BITS, CONDITIONS),
    ("|", BITS, CONDITIONS),
    ("^", BITS, CONDITIONS),
    ("~", BITS, CONDITIONS),
    ("<<", BITS, CONDITIONS),
    (">>", BITS, CONDITIONS),
    (
        "@",
        "matrices cannot be multiplied",
        "compute it in a function node",
    ),
    (
        "...",
        "\"...\" is no value of a workflow",
        "write None for nothing",
    ),
    (
        "$",
        "\"$\" means nothing in an expression",
        "names stand bare: inputs.n",
    ),
    (
        ";",
        "an expression is one value",
        "write one expression, without \";\"",
    ),
    (
        "->",
        "\"->\" means nothing in an expression",
        "compare with >, or with ==",
    ),
    (
        "lambda",
        "functions cannot be defined",
        "use a function node",
    ),
    (
        "for",
        "lists cannot be built by a loop",
        "use a map node, or any(…), all(…), sum(…) over a list",
    ),
    (
        "async",
        "lists cannot be built by a loop",
        "use a map node, or any(…), all(…), sum(…) over a list",
    ),
    (
        "await",
        "\"await\" means nothing in an expression",
        "read the value of a node: nodes.x",
    ),
    (
        "yield",
        "\"yield\" means nothing in an expression",
        "read the value of a node: nodes.x",
    ),
];
