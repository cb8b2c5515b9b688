//! An MCP client of few words, in the revisions that matter.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{self, Next};
use easel_server::mcp::{self, Options};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::fake::{Fake, User};

/// A server of made-up agents. Who asks is said in a header.
pub struct Server {
    pub agents: Arc<Fake>,
    pub url: String,
    pub options: Options,
}

impl Server {
    pub async fn new() -> Server {
        Server::with(Options::default()).await
    }

    pub async fn with(options: Options) -> Server {
        let agents = Arc::new(Fake::default());
        let known = middleware::from_fn(|mut request: Request, next: Next| {
            let user = request
                .headers()
                .get("x-user")
                .map(|user| user.to_str().unwrap().to_owned());
            if let Some(user) = user {
                request.extensions_mut().insert(User(user));
            }
            next.run(request)
        });
        let router = mcp::router(agents.clone(), &options).layer(known);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Server {
            agents,
            url,
            options,
        }
    }

    /// A client that speaks 2026-07-28, with these capabilities.
    pub fn modern(&self, user: &str, can: Value) -> Client {
        Client::new(&self.url, ("x-user", user.to_owned()), Some(can))
    }

    /// A client of the revision before, with a session.
    pub async fn session(&self, user: &str, can: Value) -> Client {
        Client::session(&self.url, ("x-user", user.to_owned()), can).await
    }
}

#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    /// By what the server knows it: a header.
    known: (&'static str, String),
    /// What it can do, if it says so with every request.
    can: Option<Value>,
    pub session: Option<String>,
}

impl Client {
    /// A client; with `can` one that speaks 2026-07-28.
    pub fn new(url: &str, known: (&'static str, String), can: Option<Value>) -> Client {
        // Only for plain HTTP, but the client wants to know.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client {
            http: reqwest::Client::new(),
            url: url.to_owned(),
            known,
            can,
            session: None,
        }
    }

    /// A client of the revision before, with a session.
    pub async fn session(url: &str, known: (&'static str, String), can: Value) -> Client {
        let mut client = Client::new(url, known, None);
        let answer = client
            .post(json!({
                "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                    "protocolVersion": "2025-11-25",
                    "capabilities": can,
                    "clientInfo": {"name": "test", "version": "1"},
                },
            }))
            .await;
        let session = answer.headers().get("mcp-session-id").unwrap();
        client.session = Some(session.to_str().unwrap().to_owned());
        let answer = Stream::new(answer).last().await;
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "{answer}"
        );
        client.tell("notifications/initialized", json!({})).await;
        client
    }

    pub async fn post(&self, message: Value) -> reqwest::Response {
        self.post_with(message, &[]).await
    }

    pub async fn post_with(&self, message: Value, headers: &[(&str, &str)]) -> reqwest::Response {
        let mut request = self
            .http
            .post(&self.url)
            .header(self.known.0, &self.known.1)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        let version = match self.can {
            Some(_) => "2026-07-28",
            None => "2025-11-25",
        };
        request = request.header("mcp-protocol-version", version);
        if self.can.is_some() {
            let name = &message["params"]["name"];
            let name = name.as_str().or(message["params"]["taskId"].as_str());
            request = request.header("mcp-method", message["method"].as_str().unwrap());
            request = request.header("mcp-name", name.unwrap_or_default());
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(message.to_string()).send().await.unwrap()
    }

    /// The stream of a session that belongs to no request.
    pub async fn listen(&self) -> reqwest::Response {
        let request = self
            .http
            .get(&self.url)
            .header(self.known.0, &self.known.1)
            .header("accept", "text/event-stream")
            .header("mcp-session-id", self.session.as_ref().unwrap());
        request.send().await.unwrap()
    }

    /// A request, and what comes back.
    pub async fn ask(&self, method: &str, params: Value) -> Stream {
        Stream::new(self.post(self.request(method, params)).await)
    }

    pub fn request(&self, method: &str, mut params: Value) -> Value {
        if let Some(can) = &self.can {
            let meta = params
                .as_object_mut()
                .unwrap()
                .entry("_meta")
                .or_insert(json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = can.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
        }
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    }

    /// The result of a request that has one.
    pub async fn result(&self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await.last().await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    /// The error of a request that has one.
    pub async fn error(&self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await.last().await;
        assert!(answer.get("result").is_none(), "{answer}");
        answer["error"].take()
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// A notification.
    pub async fn tell(&self, method: &str, params: Value) {
        let told = self
            .post(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
        assert_eq!(told.status(), 202);
    }
}

/// The messages of a response, one by one.
pub struct Stream {
    response: reqwest::Response,
    buffer: String,
    streams: bool,
}

impl Stream {
    pub fn new(response: reqwest::Response) -> Stream {
        let kind = response.headers().get("content-type");
        let streams =
            kind.is_some_and(|kind| kind.to_str().unwrap().starts_with("text/event-stream"));
        Stream {
            response,
            buffer: String::new(),
            streams,
        }
    }

    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if self.streams
                && let Some((event, rest)) = self.buffer.split_once("\n\n")
            {
                let data = event.lines().filter_map(|line| line.strip_prefix("data:"));
                let data = data.collect::<Vec<_>>().join("\n");
                self.buffer = rest.to_owned();
                if !data.trim().is_empty() {
                    return Some(serde_json::from_str(&data).unwrap());
                }
                continue;
            }
            let chunk = tokio::time::timeout(Duration::from_secs(10), self.response.chunk());
            match chunk.await.expect("the server says nothing").unwrap() {
                Some(chunk) => self.buffer += std::str::from_utf8(&chunk).unwrap(),
                None if self.streams => return None,
                None => {
                    self.streams = true;
                    return Some(serde_json::from_str(&self.buffer).unwrap());
                }
            }
        }
    }

    /// All messages.
    pub async fn all(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(message) = self.next().await {
            all.push(message);
        }
        all
    }

    /// The last message: the answer.
    pub async fn last(self) -> Value {
        self.all().await.pop().expect("an answer")
    }
}

/// Waits until something is so.
pub async fn until(what: &str, so: impl Fn() -> bool) {
    for _ in 0..500 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}
