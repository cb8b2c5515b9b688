//! Webhooks as the outside calls them.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_store::{AgentPatch, RunFilter};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value as Json, json};

use crate::support::{TestServer, client};

const OPEN: &str = r#"{"auth_type": "none", "allow_anonymous": true}"#;

fn open() -> Json {
    serde_json::from_str(OPEN).unwrap()
}

/// A canvas whose Begin has these parameters, with one message.
fn hook(begin: Json, message: Json) -> Json {
    let mut params = json!({
        "mode": "Webhook", "methods": ["POST"], "content_types": "application/json", "security": open(), "execution_mode": "Streaming",
        "schema": {"body": {"type": "object", "properties": {"id": {"type": "number"}, "urgent": {"type": "boolean"}}, "required": ["id"]}},
    });
    for (name, value) in begin.as_object().unwrap() {
        params[name] = value.clone();
    }
    json!({"components": {
        "begin": {"obj": {"component_name": "Begin", "params": params}, "downstream": ["Message:Out"], "upstream": []},
        "Message:Out": {"obj": {"component_name": "Message", "params": message}, "downstream": [], "upstream": ["begin"]},
    }})
}

fn says(text: &str) -> Json {
    json!({"content": [text]})
}

fn ticket() -> Json {
    says("id={begin@body.id};urgent={begin@body.urgent}")
}

async fn read(response: reqwest::Response) -> (u16, Json) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let json = serde_json::from_str(&text).unwrap_or(Json::String(text));
    (status, json)
}

async fn post(server: &TestServer, agent: &str, body: Json) -> (u16, Json) {
    let url = server.url(&format!("/api/v1/agents/{agent}/webhook"));
    let request = client()
        .post(url)
        .header("content-type", "application/json");
    read(request.body(body.to_string()).send().await.unwrap()).await
}

async fn runs(server: &TestServer, trigger: &str) -> Vec<easel_store::RunSummary> {
    let filter = RunFilter {
        trigger: Some(trigger.to_owned()),
        ..RunFilter::default()
    };
    server.store.runs(&filter).await.unwrap().items
}

/// The run of that trigger, once it is over.
async fn over(server: &TestServer, trigger: &str) -> easel_store::RunSummary {
    let began = Instant::now();
    loop {
        let found = runs(server, trigger)
            .await
            .into_iter()
            .find(|run| &*run.state != "running");
        if let Some(run) = found {
            return run;
        }
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "the run does not end"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn an_outside_system_posts_a_ticket() {
    let server = TestServer::start().await;
    let agent = server
        .agent("ann", "Tickets", &hook(json!({}), ticket()))
        .await;
    let (status, answer) = post(&server, &agent, json!({"id": 42, "urgent": false})).await;
    assert_eq!(status, 200);
    assert_eq!(
        answer,
        json!({"message": "id=42;urgent=false", "success": true, "code": 200})
    );
    let run = over(&server, "webhook").await;
    assert_eq!(
        (&*run.state, &*run.origin.owner, &*run.origin.agent),
        ("finished", "ann", agent.as_str())
    );
    // Without the required id no node starts: there is no further run.
    let (status, answer) = post(&server, &agent, json!({})).await;
    assert_eq!(status, 400);
    assert_eq!(
        answer,
        json!({"code": 400, "message": "body missing required field: id"})
    );
    assert_eq!(runs(&server, "webhook").await.len(), 1);
}

#[tokio::test]
async fn what_begin_does_not_take_is_refused_in_order() {
    let server = TestServer::start().await;
    let agent = server
        .agent("ann", "Tickets", &hook(json!({}), ticket()))
        .await;
    let told = |answer: (u16, Json)| {
        (
            answer.0,
            answer.1["message"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let unknown = post(&server, "nobody", json!({})).await;
    assert_eq!(told(unknown), (400, "Canvas not found.".into()));
    let client = client();
    let url = server.url(&format!("/api/v1/agents/{agent}/webhook"));
    let get = read(client.get(&url).send().await.unwrap()).await;
    assert_eq!(
        told(get),
        (
            400,
            "HTTP method 'GET' not allowed for this webhook.".into()
        )
    );
    let plain = client
        .post(&url)
        .header("content-type", "text/plain")
        .body("id=1");
    let plain = read(plain.send().await.unwrap()).await;
    let expected = "Invalid Content-Type: expect 'application/json', got 'text/plain'";
    assert_eq!(told(plain), (400, expected.into()));
    let cast = post(&server, &agent, json!({"id": "x"})).await;
    assert_eq!(
        told(cast),
        (400, "body.id auto-cast failed: 'x' is no number".into())
    );
    // No content type: JSON is tried.
    let bare = client.post(&url).body(r#"{"id": "1.5", "urgent": "true"}"#);
    let (status, answer) = read(bare.send().await.unwrap()).await;
    assert_eq!(
        (status, answer["message"].as_str()),
        (200, Some("id=1.5;urgent=true"))
    );

    let talk = server.agent("ann", "Talk", &crate::support::echo()).await;
    let none = post(&server, &talk, json!({})).await;
    assert_eq!(
        told(none),
        (400, "Webhook not configured for this agent.".into())
    );
    let closed = server
        .agent("ann", "Closed", &hook(json!({"security": null}), ticket()))
        .await;
    let closed = told(post(&server, &closed, json!({"id": 1})).await);
    assert!(
        closed.1.starts_with("Webhook security is required."),
        "{closed:?}"
    );
}

#[tokio::test]
async fn a_webhook_answers_at_once_and_runs_on() {
    let server = TestServer::start().await;
    let begin = json!({
        "execution_mode": "Immediately", "response": {"status": 202, "body_template": "{\"ok\": true}"},
    });
    let agent = server.agent("ann", "At once", &hook(begin, ticket())).await;
    assert_eq!(
        post(&server, &agent, json!({"id": 7})).await,
        (202, json!({"ok": true}))
    );
    let run = over(&server, "webhook").await;
    assert_eq!(
        (&*run.state, &*run.summary),
        ("finished", "id=7;urgent=false")
    );
    let wrong = json!({"execution_mode": "Immediately", "response": {"status": 500}});
    let wrong = server.agent("ann", "Wrong", &hook(wrong, ticket())).await;
    let (status, answer) = post(&server, &wrong, json!({"id": 7})).await;
    assert_eq!(status, 400);
    assert_eq!(
        answer["message"],
        "Invalid response status code: 500, must be between 200 and 399"
    );
    assert_eq!(runs(&server, "webhook").await.len(), 1);
}

#[tokio::test]
async fn a_message_says_with_which_status_the_webhook_is_answered() {
    let server = TestServer::start().await;
    let created = json!({"content": ["made"], "status": 201});
    let agent = server
        .agent("ann", "Created", &hook(json!({}), created))
        .await;
    let answer = json!({"message": "made", "success": true, "code": 201});
    assert_eq!(post(&server, &agent, json!({"id": 1})).await, (201, answer));
}

#[tokio::test]
async fn a_run_that_fails_is_told() {
    let server = TestServer::start().await;
    let broken = says("{Agent:Nowhere@content}");
    let agent = server
        .agent("ann", "Broken", &hook(json!({}), broken))
        .await;
    let (status, answer) = post(&server, &agent, json!({"id": 1})).await;
    assert_eq!(
        (status, &answer["success"], &answer["code"]),
        (400, &json!(false), &json!(400))
    );
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains("Agent:Nowhere"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_form_that_stops_the_run_does_not_stop_the_answer() {
    let server = TestServer::start().await;
    let mut canvas = hook(json!({}), says("Got {begin@body.id}."));
    canvas["components"]["Message:Out"]["downstream"] = json!(["UserFillUp:Ask"]);
    let form = json!({"inputs": {"name": {"name": "Name", "type": "line"}}});
    canvas["components"]["UserFillUp:Ask"] = json!({"obj": {"component_name": "UserFillUp", "params": form}, "downstream": [], "upstream": ["Message:Out"]});
    let agent = server.agent("ann", "Asks", &canvas).await;
    let (status, answer) = post(&server, &agent, json!({"id": 3})).await;
    assert_eq!((status, answer["message"].as_str()), (200, Some("Got 3.")));
    assert_eq!(&*over(&server, "webhook").await.state, "waiting");
}

#[tokio::test]
async fn the_outside_gets_the_released_version_and_the_test_the_draft() {
    let server = TestServer::start().await;
    let agent = server
        .agent("ann", "Two", &hook(json!({}), says("one")))
        .await;
    server.store.publish(&agent, "first").await.unwrap();
    let patch = AgentPatch {
        document: Some(server.document(&hook(json!({}), says("two"))).await),
        version_title: "second".into(),
        ..AgentPatch::default()
    };
    server.store.update_agent(&agent, patch).await.unwrap();
    assert_eq!(
        post(&server, &agent, json!({"id": 1})).await.1["message"],
        "one"
    );
    let key = server.key("ann", &["read", "run"]).await;
    let url = server.url(&format!("/api/v1/agents/{agent}/webhook/test"));
    let test = client().post(url).bearer_auth(key);
    let test = test
        .header("content-type", "application/json")
        .body("{\"id\": 1}");
    assert_eq!(read(test.send().await.unwrap()).await.1["message"], "two");
}

#[tokio::test]
async fn the_owner_watches_a_test() {
    let server = TestServer::start().await;
    let canvas = hook(
        json!({}),
        json!({"content": ["Hi {begin@body.id}"], "status": 201}),
    );
    let agent = server.agent("ann", "Watched", &canvas).await;
    let key = server.key("ann", &["read", "run"]).await;
    let client = client();
    let logs = async |query: String| {
        let url = server.url(&format!("/api/v1/agents/{agent}/webhook/logs{query}"));
        let (status, body) = read(client.get(url).bearer_auth(&key).send().await.unwrap()).await;
        assert_eq!((status, &body["code"]), (200, &json!(0)));
        body["data"].clone()
    };
    let first = logs(String::new()).await;
    assert_eq!(
        (&first["webhook_id"], &first["finished"]),
        (&json!(null), &json!(false))
    );
    let since = first["next_since_ts"].as_f64().unwrap() - 1.0;
    let waiting = logs(format!("?since_ts={since}")).await;
    assert_eq!(
        (&waiting["webhook_id"], &waiting["events"]),
        (&json!(null), &json!([]))
    );
    for id in [1, 2] {
        let url = server.url(&format!("/api/v1/agents/{agent}/webhook/test"));
        let test = client
            .post(url)
            .bearer_auth(&key)
            .header("content-type", "application/json");
        let (status, answer) = read(
            test.body(json!({"id": id}).to_string())
                .send()
                .await
                .unwrap(),
        )
        .await;
        assert_eq!(
            (status, answer["message"].as_str()),
            (201, Some(&*format!("Hi {id}")))
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let found = logs(format!("?since_ts={since}")).await;
    let webhook = found["webhook_id"].as_str().unwrap().to_owned();
    let started = found["next_since_ts"].as_f64().unwrap();
    let seen = logs(format!("?since_ts={since}&webhook_id={webhook}")).await;
    let events = seen["events"].as_array().unwrap();
    let names: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(names.first(), Some(&"workflow_started"));
    assert!(
        names.contains(&"message") && names.contains(&"workflow_finished"),
        "{names:?}"
    );
    let finished = events.last().unwrap();
    assert_eq!(
        (&finished["event"], &finished["success"]),
        (&json!("finished"), &json!(true))
    );
    assert_eq!(seen["finished"], true);
    let message = events
        .iter()
        .find(|event| event["event"] == "message")
        .unwrap();
    assert_eq!(
        message["data"]["content"], "Hi 1",
        "the earliest test is watched first"
    );
    // Who names the last event that was seen gets what is behind it.
    let half = events[2]["ts"].as_f64().unwrap();
    let rest = logs(format!("?since_ts={half}&webhook_id={webhook}")).await;
    assert_eq!(rest["events"].as_array().unwrap()[..], events[3..]);
    let next = logs(format!("?since_ts={started}")).await;
    assert_ne!(next["webhook_id"], json!(webhook));
    assert_eq!(
        logs("?since_ts=0&webhook_id=unknown".into()).await["finished"],
        true
    );
}

#[tokio::test]
async fn tests_and_their_logs_are_the_owners() {
    let server = TestServer::start().await;
    let agent = server
        .agent("ann", "Hers", &hook(json!({}), ticket()))
        .await;
    let (bob, reader) = (
        server.key("bob", &["read", "run"]).await,
        server.key("ann", &["read"]).await,
    );
    let client = client();
    let test = server.url(&format!("/api/v1/agents/{agent}/webhook/test"));
    let logs = server.url(&format!("/api/v1/agents/{agent}/webhook/logs"));
    for url in [&test, &logs] {
        let method = if url == &test {
            reqwest::Method::POST
        } else {
            reqwest::Method::GET
        };
        let keyless = client.request(method.clone(), url).send().await.unwrap();
        assert_eq!(keyless.status(), 401);
        let unknown = client
            .request(method.clone(), url)
            .bearer_auth("no-key")
            .send()
            .await
            .unwrap();
        assert_eq!(unknown.status(), 401);
        let (status, body) = read(
            client
                .request(method, url)
                .bearer_auth(&bob)
                .send()
                .await
                .unwrap(),
        )
        .await;
        assert_eq!(
            (status, &body["message"]),
            (400, &json!("Canvas not found."))
        );
    }
    let reads = client
        .post(&test)
        .bearer_auth(&reader)
        .send()
        .await
        .unwrap();
    assert_eq!(reads.status(), 403);
    assert!(runs(&server, "webhook_test").await.is_empty());
}

#[tokio::test]
async fn callers_prove_who_they_are() {
    let server = TestServer::start().await;
    let url = async |title: &str, security: Json| {
        let message =
            says("in, {begin@request.headers.Authorization}{begin@request.headers.X-Token}");
        let begin = json!({"methods": ["GET"], "security": security, "schema": {}});
        let agent = server.agent("ann", title, &hook(begin, message)).await;
        server.url(&format!("/api/v1/agents/{agent}/webhook"))
    };
    let client = client();
    let status = async |request: reqwest::RequestBuilder| read(request.send().await.unwrap()).await;

    let token = url("Token", json!({"auth_type": "token", "token": {"token_header": "X-Token", "token_value": "t0ken-value"}})).await;
    let (code, answer) = status(client.get(&token).header("x-token", "t0ken-value")).await;
    // What proved who calls is not handed on.
    assert_eq!((code, &answer["message"]), (200, &json!("in, ")));
    let (code, answer) = status(client.get(&token).header("x-token", "other")).await;
    assert_eq!(
        (code, &answer["message"]),
        (400, &json!("Invalid token authentication"))
    );

    let basic = url(
        "Basic",
        json!({"auth_type": "basic", "basic_auth": {"username": "ann", "password": "pass-word"}}),
    )
    .await;
    let header = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
    assert_eq!(
        status(
            client
                .get(&basic)
                .header("authorization", header("ann:pass-word"))
        )
        .await
        .1["message"],
        "in, "
    );
    let (code, answer) = status(client.get(&basic).header("authorization", header("ann:"))).await;
    assert_eq!(
        (code, &answer["message"]),
        (400, &json!("Invalid Basic Auth credentials"))
    );

    let secret = "a-shared-secret-of-enough-bytes";
    let jwt = url(
        "Jwt",
        json!({"auth_type": "jwt", "jwt": {"secret": secret, "required_claims": ["team"]}}),
    )
    .await;
    let sign = |claims: Json| {
        let key = EncodingKey::from_secret(secret.as_bytes()).unwrap();
        encode(&Header::new(Algorithm::HS256), &claims, &key).unwrap()
    };
    assert_eq!(
        status(client.get(&jwt).bearer_auth(sign(json!({"team": 1}))))
            .await
            .1["message"],
        "in, "
    );
    for (token, told) in [
        (sign(json!({})), "Missing JWT claim: team"),
        (sign(json!({"team": 1, "exp": 1})), "Invalid JWT: "),
        (
            "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJ0ZWFtIjoxfQ.".to_owned(),
            "Invalid JWT: ",
        ),
    ] {
        let (code, answer) = status(client.get(&jwt).bearer_auth(token)).await;
        assert_eq!(code, 400);
        assert!(
            answer["message"].as_str().unwrap().starts_with(told),
            "{answer}"
        );
    }
    assert_eq!(runs(&server, "webhook").await.len(), 3);
}

#[tokio::test]
async fn floods_and_large_bodies_stay_outside() {
    let server = TestServer::start().await;
    let security = json!({
        "auth_type": "none", "allow_anonymous": true, "max_body_size": "1kb", "rate_limit": {"limit": 4, "per": "hour"},
    });
    let agent = server
        .agent(
            "ann",
            "Small",
            &hook(json!({"security": security}), ticket()),
        )
        .await;
    let (status, answer) = post(&server, &agent, json!({"id": 1, "x": "y".repeat(2_000)})).await;
    assert_eq!(status, 400);
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .starts_with("Request body too large: 20"),
        "{answer}"
    );
    // A body that does not say how long it is, in pieces.
    let address = server.address;
    let answer = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let head = format!(
            "POST /api/v1/agents/{agent}/webhook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        for _ in 0..20 {
            let piece = format!("64\r\n{}\r\n", "z".repeat(100));
            if stream.write_all(piece.as_bytes()).is_err() {
                break;
            }
        }
        let mut answer = vec![0; 4_096];
        let read = std::io::Read::read(&mut stream, &mut answer).unwrap();
        (agent, String::from_utf8_lossy(&answer[..read]).into_owned())
    });
    let (agent, answer) = answer.await.unwrap();
    assert!(
        answer.contains("400 Bad Request")
            && answer.contains("Request body too large: 1100 > 1024"),
        "{answer}"
    );
    let mut answers = Vec::new();
    for _ in 0..5 {
        answers.push(post(&server, &agent, json!({"id": 1})).await);
    }
    let let_in = answers.iter().filter(|(status, _)| *status == 200).count();
    assert_eq!(
        let_in, 3,
        "one of four was used up by the chunked body: {answers:?}"
    );
    assert_eq!(
        answers[4].1["message"],
        "Rate limit error: Too many requests (rate limit exceeded)"
    );
}

#[tokio::test]
async fn only_networks_on_the_list_get_in() {
    let server = TestServer::start().await;
    let mut security = open();
    security["ip_whitelist"] = json!(["127.0.0.0/8"]);
    let near = server
        .agent(
            "ann",
            "Near",
            &hook(json!({"security": security}), ticket()),
        )
        .await;
    assert_eq!(post(&server, &near, json!({"id": 1})).await.0, 200);
    security["ip_whitelist"] = json!(["10.0.0.0/8"]);
    let far = server
        .agent("ann", "Far", &hook(json!({"security": security}), ticket()))
        .await;
    let (status, answer) = post(&server, &far, json!({"id": 1})).await;
    assert_eq!(
        (status, &answer["message"]),
        (400, &json!("IP 127.0.0.1 is not allowed by whitelist"))
    );
}

#[tokio::test]
async fn files_and_queries_reach_the_canvas() {
    let server = TestServer::start().await;
    let schema = json!({
        "query": {"properties": {"lang": {"type": "string"}}}, "headers": {"properties": {"x-request-id": {"type": "string"}}},
        "body": {"properties": {"title": {"type": "string"}, "doc": {"type": "file"}}, "required": ["doc"]},
    });
    let message = says(
        "{begin@query.lang} {begin@headers.x-request-id} {begin@body.title} {begin@body.doc.0} {begin@request.query.more}",
    );
    let begin = json!({"content_types": "multipart/form-data", "schema": schema});
    let agent = server.agent("ann", "Files", &hook(begin, message)).await;
    let url = server.url(&format!("/api/v1/agents/{agent}/webhook?lang=de&more=1"));
    let part = |name: &str, file: &str, content: &str| {
        format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n")
    };
    let body =
        part("title", "", "Notes") + &part("doc", "; filename=\"a.txt\"", "the text") + "--b--\r\n";
    let request = client()
        .post(url)
        .header("content-type", "multipart/form-data; boundary=b");
    let request = request.header("X-Request-ID", "r1").body(body);
    let (status, answer) = read(request.send().await.unwrap()).await;
    let said = "de r1 Notes File: a.txt\nContent as following: \nthe text 1";
    assert_eq!((status, answer["message"].as_str()), (200, Some(said)));
}
