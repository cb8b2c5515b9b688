//! HTTP as workflows use it, against servers on this machine.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use easel_core::{Object, Value};
use easel_tools::ToolError;
use easel_tools::guard::{Allow, GuardError};
use easel_tools::http::{HttpBody, HttpRequest, HttpResponse, HttpSender};
use easel_tools::live::{HttpConfig, LiveHttp};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::server::{Server, raw, respond, writes};

fn sender(allow: &[&str]) -> LiveHttp {
    LiveHttp::new(HttpConfig {
        allow: Allow::parse(allow.iter().copied()).unwrap(),
        max_body: 10_000,
        ..HttpConfig::default()
    })
    .unwrap()
}

async fn send(request: HttpRequest) -> Result<HttpResponse, ToolError> {
    sender(&["127.0.0.1"]).send(request).await
}

fn object(json: serde_json::Value) -> Object {
    Value::from(json).as_object().unwrap().clone()
}

fn echoed(response: &HttpResponse) -> serde_json::Value {
    serde_json::from_str(&response.body).unwrap()
}

#[tokio::test]
async fn a_get_carries_parameters_and_headers() {
    let server = Server::echo().await;
    let mut request = HttpRequest::new("get", server.url("/x?a=1"));
    request.query = Some(object(json!({"q": "hello world", "n": 5})));
    request.headers = vec![
        ("X-Token".into(), "t".into()),
        ("Content-Length".into(), "999".into()),
    ];
    let response = send(request).await.unwrap();
    assert_eq!(response.status, 200);
    let got = echoed(&response);
    assert_eq!(got["method"], "GET");
    assert_eq!(got["uri"], "/x?a=1&q=hello+world&n=5");
    assert_eq!(got["headers"]["x-token"], "t");
    assert!(
        got["headers"]["user-agent"]
            .as_str()
            .unwrap()
            .starts_with("easel/")
    );
    assert_eq!(got["headers"].get("content-length"), None);
    assert_eq!(got["body"], "");
}

#[tokio::test]
async fn a_write_says_which_one_it_is_unless_the_workflow_does() {
    let server = Server::echo().await;
    let mut request = HttpRequest::new("POST", server.url("/"));
    request.idempotency_key = Some("run-1/Invoke:X/1".into());
    let got = echoed(&send(request.clone()).await.unwrap());
    assert_eq!(got["headers"]["idempotency-key"], "run-1/Invoke:X/1");
    request.headers = vec![("Idempotency-Key".into(), "order-7".into())];
    let got = echoed(&send(request).await.unwrap());
    assert_eq!(got["headers"]["idempotency-key"], "order-7");
}

#[tokio::test]
async fn a_body_is_json_form_or_text() {
    let server = Server::echo().await;
    let bodies = [
        (
            HttpBody::Json(Value::from(json!({"a": "ä", "n": 1.0}))),
            "application/json",
            "{\"a\":\"ä\",\"n\":1.0}",
        ),
        (
            HttpBody::Form(object(json!({"a": "x y"}))),
            "application/x-www-form-urlencoded",
            "a=x+y",
        ),
        (
            HttpBody::Text {
                content_type: "text/csv".into(),
                text: "a,b".into(),
            },
            "text/csv",
            "a,b",
        ),
    ];
    for (body, content_type, written) in bodies {
        let mut request = HttpRequest::new("POST", server.url("/"));
        request.body = body;
        let got = echoed(&send(request).await.unwrap());
        assert_eq!(got["headers"]["content-type"], content_type);
        assert_eq!(got["body"], written);
    }
    let mut own = HttpRequest::new("PUT", server.url("/"));
    own.body = HttpBody::Json(Value::from(1));
    own.headers = vec![("content-type".into(), "application/vnd.x+json".into())];
    let got = echoed(&send(own).await.unwrap());
    assert_eq!(
        (&got["method"], &got["headers"]["content-type"]),
        (&json!("PUT"), &json!("application/vnd.x+json"))
    );
}

#[tokio::test]
async fn a_status_of_failure_is_a_response() {
    let server = Server::start(|_| respond(500, ("x-why", "load"), "oops")).await;
    let response = send(HttpRequest::new("GET", server.url("/")))
        .await
        .unwrap();
    assert_eq!((response.status, response.body.as_str()), (500, "oops"));
    assert_eq!(response.header("X-Why"), Some("load"));
}

#[tokio::test]
async fn text_is_read_by_the_charset_it_declares() {
    let server = Server::start(|request| {
        let bytes: &[u8] = b"caf\xe9";
        match request["uri"] == "/latin" {
            true => respond(
                200,
                ("content-type", "text/plain; charset=\"ISO-8859-1\""),
                bytes,
            ),
            false => respond(200, ("content-type", "text/plain"), bytes),
        }
    })
    .await;
    let latin = send(HttpRequest::new("GET", server.url("/latin")))
        .await
        .unwrap();
    assert_eq!(latin.body, "café");
    let unknown = send(HttpRequest::new("GET", server.url("/")))
        .await
        .unwrap();
    assert_eq!(unknown.body, "caf\u{fffd}");
}

#[tokio::test]
async fn this_machine_is_out_of_reach_unless_allowed() {
    let server = Server::echo().await;
    let port = server.address.port();
    for url in [
        server.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://0:{port}/"),
    ] {
        let refused = sender(&[])
            .send(HttpRequest::new("GET", &url))
            .await
            .unwrap_err();
        assert!(matches!(refused, ToolError::Blocked(_)), "{url}: {refused}");
        assert!(refused.certain_nothing_sent() && !refused.retryable());
    }
    assert!(server.seen().is_empty());

    let one_port = format!("127.0.0.1:{port}");
    let sender = sender(&[one_port.as_str()]);
    for url in [server.url("/"), format!("http://localhost:{port}/")] {
        assert!(sender.send(HttpRequest::new("GET", url)).await.is_ok());
    }
}

#[tokio::test]
async fn a_redirect_is_a_response_unless_asked_for() {
    let server = Server::start(|_| respond(302, ("location", "/next"), "")).await;
    let response = send(HttpRequest::new("GET", server.url("/")))
        .await
        .unwrap();
    assert_eq!(
        (response.status, response.header("location")),
        (302, Some("/next"))
    );
    assert_eq!(server.seen().len(), 1);

    let mut request = HttpRequest::new("GET", server.url("/"));
    request.max_redirects = 3;
    let response = send(request).await.unwrap();
    assert_eq!(response.status, 302);
    assert_eq!(server.seen().len(), 1 + 4);
}

#[tokio::test]
async fn a_redirect_to_where_the_workflow_may_not_go_is_refused() {
    let inner = Server::echo().await;
    for target in [
        inner.url("/secret"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[::1]/".to_owned(),
        "//localhost/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let location = target.clone();
        let outer = Server::start(move |_| respond(307, ("location", &location), "")).await;
        let mut request = HttpRequest::new("GET", outer.url("/"));
        request.max_redirects = 5;
        let only_outer = outer.address.to_string();
        let refused = sender(&[only_outer.as_str()])
            .send(request)
            .await
            .unwrap_err();
        assert!(
            matches!(refused, ToolError::Blocked(_)),
            "{target}: {refused}"
        );
        assert_eq!(outer.seen().len(), 1);
    }
    assert!(inner.seen().is_empty());
}

#[tokio::test]
async fn a_followed_redirect_keeps_or_changes_the_method_as_its_status_says() {
    for (status, method, body) in [
        (301, "GET", ""),
        (302, "GET", ""),
        (303, "GET", ""),
        (307, "POST", "[1]"),
        (308, "POST", "[1]"),
    ] {
        let server = Server::start(move |request| match request["uri"] == "/" {
            true => respond(status, ("location", "/next"), ""),
            false => Response::new(Body::from(request.to_string())),
        })
        .await;
        let mut request = HttpRequest::new("POST", server.url("/"));
        request.body = HttpBody::Json(Value::from(json!([1])));
        request.headers = vec![("Authorization".into(), "Bearer t".into())];
        request.max_redirects = 1;
        let got = echoed(&send(request).await.unwrap());
        assert_eq!(
            (&got["method"], &got["body"]),
            (&json!(method), &json!(body)),
            "{status}"
        );
        assert_eq!(got["headers"]["authorization"], "Bearer t");
        assert_eq!(
            got["headers"].get("content-type").is_some(),
            !body.is_empty()
        );
    }
}

#[tokio::test]
async fn headers_and_bodies_are_not_carried_to_another_host() {
    let other = Server::echo().await;
    let location = other.url("/there");
    let first = Server::start(move |_| respond(307, ("location", &location), "")).await;
    let mut request = HttpRequest::new("GET", first.url("/"));
    request.headers = vec![
        ("X-Api-Key".into(), "k".into()),
        ("Authorization".into(), "Bearer t".into()),
    ];
    request.max_redirects = 1;
    let got = echoed(&send(request.clone()).await.unwrap());
    assert_eq!(got["uri"], "/there");
    assert_eq!(got["headers"].get("x-api-key"), None);
    assert_eq!(got["headers"].get("authorization"), None);

    request.method = "POST".into();
    request.body = HttpBody::Json(Value::from(json!({"password": "p"})));
    let refused = send(request).await.unwrap_err();
    assert!(
        matches!(refused, ToolError::InvalidRequest { .. }),
        "{refused}"
    );
    assert_eq!(other.seen().len(), 1);
}

#[tokio::test]
async fn a_server_that_hangs_costs_no_more_than_the_time_allowed() {
    let silent = raw(|stream| async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        drop(stream);
    })
    .await;
    let trickling = raw(|mut stream| async move {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
            .await;
        while stream.write_all(b".").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    for address in [silent, trickling] {
        let mut request = HttpRequest::new("GET", format!("http://{address}/"));
        request.timeout = Duration::from_millis(300);
        let start = Instant::now();
        let error = send(request).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{address} gave no answer within 0.3 s")
        );
        assert!(!error.certain_nothing_sent() && error.retryable());
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn a_body_over_the_cap_is_not_read() {
    let declared = Server::start(|_| Response::new(Body::from(vec![b'x'; 10_001]))).await;
    let endless = raw(|mut stream| async move {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            .await;
        while stream.write_all(b"400\r\n").await.is_ok() {
            let _ = stream.write_all(&[b'x'; 0x400]).await;
            let _ = stream.write_all(b"\r\n").await;
        }
    })
    .await;
    for url in [declared.url("/"), format!("http://{endless}/")] {
        let error = send(HttpRequest::new("GET", url)).await.unwrap_err();
        assert!(
            matches!(error, ToolError::TooLarge { limit: 10_000, .. }),
            "{error}"
        );
    }
    let whole = Server::start(|_| Response::new(Body::from(vec![b'x'; 10_000]))).await;
    let response = send(HttpRequest::new("GET", whole.url("/"))).await.unwrap();
    assert_eq!(response.body.len(), 10_000);
}

#[tokio::test]
async fn garbage_and_breaks_are_interruptions() {
    for answer in [
        "",
        "this is no HTTP\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 999999 ?\r\n\r\n",
    ] {
        let address = writes(answer).await;
        let error = send(HttpRequest::new("POST", format!("http://{address}/")))
            .await
            .unwrap_err();
        assert!(
            matches!(error, ToolError::Interrupted { .. }),
            "{answer:?}: {error}"
        );
        assert!(
            !error.certain_nothing_sent() && error.retryable(),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn a_closed_port_means_that_nothing_was_sent() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = send(HttpRequest::new(
        "POST",
        format!("http://{address}/?key=abc"),
    ))
    .await
    .unwrap_err();
    assert!(matches!(error, ToolError::NoConnection { .. }), "{error}");
    assert!(error.certain_nothing_sent() && error.retryable());
    let text = error.to_string();
    assert!(
        text.contains(&address.to_string()) && !text.contains("abc"),
        "{text}"
    );
}

#[tokio::test]
async fn what_cannot_be_sent_is_named() {
    let url = "http://a.example/";
    let mut bad_header = HttpRequest::new("GET", url);
    bad_header.headers = vec![("X-Id".into(), "1\r\nX-Evil: 2".into())];
    let error = send(bad_header).await.unwrap_err().to_string();
    assert!(
        error.starts_with("header \"X-Id\" cannot be used: "),
        "{error}"
    );

    let error = send(HttpRequest::new("CONNECT", url))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("method \"CONNECT\" cannot be used: use GET"),
        "{error}"
    );

    let error = send(HttpRequest::new("GET", "api.example.com/x"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, ToolError::Blocked(GuardError::NotAUrl(_))),
        "{error}"
    );
}

#[tokio::test]
async fn a_proxy_that_a_workflow_names_is_checked_like_any_host() {
    let proxy = Server::echo().await;
    let mut request = HttpRequest::new("GET", "http://api.example.com/x");
    request.proxy = Some(proxy.url("/"));
    let refused = sender(&[]).send(request.clone()).await.unwrap_err();
    assert!(matches!(refused, ToolError::Blocked(_)), "{refused}");
    assert!(proxy.seen().is_empty());

    let got = echoed(&send(request.clone()).await.unwrap());
    assert_eq!(got["uri"], "http://api.example.com/x");

    request.url = "http://10.0.0.1/".into();
    let refused = send(request).await.unwrap_err();
    assert!(matches!(refused, ToolError::Blocked(_)), "{refused}");
}

#[tokio::test]
async fn the_deployments_own_proxy_takes_everything() {
    let proxy = Server::echo().await;
    let sender = LiveHttp::new(HttpConfig {
        proxy: Some(proxy.url("/")),
        ..HttpConfig::default()
    })
    .unwrap();
    let got = echoed(
        &sender
            .send(HttpRequest::new("GET", "http://api.example.com/x"))
            .await
            .unwrap(),
    );
    assert_eq!(got["uri"], "http://api.example.com/x");

    let refused = sender
        .send(HttpRequest::new("GET", "http://127.0.0.1/"))
        .await
        .unwrap_err();
    assert!(matches!(refused, ToolError::Blocked(_)), "{refused}");
    let mut own = HttpRequest::new("GET", "http://api.example.com/x");
    own.proxy = Some("http://proxy.example.com:3128".into());
    let refused = sender.send(own).await.unwrap_err();
    assert!(
        matches!(refused, ToolError::InvalidRequest { .. }),
        "{refused}"
    );
    assert_eq!(proxy.seen().len(), 1);
}

#[tokio::test]
async fn a_file_is_fetched_as_it_is_through_the_guard_and_up_to_a_size() {
    const BYTES: [u8; 4] = [0x89, b'P', 0xff, 0];
    let server = Server::start(|_| respond(200, ("Content-Type", "image/png"), BYTES.to_vec()));
    let server = server.await;
    let request = || HttpRequest::new("GET", server.url("/a.png"));
    let open = sender(&["127.0.0.1"]);
    let fetched = open.fetch(request(), 4).await.unwrap();
    assert_eq!(fetched.bytes, BYTES);
    assert_eq!(fetched.media_type.as_deref(), Some("image/png"));
    let large = open.fetch(request(), 3).await;
    assert!(matches!(large, Err(ToolError::TooLarge { limit: 3, .. })));
    let guarded = sender(&[]).fetch(request(), 4).await;
    assert!(matches!(guarded, Err(ToolError::Blocked(_))));
}
