//! A scripted world: models and tools that answer from one file.

use std::sync::Arc;

use easel_models::{ChatModel, Scripted};
use easel_tools::World;
use easel_tools::scripted as tools;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// How often each rule of a scripted world has answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptUses {
    models: Vec<u32>,
    tools: Vec<Vec<u64>>,
}

/// Everything outside a run, answering from a file in the form of a case's `llm.json`. Counters and logs are its own.
pub struct ScriptedWorld {
    models: Arc<Scripted>,
    tools: tools::ScriptedWorld,
}

impl ScriptedWorld {
    /// Reads the file. `cancel` is called when a rule says that the run is cancelled.
    ///
    /// # Errors
    /// A section has another form than it should.
    pub fn read(
        file: Json,
        cancel: impl Fn() + Send + Sync + 'static,
    ) -> Result<ScriptedWorld, serde_json::Error> {
        let file = match file {
            Json::Null => Json::Object(Map::new()),
            file => file,
        };
        let models = Scripted::new(serde_json::from_value(file.clone())?);
        let models = Arc::new(models.on_cancel(Arc::new(move |_| cancel())));
        let script: tools::Script = serde_json::from_value(file)?;
        Ok(ScriptedWorld {
            models,
            tools: tools::ScriptedWorld::new(script),
        })
    }

    /// The models.
    pub fn model(&self) -> Arc<dyn ChatModel> {
        self.models.clone()
    }

    /// The tools.
    pub fn tools(&self) -> World {
        self.tools.world()
    }

    /// The requests models got since the last call, by component.
    pub fn model_calls(&self) -> Map<String, Json> {
        let calls = serde_json::to_value(self.models.take_log());
        match calls {
            Ok(Json::Object(calls)) => calls,
            _ => Map::new(),
        }
    }

    /// The calls of everything else since the last call, in order.
    pub fn other_calls(&self) -> Vec<Json> {
        let calls = self.tools.take_calls();
        calls.iter().map(easel_core::Value::to_json).collect()
    }

    /// How often each rule has answered so far.
    pub fn uses(&self) -> ScriptUses {
        ScriptUses {
            models: self.models.uses(),
            tools: self.tools.uses(),
        }
    }

    /// Goes on as if each rule had answered that often: another process answered before.
    pub fn set_uses(&self, uses: &ScriptUses) {
        self.models.set_uses(&uses.models);
        self.tools.set_uses(&uses.tools);
    }
}

#[cfg(test)]
mod tests {
    use easel_models::{ChatRequest, collect};
    use futures::executor::block_on;
    use serde_json::json;

    use super::*;

    #[test]
    fn another_process_goes_on_in_the_script() {
        let script = json!({"rules": [{"times": 1, "reply": "one"}, {"reply": "two"}]});
        let world = || ScriptedWorld::read(script.clone(), || {}).unwrap();
        let ask = |world: &ScriptedWorld| {
            let reply = block_on(collect(world.model().chat(ChatRequest::default())));
            reply.unwrap().text
        };
        let first = world();
        assert_eq!(ask(&first), "one");
        let next = world();
        next.set_uses(&first.uses());
        assert_eq!(ask(&next), "two");
        assert_eq!(ask(&world()), "one");
    }
}
