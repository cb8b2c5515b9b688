//! Arguments of tools that stand in the file: rendered for a call, their secrets put in at the door of the tool.

use std::sync::Arc;

use easel_core::argument::{Argument, ArgumentTemplate};
use easel_core::draft::Field;
use easel_core::event::Fault;
use easel_core::{Object, Value};
use easel_secrets::{Door, Unset};
use indexmap::IndexMap;

use super::prompt::unresolved;
use crate::behaviour::{Call, Prepared};
use crate::site::Site;

/// Arguments by name, as the file has them.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// The key under which they stand.
    key: &'static str,
    members: IndexMap<Arc<str>, ArgumentTemplate>,
}

/// Arguments by name for one call.
pub(super) type Rendered = IndexMap<Arc<str>, Argument>;

impl Arguments {
    /// Those of `key`: `tool_args` or `tool_settings`.
    pub fn read(node: Prepared<'_>, key: &'static str) -> Arguments {
        let members = match Site::of_node(node).field(key) {
            Some(Field::Arguments(ArgumentTemplate::Object(members))) => members.clone(),
            _ => IndexMap::new(),
        };
        Arguments { key, members }
    }

    /// The arguments of one call.
    ///
    /// Errors: what could not be filled in.
    pub fn render(&self, call: &Call) -> Result<Rendered, Fault> {
        let mut rendered = IndexMap::with_capacity(self.members.len());
        let mut missing = Vec::new();
        for (name, template) in &self.members {
            match template.render(call.inputs()) {
                Ok(argument) => drop(rendered.insert(name.clone(), argument)),
                Err(names) => missing.extend(names.into_iter().map(|one| one.name)),
            }
        }
        match missing.is_empty() {
            true => Ok(rendered),
            false => Err(unresolved(call, self.key, missing.iter().map(|n| &**n))),
        }
    }
}

/// Whether a secret stands in an argument.
pub(super) fn is_secret(argument: &Argument) -> bool {
    argument.secrets().next().is_some()
}

/// The arguments as anybody may see them: `${NAME}` where a secret goes.
pub(super) fn shown(arguments: &Rendered) -> Object {
    let shown = arguments.iter();
    shown
        .map(|(name, argument)| (name.clone(), argument.shown()))
        .collect()
}

/// An argument with its secrets put in, for the tool behind a door.
///
/// Errors: a secret is not set or cannot be had.
pub(super) fn open(argument: &Argument, call: &Call, door: &Door<'_>) -> Result<Value, Fault> {
    let opened = door.open(argument, Unset::Refused);
    let opened = opened.map_err(|error| crate::given::closed(call, &error))?;
    Ok(opened.into_exposed())
}
