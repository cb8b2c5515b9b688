//! Searches as people set them up in easel.toml.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use serde_json::json;

use crate::easel::{Desk, canvas};

/// A provider that answers one request with that, and gives back what it got.
fn provider(answer: &'static str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serve = move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut got, mut piece) = (Vec::new(), [0; 4096]);
        while !got.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = stream.read(&mut piece).unwrap();
            assert_ne!(read, 0);
            got.extend_from_slice(&piece[..read]);
        }
        let length = answer.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{answer}"
        )
        .unwrap();
        String::from_utf8(got).unwrap()
    };
    (address, std::thread::spawn(serve))
}

fn searches(component: &str) -> serde_json::Value {
    let shown = json!({"content": ["{Search:S@formalized_content}"]});
    canvas(&[
        ("begin", "Begin", json!({}), &["Search:S"]),
        (
            "Search:S",
            component,
            json!({"api_key": "k-123456", "query": "{sys.query}", "q": "{sys.query}"}),
            &["Message:M"],
        ),
        ("Message:M", "Message", shown, &[]),
    ])
}

#[test]
fn a_search_is_asked_where_easel_toml_says() {
    let desk = Desk::new();
    let (address, asked) = provider(
        r#"{"items": [{"name": "easel", "html_url": "http://g.example", "description": "paints", "watchers": 3}]}"#,
    );
    let settings = format!(
        "[http]\nallow = [\"{address}\"]\n[search.github_search]\nurl = \"http://{address}/api\"\n"
    );
    desk.write("easel.toml", &settings);
    desk.json("a.json", &searches("GitHub"));
    let ran = desk.easel(&["run", "a.json", "canvas & paint"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("Title: easel") && ran.out.contains("paints\nstars: 3"),
        "{}",
        ran.out
    );
    let asked = asked.join().unwrap();
    assert!(
        asked.starts_with("GET /api/search/repositories?"),
        "{asked}"
    );
    assert!(asked.contains("q=canvas+%26+paint"), "{asked}");
}

#[test]
fn a_provider_is_declared_in_a_file_of_ones_own() {
    let desk = Desk::new();
    let (address, asked) = provider(
        r#"{"web": {"results": [{"title": "A", "url": "http://a.example", "description": "found"}]}}"#,
    );
    let settings = format!(
        "[http]\nallow = [\"{address}\"]\n[search.google_search]\nfile = \"brave.toml\"\nurl = \"http://{address}\"\n"
    );
    desk.write("easel.toml", &settings);
    desk.write(
        "brave.toml",
        r#"
title = "Brave"
url = "https://api.search.brave.com"
key = "required"
parameters.num = { kind = "integer", most = 20, default = 6 }

[[steps]]
path = "/res/v1/web/search"
query = { q = "{subject}", count = "{num}" }
headers = { X-Subscription-Token = "{key}" }
items = "web.results"
"#,
    );
    desk.json("a.json", &searches("Google"));
    let ran = desk.easel(&["run", "a.json", "sun"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out
            .contains("URL: http://a.example\n└── Content:\nfound"),
        "{}",
        ran.out
    );
    let asked = asked.join().unwrap().to_lowercase();
    assert!(asked.starts_with("get /res/v1/web/search?"), "{asked}");
    assert!(asked.contains("x-subscription-token: k-123456"), "{asked}");
}

#[test]
fn settings_of_a_search_that_cannot_be_used_say_why() {
    let desk = Desk::new();
    desk.json("a.json", &searches("GitHub"));
    for (settings, problem) in [
        (
            "[search.mine]\nurl = \"http://a.example\"",
            "component asks a provider of that name",
        ),
        (
            "[search.bing_search]\nurl = \"http://a.example\"",
            "component asks a provider of that name",
        ),
        ("[search.github_search]\nurl = 5", "`url` must be a text"),
        ("[search.github_search]\nurl = \"a.example\"", "is none"),
        ("[search.github_search]\ntitle = \"X\"", "field `steps`"),
        ("[search.github_search]\nfile = \"none.toml\"", "none.toml"),
    ] {
        desk.write("easel.toml", settings);
        let ran = desk.easel(&["run", "a.json", "x"]);
        assert_eq!(ran.code, 2, "{settings}: {}", ran.err);
        // The terminal's lines break where they are full.
        let said = ran
            .err
            .split_whitespace()
            .filter(|word| *word != "│")
            .collect::<Vec<_>>()
            .join(" ");
        assert!(said.contains(problem), "{settings}: {said}");
    }
}
