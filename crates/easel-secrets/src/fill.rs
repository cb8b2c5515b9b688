//! Arguments with their secrets put in.

use easel_core::argument::{Argument, Part};
use easel_core::{Object, Value};

/// An argument as a value. `fill` appends the secret of a name to a text.
pub(crate) fn filled<E>(
    argument: &Argument,
    fill: &mut impl FnMut(&str, &mut String) -> Result<(), E>,
) -> Result<Value, E> {
    Ok(match argument {
        Argument::Value(value) => value.clone(),
        Argument::Text(parts) => {
            let mut text = String::new();
            for part in parts {
                match part {
                    Part::Text(literal) => text.push_str(literal),
                    Part::Secret(name) => fill(name, &mut text)?,
                }
            }
            Value::from(text)
        }
        Argument::Array(items) => {
            let items = items.iter().map(|item| filled(item, fill));
            Value::from(items.collect::<Result<Vec<_>, E>>()?)
        }
        Argument::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| Ok((name.clone(), filled(member, fill)?)));
            Value::from(members.collect::<Result<Object, E>>()?)
        }
    })
}
