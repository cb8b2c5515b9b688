//! What each operator makes of a variable's value.

use easel_core::{Number, Value};

/// How a variable is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// Takes the parameter's value.
    Overwrite,
    /// Becomes empty, of the type it has.
    Clear,
    /// Takes the parameter's value and keeps its type where that can be.
    Set,
    /// Gets one more item.
    Append,
    /// Gets the items of a list.
    Extend,
    /// Loses its first item.
    RemoveFirst,
    /// Loses its last item.
    RemoveLast,
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Why an operator cannot be applied; a phrase to be read after "it stays as it is:".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error("it is no list but of type {0}")]
    NoList(&'static str),
    #[error("the parameter is no list but of type {0}")]
    ParameterNoList(&'static str),
    #[error("its items are of type {items}, and the new one is of type {new}")]
    OtherItems {
        items: &'static str,
        new: &'static str,
    },
    #[error("it is no number but of type {0}")]
    NoNumber(&'static str),
    #[error("the parameter is no number but of type {0}")]
    ParameterNoNumber(&'static str),
    #[error("nothing can be divided by zero")]
    DivideByZero,
    #[error("the result is too large for a number")]
    TooLarge,
}

impl Operator {
    pub(super) fn parse(word: &str) -> Option<Operator> {
        Some(match word {
            "overwrite" => Operator::Overwrite,
            "clear" => Operator::Clear,
            "set" => Operator::Set,
            "append" => Operator::Append,
            "extend" => Operator::Extend,
            "remove_first" => Operator::RemoveFirst,
            "remove_last" => Operator::RemoveLast,
            "+=" => Operator::Add,
            "-=" => Operator::Subtract,
            "*=" => Operator::Multiply,
            "/=" => Operator::Divide,
            _ => return None,
        })
    }

    pub(super) fn takes_parameter(self) -> bool {
        !matches!(
            self,
            Operator::Clear | Operator::RemoveFirst | Operator::RemoveLast
        )
    }

    /// The variable's new value, of the one it has and the parameter's.
    pub(super) fn apply(self, current: &Value, given: Value) -> Result<Value, Problem> {
        match self {
            Operator::Overwrite => Ok(given),
            Operator::Clear => Ok(cleared(current)),
            Operator::Set => Ok(kept_type(current, given)),
            Operator::Append => {
                let mut items = list(current)?;
                append(&mut items, given)?;
                Ok(items.into())
            }
            Operator::Extend => {
                let mut items = list(current)?;
                let more = match kept_type(&Value::empty_array(), given) {
                    Value::Array(more) => more,
                    other => return Err(Problem::ParameterNoList(other.type_name())),
                };
                items.reserve(more.len());
                for item in more.iter() {
                    append(&mut items, item.clone())?;
                }
                Ok(items.into())
            }
            Operator::RemoveFirst => match current {
                Value::Array(items) => Ok(items.get(1..).unwrap_or_default().to_vec().into()),
                other => Err(Problem::NoList(other.type_name())),
            },
            Operator::RemoveLast => match current {
                Value::Array(items) => {
                    let last = items.len().saturating_sub(1);
                    Ok(items.get(..last).unwrap_or_default().to_vec().into())
                }
                other => Err(Problem::NoList(other.type_name())),
            },
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide => {
                let Value::Number(left) = current else {
                    return Err(Problem::NoNumber(current.type_name()));
                };
                match kept_type(current, given) {
                    Value::Number(right) => self.compute(*left, right),
                    other => Err(Problem::ParameterNoNumber(other.type_name())),
                }
            }
        }
    }

    /// Whole numbers stay whole where the result fits; a division gives a float.
    fn compute(self, left: Number, right: Number) -> Result<Value, Problem> {
        let divides = self == Operator::Divide;
        if divides && right.as_f64() == 0.0 {
            return Err(Problem::DivideByZero);
        }
        if let (false, Some(left), Some(right)) = (divides, whole(left), whole(right)) {
            let result = match self {
                Operator::Add => left.checked_add(right),
                Operator::Subtract => left.checked_sub(right),
                _ => left.checked_mul(right),
            };
            let small = result.and_then(|n| i64::try_from(n).ok()).map(Value::from);
            let large = || result.and_then(|n| u64::try_from(n).ok()).map(Value::from);
            if let Some(value) = small.or_else(large) {
                return Ok(value);
            }
        }
        let (left, right) = (left.as_f64(), right.as_f64());
        let result = match self {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Divide => left / right,
            _ => left * right,
        };
        match result.is_finite() {
            true => Ok(Value::from(result)),
            false => Err(Problem::TooLarge),
        }
    }
}

fn whole(number: Number) -> Option<i128> {
    match number {
        Number::Int(n) => Some(n.into()),
        Number::Big(n) => Some(n.into()),
        Number::Float(_) => None,
    }
}

fn cleared(current: &Value) -> Value {
    match current {
        Value::Null => Value::Null,
        Value::Bool(_) => Value::from(false),
        Value::Number(Number::Float(_)) => Value::from(0.0),
        Value::Number(_) => Value::from(0_i64),
        Value::String(_) => Value::from(""),
        Value::Array(_) => Value::empty_array(),
        Value::Object(_) => Value::empty_object(),
    }
}

/// The value for a variable that has a type: a text variable takes the value's text; any other takes the value of a text
/// that spells one of its type; else the value as it is.
fn kept_type(current: &Value, given: Value) -> Value {
    match (current, &given) {
        (Value::Null, _) | (Value::String(_), Value::String(_)) => given,
        (Value::String(_), value) => Value::from(value.to_string()),
        (current, Value::String(text)) => {
            let spelled: Option<Value> = serde_json::from_str(text.trim()).ok();
            let fits = spelled.filter(|value| value.type_name() == current.type_name());
            fits.unwrap_or(given)
        }
        _ => given,
    }
}

/// The items of a variable that is a list, or nothing yet.
fn list(current: &Value) -> Result<Vec<Value>, Problem> {
    match current {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items.as_ref().clone()),
        other => Err(Problem::NoList(other.type_name())),
    }
}

/// Items are of one type, that of the first. Whole numbers and floats are one.
fn append(items: &mut Vec<Value>, item: Value) -> Result<(), Problem> {
    if let Some(first) = items.first()
        && first.type_name() != item.type_name()
    {
        return Err(Problem::OtherItems {
            items: first.type_name(),
            new: item.type_name(),
        });
    }
    items.push(item);
    Ok(())
}
