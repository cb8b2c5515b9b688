//! What a client of the API sends, and what it gets.

use reqwest::{Method, Response, StatusCode};
use serde_json::Value as Json;

use super::support::TestServer;

/// Somebody who calls the server, with a key or without.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
}

impl Client {
    /// Somebody without a key.
    pub fn of(server: &TestServer) -> Client {
        Client::at(&server.url(""))
    }

    /// Somebody who calls a server by its address.
    pub fn at(base: &str) -> Client {
        // Building a client looks for a crypto provider, also for plain HTTP.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client {
            http: reqwest::Client::new(),
            base: base.to_owned(),
            key: None,
        }
    }

    /// Somebody with a key.
    pub fn with_key(server: &TestServer, key: &str) -> Client {
        Client {
            key: Some(key.to_owned()),
            ..Client::of(server)
        }
    }

    /// A request in the making.
    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// What a request without a body gets.
    pub async fn ask(&self, method: Method, path: &str) -> (StatusCode, Json) {
        read(self.request(method, path).send().await.unwrap()).await
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Json) {
        self.ask(Method::GET, path).await
    }

    pub async fn delete(&self, path: &str) -> (StatusCode, Json) {
        self.ask(Method::DELETE, path).await
    }

    pub async fn post(&self, path: &str, body: &Json) -> (StatusCode, Json) {
        self.send(Method::POST, path, "application/json", body.to_string())
            .await
    }

    pub async fn put(&self, path: &str, body: &Json) -> (StatusCode, Json) {
        self.send(Method::PUT, path, "application/json", body.to_string())
            .await
    }

    /// What a request with a body gets.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        media: &str,
        body: impl Into<reqwest::Body>,
    ) -> (StatusCode, Json) {
        let request = self.request(method, path).header("content-type", media);
        read(request.body(body).send().await.unwrap()).await
    }

    /// The events of a run from an id on, until the stream ends.
    pub async fn watch(&self, run: &str, after: Option<&str>) -> Vec<Seen> {
        let mut stream = self.stream(run, after).await;
        let mut all = Vec::new();
        while let Some(seen) = stream.next().await {
            all.push(seen);
        }
        all
    }

    /// The same, one by one.
    pub async fn stream(&self, run: &str, after: Option<&str>) -> Stream {
        let mut request = self.request(Method::GET, &format!("/v1/runs/{run}/events"));
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{:?}", response.text().await);
        Stream {
            response,
            text: Vec::new(),
        }
    }
}

/// The status of an answer, and its body.
pub async fn read(response: Response) -> (StatusCode, Json) {
    let status = response.status();
    let bytes = response.bytes().await.unwrap();
    let json = serde_json::from_slice(&bytes);
    let text = || Json::from(String::from_utf8_lossy(&bytes).into_owned());
    (status, json.unwrap_or_else(|_| text()))
}

/// A server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub id: String,
    pub event: String,
    pub data: Json,
}

/// A stream of them.
pub struct Stream {
    response: Response,
    text: Vec<u8>,
}

impl Stream {
    /// The next one; `None` once the server has closed the stream, or is gone.
    pub async fn next(&mut self) -> Option<Seen> {
        loop {
            while let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
                let frame: Vec<u8> = self.text.drain(..end + 2).collect();
                if let Some(seen) = parse(&String::from_utf8(frame).unwrap()) {
                    return Some(seen);
                }
            }
            let chunk = self.response.chunk().await.ok()??;
            self.text.extend_from_slice(&chunk);
        }
    }
}

fn parse(frame: &str) -> Option<Seen> {
    let field = |name: &str| {
        let mut lines = frame.lines();
        let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.trim_start().to_owned())
    };
    Some(Seen {
        data: serde_json::from_str(&field("data")?).unwrap(),
        id: field("id").unwrap_or_default(),
        event: field("event").unwrap_or_default(),
    })
}

/// What the messages of some events say.
pub fn said(events: &[Seen]) -> String {
    let mut said = String::new();
    for seen in events {
        match &*seen.event {
            "message" => said += seen.data["content"].as_str().unwrap(),
            "message_reset" => said.clear(),
            _ => {}
        }
    }
    said
}
