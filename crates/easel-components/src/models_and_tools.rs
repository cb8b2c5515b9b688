//! Registers the components that ask models or reach outside.

use std::sync::Arc;

use easel_catalog::{Availability, Catalog, Rejected};

use crate::agent::AgentComponent;
use crate::behaviour::Component;
use crate::builtin::{Builtin, Prepare};
use crate::chat::llm::Llm;
use crate::function::{FunctionComponent, Make};
use crate::registry::Registry;
use crate::{categorize, code_exec, exe_sql, invoke, retrieval, search};

/// Nodes that no model calls.
const NODES: [(&str, Prepare); 2] = [
    ("Categorize", categorize::prepare),
    ("Invoke", invoke::prepare),
];

/// Functions, as nodes and as tools.
const FUNCTIONS: [(&str, Make); 13] = [
    ("Retrieval", retrieval::make),
    ("CodeExec", code_exec::make),
    ("ExeSQL", exe_sql::make),
    ("TavilySearch", search::make),
    ("TavilyExtract", search::make),
    ("DuckDuckGo", search::make),
    ("Wikipedia", search::make),
    ("Google", search::make),
    ("YahooFinance", search::make),
    ("SearXNG", search::make),
    ("ArXiv", search::make),
    ("PubMed", search::make),
    ("GitHub", search::make),
];

/// Adds the components that ask models, search, fetch, or run what users write.
///
/// Errors: one of their names belongs to another component already.
pub fn models_and_tools(registry: &mut Registry) -> Result<(), Rejected> {
    let available = Catalog::builtin()
        .iter()
        .filter(|table| table.availability == Availability::Available);
    for table in available {
        let table = table.clone();
        let node = NODES.iter().find(|(name, _)| **name == *table.name);
        let function = FUNCTIONS.iter().find(|(name, _)| **name == *table.name);
        let component: Arc<dyn Component> = match (&*table.name, node, function) {
            ("LLM", ..) => Arc::new(Llm { table }),
            ("Agent", ..) => Arc::new(AgentComponent { table }),
            (_, Some((_, prepare)), _) => Arc::new(Builtin {
                table,
                prepare: *prepare,
            }),
            (_, _, Some((_, make))) => Arc::new(FunctionComponent::new(table, *make)),
            (_, None, None) => continue,
        };
        registry.add(component)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_that_is_available_has_a_behaviour() {
        let registry = crate::builtin();
        for table in Catalog::builtin().iter() {
            assert!(registry.get(&table.name).is_some(), "{}", table.name);
        }
    }

    #[test]
    fn what_is_registered_is_in_the_catalogue() {
        let names = NODES
            .iter()
            .map(|(name, _)| *name)
            .chain(FUNCTIONS.iter().map(|(name, _)| *name));
        for name in names.chain(["LLM", "Agent"]) {
            assert!(Catalog::builtin().get(name).is_some(), "{name}");
        }
    }
}
