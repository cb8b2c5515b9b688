//! What an expression is once it is read.

use std::ops::Range;

use super::function::Function;
use crate::Value;
use crate::reference::Step;

/// A part of an expression and the bytes it takes up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub kind: Kind,
    pub span: Range<usize>,
}

/// Runs of one kind of operator are lists rather than nested, so that a long sum is no deep tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A literal.
    Constant(Value),
    /// What a chain of the expression stands for: an index into its chains.
    Name(usize),
    /// `base.name`, `base[key]` behind anything but a written-out chain.
    Access { base: Box<Node>, steps: Vec<Access> },
    /// `not x`
    Not(Box<Node>),
    /// `-x`, `+x`
    Sign { negative: bool, operand: Box<Node> },
    /// `a ** b`
    Power(Box<Node>, Box<Node>),
    /// `a + b - c`, `a * b / c`: from left to right.
    Arithmetic {
        first: Box<Node>,
        rest: Vec<(Operation, Node)>,
    },
    /// `a < b <= c`: each with its neighbour.
    Comparison {
        first: Box<Node>,
        rest: Vec<(Comparison, Node)>,
    },
    /// `a and b and c`
    And(Vec<Node>),
    /// `a or b or c`
    Or(Vec<Node>),
    /// `then if condition else otherwise`
    Choice(Box<[Node; 3]>),
    /// A call of a function.
    Call(Function, Vec<Node>),
    /// A list or a tuple.
    List(Vec<Node>),
    /// A set: a list in which nothing stands twice.
    Set(Vec<Node>),
    /// Keys and values.
    Object(Vec<(Node, Node)>),
}

/// A step that is not part of a chain.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Access {
    /// A step that is written out.
    Step(Step),
    /// One that is computed.
    Key(Node),
}

/// An arithmetic operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
}

impl Operation {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Operation::Add => "+",
            Operation::Subtract => "-",
            Operation::Multiply => "*",
            Operation::Divide => "/",
            Operation::FloorDivide => "//",
            Operation::Remainder => "%",
        }
    }
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Is,
    IsNot,
}
