//! Conditions of canvases: the tests of Switch and of a Loop's end, compiled.

use crate::Value;
use crate::bind::{Inputs, ReadId};

/// Tests joined by one word.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// True: all tests must hold. False: one is enough.
    pub all: bool,
    /// The tests, in order. A condition without tests never holds.
    pub tests: Vec<Test>,
    /// Whose table of operators applies.
    pub table: Table,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// What is tested.
    pub left: ReadId,
    /// How.
    pub operator: Operator,
    /// Against what.
    pub right: Operand,
}

/// The right side of a test.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// Written in the file.
    Constant(Value),
    /// Read when the test is made.
    Read(ReadId),
}

/// Which node's rules apply: they differ in case and in coercion (spec/canvas-engine §4.13, §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Switch: text tests ignore case.
    Switch,
    /// Loop: text tests mind case; the operators depend on the type of the left side.
    Loop,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `contains`
    Contains,
}

impl Condition {
    /// Whether the condition holds. A comparison that cannot be made is false.
    pub fn holds(&self, inputs: &Inputs) -> bool {
        let _ = inputs;
        false
    }
}
