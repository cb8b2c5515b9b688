//! The engine that a command's flags ask for.

use std::sync::Arc;

use easel_knowledge::Reader;
use easel_runtime::models::ChatModel;
use easel_runtime::tools::World;
use easel_runtime::{Engine, RunLimits, ScriptedWorld};

use super::files::LocalFiles;
use crate::cli::{RunArguments, WorldArguments};
use crate::config::{self, Config};
use crate::memory::StoredMemory;
use crate::problem::{Problem, sentence};
use crate::read;
use crate::{data, documents, kb, keyring};

/// The engine of `easel run`.
pub fn engine(arguments: &RunArguments, files: &Arc<LocalFiles>) -> Result<Arc<Engine>, Problem> {
    let limits = RunLimits {
        concurrency: arguments.concurrency,
        ..RunLimits::default()
    };
    let (models, world) = models_and_tools(&arguments.world)?;
    let config = Config::read(arguments.world.config.as_deref())?;
    let world = World {
        // A pipeline that is only run shows what it would keep.
        ingestion: Arc::new(Reader::default()),
        ..LocalFiles::before(files, world)
    };
    let builder = Engine::builder()
        .limits(limits)
        .model(models)
        .world(world)
        .breaker(config.breaker()?)
        .sandbox(config.python.sandbox()?)
        .secrets(keyring::resolver()?);
    let builder = match arguments.timings {
        true => builder.timed(),
        false => builder,
    };
    let engine = builder.build();
    engine.map_err(|error| Problem::usage(sentence(&error.to_string())))
}

/// Models and tools: real ones, or a file that answers for them.
pub fn models_and_tools(
    arguments: &WorldArguments,
) -> Result<(Arc<dyn ChatModel>, World), Problem> {
    config::refuse_address_alone(arguments)?;
    let Some(path) = &arguments.world else {
        let config = Config::of(arguments)?;
        let folder = data::folder(None);
        let world = kb::within_reach(config.world()?, &folder)?;
        let world = StoredMemory::within_reach(world, &folder);
        return Ok((config.models()?, documents::within(world)));
    };
    let world = ScriptedWorld::read(read::json(path)?, || {}).map_err(|error| {
        Problem::usage(format!("{} is no scripted world.", path.display()))
            .because(sentence(&error.to_string()))
    })?;
    let models = match arguments.model() {
        // A model that is given by name answers; the tools stay scripted.
        Some(_) => Config::of(arguments)?.models()?,
        None => world.model(),
    };
    Ok((models, documents::within(world.tools())))
}
