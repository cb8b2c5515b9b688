//! The document that a pipeline is run over, and what became of it.

use std::path::Path;

use easel_runtime::{Input, Object, Session, Value, Workflow};

use super::files::LocalFiles;
use crate::problem::Problem;

/// How to run a pipeline.
const HOW: &str = "`easel run PIPELINE FILE` shows what becomes of a document; `easel kb add BASE FILES --pipeline PIPELINE` keeps it.";

/// Takes what the user says as the name of the document, if none was handed in.
///
/// # Errors
/// There is no document, or there are several.
pub fn bring(input: &mut Input, files: &LocalFiles) -> Result<(), Problem> {
    if let (true, Some(path)) = (input.files.is_empty(), input.query.as_str()) {
        let path = Path::new(path);
        let document = files.hand_in(path);
        input.files = vec![document.map_err(|error| Problem::file(path, "read", &error))?];
        input.query = Value::Null;
    }
    match input.files.len() {
        1 => Ok(()),
        0 => Err(Problem::usage(
            "This is an ingestion pipeline: it runs over a document, and none is named.",
        )
        .fix(HOW)),
        _ => Err(Problem::usage(
            "An ingestion pipeline runs over one document, and several are named.",
        )
        .fix(HOW)),
    }
}

/// What the last step of a pipeline handed on, as JSON.
pub fn outcome(session: &Session) -> Option<String> {
    let last = last_step(session.workflow())?;
    let (_, ports) = session.outputs().find(|(id, _)| ***id == *last)?;
    let format = ports.get("output_format").and_then(Value::as_str);
    let shown = ["name"].into_iter().chain(format);
    let shown: Object = shown
        .filter_map(|name| Some((name.into(), ports.get(name)?.clone())))
        .collect();
    Some(format!("{:#}", Value::from(shown).to_json()))
}

/// The step behind which none is.
fn last_step(workflow: &Workflow) -> Option<&str> {
    let mut nodes = workflow.compiled().nodes.iter();
    let last = nodes.find(|node| node.draft.downstream.is_empty())?;
    Some(&last.draft.id)
}
