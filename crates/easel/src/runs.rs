//! `easel runs`: runs that are kept.

mod look;
mod show;
mod steer;

use easel_runtime::Timestamp;
use easel_runtime::clock::{Clock, SystemClock, local_date_time};
use easel_server::local::Ask;
use easel_store::{GcCounts, GcPlan, RunFilter, RunSummary};
use serde_json::{Value as Json, json};

use crate::cli::{DeleteRuns, GcRuns, ListRuns, RunsCommand, WorldArguments};
use crate::columns::Columns;
use crate::data;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::reach::{Reach, within};

/// The states of runs, as they are typed.
const STATES: [&str; 6] = [
    "running",
    "waiting",
    "uncertain",
    "finished",
    "failed",
    "cancelled",
];

/// The most runs that the store gives at once.
const PAGE: usize = 100;

/// Does what is asked.
pub fn obey(command: &RunsCommand) -> Result<Exit, Problem> {
    within(async {
        match command {
            RunsCommand::List(arguments) => list(arguments).await,
            RunsCommand::Show(arguments) => show::show(arguments).await,
            RunsCommand::State(arguments) => look::state(arguments).await,
            RunsCommand::Events(arguments) => look::events(arguments).await,
            RunsCommand::Resume(arguments) => steer::resume(arguments).await,
            RunsCommand::Cancel(arguments) => steer::cancel(arguments).await,
            RunsCommand::Answer(arguments) => steer::answer(arguments).await,
            RunsCommand::Delete(arguments) => delete(arguments).await,
            RunsCommand::Gc(arguments) => gc(arguments).await,
        }
    })
}

async fn list(arguments: &ListRuns) -> Result<Exit, Problem> {
    for state in &arguments.state {
        if !STATES.contains(&state.as_str()) {
            let problem = Problem::usage(format!("A run is never {state:?}."));
            return Err(problem.fix(format!("Use {}.", STATES.join(", "))));
        }
    }
    let reach = Reach::existing(&arguments.data).await?;
    let mut filter = RunFilter {
        session: arguments.session.clone(),
        states: arguments.state.clone(),
        owners: arguments.owner.iter().cloned().collect(),
        user: arguments.user.clone(),
        since: arguments.since.map(|age| now() - age.milliseconds),
        text: arguments.text.clone(),
        ..RunFilter::default()
    };
    if let Some(agent) = &arguments.agent {
        let owner = arguments.owner.as_deref();
        let found = reach.agents_called(agent, owner).await?;
        filter.agents = found.iter().map(|agent| agent.id.to_string()).collect();
        // Of an agent that is gone there may be runs.
        filter.agents.push(agent.clone());
    }
    let wanted = arguments.limit as usize;
    let mut runs: Vec<RunSummary> = Vec::new();
    let more = loop {
        filter.limit = (wanted - runs.len()).min(PAGE);
        let page = reach.store().runs(&filter).await.map_err(data::problem)?;
        runs.extend(page.items);
        filter.cursor = page.next;
        if filter.cursor.is_none() || runs.len() >= wanted {
            break filter.cursor.is_some();
        }
    };
    let mut names = Names::default();
    let mut called = Vec::with_capacity(runs.len());
    for run in &runs {
        called.push(names.of(&reach, &run.origin.agent).await?);
    }
    if arguments.json {
        let items = runs.iter().zip(&called).map(|(run, name)| item(run, name));
        let items: Vec<Json> = items.collect();
        out::line(&format!("{:#}", json!({"runs": items, "more": more})));
    } else {
        print(&runs, &called, more);
    }
    reach.close().await;
    Ok(Exit::Done)
}

fn print(runs: &[RunSummary], called: &[String], more: bool) {
    if runs.is_empty() {
        out::tell("There is no such run.");
        return;
    }
    let mut table = Columns::new(&["RUN", "STATE", "BEGAN", "TOOK", "AGENT", "WHAT"]);
    for (run, name) in runs.iter().zip(called) {
        table.row([
            run.id.to_string(),
            run.state.to_string(),
            local_date_time(Timestamp(run.created)),
            took(run.updated - run.created),
            name.clone(),
            run.summary.to_string(),
        ]);
    }
    out::print(&table.for_output());
    if more {
        out::tell("There are more; --limit shows them.");
    }
}

/// A run in a list, with the names that the API gives.
fn item(run: &RunSummary, agent: &str) -> Json {
    let seconds = |milliseconds: i64| milliseconds as f64 / 1000.0;
    json!({
        "id": run.id,
        "workflow": agent,
        "agent": run.origin.agent,
        "version": run.origin.version,
        "session": run.origin.session,
        "owner": run.origin.owner,
        "user": run.origin.user,
        "trigger": run.origin.trigger,
        "state": run.state,
        "summary": run.summary,
        "usage": run.usage,
        "created_at": seconds(run.created),
        "updated_at": seconds(run.updated),
    })
}

/// What agents are called, each looked up once.
#[derive(Default)]
pub struct Names(std::collections::HashMap<std::sync::Arc<str>, String>);

impl Names {
    /// The name or title of an agent; blank of a run that has none, its id if it is gone.
    pub async fn of(
        &mut self,
        reach: &Reach,
        agent: &std::sync::Arc<str>,
    ) -> Result<String, Problem> {
        if let Some(known) = self.0.get(agent) {
            return Ok(known.clone());
        }
        let found = match agent.is_empty() {
            true => None,
            false => reach.store().agent(agent).await.map_err(data::problem)?,
        };
        let name = match &found {
            Some(agent) => agent.name.as_ref().unwrap_or(&agent.title).to_string(),
            None => agent.to_string(),
        };
        self.0.insert(agent.clone(), name.clone());
        Ok(name)
    }
}

async fn delete(arguments: &DeleteRuns) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let mut runs = Vec::new();
    for id in &arguments.runs {
        let run = reach.run(id).await?;
        if !run.standing.is_over() && !arguments.cancel {
            let state = run.standing.name();
            return Err(Problem::usage(format!(
                "The run {} is {state}, and nothing was deleted.",
                run.id
            ))
            .fix("Cancel it first, or let --cancel do so."));
        }
        runs.push(run);
    }
    let alive = runs.iter().any(|run| !run.standing.is_over());
    let actor = match alive {
        true => Some(reach.actor(&WorldArguments::default()).await?),
        false => None,
    };
    for run in runs {
        if let Some(actor) = actor.as_ref().filter(|_| !run.standing.is_over()) {
            let path = format!("/v1/runs/{}/cancel", run.id);
            actor.ask(Ask::post(&run.origin.owner, path, None)).await?;
        }
        let deleted = reach.store().delete_run(&run.id).await;
        if deleted.map_err(data::problem)? {
            out::line(&format!("{} is deleted.", run.id));
        }
    }
    reach.close().await;
    Ok(Exit::Done)
}

async fn gc(arguments: &GcRuns) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let plan = GcPlan {
        before: now() - arguments.older_than.milliseconds,
        states: arguments.state.clone(),
        owner: arguments.owner.clone(),
        keep: arguments.keep,
        dry: arguments.dry_run,
    };
    let counts = reach.store().gc(&plan).await.map_err(data::problem)?;
    if arguments.json {
        let GcCounts {
            runs,
            values,
            documents,
        } = counts;
        let counted =
            json!({"runs": runs, "values": values, "documents": documents, "dry_run": plan.dry});
        out::line(&format!("{counted:#}"));
    } else {
        let runs = count(counts.runs, "run", "runs");
        let documents = count(counts.documents, "workflow", "workflows");
        out::line(&match plan.dry {
            true => format!("{runs} would go, and {documents} that nothing else names."),
            false => format!("{runs} went, and {documents} that nothing else named."),
        });
    }
    reach.close().await;
    Ok(Exit::Done)
}

/// Milliseconds since 1970.
pub fn now() -> i64 {
    SystemClock.now().0
}

/// A number of things.
pub fn count(n: u64, one: &str, many: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}

/// A span of time for people.
pub fn took(milliseconds: i64) -> String {
    let seconds = milliseconds.max(0) / 1000;
    match seconds {
        _ if milliseconds < 1_000 => format!("{} ms", milliseconds.max(0)),
        0..60 => format!("{:.1} s", milliseconds as f64 / 1000.0),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_are_short_words() {
        let spans = [
            (-5, "0 ms"),
            (999, "999 ms"),
            (1_500, "1.5 s"),
            (61_000, "1 min 1 s"),
            (7_260_000, "2 h 1 min"),
            (180_000_000, "2 d 2 h"),
        ];
        for (milliseconds, expected) in spans {
            assert_eq!(took(milliseconds), expected);
        }
    }
}
