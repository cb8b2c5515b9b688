//! The MCP server: the protocol with agents that are made up, and the agents of a server.

mod client;
mod fake;
mod hosted;

use std::time::Duration;

use easel_server::mcp::{Options, Outcome};
use serde_json::{Value, json};

use client::{Server, Stream, until};

fn forms() -> Value {
    json!({"elicitation": {}})
}

fn tasks() -> Value {
    json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn released_agents_are_tools_with_the_inputs_they_declare() {
    let server = Server::new().await;
    let listed = server
        .modern("ada", json!({}))
        .result("tools/list", json!({}))
        .await;
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "echo",
            "weather_report",
            "broken",
            "slow",
            "asks",
            "resume_run"
        ]
    );
    let weather = &tools[1];
    assert_eq!(weather["title"], "Weather report");
    assert_eq!(weather["description"], "The agent weather.");
    assert_eq!(weather["annotations"]["readOnlyHint"], true);
    assert_eq!(weather["inputSchema"]["required"], json!(["city"]));
    assert_eq!(
        weather["inputSchema"]["properties"]["days"]["type"],
        "integer"
    );
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["query"]));
    // What one caller sees is not for others.
    assert_eq!(listed["cacheScope"], "private");
}

#[tokio::test]
async fn many_agents_come_in_pages() {
    let server = Server::new().await;
    let client = server.modern("collector", json!({}));
    let (mut names, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let params = match &cursor {
            Some(cursor) => json!({"cursor": cursor}),
            None => json!({}),
        };
        let page = client.result("tools/list", params).await;
        let tools = page["tools"].as_array().unwrap();
        names.extend(
            tools
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!((pages, names.len()), (3, 251));
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 251);
    let error = client
        .error("tools/list", json!({"cursor": "nowhere"}))
        .await;
    assert_eq!(error["code"], -32602);
}

#[tokio::test]
async fn a_call_runs_the_agent_and_gives_its_text_and_outputs() {
    let server = Server::new().await;
    let client = server.modern("ada", json!({}));
    let result = client.call("echo", json!({"query": "hello"})).await;
    assert_eq!(text(&result), "You said: hello");
    assert_eq!(
        result["structuredContent"],
        json!({"content": "You said: hello"})
    );
    assert_eq!(result["isError"], false);
    let run = result["_meta"]["easel/run"].as_str().unwrap();
    assert_eq!(&*server.agents.run(run).call.agent, "echo");
    let result = client
        .call("weather_report", json!({"city": "Oslo", "days": 2}))
        .await;
    assert_eq!(text(&result), r#"{"city":"Oslo","days":2}"#);
}

#[tokio::test]
async fn the_trace_of_a_request_goes_with_its_run() {
    let server = Server::new().await;
    let client = server.modern("ada", json!({}));
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let call = client.request(
        "tools/call",
        json!({"name": "echo", "arguments": {"query": "x"}}),
    );
    Stream::new(client.post_with(call, &[("traceparent", trace)]).await)
        .last()
        .await;
    assert_eq!(&*server.agents.only().1.call.traceparent, trace);
}

#[tokio::test]
async fn what_a_model_got_wrong_is_told_to_the_model() {
    let server = Server::new().await;
    let client = server.modern("ada", json!({}));
    let result = client.call("weather_report", json!({"days": "two"})).await;
    assert_eq!(result["isError"], true);
    assert!(
        text(&result).contains("city") && text(&result).contains("days"),
        "{result}"
    );
    assert_eq!(server.agents.count(), 0);
    let failed = client.call("broken", json!({"query": "x"})).await;
    assert_eq!(failed["isError"], true);
    assert!(text(&failed).contains("no answer"));
    let error = client
        .error("tools/call", json!({"name": "nobody", "arguments": {}}))
        .await;
    assert_eq!(error["code"], -32602);
}

#[tokio::test]
async fn progress_is_told_to_those_who_ask_for_it() {
    let server = Server::new().await;
    let client = server.modern("ada", json!({}));
    let call = |meta: Value| json!({"name": "echo", "arguments": {"query": "x"}, "_meta": meta});
    let asked = client
        .ask("tools/call", call(json!({"progressToken": "p1"})))
        .await;
    let messages = asked.all().await;
    let told: Vec<_> = messages
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| &message["params"])
        .collect();
    assert_eq!(told.len(), 2, "{messages:?}");
    assert!(told.iter().all(|told| told["progressToken"] == "p1"));
    assert_eq!(told[0]["message"], "Search");
    assert!(told[0]["progress"].as_f64() < told[1]["progress"].as_f64());
    let silent = client.ask("tools/call", call(json!({}))).await;
    assert_eq!(silent.all().await.len(), 1);
}

#[tokio::test]
async fn a_question_is_a_result_that_the_next_request_answers() {
    let server = Server::new().await;
    let client = server.modern("ada", forms());
    let mut params = json!({"name": "asks", "arguments": {"query": "go"}});
    for (asked, field, answer) in [
        ("What is your name?", "name", "Ada"),
        ("Which colour?", "colour", "blue"),
    ] {
        let question = client.result("tools/call", params.clone()).await;
        assert_eq!(question["resultType"], "input_required");
        let form = &question["inputRequests"]["answers"]["params"];
        assert_eq!(form["message"], asked);
        assert_eq!(form["requestedSchema"]["required"], json!([field]));
        params["requestState"] = question["requestState"].clone();
        params["inputResponses"] =
            json!({"answers": {"action": "accept", "content": {field: answer}}});
    }
    let result = client.result("tools/call", params.clone()).await;
    assert_eq!(text(&result), "Ada likes blue.");
    assert_eq!(server.agents.count(), 1);
    // A client whose connection broke sends it once more, and nothing is answered twice.
    let again = client.result("tools/call", params).await;
    assert_eq!(text(&again), "Ada likes blue.");
    assert_eq!(server.agents.count(), 1);
}

#[tokio::test]
async fn a_state_leads_nobody_else_to_a_run() {
    let server = Server::new().await;
    let params = json!({"name": "asks", "arguments": {"query": "go"}});
    let question = server
        .modern("ada", forms())
        .result("tools/call", params.clone())
        .await;
    let mut retry = params;
    retry["requestState"] = question["requestState"].clone();
    retry["inputResponses"] = json!({"answers": {"action": "accept", "content": {"name": "Eve"}}});
    let error = server
        .modern("eve", forms())
        .error("tools/call", retry.clone())
        .await;
    assert_eq!(error["code"], -32602);
    retry["requestState"] = json!(format!("{}x", question["requestState"].as_str().unwrap()));
    let error = server
        .modern("ada", forms())
        .error("tools/call", retry)
        .await;
    assert_eq!(error["code"], -32602);
    assert!(server.agents.only().1.answers.is_empty());
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_how_any_client_answers() {
    let server = Server::new().await;
    let told = server
        .modern("ada", json!({}))
        .call("asks", json!({"query": "go"}))
        .await;
    assert_eq!(told["isError"], false);
    let run = told["structuredContent"]["run"].as_str().unwrap();
    assert!(text(&told).contains("resume_run") && text(&told).contains(run));
    let answer = |field: &str| json!({"run": run, "answers": {field: "x"}});
    // Somebody else's run is none.
    let other = server
        .modern("eve", json!({}))
        .call("resume_run", answer("name"))
        .await;
    assert_eq!(other["isError"], true);
    assert!(text(&other).contains("no run"));
    // Another client of the same user, of another revision.
    let other = server.session("ada", json!({})).await;
    let unfit = other.call("resume_run", answer("age")).await;
    assert!(
        unfit["isError"] == true && text(&unfit).contains("name"),
        "{unfit}"
    );
    let next = other.call("resume_run", answer("name")).await;
    assert!(text(&next).contains("Which colour?"));
    let done = other.call("resume_run", answer("colour")).await;
    assert_eq!(text(&done), "x likes x.");
    let late = other.call("resume_run", answer("colour")).await;
    assert!(
        late["isError"] == true && text(&late).contains("finished"),
        "{late}"
    );
}

#[tokio::test]
async fn in_a_session_the_user_is_asked_while_the_call_waits() {
    let server = Server::new().await;
    let client = server.session("ada", forms()).await;
    let call = json!({"name": "asks", "arguments": {"query": "go"}});
    let mut messages = client.ask("tools/call", call).await;
    for (asked, answer) in [
        ("What is your name?", json!({"name": "Ada"})),
        ("Which colour?", json!({"colour": "blue"})),
    ] {
        let question = messages.next().await.unwrap();
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["message"], asked);
        let result = json!({"action": "accept", "content": answer});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        assert_eq!(client.post(answer).await.status(), 202);
    }
    let result = messages.next().await.unwrap();
    assert_eq!(text(&result["result"]), "Ada likes blue.");
}

#[tokio::test]
async fn a_user_who_declines_ends_the_run_and_one_who_puts_it_off_does_not() {
    let server = Server::new().await;
    let client = server.session("ada", forms()).await;
    for (action, word) in [("cancel", "resume_run"), ("decline", "ended")] {
        let call = json!({"name": "asks", "arguments": {"query": "go"}});
        let mut messages = client.ask("tools/call", call).await;
        let question = messages.next().await.unwrap();
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": action}});
        assert_eq!(client.post(answer).await.status(), 202);
        let result = messages.next().await.unwrap();
        assert!(text(&result["result"]).contains(word), "{result}");
        let run = result["result"]["_meta"]["easel/run"].as_str().unwrap();
        let outcome = server.agents.run(run).outcome.borrow().clone();
        match action {
            "cancel" => assert!(matches!(outcome, Some(Outcome::Waiting(_)))),
            _ => assert!(matches!(outcome, Some(Outcome::Cancelled))),
        }
    }
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_run() {
    let server = Server::new().await;
    let client = server.modern("ada", json!({}));
    let call = json!({"name": "slow", "arguments": {"query": "x"}, "_meta": {"progressToken": 1}});
    let mut messages = client.ask("tools/call", call).await;
    messages.next().await.unwrap();
    drop(messages);
    let (_, run) = server.agents.only();
    let cancelled = || matches!(*run.outcome.borrow(), Some(Outcome::Cancelled));
    until("the run is cancelled", cancelled).await;
}

#[tokio::test]
async fn a_server_that_goes_away_leaves_runs_going() {
    let server = Server::new().await;
    let client = server.modern("ada", json!({}));
    let call = json!({"name": "slow", "arguments": {"query": "x"}, "_meta": {"progressToken": 1}});
    let mut messages = client.ask("tools/call", call).await;
    messages.next().await.unwrap();
    server.options.closing.cancel();
    while messages.next().await.is_some() {}
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(server.agents.only().1.outcome.borrow().is_none());
}

#[tokio::test]
async fn in_a_session_a_run_is_cancelled_by_the_word_and_not_by_a_broken_connection() {
    let server = Server::new().await;
    let client = server.session("ada", json!({})).await;
    let call = json!({"name": "slow", "arguments": {"query": "x"}, "_meta": {"progressToken": 1}});
    let mut messages = client.ask("tools/call", call).await;
    messages.next().await.unwrap();
    drop(messages);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let (_, run) = server.agents.only();
    assert!(run.outcome.borrow().is_none());
    client
        .tell("notifications/cancelled", json!({"requestId": 7}))
        .await;
    let cancelled = || matches!(*run.outcome.borrow(), Some(Outcome::Cancelled));
    until("the run is cancelled", cancelled).await;
}

#[tokio::test]
async fn a_session_is_of_no_use_to_others() {
    let server = Server::new().await;
    let ada = server.session("ada", json!({})).await;
    let mut eve = server.session("eve", json!({})).await;
    eve.session = ada.session.clone();
    let list = || json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let refused = eve.post(list()).await;
    assert_eq!(refused.status(), 404);
    assert_eq!(ada.post(list()).await.status(), 200);
}

#[tokio::test]
async fn a_caller_has_only_so_many_sessions() {
    let server = Server::with(Options {
        sessions: 2,
        ..Options::default()
    })
    .await;
    let list = || json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let other = server.session("eve", json!({})).await;
    let first = server.session("ada", json!({})).await;
    let second = server.session("ada", json!({})).await;
    assert_eq!(first.post(list()).await.status(), 200);
    let third = server.session("ada", json!({})).await;
    // The one that was used longest ago is gone.
    let answers = [&first, &second, &third, &other].map(|client| client.post(list()));
    let statuses = futures::future::join_all(answers).await;
    let statuses: Vec<u16> = statuses
        .iter()
        .map(|answer| answer.status().as_u16())
        .collect();
    assert_eq!(statuses, [200, 404, 200, 200]);
}

#[tokio::test]
async fn a_long_call_becomes_a_task_that_is_the_run() {
    let server = Server::with(Options {
        patience: Duration::from_millis(50),
        ..Options::default()
    })
    .await;
    let client = server.modern("ada", tasks());
    let begun = client.call("slow", json!({"query": "x"})).await;
    assert_eq!(begun["resultType"], "task");
    assert_eq!(begun["status"], "working");
    assert_eq!(begun["createdAt"], "1970-01-01T00:00:01.000Z");
    let task = json!({"taskId": begun["taskId"]});
    // Nobody waits in a call any more, and it goes on.
    let seen = client.result("tasks/get", task.clone()).await;
    assert_eq!(seen["status"], "working");
    let error = server
        .modern("eve", tasks())
        .error("tasks/get", task.clone())
        .await;
    assert_eq!(error["code"], -32602);
    server
        .agents
        .finish(begun["taskId"].as_str().unwrap(), "Done.");
    let seen = client.result("tasks/get", task.clone()).await;
    assert_eq!(seen["status"], "completed");
    assert_eq!(text(&seen["result"]), "Done.");
    // Whoever does not follow tasks waits.
    let plain = server.modern("ada", json!({}));
    let mut waits = Box::pin(plain.call("slow", json!({"query": "x"})));
    let waited = tokio::time::timeout(Duration::from_millis(300), &mut waits).await;
    assert!(waited.is_err());
    server.agents.finish("run-1", "Late.");
    assert_eq!(text(&waits.await), "Late.");
}

#[tokio::test]
async fn a_page_from_elsewhere_cannot_use_a_local_server() {
    let server = Server::new().await;
    let client = server.modern("ada", json!({}));
    let list = client.request("tools/list", json!({}));
    let asked = |header: &'static str, value: &'static str| {
        let (client, list) = (client.clone(), list.clone());
        async move {
            client
                .post_with(list, &[(header, value)])
                .await
                .status()
                .as_u16()
        }
    };
    assert_eq!(asked("origin", "https://evil.example.com").await, 403);
    assert_eq!(asked("origin", "http://localhost:5173").await, 200);
    assert_eq!(asked("host", "evil.example.com").await, 403);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let server = Server::with(Options {
        body: 10_000,
        ..Options::default()
    })
    .await;
    let client = server.modern("ada", json!({}));
    let arguments = json!({"query": "x".repeat(20_000)});
    let call = client.request(
        "tools/call",
        json!({"name": "echo", "arguments": arguments}),
    );
    assert_eq!(client.post(call).await.status(), 413);
}
