//! Files that go with messages.

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value as Json, json};

use super::{Client, text};
use crate::support::{TestServer, canvas, echo};

/// Tells what it was sent.
fn reader() -> Json {
    canvas(&[(
        "Message:Read",
        "Message",
        json!({"content": ["Read: {sys.files}"]}),
    )])
}

/// A form with files, as browsers send one.
pub async fn upload(client: &Client<'_>, agent: &str, files: &[(&str, &str, &[u8])]) -> Json {
    let boundary = "------------------------7d0c";
    let mut body = Vec::new();
    for (name, kind, bytes) in files {
        body.extend_from_slice(
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: {kind}\r\n\r\n"
            )
            .as_bytes(),
        );
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let request = client.request(Method::POST, &format!("/agents/{agent}/upload"));
    let request = request.header(
        "content-type",
        format!("multipart/form-data; boundary={boundary}"),
    );
    let response = request.body(body).send().await.unwrap();
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

pub async fn fetch(client: &Client<'_>, path: &str) -> (HeaderMap, Vec<u8>) {
    let response = client.request(Method::GET, path).send().await.unwrap();
    (
        response.headers().clone(),
        response.bytes().await.unwrap().to_vec(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_sent_asked_about_and_fetched_again() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Reader", &reader()).await;
    let sent = upload(&ada, &agent, &[("../notes.txt", "text/plain", b"hello")]).await;
    let file = sent["data"].clone();
    assert_eq!(file["name"], "notes.txt", "{sent}");
    assert_eq!(
        (file["size"].clone(), file["extension"].clone()),
        (json!(5), json!("txt"))
    );
    assert_eq!(file["created_by"], "ada");
    let said = ada
        .ask(json!({"agent_id": agent, "query": "read", "files": [file]}))
        .await;
    assert!(
        text(&said["data"]["data"]["content"]).contains("hello"),
        "{said}"
    );
    // What a client says of a file is not believed.
    let id = text(&file["id"]);
    let forged = json!({"id": id, "name": "x", "mime_type": "image/png", "created_by": "eve"});
    let said = ada
        .ask(json!({"agent_id": agent, "query": "read", "files": [forged]}))
        .await;
    assert!(
        text(&said["data"]["data"]["content"]).contains("hello"),
        "{said}"
    );

    let (headers, bytes) = fetch(&ada, &format!("/agents/download?id={id}")).await;
    assert_eq!(bytes, b"hello");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert_eq!(
        headers["content-disposition"],
        "attachment; filename*=UTF-8''notes.txt"
    );
    assert_eq!(headers["content-type"], "application/octet-stream");
    let (headers, _) = fetch(&ada, &text(&file["preview_url"]).replace("/api/v1", "")).await;
    assert_eq!(headers["content-type"], "text/plain");
    let path = format!(
        "/agents/attachments/{id}/download?filename=a%22b&mime_type=text/html&disposition=inline"
    );
    let (headers, _) = fetch(&ada, &path).await;
    assert_eq!(
        headers["content-disposition"],
        "attachment; filename*=UTF-8''a%22b"
    );
    assert_eq!(headers["content-type"], "application/octet-stream");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_files_are_a_list_and_what_could_run_is_only_downloaded() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Reader", &reader()).await;
    let page = b"<script>alert(1)</script>";
    let files: [(&str, &str, &[u8]); 2] = [
        ("a.html", "text/html", page),
        ("b.svg", "image/svg+xml", b"<svg/>"),
    ];
    let sent = upload(&ada, &agent, &files).await;
    let sent = sent["data"].as_array().unwrap();
    for file in sent {
        let (headers, _) = fetch(&ada, &text(&file["preview_url"]).replace("/api/v1", "")).await;
        assert_eq!(
            headers["content-type"], "application/octet-stream",
            "{file}"
        );
        assert!(
            headers["content-disposition"]
                .to_str()
                .unwrap()
                .starts_with("attachment")
        );
    }
    let none = ada
        .post(&format!("/agents/{agent}/upload"), json!({}))
        .await;
    assert_eq!(none["code"], 101, "{none}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_somebody_else_is_not_there() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let eve = Client::of(&server, "eve").await;
    let agent = ada.agent("Reader", &reader()).await;
    let file =
        upload(&ada, &agent, &[("a.txt", "text/plain", b"secret plan")]).await["data"].clone();
    let id = text(&file["id"]);
    assert_eq!(
        upload(&eve, &agent, &[("a.txt", "text/plain", b"x")]).await["code"],
        103
    );
    for path in [
        format!("/agents/download?id={id}"),
        format!("/agents/attachments/{id}/download"),
        format!("/agents/attachments/{id}/preview"),
    ] {
        assert_eq!(eve.get(&path).await["message"], "File not found!", "{path}");
    }
    let own = eve.agent("Reader", &reader()).await;
    let field = json!({"f": {"type": "file", "value": [file.clone()]}});
    for body in [
        json!({"agent_id": own, "query": "x", "files": [file]}),
        json!({"agent_id": own, "query": "x", "inputs": field}),
        json!({"agent_id": own, "query": {"f": [{"id": id, "created_by": "ada"}]}}),
    ] {
        let refused = eve.ask(body.clone()).await;
        assert_ne!(refused["code"], 0, "{body}: {refused}");
        assert!(!refused.to_string().contains("secret plan"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_fetched_from_elsewhere_through_the_guard() {
    let world =
        json!({"llm": {}, "http": [{"match": {"contains": "files.example"}, "text": "from afar"}]});
    let server = TestServer::with_world(world).await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Echo", &echo()).await;
    let path = |url: &str| format!("/agents/{agent}/upload?url={url}");
    let fetched = ada
        .post(&path("https://files.example/a%2520b.txt"), Json::Null)
        .await;
    assert_eq!(fetched["data"]["name"], "a b.txt", "{fetched}");
    let (_, bytes) = fetch(
        &ada,
        &format!("/agents/download?id={}", text(&fetched["data"]["id"])),
    )
    .await;
    assert_eq!(bytes, b"from afar");
    // Each of these is this machine.
    for url in [
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://localhost:9380/",
        "http://0x7f.1/",
        "file:///etc/passwd",
    ] {
        let refused = ada.post(&path(url), Json::Null).await;
        assert_eq!(refused["code"], 102, "{url}: {refused}");
    }
}
