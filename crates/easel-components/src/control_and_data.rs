//! Registers the components of control and data, and all kinds that need no behaviour.

use std::sync::Arc;

use easel_catalog::{Catalog, Rejected};

use crate::behaviour::Component;
use crate::builtin::{Builtin, Prepare};
use crate::later::{Later, Structural};
use crate::{
    begin, data_operations, form, list_operations, message, registry::Registry, string_transform,
    switch, variable_aggregator, variable_assigner,
};

const COMPONENTS: [(&str, Prepare); 9] = [
    ("Begin", begin::prepare),
    ("UserFillUp", form::prepare),
    ("Message", message::prepare),
    ("Switch", switch::prepare),
    ("StringTransform", string_transform::prepare),
    ("DataOperations", data_operations::prepare),
    ("ListOperations", list_operations::prepare),
    ("VariableAggregator", variable_aggregator::prepare),
    ("VariableAssigner", variable_assigner::prepare),
];

/// Adds the components of order, conversation and data; the containers, which the machine itself runs; and the kinds
/// this version does not run, whose nodes fail with the reason when they are reached.
///
/// Errors: one of their names belongs to another component already.
pub fn control_and_data(registry: &mut Registry) -> Result<(), Rejected> {
    for table in Catalog::builtin().iter() {
        let named = COMPONENTS.iter().find(|(name, _)| **name == *table.name);
        let component: Arc<dyn Component> = if let Some((_, prepare)) = named {
            Arc::new(Builtin {
                table: table.clone(),
                prepare: *prepare,
            })
        } else if let Some(structural) = Structural::of(table) {
            Arc::new(structural)
        } else if let Some(later) = Later::of(table) {
            Arc::new(later)
        } else {
            continue;
        };
        registry.add(component)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use easel_catalog::{Availability, Control};
    use serde_json::json;

    use super::*;
    use crate::testing::Trial;

    #[test]
    fn everything_that_needs_no_model_and_no_tool_is_there() {
        let mut registry = Registry::new(Catalog::builtin().clone());
        control_and_data(&mut registry).unwrap();
        for (name, _) in COMPONENTS {
            assert!(registry.get(name).is_some(), "{name}");
        }
        for table in Catalog::builtin().iter() {
            let core = !matches!(table.control, Control::Task | Control::Branch);
            let later = table.availability != Availability::Available;
            if core || later {
                assert!(registry.get(&table.name).is_some(), "{}", table.name);
            }
        }
        assert_eq!(
            registry.catalog().iter().len(),
            Catalog::builtin().iter().len()
        );
    }

    #[test]
    fn a_kind_that_is_not_run_yet_fails_with_the_reason() {
        let tried = Trial::new("TokenChunker", json!({})).run();
        let fault = tried.fault();
        assert_eq!((&*fault.code, fault.nothing_sent), ("not_available", true));
        assert!(
            fault
                .message
                .starts_with("\"X\" needs TokenChunker, which this version does not run. "),
            "{fault}"
        );
    }
}
