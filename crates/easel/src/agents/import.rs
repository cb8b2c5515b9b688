//! `easel agents import`: workflows go from files into the store, in place of what they were there.

use std::path::Path;

use easel_runtime::check::{Severity, Surroundings};
use easel_runtime::clock::{Clock, SystemClock};
use easel_runtime::graphs::package::{MANIFEST, Package};
use easel_runtime::secrets::{Secret, SecretError};
use easel_runtime::{Engine, Workflow};
use easel_store::{AgentPatch, AgentRecord, Dialect, NewAgent, Permission};
use serde_json::{Value as Json, json};

use super::compare::{Comparison, Shape};
use super::source::{Stored, loader, shape_of};
use super::{called, version_title};
use crate::cli::{ImportAgents, Sharing};
use crate::data;
use crate::exit::Exit;
use crate::keyring;
use crate::lift::Lifted;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::reach::Reach;
use crate::source::Source;

/// The category of canvases, unless the file says another.
const CANVASES: &str = "agent_canvas";

/// A file that can be taken in.
struct Ready {
    /// The file, as it was named.
    file: String,
    /// The id that stands in it.
    id: Option<String>,
    /// What it is called there; else its name.
    title: String,
    /// What is said of the agent.
    description: Option<String>,
    category: String,
    kind: Option<String>,
    dialect: Dialect,
    bytes: Vec<u8>,
    shape: Shape,
    nodes: usize,
    warnings: usize,
    credentials: Vec<(String, Secret)>,
}

/// What becomes of a file.
struct Outcome {
    agent: String,
    title: String,
    what: What,
    published: bool,
}

enum What {
    Created,
    Updated(Comparison),
    Unchanged,
}

/// Takes files in.
pub async fn import(arguments: &ImportAgents) -> Result<Exit, Problem> {
    let several = arguments.files.len() > 1;
    if several && (arguments.agent.is_some() || arguments.title.is_some()) {
        return Err(Problem::usage("--agent and --title are for one file.")
            .fix("Import the files one by one, or write title and dsl into each."));
    }
    let engine = loader()?;
    let mut ready = Vec::new();
    for file in &arguments.files {
        ready.push(read(&engine, file, arguments)?);
    }
    let reach = match arguments.dry_run {
        true => Reach::existing(&arguments.data).await?,
        false => Reach::open(&arguments.data).await?,
    };
    // Whose each is, before the first is written.
    let mut known = Vec::new();
    for file in &ready {
        known.push(agent_of(&reach, file, arguments).await?);
    }
    for (at, (file, agent)) in ready.iter().zip(&known).enumerate() {
        let same = |(other, theirs): &(&Ready, &Option<AgentRecord>)| match (agent, theirs) {
            (Some(mine), Some(theirs)) => mine.id == theirs.id,
            (None, None) => file.category == other.category && alike(&file.title, &other.title),
            _ => false,
        };
        let before = ready.iter().zip(&known).take(at).find(|pair| same(pair));
        if let Some((other, _)) = before {
            return Err(Problem::usage(format!(
                "{} and {} are for the same agent, {:?}.",
                other.file, file.file, file.title
            ))
            .fix("Import one of them, or give one another title."));
        }
    }
    let mut outcomes = Vec::new();
    for (file, agent) in ready.iter().zip(known) {
        outcomes.push(take_in(&reach, file, agent, arguments).await?);
    }
    reach.close().await;
    match arguments.json {
        true => print_json(&ready, &outcomes, arguments.dry_run),
        false => print(&ready, &outcomes, arguments.dry_run),
    }
    Ok(Exit::Done)
}

fn alike(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Reads and checks a file, and takes credentials out of it.
fn read(engine: &Engine, path: &Path, arguments: &ImportAgents) -> Result<Ready, Problem> {
    let source = Source::read(path)?;
    let workflow = source.load(engine)?;
    source.refuse(&workflow)?;
    let found = workflow.check(&Surroundings {
        model: &|_| None,
        secret: &|_| true,
    });
    let warnings = found
        .iter()
        .filter(|found| found.severity == Severity::Warning);
    let warnings = warnings.count();
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let nodes = workflow.compiled().nodes.iter();
    let nodes = nodes.filter(|node| !node.implicit).count();
    let mut ready = Ready {
        file: source.name.clone(),
        id: None,
        title: stem.unwrap_or_default(),
        description: None,
        category: CANVASES.to_owned(),
        kind: None,
        dialect: Dialect::Canvas,
        bytes: Vec::new(),
        shape: Shape::default(),
        nodes,
        warnings,
        credentials: Vec::new(),
    };
    match workflow.graph().is_some() {
        true => graph(path, &source, &workflow, &mut ready)?,
        false => canvas(engine, &source, &workflow, &mut ready)?,
    }
    if let Some(title) = &arguments.title {
        ready.title.clone_from(title);
    }
    if ready.title.trim().is_empty() {
        return Err(Problem::usage(format!("{} has no title.", ready.file))
            .fix("Give it one with --title."));
    }
    Ok(ready)
}

/// A canvas, with names in place of its credentials, and in today's form.
fn canvas(
    engine: &Engine,
    source: &Source,
    workflow: &Workflow,
    ready: &mut Ready,
) -> Result<(), Problem> {
    let resolver = keyring::resolver()?;
    let lifted = Lifted::of(
        workflow.secrets(),
        |name, value| -> Result<bool, SecretError> {
            let found = resolver.find(name)?;
            Ok(found.is_some_and(|found| !found.secret.is(value)))
        },
    );
    let lifted = lifted.map_err(|error| keyring::problem(&error))?;
    let text = source.text();
    let (text, lifted, left) = lifted.rewrite(&text);
    if let Some(field) = left.first() {
        return Err(Problem::new(
            Exit::Refused,
            format!(
                "A credential for {field} is written out in {} in a form that cannot be taken out.",
                ready.file
            ),
        )
        .fix("Put ${NAME} in its place, and keep the value with `easel secrets set NAME`."));
    }
    let lifted: Vec<_> = lifted
        .secrets()
        .map(|(name, secret)| (name.to_owned(), secret))
        .collect();
    let clean = engine
        .load(text.as_bytes())
        .map_err(|error| Problem::new(Exit::Refused, sentence(&error.to_string()).into_owned()))?;
    let around: Json = serde_json::from_str(&text).unwrap_or_default();
    if around.get("dsl").is_some() {
        let said = |key: &str| around[key].as_str().map(str::to_owned);
        // An export of elsewhere has a number, a template a word: neither is the id of an agent here.
        ready.id = said("id");
        if let Some(title) = in_english(&around["title"]) {
            ready.title = title;
        }
        ready.description = in_english(&around["description"]);
        ready.kind = said("canvas_type");
        if let Some(category) = said("canvas_category").filter(|category| !category.is_empty()) {
            ready.category = category;
        }
    }
    ready.shape = shape_of(&clean, None);
    let canvas = clean.canvas().map(|canvas| canvas.canvas().to_json());
    ready.bytes = serde_json::to_vec(&canvas.unwrap_or_default()).unwrap_or_default();
    ready.credentials = lifted;
    Ok(())
}

/// A graph as its text, with what belongs to it as an archive.
fn graph(
    path: &Path,
    source: &Source,
    workflow: &Workflow,
    ready: &mut Ready,
) -> Result<(), Problem> {
    ready.dialect = Dialect::Graph;
    ready.category = easel_server::v1::workflows::CATEGORY.to_owned();
    let package = source.package();
    // A graph that stands alone has nothing but a manifest that was made up for it.
    let is_alone = |package: &Package| {
        let own = [MANIFEST, package.manifest.entrypoint.as_str()];
        let file = path.extension().is_none_or(|suffix| suffix != "zip") && !path.is_dir();
        file && package.files().all(|(name, _)| own.contains(&name))
    };
    let package = package.filter(|package| !is_alone(package));
    ready.shape = shape_of(workflow, package);
    let own = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    if let Some(graph) = workflow.graph() {
        let document = graph.document();
        let name = package.and_then(|package| own(&package.manifest.name));
        if let Some(name) = name.or_else(|| own(&document.name)) {
            ready.title = name;
        }
        ready.description = document.description.as_ref().map(|text| text.to_string());
    }
    ready.bytes = match package {
        Some(package) => package.to_archive().map_err(|error| {
            Problem::usage(format!("{} cannot be packed.", ready.file))
                .because(sentence(&error.to_string()).into_owned())
        })?,
        None => source.bytes.clone(),
    };
    Ok(())
}

/// A text, or the English one of several.
fn in_english(value: &Json) -> Option<String> {
    let text = match value {
        Json::Object(languages) => languages.get("en").or_else(|| languages.values().next())?,
        other => other,
    };
    let text = text.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The agent that a file is for; `None` makes a new one.
async fn agent_of(
    reach: &Reach,
    file: &Ready,
    arguments: &ImportAgents,
) -> Result<Option<AgentRecord>, Problem> {
    let owner = arguments.owner.as_str();
    if let Some(name) = &arguments.agent {
        let agent = reach.agent(name, Some(owner)).await?;
        return fits(file, agent, owner).map(Some);
    }
    if let Some(id) = &file.id {
        let agent = reach.store().agent(id).await.map_err(data::problem)?;
        if let Some(agent) = agent.filter(|agent| *agent.owner == *owner) {
            return fits(file, agent, owner).map(Some);
        }
    }
    let found = reach.agents_called(&file.title, Some(owner)).await?;
    let mut found: Vec<AgentRecord> = found
        .into_iter()
        .filter(|agent| agent.dialect == file.dialect && *agent.category == *file.category)
        .collect();
    if found.len() > 1 {
        return Err(
            Problem::usage(format!("Several agents are called {:?}.", file.title))
                .fix("Say which with --agent ID."),
        );
    }
    Ok(found.pop())
}

/// A canvas does not take the place of a graph, and nobody's agent that of another's.
fn fits(file: &Ready, agent: AgentRecord, owner: &str) -> Result<AgentRecord, Problem> {
    if *agent.owner != *owner {
        return Err(
            Problem::usage(format!("{} belongs to {}.", called(&agent), agent.owner))
                .fix(format!("Import it as theirs: --owner {}", agent.owner)),
        );
    }
    if agent.dialect != file.dialect {
        return Err(Problem::usage(format!(
            "{} is a {}, and {} is a {}.",
            file.file,
            file.dialect.name(),
            called(&agent),
            agent.dialect.name()
        ))
        .fix("Import it under another title."));
    }
    Ok(agent)
}

/// Writes a file into the store.
async fn take_in(
    reach: &Reach,
    file: &Ready,
    agent: Option<AgentRecord>,
    arguments: &ImportAgents,
) -> Result<Outcome, Problem> {
    let permission = arguments.permission.map(|sharing| match sharing {
        Sharing::Me => Permission::Me,
        Sharing::Team => Permission::Team,
    });
    if !arguments.dry_run {
        keep_credentials(file)?;
    }
    let Some(agent) = agent else {
        return create(reach, file, permission, arguments).await;
    };
    let before = Stored::read(reach, &agent.document, called(&agent)).await?;
    let changes = Comparison::of(&before.shape(), &file.shape);
    let released = reach.store().released_version(&agent.id).await;
    let released = released.map_err(data::problem)?;
    let current = released.is_some_and(|version| version.document == agent.document);
    let publish = arguments.publish && !(changes.is_empty() && current);
    let title = version(&agent.owner, &agent.title);
    if !arguments.dry_run {
        let document = match changes.is_empty() {
            true => None,
            false => Some(put(reach, file).await?),
        };
        let renamed = (file.dialect == Dialect::Canvas && *agent.title != *file.title)
            .then(|| file.title.clone());
        let described = file.description.clone();
        let described = described.filter(|text| **text != *agent.description);
        let typed = file.kind.clone().filter(|kind| **kind != *agent.kind);
        let shared = permission.filter(|permission| *permission != agent.permission);
        if document.is_some()
            || renamed.is_some()
            || described.is_some()
            || typed.is_some()
            || shared.is_some()
        {
            let patch = AgentPatch {
                title: renamed,
                description: described,
                kind: typed,
                permission: shared,
                // What is not said to be released is not.
                released: document.is_some().then_some(false),
                document,
                version_title: title.clone(),
                ..AgentPatch::default()
            };
            let updated = reach.store().update_agent(&agent.id, patch).await;
            updated.map_err(data::problem)?;
        }
        if publish {
            let published = reach.store().publish(&agent.id, &title).await;
            published.map_err(data::problem)?;
        }
    }
    Ok(Outcome {
        agent: agent.id.to_string(),
        title: file.title.clone(),
        what: match changes.is_empty() {
            true => What::Unchanged,
            false => What::Updated(changes),
        },
        published: publish,
    })
}

async fn create(
    reach: &Reach,
    file: &Ready,
    permission: Option<Permission>,
    arguments: &ImportAgents,
) -> Result<Outcome, Problem> {
    let mut id = String::new();
    if !arguments.dry_run {
        let is_graph = file.dialect == Dialect::Graph;
        let new = NewAgent {
            owner: arguments.owner.clone(),
            title: file.title.clone(),
            description: file.description.clone().unwrap_or_default(),
            category: file.category.clone(),
            kind: file.kind.clone().unwrap_or_default(),
            permission: permission.unwrap_or_default(),
            released: arguments.publish,
            dialect: Some(file.dialect),
            name: is_graph.then(|| file.title.clone()),
            document: put(reach, file).await?,
            version_title: version(&arguments.owner, &file.title),
            ..NewAgent::default()
        };
        let made = reach.store().create_agent(new).await;
        id = made.map_err(data::problem)?.id.to_string();
    }
    Ok(Outcome {
        agent: id,
        title: file.title.clone(),
        what: What::Created,
        published: arguments.publish,
    })
}

/// What a version is called that is made here; the same as one that a client saves.
fn version(owner: &str, title: &str) -> String {
    format!(
        "{owner}_{}",
        version_title(title).replacen(&format!("{title} "), &format!("{title}_"), 1)
    )
}

async fn put(reach: &Reach, file: &Ready) -> Result<String, Problem> {
    let put = reach
        .store()
        .put_document(file.dialect, file.bytes.clone())
        .await;
    Ok(put.map_err(data::problem)?.to_string())
}

/// Puts credentials into the vault, before the workflow that names them is written.
fn keep_credentials(file: &Ready) -> Result<(), Problem> {
    if file.credentials.is_empty() {
        return Ok(());
    }
    let vault = keyring::vault()?;
    for (name, secret) in &file.credentials {
        let set = vault.set(name, secret, SystemClock.now());
        set.map_err(|error| keyring::problem(&error))?;
    }
    Ok(())
}

fn print(ready: &[Ready], outcomes: &[Outcome], dry: bool) {
    for (file, outcome) in ready.iter().zip(outcomes) {
        let released = match (outcome.published, dry) {
            (true, false) => ", released",
            (true, true) => ", would be released",
            (false, _) => "",
        };
        let title = &outcome.title;
        out::line(&match &outcome.what {
            What::Created => {
                let nodes = crate::runs::count(file.nodes as u64, "node", "nodes");
                let id = match outcome.agent.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", outcome.agent),
                };
                let new = if dry { "would be new" } else { "new" };
                format!("{title}: {new}, {nodes}{released}{id}")
            }
            What::Unchanged => format!("{title}: unchanged{released}"),
            What::Updated(changes) => format!("{title}: {}{released}", changes.summary()),
        });
        if let What::Updated(changes) = &outcome.what {
            out::print(&changes.to_text());
        }
        for (name, _) in &file.credentials {
            out::tell(&match dry {
                true => format!(
                    "{}: a credential would go into the vault as {name}.",
                    file.file
                ),
                false => format!(
                    "{}: {name} is in the vault, and ${{{name}}} in the agent.",
                    file.file
                ),
            });
        }
        if file.warnings > 0 {
            let warnings = crate::runs::count(file.warnings as u64, "warning", "warnings");
            out::tell(&format!("{}: {warnings}; easel check {0}", file.file));
        }
    }
}

fn print_json(ready: &[Ready], outcomes: &[Outcome], dry: bool) {
    let items = ready.iter().zip(outcomes).map(|(file, outcome)| {
        let (word, changes) = match &outcome.what {
            What::Created => ("created", None),
            What::Unchanged => ("unchanged", None),
            What::Updated(changes) => ("updated", Some(changes.to_json())),
        };
        let credentials: Vec<&str> = file.credentials.iter().map(|(name, _)| &**name).collect();
        json!({
            "file": file.file,
            "agent": Some(&outcome.agent).filter(|id| !id.is_empty()),
            "title": outcome.title,
            "outcome": word,
            "published": outcome.published,
            "changes": changes,
            "credentials": credentials,
            "warnings": file.warnings,
        })
    });
    let items: Vec<Json> = items.collect();
    out::line(&format!("{:#}", json!({"agents": items, "dry_run": dry})));
}
