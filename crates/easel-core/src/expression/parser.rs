//! Tokens to a tree: recursive descent, one function for each level of precedence.

use std::ops::Range;
use std::sync::Arc;

use super::function::Function;
use super::lexer::{Token, TokenKind, tokens};
use super::tree::{Access, Comparison, Kind, Node, Operation};
use super::{MAX_LENGTH, MAX_NESTING, Parsed, SyntaxError};
use crate::Value;
use crate::reference::Step;
use crate::reference::graph::Chain;

pub(super) fn parse(text: &str) -> Result<Parsed, SyntaxError> {
    if text.len() > MAX_LENGTH {
        return Err(SyntaxError::new(
            format!(
                "the expression is {} bytes long; {MAX_LENGTH} is the most",
                text.len()
            ),
            0..text.len(),
            "compute parts of it in nodes of their own",
        ));
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        nesting: 0,
        chains: Vec::new(),
    };
    if parser.kind() == &TokenKind::End {
        return Err(SyntaxError::new(
            "the expression is blank",
            0..text.len(),
            "write what is to be computed (inputs.n > 3), or leave the key out",
        ));
    }
    let root = parser.expression()?;
    if parser.kind() != &TokenKind::End {
        return Err(parser.unexpected("the end of the expression, or an operator"));
    }
    Ok(Parsed {
        root,
        chains: parser.chains,
    })
}

pub(super) struct Parser {
    tokens: Vec<Token>,
    pub(super) at: usize,
    nesting: usize,
    pub(super) chains: Vec<Chain>,
}

/// Words that mean something else than a name.
const KEYWORDS: [&str; 15] = [
    "if", "else", "and", "or", "not", "in", "is", "True", "False", "None", "lambda", "for",
    "async", "await", "yield",
];

type Parse<T = Node> = Result<T, SyntaxError>;

impl Parser {
    pub(super) fn kind(&self) -> &TokenKind {
        self.tokens
            .get(self.at)
            .map_or(&TokenKind::End, |token| &token.kind)
    }

    pub(super) fn span(&self) -> Range<usize> {
        let last = self.tokens.last();
        self.tokens
            .get(self.at)
            .or(last)
            .map_or(0..0, |token| token.span.clone())
    }

    /// Where the token before this one ends.
    pub(super) fn end(&self) -> usize {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or(0, |token| token.span.end)
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.kind(), TokenKind::Symbol(s) if *s == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), TokenKind::Name(name) if &**name == word)
    }

    /// Moves on if such a symbol stands here.
    fn symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    /// Moves on if that keyword stands here.
    fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// Reads something that may hold itself.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Parser) -> Parse<T>) -> Parse<T> {
        if self.nesting >= MAX_NESTING {
            return Err(SyntaxError::new(
                format!("the expression is nested deeper than {MAX_NESTING} levels"),
                self.span(),
                "compute parts of it in nodes of their own",
            ));
        }
        self.nesting += 1;
        let outcome = read(self);
        self.nesting -= 1;
        outcome
    }

    fn node(&self, kind: Kind, start: usize) -> Node {
        Node {
            kind,
            span: start..self.end(),
        }
    }

    fn expression(&mut self) -> Parse {
        self.nested(|parser| {
            let then = parser.or()?;
            if !parser.word("if") {
                return Ok(then);
            }
            let start = then.span.start;
            let condition = parser.or()?;
            if !parser.word("else") {
                return Err(parser.unexpected("\"else\" and the value otherwise"));
            }
            let otherwise = parser.expression()?;
            Ok(parser.node(Kind::Choice(Box::new([then, condition, otherwise])), start))
        })
    }

    fn or(&mut self) -> Parse {
        self.run("or", Parser::and, Kind::Or)
    }

    fn and(&mut self) -> Parse {
        self.run("and", Parser::not, Kind::And)
    }

    /// Operands with that word between them.
    fn run(
        &mut self,
        word: &str,
        operand: fn(&mut Parser) -> Parse,
        kind: fn(Vec<Node>) -> Kind,
    ) -> Parse {
        let first = operand(self)?;
        if !self.is_word(word) {
            return Ok(first);
        }
        let start = first.span.start;
        let mut operands = vec![first];
        while self.word(word) {
            operands.push(operand(self)?);
        }
        Ok(self.node(kind(operands), start))
    }

    fn not(&mut self) -> Parse {
        let start = self.span().start;
        if !self.word("not") {
            return self.comparison();
        }
        let operand = self.nested(Parser::not)?;
        Ok(self.node(Kind::Not(Box::new(operand)), start))
    }

    fn comparison(&mut self) -> Parse {
        let first = self.sum()?;
        let start = first.span.start;
        let mut rest = Vec::new();
        while let Some(operator) = self.comparison_operator()? {
            rest.push((operator, self.sum()?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        let first = Box::new(first);
        Ok(self.node(Kind::Comparison { first, rest }, start))
    }

    fn comparison_operator(&mut self) -> Parse<Option<Comparison>> {
        let operator = match self.kind() {
            TokenKind::Symbol("==") => Comparison::Equal,
            TokenKind::Symbol("!=") => Comparison::NotEqual,
            TokenKind::Symbol("<") => Comparison::Less,
            TokenKind::Symbol("<=") => Comparison::LessOrEqual,
            TokenKind::Symbol(">") => Comparison::Greater,
            TokenKind::Symbol(">=") => Comparison::GreaterOrEqual,
            TokenKind::Name(name) if &**name == "in" => Comparison::In,
            TokenKind::Name(name) if &**name == "is" => {
                self.at += 1;
                let negated = self.word("not");
                return Ok(Some(if negated {
                    Comparison::IsNot
                } else {
                    Comparison::Is
                }));
            }
            TokenKind::Name(name) if &**name == "not" => {
                self.at += 1;
                return match self.word("in") {
                    true => Ok(Some(Comparison::NotIn)),
                    false => Err(self.unexpected("\"in\"")),
                };
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(operator))
    }

    fn sum(&mut self) -> Parse {
        self.arithmetic(Parser::product, |symbol| match symbol {
            "+" => Some(Operation::Add),
            "-" => Some(Operation::Subtract),
            _ => None,
        })
    }

    fn product(&mut self) -> Parse {
        self.arithmetic(Parser::signed, |symbol| match symbol {
            "*" => Some(Operation::Multiply),
            "/" => Some(Operation::Divide),
            "//" => Some(Operation::FloorDivide),
            "%" => Some(Operation::Remainder),
            _ => None,
        })
    }

    fn arithmetic(
        &mut self,
        operand: fn(&mut Parser) -> Parse,
        operation: fn(&str) -> Option<Operation>,
    ) -> Parse {
        let first = operand(self)?;
        let start = first.span.start;
        let mut rest = Vec::new();
        while let TokenKind::Symbol(symbol) = self.kind()
            && let Some(operation) = operation(symbol)
        {
            self.at += 1;
            rest.push((operation, operand(self)?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        let first = Box::new(first);
        Ok(self.node(Kind::Arithmetic { first, rest }, start))
    }

    fn signed(&mut self) -> Parse {
        let start = self.span().start;
        let negative = self.is_symbol("-");
        if !negative && !self.is_symbol("+") {
            return self.power();
        }
        self.at += 1;
        let operand = Box::new(self.nested(Parser::signed)?);
        Ok(self.node(Kind::Sign { negative, operand }, start))
    }

    fn power(&mut self) -> Parse {
        let base = self.accessed()?;
        if !self.symbol("**") {
            return Ok(base);
        }
        let start = base.span.start;
        let exponent = self.nested(Parser::signed)?;
        Ok(self.node(Kind::Power(Box::new(base), Box::new(exponent)), start))
    }

    /// A value and the steps behind it. Steps behind a name belong to its chain as long as they are written out.
    fn accessed(&mut self) -> Parse {
        let mut base = self.value()?;
        let start = base.span.start;
        let mut steps = Vec::new();
        loop {
            let step = if self.symbol(".") {
                self.member()?
            } else if self.is_symbol("[") {
                self.subscript()?
            } else if self.is_symbol("(") {
                return Err(self.refuse_call(&base, &steps));
            } else {
                break;
            };
            let end = self.end();
            match (&base.kind, step) {
                (Kind::Name(name), Access::Step(step)) if steps.is_empty() => {
                    if let Some(chain) = self.chains.get_mut(*name) {
                        chain.steps.push(step);
                        chain.span.end = end;
                    }
                    base.span.end = end;
                }
                (_, step) => steps.push(step),
            }
        }
        if steps.is_empty() {
            return Ok(base);
        }
        let base = Box::new(base);
        Ok(self.node(Kind::Access { base, steps }, start))
    }

    /// The name behind a dot.
    fn member(&mut self) -> Parse<Access> {
        let TokenKind::Name(name) = self.kind() else {
            return Err(self.unexpected("a name behind the dot"));
        };
        if name.starts_with("__") {
            return Err(SyntaxError::new(
                format!("\"{name}\" cannot be read: names that begin with __ are not data"),
                self.span(),
                "name a member of the value; one that is really called so is read with ['…']",
            ));
        }
        let step = Step::member(name);
        self.at += 1;
        Ok(Access::Step(step))
    }

    /// A key in brackets.
    fn subscript(&mut self) -> Parse<Access> {
        self.at += 1;
        if !self.is_symbol(":") {
            let key = self.expression()?;
            if self.symbol("]") {
                return Ok(written_step(&key).map_or(Access::Key(key), Access::Step));
            }
        }
        if self.is_symbol(":") {
            return Err(SyntaxError::new(
                "parts of lists and texts cannot be cut out",
                self.span(),
                "take single elements ([0], [-1]), or cut in a function node",
            ));
        }
        Err(self.unexpected("\"]\""))
    }

    fn value(&mut self) -> Parse {
        let start = self.span().start;
        let kind = match self.kind().clone() {
            TokenKind::Number(number) => {
                self.at += 1;
                Kind::Constant(Value::Number(number))
            }
            TokenKind::Text(_) => Kind::Constant(self.texts().into()),
            TokenKind::Name(name) => self.name(&name)?,
            TokenKind::Symbol("(") => return self.group(),
            TokenKind::Symbol("[") => {
                self.at += 1;
                Kind::List(self.elements("]")?)
            }
            TokenKind::Symbol("{") => self.braces()?,
            TokenKind::Symbol(_) | TokenKind::End => {
                return Err(self
                    .unexpected("a value: a number, a text in quotes, a name, a call, or a list"));
            }
        };
        Ok(self.node(kind, start))
    }

    /// Texts beside each other are one.
    fn texts(&mut self) -> String {
        let mut whole = String::new();
        while let TokenKind::Text(text) = self.kind() {
            whole.push_str(text);
            self.at += 1;
        }
        whole
    }

    fn name(&mut self, name: &Arc<str>) -> Parse<Kind> {
        let span = self.span();
        let constant = match &**name {
            "None" => Some(Value::Null),
            "True" => Some(Value::from(true)),
            "False" => Some(Value::from(false)),
            _ => None,
        };
        if let Some(constant) = constant {
            self.at += 1;
            return Ok(Kind::Constant(constant));
        }
        if KEYWORDS.contains(&&**name) {
            return Err(
                self.unexpected("a value: a number, a text in quotes, a name, a call, or a list")
            );
        }
        if name.starts_with("__") {
            return Err(SyntaxError::new(
                format!("\"{name}\" cannot be read: names that begin with __ are not data"),
                span,
                "name an input, a node or a variable: inputs.x, nodes.x, vars.x",
            ));
        }
        self.at += 1;
        if self.is_symbol("(")
            && let Some(function) = Function::named(name)
        {
            self.at += 1;
            let arguments = self.elements(")")?;
            function.check_arity(arguments.len(), span.start..self.end())?;
            return Ok(Kind::Call(function, arguments));
        }
        self.chains.push(Chain {
            root: name.clone(),
            steps: Vec::new(),
            span,
        });
        Ok(Kind::Name(self.chains.len() - 1))
    }

    /// What stands in parentheses: a value, or a tuple, which is a list.
    fn group(&mut self) -> Parse {
        let start = self.span().start;
        self.at += 1;
        if self.symbol(")") {
            return Ok(self.node(Kind::List(Vec::new()), start));
        }
        let first = self.element()?;
        if self.symbol(")") {
            return Ok(first);
        }
        if !self.symbol(",") {
            return Err(self.unexpected("\")\""));
        }
        let mut elements = vec![first];
        elements.extend(self.elements(")")?);
        Ok(self.node(Kind::List(elements), start))
    }

    /// Values with commas between, up to the bracket that closes them.
    fn elements(&mut self, close: &'static str) -> Parse<Vec<Node>> {
        let mut elements = Vec::new();
        loop {
            if self.symbol(close) {
                return Ok(elements);
            }
            elements.push(self.element()?);
            if !self.symbol(",") && !self.is_symbol(close) {
                return Err(self.unexpected(match close {
                    ")" => "\",\" or \")\"",
                    "]" => "\",\" or \"]\"",
                    _ => "\",\" or \"}\"",
                }));
            }
        }
    }

    fn element(&mut self) -> Parse {
        if self.is_symbol("*") || self.is_symbol("**") {
            return Err(SyntaxError::new(
                "values cannot be unpacked with * or **",
                self.span(),
                "join lists with +",
            ));
        }
        self.expression()
    }

    /// An object or a set.
    fn braces(&mut self) -> Parse<Kind> {
        self.at += 1;
        if self.symbol("}") {
            return Ok(Kind::Object(Vec::new()));
        }
        let first = self.element()?;
        if !self.symbol(":") {
            let mut elements = vec![first];
            if self.symbol(",") {
                elements.extend(self.elements("}")?);
            } else if !self.symbol("}") {
                return Err(self.unexpected("\",\", \":\" or \"}\""));
            }
            return Ok(Kind::Set(elements));
        }
        let mut members = vec![(first, self.expression()?)];
        while self.symbol(",") && !self.is_symbol("}") {
            let key = self.element()?;
            if !self.symbol(":") {
                return Err(self.unexpected("\":\" and a value"));
            }
            members.push((key, self.expression()?));
        }
        match self.symbol("}") {
            true => Ok(Kind::Object(members)),
            false => Err(self.unexpected("\",\" or \"}\"")),
        }
    }
}

/// The step that a key is when it is written out: a text is a member's name, a whole number an index.
fn written_step(key: &Node) -> Option<Step> {
    let (negative, constant) = match &key.kind {
        Kind::Constant(value) => (false, value),
        Kind::Sign { negative, operand } => match &operand.kind {
            Kind::Constant(value @ Value::Number(_)) => (*negative, value),
            _ => return None,
        },
        _ => return None,
    };
    match constant {
        Value::String(name) => Some(Step::member(name)),
        Value::Number(number) => {
            let index = number.as_i64()?;
            Some(index_step(if negative { -index } else { index }))
        }
        _ => None,
    }
}

/// The step to the element of that number.
pub(super) fn index_step(index: i64) -> Step {
    Step {
        name: index.to_string().into(),
        index: Some(index),
    }
}
