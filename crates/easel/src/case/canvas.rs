//! Runs a canvas case and writes down what happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use easel_runtime::clock::StandingClock;
use easel_runtime::{Ending, Engine, Input, RunEvent, Session, Workflow};
use easel_runtime::{EventKind, ScriptedWorld, Value};
use serde_json::{Map, Value as Json, json};

use super::NOW;
use super::files::{Cancel, Case, Turn};
use crate::documents;

/// Runs all turns of a case. The result has the form of `expected.json`.
pub fn run(case: &Case) -> Json {
    let stop = Arc::new(AtomicBool::new(false));
    let world = match scripted(case, &stop) {
        Ok(world) => world,
        Err(message) => return json!({"load_error": {"message": message}}),
    };
    let engine = Engine::builder()
        .model(world.model())
        .world(documents::within(world.tools()))
        .clock(Arc::new(StandingClock::at(NOW)))
        .seed(1)
        .build();
    let engine = match engine {
        Ok(engine) => engine,
        Err(error) => return json!({"load_error": {"message": error.to_string()}}),
    };
    let workflow = match engine.load(&case.canvas) {
        Ok(workflow) => Arc::new(workflow),
        Err(error) => return json!({"load_error": {"message": error.to_string()}}),
    };
    let refusals: Vec<&str> = workflow
        .refusals()
        .map(|refusal| &*refusal.message)
        .collect();
    if !refusals.is_empty() {
        return json!({"load_error": {"message": refusals.join(" ")}});
    }
    let mut session = match case.turns.reset {
        true => engine.session(&workflow),
        false => Session::resumed(engine.clone(), workflow.clone()),
    };
    let mut turns = Vec::new();
    for turn in &case.turns.turns {
        stop.store(false, Ordering::Relaxed);
        let trace = futures::executor::block_on(run_turn(&mut session, turn, &stop, &world));
        turns.push(trace);
    }
    json!({"turns": turns})
}

fn scripted(case: &Case, stop: &Arc<AtomicBool>) -> Result<ScriptedWorld, String> {
    let stop = stop.clone();
    ScriptedWorld::read(case.world.clone(), move || {
        stop.store(true, Ordering::Relaxed)
    })
    .map_err(|error| format!("llm.json is not a scripted world: {error}"))
}

async fn run_turn(
    session: &mut Session,
    turn: &Turn,
    stop: &Arc<AtomicBool>,
    world: &ScriptedWorld,
) -> Json {
    if matches!(&turn.cancel, Some(Cancel::When(when)) if when == "before_run") {
        stop.store(true, Ordering::Relaxed);
    }
    let mut events: Vec<Json> = Vec::new();
    let mut matching = 0;
    let mut disconnected = false;
    let mut failure = None;
    let flag = stop.clone();
    let stopped = std::future::poll_fn(move |_| match flag.load(Ordering::Relaxed) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    let mut observe = |event: RunEvent| {
        if disconnected {
            return;
        }
        if let EventKind::Error { subject, fault, .. } = &event.kind {
            let node = subject.as_ref().map_or("the run", |s| &**s.id());
            failure = Some(format!("{node}: {}", fault.message));
        }
        let json = serde_json::to_value(&event).unwrap_or_default();
        if let Some(Cancel::After(after)) = &turn.cancel {
            let named = json["event"] == after.event.as_str();
            let about = after.component.as_ref();
            if named && about.is_none_or(|c| json["data"]["component_id"] == c.as_str()) {
                matching += 1;
                if matching == after.count.unwrap_or(1) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
        events.push(json);
        if turn.disconnect_after_events == Some(events.len()) {
            disconnected = true;
            stop.store(true, Ordering::Relaxed);
        }
    };
    let ending = session.turn_until(input(turn), &mut observe, stopped).await;
    let end = match &ending {
        _ if disconnected => "disconnected",
        Ok(Ending::Finished) => "finished",
        Ok(Ending::Waiting | Ending::Unfit | Ending::Uncertain(_)) => "paused",
        Ok(Ending::Cancelled) => "cancelled",
        Ok(Ending::Failed { .. }) => "error",
        Err(error) => {
            failure = Some(error.to_string());
            "error"
        }
    };
    let mut trace = json!({
        "events": events,
        "end": end,
        "final": state(session, failure),
    });
    let calls = world.model_calls();
    if !calls.is_empty() {
        trace["llm_calls"] = Json::Object(calls);
    }
    let others = world.other_calls();
    if !others.is_empty() {
        trace["other_calls"] = Json::from(others);
    }
    trace
}

/// What a turn brings.
pub fn input(turn: &Turn) -> Input {
    let object = |map: &Map<String, Json>| {
        map.iter()
            .map(|(key, value)| (Arc::from(key.as_str()), Value::from(value)))
            .collect()
    };
    Input {
        query: Value::from(&turn.query),
        inputs: turn.inputs.as_ref().map(object).unwrap_or_default(),
        files: turn.files.iter().map(Value::from).collect(),
        user: turn.user_id.as_deref().map(Arc::from),
        webhook: turn.webhook_payload.as_ref().map(object),
        chat_template_kwargs: turn.chat_template_kwargs.as_ref().map(Value::from),
        ..Input::default()
    }
}

/// The state after a turn.
fn state(session: &Session, failure: Option<String>) -> Json {
    let workflow: &Arc<Workflow> = session.workflow();
    let declared = workflow
        .canvas()
        .map(|canvas| canvas.fresh_globals())
        .unwrap_or_default();
    let globals: Map<String, Json> = session
        .variables()
        .iter()
        .filter(|(name, value)| declared.contains_key(*name) || !value.is_null())
        .map(|(name, value)| (name.to_string(), value.to_json()))
        .collect();
    let outputs: Map<String, Json> = session
        .outputs()
        .map(|(node, ports)| (node.to_string(), Value::from(ports).to_json()))
        .collect();
    let history: Vec<Json> = session
        .history()
        .iter()
        .filter(|entry| !entry.interim)
        .map(|entry| json!([&*entry.role, entry.content.to_json()]))
        .collect();
    let variables = workflow.canvas().and_then(|canvas| canvas.get("variables"));
    json!({
        "path": [],
        "outputs": outputs,
        "globals": globals,
        "variables": variables.map(Value::to_json).unwrap_or_default(),
        "history": history,
        "retrieval": session.retrieval().iter().map(Value::to_json).collect::<Vec<_>>(),
        "error": failure.unwrap_or_default(),
    })
}
