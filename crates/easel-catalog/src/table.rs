//! The components that come with Easel, a file a family.

mod control;
mod data;
mod ingestion;
mod io;
mod legacy;
mod model;
mod search;
mod services;
mod tool;
mod webhook;

use crate::component::Component;

/// All of them, in the order of lists.
pub(crate) fn all() -> Vec<Component> {
    [
        control::all(),
        model::all(),
        data::all(),
        io::all(),
        tool::all(),
        search::all(),
        ingestion::all(),
        legacy::all(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::common;

    #[test]
    fn every_table_is_complete() {
        for component in all() {
            assert_eq!(
                component.faults(),
                Vec::<String>::new(),
                "{}",
                component.name
            );
        }
        let shared = Component::new("Shared", crate::Family::Control, "Shared", "What all have.")
            .params(common::params().to_vec());
        assert_eq!(shared.faults(), Vec::<String>::new());
    }

    #[test]
    fn no_two_components_share_a_name_or_a_function() {
        let mut owners = HashMap::new();
        let mut functions = HashMap::new();
        for component in all() {
            for name in component.names() {
                let before = owners.insert(name.to_lowercase(), component.name.clone());
                assert_eq!(before, None, "`{name}` names two components");
            }
            if let Some(tool) = &component.tool {
                let before = functions.insert(tool.function.clone(), component.name.clone());
                assert_eq!(
                    before, None,
                    "two components are the function `{}`",
                    tool.function
                );
            }
        }
    }
}
