//! Searches and services on the web: the provider is asked through one door, and what comes back is read by a row of a
//! table (spec/canvas-components §7).

mod providers;

use std::sync::Arc;

use easel_catalog as catalog;
use easel_core::event::{Fault, Ports};
use easel_core::{Object, Value};
use easel_secrets::SinkKind;
use easel_tools::references::{Found, retrieved};
use easel_tools::search::SearchRequest;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::behaviour::Call;
use crate::function::{Function, Outcome, Trouble};
use crate::given::Given;
use crate::passages::Passages;
use crate::site::Site;
use providers::{Provider, Reading, USUAL};

/// Reads the parameters.
pub(crate) fn make(
    site: &Site<'_>,
    table: &catalog::Component,
) -> Result<Arc<dyn Function>, Fault> {
    let tool = table.tool.as_ref();
    let function = tool.map(|tool| tool.function.clone());
    let arguments = tool
        .map(|tool| tool.arguments.as_slice())
        .unwrap_or_default();
    let is_argument = |name: &str| arguments.iter().any(|argument| *argument.name == *name);
    let (mut parameters, mut key) = (Vec::new(), None);
    for param in table
        .params
        .iter()
        .filter(|param| !is_argument(&param.name))
    {
        let given = site.given(&param.name, param.secrets);
        match param.kind == catalog::Type::Credential {
            true => key = Some((param.name.clone(), given)),
            false => parameters.push((param.name.clone(), given)),
        }
    }
    let subject = arguments.iter().find(|argument| argument.required);
    Ok(Arc::new(Search {
        provider: providers::named(function.as_deref().unwrap_or(&table.name)),
        function: function.unwrap_or_else(|| table.name.clone()),
        subject: subject.map_or_else(|| "query".into(), |argument| argument.name.clone()),
        parameters,
        key,
        gives_json: table.ports.iter().any(|port| *port.name == *"json"),
    }))
}

struct Search {
    provider: &'static Provider,
    function: Arc<str>,
    /// The name of the main argument.
    subject: Arc<str>,
    parameters: Vec<(Arc<str>, Given)>,
    /// The credential and the name of its parameter.
    key: Option<(Arc<str>, Given)>,
    gives_json: bool,
}

impl Function for Search {
    fn call<'a>(
        &'a self,
        mut arguments: Object,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Outcome, Trouble>> {
        async move {
            let subject = arguments.shift_remove(&self.subject).unwrap_or_default();
            let subject = self.subject_of(subject);
            if !subject.is_truthy() {
                return Ok(self.outcome(Vec::new(), call));
            }
            let mut parameters = arguments;
            let door = call.door(SinkKind::Tool, &self.function);
            for (name, given) in &self.parameters {
                parameters.insert(name.clone(), given.open(call, &door)?.into_exposed());
            }
            parameters.retain(|_, value| !value.is_null());
            let key = match &self.key {
                Some((name, key)) => key.open_credential(call, &door, name)?,
                None => None,
            };
            let request = SearchRequest {
                provider: self.function.to_string(),
                subject,
                parameters,
                api_key: key,
            };
            let found = call.run.services.world.search.search(request).await?;
            Ok(self.outcome(found.results, call))
        }
        .boxed()
    }
}

impl Search {
    /// The main argument in the form the provider takes: a text, or a list of addresses.
    fn subject_of(&self, given: Value) -> Value {
        match (self.provider.reading, given) {
            (Reading::Pages, Value::String(text)) => {
                let items = text
                    .split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty());
                items.map(Value::from).collect::<Vec<_>>().into()
            }
            (Reading::Pages, other) => other,
            (_, other) => Value::from(other.to_string().trim()),
        }
    }

    /// The results of an answer that is given whole, and what `json` holds.
    fn parts(&self, results: Vec<Value>) -> (Vec<Value>, Value) {
        let Some(path) = self.provider.within else {
            return (results.clone(), results.into());
        };
        let answer = results
            .into_iter()
            .next()
            .unwrap_or_else(Value::empty_object);
        let listed = at(&answer, path).and_then(Value::as_array);
        (listed.unwrap_or_default().to_vec(), answer)
    }

    fn outcome(&self, results: Vec<Value>, call: &Call) -> Outcome {
        let (results, json) = self.parts(results);
        match self.provider.reading {
            Reading::Pages => {
                // A list goes to a model as it does in the canvases that models were told to read it in.
                let told = json.python().to_string();
                Outcome {
                    ports: Ports::one("json", json),
                    told: told.into(),
                    ..Outcome::default()
                }
            }
            Reading::Report => {
                let report: Arc<str> = self.report(&results).into();
                Outcome {
                    ports: Ports::one("report", report.clone()),
                    told: report,
                    ..Outcome::default()
                }
            }
            Reading::Texts => {
                let texts = results
                    .iter()
                    .map(|result| self.provider.found(result).content);
                let text: Arc<str> = texts.collect::<Vec<_>>().join("\n\n").into();
                Outcome {
                    ports: Ports::one("formalized_content", text.clone()),
                    told: text,
                    ..Outcome::default()
                }
            }
            Reading::Passages => {
                let found = retrieved(results.iter().map(|result| self.provider.found(result)));
                let passages = Passages::new(&found, call);
                let mut ports = Ports::one("formalized_content", passages.text.clone());
                if self.gives_json {
                    ports.set("json", json);
                }
                Outcome {
                    ports,
                    told: passages.text,
                    references: match found.chunks.is_empty() {
                        true => Vec::new(),
                        false => vec![passages.store],
                    },
                    ..Outcome::default()
                }
            }
        }
    }

    /// Each result as a section under its title.
    fn report(&self, results: &[Value]) -> String {
        let sections = results.iter().map(|result| {
            let Found { title, content, .. } = self.provider.found(result);
            format!("# {title}:\n{content}\n")
        });
        sections.collect::<Vec<_>>().join("\n\n")
    }
}

impl Provider {
    /// A result in our words. Of several names for one thing the first that says something counts.
    fn found(&self, result: &Value) -> Found {
        let text = |names: &[&str], usual: &[&str]| {
            let mut texts = names
                .iter()
                .chain(usual)
                .filter_map(|name| at(result, name))
                .map(Value::to_string);
            texts
                .find(|text| !text.trim().is_empty())
                .unwrap_or_default()
        };
        let mut content = text(self.content, USUAL.content);
        for (label, name) in self.notes {
            if let Some(value) = at(result, name).filter(|value| !value.is_null()) {
                content = format!("{content}\n{label}: {value}");
            }
        }
        Found {
            title: text(self.title, USUAL.title),
            url: text(self.url, USUAL.url),
            content: content.trim().to_owned(),
            score: result
                .get("score")
                .filter(|score| score.as_f64().is_some())
                .cloned(),
        }
    }
}

/// What stands at a dotted path.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.')
        .try_fold(value, |value, name| value.get(name))
}

#[cfg(test)]
mod tests;
