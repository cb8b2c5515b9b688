//! A workflow as it is kept, or as a file has it: to compare, and to write out.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use easel_runtime::graphs::package::Package;
use easel_runtime::{Engine, Workflow};
use easel_store::{AgentRecord, Dialect};
use serde_json::{Map, Value as Json, json};

use super::compare::Shape;
use crate::data;
use crate::exit::Exit;
use crate::lift::Lifted;
use crate::problem::{Problem, sentence};
use crate::reach::Reach;
use crate::source::Source;

/// How an archive begins.
const ARCHIVE: &[u8] = b"PK\x03\x04";

/// A workflow with the bytes it was read from.
pub struct Stored {
    bytes: Vec<u8>,
    workflow: Arc<Workflow>,
    package: Option<Package>,
}

/// A workflow to be written out.
pub struct Exported {
    /// What is written.
    pub bytes: Vec<u8>,
    /// True of an archive, which is no text.
    pub is_archive: bool,
    /// Names that stand for credentials which were left out.
    pub left_out: Vec<String>,
}

/// An engine that loads workflows and runs none.
pub fn loader() -> Result<Engine, Problem> {
    let engine = Engine::builder().build();
    let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    Arc::into_inner(engine).ok_or_else(|| Problem::usage("No workflow can be loaded."))
}

impl Stored {
    /// What is kept under a hash.
    pub async fn read(reach: &Reach, hash: &str, name: &str) -> Result<Stored, Problem> {
        let document = reach.store().document(hash).await.map_err(data::problem)?;
        let document = document.ok_or_else(|| {
            Problem::new(
                Exit::Failed,
                format!("The document of {name} is gone: {hash}."),
            )
        })?;
        let engine = loader()?;
        let unreadable = |error: String| {
            Problem::new(
                Exit::Failed,
                format!("What is kept of {name} cannot be read."),
            )
            .because(sentence(&error).into_owned())
        };
        let package =
            match document.dialect == Dialect::Graph && document.bytes.starts_with(ARCHIVE) {
                true => {
                    let package = Package::from_archive(&document.bytes);
                    Some(package.map_err(|error| unreadable(error.to_string()))?)
                }
                false => None,
            };
        let workflow = match &package {
            Some(package) => engine.package(package),
            None => {
                let loaded = engine.load(&document.bytes);
                loaded.map_err(|error| unreadable(error.to_string()))?
            }
        };
        Ok(Stored {
            bytes: document.bytes,
            workflow: Arc::new(workflow),
            package,
        })
    }

    /// A file, if there is one of that name.
    pub fn of_file(name: &str) -> Result<Option<Stored>, Problem> {
        let path = Path::new(name);
        if !path.exists() {
            return Ok(None);
        }
        let source = Source::read(path)?;
        let workflow = source.load(&loader()?)?;
        Ok(Some(Stored {
            bytes: source.bytes.clone(),
            workflow: Arc::new(workflow),
            package: source.package().cloned(),
        }))
    }

    /// What there is to compare of it.
    pub fn shape(&self) -> Shape {
        shape_of(&self.workflow, self.package.as_ref())
    }

    /// It as a file, without credentials. A canvas of an agent has its title and what else is said of the agent around it.
    pub fn export(&self, agent: Option<&AgentRecord>) -> Result<Exported, Problem> {
        if self.package.is_some() {
            return Ok(Exported {
                bytes: self.bytes.clone(),
                is_archive: true,
                left_out: Vec::new(),
            });
        }
        let text = match (self.workflow.canvas(), self.workflow.graph()) {
            (Some(canvas), _) => {
                let canvas = canvas.canvas().to_json();
                let file = match agent {
                    Some(agent) => wrapped(agent, canvas),
                    None => canvas,
                };
                format!("{file:#}\n")
            }
            // A graph's comments are worth as much as its keys.
            (None, _) => String::from_utf8_lossy(&self.bytes).into_owned(),
        };
        let Ok(lifted) = Lifted::of(self.workflow.secrets(), |_, _| Ok::<_, Infallible>(false));
        let (text, lifted, left) = lifted.rewrite(&text);
        if let Some(field) = left.first() {
            return Err(Problem::new(
                Exit::Failed,
                format!("A credential for {field} is kept in a form that cannot be taken out, and nothing was written."),
            )
            .fix("Put ${NAME} in its place in the editor, and keep the value with `easel secrets set NAME`."));
        }
        Ok(Exported {
            bytes: text.into_bytes(),
            is_archive: false,
            left_out: lifted.secrets().map(|(name, _)| name.to_owned()).collect(),
        })
    }
}

/// A canvas with what is said of its agent, in the form of templates, which `easel agents import` reads back.
fn wrapped(agent: &AgentRecord, canvas: Json) -> Json {
    json!({
        "id": agent.id,
        "title": agent.title,
        "description": agent.description,
        "canvas_type": agent.kind,
        "canvas_category": agent.category,
        "dsl": canvas,
    })
}

/// What there is to compare of a workflow.
pub fn shape_of(workflow: &Workflow, package: Option<&Package>) -> Shape {
    match (workflow.canvas(), workflow.graph()) {
        (Some(canvas), _) => Shape::of_canvas(&canvas.canvas().to_json()),
        (None, Some(graph)) => {
            let root = graph.document().root().to_value().to_json();
            let entry = package.map(|package| package.manifest.entrypoint.as_str());
            let files = package.into_iter().flat_map(Package::files);
            let files = files.filter(|(name, _)| Some(*name) != entry);
            let files = files.map(|(name, bytes)| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                (name.to_owned(), Json::from(text))
            });
            Shape::of_graph(&root, files.collect())
        }
        (None, None) => Shape::of_graph(&Json::Null, Map::new()),
    }
}
