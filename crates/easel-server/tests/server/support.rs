//! A server for tests: over a folder of its own, with models and tools that answer from a script.

use std::net::SocketAddr;
use std::sync::Arc;

use easel_runtime::{Engine, Journal, Origin, ScriptedWorld};
use easel_server::files::StoredFiles;
use easel_server::host::{Host, HostLimits};
use easel_server::{App, Settings, router, serve};
use easel_store::{Dialect, Location, NewAgent, NewKey, NewSession, Store};
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A server that runs, and its folder.
pub struct TestServer {
    pub folder: Arc<tempfile::TempDir>,
    pub store: Store,
    pub app: Arc<App>,
    pub address: SocketAddr,
    /// What its models and tools were asked.
    pub script: Arc<ScriptedWorld>,
    world: Json,
    stop: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<usize>>,
}

impl TestServer {
    /// A server whose models say `"ok"`.
    pub async fn start() -> TestServer {
        TestServer::with_world(json!({"llm": {}, "default_reply": "ok"})).await
    }

    /// A server whose models and tools answer as the script says (the form of `--world`).
    pub async fn with_world(world: Json) -> TestServer {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        TestServer::over(folder, world).await
    }

    /// A server over a folder that may hold something already.
    pub async fn over(folder: Arc<tempfile::TempDir>, world: Json) -> TestServer {
        let store = Store::open(&Location::Folder(folder.path().to_owned())).await;
        let store = store.unwrap();
        let script = Arc::new(ScriptedWorld::read(world.clone(), || {}).unwrap());
        let engine = Engine::builder()
            .model(script.model())
            .world(StoredFiles::of(&store, script.tools()))
            .journal(Arc::new(store.clone()))
            .build()
            .unwrap();
        let host = Host::new(store.clone(), engine, HostLimits::default());
        let app = App::new(host, Settings::default());
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
            folder,
            store,
            app,
            address,
            script,
            world,
            stop: Some(stop),
            served: Some(served),
        }
    }

    /// Stops it and starts another one over the same folder.
    pub async fn restart(mut self) -> TestServer {
        drop(self.stop.take());
        self.served.take().unwrap().await.unwrap();
        self.store.close().await;
        TestServer::over(self.folder.clone(), self.world.clone()).await
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

    /// What the journal has of a run.
    pub async fn journal(&self, run: &str) -> usize {
        self.store.read(run).await.unwrap().len()
    }
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
