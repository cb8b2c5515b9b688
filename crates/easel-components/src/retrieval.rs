//! Retrieval: passages of datasets, or what a memory holds, that fit a question (spec/canvas-components §6.1).

mod filter;
mod translate;

use std::sync::Arc;

use easel_catalog as catalog;
use easel_core::event::{Fault, Ports};
use easel_core::{Object, Value};
use easel_tools::memory::MemoryQuery;
use easel_tools::retrieval::RetrievalRequest;
use futures::FutureExt;
use futures::future::BoxFuture;
use indexmap::IndexSet;

use crate::behaviour::Call;
use crate::chat::ask::Asker;
use crate::chat::settings::Settings;
use crate::function::{Function, Outcome, Trouble, text};
use crate::given::Given;
use crate::passages::Passages;
use crate::site::Site;
use crate::whose::whose;
use filter::Filter;

/// Reads the parameters.
pub(crate) fn make(site: &Site<'_>, _: &catalog::Component) -> Result<Arc<dyn Function>, Fault> {
    let usual = RetrievalRequest::default();
    let rerank = site.text("rerank_id").trim();
    Ok(Arc::new(Retrieval {
        caller: site.path.into(),
        request: RetrievalRequest {
            top_n: site.count("top_n")?.unwrap_or(usual.top_n),
            top_k: site.count("top_k")?.unwrap_or(usual.top_k),
            similarity_threshold: site
                .number("similarity_threshold")?
                .unwrap_or(usual.similarity_threshold),
            keywords_similarity_weight: site
                .number("keywords_similarity_weight")?
                .unwrap_or(usual.keywords_similarity_weight),
            rerank_id: (!rerank.is_empty()).then(|| rerank.to_owned()),
            use_kg: site.flag("use_kg"),
            toc_enhance: site.flag("toc_enhance"),
            ..usual
        },
        datasets: site.given("dataset_ids", false),
        filter: Filter::read(site),
        languages: site.texts("cross_languages"),
        memories: site.texts("memory_ids"),
        user: site.given("user_id", false),
        place: match site.text("retrieval_from") {
            "memory" => Some(Place::Memory),
            "dataset" => Some(Place::Datasets),
            _ => None,
        },
        nothing_found: site.text("empty_response").into(),
    }))
}

/// Where to search.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Datasets,
    Memory,
}

struct Retrieval {
    caller: Arc<str>,
    /// The settings; query, datasets and conditions come with each call.
    request: RetrievalRequest,
    datasets: Given,
    filter: Filter,
    languages: Vec<String>,
    memories: Vec<String>,
    user: Given,
    /// `None`: wherever something is chosen.
    place: Option<Place>,
    nothing_found: Arc<str>,
}

impl Function for Retrieval {
    fn call<'a>(
        &'a self,
        arguments: Object,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Outcome, Trouble>> {
        async move {
            let query = text(&arguments, "query");
            let query = without_speaker(&query);
            if query.trim().is_empty() {
                return Ok(self.nothing());
            }
            let datasets = self.chosen_datasets(call)?;
            let place = self.place.or_else(|| {
                let chosen = [
                    (Place::Datasets, datasets.is_empty()),
                    (Place::Memory, self.memories.is_empty()),
                ];
                chosen
                    .iter()
                    .find(|(_, none)| !none)
                    .map(|(place, _)| *place)
            });
            match place {
                None => Ok(self.nothing()),
                Some(Place::Memory) => self.recall(query, call).await,
                Some(Place::Datasets) if datasets.is_empty() => Ok(self.nowhere(call)),
                Some(Place::Datasets) => self.search(query, datasets, call).await,
            }
        }
        .boxed()
    }
}

impl Retrieval {
    /// Nothing was found, or nothing was asked for.
    fn nothing(&self) -> Outcome {
        Outcome {
            ports: Ports::one("formalized_content", self.nothing_found.clone()),
            told: self.nothing_found.clone(),
            ..Outcome::default()
        }
    }

    /// No dataset is selected, as in a template that nobody has filled in yet: nothing can be found, and that is said.
    fn nowhere(&self, call: &Call) -> Outcome {
        call.warn(format!(
            "\"{}\" searches nothing, since no dataset is selected. Choose one in the node.",
            call.node().draft.name
        ));
        Outcome {
            told: "No dataset is selected.".into(),
            ..self.nothing()
        }
    }

    /// Ids or names of the datasets, each once. A reference may bring several.
    fn chosen_datasets(&self, call: &Call) -> Result<Vec<String>, Trouble> {
        let mut chosen = IndexSet::new();
        let mut open = vec![self.datasets.value(call)];
        while let Some(value) = open.pop() {
            match value {
                Value::Array(items) => open.extend(items.iter().rev().cloned()),
                Value::String(id) if !id.trim().is_empty() => {
                    chosen.insert(id.trim().to_owned());
                }
                _ => {}
            }
        }
        Ok(chosen.into_iter().collect())
    }

    async fn search(
        &self,
        query: &str,
        dataset_ids: Vec<String>,
        call: &Call,
    ) -> Result<Outcome, Trouble> {
        // What the node asks a model for beside the search, it asks the default one.
        let settings = Settings::of_default_model();
        let mut asker = Asker::new(call, &self.caller, &settings);
        let filters = self.filter.conditions(query, &mut asker).await?;
        let query = translate::into_languages(query, &self.languages, &mut asker).await;
        let usage = asker.usage();
        let request = RetrievalRequest {
            query,
            dataset_ids,
            filters,
            filter_logic: self.filter.logic(),
            ..self.request.clone()
        };
        let found = call.run.services.world.retrieval.retrieve(request).await;
        let found = found.map_err(|error| Trouble::from(error).after(usage))?;
        if found.chunks.is_empty() {
            return Ok(Outcome {
                usage,
                ..self.nothing()
            });
        }
        let passages = Passages::new(&found, call);
        let mut ports = Ports::one("formalized_content", passages.text.clone());
        let chunks = found.chunks.into_iter().map(Value::from);
        ports.set("json", chunks.collect::<Vec<_>>());
        Ok(Outcome {
            ports,
            told: passages.text,
            references: vec![passages.store],
            usage,
            ..Outcome::default()
        })
    }

    /// What a memory holds. It is no source that answers cite.
    async fn recall(&self, query: &str, call: &Call) -> Result<Outcome, Trouble> {
        if self.memories.is_empty() {
            return Err(
                Trouble::new("no_memory", "no memory is selected. Choose one in the node")
                    .told("No memory is selected.")
                    .without_trace(),
            );
        }
        let query = MemoryQuery {
            memory_ids: self.memories.clone(),
            whose: whose(&self.user, call),
            query: query.to_owned(),
            top_n: self.request.top_n,
            similarity_threshold: self.request.similarity_threshold,
            keywords_similarity_weight: self.request.keywords_similarity_weight,
        };
        let messages = call.run.services.world.memory.search(query).await?;
        if messages.is_empty() {
            return Ok(self.nothing());
        }
        let contents = messages.iter().filter_map(|message| message.get("content"));
        let text: Arc<str> = contents
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join("\n")
            .into();
        let mut ports = Ports::one("formalized_content", text.clone());
        ports.set(
            "json",
            messages.into_iter().map(Value::from).collect::<Vec<_>>(),
        );
        Ok(Outcome {
            ports,
            told: text,
            ..Outcome::default()
        })
    }
}

/// The query without the word that says who spoke.
fn without_speaker(query: &str) -> &str {
    const SPEAKER: &str = "user:";
    let trimmed = query.trim_start();
    match trimmed.get(..SPEAKER.len()) {
        Some(start) if start.eq_ignore_ascii_case(SPEAKER) => trimmed[SPEAKER.len()..].trim_start(),
        _ => query,
    }
}

#[cfg(test)]
mod tests;
