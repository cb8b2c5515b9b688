//! A server for tests: over a folder of its own, with models and tools that answer from a script.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use easel_documents::DocumentMaker;
use easel_runtime::models::{ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo};
use easel_runtime::tools::World;
use easel_runtime::{Engine, Origin, ScriptedWorld};
use easel_server::files::StoredFiles;
use easel_server::host::{Host, HostLimits};
use easel_server::{App, Settings, router, serve};
use easel_store::{Dialect, Location, NewAgent, NewKey, NewSession, Store};
use futures::StreamExt;
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A model that takes its time, so that something can happen meanwhile.
struct Slow {
    model: Arc<dyn ChatModel>,
    pause: Duration,
}

impl ChatModel for Slow {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        self.model.describe(model)
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        if self.pause.is_zero() {
            return self.model.chat(request);
        }
        let (model, pause) = (self.model.clone(), self.pause);
        let later = async move {
            tokio::time::sleep(pause).await;
            model.chat(request)
        };
        Box::pin(futures::stream::once(later).flatten())
    }
}

/// A server that runs, and its folder.
pub struct TestServer {
    /// Goes with the server, unless it serves in a folder of somebody else's.
    pub folder: Option<Arc<tempfile::TempDir>>,
    /// Where it keeps its things.
    pub path: PathBuf,
    pub store: Store,
    pub app: Arc<App>,
    pub address: SocketAddr,
    /// What its models and tools were asked.
    pub script: Arc<ScriptedWorld>,
    world: Json,
    setup: Setup,
    stop: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<usize>>,
}

/// What else a server is set up with.
#[derive(Clone, Default)]
pub struct Setup {
    pub settings: Settings,
    /// A model in place of the scripted one.
    pub model: Option<Arc<dyn ChatModel>>,
    /// The URL of a PostgreSQL database, in place of the one in the folder.
    pub database: Option<String>,
}

/// Where the store of a test is.
#[derive(Clone)]
pub enum Place {
    Folder,
    Database(String),
}

impl Place {
    /// A new database; `None` where there is no PostgreSQL.
    pub async fn database() -> Option<Place> {
        let cluster = postgres_for_tests::cluster()?;
        Some(Place::Database(cluster.database().await))
    }

    /// A server whose models say `"ok"`.
    pub async fn start(&self) -> TestServer {
        self.with_world(json!({"llm": {}, "default_reply": "ok"}))
            .await
    }

    /// A server whose models and tools answer as the script says.
    pub async fn with_world(&self, world: Json) -> TestServer {
        self.set_up(world, Setup::default()).await
    }

    /// The same, set up otherwise. In a database it may be one of several.
    pub async fn set_up(&self, world: Json, setup: Setup) -> TestServer {
        let database = match self {
            Place::Folder => None,
            Place::Database(url) => Some(url.clone()),
        };
        let folder = Arc::new(tempfile::tempdir().unwrap());
        TestServer::set_up(folder, world, Setup { database, ..setup }).await
    }
}

/// A test that must pass over both stores.
macro_rules! both {
    ($($(#[$attribute:meta])* async fn $name:ident($place:ident) $body:block)*) => { $(
        $(#[$attribute])*
        mod $name {
            use super::*;

            async fn test($place: crate::support::Place) $body

            #[tokio::test(flavor = "multi_thread")]
            async fn sqlite() {
                test(crate::support::Place::Folder).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn postgres() {
                if let Some(place) = crate::support::Place::database().await {
                    test(place).await;
                }
            }
        }
    )* };
}
pub(crate) use both;

impl TestServer {
    /// A server whose models say `"ok"`.
    pub async fn start() -> TestServer {
        TestServer::with_world(json!({"llm": {}, "default_reply": "ok"})).await
    }

    /// A server whose models and tools answer as the script says (the form of `--world`); models after `slow_ms`.
    pub async fn with_world(world: Json) -> TestServer {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        TestServer::over(folder, world).await
    }

    /// A server over a folder that may hold something already.
    pub async fn over(folder: Arc<tempfile::TempDir>, world: Json) -> TestServer {
        TestServer::set_up(folder, world, Setup::default()).await
    }

    /// The same, set up otherwise.
    pub async fn set_up(folder: Arc<tempfile::TempDir>, world: Json, setup: Setup) -> TestServer {
        let path = folder.path().to_owned();
        TestServer {
            folder: Some(folder),
            ..TestServer::set_up_in(&path, world, setup).await
        }
    }

    /// The same, in a folder that stays.
    pub async fn set_up_in(path: &Path, world: Json, setup: Setup) -> TestServer {
        let location = match &setup.database {
            Some(url) => Location::Database(url.clone()),
            None => Location::Folder(path.to_owned()),
        };
        let store = Store::open(&location).await.unwrap();
        let script = Arc::new(ScriptedWorld::read(world.clone(), || {}).unwrap());
        let tools = World {
            documents: Arc::new(DocumentMaker::default().with_built_in_fonts()),
            ..script.tools()
        };
        let engine = Engine::builder()
            .model(Arc::new(Slow {
                pause: Duration::from_millis(world["slow_ms"].as_u64().unwrap_or(0)),
                model: setup.model.clone().unwrap_or_else(|| script.model()),
            }))
            .world(StoredFiles::of(&store, tools))
            .journal(Arc::new(store.clone()))
            .build()
            .unwrap();
        let host = Host::new(store.clone(), engine, HostLimits::default());
        let app = App::new(host, setup.settings.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        app.host.recover().await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(serve::serve(
            app.clone(),
            router(app.clone()),
            listener,
            async move { drop(stopped.await) },
        ));
        TestServer {
            folder: None,
            path: path.to_owned(),
            store,
            app,
            address,
            script,
            world,
            setup,
            stop: Some(stop),
            served: Some(served),
        }
    }

    /// Stops it and starts another one over the same folder.
    pub async fn restart(mut self) -> TestServer {
        let (folder, path) = (self.folder.take(), self.path.clone());
        let (world, setup) = (self.world.clone(), self.setup.clone());
        self.stop().await;
        TestServer {
            folder,
            ..TestServer::set_up_in(&path, world, setup).await
        }
    }

    /// Stops it.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        self.served.take().unwrap().await.unwrap();
        self.store.close().await;
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A URL of it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A key of an owner, with these scopes.
    pub async fn key(&self, owner: &str, scopes: &[&str]) -> String {
        let new = NewKey {
            owner: owner.to_owned(),
            name: "a test's".to_owned(),
            scopes: scopes.iter().map(|scope| (*scope).into()).collect(),
            expires: None,
        };
        let (_, secret) = self.store.create_key(new).await.unwrap();
        secret.reveal().to_owned()
    }

    /// The hash of a canvas that is stored now.
    pub async fn document(&self, canvas: &Json) -> String {
        let bytes = canvas.to_string().into_bytes();
        let hash = self.store.put_document(Dialect::Canvas, bytes).await;
        hash.unwrap().to_string()
    }

    /// An agent with that canvas, made for an owner.
    pub async fn agent(&self, owner: &str, title: &str, canvas: &Json) -> String {
        let new = NewAgent {
            owner: owner.to_owned(),
            title: title.to_owned(),
            category: "agent_canvas".to_owned(),
            document: self.document(canvas).await,
            version_title: "first".to_owned(),
            ..NewAgent::default()
        };
        self.store.create_agent(new).await.unwrap().id.to_string()
    }

    /// A conversation with a canvas.
    pub async fn session(&self, canvas: &Json) -> Arc<str> {
        let new = NewSession {
            owner: "local".to_owned(),
            document: self.document(canvas).await,
            ..NewSession::default()
        };
        self.store.create_session(new).await.unwrap().id
    }
}

/// A client.
pub fn client() -> reqwest::Client {
    // Another test may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// Where a test's run comes from.
pub fn origin() -> Origin {
    Origin {
        owner: "local".into(),
        trigger: "api".into(),
        ..Origin::default()
    }
}

/// A canvas: Begin, then these nodes one after the other, each `(id, component, parameters)`.
pub fn canvas(nodes: &[(&str, &str, Json)]) -> Json {
    let begin = ("begin", "Begin", json!({"prologue": "Hello!"}));
    let all: Vec<_> = std::iter::once(&begin).chain(nodes).collect();
    let mut components = serde_json::Map::new();
    for (at, (id, component, params)) in all.iter().enumerate() {
        let next = all.get(at + 1).map(|(next, ..)| *next);
        let before = at.checked_sub(1).map(|at| all[at].0);
        let entry = json!({
            "obj": {"component_name": component, "params": params},
            "downstream": Vec::from_iter(next),
            "upstream": Vec::from_iter(before),
        });
        components.insert((*id).to_owned(), entry);
    }
    json!({"components": components})
}

/// Says what it is told.
pub fn echo() -> Json {
    canvas(&[(
        "Message:Echo",
        "Message",
        json!({"content": ["You said {sys.query}."]}),
    )])
}

/// Asks for a name and greets.
pub fn form() -> Json {
    let form = json!({
        "enable_tips": true,
        "tips": "Who are you?",
        "inputs": {"name": {"name": "Name", "type": "line", "optional": false}},
    });
    let greeting = json!({"content": ["Hello {UserFillUp:Ask@name}."]});
    canvas(&[
        ("UserFillUp:Ask", "UserFillUp", form),
        ("Message:Greet", "Message", greeting),
    ])
}

/// A model whose text is shown as it arrives.
pub fn model() -> Json {
    let agent = json!({"llm_id": "gpt@openai", "sys_prompt": "Answer.", "prompts": [{"role": "user", "content": "{sys.query}"}]});
    canvas(&[
        ("Agent:Answer", "Agent", agent),
        (
            "Message:Say",
            "Message",
            json!({"content": ["{Agent:Answer@content}"]}),
        ),
    ])
}
