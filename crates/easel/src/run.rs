//! `easel run`: one workflow, in a terminal or in a pipe.

mod input;
mod show;

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;

use easel_runtime::{Ending, Engine, RunLimits, ScriptedWorld, Session, TurnError, Workflow};

use crate::cli::RunArguments;
use crate::config::Config;
use show::Show;

/// The run failed.
const FAILED: u8 = 1;
/// The command was used wrongly.
const USAGE: u8 = 2;
/// The check refused the workflow.
const REFUSED: u8 = 3;
/// The run waits for input.
const WAITING: u8 = 4;

/// Runs a workflow.
pub fn run(arguments: &RunArguments) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return usage(&format!("no runtime can be started: {error}")),
    };
    runtime.block_on(async {
        match start(arguments) {
            Ok((session, first)) => converse(arguments, session, first).await,
            Err(code) => code,
        }
    })
}

fn usage(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(USAGE)
}

/// Reads everything the command names.
fn start(arguments: &RunArguments) -> Result<(Session, easel_runtime::Input), ExitCode> {
    let input = input::first(arguments).map_err(|error| usage(&error.to_string()))?;
    let engine = engine(arguments)?;
    let bytes = std::fs::read(&arguments.file)
        .map_err(|error| usage(&format!("{} cannot be read: {error}", arguments.file.display())))?;
    let workflow = engine.load(&bytes).map_err(|error| {
        eprintln!("error: {}: {error}", arguments.file.display());
        ExitCode::from(REFUSED)
    })?;
    let workflow: Arc<Workflow> = Arc::new(workflow);
    let canvas = crate::check::canvas(&workflow, engine.registry().catalog());
    let refusals = easel_check::refusals(&canvas);
    if !refusals.is_empty() {
        let text = String::from_utf8_lossy(&bytes);
        for refusal in &refusals {
            eprint!("{}", crate::check::rendered(refusal, &arguments.file, &text));
        }
        return Err(ExitCode::from(REFUSED));
    }
    Ok((engine.session(&workflow), input))
}

fn engine(arguments: &RunArguments) -> Result<Arc<Engine>, ExitCode> {
    let limits = RunLimits {
        concurrency: arguments.concurrency,
        ..RunLimits::default()
    };
    let builder = Engine::builder().limits(limits);
    let builder = match &arguments.world {
        Some(path) => {
            let file = input::json_file(path).map_err(|error| usage(&error.to_string()))?;
            let world = ScriptedWorld::read(file, || {})
                .map_err(|error| usage(&format!("{} is no scripted world: {error}", path.display())))?;
            // A model that is given by name answers; the tools stay scripted.
            match &arguments.model {
                Some(model) => {
                    let config = Config::read(arguments.config.as_deref());
                    let models = config.and_then(|config| config.models(Some(model)));
                    let models = models.map_err(|error| usage(&error.to_string()))?;
                    builder.model(models).world(world.tools())
                }
                None => builder.model(world.model()).world(world.tools()),
            }
        }
        None => {
            let settings = Config::read(arguments.config.as_deref());
            let settings = settings.and_then(|config| {
                Ok((config.models(arguments.model.as_deref())?, config.world()?))
            });
            let (models, world) = settings.map_err(|error| usage(&error.to_string()))?;
            builder.model(models).world(world)
        }
    };
    builder.build().map_err(|error| usage(&error.to_string()))
}

/// Makes the first turn, and further ones while there is somebody to make them with.
async fn converse(
    arguments: &RunArguments,
    mut session: Session,
    first: easel_runtime::Input,
) -> ExitCode {
    let mut show = Show::new(arguments);
    let mut next = Some(first);
    let mut lines = std::io::stdin().lock().lines();
    let mut code = ExitCode::SUCCESS;
    while let Some(input) = next.take() {
        let ending = {
            let stop = async {
                if tokio::signal::ctrl_c().await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            session.turn_until(input, &mut |event| show.event(&event), stop).await
        };
        code = match &ending {
            Ok(Ending::Finished) => ExitCode::SUCCESS,
            Ok(Ending::Waiting | Ending::Unfit) => ExitCode::from(WAITING),
            Ok(Ending::Failed { .. } | Ending::Cancelled) => ExitCode::from(FAILED),
            Err(TurnError::Refused(_)) => ExitCode::from(REFUSED),
            Err(_) => ExitCode::from(FAILED),
        };
        show.turn_over(&session, &ending);
        let asks = session.is_waiting();
        let somebody = std::io::stdin().is_terminal() || arguments.chat;
        if somebody && asks && show.question().is_some() {
            next = input::answers(show.question(), &mut lines);
        } else if arguments.chat && ending.is_ok() {
            next = input::line(&mut lines);
        }
    }
    show.end(&session);
    code
}
