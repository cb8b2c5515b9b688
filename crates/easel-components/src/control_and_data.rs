//! The components of control and data, and all kinds that need no behaviour.

use std::sync::Arc;

use easel_catalog as catalog;

use crate::behaviour::Component;
use crate::builtin::{Builtin, Prepare};
use crate::later::{Later, Structural};
use crate::{
    begin, data_operations, form, list_operations, message, string_transform, switch,
    variable_aggregator, variable_assigner,
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

/// The component of a table: one of order, conversation and data; a container, which the machine itself runs; or a kind
/// that this version does not run, whose nodes fail with the reason when they are reached.
pub(crate) fn of(table: &Arc<catalog::Component>) -> Option<Arc<dyn Component>> {
    let named = COMPONENTS.iter().find(|(name, _)| **name == *table.name);
    if let Some((_, prepare)) = named {
        return Some(Arc::new(Builtin {
            table: table.clone(),
            prepare: *prepare,
        }));
    }
    if let Some(structural) = Structural::of(table) {
        return Some(Arc::new(structural));
    }
    let later = Later::of(table)?;
    Some(Arc::new(later))
}

#[cfg(test)]
mod tests {
    use easel_catalog::{Availability, Catalog, Control};
    use serde_json::json;

    use super::*;
    use crate::testing::Trial;

    #[test]
    fn everything_that_needs_no_model_and_no_tool_is_there() {
        for (name, _) in COMPONENTS {
            assert!(Catalog::builtin().get(name).is_some(), "{name}");
        }
        for table in Catalog::builtin().iter() {
            let core = !matches!(table.control, Control::Task | Control::Branch);
            let later = table.availability != Availability::Available;
            if core || later {
                assert!(of(table).is_some(), "{}", table.name);
            }
        }
    }

    #[test]
    fn a_kind_that_is_not_run_yet_fails_with_the_reason() {
        let tried = Trial::new("Bing", json!({})).run();
        let fault = tried.fault();
        assert_eq!((&*fault.code, fault.nothing_sent), ("not_available", true));
        assert!(
            fault
                .message
                .starts_with("\"X\" needs Bing, which this version does not run. "),
            "{fault}"
        );
    }
}
