//! Files that agents make and read.

use easel_documents::{Limits, write_workbook};
use easel_runtime::Value;
use easel_runtime::tools::documents::Sheet;
use serde_json::{Value as Json, json};

use super::files::{fetch, upload};
use super::{Client, text};
use crate::support::{TestServer, canvas};

/// Makes a document of what it is told and offers it.
fn writer() -> Json {
    let params = json!({"content": "# Report\n\n{sys.query}", "output_format": "docx", "filename": "Report: 1",
        "include_download_info_in_content": true});
    canvas(&[
        ("DocGenerator:Doc", "DocGenerator", params),
        (
            "Message:Out",
            "Message",
            json!({"content": ["{DocGenerator:Doc@download}"]}),
        ),
    ])
}

/// The description of the file that an answer tells.
fn told(said: &Json) -> Json {
    serde_json::from_str(&text(&said["data"]["data"]["content"])).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_fetched_by_its_owner_and_by_nobody_else() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let eve = Client::of(&server, "eve").await;
    let agent = ada.agent("Writer", &writer()).await;
    let said = ada
        .ask(json!({"agent_id": agent, "query": "Sales rose."}))
        .await;
    let file = told(&said);
    assert_eq!(file["filename"], "Report 1.docx", "{said}");
    assert!(file.get("base64").is_none());
    let url = text(&file["url"]).replace("/api/v1", "");
    let (headers, bytes) = fetch(&ada, &url).await;
    assert!(bytes.starts_with(b"PK"));
    assert_eq!(json!(bytes.len()), file["size"]);
    assert_eq!(
        headers["content-disposition"],
        "attachment; filename*=UTF-8''Report%201.docx"
    );
    let by_id = format!("/agents/download?id={}", text(&file["doc_id"]));
    assert_eq!(fetch(&ada, &by_id).await.1, bytes);
    for path in [&url, &by_id] {
        let (_, refused) = fetch(&eve, path).await;
        let refused: Json = serde_json::from_slice(&refused).unwrap();
        assert_eq!(refused["message"], "File not found!");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_goes_with_its_conversation() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Writer", &writer()).await;
    let session = ada.session(&agent).await;
    let said = ada
        .ask(json!({"agent_id": agent, "session_id": session, "query": "x"}))
        .await;
    let id = text(&told(&said)["doc_id"]);
    assert!(server.store.file(&id).await.unwrap().is_some());
    assert!(server.store.delete_session(&session).await.unwrap());
    assert!(server.store.file(&id).await.unwrap().is_none());
}

fn workbook() -> Vec<u8> {
    let row = |cells: [Json; 2]| cells.into_iter().map(Value::from).collect();
    let sheet = Sheet {
        name: "Q1".into(),
        rows: vec![
            row([json!("region"), json!("lamps")]),
            row([json!("North"), json!(512)]),
        ],
    };
    write_workbook(&[sheet], &Limits::default()).unwrap()
}

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Reads the workbooks it is sent.
fn reader() -> Json {
    canvas(&[
        (
            "ExcelProcessor:E",
            "ExcelProcessor",
            json!({"input_files": ["sys.files", "sys.query"]}),
        ),
        (
            "Message:Out",
            "Message",
            json!({"content": ["{ExcelProcessor:E@data} {ExcelProcessor:E@summary} {sys.files}"]}),
        ),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workbook_that_is_sent_is_read_as_rows_and_as_text() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Reader", &reader()).await;
    let sent = upload(&ada, &agent, &[("sales.xlsx", XLSX, &workbook())]).await;
    let said = ada
        .ask(json!({"agent_id": agent, "query": "read", "files": [sent["data"]]}))
        .await;
    let content = text(&said["data"]["data"]["content"]);
    assert!(
        content.contains(r#"{"sales": [{"region": "North", "lamps": 512}]}"#),
        "{said}"
    );
    assert!(content.contains("| North | 512 |"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workbook_in_a_form_is_read_though_the_form_has_its_text() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let mut reader = canvas(&[
        (
            "ExcelProcessor:E",
            "ExcelProcessor",
            json!({"input_files": ["begin@sheet"]}),
        ),
        (
            "Message:Out",
            "Message",
            json!({"content": ["{ExcelProcessor:E@data.sales.0.lamps} {begin@sheet.0}"]}),
        ),
    ]);
    reader["components"]["begin"]["obj"]["params"]["inputs"] =
        json!({"sheet": {"type": "file", "name": "Sheet"}});
    let agent = ada.agent("Reader", &reader).await;
    let sent = upload(&ada, &agent, &[("sales.xlsx", XLSX, &workbook())]).await;
    let inputs = json!({"sheet": {"type": "file", "value": sent["data"]}});
    let said = ada
        .ask(json!({"agent_id": agent, "query": "go", "inputs": inputs}))
        .await;
    let content = text(&said["data"]["data"]["content"]);
    assert!(content.starts_with("512 File: sales.xlsx"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_cannot_read_files_of_others_by_their_ids() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let eve = Client::of(&server, "eve").await;
    let agent = ada.agent("Reader", &reader()).await;
    let sent = upload(&ada, &agent, &[("secret.xlsx", XLSX, &workbook())]).await;
    let id = text(&sent["data"]["id"]);
    let spying = canvas(&[
        (
            "CodeExec:C",
            "StringTransform",
            json!({"method": "merge", "script": format!("{{\"doc_id\": \"{id}\", \"name\": \"secret.xlsx\"}}"), "delimiters": [","]}),
        ),
        (
            "ExcelProcessor:E",
            "ExcelProcessor",
            json!({"input_files": ["CodeExec:C@result"]}),
        ),
        (
            "Message:Out",
            "Message",
            json!({"content": ["{ExcelProcessor:E@summary}"]}),
        ),
    ]);
    for (client, reads) in [(&ada, true), (&eve, false)] {
        let agent = client.agent("Spy", &spying).await;
        let said = client.ask(json!({"agent_id": agent, "query": "go"})).await;
        let content = text(&said["data"]["data"]["content"]);
        match reads {
            true => assert_eq!(content, "**secret**: 1 rows, 2 columns (region, lamps)"),
            false => assert!(content.contains("There is no file"), "{said}"),
        }
    }
}
