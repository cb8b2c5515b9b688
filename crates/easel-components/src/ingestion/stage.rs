//! What all steps of a pipeline have in common: they take what the step before put out, and the last one keeps it.

use std::sync::Arc;

use easel_core::bind::ReadId;
use easel_core::draft::Field;
use easel_core::event::{Completion, Fault, Usage};
use easel_core::{Object, Value};
use easel_tools::ToolError;
use easel_tools::ingestion::KeepRequest;
use futures::future::BoxFuture;

use super::handed::{Content, Handed};
use super::pieces;
use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::site::Site;

/// What lowering puts before the names of ports of the step before.
const HANDED: &str = "handed.";

/// One step: what it makes of what it is handed.
pub(super) trait Step: Send + Sync + 'static {
    /// What it hands on, and what it used of models.
    fn take<'a>(
        &'a self,
        handed: Handed,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<(Handed, Usage), Failure>>;
}

/// How pieces are searched.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Index {
    /// By their words.
    pub by_words: bool,
    /// By their meaning.
    pub by_vectors: bool,
    /// The weight of the document's name in the meaning.
    pub name_weight: f64,
    /// The fields whose meaning counts.
    pub fields: Vec<String>,
}

impl Default for Index {
    /// As a Tokenizer that says nothing.
    fn default() -> Index {
        Index {
            by_words: true,
            by_vectors: true,
            name_weight: 0.1,
            fields: vec!["text".to_owned()],
        }
    }
}

/// A step in its place.
struct Stage<S> {
    step: S,
    /// The ports of the step before, by name.
    before: Vec<(Arc<str>, ReadId)>,
    /// How it keeps what it hands on; `None`: another step does.
    keeps: Option<Index>,
}

/// Puts a step in its place. It keeps what it hands on if `index` says how, or if it is the last of a pipeline in which no
/// step does so by itself.
///
/// Errors: several steps are before it.
pub(super) fn put<S: Step>(
    node: Prepared<'_>,
    step: S,
    index: Option<Index>,
) -> Result<Arc<dyn Behaviour>, Fault> {
    let mut before = Vec::new();
    for (path, field) in &node.node.draft.fields {
        let (Some(rest), Field::Reference(read)) = (path.strip_prefix(HANDED), field) else {
            continue;
        };
        let Some((number, port)) = rest.split_once('.') else {
            continue;
        };
        if number != "0" {
            return Err(Site::of_node(node).stands_behind_several());
        }
        before.push((Arc::from(port), *read));
    }
    let others_keep = || {
        let mut nodes = node.workflow.nodes.iter();
        nodes.any(|node| &*node.draft.component == "Tokenizer")
    };
    let is_last = node.node.draft.downstream.is_empty();
    let keeps = index.or_else(|| (is_last && !others_keep()).then(Index::default));
    Ok(Arc::new(Stage {
        step,
        before,
        keeps,
    }))
}

impl Site<'_> {
    fn stands_behind_several(&self) -> Fault {
        let name = &self.owner.node.draft.name;
        let message = format!(
            "\"{name}\" stands behind several steps, and a pipeline is a chain. Leave one edge to it, and make another pipeline of \
             the rest."
        );
        Fault::new("bad_parameter", message).without_trace()
    }
}

impl<S: Step> Behaviour for Stage<S> {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move {
            let inputs = call.inputs();
            let ports = self.before.iter().filter_map(|(port, read)| {
                let value = inputs.get(*read).value()?.clone();
                Some((port.clone(), value))
            });
            let handed = Handed::of(&ports.collect::<Object>(), &call)?;
            let (handed, usage) = self.step.take(handed, &call).await?;
            if let Some(index) = &self.keeps {
                let kept = keep(&handed, index, &call).await;
                kept.map_err(|fault| Failure { fault, usage })?;
            }
            Ok(Completion {
                ports: handed.ports(),
                usage,
                ..Completion::default()
            })
        })
    }
}

/// Keeps what a document became.
async fn keep(handed: &Handed, index: &Index, call: &Call) -> Result<(), Fault> {
    if handed.content == Content::Document {
        let fix = "Put a Parser before it";
        let problem = "cannot keep a document that was not read";
        return Err(crate::parameters::bad_input(call.node(), problem, fix));
    }
    let chunks = handed.chunks();
    let chunks = chunks
        .iter()
        .filter(|chunk| !pieces::text_of(chunk).trim().is_empty());
    let request = KeepRequest {
        document: handed.document(),
        format: handed.known("format"),
        unread: handed.known("unread"),
        passages: chunks
            .map(|chunk| pieces::passage(chunk, &index.fields))
            .collect(),
        by_words: index.by_words,
        by_vectors: index.by_vectors,
        name_weight: index.name_weight,
    };
    let kept = call.run.services.world.ingestion.keep(request).await;
    kept.map(|_| ()).map_err(|error| unable(call, &error))
}

/// The fault of a step that cannot do its part. What is the document's own has a code that begins with `document.`; what
/// the step was told and cannot be done is a bad parameter.
pub(super) fn unable(call: &Call, error: &ToolError) -> Fault {
    let name = &call.node().draft.name;
    let code = match error {
        ToolError::Unreadable { .. } => "document.unreadable",
        ToolError::InvalidRequest { .. } => "bad_parameter",
        error => error.code(),
    };
    Fault {
        nothing_sent: error.certain_nothing_sent(),
        ..Fault::new(code, format!("\"{name}\" could not go on: {error}."))
    }
}

/// Makes of a value what is known of the file with something more.
pub(super) fn with_member(file: &Value, name: &str, value: &str) -> Value {
    let mut members = file.as_object().cloned().unwrap_or_default();
    members.insert(name.into(), Value::from(value));
    Value::from(members)
}
