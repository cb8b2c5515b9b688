//! A scripted world: models and tools that answer from one file.

use std::sync::Arc;

use easel_models::{ChatModel, Scripted};
use easel_tools::World;
use easel_tools::scripted as tools;
use serde_json::{Map, Value as Json};

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
}
