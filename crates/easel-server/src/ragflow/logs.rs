//! Which tools a message called.

use std::sync::Arc;

use axum::extract::State;
use easel_runtime::Logged;
use serde_json::json;

use super::access;
use super::envelope::{At, Reply, Value, ok};
use super::events::keep;
use super::message_id;
use crate::App;
use crate::auth::{Caller, Scope};

/// `GET /agents/{id}/logs/{message}`. The message alone says what is meant: some clients put the agent before it, others the
/// task.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((_, message)): At<(String, String)>,
) -> Reply {
    of_message(&app, &caller, &message).await
}

/// The calls of tools in the turn of a message, by component; `{}` if there is no such message for the caller.
pub(super) async fn of_message(app: &App, caller: &Caller, message: &str) -> Reply {
    caller.may(Scope::Read)?;
    let store = app.host.store();
    for (run, turn) in message_id::candidates(message) {
        let Some(record) = store.run(&run).await? else {
            continue;
        };
        if !access::may_see_run(store, caller, &record).await? {
            break;
        }
        let log = app.host.log(&run, None).await?;
        let calls = calls(&log, turn);
        if calls.is_empty() {
            break;
        }
        return ok(calls);
    }
    ok(json!({}))
}

fn calls(log: &[Logged], turn: usize) -> Vec<Value> {
    let mut at = 0;
    let mut unfit = false;
    let mut trace = Vec::new();
    for event in log {
        match event.name() {
            "tool_call" if at == turn => {
                let data: Value = serde_json::from_str(event.data()).unwrap_or_default();
                keep_call(&mut trace, &data);
            }
            // An answer that fits nothing is no turn: the question is just asked again.
            "answer_unfit" => unfit = true,
            "user_inputs" => {
                at += usize::from(!unfit);
                unfit = false;
            }
            _ => {}
        }
    }
    trace
}

fn keep_call(trace: &mut Vec<Value>, data: &Value) {
    let member = |name: &str| data.get(name).cloned().unwrap_or_default();
    let call = json!({
        "component_id": member("component_id"),
        "path": member("path"),
        "tool_name": member("tool_name"),
        "arguments": member("arguments"),
        "result": member("result"),
        "elapsed_time": member("elapsed_time"),
    });
    keep(trace, &call);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(name: &str, data: Value) -> Logged {
        Logged {
            id: "1.0".parse().unwrap(),
            json: format!(r#"{{"event":"{name}","data":{data}}}"#).into(),
        }
    }

    #[test]
    fn each_turn_has_its_own_calls() {
        let call =
            |tool: &str| logged("tool_call", json!({"component_id": "A", "tool_name": tool}));
        let asked = || logged("user_inputs", json!({}));
        let unfit = logged("answer_unfit", json!({}));
        let log = [call("a"), asked(), unfit, asked(), call("b"), call("c")];
        assert_eq!(calls(&log, 0)[0]["trace"][0]["tool_name"], "a");
        assert_eq!(calls(&log, 1)[0]["trace"].as_array().map(Vec::len), Some(2));
        assert!(calls(&log, 2).is_empty());
    }
}
