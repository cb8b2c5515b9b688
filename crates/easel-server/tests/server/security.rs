//! Who gets nothing: strangers, others, and those who send what nobody should.

use std::sync::Arc;
use std::time::Duration;

use easel_store::{MemoryOf, NewExchange};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::Client;
use super::openapi::description;
use super::support::{Setup, TestServer, form};

/// What must be in no answer to a stranger.
const PRIVATE: &str = "private-marker-9381";

/// Somebody's things on a server: one of each kind.
struct Things {
    server: TestServer,
    owner: Client,
    ids: Vec<(&'static str, String)>,
    key: String,
}

impl Things {
    async fn of_ada() -> Things {
        let server = TestServer::start().await;
        let key = server.key("ada", &["read", "run", "write"]).await;
        let owner = Client::with_key(&server, &key);
        let agent = server.agent("ada", PRIVATE, &form()).await;
        let graph =
            format!("name: adas-graph\nnodes:\n  - {{id: a, kind: output, value: {PRIVATE}}}\n");
        let (status, made) = owner
            .send(Method::POST, "/v1/workflows", "application/yaml", graph)
            .await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let (_, session) = owner
            .post(&format!("/v1/agents/{agent}/sessions"), &json!({}))
            .await;
        let session = session["id"].as_str().unwrap().to_owned();
        let body = json!({"query": PRIVATE, "wait": true});
        let (status, run) = owner
            .post(&format!("/v1/sessions/{session}/messages"), &body)
            .await;
        assert_eq!(status, StatusCode::OK, "{run}");
        let run = run["id"].as_str().unwrap().to_owned();
        let file = easel_store::NewFile {
            owner: "ada".to_owned(),
            name: format!("{PRIVATE}.txt"),
            mime: "text/plain".to_owned(),
            session: None,
        };
        let file = server
            .store
            .put_file(file, PRIVATE.into(), 1_000)
            .await
            .unwrap();
        server.store.publish(&agent, PRIVATE).await.unwrap();
        let version = server.store.versions(&agent).await.unwrap()[0]
            .id
            .to_string();
        let keys = server.store.keys(Some("ada")).await.unwrap();
        let memory = remembered(&server, &agent).await;
        let ids = vec![
            ("/v1/runs/{id}", run.clone()),
            ("/api/v1/tasks/{id}", run),
            ("/v1/sessions/{id}", session.clone()),
            ("/v1/keys/{id}", keys[0].id.to_string()),
            ("/v1/memories/{id}", memory),
            ("/v1/workflows/{name}", "adas-graph".to_owned()),
            ("{session}", session),
            ("{version}", version),
            ("{file}", file.id.to_string()),
            ("{node}", "begin".to_owned()),
            ("{component}", "begin".to_owned()),
            ("{id}", agent),
        ];
        Things {
            server,
            owner,
            ids,
            key,
        }
    }

    /// A path of the description with the owner's ids in it.
    fn path(&self, path: &str) -> String {
        let mut path = path.to_owned();
        for (place, id) in &self.ids {
            let name = &place[place.find('{').unwrap()..];
            if path.contains(place) {
                path = path.replace(place, &place.replace(name, id));
            }
        }
        let mut rest = String::new();
        for (at, part) in path.split('{').enumerate() {
            match at {
                0 => rest += part,
                _ => {
                    rest += "x";
                    rest += part.split_once('}').unwrap().1;
                }
            }
        }
        rest
    }

    /// Every operation that needs a key: method, path as it is described, path with ids.
    async fn operations(&self) -> Vec<(Method, String, String)> {
        let (described, all) = description(&self.server).await;
        let closed = all.into_iter().filter(|(method, path)| {
            let security = described["paths"][path][method]["security"].as_array();
            security.is_some_and(|some| !some.is_empty())
        });
        closed
            .map(|(method, path)| {
                let method = method.to_uppercase().parse().unwrap();
                let filled = self.path(&path);
                (method, path, filled)
            })
            .collect()
    }

    /// Everything of hers is as it was.
    async fn are_untouched(&self) {
        for (place, id) in &self.ids {
            match *place {
                "/v1/runs/{id}" => {
                    let run = self.server.store.run(id).await.unwrap().unwrap();
                    assert_eq!(run.standing.name(), "waiting");
                }
                "/v1/sessions/{id}" => {
                    let session = self.server.store.session(id).await.unwrap().unwrap();
                    assert_eq!(session.entries, 1, "nobody spoke in it");
                }
                "{id}" => {
                    let agent = self.server.store.agent(id).await.unwrap().unwrap();
                    assert_eq!(&*agent.title, PRIVATE);
                    let versions = self.server.store.versions(id).await.unwrap();
                    assert_eq!(versions.len(), 1);
                }
                "/v1/memories/{id}" => {
                    assert!(self.server.store.exchange(id).await.unwrap().is_some());
                }
                "{file}" => assert!(self.server.store.file(id).await.unwrap().is_some()),
                "/v1/workflows/{name}" => {
                    let (status, _) = self.owner.get(&format!("/v1/workflows/{id}")).await;
                    assert_eq!(status, StatusCode::OK);
                }
                _ => {}
            }
        }
        let runs = easel_store::RunFilter {
            owners: vec!["ada".to_owned()],
            ..Default::default()
        };
        let runs = self.server.store.runs(&runs).await.unwrap();
        assert_eq!(runs.items.len(), 1, "nothing of hers was run");
    }
}

/// An exchange that ada's agent remembers.
async fn remembered(server: &TestServer, agent: &str) -> String {
    let whose = MemoryOf {
        owner: "ada".to_owned(),
        agent: agent.to_owned(),
        user: PRIVATE.to_owned(),
        memory: "facts".to_owned(),
        ..MemoryOf::default()
    };
    let exchange = NewExchange {
        user_input: PRIVATE.to_owned(),
        ..NewExchange::default()
    };
    server
        .store
        .remember(whose.clone(), exchange)
        .await
        .unwrap();
    server.store.memory(&whose).await.unwrap()[0].id.to_string()
}

/// Asks with a body that would do for most routes.
async fn ask(client: &Client, method: &Method, path: &str) -> (StatusCode, String) {
    let request = client.request(method.clone(), path);
    let request = match *method {
        Method::GET | Method::HEAD => request,
        _ => request
            .header("content-type", "application/json")
            .body(r#"{"query": "x", "wait": false}"#),
    };
    let response = request
        .timeout(Duration::from_secs(20))
        .send()
        .await
        .unwrap();
    let status = response.status();
    (status, response.text().await.unwrap_or_default())
}

/// Whether an answer gives nothing: by its status, by the code that clients of the old API look at, or as that API says that
/// there is nothing.
fn refuses(status: StatusCode, body: &str) -> bool {
    let json: Json = serde_json::from_str(body).unwrap_or_default();
    let nothing = json["data"] == json!({}) || json["data"] == json!([]);
    let refused = json["code"].as_i64().is_some_and(|code| code != 0);
    status.is_client_error() || refused || nothing
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_key_or_a_revoked_one_gets_nothing_from_any_route() {
    let things = Things::of_ada().await;
    let revoked = things
        .server
        .key("ada", &["read", "run", "write", "admin"])
        .await;
    for key in things.server.store.keys(Some("ada")).await.unwrap() {
        if things.server.store.keys(None).await.unwrap().last() == Some(&key) {
            things.server.store.revoke_key(&key.id).await.unwrap();
        }
    }
    let local = format!("{}x", things.key);
    let strangers = [
        ("no key", Client::of(&things.server)),
        ("a revoked key", Client::with_key(&things.server, &revoked)),
        (
            "a key that is none",
            Client::with_key(&things.server, "easel_nope"),
        ),
        (
            "a key with a letter more",
            Client::with_key(&things.server, &local),
        ),
    ];
    let operations = things.operations().await;
    assert!(operations.len() > 20);
    for (method, path, filled) in &operations {
        for (who, stranger) in &strangers {
            let (status, body) = ask(stranger, method, filled).await;
            assert_eq!(
                status,
                StatusCode::UNAUTHORIZED,
                "{who}: {method} {path}: {body}"
            );
            assert!(!body.contains(PRIVATE), "{who}: {method} {path}: {body}");
        }
    }
    things.are_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_a_key_without_the_scope_gets_nothing_from_any_route() {
    let things = Things::of_ada().await;
    let none = things.server.key("ada", &[]).await;
    let none = Client::with_key(&things.server, &none);
    for (method, path, filled) in things.operations().await {
        if path == "/mcp" {
            continue;
        }
        let (status, body) = ask(&none, &method, &filled).await;
        assert!(refuses(status, &body), "{method} {path}: {status} {body}");
        assert!(!body.contains(PRIVATE), "{method} {path}: {body}");
    }
    things.are_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_another_gets_nothing_of_hers_from_any_route() {
    let things = Things::of_ada().await;
    let eve = things.server.key("eve", &["read", "run", "write"]).await;
    let eve = Client::with_key(&things.server, &eve);
    for (method, path, filled) in things.operations().await {
        let (status, body) = ask(&eve, &method, &filled).await;
        assert!(
            !status.is_server_error(),
            "{method} {path}: {status} {body}"
        );
        assert!(!body.contains(PRIVATE), "{method} {path}: {body}");
        if path.contains('{') {
            assert!(refuses(status, &body), "{method} {path}: {status} {body}");
        }
    }
    things.are_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn she_herself_gets_them() {
    let things = Things::of_ada().await;
    let mut seen = 0;
    for (method, path, filled) in things.operations().await {
        if method != Method::GET || !path.starts_with("/v1/runs/{id}") {
            continue;
        }
        let request = things.owner.request(method, &filled);
        let request = request.header("accept", "application/json");
        let status = request.send().await.unwrap().status();
        assert_eq!(status, StatusCode::OK, "{path}");
        seen += 1;
    }
    assert!(seen >= 7, "the tests above mean something");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_ids_and_paths_lead_nowhere() {
    let things = Things::of_ada().await;
    let long = "x".repeat(5_000);
    let odd = [
        "..%2F..%2Fetc%2Fpasswd",
        "%2Fetc%2Fpasswd",
        "..%5C..%5Cwindows",
        "%2e%2e",
        "%00",
        "a%00b",
        "%0d%0aX-Evil:%201",
        "%FF%FE",
        "'%20OR%201=1%20--",
        "%25",
        "\u{202e}abc",
        "{id}",
        "*",
        &long,
    ];
    for (method, path, _) in things.operations().await {
        if !path.contains('{') {
            continue;
        }
        for id in odd {
            let mut filled = String::new();
            for (at, part) in path.split('{').enumerate() {
                match at {
                    0 => filled += part,
                    _ => filled = filled + id + part.split_once('}').unwrap().1,
                }
            }
            let (status, body) = ask(&things.owner, &method, &filled).await;
            assert!(refuses(status, &body), "{method} {filled}: {status} {body}");
            assert!(!body.contains("root:"), "{method} {filled}");
        }
    }
    things.are_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_that_leads_out_of_itself_is_refused() {
    let things = Things::of_ada().await;
    for name in [
        "../evil.py",
        "/etc/evil.py",
        "a/../../evil.py",
        "C:\\evil.py",
        "a\0b.py",
    ] {
        let body = json!({"name": "evil", "graph": {"nodes": []}, "files": {name: "x = 1"}});
        let (status, refused) = things.owner.post("/v1/workflows", &body).await;
        assert_eq!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{name}: {refused}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_too_large_or_too_deep_are_refused() {
    let mut setup = Setup::default();
    setup.settings.body_limit = 64 << 10;
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::set_up(folder, json!({"llm": {}}), setup).await;
    let client = Client::of(&server);
    let large = json!({"query": "x".repeat(100 << 10)});
    for path in [
        "/v1/agents/x/runs",
        "/v1/sessions/x/messages",
        "/v1/keys",
        "/v1/workflows",
    ] {
        let (status, refused) = client.post(path, &large).await;
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{path}: {refused}");
    }
    // Without saying how long it is.
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(0x1000));
    let head = "POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    let answer = raw(&server, format!("{head}{}", chunk.repeat(17)).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    let deep = format!("{{\"name\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for path in ["/v1/keys", "/v1/workflows/validate"] {
        let (status, refused) = client
            .send(Method::POST, path, "application/json", deep.clone())
            .await;
        assert!(status.is_client_error(), "{path}: {status} {refused}");
    }
}

/// Sends bytes as they are, and gives what comes back until the server closes the connection.
async fn raw(server: &TestServer, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let read = tokio::time::timeout(Duration::from_secs(20), read).await;
    assert!(read.is_ok(), "the server holds the connection");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_dawdles_is_cut_off() {
    let mut setup = Setup::default();
    setup.settings.body_time = Duration::from_millis(300);
    setup.settings.head_time = Duration::from_millis(300);
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::set_up(folder, json!({"llm": {}}), setup).await;
    let head = "POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let answer = raw(
        &server,
        format!("{head}Content-Length: 100\r\n\r\n{{").as_bytes(),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("slow_body"), "{answer}");
    // A head that never ends.
    let answer = raw(&server, head.as_bytes()).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 408"),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_headers_are_refused() {
    let server = TestServer::start().await;
    let head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    let many: String = (0..500).map(|n| format!("X-{n}: y\r\n")).collect();
    let answer = raw(&server, format!("{head}{many}\r\n").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    let long = format!("{head}X-Long: {}\r\n\r\n", "y".repeat(1 << 20));
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    // The server may hang up while this is written.
    let _ = stream.write_all(long.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
        "{answer}"
    );
    let (status, _) = Client::of(&server).get("/healthz").await;
    assert_eq!(status, StatusCode::OK, "it serves on");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_headers_do_no_harm() {
    let things = Things::of_ada().await;
    let run = &things.ids[0].1;
    for (name, value) in [
        ("last-event-id", "\u{e9}"),
        ("last-event-id", "99999999999999999999.0"),
        ("last-event-id", "-1.0"),
        ("authorization", "Bearer"),
        ("authorization", "Basic YTpi"),
        ("traceparent", "<script>"),
        ("accept", "\u{e9}"),
    ] {
        let request = things
            .owner
            .request(Method::GET, &format!("/v1/runs/{run}/events"));
        let value = reqwest::header::HeaderValue::from_bytes(value.as_bytes()).unwrap();
        let response = request.header(name, value).send().await.unwrap();
        let status = response.status();
        assert!(!status.is_server_error(), "{name}: {status}");
        let text = response.text().await.unwrap();
        assert!(
            status != StatusCode::OK || text.contains("event: end"),
            "{name}"
        );
    }
}
