//! Pages of the web, fetched and worked in, and services that fail, as people set them up in easel.toml.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::easel::{Desk, canvas};

/// A server that gives each request to `answer`, head and body; where it is.
fn serve(answer: impl Fn(&str) -> (&'static str, String) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let request = request(&mut stream);
            let (media, body) = answer(&request);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: {media}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    address
}

/// A request, as far as its head says how long it is.
fn request(stream: &mut TcpStream) -> String {
    let (mut got, mut piece) = (String::new(), [0; 4096]);
    loop {
        if let Some((head, body)) = got.split_once("\r\n\r\n") {
            let lines = head.lines().map(str::to_lowercase);
            let length = lines.filter_map(|line| {
                line.strip_prefix("content-length:")
                    .map(|n| n.trim().parse::<usize>().unwrap())
            });
            if body.len() >= length.sum::<usize>() {
                return got;
            }
        }
        match stream.read(&mut piece).unwrap_or(0) {
            0 => return got,
            read => got.push_str(&String::from_utf8_lossy(&piece[..read])),
        }
    }
}

/// A canvas of a node, and a Message that says one of its outputs.
fn says(id: &str, component: &str, params: Value, output: &str) -> Value {
    let said = json!({"content": [format!("{{{id}@{output}}}")]});
    canvas(&[
        ("begin", "Begin", json!({}), &[id]),
        (id, component, params, &["Message:M"]),
        ("Message:M", "Message", said, &[]),
    ])
}

const PAGE: &str =
    "<title>Owls</title><nav>Menu</nav><h1>Owls</h1><p>They see <a href=/n>at night</a>.</p>";

#[test]
fn a_page_is_fetched_where_easel_toml_allows_it_and_through_a_proxy() {
    let desk = Desk::new();
    let address = serve(|_| ("text/html", PAGE.to_owned()));
    let crawls = says(
        "Crawler:C",
        "Crawler",
        json!({"query": "{sys.query}"}),
        "formalized_content",
    );
    desk.json("a.json", &crawls);
    let refused = desk.easel(&["run", "a.json", &format!("http://{address}/owls")]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(
        refused.err.contains("not a public address"),
        "{}",
        refused.err
    );
    desk.write("easel.toml", &format!("[http]\nallow = [\"{address}\"]\n"));
    let read = desk.easel(&["run", "a.json", &format!("http://{address}/owls")]);
    assert_eq!(read.code, 0, "{}", read.err);
    let expected = format!("# Owls\n\nThey see [at night](http://{address}/n).\n");
    assert_eq!(read.out, expected);
    // A host that nobody knows is the proxy's to find.
    let proxy = serve(|request| {
        let asked = request.lines().next().unwrap_or_default();
        ("text/html", format!("<p>Asked for {asked}</p>"))
    });
    desk.write(
        "easel.toml",
        &format!("[http]\nproxy = \"http://{proxy}\"\n"),
    );
    let read = desk.easel(&["run", "a.json", "http://inside.example/owls"]);
    assert_eq!(
        read.out, "Asked for GET http://inside.example/owls HTTP/1.1\n",
        "{}",
        read.err
    );
    desk.write("easel.toml", &format!("[http]\nallow = [\"{proxy}\"]\n"));
    let params = json!({"url": "http://inside.example/a", "method": "get", "proxy": format!("http://{proxy}")});
    desk.json("b.json", &says("Invoke:I", "Invoke", params, "result"));
    let read = desk.easel(&["run", "b.json", "x"]);
    assert!(
        read.out.contains("GET http://inside.example/a"),
        "{}{}",
        read.out,
        read.err
    );
}

#[test]
fn a_service_that_fails_is_left_alone_where_easel_toml_says_so() {
    let desk = Desk::new();
    let gone = "http://127.0.0.1:1/";
    let with_default = json!({"url": gone, "method": "get", "exception_method": "comment", "exception_default_value": "nothing"});
    let both = canvas(&[
        ("begin", "Begin", json!({}), &["Invoke:A"]),
        ("Invoke:A", "Invoke", with_default, &["Invoke:B"]),
        (
            "Invoke:B",
            "Invoke",
            json!({"url": gone, "method": "get"}),
            &["Message:M"],
        ),
        (
            "Message:M",
            "Message",
            json!({"content": ["{Invoke:B@result}"]}),
            &[],
        ),
    ]);
    desk.json("a.json", &both);
    let allow = "[http]\nallow = [\"127.0.0.1\"]\n";
    desk.write("easel.toml", allow);
    let ran = desk.easel(&["run", "a.json", "x"]);
    assert!(
        ran.err.contains("no connection to 127.0.0.1:1"),
        "{}",
        ran.err
    );
    desk.write("easel.toml", &format!("{allow}[breaker]\nfailures = 1\n"));
    let ran = desk.easel(&["run", "a.json", "x"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(
        ran.err
            .contains("host:127.0.0.1:1 is left alone for another 30 s"),
        "{}",
        ran.err
    );
    for wrong in [
        "failure = 1",
        "window_s = 0",
        "[breaker.for.\"example.com\"]\nfailures = 1",
    ] {
        desk.write("easel.toml", &format!("[breaker]\n{wrong}\n"));
        let refused = desk.easel(&["run", "a.json", "x"]);
        assert_eq!(refused.code, 2, "{wrong}: {}", refused.err);
    }
}

/// What a model answers that calls a tool.
fn calls(name: &str, arguments: Value) -> String {
    let call = json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
        .to_string()
}

#[cfg(unix)]
#[test]
fn a_model_works_in_a_browser() {
    let desk = Desk::new();
    let address = serve(|_| ("text/html", PAGE.to_owned()));
    let owls = format!("http://{address}/owls");
    let model = serve(move |request| {
        // It has seen the page once it was told of it.
        let answer = match request.contains("[1] link at night") {
            true => calls("done", json!({"answer": "Owls see at night."})),
            false => calls("go", json!({"address": owls})),
        };
        ("application/json", answer)
    });
    let params = json!({"llm_id": "", "prompts": "{sys.query}"});
    desk.json("a.json", &says("Browser:B", "Browser", params, "content"));
    let model = format!("http://{model}/v1");
    let run = [
        "run",
        "a.json",
        "What do owls see?",
        "--model",
        "m",
        "--base-url",
        &model,
    ];
    desk.write("easel.toml", "[browser]\nprogram = \"/nowhere/chromium\"\n");
    let missing = desk.easel(&run);
    assert_eq!(missing.code, 1, "{}", missing.out);
    assert!(
        missing.err.contains("/nowhere/chromium cannot be started"),
        "{}",
        missing.err
    );
    if easel_browser::find_program().is_none() {
        eprintln!("NOT TESTED: there is no browser on this machine; install chromium");
        return;
    }
    let settings = format!("[http]\nallow = [\"{address}\"]\n[browser]\nsandbox = false\n");
    desk.write("easel.toml", &settings);
    let ran = desk.easel(&run);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out, "Owls see at night.\n");
}
