//! Runs that are listed, watched and looked into.

use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use super::{local, run_of};
use crate::client::{Client, read, said};
use crate::support::{TestServer, canvas, echo, form};

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_page_by_page_and_by_what_they_are() {
    let (server, client) = local().await;
    let agent = server.agent("local", "echo", &echo()).await;
    for text in ["a", "b", "c"] {
        let body = json!({"query": text, "wait": true, "user": format!("user-{text}")});
        client
            .post(&format!("/v1/agents/{agent}/runs"), &body)
            .await;
    }
    run_of(&server, &client, &form(), &json!({"query": "x"})).await;
    let ids = |page: &Json| -> Vec<String> {
        let runs = page["runs"].as_array().unwrap().iter();
        runs.map(|run| run["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let (_, all) = client.get("/v1/runs").await;
    assert_eq!(ids(&all).len(), 4);
    let mut paged = Vec::new();
    let mut cursor = String::new();
    loop {
        let (status, page) = client
            .get(&format!("/v1/runs?limit=1&cursor={cursor}"))
            .await;
        assert_eq!(status, StatusCode::OK, "{page}");
        paged.extend(ids(&page));
        match page["next"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(paged, ids(&all));
    let count = async |query: &str| {
        let (status, page) = client.get(&format!("/v1/runs?{query}")).await;
        assert_eq!(status, StatusCode::OK, "{query}: {page}");
        ids(&page).len()
    };
    assert_eq!(count(&format!("workflow={agent}")).await, 3);
    assert_eq!(count("status=awaiting_input").await, 1);
    assert_eq!(count("status=waiting,failed").await, 1);
    assert_eq!(count("status=succeeded").await, 3);
    assert_eq!(count("user=user-b").await, 1);
    assert_eq!(count("trigger=api").await, 4);
    assert_eq!(count("trigger=webhook").await, 0);
    assert_eq!(count("since=99999999999").await, 0);
    assert_eq!(count("limit=100000").await, 4);
    for query in ["status=odd", "cursor=odd", "limit=0", "limit=x", "since=x"] {
        let (status, page) = client.get(&format!("/v1/runs?{query}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {page}");
    }
    assert!(
        all["runs"][0].get("final").is_none(),
        "summaries leave outputs out"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_steps_of_a_run_show_every_attempt_and_pass() {
    let world = json!({"rules": [{"times": 1, "error": "busy"}, {"reply": "done"}]});
    let server = TestServer::with_world(world).await;
    let client = Client::of(&server);
    let retried = canvas(&[
        (
            "Agent:Flaky",
            "Agent",
            json!({"llm_id": "flaky@x", "max_retries": 1, "delay_after_error": 0,
                   "sys_prompt": "s", "prompts": [{"role": "user", "content": "{sys.query}"}]}),
        ),
        (
            "Message:M",
            "Message",
            json!({"content": ["{Agent:Flaky@content}"]}),
        ),
    ]);
    let run = run_of(&server, &client, &retried, &json!({"query": "go"})).await;
    let id = run["id"].as_str().unwrap();
    let (_, list) = client
        .get(&format!("/v1/runs/{id}/steps?node=Agent:Flaky"))
        .await;
    let steps = list["steps"].as_array().unwrap();
    let seen = steps
        .iter()
        .map(|s| (s["attempt"].clone(), s["state"].clone()));
    let seen: Vec<_> = seen.collect();
    assert_eq!(
        seen,
        [(json!(1), json!("failed")), (json!(2), json!("done"))],
        "{list}"
    );
    assert!(steps[0]["fault"]["message"].is_string());
    assert_eq!(steps[1]["inputs"]["sys.query"], "go");
    assert_eq!(steps[1]["outputs"]["content"], "done");
    assert!(steps[1]["ended_at"].as_f64() >= steps[1]["started_at"].as_f64());
    let (_, node) = client
        .get(&format!("/v1/runs/{id}/nodes/Agent:Flaky"))
        .await;
    assert_eq!(
        (&node["status"], &node["attempts"]),
        (&json!("ok"), &json!(2))
    );
    let (status, _) = client.get(&format!("/v1/runs/{id}/nodes/Nobody")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (_, trace) = client
        .get(&format!("/v1/runs/{id}/trace?node_id=Agent:Flaky"))
        .await;
    assert_eq!(trace["steps"][0]["label"], "node.Agent");
    assert_eq!(trace["steps"][0]["kind"], "llm");
    let (_, receipt) = client.get(&format!("/v1/runs/{id}/receipt")).await;
    assert_eq!(
        (&receipt["run"], &receipt["entries"]),
        (&json!(id), &json!([]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn any_reference_of_a_canvas_is_looked_up_at_any_event() {
    let (server, client) = local().await;
    let run = run_of(
        &server,
        &client,
        &form(),
        &json!({"query": "hi", "user": "u1"}),
    )
    .await;
    let id = run["id"].as_str().unwrap().to_owned();
    let before = run["entries"].as_u64().unwrap() - 1;
    client
        .post(
            &format!("/v1/runs/{id}/answer"),
            &json!({"text": "Ada", "wait": true}),
        )
        .await;
    let state = async |query: &str| client.get(&format!("/v1/runs/{id}/state?{query}")).await;
    for (reference, value) in [
        ("sys.query", json!("Ada")),
        ("{sys.query}", json!("Ada")),
        ("UserFillUp:Ask@name", json!("Ada")),
        ("Message:Greet@content", json!("Hello Ada.")),
        ("sys.user_id", json!("u1")),
    ] {
        let (status, found) = state(&format!("ref={reference}")).await;
        assert_eq!(
            (status, &found["value"]),
            (StatusCode::OK, &value),
            "{found}"
        );
    }
    let (_, then) = state(&format!("ref=Message:Greet@content&at={before}")).await;
    assert_eq!(then["found"], false, "{then}");
    let (_, then) = state(&format!("ref=sys.query&at={before}.0")).await;
    assert_eq!(
        (&then["value"], &then["at"]),
        (&json!("hi"), &json!(before))
    );
    let (status, unknown) = state("ref=Nobody@content").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("Message:Greet"),
        "it says what there is: {message}"
    );
    let (status, unknown) = state("ref=env.nope").await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{unknown}");
    let (_, missing) = state("ref=UserFillUp:Ask@nope").await;
    assert!(
        missing["why"].as_str().unwrap().contains("name"),
        "{missing}"
    );
    let (status, _) = state("ref=sys.query&at=odd").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let (_, all) = state("").await;
    assert_eq!(
        all["nodes"]["Message:Greet"]["outputs"]["content"],
        "Hello Ada."
    );
    assert_eq!(all["variables"]["sys.query"], "Ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_reference_of_a_graph_is_looked_up_too() {
    let (_server, client) = local().await;
    let graph = "\
name: each
inputs:
  - {name: things, type: array}
nodes:
  - id: all
    kind: map
    over: inputs.things
    item_var: thing
    body:
      - {id: say, kind: output, value: '{index}: {thing}'}
  - {id: last, kind: output, depends_on: [all], value: 'done'}
";
    let (status, made) = client
        .send(Method::POST, "/v1/workflows", "application/yaml", graph)
        .await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let asked = json!({"inputs": {"things": ["a", {"b": 7}]}, "wait": true});
    let (status, run) = client.post("/v1/workflows/each/runs", &asked).await;
    assert_eq!(status, StatusCode::OK, "{run}");
    let id = run["id"].as_str().unwrap();
    for (reference, value) in [
        ("inputs.things[1].b", json!(7)),
        ("nodes.all[0]", json!("0: a")),
        ("{nodes[all]}", json!(["0: a", "1: {'b': 7}"])),
        ("all[1]", json!("1: {'b': 7}")),
        ("nodes['all'][0]", json!("0: a")),
        ("index", json!(1)),
        ("thing.b", json!(7)),
    ] {
        let all = percent_encoding::NON_ALPHANUMERIC;
        let encoded = percent_encoding::utf8_percent_encode(reference, all);
        let (_, found) = client
            .get(&format!("/v1/runs/{id}/state?ref={encoded}"))
            .await;
        assert_eq!(found["value"], value, "{reference}: {found}");
    }
    let (status, unknown) = client
        .get(&format!("/v1/runs/{id}/state?ref=inputs.nope"))
        .await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(
        unknown["error"]["message"]
            .as_str()
            .unwrap()
            .contains("things")
    );
    let (_, list) = client.get(&format!("/v1/runs/{id}/steps?node=say")).await;
    let passes = list["steps"].as_array().unwrap().iter();
    let passes: Vec<_> = passes.map(|s| s["scope"][0]["index"].clone()).collect();
    assert_eq!(passes, [json!(0), json!(1)], "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_come_as_a_stream_and_as_a_list() {
    let (server, client) = local().await;
    let run = run_of(&server, &client, &echo(), &json!({"query": "hi"})).await;
    let id = run["id"].as_str().unwrap();
    let events = client.watch(id, None).await;
    assert_eq!(events[0].event, "workflow_started");
    assert_eq!(said(&events), "You said hi.");
    let end = events.last().unwrap();
    assert_eq!(
        (&*end.event, &end.data["state"]),
        ("end", &json!("finished"))
    );
    let request = client
        .request(Method::GET, &format!("/v1/runs/{id}/events"))
        .header("accept", "application/json");
    let (_, list) = read(request.send().await.unwrap()).await;
    let listed = list["events"].as_array().unwrap();
    assert_eq!(listed.len() + 1, events.len());
    assert_eq!(list["next"], events[events.len() - 2].id);
    let (status, _) = client.get(&format!("/v1/runs/{id}/events?after=odd")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let rest = client.watch(id, list["next"].as_str()).await;
    assert_eq!(rest.len(), 1, "nothing but the end is left: {rest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_several_bodies_have_asks_which_is_meant() {
    let (_server, client) = local().await;
    let graph = "\
name: twice
nodes:
  - {id: one, kind: map, over: '[1, 2]', body: [{id: a, kind: output, value: '{item}'}]}
  - {id: two, kind: map, over: '[3]', body: [{id: b, kind: output, value: '{item}'}]}
  - {id: end, kind: output, depends_on: [one, two]}
";
    let (status, made) = client
        .send(Method::POST, "/v1/workflows", "application/yaml", graph)
        .await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let (_, run) = client
        .post("/v1/workflows/twice/runs", &json!({"wait": true}))
        .await;
    assert_eq!(run["state"], "finished", "{run}");
    let path = format!("/v1/runs/{}/state?ref=item", run["id"].as_str().unwrap());
    let (status, unclear) = client.get(&path).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let message = unclear["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`one`") && message.contains("`two`"),
        "{message}"
    );
    for (container, item) in [("one", 2), ("two", 3)] {
        let (_, found) = client.get(&format!("{path}&within={container}")).await;
        assert_eq!(found["value"], item, "{found}");
    }
}
