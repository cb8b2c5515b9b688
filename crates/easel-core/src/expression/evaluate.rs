//! Computing the value of an expression.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::SmallVec;

use super::compare::{self, equal};
use super::function::Function;
use super::parser::index_step;
use super::tree::{Access, Comparison, Kind, Node, Operation};
use super::{ErrorKind, EvaluationError, Expression, MAX_ELEMENTS, MAX_STEPS, MAX_TEXT, number};
use crate::bind::Inputs;
use crate::reference::Step;
use crate::reference::graph::Source;
use crate::value::MAX_DEPTH;
use crate::{Object, Value};

pub(super) fn value(expression: &Expression, inputs: &Inputs) -> Result<Value, EvaluationError> {
    let mut evaluation = Evaluation::new(expression, inputs);
    let value = evaluation.value(&expression.root)?.into_owned();
    if evaluation.built {
        let mut room = Room::default();
        room.take(&value, 0)
            .map_err(|failure| failure.at(&expression.root.span))?;
    }
    Ok(value)
}

pub(super) fn truth(expression: &Expression, inputs: &Inputs) -> Result<bool, EvaluationError> {
    Evaluation::new(expression, inputs).truth(&expression.root)
}

/// An error that does not know its place yet.
#[derive(Debug)]
pub(super) struct Failure {
    pub kind: ErrorKind,
    pub message: String,
}

impl Failure {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Failure {
        Failure {
            kind,
            message: message.into(),
        }
    }

    #[cold]
    fn at(self, span: &Range<usize>) -> EvaluationError {
        EvaluationError {
            kind: self.kind,
            message: self.message,
            span: span.clone(),
        }
    }
}

/// The work that an evaluation may still do.
pub(super) struct Meter(u64);

impl Meter {
    /// Takes that many steps.
    pub(super) fn charge(&mut self, steps: usize) -> Result<(), Failure> {
        match self.0.checked_sub(steps as u64) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(Failure::new(
                ErrorKind::Limit,
                format!(
                    "the expression takes more than {MAX_STEPS} steps; compute it in a function node"
                ),
            )),
        }
    }

    /// Takes the steps for looking at a text.
    pub(super) fn charge_text(&mut self, text: &str) -> Result<(), Failure> {
        self.charge(text.len() / 16)
    }
}

struct Evaluation<'e> {
    sources: &'e [Source],
    inputs: &'e Inputs,
    meter: Meter,
    /// True once a list, an object or a text was built, so that the result may be larger than what was read.
    built: bool,
}

static NULL: Value = Value::Null;

type Evaluate<'e> = Result<Cow<'e, Value>, EvaluationError>;

impl<'e> Evaluation<'e> {
    fn new(expression: &'e Expression, inputs: &'e Inputs) -> Evaluation<'e> {
        Evaluation {
            sources: &expression.sources,
            inputs,
            meter: Meter(MAX_STEPS),
            built: false,
        }
    }

    fn value(&mut self, node: &'e Node) -> Evaluate<'e> {
        self.charge(node)?;
        match &node.kind {
            Kind::Constant(value) => Ok(Cow::Borrowed(value)),
            Kind::Name(name) => self.name(*name, node),
            Kind::Access { base, steps } => self.access(base, steps),
            Kind::Not(_) | Kind::Comparison { .. } => self.truth(node).map(owned),
            Kind::Sign { negative, operand } => self.sign(*negative, operand, node),
            Kind::Power(base, exponent) => self.power(base, exponent, node),
            Kind::Arithmetic { first, rest } => self.arithmetic(first, rest, node),
            Kind::And(operands) => self.first(operands, false),
            Kind::Or(operands) => self.first(operands, true),
            Kind::Choice(choice) => self.choice(choice),
            Kind::Call(function, arguments) => self.call(*function, arguments, node),
            Kind::List(elements) => self.list(elements),
            Kind::Set(elements) => self.set(elements),
            Kind::Object(members) => self.object(members),
        }
    }

    /// Whether the value of a part is true; conditions are not made values for it.
    fn truth(&mut self, node: &'e Node) -> Result<bool, EvaluationError> {
        match &node.kind {
            Kind::Not(operand) => Ok(!self.truth(operand)?),
            Kind::Comparison { first, rest } => self.comparison(first, rest, node),
            Kind::And(operands) => self.any(operands, false).map(|found| !found),
            Kind::Or(operands) => self.any(operands, true),
            _ => Ok(self.value(node)?.is_truthy()),
        }
    }

    /// Whether one of the operands has that truth.
    fn any(&mut self, operands: &'e [Node], wanted: bool) -> Result<bool, EvaluationError> {
        for operand in operands {
            if self.truth(operand)? == wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn charge(&mut self, node: &Node) -> Result<(), EvaluationError> {
        self.meter
            .charge(1)
            .map_err(|failure| failure.at(&node.span))
    }

    fn name(&mut self, name: usize, node: &Node) -> Evaluate<'e> {
        match self.sources.get(name) {
            Some(Source::Read { read, rest }) => {
                let mut value = Cow::Borrowed(self.inputs.get(*read).value().unwrap_or(&NULL));
                for step in &rest.0 {
                    value = self
                        .step(value, step)
                        .map_err(|failure| failure.at(&node.span))?;
                }
                Ok(value)
            }
            Some(Source::Constant(value)) => Ok(Cow::Borrowed(value)),
            Some(source @ Source::First(_)) => {
                Ok(Cow::Owned(source.value(self.inputs).unwrap_or_default()))
            }
            Some(Source::Unknown(why)) => {
                Err(Failure::new(ErrorKind::Unknown, &**why).at(&node.span))
            }
            None => Ok(Cow::Borrowed(&NULL)),
        }
    }

    /// What a step leads to; `null` where it leads nowhere.
    fn step(&mut self, value: Cow<'e, Value>, step: &Step) -> Result<Cow<'e, Value>, Failure> {
        if let Value::String(text) = &*value {
            self.meter.charge_text(text)?;
        }
        let found = match value {
            Cow::Borrowed(value) => step.follow(value),
            Cow::Owned(value) => step
                .follow(&value)
                .map(|found| Cow::Owned(found.into_owned())),
        };
        Ok(found.unwrap_or(Cow::Borrowed(&NULL)))
    }

    fn access(&mut self, base: &'e Node, steps: &'e [Access]) -> Evaluate<'e> {
        let mut value = self.value(base)?;
        for step in steps {
            let (found, span) = match step {
                Access::Step(step) => (self.step(value, step), &base.span),
                Access::Key(node) => {
                    let key = self.value(node)?;
                    let found = match computed_step(&key) {
                        Some(step) => self.step(value, &step),
                        None => Ok(Cow::Borrowed(&NULL)),
                    };
                    (found, &node.span)
                }
            };
            value = found.map_err(|failure| failure.at(span))?;
        }
        Ok(value)
    }

    fn sign(&mut self, negative: bool, operand: &'e Node, node: &Node) -> Evaluate<'e> {
        let value = self.value(operand)?;
        let signed = match number::of(&value) {
            Some(number) if negative => number::negate(number),
            Some(number) => Ok(number),
            None => Err(Failure::new(
                ErrorKind::Type,
                format!(
                    "{} is for numbers, not for {}",
                    if negative { "-" } else { "+" },
                    described(&value)
                ),
            )),
        };
        number_value(signed, node)
    }

    fn power(&mut self, base: &'e Node, exponent: &'e Node, node: &Node) -> Evaluate<'e> {
        let (base, exponent) = (self.value(base)?, self.value(exponent)?);
        let power = match (number::of(&base), number::of(&exponent)) {
            (Some(base), Some(exponent)) => number::power(base, exponent),
            _ => Err(unsuitable("**", &base, &exponent)),
        };
        number_value(power, node)
    }

    fn arithmetic(
        &mut self,
        first: &'e Node,
        rest: &'e [(Operation, Node)],
        node: &Node,
    ) -> Evaluate<'e> {
        let mut value = self.value(first)?;
        for (operation, operand) in rest {
            let right = self.value(operand)?;
            let outcome = self.operate(*operation, &value, &right);
            let span = node.span.start..operand.span.end;
            value = Cow::Owned(outcome.map_err(|failure| failure.at(&span))?);
        }
        Ok(value)
    }

    fn operate(
        &mut self,
        operation: Operation,
        left: &Value,
        right: &Value,
    ) -> Result<Value, Failure> {
        if let (Some(left), Some(right)) = (number::of(left), number::of(right)) {
            return number::operate(operation, left, right).map(Value::Number);
        }
        self.built = true;
        match (operation, left, right) {
            (Operation::Add, _, _) => join(left, right, &mut self.meter),
            (Operation::Multiply, Value::String(_) | Value::Array(_), times) => {
                self.repeat(left, times, right)
            }
            (Operation::Multiply, times, Value::String(_) | Value::Array(_)) => {
                self.repeat(right, times, left)
            }
            _ => Err(unsuitable(operation.symbol(), left, right)),
        }
    }

    /// A text or a list, several times; `other` is the factor as it was written.
    fn repeat(&mut self, value: &Value, times: &Value, other: &Value) -> Result<Value, Failure> {
        let times = match times {
            Value::Bool(once) => usize::from(*once),
            Value::Number(number) => match number.whole() {
                Ok(times) => usize::try_from(times.max(0)).unwrap_or(usize::MAX),
                Err(_) => return Err(unsuitable("*", value, other)),
            },
            _ => return Err(unsuitable("*", value, other)),
        };
        match value {
            Value::String(text) => {
                let length = fits_text(text.len().checked_mul(times))?;
                self.meter.charge(length / 16)?;
                // Nothing, however often, is nothing, and is not worth the turns.
                Ok(text.repeat(if length == 0 { 0 } else { times }).into())
            }
            Value::Array(items) => {
                let length = fits_list(items.len().checked_mul(times))?;
                self.meter.charge(length)?;
                Ok(items
                    .iter()
                    .cycle()
                    .take(length)
                    .cloned()
                    .collect::<Vec<_>>()
                    .into())
            }
            _ => Err(unsuitable("*", value, other)),
        }
    }

    /// Python's `and` and `or`: the first operand that has that truth, else the last.
    fn first(&mut self, operands: &'e [Node], wanted: bool) -> Evaluate<'e> {
        let mut value = Cow::Borrowed(&NULL);
        for operand in operands {
            value = self.value(operand)?;
            if value.is_truthy() == wanted {
                break;
            }
        }
        Ok(value)
    }

    fn choice(&mut self, [then, condition, otherwise]: &'e [Node; 3]) -> Evaluate<'e> {
        let taken = if self.truth(condition)? {
            then
        } else {
            otherwise
        };
        self.value(taken)
    }

    fn comparison(
        &mut self,
        first: &'e Node,
        rest: &'e [(Comparison, Node)],
        node: &Node,
    ) -> Result<bool, EvaluationError> {
        self.charge(node)?;
        let mut left = self.value(first)?;
        for (comparison, operand) in rest {
            let right = self.value(operand)?;
            let held = compare::holds(*comparison, &left, &right, &mut self.meter);
            if !held.map_err(|failure| failure.at(&node.span))? {
                return Ok(false);
            }
            left = right;
        }
        Ok(true)
    }

    fn call(&mut self, function: Function, arguments: &'e [Node], node: &Node) -> Evaluate<'e> {
        let mut values = SmallVec::<[Cow<'e, Value>; 3]>::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        self.built |= function.builds();
        let value = function.call(&values, &mut self.meter);
        value
            .map(Cow::Owned)
            .map_err(|failure| failure.at(&node.span))
    }

    fn list(&mut self, elements: &'e [Node]) -> Evaluate<'e> {
        self.built = true;
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            items.push(self.value(element)?.into_owned());
        }
        Ok(Cow::Owned(Value::from(items)))
    }

    fn set(&mut self, elements: &'e [Node]) -> Evaluate<'e> {
        self.built = true;
        let mut items: Vec<Value> = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.value(element)?;
            let mut known = false;
            for item in &items {
                let same = equal(item, &value, &mut self.meter);
                known |= same.map_err(|failure| failure.at(&element.span))?;
            }
            if !known {
                items.push(value.into_owned());
            }
        }
        Ok(Cow::Owned(Value::from(items)))
    }

    fn object(&mut self, members: &'e [(Node, Node)]) -> Evaluate<'e> {
        self.built = true;
        let mut object = Object::with_capacity(members.len());
        for (key, value) in members {
            let Value::String(name) = self.value(key)?.into_owned() else {
                let message = "the keys of an object are texts; put the key in quotes or in str(…)";
                return Err(Failure::new(ErrorKind::Type, message).at(&key.span));
            };
            object.insert(name, self.value(value)?.into_owned());
        }
        Ok(Cow::Owned(Value::from(object)))
    }
}

fn owned<'e>(held: bool) -> Cow<'e, Value> {
    Cow::Owned(Value::from(held))
}

fn number_value<'e>(number: Result<crate::Number, Failure>, node: &Node) -> Evaluate<'e> {
    match number {
        Ok(number) => Ok(Cow::Owned(Value::Number(number))),
        Err(failure) => Err(failure.at(&node.span)),
    }
}

/// The step that a computed key makes; none for what is no key.
fn computed_step(key: &Value) -> Option<Step> {
    match key {
        Value::String(name) => Some(Step::member(name)),
        Value::Bool(_) | Value::Number(_) => {
            let index = number::of(key)?.as_i64()?;
            Some(index_step(index))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Two texts or two lists, one behind the other.
pub(super) fn join(left: &Value, right: &Value, meter: &mut Meter) -> Result<Value, Failure> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            let length = fits_text(left.len().checked_add(right.len()))?;
            meter.charge(length / 16)?;
            Ok([&**left, &**right].concat().into())
        }
        (Value::Array(left), Value::Array(right)) => {
            let length = fits_list(left.len().checked_add(right.len()))?;
            meter.charge(length)?;
            Ok([left.as_slice(), right.as_slice()].concat().into())
        }
        (Value::String(_), _) | (_, Value::String(_)) => {
            let other = if matches!(left, Value::String(_)) {
                right
            } else {
                left
            };
            Err(Failure::new(
                ErrorKind::Type,
                format!(
                    "+ cannot join a text and {}; put that in str(…)",
                    described(other)
                ),
            ))
        }
        _ => Err(unsuitable("+", left, right)),
    }
}

fn unsuitable(operator: &str, left: &Value, right: &Value) -> Failure {
    Failure::new(
        ErrorKind::Type,
        format!(
            "{operator} is not for {} and {}; check what is read there, or compute it in a function node",
            described(left),
            described(right)
        ),
    )
}

/// The type of a value, in a sentence.
pub(super) fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "None",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The length of a text that is to be built, if it may be.
pub(super) fn fits_text(length: Option<usize>) -> Result<usize, Failure> {
    length.filter(|length| *length <= MAX_TEXT).ok_or_else(|| {
        Failure::new(
            ErrorKind::Limit,
            format!("a text would be longer than {MAX_TEXT} bytes; build it in a function node"),
        )
    })
}

/// The length of a list that is to be built, if it may be.
pub(super) fn fits_list(length: Option<usize>) -> Result<usize, Failure> {
    length.filter(|length| *length <= MAX_ELEMENTS).ok_or_else(|| {
        Failure::new(
            ErrorKind::Limit,
            format!("a list would have more than {MAX_ELEMENTS} elements; build it in a function node"),
        )
    })
}

/// How much a result holds. A list that was repeated is small in memory but not for who writes it down.
#[derive(Default)]
struct Room {
    elements: usize,
    text: usize,
}

impl Room {
    fn take(&mut self, value: &Value, depth: usize) -> Result<(), Failure> {
        if depth > MAX_DEPTH {
            return Err(Failure::new(
                ErrorKind::Limit,
                format!("the value would be nested deeper than {MAX_DEPTH} levels; flatten it"),
            ));
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                self.elements(items.len())?;
                items.iter().try_for_each(|item| self.take(item, depth + 1))
            }
            Value::Object(members) => {
                self.elements(members.len())?;
                members.iter().try_for_each(|(name, member)| {
                    self.text(name)?;
                    self.take(member, depth + 1)
                })
            }
        }
    }

    fn elements(&mut self, more: usize) -> Result<(), Failure> {
        self.elements = fits_list(self.elements.checked_add(more))?;
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.text = fits_text(self.text.checked_add(text.len()))?;
        Ok(())
    }
}
