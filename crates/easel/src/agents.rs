//! `easel agents`: workflows that are kept, their versions and what is released.

mod compare;
mod import;
mod source;

use std::io::IsTerminal;

use easel_runtime::Timestamp;
use easel_runtime::clock::local_date_time;
use easel_store::{AgentFilter, AgentOrder, AgentRecord, VersionRecord};
use serde_json::{Value as Json, json};

use crate::cli::{
    AgentsCommand, DeleteAgent, DiffAgents, ExportAgent, ListAgents, OneAgent, PublishAgent,
    RollbackAgent, VersionsOfAgent,
};
use crate::columns::Columns;
use crate::data;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::reach::{Reach, within};
use crate::read;
use compare::Comparison;
use source::Stored;

/// Does what is asked.
pub fn obey(command: &AgentsCommand) -> Result<Exit, Problem> {
    within(async {
        match command {
            AgentsCommand::List(arguments) => list(arguments).await,
            AgentsCommand::Import(arguments) => import::import(arguments).await,
            AgentsCommand::Export(arguments) => export(arguments).await,
            AgentsCommand::Publish(arguments) => publish(arguments).await,
            AgentsCommand::Versions(arguments) => versions(arguments).await,
            AgentsCommand::Rollback(arguments) => rollback(arguments).await,
            AgentsCommand::Diff(arguments) => diff(arguments).await,
            AgentsCommand::Delete(arguments) => delete(arguments).await,
        }
    })
}

async fn list(arguments: &ListAgents) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let filter = AgentFilter {
        owners: arguments.owner.iter().cloned().collect(),
        keywords: arguments.text.clone(),
        released: arguments.released,
        order: AgentOrder::Title,
        ..AgentFilter::default()
    };
    let agents = reach.agents(filter).await?;
    let mut current = Vec::with_capacity(agents.len());
    for agent in &agents {
        let released = reach.store().released_version(&agent.id).await;
        current.push(standing(agent, released.map_err(data::problem)?.as_ref()));
    }
    reach.close().await;
    if arguments.json {
        let items = agents
            .iter()
            .zip(&current)
            .map(|(agent, state)| item(agent, state));
        let items: Vec<Json> = items.collect();
        out::line(&format!("{:#}", json!({"agents": items})));
        return Ok(Exit::Done);
    }
    if agents.is_empty() {
        out::tell("There is no such agent. `easel agents import FILE` makes one.");
        return Ok(Exit::Done);
    }
    let mut table = Columns::new(&[
        "AGENT", "TITLE", "STATE", "KIND", "OWNER", "CHANGED", "WHAT",
    ]);
    for (agent, state) in agents.iter().zip(&current) {
        let shared = match agent.permission {
            easel_store::Permission::Team => format!("{}, team", agent.owner),
            easel_store::Permission::Me => agent.owner.to_string(),
        };
        table.row([
            agent.id.to_string(),
            called(agent).to_owned(),
            (*state).to_owned(),
            agent.dialect.name().to_owned(),
            shared,
            local_date_time(Timestamp(agent.updated)),
            agent.description.to_string(),
        ]);
    }
    out::print(&table.for_output());
    Ok(Exit::Done)
}

/// A graph by its name, others by their title.
fn called(agent: &AgentRecord) -> &str {
    agent.name.as_ref().unwrap_or(&agent.title)
}

/// Whether clients get what the draft says.
fn standing(agent: &AgentRecord, released: Option<&VersionRecord>) -> &'static str {
    match released {
        None => "draft",
        Some(version) if version.document == agent.document => "released",
        Some(_) => "released, draft differs",
    }
}

fn item(agent: &AgentRecord, state: &str) -> Json {
    let seconds = |time: i64| time as f64 / 1000.0;
    json!({
        "id": agent.id,
        "title": agent.title,
        "name": agent.name,
        "description": agent.description,
        "kind": agent.dialect.name(),
        "owner": agent.owner,
        "permission": agent.permission.name(),
        "category": agent.category,
        "canvas_type": agent.kind,
        "tags": agent.tags,
        "state": state,
        "document": agent.document,
        "created_at": seconds(agent.created),
        "updated_at": seconds(agent.updated),
        "published_at": agent.published.map(seconds),
    })
}

async fn the_agent(which: &OneAgent) -> Result<(Reach, AgentRecord), Problem> {
    let reach = Reach::existing(&which.data).await?;
    let agent = reach.agent(&which.agent, which.owner.as_deref()).await?;
    Ok((reach, agent))
}

async fn export(arguments: &ExportAgent) -> Result<Exit, Problem> {
    let which = &arguments.which;
    let reach = Reach::existing(&which.data).await?;
    let (agent, stored) = side_of(&reach, &which.agent, which.owner.as_deref()).await?;
    reach.close().await;
    let exported = stored.export((!arguments.bare).then_some(&agent))?;
    for name in &exported.left_out {
        out::tell(&format!(
            "left out: a credential; ${{{name}}} stands for it"
        ));
    }
    match &arguments.output {
        Some(path) => {
            std::fs::write(path, &exported.bytes)
                .map_err(|error| Problem::file(path, "written", &error))?;
            out::tell(&format!("Wrote {}.", path.display()));
        }
        None if exported.is_archive => {
            return Err(
                Problem::usage("This is a package, which is an archive and no text.")
                    .fix("Name a file: -o NAME.zip"),
            );
        }
        None => out::print(&String::from_utf8_lossy(&exported.bytes)),
    }
    Ok(Exit::Done)
}

async fn publish(arguments: &PublishAgent) -> Result<Exit, Problem> {
    let (reach, agent) = the_agent(&arguments.which).await?;
    let before = reach.store().released_version(&agent.id).await;
    let before = before.map_err(data::problem)?;
    let title = arguments
        .title
        .clone()
        .unwrap_or_else(|| version_title(&agent.title));
    let version = reach.store().publish(&agent.id, &title).await;
    let version = version.map_err(data::problem)?;
    let again = before
        .as_ref()
        .is_some_and(|before| before.document == version.document);
    let changes = match before.filter(|_| !again) {
        Some(before) => Some(compared(&reach, &before.document, &version.document).await?),
        None => None,
    };
    reach.close().await;
    let name = called(&agent);
    if arguments.json {
        let changes = changes.as_ref().map(Comparison::to_json);
        let done = json!({"agent": agent.id, "title": agent.title, "version": version.id, "changes": changes, "again": again});
        out::line(&format!("{done:#}"));
        return Ok(Exit::Done);
    }
    match (again, changes) {
        (true, _) => out::line(&format!(
            "{name} is released already; nothing changed since."
        )),
        (false, None) => out::line(&format!("{name} is released.")),
        (false, Some(changes)) => {
            out::line(&format!("{name} is released: {}.", changes.summary()));
            out::print(&changes.to_text());
        }
    }
    Ok(Exit::Done)
}

async fn versions(arguments: &VersionsOfAgent) -> Result<Exit, Problem> {
    let (reach, agent) = the_agent(&arguments.which).await?;
    let versions = reach.store().versions(&agent.id).await;
    let versions = versions.map_err(data::problem)?;
    let released = reach.store().released_version(&agent.id).await;
    let released = released.map_err(data::problem)?;
    reach.close().await;
    let state = |version: &VersionRecord| {
        let mut state = Vec::new();
        match (&released, version.released) {
            (Some(released), _) if released.id == version.id => state.push("released"),
            (_, true) => state.push("was released"),
            (_, false) => {}
        }
        if version.document == agent.document {
            state.push("draft");
        }
        state.join(", ")
    };
    let numbered = versions.iter().zip((1..=versions.len()).rev());
    if arguments.json {
        let seconds = |time: i64| time as f64 / 1000.0;
        let items = numbered.map(|(version, number)| {
            json!({
                "number": number,
                "id": version.id,
                "title": version.title,
                "released": version.released,
                "current": released.as_ref().is_some_and(|released| released.id == version.id),
                "draft": version.document == agent.document,
                "document": version.document,
                "created_at": seconds(version.created),
                "updated_at": seconds(version.updated),
            })
        });
        let items: Vec<Json> = items.collect();
        out::line(&format!(
            "{:#}",
            json!({"agent": agent.id, "versions": items})
        ));
        return Ok(Exit::Done);
    }
    let mut table = Columns::new(&["#", "STATE", "MADE", "VERSION", "TITLE"]);
    for (version, number) in numbered {
        table.row([
            number.to_string(),
            state(version),
            local_date_time(Timestamp(version.created)),
            version.id.to_string(),
            version.title.to_string(),
        ]);
    }
    out::print(&table.for_output());
    Ok(Exit::Done)
}

/// A version of an agent by its number from the oldest on, its id, or `released`.
async fn version_of(
    reach: &Reach,
    agent: &AgentRecord,
    wanted: &str,
) -> Result<VersionRecord, Problem> {
    if wanted == "released" {
        let released = reach.store().released_version(&agent.id).await;
        return released.map_err(data::problem)?.ok_or_else(|| {
            Problem::usage(format!("{} was never released.", called(agent)))
                .fix("`easel agents publish` releases it.")
        });
    }
    let versions = reach.store().versions(&agent.id).await;
    let mut versions = versions.map_err(data::problem)?;
    versions.reverse();
    let number = wanted.parse::<usize>().ok();
    let at = number.and_then(|number| number.checked_sub(1));
    let at = at.filter(|at| *at < versions.len());
    let at = at.or_else(|| versions.iter().position(|version| *version.id == *wanted));
    match at {
        Some(at) => Ok(versions.swap_remove(at)),
        None => Err(
            Problem::usage(format!("{} has no version {wanted:?}.", called(agent)))
                .fix("`easel agents versions` shows them with their numbers."),
        ),
    }
}

async fn rollback(arguments: &RollbackAgent) -> Result<Exit, Problem> {
    let (reach, agent) = the_agent(&arguments.which).await?;
    let version = version_of(&reach, &agent, &arguments.to).await?;
    let changes = compared(&reach, &agent.document, &version.document).await?;
    if !changes.is_empty() {
        let title = version_title(&agent.title);
        let restored = reach.store().restore_version(&version.id, &title).await;
        restored.map_err(data::problem)?;
    }
    if arguments.publish {
        let title = version_title(&agent.title);
        let published = reach.store().publish(&agent.id, &title).await;
        published.map_err(data::problem)?;
    }
    reach.close().await;
    let released = if arguments.publish {
        ", and released"
    } else {
        ""
    };
    if arguments.json {
        let done = json!({"agent": agent.id, "title": agent.title, "to": version.id, "published": arguments.publish, "changes": changes.to_json()});
        out::line(&format!("{done:#}"));
    } else if changes.is_empty() {
        out::line(&format!(
            "The draft of {} is that version already{released}.",
            called(&agent)
        ));
    } else {
        let made = local_date_time(Timestamp(version.created));
        out::line(&format!(
            "The draft of {} is that of {made} again{released}: {}.",
            called(&agent),
            changes.summary()
        ));
        out::print(&changes.to_text());
    }
    Ok(Exit::Done)
}

/// What differs between two documents that are kept.
async fn compared(reach: &Reach, from: &str, to: &str) -> Result<Comparison, Problem> {
    if from == to {
        return Ok(Comparison::default());
    }
    let from = Stored::read(reach, from, "the earlier one").await?;
    let to = Stored::read(reach, to, "the later one").await?;
    Ok(Comparison::of(&from.shape(), &to.shape()))
}

async fn diff(arguments: &DiffAgents) -> Result<Exit, Problem> {
    let (from, to) = match &arguments.to {
        Some(to) => (arguments.from.clone(), to.clone()),
        None => (
            format!("{}@released", arguments.from),
            format!("{}@draft", arguments.from),
        ),
    };
    let mut shapes = Vec::new();
    let mut reach = None;
    for side in [&from, &to] {
        shapes.push(match Stored::of_file(side)? {
            Some(file) => file.shape(),
            None => {
                if reach.is_none() {
                    reach = Some(Reach::existing(&arguments.data).await?);
                }
                let Some(reach) = &reach else { continue };
                let (_, stored) = side_of(reach, side, arguments.owner.as_deref()).await?;
                stored.shape()
            }
        });
    }
    if let Some(reach) = reach {
        reach.close().await;
    }
    let [old, new] = shapes.as_slice() else {
        return Err(Problem::usage("There are not two sides to compare."));
    };
    let changes = Comparison::of(old, new);
    if arguments.json {
        out::line(&format!("{:#}", changes.to_json()));
    } else if changes.is_empty() {
        out::line("They are the same.");
    } else {
        out::line(&format!("{from} → {to}: {}.", changes.summary()));
        out::print(&changes.to_text());
    }
    Ok(match changes.is_empty() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

/// An agent, with or without a version behind an @. A title may have an @ in it too.
async fn side_of(
    reach: &Reach,
    side: &str,
    owner: Option<&str>,
) -> Result<(AgentRecord, Stored), Problem> {
    let whole = match side.contains('@') {
        true => !reach.agents_called(side, owner).await?.is_empty(),
        false => true,
    };
    let (name, version) = match side.rsplit_once('@') {
        Some((name, version)) if !whole && !name.is_empty() => (name, version),
        _ => (side, "draft"),
    };
    let agent = reach.agent(name, owner).await?;
    let document = match version {
        "draft" => agent.document.clone(),
        version => version_of(reach, &agent, version).await?.document,
    };
    let stored = Stored::read(reach, &document, called(&agent)).await?;
    Ok((agent, stored))
}

async fn delete(arguments: &DeleteAgent) -> Result<Exit, Problem> {
    let (reach, agent) = the_agent(&arguments.which).await?;
    let name = called(&agent);
    let with = match arguments.keep_runs {
        true => "its versions",
        false => "its versions, conversations and runs",
    };
    if !arguments.yes && !confirmed(&format!("Delete {name} with {with}?"))? {
        out::tell("Nothing was deleted.");
        return Ok(Exit::Failed);
    }
    let deleted = reach
        .store()
        .delete_agent(&agent.id, arguments.keep_runs)
        .await;
    deleted.map_err(data::problem)?;
    reach.close().await;
    out::line(&format!("{name} is deleted, with {with}."));
    Ok(Exit::Done)
}

/// Asks at the terminal. Where nobody can be asked, it has to be said beforehand.
fn confirmed(question: &str) -> Result<bool, Problem> {
    if !std::io::stdin().is_terminal() {
        return Err(
            Problem::usage("Nobody is here to be asked whether to delete it.")
                .fix("Say so with --yes."),
        );
    }
    out::show(&format!("{question} [y/N] "));
    let answer = read::line()?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// What a version is called that nobody named.
fn version_title(agent: &str) -> String {
    format!("{agent} {}", local_date_time(Timestamp(crate::runs::now())))
}
