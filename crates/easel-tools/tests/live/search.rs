//! What all providers of searches have in common: failures, limits, addresses and declarations of one's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use easel_tools::ToolError;
use easel_tools::live::{Declaration, LiveSearch, SearchConfig};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::asking::{answering, ask};
use crate::server::{Server, raw, respond};

/// A server that answers with these statuses in turn, the last one for ever.
async fn in_turn(statuses: &'static [u16]) -> Server {
    let count = Arc::new(AtomicUsize::new(0));
    Server::start(move |_| {
        let at = count.fetch_add(1, Ordering::SeqCst).min(statuses.len() - 1);
        respond(
            statuses[at],
            ("content-type", "application/json"),
            r#"{"items": [], "message": "busy"}"#,
        )
    })
    .await
}

#[tokio::test]
async fn a_provider_that_is_busy_is_asked_again() {
    let server = in_turn(&[429, 503, 200]).await;
    assert_eq!(
        ask("github_search", "x").at(&server).await.unwrap().len(),
        0
    );
    assert_eq!(server.seen().len(), 3);
    let server = in_turn(&[500]).await;
    let error = ask("github_search", "x").at(&server).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "github_search answered with status 500: busy"
    );
    assert_eq!(server.seen().len(), 3);
    let server = in_turn(&[400]).await;
    assert!(ask("github_search", "x").at(&server).await.is_err());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_connection_that_broke_is_made_again() {
    let count = Arc::new(AtomicUsize::new(0));
    let connections = Arc::clone(&count);
    let address = raw(move |mut stream| {
        let first = connections.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if !first {
                let answer = "HTTP/1.1 200 OK\r\ncontent-length: 13\r\nconnection: close\r\n\r\n{\"items\": []}";
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        }
    })
    .await;
    let address = address.to_string();
    let asked = ask("github_search", "x").at_address(&address, Duration::from_secs(15));
    assert_eq!(asked.await.unwrap().len(), 0);
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_key_that_the_provider_repeats_is_masked() {
    let server = Server::start(|_| {
        respond(
            401,
            ("content-type", "text/plain"),
            "the key qu-secret-99 is not known",
        )
    })
    .await;
    let error = ask("querit_search", "x")
        .key("qu-secret-99")
        .at(&server)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("querit_search answered with status 401: the key "),
        "{error}"
    );
    assert!(!error.to_string().contains("qu-secret-99"), "{error}");
    assert!(!format!("{error:?}").contains("qu-secret-99"), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_an_error_and_not_a_result() {
    for (provider, body) in [
        ("github_search", "<html>"),
        ("github_search", "[]"),
        ("github_search", r#"{"items": "none"}"#),
        ("arxiv_search", "plain words"),
        ("pubmed_search", "\u{0}"),
        ("akshare_stock_news", "easel("),
    ] {
        let server =
            Server::start(move |_| respond(200, ("content-type", "text/plain"), body)).await;
        let error = ask(provider, "x").at(&server).await.unwrap_err();
        assert!(
            matches!(error, ToolError::Malformed { .. }),
            "{provider} {body:?}: {error}"
        );
    }
}

#[tokio::test]
async fn an_answer_of_five_megabytes_is_too_large() {
    let server = Server::start(|_| {
        let items = "1,".repeat(2_500_000);
        respond(
            200,
            ("content-type", "application/json"),
            format!(r#"{{"items": [{items}1]}}"#),
        )
    })
    .await;
    let error = ask("github_search", "x").at(&server).await.unwrap_err();
    assert!(
        matches!(
            error,
            ToolError::TooLarge {
                limit: 4_194_304,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_provider_that_does_not_answer_is_given_up() {
    let address = raw(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let address = address.to_string();
    let asked = ask("github_search", "x").at_address(&address, Duration::from_millis(100));
    let error = asked.await.unwrap_err();
    assert!(matches!(error, ToolError::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn a_provider_that_nothing_allows_is_not_reached() {
    let server = answering(&[]).await;
    let mut search = SearchConfig::default();
    search
        .set_address("github_search", "http://127.0.0.1:9")
        .unwrap();
    let error = ask("github_search", "x")
        .by(&server.address.to_string(), search)
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::Blocked(_)), "{error}");
}

const MINE: &str = r#"
title = "Serper"
url = "https://google.serper.example"
key = "required"
limit = "num"
parameters.num = { kind = "integer", default = 6 }

[[steps]]
method = "POST"
path = "/search"
headers = { X-API-KEY = "{key}" }
json = { q = "{subject}", num = "{num}" }
items = "organic"
fields = { content = "{snippet}\n{date}" }
"#;

#[tokio::test]
async fn a_declaration_of_ones_own_takes_the_place_of_a_known_one() {
    let server = answering(&[(
        "/search",
        r#"{"organic": [{"title": "A", "link": "http://a", "snippet": "s"}]}"#,
    )])
    .await;
    let mut search = SearchConfig::default();
    let declared = Declaration::from_toml("google_search", MINE).unwrap();
    search.declared.insert("google_search".into(), declared);
    search
        .set_address("google_search", &server.url(""))
        .unwrap();
    let found = ask("google_search", "sun")
        .key("own-key-1")
        .by(&server.address.to_string(), search)
        .await
        .unwrap();
    assert_eq!(
        found,
        [json!({"title": "A", "link": "http://a", "snippet": "s", "content": "s"})]
    );
    let seen = &server.seen()[0];
    assert_eq!(seen["headers"]["x-api-key"], "own-key-1");
    assert_eq!(seen["body"], r#"{"num":6,"q":"sun"}"#);
}

#[test]
fn a_declaration_that_cannot_work_says_why() {
    for (change, to, problem) in [
        (
            "{subject}",
            "{subjekt}",
            "names `subjekt`, which nothing gives",
        ),
        ("items = \"organic\"", "", "no step has `items`"),
        ("items", "itemz", "unknown field `itemz`"),
        (
            "https://google.serper.example",
            "https://{num}.example",
            "`num` stands in an address",
        ),
        (
            "https://google.serper.example",
            "ftp://a.example",
            "must begin with http",
        ),
        (
            "https://google.serper.example",
            "https://u:p@a.example",
            "must begin with http",
        ),
        ("/search", "search", "must begin with /"),
        (
            "limit = \"num\"",
            "limit = \"count\"",
            "no parameter `count`",
        ),
        (
            "default = 6",
            "default = \"six\"",
            "the default of `num` does not fit",
        ),
        ("{snippet}", "{snippet|shout}", "a filter that is none"),
        ("{snippet}", "{snippet", "do not match"),
    ] {
        let error = Declaration::from_toml("mine", &MINE.replace(change, to)).unwrap_err();
        let said = error.to_string();
        assert!(
            said.starts_with("the search provider mine cannot be used: "),
            "{said}"
        );
        assert!(said.contains(problem), "{change}: {said}");
    }
}

#[test]
fn an_address_is_set_for_a_provider_that_there_is() {
    let mut search = SearchConfig::default();
    let error = search
        .set_address("tavily", "https://a.example")
        .unwrap_err();
    assert!(
        error.to_string().contains("there are akshare_stock_news"),
        "{error}"
    );
    assert!(search.set_address("tavily_search", "a.example").is_err());
    assert!(
        search
            .set_address("tavily_search", "https://a.example/?x=1")
            .is_err()
    );
}

const BOOK: &str = include_str!("../../../../docs/search.md");

#[test]
fn every_provider_is_in_the_book() {
    for provider in LiveSearch::known() {
        assert!(BOOK.contains(&format!("| `{provider}` |")), "{provider}");
    }
}

#[test]
fn the_declaration_in_the_book_is_well_formed() {
    let block = BOOK.split_once("```toml declaration\n").unwrap().1;
    let (declared, _) = block.split_once("```").unwrap();
    let declared = Declaration::from_toml("google_search", declared).unwrap();
    assert_eq!(declared.title, "Brave");
}
