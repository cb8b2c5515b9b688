//! Documents through an ingestion pipeline into a knowledge base.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use easel_knowledge::{Begun, Knowledge, Outcome, Pipeline, Report, RunEnd, Source, fingerprint};
use easel_runtime::core::event::Fault;
use easel_runtime::models::ChatModel;
use easel_runtime::tools::World;
use easel_runtime::tools::files::FileDescriptor;
use easel_runtime::{Ending, Engine, EventKind, Input, Object, RunEvent, Value, Workflow};
use serde_json::{Value as Json, json};

use super::add::{name_of, note};
use super::answers::Remembering;
use super::problem;
use super::progress::Shown;
use crate::cli::AddKb;
use crate::config::HOW_TO_SET_A_MODEL;
use crate::exit::Exit;
use crate::keyring;
use crate::problem::{Problem, sentence};
use crate::run::models_and_tools;
use crate::source::Source as Canvas;

/// Documents in a row for which the model may fail before the rest is left alone.
const IN_A_ROW: usize = 3;

/// Kinds of files in the set-ups of a Parser that are text, whatever their endings.
const TEXTS: [&str; 3] = ["text&code", "markdown", "html"];

/// A knowledge base that is added to through a pipeline.
pub struct Adding {
    canvas: Canvas,
    knowledge: Knowledge,
    pipeline: Pipeline,
    models: Arc<dyn ChatModel>,
    /// The model that the command names.
    named: String,
    world: World,
    /// Endings that the pipeline reads as text.
    endings: Vec<String>,
}

/// A file that is to be added.
struct ToAdd {
    name: String,
    path: PathBuf,
    /// The folder it was found in.
    origin: Option<Arc<str>>,
}

/// What came of the run over one document.
enum Ran {
    /// It has an outcome.
    Ended(Outcome),
    /// The model did not answer.
    Unanswered(Outcome),
    /// Nothing that follows would fare better.
    Hopeless(Problem),
}

impl Adding {
    /// Reads the pipeline and opens the knowledge base.
    ///
    /// # Errors
    /// The file is no pipeline or the check refuses it; there is no such knowledge base.
    pub async fn begin(
        arguments: &AddKb,
        path: &Path,
        knowledge: Knowledge,
    ) -> Result<Adding, Problem> {
        let canvas = Canvas::read(path)?;
        let (models, world) = models_and_tools(&arguments.world)?;
        let workflow = canvas.load(&*engine(models.clone(), world.clone())?)?;
        canvas.refuse(&workflow)?;
        if !workflow.is_pipeline() {
            let message = format!("{} is no ingestion pipeline.", canvas.name);
            return Err(Problem::usage(message)
                .fix("A pipeline is a canvas that begins with File; `easel run` runs any other."));
        }
        let known_by = known_by(&workflow);
        let pipeline = knowledge.pipeline(&arguments.name, &known_by).await;
        Ok(Adding {
            pipeline: pipeline.map_err(problem)?,
            endings: endings(&workflow),
            named: arguments.world.model().unwrap_or_default().to_owned(),
            canvas,
            knowledge,
            models,
            world,
        })
    }

    /// Adds all that the command names. Beside the report stands why the rest was left alone, if it was.
    pub async fn add(
        &self,
        arguments: &AddKb,
        metadata: Option<Object>,
        shown: &mut Shown,
    ) -> Result<(Report, Option<Problem>), Problem> {
        let mut report = Report::default();
        let files = self.files(arguments, &mut report).await?;
        let (total, mut unanswered) = (files.len(), 0);
        for (done, file) in files.iter().enumerate() {
            shown.begins(&file.name, done, total);
            let ran = self.file(file, metadata.clone(), shown).await?;
            unanswered = match &ran {
                Ran::Unanswered(_) => unanswered + 1,
                _ => 0,
            };
            let outcome = match ran {
                Ran::Ended(outcome) | Ran::Unanswered(outcome) => outcome,
                Ran::Hopeless(problem) => return Ok((report, Some(problem))),
            };
            shown.ended(&file.name, done, total, &outcome);
            note(&mut report, &file.name, outcome);
            if unanswered >= IN_A_ROW && done + 1 < total {
                return Ok((report, Some(given_up(total - done - 1))));
            }
        }
        if arguments.remove_gone {
            for name in &report.gone {
                let removed = self.knowledge.remove_document(&arguments.name, name);
                removed.await.map_err(problem)?;
            }
            report.removed = true;
        }
        Ok((report, None))
    }

    /// The files that the command names, and those in folders that it names.
    async fn files(&self, arguments: &AddKb, report: &mut Report) -> Result<Vec<ToAdd>, Problem> {
        let mut files = Vec::new();
        for path in &arguments.paths {
            if !path.is_dir() {
                std::fs::metadata(path).map_err(|error| Problem::file(path, "read", &error))?;
                files.push(ToAdd {
                    name: name_of(path),
                    path: path.clone(),
                    origin: None,
                });
                continue;
            }
            let folder = self.knowledge.folder(path, &self.endings).await;
            let folder = folder.map_err(problem)?;
            let names: Vec<&str> = folder.files.iter().map(|(name, _)| name.as_str()).collect();
            report
                .gone
                .extend(self.pipeline.gone(&folder.origin, &names));
            report.skipped.extend(folder.skipped);
            let origin: Arc<str> = folder.origin.into();
            files.extend(folder.files.into_iter().map(|(name, path)| ToAdd {
                name,
                path,
                origin: Some(origin.clone()),
            }));
        }
        Ok(files)
    }

    /// Takes one file through the pipeline.
    async fn file(
        &self,
        file: &ToAdd,
        metadata: Option<Object>,
        shown: &mut Shown,
    ) -> Result<Ran, Problem> {
        let read = match self.knowledge.source(&file.name, &file.path).await {
            Ok(read) => read,
            Err(error) => return Ok(Ran::Ended(Outcome::Failed(error.to_string()))),
        };
        let source = Source { metadata, ..read };
        let begun = self.pipeline.begin(source, file.origin.as_deref()).await;
        let document = match begun.map_err(problem)? {
            Begun::Open(document) => document,
            Begun::Ended(outcome) => return Ok(Ran::Ended(outcome)),
        };
        let (end, fault) = end_of(self.run(&document, shown).await?);
        let outcome = self.pipeline.end(&document, end).await.map_err(problem)?;
        Ok(match fault {
            Some(fault) if is_hopeless(&fault.code) => Ran::Hopeless(hopeless(&fault)),
            Some(fault) if fault.code.starts_with("model.") => Ran::Unanswered(outcome),
            _ => Ran::Ended(outcome),
        })
    }

    /// Runs the pipeline over a document.
    async fn run(&self, document: &FileDescriptor, shown: &mut Shown) -> Result<Ending, Problem> {
        let remembering = Remembering {
            model: self.models.clone(),
            named: self.named.clone(),
            pipeline: self.pipeline.clone(),
            document: document.clone(),
        };
        let world = World {
            files: Arc::new(self.pipeline.clone()),
            ingestion: Arc::new(self.pipeline.clone()),
            ..self.world.clone()
        };
        let engine = engine(Arc::new(remembering), world)?;
        let workflow = Arc::new(self.canvas.load(&engine)?);
        let file = json!({"id": document.id, "name": document.name, "created_by": "local"});
        let input = Input {
            files: vec![Value::from(file)],
            ..Input::default()
        };
        let mut observe = |event: RunEvent| show(&document.name, &event, shown);
        let ended = engine.session(&workflow).turn(input, &mut observe).await;
        ended.map_err(|error| Problem::new(Exit::Failed, sentence(&error.to_string())))
    }
}

fn show(document: &str, event: &RunEvent, shown: &mut Shown) {
    match &event.kind {
        EventKind::NodeStarted { subject, .. } => shown.step(document, subject.name()),
        EventKind::Warning { text, .. } => shown.warning(text),
        _ => {}
    }
}

/// How the run over a document ended, and the failure if it was none of the document's own.
fn end_of(ending: Ending) -> (RunEnd, Option<Fault>) {
    match ending {
        Ending::Finished => (RunEnd::Finished, None),
        Ending::Failed { fault, .. } if fault.code.starts_with("document.") => {
            (RunEnd::Unfit(fault.message.to_string()), None)
        }
        Ending::Failed { fault, .. } => (RunEnd::Failed(fault.message.to_string()), Some(fault)),
        Ending::Waiting | Ending::Unfit | Ending::Uncertain(_) | Ending::Cancelled => {
            let why = "the pipeline waits for somebody, and nobody is there to answer";
            (RunEnd::Failed(why.to_owned()), None)
        }
    }
}

fn engine(models: Arc<dyn ChatModel>, world: World) -> Result<Arc<Engine>, Problem> {
    let engine = Engine::builder()
        .model(models)
        .world(world)
        .secrets(keyring::resolver()?)
        .build();
    engine.map_err(|error| Problem::usage(sentence(&error.to_string())))
}

/// Whether a failure is of the pipeline or the settings, and so of every document.
fn is_hopeless(code: &str) -> bool {
    matches!(
        code,
        "model.no_default"
            | "model.unknown"
            | "model.key_missing"
            | "bad_parameter"
            | "bad_input"
            | "not_available"
    )
}

fn hopeless(fault: &Fault) -> Problem {
    let problem = Problem::new(Exit::Failed, &*fault.message);
    match fault.code.starts_with("model.") {
        true => problem.fix(HOW_TO_SET_A_MODEL),
        false => problem,
    }
}

fn given_up(left: usize) -> Problem {
    let message = format!(
        "The model gave no answer for {IN_A_ROW} documents in a row, so the other {left} were left alone."
    );
    Problem::new(Exit::Failed, message)
        .fix("Run the same again once it answers: what is done stays done.")
}

/// What a pipeline is known by: its steps with their parameters, and their order.
fn known_by(workflow: &Workflow) -> Vec<u8> {
    let steps = workflow.compiled().nodes.iter().map(|node| {
        let draft = &node.draft;
        let to: Vec<&str> = draft.downstream.iter().map(|id| &**id).collect();
        json!([&*draft.id, &*draft.component, draft.params.to_json(), to])
    });
    fingerprint(Json::from_iter(steps).to_string().as_bytes())
}

/// Endings of files that set-ups of a Parser name as text.
fn endings(workflow: &Workflow) -> Vec<String> {
    let nodes = workflow.compiled().nodes.iter();
    let mut endings = Vec::new();
    for parser in nodes.filter(|node| &*node.draft.component == "Parser") {
        let params = &parser.draft.params;
        let setups = params.get("setups").unwrap_or(params);
        for kind in TEXTS {
            let suffixes = setups.get(kind).and_then(|setup| setup.get("suffix"));
            let suffixes = suffixes.and_then(Value::as_array).unwrap_or_default();
            let suffixes = suffixes.iter().filter_map(Value::as_str);
            endings.extend(suffixes.map(|ending| ending.trim_start_matches('.').to_owned()));
        }
    }
    endings
}
