//! What is kept in a data folder or a database, for commands: to read, and to act on what a server may be driving.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use easel_runtime::Engine;
use easel_server::auth::LOCAL;
use easel_server::files::StoredFiles;
use easel_server::local::{Answer, Ask, Here, NoAnswer, Remote};
use easel_store::{AgentFilter, AgentRecord, Location, PageNumber, RunFilter, RunRecord, Store};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::cli::WorldArguments;
use crate::config::Config;
use crate::data::{self, BEACON, DataArguments};
use crate::exit::Exit;
use crate::keyring;
use crate::memory::StoredMemory;
use crate::problem::{Problem, sentence};
use crate::run::models_and_tools;

/// The word that stands for the run that began last.
pub const LAST: &str = "last";

/// The database in a data folder.
const DATABASE: &str = "easel.db";

/// The store of a command.
pub struct Reach {
    store: Store,
    /// The API, for what only reads.
    reader: Here,
}

/// What a server tells commands on its machine.
#[derive(Deserialize)]
struct Lit {
    address: SocketAddr,
    token: String,
}

impl Reach {
    /// What is there already.
    pub async fn existing(arguments: &DataArguments) -> Result<Reach, Problem> {
        if let Location::Folder(folder) = arguments.location()
            && !folder.join(DATABASE).is_file()
        {
            return Err(
                Problem::usage(format!("There is no data in {}.", folder.display())).fix(
                    "Name the folder with --data or EASEL_DATA. `easel serve` and `easel agents import` make one.",
                ),
            );
        }
        Reach::open(arguments).await
    }

    /// What is there; if there is nothing, it is made.
    pub async fn open(arguments: &DataArguments) -> Result<Reach, Problem> {
        let store = Store::open(&arguments.location()).await;
        let store = store.map_err(data::problem)?;
        let engine = Engine::builder().journal(Arc::new(store.clone())).build();
        let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
        let reader = Here::over(&store, engine);
        Ok(Reach { store, reader })
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A run by its id; [`LAST`] is the one that began last.
    pub async fn run(&self, id: &str) -> Result<RunRecord, Problem> {
        let id = match id {
            LAST => {
                let filter = RunFilter {
                    limit: 1,
                    ..RunFilter::default()
                };
                let newest = self.store.runs(&filter).await.map_err(data::problem)?;
                let newest = newest.items.first().map(|run| run.id.to_string());
                newest.ok_or_else(|| Problem::usage("There is no run yet."))?
            }
            id => id.to_owned(),
        };
        let found = self.store.run(&id).await.map_err(data::problem)?;
        found.ok_or_else(|| {
            Problem::usage(format!("There is no run {id}."))
                .fix("`easel runs list` shows the runs; `last` stands for the newest.")
        })
    }

    /// An agent by its id, its title in any case, or a graph's name. Of several with one title, `owner` says whose.
    pub async fn agent(&self, name: &str, owner: Option<&str>) -> Result<AgentRecord, Problem> {
        let by_id = self.store.agent(name).await.map_err(data::problem)?;
        if let Some(agent) = by_id {
            return Ok(agent);
        }
        let mut found = self.agents_called(name, owner).await?;
        if found.len() > 1 {
            let owners: Vec<String> = found
                .iter()
                .map(|agent| format!("{} ({}, {})", agent.id, agent.owner, agent.category))
                .collect();
            return Err(
                Problem::usage(format!("Several agents are called {name:?}."))
                    .because(owners.join("; "))
                    .fix("Name one by its id, or say whose with --owner."),
            );
        }
        found.pop().ok_or_else(|| {
            Problem::usage(format!("There is no agent {name:?}."))
                .fix("`easel agents list` shows the agents.")
        })
    }

    /// Agents with that title in any case, or graphs of that name.
    pub async fn agents_called(
        &self,
        name: &str,
        owner: Option<&str>,
    ) -> Result<Vec<AgentRecord>, Problem> {
        let filter = AgentFilter {
            owners: owner.map(str::to_owned).into_iter().collect(),
            ..AgentFilter::default()
        };
        let by_title = AgentFilter {
            keywords: Some(name.to_owned()),
            ..filter.clone()
        };
        let by_name = AgentFilter {
            name: Some(name.to_owned()),
            ..filter
        };
        let mut found = self.agents(by_title).await?;
        found.retain(|agent| agent.title.to_lowercase() == name.to_lowercase());
        for agent in self.agents(by_name).await? {
            if found.iter().all(|known| known.id != agent.id) {
                found.push(agent);
            }
        }
        Ok(found)
    }

    /// All agents that pass a filter, of every page.
    pub async fn agents(&self, filter: AgentFilter) -> Result<Vec<AgentRecord>, Problem> {
        const SIZE: u32 = 500;
        let mut all = Vec::new();
        for page in 1.. {
            let filter = AgentFilter {
                page: PageNumber { page, size: SIZE },
                ..filter.clone()
            };
            let listed = self.store.agents(&filter).await.map_err(data::problem)?;
            let last = listed.items.len() < SIZE as usize;
            all.extend(listed.items);
            if last {
                break;
            }
        }
        Ok(all)
    }

    /// Reads something through the API.
    pub async fn read(&self, owner: &Arc<str>, path: String) -> Result<Json, Problem> {
        let answer = self.reader.ask(Ask::get(owner, path)).await;
        body(answer.map_err(unanswered)?)
    }

    /// Somebody who can act on runs: the server that holds the folder, or this process.
    pub async fn actor(&self, world: &WorldArguments) -> Result<Actor, Problem> {
        if let Location::Folder(folder) = self.store.location() {
            if let Some(remote) = server_of(folder)? {
                // A server that was killed leaves its note behind, and another one may be where it was.
                let known = Ask::get(&LOCAL.into(), "/v1/runs?limit=1".to_owned());
                match remote.ask(known).await {
                    Ok(answer) if answer.status == 200 => return Ok(Actor::Server(remote)),
                    Ok(_) | Err(NoAnswer::Gone(_) | NoAnswer::Unreadable(_)) => {}
                    Err(error) => return Err(unanswered(error)),
                }
            }
            let lock = Store::lock_folder(folder).map_err(data::problem)?;
            return Ok(Actor::Here {
                api: Here::over(&self.store, self.engine(world)?),
                _lock: Some(lock),
            });
        }
        let api = Here::over(&self.store, self.engine(world)?);
        // Or the servers on the same database would take what it drives for left.
        let attending = api.attend().await;
        attending.map_err(|error| {
            Problem::new(Exit::Failed, sentence(&error.to_string()).into_owned())
        })?;
        Ok(Actor::Here { api, _lock: None })
    }

    /// An engine that acts, with the models and tools of this command's settings.
    fn engine(&self, arguments: &WorldArguments) -> Result<Arc<Engine>, Problem> {
        let (models, mut world) = models_and_tools(arguments)?;
        if arguments.world.is_none() {
            world = StoredMemory::of(&self.store, world);
        }
        let config = Config::read(arguments.config.as_deref())?;
        let engine = Engine::builder()
            .model(models)
            .world(StoredFiles::of(&self.store, world))
            .breaker(config.breaker()?)
            .sandbox(config.python.sandbox()?)
            .secrets(keyring::resolver()?)
            .journal(Arc::new(self.store.clone()))
            .build();
        engine.map_err(|error| Problem::usage(sentence(&error.to_string())))
    }

    /// Writes what waits to be written, and closes.
    pub async fn close(self) {
        self.store.close().await;
    }
}

/// Who drives runs for a command.
pub enum Actor {
    /// The server that holds the data folder.
    Server(Remote),
    /// This process.
    Here {
        /// The API.
        api: Here,
        /// Keeps servers out of the folder meanwhile.
        _lock: Option<easel_store::FolderLock>,
    },
}

impl Actor {
    /// Asks for something to be done.
    pub async fn ask(&self, ask: Ask) -> Result<Json, Problem> {
        let answer = match self {
            Actor::Server(remote) => remote.ask(ask).await,
            Actor::Here { api, .. } => api.ask(ask).await,
        };
        body(answer.map_err(unanswered)?)
    }
}

/// The server that holds a folder, as it says itself.
fn server_of(folder: &Path) -> Result<Option<Remote>, Problem> {
    let path = folder.join(BEACON);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Problem::file(&path, "read", &error)),
    };
    let lit: Lit = serde_json::from_str(&text).map_err(|error| {
        Problem::usage(format!("{} cannot be read.", path.display()))
            .because(error.to_string())
            .fix("It is written by `easel serve`. If no server runs, delete it.")
    })?;
    let mut address = lit.address;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            std::net::IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            std::net::IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    Remote::at(address, lit.token).map(Some).map_err(unanswered)
}

fn unanswered(error: NoAnswer) -> Problem {
    Problem::new(Exit::Failed, sentence(&error.to_string()).into_owned())
        .fix("See whether `easel serve` still runs, and try again.")
}

/// The body of an answer, or what it says against the request.
fn body(answer: Answer) -> Result<Json, Problem> {
    if answer.status < 400 {
        return Ok(answer.body);
    }
    let error = &answer.body["error"];
    let message = error["message"]
        .as_str()
        .unwrap_or("The request was refused.");
    let exit = match answer.status {
        409 | 500.. => Exit::Failed,
        _ => Exit::Usage,
    };
    let problem = Problem::new(exit, sentence(message).into_owned());
    Err(match error["fix"].as_str() {
        Some(fix) => problem.fix(sentence(fix).into_owned()),
        None => problem,
    })
}

/// Runs a command that needs a store.
pub fn within<T>(command: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime
        .map_err(|error| Problem::usage("No runtime can be started.").because(error.to_string()))?;
    let done = runtime.block_on(command);
    runtime.shutdown_background();
    done
}
