//! Servers on this machine that behave, and some that don't.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Response, StatusCode};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server and the requests it got.
#[derive(Clone)]
pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    /// Answers every request by `answer`, which gets it as `{method, uri, headers, body}`.
    pub async fn start(
        answer: impl Fn(&Value) -> Response<Body> + Clone + Send + Sync + 'static,
    ) -> Server {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let app = Router::new().fallback(move |request: Request| async move {
            let request = described(request).await;
            log.lock().unwrap().push(request.clone());
            answer(&request)
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Server { address, seen }
    }

    /// Answers every request with itself.
    pub async fn echo() -> Server {
        Server::start(|request| Response::new(Body::from(request.to_string()))).await
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Value> {
        self.seen.lock().unwrap().clone()
    }
}

async fn described(request: Request) -> Value {
    let (head, body) = request.into_parts();
    let headers: Map<String, Value> = head
        .headers
        .iter()
        .map(|(name, value)| {
            (
                name.to_string(),
                json!(String::from_utf8_lossy(value.as_bytes())),
            )
        })
        .collect();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    json!({
        "method": head.method.as_str(),
        "uri": head.uri.to_string(),
        "headers": headers,
        "body": String::from_utf8_lossy(&body),
    })
}

/// A response with one header.
pub fn respond(status: u16, header: (&str, &str), body: impl Into<Body>) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header(header.0, header.1)
        .body(body.into())
        .unwrap()
}

/// A server that reads a request and then does with the connection what it likes.
pub async fn raw<F>(behave: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            tokio::spawn(behave(stream));
        }
    });
    address
}

/// A raw server that writes this and closes.
pub async fn writes(answer: &'static str) -> SocketAddr {
    raw(move |mut stream| async move {
        let _ = stream.write_all(answer.as_bytes()).await;
    })
    .await
}
