//! Long-term memory for runs, and `easel memory`: what is in it.

use std::path::Path;
use std::sync::Arc;

use easel_knowledge::likeness;
use easel_runtime::clock::local_date_time;
use easel_runtime::tools::memory::{MemoryMessage, MemoryQuery, MemorySave, MemoryStore, Whose};
use easel_runtime::tools::{ToolError, World};
use easel_runtime::{Object, Timestamp, Value};
use easel_server::auth::LOCAL;
use easel_store::{Exchange, Location, MemoryFilter, MemoryOf, NewExchange, Store, StoreError};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use tokio::sync::OnceCell;

use crate::cli::{DeleteMemory, ListMemory, MemoryArguments, MemoryCommand};
use crate::columns::Columns;
use crate::data;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::reach::{Reach, within};

/// Memories that one node may name.
const MEMORIES: usize = 16;

/// Characters of the name of a memory, and of whom it belongs to.
const NAME: usize = 256;

/// The memories of a store.
pub struct StoredMemory {
    location: Location,
    store: OnceCell<Store>,
    /// Who is meant where nobody says who the user is. Without it, what was said stays in its conversation.
    user: &'static str,
}

impl StoredMemory {
    /// A world that remembers in the store of a server.
    pub fn of(store: &Store, world: World) -> World {
        let memory = StoredMemory {
            location: store.location().clone(),
            store: OnceCell::new_with(Some(store.clone())),
            user: "",
        };
        World {
            memory: Arc::new(memory),
            ..world
        }
    }

    /// A world that remembers in a data folder, if there is one. Its store is opened when something is to be remembered, and
    /// whoever sits at the terminal is its user.
    pub fn within_reach(world: World, folder: &Path) -> World {
        if !folder.is_dir() {
            return world;
        }
        let memory = StoredMemory {
            location: Location::Folder(folder.to_owned()),
            store: OnceCell::new(),
            user: LOCAL,
        };
        World {
            memory: Arc::new(memory),
            ..world
        }
    }

    async fn store(&self) -> Result<&Store, ToolError> {
        let opened = self.store.get_or_try_init(|| Store::open(&self.location));
        opened.await.map_err(failed)
    }

    /// The memories that are meant, each once.
    fn memories(&self, ids: &[String], whose: &Whose) -> Result<Vec<MemoryOf>, ToolError> {
        let user = match whose.user_id.as_str() {
            "" => self.user,
            user => user,
        };
        fits("the user's id", user)?;
        let mut names: Vec<&str> = ids.iter().map(|id| id.trim()).collect();
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        if names.len() > MEMORIES {
            return Err(ToolError::InvalidRequest {
                what: "memory_ids".to_owned(),
                problem: format!("there are {}, and {MEMORIES} are allowed", names.len()),
            });
        }
        let memory = |name: &str| {
            fits("a name in memory_ids", name)?;
            Ok(MemoryOf {
                owner: whose.owner.clone(),
                agent: whose.agent_id.clone(),
                user: user.to_owned(),
                session: whose.session_id.clone(),
                memory: name.to_owned(),
            })
        };
        names.into_iter().map(memory).collect()
    }
}

/// Refuses a name that is too long or odd.
fn fits(what: &str, name: &str) -> Result<(), ToolError> {
    if name.chars().count() <= NAME && !name.contains(char::is_control) {
        return Ok(());
    }
    Err(ToolError::InvalidRequest {
        what: what.to_owned(),
        problem: format!("it has more than {NAME} characters, or one that cannot be seen"),
    })
}

fn failed(error: StoreError) -> ToolError {
    ToolError::Failed {
        what: "memory".to_owned(),
        message: error.to_string(),
    }
}

impl MemoryStore for StoredMemory {
    fn save(&self, request: MemorySave) -> BoxFuture<'_, Result<(), ToolError>> {
        async move {
            let MemoryMessage {
                user_input,
                agent_response,
            } = request.message;
            if user_input.trim().is_empty() && agent_response.trim().is_empty() {
                return Ok(());
            }
            let new = NewExchange {
                key: request.key,
                user_input,
                agent_response,
            };
            for of in self.memories(&request.memory_ids, &request.whose)? {
                let saved = self.store().await?.remember(of, new.clone());
                saved.await.map_err(failed)?;
            }
            Ok(())
        }
        .boxed()
    }

    fn search(&self, request: MemoryQuery) -> BoxFuture<'_, Result<Vec<Object>, ToolError>> {
        async move {
            let mut found = Vec::new();
            for of in self.memories(&request.memory_ids, &request.whose)? {
                let held = self.store().await?.memory(&of).await;
                found.extend(held.map_err(failed)?);
            }
            // It takes as long as there is to be compared, and others are not to wait for it.
            let ranked = tokio::task::spawn_blocking(move || ranked(found, &request)).await;
            ranked.map_err(|error| ToolError::Failed {
                what: "memory".to_owned(),
                message: error.to_string(),
            })
        }
        .boxed()
    }
}

/// The exchanges that fit a query best, best first; of equals the newer one.
fn ranked(mut found: Vec<Exchange>, request: &MemoryQuery) -> Vec<Object> {
    found.sort_by(|a, b| (b.created, &b.id).cmp(&(a.created, &a.id)));
    // Without the words that say who spoke, which would be in every one.
    let said = |kept: &Exchange| format!("{}\n{}", kept.user_input, kept.agent_response);
    let texts: Vec<String> = found.iter().map(said).collect();
    let weight = request.keywords_similarity_weight.clamp(0.0, 1.0);
    let scores = likeness(&request.query, &texts, weight);
    let mut ranked: Vec<(f64, Exchange)> = scores.into_iter().zip(found).collect();
    ranked.retain(|(score, _)| *score >= request.similarity_threshold);
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.truncate(request.top_n as usize);
    let message = |(score, kept): (f64, Exchange)| {
        let members: [(&str, Value); 8] = [
            ("content", content(&kept).into()),
            ("message_id", kept.id.into()),
            ("memory_id", kept.memory.into()),
            ("session_id", kept.session.into()),
            ("user_input", kept.user_input.into()),
            ("agent_response", kept.agent_response.into()),
            ("similarity", score.into()),
            ("created_at", (kept.created as f64 / 1000.0).into()),
        ];
        let members = members.into_iter();
        members.map(|(name, value)| (name.into(), value)).collect()
    };
    ranked.into_iter().map(message).collect()
}

/// An exchange as models read it.
fn content(kept: &Exchange) -> String {
    format!(
        "User: {}\nAssistant: {}",
        kept.user_input, kept.agent_response
    )
}

/// Does what is asked.
pub fn obey(command: &MemoryCommand) -> Result<Exit, Problem> {
    within(async {
        match command {
            MemoryCommand::List(arguments) => list(arguments).await,
            MemoryCommand::Delete(arguments) => delete(arguments).await,
        }
    })
}

async fn list(arguments: &ListMemory) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.which.data).await?;
    let mut filter = filter(&reach, &arguments.which).await?;
    filter.limit = 100;
    let mut kept: Vec<Exchange> = Vec::new();
    loop {
        let page = reach.store().exchanges(&filter).await;
        let page = page.map_err(data::problem)?;
        kept.extend(page.items);
        filter.cursor = page.next;
        if filter.cursor.is_none() || kept.len() >= arguments.limit {
            break;
        }
    }
    let more = kept.len() > arguments.limit || filter.cursor.is_some();
    kept.truncate(arguments.limit);
    reach.close().await;
    if arguments.json {
        let items: Vec<Json> = kept.iter().map(item).collect();
        out::line(&format!("{:#}", json!({"memories": items})));
        return Ok(Exit::Done);
    }
    if kept.is_empty() {
        out::tell("Nothing is remembered.");
        return Ok(Exit::Done);
    }
    let mut table = Columns::new(&[
        "ID",
        "MEMORY",
        "AGENT",
        "USER",
        "WHEN",
        "USER SAID",
        "ANSWER",
    ]);
    for kept in &kept {
        table.row([
            kept.id.to_string(),
            kept.memory.to_string(),
            kept.agent.to_string(),
            kept.user.to_string(),
            local_date_time(Timestamp(kept.created)),
            line(&kept.user_input),
            line(&kept.agent_response),
        ]);
    }
    out::print(&table.for_output());
    if more {
        out::tell(&format!(
            "There is more than these {}; --limit shows more.",
            kept.len()
        ));
    }
    Ok(Exit::Done)
}

async fn delete(arguments: &DeleteMemory) -> Result<Exit, Problem> {
    let which = &arguments.which;
    let narrowed = which.agent.is_some() || which.user.is_some() || which.memory.is_some();
    if arguments.ids.is_empty() && !narrowed {
        return Err(Problem::usage("It is not said what is to be forgotten.")
            .fix("Name ids as `easel memory list` shows them, or --user, --agent or --memory."));
    }
    if !arguments.ids.is_empty() && narrowed {
        return Err(Problem::usage("Ids and a filter do not go together.")
            .fix("Name either ids, or --user, --agent or --memory."));
    }
    let reach = Reach::existing(&which.data).await?;
    let mut deleted = 0;
    for id in &arguments.ids {
        match reach.store().forget(id).await.map_err(data::problem)? {
            true => deleted += 1,
            false => out::tell(&format!("There is no {id}.")),
        }
    }
    if arguments.ids.is_empty() {
        let filter = filter(&reach, which).await?;
        let forgotten = reach.store().forget_all(&filter).await;
        deleted = forgotten.map_err(data::problem)?;
    }
    reach.close().await;
    out::line(&match deleted {
        1 => "1 exchange is forgotten.".to_owned(),
        deleted => format!("{deleted} exchanges are forgotten."),
    });
    Ok(match deleted < arguments.ids.len() as u64 {
        true => Exit::Usage,
        false => Exit::Done,
    })
}

/// What is meant. An agent may be named as elsewhere, or be the path of a file.
async fn filter(reach: &Reach, which: &MemoryArguments) -> Result<MemoryFilter, Problem> {
    let agent = match &which.agent {
        None => None,
        Some(name) => match file_agent(Path::new(name)) {
            Some(file) => Some(file),
            None => Some(
                reach
                    .agent(name, which.owner.as_deref())
                    .await?
                    .id
                    .to_string(),
            ),
        },
    };
    Ok(MemoryFilter {
        owner: which.owner.clone(),
        agent,
        user: which.user.clone(),
        memory: which.memory.clone(),
        ..MemoryFilter::default()
    })
}

/// By what a file is told from other agents: where it lies.
pub fn file_agent(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    Some(path.display().to_string())
}

/// The beginning of a text, in one line.
fn line(text: &str) -> String {
    const LONG: usize = 60;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

fn item(kept: &Exchange) -> Json {
    json!({
        "id": kept.id,
        "owner": kept.owner,
        "agent": kept.agent,
        "user": kept.user,
        "session": kept.session,
        "memory": kept.memory,
        "user_input": kept.user_input,
        "agent_response": kept.agent_response,
        "created_at": kept.created as f64 / 1000.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whose(user: &str) -> Whose {
        Whose {
            owner: "o".into(),
            agent_id: "a".into(),
            user_id: user.into(),
            session_id: "s".into(),
        }
    }

    fn save(memories: &[&str], user: &str, said: &str) -> MemorySave {
        MemorySave {
            memory_ids: memories.iter().map(|name| (*name).to_owned()).collect(),
            whose: whose(user),
            key: said.to_owned(),
            message: MemoryMessage {
                user_input: said.to_owned(),
                agent_response: String::new(),
            },
        }
    }

    fn query(memories: &[&str], text: &str) -> MemoryQuery {
        MemoryQuery {
            memory_ids: memories.iter().map(|name| (*name).to_owned()).collect(),
            whose: whose("u"),
            query: text.to_owned(),
            top_n: 2,
            similarity_threshold: 0.05,
            keywords_similarity_weight: 0.5,
        }
    }

    async fn memory(folder: &Path) -> Arc<dyn MemoryStore> {
        StoredMemory::within_reach(World::none(), folder).memory
    }

    #[tokio::test]
    async fn what_fits_best_of_all_memories_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let memory = memory(folder.path()).await;
        for said in [
            "My cat is called Tom",
            "I live in Oslo",
            "My cat likes fish, the cat of mine",
        ] {
            memory.save(save(&["one"], "u", said)).await.unwrap();
        }
        memory
            .save(save(&[" two ", "two", ""], "u", "The cat sleeps"))
            .await
            .unwrap();
        let found = memory
            .search(query(&["one", "two"], "What is my cat called?"))
            .await
            .unwrap();
        let said: Vec<String> = found
            .iter()
            .map(|kept| kept["user_input"].to_string())
            .collect();
        assert_eq!(said.len(), 2, "no more than was asked for");
        assert_eq!(said[0], "My cat is called Tom");
        assert!(!said.contains(&"I live in Oslo".to_owned()));
        let all = memory.search(query(&["two"], "cat")).await.unwrap();
        assert_eq!(all.len(), 1, "a memory that is named twice is one");
        assert_eq!(
            all[0]["content"].to_string(),
            "User: The cat sleeps\nAssistant: "
        );
    }

    #[tokio::test]
    async fn names_that_are_too_many_too_long_or_odd_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let memory = memory(folder.path()).await;
        let many: Vec<String> = (0..MEMORIES + 1).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let long = "x".repeat(NAME + 1);
        for refused in [
            memory.save(save(&many, "u", "x")).await,
            memory.save(save(&[&long], "u", "x")).await,
            memory.save(save(&["m"], &long, "x")).await,
            memory.save(save(&["a\0b"], "u", "x")).await,
        ] {
            assert!(
                matches!(refused, Err(ToolError::InvalidRequest { .. })),
                "{refused:?}"
            );
        }
        memory
            .save(save(&many[1..], &"x".repeat(NAME), "x"))
            .await
            .unwrap();
    }
}
