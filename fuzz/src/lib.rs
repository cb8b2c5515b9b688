//! What the targets share: an engine that touches nothing, and a turn with a canvas.

pub mod tree;

use std::sync::Arc;

use easel_runtime::clock::StandingClock;
use easel_runtime::{
    Builder, Ending, Engine, Input, MemoryJournal, RunLimits, ScriptedWorld, Timestamp, TurnError,
    Value, Workflow,
};
use serde_json::{Value as Json, json};

/// The time at which every run begins.
const NOW: Timestamp = Timestamp(1_767_323_045_000);

/// Node runs that are enough to get everywhere in a small canvas.
const NODE_RUNS: u64 = 200;

/// An engine in the making whose clock stands still and that keeps one run.
pub fn engine() -> Builder {
    let limits = RunLimits {
        node_runs: NODE_RUNS,
        ..RunLimits::default()
    };
    Engine::builder()
        .clock(Arc::new(StandingClock::at(NOW)))
        .journal(Arc::new(MemoryJournal::keeping(1)))
        .limits(limits)
        .seed(1)
}

/// An engine whose models and tools answer from a script; one answers to whatever the script has no rule for.
pub fn scripted(script: Json) -> Result<Arc<Engine>, serde_json::Error> {
    let world = ScriptedWorld::read(script, || {})?;
    let engine = engine().model(world.model()).world(world.tools()).build();
    Ok(engine.expect("the components that come with Easel fit together"))
}

/// A canvas of nodes in a row: id, component, parameters.
pub fn row(nodes: &[(&str, &str, Json)]) -> Json {
    let next = nodes.iter().skip(1).map(|(id, _, _)| json!([id]));
    let targets = next.chain([json!([])]);
    let entries = nodes.iter().zip(targets);
    let components: serde_json::Map<String, Json> = entries
        .map(|((id, component, params), targets)| {
            let class = json!({"component_name": component, "params": params});
            (
                (*id).to_owned(),
                json!({"obj": class, "downstream": targets}),
            )
        })
        .collect();
    json!({"components": components})
}

/// A workflow that is known to be readable.
pub fn load(engine: &Engine, canvas: &Json) -> Arc<Workflow> {
    let loaded = engine.load(canvas.to_string().as_bytes());
    Arc::new(loaded.expect("a canvas made here is readable"))
}

/// What a turn came to.
pub struct Turn {
    /// How it ended.
    pub ending: Result<Ending, TurnError>,
    /// What was said.
    pub said: String,
    /// Every node's outputs, by id.
    pub outputs: Json,
}

impl Turn {
    /// Makes the first turn of a conversation.
    pub fn first(engine: &Arc<Engine>, workflow: &Arc<Workflow>, input: Input) -> Turn {
        let mut session = engine.session(workflow);
        let mut said = String::new();
        let ending = futures::executor::block_on(session.turn(input, &mut |event| {
            said += event.text();
        }));
        let outputs: serde_json::Map<String, Json> = session
            .outputs()
            .map(|(node, ports)| (node.to_string(), Value::from(ports).to_json()))
            .collect();
        Turn {
            ending,
            said,
            outputs: outputs.into(),
        }
    }
}
