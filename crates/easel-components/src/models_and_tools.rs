//! The components that ask models, reach outside or make files.

use std::sync::Arc;

use easel_catalog as catalog;

use crate::agent::AgentComponent;
use crate::behaviour::Component;
use crate::builtin::{Builtin, Prepare};
use crate::chat::llm::Llm;
use crate::function::{FunctionComponent, Make};
use crate::{
    browser, categorize, code_exec, crawler, doc_generator, email, excel_processor, exe_sql,
    ingestion, invoke, retrieval, search,
};

/// Nodes that no model calls.
const NODES: [(&str, Prepare); 5] = [
    ("Browser", browser::prepare),
    ("Categorize", categorize::prepare),
    ("Invoke", invoke::prepare),
    ("DocGenerator", doc_generator::prepare),
    ("ExcelProcessor", excel_processor::prepare),
];

/// Functions, as nodes and as tools.
const FUNCTIONS: [(&str, Make); 23] = [
    ("Retrieval", retrieval::make),
    ("CodeExec", code_exec::make),
    ("ExeSQL", exe_sql::make),
    ("Email", email::make),
    ("Crawler", crawler::make),
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
    ("GoogleScholar", search::make),
    ("KeenableSearch", search::make),
    ("QueritSearch", search::make),
    ("QueritContents", search::make),
    ("BGPT", search::make),
    ("DeepL", search::make),
    ("AkShare", search::make),
    ("QWeather", search::make),
];

/// The component of a table, if it is one that asks models, searches, fetches, or runs what users write.
pub(crate) fn of(table: &Arc<catalog::Component>) -> Option<Arc<dyn Component>> {
    let mut nodes = NODES.iter().chain(&ingestion::COMPONENTS);
    let node = nodes.find(|(name, _)| **name == *table.name);
    let function = FUNCTIONS.iter().find(|(name, _)| **name == *table.name);
    let table = table.clone();
    match (&*table.name, node, function) {
        ("LLM", ..) => Some(Arc::new(Llm { table })),
        ("Agent", ..) => Some(Arc::new(AgentComponent { table })),
        (_, Some((_, prepare)), _) => Some(Arc::new(Builtin {
            table,
            prepare: *prepare,
        })),
        (_, _, Some((_, make))) => Some(Arc::new(FunctionComponent::new(table, *make))),
        (_, None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use easel_catalog::Catalog;

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
            .chain(&ingestion::COMPONENTS)
            .map(|(name, _)| *name)
            .chain(FUNCTIONS.iter().map(|(name, _)| *name));
        for name in names.chain(["LLM", "Agent"]) {
            assert!(Catalog::builtin().get(name).is_some(), "{name}");
        }
    }
}
