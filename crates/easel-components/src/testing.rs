//! Trying out one node: lowered from a canvas as users write it, with the values it reads at hand.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use easel_canvas::{document::Document, lower, normalise};
use easel_core::Value;
use easel_core::bind::{Activation, Inputs, Resolved};
use easel_core::compile::compile;
use easel_core::effect::Execute;
use easel_core::event::{Completion, Fault, Timestamp, Usage};
use easel_core::reference::Path;
use easel_core::workflow::{NodeId, Workflow};
use easel_models::Scripted;
use easel_models::scripted::LoggedCall;
use easel_secrets::{Gate, Resolver, Secret};
use easel_tools::files::FileDescriptor;
use easel_tools::{ScriptedWorld, World};
use futures::executor::block_on;
use futures::future::BoxFuture;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use crate::behaviour::{Behaviour, Call, Note, Prepared, Run, RunContext, Services, Wire};
use crate::clock::Clock;
use crate::stream::{Piece, PieceKind, StreamItem, StreamReader, StreamWriter};
use crate::turn::Turn;

/// The id of the node that is tried out.
const ID: &str = "X";

/// One node and everything around it.
pub(crate) struct Trial {
    component: String,
    params: Json,
    values: Vec<(String, Resolved)>,
    recorder: Recorder,
    random: u64,
    answers: Option<Json>,
    turn: Turn,
    world: World,
    model: Scripted,
    gathered: Vec<Json>,
    behind: Option<&'static str>,
    clock: Standing,
    secrets: Vec<(Arc<str>, Secret)>,
}

/// A clock that stands still. Everything has taken as long as it may, or nothing ever does.
#[derive(Clone, Copy)]
struct Standing {
    patient: bool,
}

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        NOW
    }

    fn sleep(&self, _: u64) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn deadline(&self, _: u64) -> BoxFuture<'static, ()> {
        match self.patient {
            true => Box::pin(std::future::pending()),
            false => Box::pin(std::future::ready(())),
        }
    }
}

/// When everything happens.
const NOW: Timestamp = Timestamp(1_767_323_045_000);

/// What one attempt did.
pub(crate) struct Tried {
    /// The completion, or why there is none.
    pub result: Result<Completion, Fault>,
    /// True if it was done at once, without waiting.
    pub at_once: bool,
    /// What it showed, in order; see [`spelled`].
    pub shown: Vec<String>,
    /// The warnings it left.
    pub warnings: Vec<String>,
    /// The text it streamed, as [`spelled`] writes what is shown.
    pub streamed: String,
    /// The tools its agents called: `path tool arguments -> result`.
    pub tool_calls: Vec<String>,
    /// The requests to models, by who made them.
    pub requests: IndexMap<Arc<str>, Vec<LoggedCall>>,
    /// What it used of models.
    pub usage: Usage,
}

impl Trial {
    /// A node of that component.
    pub fn new(component: &str, params: Json) -> Trial {
        Trial {
            component: component.to_owned(),
            params,
            values: Vec::new(),
            recorder: Recorder::default(),
            random: 0,
            answers: None,
            turn: Turn::default(),
            world: World::none(),
            model: Scripted::new(Default::default()),
            gathered: Vec::new(),
            behind: None,
            clock: Standing { patient: true },
            secrets: Vec::new(),
        }
    }

    /// The value of a reference. One that is not given is missing.
    pub fn given(mut self, key: &str, value: Json) -> Trial {
        let value = Resolved::Value(Value::from(value));
        self.values.push((key.to_owned(), value));
        self
    }

    /// A reference whose text is still arriving, as these items.
    pub fn streaming(mut self, key: &str, items: impl IntoIterator<Item = StreamItem>) -> Trial {
        let producer = Activation(100 + self.values.len() as u64);
        let (writer, reader) = StreamReader::pair();
        for item in items {
            writer.send(item);
        }
        self.recorder
            .streams
            .get_mut()
            .unwrap()
            .insert(producer, reader);
        self.values
            .push((key.to_owned(), Resolved::Stream(producer)));
        self
    }

    /// The run's random number for the attempt.
    pub fn random(mut self, random: u64) -> Trial {
        self.random = random;
        self
    }

    /// The answers of a form.
    pub fn answered(mut self, answers: Json) -> Trial {
        self.answers = Some(answers);
        self
    }

    /// The turn it happens in.
    pub fn turn(mut self, turn: Turn) -> Trial {
        self.turn = turn;
        self
    }

    /// The outside world.
    pub fn world(mut self, world: World) -> Trial {
        self.world = world;
        self
    }

    /// What models say: the sections of an `llm.json`.
    pub fn model(mut self, script: Json) -> Trial {
        self.model = Scripted::new(serde_json::from_value(script).unwrap());
        self
    }

    /// A secret that the run knows, and masks.
    pub fn knowing(mut self, name: &str, value: &str) -> Trial {
        self.secrets.push((name.into(), Secret::new(value)));
        self
    }

    /// What was found in this turn before.
    pub fn gathered(mut self, store: Json) -> Trial {
        self.gathered.push(store);
        self
    }

    /// Every time limit is over as soon as something has to be waited for.
    pub fn out_of_time(mut self) -> Trial {
        self.clock = Standing { patient: false };
        self
    }

    /// A node of that component comes after it.
    pub fn before(mut self, component: &'static str) -> Trial {
        self.behind = Some(component);
        self
    }

    /// The node as a canvas has it: behind `begin`, with something behind every reference that is given.
    fn workflow(&self) -> Workflow {
        let node = |class: &str, params: &Json| json!({"obj": {"component_name": class, "params": params}, "upstream": [], "downstream": []});
        let mut components = json!({"begin": node("Begin", &json!({}))});
        let mut globals = json!({"sys.query": "", "sys.files": [], "sys.user_id": ""});
        for (key, value) in &self.values {
            match key.split_once('@') {
                Some(("begin", _)) => {}
                Some((id, _)) => {
                    components[id] = node("StringTransform", &json!({"method": "merge"}));
                }
                None => globals[key] = value.or_null().to_json(),
            }
        }
        components[ID] = node(&self.component, &self.params);
        if let Some(behind) = self.behind {
            components["Behind"] = node(behind, &json!({"content": ["{X@content}"]}));
            components[ID]["downstream"] = json!(["Behind"]);
        }
        let targets: Vec<Json> = components
            .as_object()
            .unwrap()
            .keys()
            .filter(|id| *id != "begin" && *id != "Behind")
            .map(|id| json!(id))
            .collect();
        components["begin"]["downstream"] = json!(targets);
        let canvas =
            json!({"components": components, "globals": globals, "path": [], "history": []});
        let document = Document::read(canvas.to_string().as_bytes()).unwrap();
        let document = normalise::normalise(&document).document;
        let registry = registry();
        compile(lower::lower(&document, registry.catalog()).draft).workflow
    }

    /// Prepares the node and makes one attempt.
    pub fn run(self) -> Tried {
        let workflow = Arc::new(self.workflow());
        let id = workflow.find(ID).unwrap();
        match prepare(&workflow, id) {
            Ok(behaviour) => self.attempt(workflow, id, behaviour),
            Err(fault) => Tried {
                result: Err(fault),
                at_once: true,
                shown: Vec::new(),
                warnings: Vec::new(),
                streamed: String::new(),
                tool_calls: Vec::new(),
                requests: IndexMap::new(),
                usage: Usage::default(),
            },
        }
    }

    /// Prepares the node; for those who want to make many attempts.
    pub fn call(self) -> (Arc<dyn Behaviour>, Call) {
        let workflow = Arc::new(self.workflow());
        let id = workflow.find(ID).unwrap();
        let behaviour = prepare(&workflow, id).unwrap();
        let call = self.into_call(workflow, id).0;
        (behaviour, call)
    }

    /// What a reference stands for: a value that is given, or something in one.
    fn resolve(&self, reference: &str) -> Resolved {
        let behind = |key: &str| match reference.strip_prefix(key)? {
            "" => Some(Path::default()),
            rest => rest.strip_prefix('.').map(Path::parse),
        };
        let found = self
            .values
            .iter()
            .find_map(|(key, value)| Some((behind(key)?, value)));
        match found {
            None => Resolved::Missing,
            Some((path, Resolved::Value(value))) => {
                path.walk(value).map_or(Resolved::Missing, Resolved::Value)
            }
            Some((_, other)) => other.clone(),
        }
    }

    fn into_call(self, workflow: Arc<Workflow>, node: NodeId) -> (Call, Arc<Recorder>) {
        let reads = &workflow.node(node).draft.reads;
        let resolved = reads.iter().map(|reference| self.resolve(&reference.text));
        let execute = Execute {
            activation: Activation(1),
            node,
            attempt: 1,
            scope: Arc::from([]),
            visit: 1,
            inputs: Inputs(resolved.collect()),
            answers: self.answers.clone().map(object).map(Box::new),
            random: self.random,
        };
        let recorder = Arc::new(self.recorder);
        let gate = Gate::new("run-1", Resolver::default());
        gate.know(self.secrets).unwrap();
        let run = RunContext {
            id: "run-1".into(),
            workflow,
            turn: Arc::new(self.turn),
            services: Arc::new(Services {
                models: Arc::new(self.model),
                world: self.world,
                clock: Arc::new(self.clock),
            }),
            functions: Arc::new(crate::NoFunctions),
            wire: recorder.clone(),
            gate,
        };
        let call = Call {
            run: Arc::new(run),
            execute,
            gathered: Arc::new(self.gathered.into_iter().map(Value::from).collect()),
            now: NOW,
        };
        (call, recorder)
    }

    fn attempt(
        self,
        workflow: Arc<Workflow>,
        node: NodeId,
        behaviour: Arc<dyn Behaviour>,
    ) -> Tried {
        let model = self.model.clone();
        let (call, recorder) = self.into_call(workflow, node);
        let (result, at_once) = match behaviour.run(call) {
            Run::Done(result) => (result, true),
            Run::Later(later) => (block_on(later), false),
        };
        let usage = match &result {
            Ok(completion) => completion.usage,
            Err(failure) => failure.usage,
        };
        let mut streamed = String::new();
        for mut reader in recorder.opened.lock().unwrap().drain(..) {
            while let Some(item) = block_on(reader.next()) {
                match item {
                    StreamItem::Text(text) => streamed.push_str(&text),
                    StreamItem::ThinkStart => streamed.push_str("(think "),
                    StreamItem::ThinkEnd => streamed.push_str(" think)"),
                    other => streamed.push_str(&format!("{other:?}")),
                }
            }
        }
        let shown = recorder.shown.lock().unwrap();
        let notes = recorder.notes.lock().unwrap();
        Tried {
            streamed,
            tool_calls: notes.iter().filter_map(called).collect(),
            requests: model.take_log(),
            usage,
            result: result.map_err(|failure| failure.fault),
            at_once,
            shown: shown.iter().map(spelled).collect(),
            warnings: notes
                .iter()
                .filter_map(|note| match note {
                    Note::Warning(text) => Some(text.to_string()),
                    _ => None,
                })
                .collect(),
        }
    }
}

impl Tried {
    /// What it gave.
    pub fn completion(&self) -> &Completion {
        self.result.as_ref().unwrap()
    }

    /// All ports.
    pub fn ports(&self) -> Json {
        Value::from(self.completion().ports.to_object()).to_json()
    }

    /// One port; `null` if it was not set.
    pub fn port(&self, name: &str) -> Json {
        self.completion()
            .ports
            .get(name)
            .map_or(Json::Null, Value::to_json)
    }

    /// Why it failed.
    pub fn fault(&self) -> &Fault {
        self.result.as_ref().unwrap_err()
    }

    /// The messages of each request that a component made: `role: text`, tool calls as `role: [name arguments]`.
    pub fn messages(&self, caller: &str) -> Vec<Vec<String>> {
        let requests = self.requests.get(caller).map(Vec::as_slice);
        let spelled = |message: &Value| {
            let message = message.to_json();
            let role = message["role"].as_str().unwrap_or_default().to_owned();
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let calls: Vec<String> = calls
                .map(|call| {
                    format!(
                        "[{} {}]",
                        call["function"]["name"], call["function"]["arguments"]
                    )
                })
                .collect();
            let content = match &message["content"] {
                Json::String(text) => text.clone(),
                Json::Null => String::new(),
                parts => parts.to_string(),
            };
            format!("{role}: {content}{}", calls.concat())
        };
        let messages = |call: &LoggedCall| call.messages.iter().map(spelled).collect();
        requests.unwrap_or_default().iter().map(messages).collect()
    }

    /// What was assigned: the target's number and the value.
    pub fn writes(&self) -> Vec<(u32, Json)> {
        let writes = self.completion().writes.iter();
        writes.map(|w| (w.target, w.value.to_json())).collect()
    }
}

/// Files that a trial may read and makes, and documents made for real.
pub(crate) struct Files(ScriptedWorld);

/// Makes an attempt in a world that has files and makes documents.
pub(crate) fn with_files(trial: Trial) -> (Tried, Files) {
    with_scripted_files(trial, json!({}))
}

/// The same with files that are there already, by their ids.
pub(crate) fn with_scripted_files(trial: Trial, files: Json) -> (Tried, Files) {
    let script = serde_json::from_value(json!({"files": files})).unwrap();
    let scripted = ScriptedWorld::new(script);
    let maker = easel_documents::DocumentMaker::default().with_built_in_fonts();
    let world = World {
        documents: Arc::new(maker),
        ..scripted.world()
    };
    (trial.world(world).run(), Files(scripted))
}

impl Files {
    /// The bytes of a file that was made.
    pub fn made(&self, id: &str) -> Vec<u8> {
        let file = FileDescriptor {
            id: id.to_owned(),
            ..FileDescriptor::default()
        };
        block_on(self.0.world().files.bytes("run-1", file)).unwrap()
    }
}

/// A registry with everything in it.
pub(crate) fn registry() -> crate::Registry {
    crate::builtin()
}

/// JSON as an object of the core.
pub(crate) fn object(json: Json) -> easel_core::Object {
    match Value::from(json) {
        Value::Object(members) => members.as_ref().clone(),
        other => panic!("{other} is no object"),
    }
}

fn prepare(workflow: &Workflow, id: NodeId) -> Result<Arc<dyn Behaviour>, Fault> {
    let registry = registry();
    let node = workflow.node(id);
    let component = registry.get(&node.draft.component).unwrap();
    component.prepare(Prepared {
        workflow,
        node,
        registry: &registry,
    })
}

/// A piece as tests write it: its text, or `(think`, `think)`, `(reset)`.
fn spelled(piece: &Piece) -> String {
    match &piece.kind {
        PieceKind::Text(text) => text.to_string(),
        PieceKind::ThinkStart => "(think".to_owned(),
        PieceKind::ThinkEnd => "think)".to_owned(),
        PieceKind::Reset => "(reset)".to_owned(),
    }
}

/// A tool call as tests write it.
fn called(note: &Note) -> Option<String> {
    match note {
        Note::ToolCall {
            path,
            tool,
            arguments,
            result,
            ..
        } => Some(format!("{path} {tool} {arguments} -> {result}")),
        _ => None,
    }
}

/// The driver's end of the wire.
#[derive(Default)]
struct Recorder {
    shown: Mutex<Vec<Piece>>,
    notes: Mutex<Vec<Note>>,
    streams: Mutex<HashMap<Activation, StreamReader>>,
    opened: Mutex<Vec<StreamReader>>,
}

impl Wire for Recorder {
    fn show(&self, piece: Piece) {
        self.shown.lock().unwrap().push(piece);
    }

    fn open(&self, _: Activation) -> StreamWriter {
        let (writer, reader) = StreamReader::pair();
        self.opened.lock().unwrap().push(reader);
        writer
    }

    fn stream(&self, producer: Activation) -> StreamReader {
        let taken = self.streams.lock().unwrap().remove(&producer);
        taken.expect("a stream is taken once")
    }

    fn note(&self, _: NodeId, note: Note) {
        self.notes.lock().unwrap().push(note);
    }
}
