//! Runs that are driven on, answered or ended.

use std::sync::Arc;
use std::time::Duration;

use easel_runtime::Standing;
use easel_server::local::Ask;
use easel_store::RunRecord;
use serde_json::{Map, Value as Json, json};

use super::show::question;
use crate::cli::{AnswerRun, CancelRun, ResumeRun, WorldArguments};
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::reach::{Actor, Reach};
use crate::run::value_of;

/// How often it is looked whether a turn has ended.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Takes up a run.
pub async fn resume(arguments: &ResumeRun) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let run = reach.run(&arguments.run).await?;
    let actor = reach.actor(&arguments.world).await?;
    let body = json!({"wait": true});
    let done = drive(&reach, &actor, &run, "resume", body).await?;
    finish(reach, &done, arguments.json).await
}

/// Ends a run.
pub async fn cancel(arguments: &CancelRun) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let run = reach.run(&arguments.run).await?;
    let actor = reach.actor(&WorldArguments::default()).await?;
    let path = format!("/v1/runs/{}/cancel", run.id);
    let view = actor.ask(Ask::post(&run.origin.owner, path, None)).await?;
    let state = view["state"].as_str().unwrap_or_default();
    if arguments.json {
        out::line(&format!("{view:#}"));
    } else if run.standing.is_over() {
        out::line(&format!("{} was {state} already.", run.id));
    } else {
        out::line(&format!("{} is {state}.", run.id));
    }
    reach.close().await;
    Ok(Exit::Done)
}

/// Answers a run, or decides about its writes.
pub async fn answer(arguments: &AnswerRun) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let run = reach.run(&arguments.run).await?;
    let decided = decision(arguments)?;
    if decided.is_none() && arguments.answer.is_empty() {
        return ask(reach, &run, arguments.json).await;
    }
    let (verb, body) = match decided {
        Some(decided) => ("decide", decided),
        None => ("answer", answered(&run, &arguments.answer)?),
    };
    let actor = reach.actor(&arguments.world).await?;
    let done = drive(&reach, &actor, &run, verb, body).await?;
    finish(reach, &done, arguments.json).await
}

/// Shows what a run asks.
async fn ask(reach: Reach, run: &RunRecord, json: bool) -> Result<Exit, Problem> {
    let view = reach
        .read(&run.origin.owner, format!("/v1/runs/{}", run.id))
        .await?;
    reach.close().await;
    let question = question(&view);
    match (json, &question) {
        (true, _) => out::line(&format!("{view:#}")),
        (false, Some(question)) => out::print(question),
        (false, None) => {
            let state = run.standing.name();
            return Err(Problem::usage(format!(
                "The run {} is {state} and asks nothing.",
                run.id
            )));
        }
    }
    Ok(if question.is_some() {
        Exit::Waiting
    } else {
        Exit::Done
    })
}

/// What is said about an uncertain write; `None` if nothing is.
fn decision(arguments: &AnswerRun) -> Result<Option<Json>, Problem> {
    let mut body = if arguments.repeat {
        json!({"decision": "repeat"})
    } else if let Some(outputs) = &arguments.happened {
        let outputs: Json = serde_json::from_str(outputs).map_err(|error| {
            Problem::usage("--happened takes the node's outputs as a JSON object.")
                .because(error.to_string())
        })?;
        if !outputs.is_object() {
            return Err(
                Problem::usage("--happened takes the node's outputs as a JSON object.")
                    .fix("Write --happened '{\"PORT\": VALUE}', or --happened alone."),
            );
        }
        json!({"decision": "happened", "outputs": outputs})
    } else if let Some(reason) = &arguments.failed {
        match reason.is_empty() {
            true => json!({"decision": "failed"}),
            false => json!({"decision": "failed", "message": reason}),
        }
    } else {
        return Ok(None);
    };
    if let Some(write) = arguments.write {
        body["activation"] = write.into();
    }
    body["wait"] = true.into();
    Ok(Some(body))
}

/// An answer as the API takes it: values for fields, or a text.
fn answered(run: &RunRecord, words: &[String]) -> Result<Json, Problem> {
    let Standing::Waiting { fields, .. } = &run.standing else {
        let state = run.standing.name();
        let problem = Problem::usage(format!(
            "The run {} is {state} and waits for no answer.",
            run.id
        ));
        return Err(match run.standing {
            Standing::Uncertain { .. } => {
                problem.fix("Say what became of its write: --repeat, --happened or --failed.")
            }
            _ => problem,
        });
    };
    let mut values = Map::new();
    let mut texts = Vec::new();
    for word in words {
        match word
            .split_once('=')
            .filter(|(name, _)| fields.contains_key(name.trim()))
        {
            Some((name, value)) => {
                values.insert(name.trim().to_owned(), value_of(value)?.to_json());
            }
            None => texts.push(word.as_str()),
        }
    }
    let open = || {
        fields
            .keys()
            .map(|key| &**key)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (texts.as_slice(), values.is_empty()) {
        ([], _) => Ok(json!({"values": values, "wait": true})),
        ([text], true) if fields.len() == 1 => Ok(json!({"text": text, "wait": true})),
        ([text, ..], _) => Err(Problem::usage(format!("{text:?} names no open field."))
            .because(format!("Open are {}.", open()))
            .fix("Write FIELD=VALUE for each.")),
    }
}

/// Asks for a turn and waits for its end, however long it takes.
async fn drive(
    reach: &Reach,
    actor: &Actor,
    run: &RunRecord,
    verb: &str,
    body: Json,
) -> Result<Json, Problem> {
    let owner: &Arc<str> = &run.origin.owner;
    let path = format!("/v1/runs/{}/{verb}", run.id);
    let mut view = actor.ask(Ask::post(owner, path, Some(body))).await?;
    while view["state"] == "running" {
        tokio::time::sleep(LOOK_EVERY).await;
        view = reach.read(owner, format!("/v1/runs/{}", run.id)).await?;
    }
    Ok(view)
}

/// Prints what was said, and how the run stands.
async fn finish(reach: Reach, view: &Json, json: bool) -> Result<Exit, Problem> {
    reach.close().await;
    let state = view["state"].as_str().unwrap_or_default();
    let exit = match state {
        "finished" => Exit::Done,
        "waiting" | "uncertain" => Exit::Waiting,
        _ => Exit::Failed,
    };
    if json {
        out::line(&format!("{view:#}"));
        return Ok(exit);
    }
    let said = view["said"].as_str().unwrap_or_default();
    if !said.is_empty() {
        out::line(said.trim_end_matches('\n'));
    }
    let id = view["id"].as_str().unwrap_or_default();
    match (question(view), view["error"].as_str()) {
        (Some(question), _) => out::show(&question),
        (None, Some(error)) => out::tell(&format!("{id} {state}: {error}")),
        (None, None) => out::tell(&format!("{id} is {state}.")),
    }
    Ok(exit)
}
