//! RAGFlow's agent API as its clients use it.

mod agents;
mod completions;
mod debug;
mod files;
mod made_files;
mod ownership;
mod reports;
mod sdk;
mod sessions;

use reqwest::Method;
use serde_json::{Value as Json, json};

use super::support::TestServer;

/// Somebody with a key.
pub struct Client<'a> {
    server: &'a TestServer,
    http: reqwest::Client,
    key: Option<String>,
}

/// All that a key can be for, but the making of keys.
const ALL: [&str; 3] = ["read", "run", "write"];

impl<'a> Client<'a> {
    /// An owner with a key for everything.
    pub async fn of(server: &'a TestServer, owner: &str) -> Client<'a> {
        Client::with(server, Some(server.key(owner, &ALL).await))
    }

    /// Somebody with that key, or none.
    pub fn with(server: &'a TestServer, key: Option<String>) -> Client<'a> {
        // Whoever is first in the process says which.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client {
            server,
            http: reqwest::Client::new(),
            key,
        }
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let url = self.server.url(&format!("/api/v1{path}"));
        let request = self.http.request(method, url);
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// The status and the answer.
    pub async fn call(&self, method: Method, path: &str, body: Json) -> (u16, Json) {
        let request = self.request(method, path);
        let request = match body.is_null() {
            true => request,
            false => request.body(body.to_string()),
        };
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        let answer = serde_json::from_str(&text);
        (
            status,
            answer.unwrap_or_else(|error| panic!("{error}: {text}")),
        )
    }

    pub async fn get(&self, path: &str) -> Json {
        self.call(Method::GET, path, Json::Null).await.1
    }

    pub async fn post(&self, path: &str, body: Json) -> Json {
        self.call(Method::POST, path, body).await.1
    }

    pub async fn put(&self, path: &str, body: Json) -> Json {
        self.call(Method::PUT, path, body).await.1
    }

    pub async fn delete(&self, path: &str, body: Json) -> Json {
        self.call(Method::DELETE, path, body).await.1
    }

    /// Makes an agent; its id.
    pub async fn agent(&self, title: &str, canvas: &Json) -> String {
        let made = self
            .post("/agents", json!({"title": title, "dsl": canvas}))
            .await;
        assert_eq!(made["code"], 0, "{made}");
        text(&made["data"]["id"])
    }

    /// Opens a conversation; its id.
    pub async fn session(&self, agent: &str) -> String {
        let opened = self
            .post(&format!("/agents/{agent}/sessions"), json!({}))
            .await;
        assert_eq!(opened["code"], 0, "{opened}");
        text(&opened["data"]["id"])
    }

    /// Says something and waits for all of the answer.
    pub async fn ask(&self, body: Json) -> Json {
        self.post("/agents/chat/completions", body).await
    }

    /// Says something and gives the lines of the stream.
    pub async fn stream(&self, path: &str, body: Json) -> Stream {
        let request = self.request(Method::POST, path).body(body.to_string());
        let response = request.send().await.unwrap();
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert_eq!(kind, "text/event-stream; charset=utf-8");
        Stream::of(&response.text().await.unwrap())
    }

    pub async fn follow(&self, mut body: Json) -> Stream {
        body["stream"] = true.into();
        self.stream("/agents/chat/completions", body).await
    }
}

/// What a stream said.
#[derive(Debug)]
pub struct Stream {
    pub frames: Vec<Json>,
    /// Whether it said that it was over.
    pub done: bool,
}

impl Stream {
    fn of(text: &str) -> Stream {
        let mut frames = Vec::new();
        let mut done = false;
        for line in text.split("\n\n").filter(|line| !line.is_empty()) {
            assert!(!done, "nothing comes behind the end");
            // There is no blank behind the colon.
            let line = line
                .strip_prefix("data:")
                .unwrap_or_else(|| panic!("{line}"));
            match line {
                "[DONE]" => done = true,
                line => frames.push(serde_json::from_str(line).unwrap()),
            }
        }
        Stream { frames, done }
    }

    pub fn names(&self) -> Vec<&str> {
        let names = self
            .frames
            .iter()
            .map(|frame| frame["event"].as_str().unwrap_or("-"));
        names.collect()
    }

    pub fn named(&self, name: &str) -> Vec<&Json> {
        let named = self.frames.iter().filter(|frame| frame["event"] == name);
        named.collect()
    }

    pub fn said(&self) -> String {
        let pieces = self.named("message").into_iter();
        pieces
            .map(|frame| text(&frame["data"]["content"]))
            .collect()
    }
}

/// A text in an answer.
pub fn text(value: &Json) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
        .to_owned()
}
