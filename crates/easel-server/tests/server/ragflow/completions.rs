//! Messages and what comes back: as one answer and as a stream.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{Client, Stream, text};
use crate::support::{TestServer, canvas, echo, form, model};

/// A node that fails.
fn failing() -> Json {
    let model = json!({"llm_id": "gpt@openai", "prompts": [{"role": "user", "content": "{sys.query}"}], "max_retries": 0});
    let switch = json!({"content": ["{Agent:Fails@content}"], "stream": false});
    canvas(&[
        ("Agent:Fails", "Agent", model),
        ("Message:Say", "Message", switch),
    ])
}

/// The events of a stream, the pieces of one message as one.
fn steps(stream: &Stream) -> Vec<&str> {
    let mut names = stream.names();
    names.dedup_by(|next, before| next == before && *next == "message");
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_message_opens_a_conversation_and_streams_everything() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Echo", &echo()).await;
    let stream = ada.follow(json!({"agent_id": agent, "query": "hi"})).await;
    assert!(stream.done);
    let expected = [
        "workflow_started",
        "node_started",
        "node_finished",
        "node_started",
        "message",
        "message_end",
        "node_finished",
        "workflow_finished",
    ];
    assert_eq!(steps(&stream), expected);
    assert_eq!(stream.said(), "You said hi.");
    let session = text(&stream.frames[0]["session_id"]);
    let message = text(&stream.frames[0]["message_id"]);
    for frame in &stream.frames {
        let members: Vec<&String> = frame.as_object().unwrap().keys().collect();
        assert_eq!(
            members,
            [
                "event",
                "message_id",
                "created_at",
                "task_id",
                "data",
                "session_id"
            ]
        );
        assert_eq!(frame["session_id"], json!(session));
        assert_eq!(frame["task_id"], json!(session));
        assert_eq!(frame["message_id"], json!(message));
        assert!(frame["created_at"].is_i64());
    }
    let started = &stream.named("node_started")[0]["data"];
    assert_eq!(started["component_id"], "begin");
    assert_eq!(started["inputs"], Json::Null);
    assert_eq!(started["thoughts"], "");
    let finished = &stream.named("node_finished")[1]["data"];
    assert_eq!(finished["component_type"], "Message");
    assert_eq!(finished["error"], Json::Null);
    assert!(finished["outputs"]["_elapsed_time"].is_f64(), "{finished}");
    // Seconds since 1970, not of some clock.
    assert!(finished["created_at"].as_f64().unwrap() > 1.7e9);
    let last = &stream.frames.last().unwrap()["data"];
    assert_eq!(last["outputs"]["content"], "You said hi.");
    assert_eq!(last["usage"]["total_tokens"], 0);

    let again = ada
        .follow(json!({"agent_id": agent, "session_id": session, "query": "ho"}))
        .await;
    assert_eq!(steps(&again), expected, "the same every turn");
    assert_ne!(text(&again.frames[0]["message_id"]), message);
    let listed = ada.get(&format!("/agents/{agent}/sessions")).await;
    assert_eq!(listed["data"][0]["source"], "workflow");
    assert_eq!(listed["data"][0]["name"], "hi");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_opened_conversation_streams_what_is_said_and_what_came_out() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Model", &model()).await;
    let session = ada.session(&agent).await;
    let body =
        json!({"agent_id": agent, "session_id": session, "query": "hi", "return_trace": true});
    let stream = ada.follow(body).await;
    assert!(stream.done);
    let said: Vec<&str> = stream
        .names()
        .into_iter()
        .filter(|name| *name != "message")
        .collect();
    assert_eq!(
        said,
        [
            "node_finished",
            "node_finished",
            "message_end",
            "node_finished",
            "workflow_finished"
        ]
    );
    assert_eq!(stream.said(), "ok");
    let trace = &stream.named("node_finished")[2]["data"]["trace"];
    assert_eq!(trace.as_array().map(Vec::len), Some(3), "{trace}");
    assert_eq!(trace[0]["trace"][0]["component_id"], "begin");
    let last = stream.frames.last().unwrap();
    let members: Vec<&String> = last["data"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["usage"]);
    let whole = ada
        .ask(json!({"agent_id": agent, "session_id": session, "query": "hi"}))
        .await;
    assert_eq!(whole["code"], 0);
    assert_eq!(whole["data"]["event"], "message_end");
    assert_eq!(whole["data"]["data"]["content"], "ok");
    assert!(whole["data"]["data"]["usage"]["total_tokens"].is_i64());
    assert!(whole["data"]["data"].get("trace").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_answer_is_the_last_event_with_all_that_was_said() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Model", &model()).await;
    // It does not stream unless it is told to.
    let whole = ada
        .ask(json!({"agent_id": agent, "question": "hi", "return_trace": true}))
        .await;
    assert_eq!(whole["data"]["event"], "workflow_finished");
    let data = &whole["data"]["data"];
    assert_eq!(data["content"], "ok");
    assert_eq!(data["reference"], json!({}));
    assert_eq!(data["trace"].as_array().map(Vec::len), Some(3));
    assert!(data["outputs"].is_object() && data["usage"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn thoughts_are_marked_in_one_answer_and_told_apart_in_a_stream() {
    let world = json!({"rules": [{"reasoning": "hm", "reply": "yes"}]});
    let server = TestServer::with_world(world).await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Model", &model()).await;
    let whole = ada.ask(json!({"agent_id": agent, "query": "hi"})).await;
    assert_eq!(whole["data"]["data"]["content"], "<think>hm</think>yes");
    let stream = ada.follow(json!({"agent_id": agent, "query": "hi"})).await;
    let marks: Vec<bool> = stream
        .named("message")
        .iter()
        .map(|frame| frame["data"]["start_to_think"] == true)
        .collect();
    assert_eq!(marks.iter().filter(|mark| **mark).count(), 1);
    assert_eq!(stream.said(), "hmyes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_asked_and_answered() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Form", &form()).await;
    let asked = ada.follow(json!({"agent_id": agent, "query": "hi"})).await;
    assert_eq!(
        asked.names(),
        [
            "workflow_started",
            "node_started",
            "node_finished",
            "user_inputs"
        ]
    );
    let question = &asked.frames.last().unwrap()["data"];
    assert_eq!(question["tips"], "Who are you?");
    let field = &question["inputs"]["name"];
    assert_eq!(
        *field,
        json!({"name": "Name", "type": "line", "optional": false, "value": null})
    );
    let session = text(&asked.frames[0]["session_id"]);
    let inputs = json!({"name": {"type": "line", "value": "Ada"}});
    let body = json!({"agent_id": agent, "session_id": session, "query": "", "inputs": inputs});
    let answered = ada.follow(body).await;
    assert!(
        !answered.names().contains(&"workflow_started"),
        "it goes on"
    );
    assert_eq!(answered.said(), "Hello Ada.");
    assert_ne!(
        asked.frames[0]["message_id"],
        answered.frames[0]["message_id"]
    );
    // The next message begins at the beginning, and asks again.
    let third = ada
        .follow(json!({"agent_id": agent, "session_id": session, "query": "again"}))
        .await;
    assert_eq!(third.names(), asked.names());
    // Plain text answers the only field, also of a conversation that was opened before.
    let session = ada.session(&agent).await;
    let ask = async |query: &str| {
        ada.ask(json!({"agent_id": agent, "session_id": session, "query": query}))
            .await
    };
    let asked = ask("hi").await;
    assert_eq!(asked["data"]["event"], "user_inputs");
    assert_eq!(asked["data"]["data"]["tips"], "Who are you?");
    assert_eq!(ask("Eve").await["data"]["data"]["content"], "Hello Eve.");
    let read = ada
        .get(&format!("/agents/{agent}/sessions/{session}"))
        .await;
    let ids: Vec<&Json> = read["data"]["message"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["id"])
        .collect();
    assert_eq!(ids.len(), 4, "{read}");
    assert_eq!(ids[2], ids[3]);
    assert_ne!(ids[1], ids[2], "each turn has an id of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_fits_nothing_asks_again_and_a_client_can_begin_anew() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Form", &form()).await;
    let session = ada.session(&agent).await;
    let body = |more: Json| {
        let mut body = json!({"agent_id": agent, "session_id": session, "query": "hi"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    ada.ask(body(json!({}))).await;
    let again = ada
        .follow(body(json!({"query": "", "inputs": {"age": 7}})))
        .await;
    assert_eq!(again.names(), ["user_inputs"]);
    let anew = ada
        .ask(body(json!({"query": "new", "abandon": true})))
        .await;
    assert_eq!(anew["data"]["event"], "user_inputs");
    assert_eq!(
        ada.ask(body(json!({"query": "Ada"}))).await["data"]["data"]["content"],
        "Hello Ada."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_fails_says_so_and_the_conversation_goes_on() {
    let world = json!({"rules": [{"times": 2, "error": "boom"}], "default_reply": "fine"});
    let server = TestServer::with_world(world).await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Fails", &failing()).await;
    let stream = ada.follow(json!({"agent_id": agent, "query": "hi"})).await;
    assert!(stream.done);
    let names = stream.names();
    assert_eq!(names[names.len() - 2..], ["node_finished", "error"]);
    let finished = stream.named("node_finished");
    let failed = finished
        .into_iter()
        .find(|frame| frame["data"]["component_id"] == "Agent:Fails")
        .unwrap();
    assert!(text(&failed["data"]["error"]).contains("boom"));
    assert_eq!(failed["data"]["outputs"]["_ERROR"], failed["data"]["error"]);
    let error = stream.frames.last().unwrap();
    assert_eq!(error["code"], 500);
    assert_eq!(error["data"]["component_id"], "Agent:Fails");
    let session = text(&error["session_id"]);
    let ask = async || {
        ada.ask(json!({"agent_id": agent, "session_id": session, "query": "hi"}))
            .await
    };
    let whole = ask().await;
    assert_eq!(whole["code"], 500);
    assert_eq!(whole["data"]["event"], "node_finished");
    assert!(
        text(&whole["data"]["data"]["error"]).contains("boom"),
        "{whole}"
    );
    let read = ada
        .get(&format!("/agents/{agent}/sessions/{session}"))
        .await;
    assert!(text(&read["data"]["errors"]).contains("boom"), "{read}");
    assert_eq!(
        ask().await["data"]["data"]["content"],
        "fine",
        "a failure does not last"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_message_is_said() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Echo", &echo()).await;
    let other = ada.agent("Other", &echo()).await;
    let session = ada.session(&agent).await;
    let pipeline = json!({"title": "Pipe", "dsl": echo(), "canvas_category": "dataflow_canvas"});
    let pipeline = text(&ada.post("/agents", pipeline).await["data"]["id"]);
    let asked_for = ada
        .post(
            &format!("/agents/{agent}/sessions"),
            json!({"user_id": "u1"}),
        )
        .await;
    let of_user = text(&asked_for["data"]["id"]);
    for (body, code, message) in [
        (json!({"query": "hi"}), 101, "`agent_id` is required."),
        (
            json!({"agent_id": "nothing", "query": "hi"}),
            103,
            "Make sure you have permission to access the agent.",
        ),
        (
            json!({"agent_id": agent, "session_id": "nothing"}),
            102,
            "Session not found!",
        ),
        (
            json!({"agent_id": other, "session_id": session}),
            103,
            "Session does not belong to the requested agent.",
        ),
        (
            json!({"agent_id": agent, "session_id": of_user, "user_id": "u2"}),
            103,
            "Only authorized users can access this agent session.",
        ),
        (
            json!({"agent_id": agent, "inputs": "x"}),
            101,
            "`inputs` must be an object.",
        ),
        (
            json!({"agent_id": pipeline, "query": "hi"}),
            102,
            "This is an ingestion pipeline",
        ),
        (
            json!({"agent_id": agent, "release": true}),
            102,
            "No available published version",
        ),
        (
            json!({"agent_id": agent, "files": [{"id": "x"}, {}]}),
            101,
            "Each of `files`",
        ),
    ] {
        let refused = ada.ask(body.clone()).await;
        assert_eq!(refused["code"], code, "{body}: {refused}");
        assert!(
            text(&refused["message"]).starts_with(message),
            "{body}: {refused}"
        );
    }
    assert_eq!(
        ada.get(&format!("/agents/{agent}/sessions")).await["total"],
        2,
        "nothing was opened for them"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn older_addresses_and_embedded_pages_ask_the_same() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Form", &form()).await;
    let old = ada
        .post(
            &format!("/agents/{agent}/completions"),
            json!({"query": "hi"}),
        )
        .await;
    assert_eq!(old["data"]["event"], "user_inputs");
    let begin = ada.get(&format!("/agentbots/{agent}/inputs")).await;
    assert_eq!(
        begin["data"],
        json!({"title": "Form", "avatar": "", "inputs": {}, "prologue": "Hello!", "mode": "conversational"})
    );
    let path = format!("/agentbots/{agent}/completions");
    let asked = ada.stream(&path, json!({"query": "hi"})).await;
    assert!(!asked.done, "such a stream just ends");
    assert_eq!(asked.names().last(), Some(&"user_inputs"));
    let session = text(&asked.frames[0]["session_id"]);
    let answer = json!({"session_id": session, "stream": false, "inputs": {"name": "Ada"}});
    let answered = ada.post(&path, answer).await;
    assert_eq!(answered["data"]["data"]["content"], "Hello Ada.");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_messages_to_one_conversation_queue_or_one_is_refused() {
    let server = TestServer::with_world(json!({"default_reply": "slow", "slow_ms": 300})).await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Model", &model()).await;
    let session = ada.session(&agent).await;
    let body = |query: &str| json!({"agent_id": agent, "session_id": session, "query": query});
    let mut refused = body("no");
    refused["busy"] = "refuse".into();
    let later = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let refused = ada.follow(refused).await;
        let error = &refused.frames[0];
        assert_eq!(error["code"], 500);
        assert!(
            text(&error["data"]["content"]).starts_with("**ERROR**"),
            "{error}"
        );
    };
    let (one, two, ()) = tokio::join!(ada.ask(body("one")), ada.ask(body("two")), later);
    assert_eq!(
        (one["code"].clone(), two["code"].clone()),
        (json!(0), json!(0))
    );
    let read = ada
        .get(&format!("/agents/{agent}/sessions/{session}"))
        .await;
    let said = read["data"]["message"].as_array().unwrap();
    let roles: Vec<&str> = said.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(
        roles,
        ["assistant", "user", "assistant", "user", "assistant"],
        "in order, each answered"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_breaks_off_loses_nothing() {
    let server = TestServer::with_world(json!({"default_reply": "late", "slow_ms": 300})).await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Model", &model()).await;
    for stream in [true, false] {
        let session = ada.session(&agent).await;
        let body =
            json!({"agent_id": agent, "session_id": session, "query": "hi", "stream": stream});
        let request = ada
            .request(reqwest::Method::POST, "/agents/chat/completions")
            .body(body.to_string());
        let sent = tokio::spawn(async move {
            let response = request.send().await.unwrap();
            response.bytes().await
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
        sent.abort();
        let path = format!("/agents/{agent}/sessions/{session}?dsl=false");
        for _ in 0..100 {
            let read = ada.get(&path).await;
            if read["data"]["message"]
                .as_array()
                .is_some_and(|said| said.len() == 3)
            {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let read = ada.get(&path).await;
        assert_eq!(
            read["data"]["message"][2]["content"], "late",
            "stream: {stream}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_does_is_cancelled_by_its_task() {
    let server = TestServer::with_world(json!({"default_reply": "never", "slow_ms": 60_000})).await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Model", &model()).await;
    let session = ada.session(&agent).await;
    let asking = ada.follow(json!({"agent_id": agent, "session_id": session, "query": "hi"}));
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        ada.post(&format!("/tasks/{session}/cancel"), Json::Null)
            .await
    };
    let (stream, cancelled) = tokio::join!(asking, cancelling);
    assert_eq!(cancelled["data"], true);
    assert!(stream.done);
    assert_eq!(stream.names().last(), Some(&"workflow_finished"));
    let again = ada
        .call(
            reqwest::Method::PATCH,
            &format!("/tasks/{session}"),
            json!({"action": "stop"}),
        )
        .await;
    assert_eq!(again.1["data"], true, "also when nothing is left to do");
    let asking = ada.ask(json!({"agent_id": agent, "query": "hi"}));
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let listed = ada
            .get(&format!("/agents/{agent}/sessions?orderby=create_time"))
            .await;
        let session = text(&listed["data"][0]["id"]);
        ada.post(&format!("/tasks/{session}/cancel"), Json::Null)
            .await
    };
    let (whole, _) = tokio::join!(asking, cancelling);
    assert_eq!(whole["data"]["data"]["outputs"], "Task has been canceled");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_attempt_said_before_it_broke_is_not_said_twice() {
    let lost = json!({"chunks": ["Hel", "lo ", "you"], "times": 1, "fail_after": {"chunks": 2, "error": "broken"}});
    let whole = json!({"chunks": ["He", "llo y", "ou"]});
    let server = TestServer::with_world(json!({"rules": [lost, whole]})).await;
    let ada = Client::of(&server, "ada").await;
    let mut retried = model();
    let params = &mut retried["components"]["Agent:Answer"]["obj"]["params"];
    params["max_retries"] = 2.into();
    params["delay_after_error"] = 0.into();
    let agent = ada.agent("Model", &retried).await;
    let stream = ada.follow(json!({"agent_id": agent, "query": "hi"})).await;
    assert_eq!(stream.said(), "Hello you", "{:?}", stream.names());
    assert_eq!(stream.named("message_end").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_that_a_message_called_are_found_by_its_id() {
    let call =
        json!({"tool_calls": [{"name": "tavily_search", "arguments": {"query": "x"}}], "times": 1});
    let world = json!({"rules": [call], "default_reply": "found", "search": [{"results": [{"title": "t", "url": "http://a.example", "content": "c"}]}]});
    let server = TestServer::with_world(world).await;
    let ada = Client::of(&server, "ada").await;
    let mut made = model();
    let tool = json!({"component_name": "TavilySearch", "name": "TavilySearch", "params": {"api_key": "tvly-0123456789"}});
    made["components"]["Agent:Answer"]["obj"]["params"]["tools"] = json!([tool]);
    let agent = ada.agent("Model", &made).await;
    let stream = ada.follow(json!({"agent_id": agent, "query": "hi"})).await;
    let message = text(&stream.frames[0]["message_id"]);
    let session = text(&stream.frames[0]["session_id"]);
    for slot in [&agent, &session] {
        let log = ada.get(&format!("/agents/{slot}/logs/{message}")).await;
        let call = &log["data"][0]["trace"][0];
        assert_eq!(call["tool_name"], "tavily_search", "{log}");
        assert_eq!(call["arguments"]["query"], "x");
    }
    assert_eq!(
        ada.get(&format!("/agents/{agent}/logs/nothing")).await["data"],
        json!({})
    );
    let eve = Client::of(&server, "eve").await;
    assert_eq!(
        eve.get(&format!("/agents/{agent}/logs/{message}")).await["data"],
        json!({})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_attempt_said_otherwise_is_another_message() {
    let lost = json!({"chunks": ["Hel", "lo"], "times": 2, "fail_after": {"chunks": 1, "error": "broken"}});
    let server = TestServer::with_world(json!({"rules": [lost, {"chunks": ["By", "e"]}]})).await;
    let ada = Client::of(&server, "ada").await;
    let mut retried = model();
    let params = &mut retried["components"]["Agent:Answer"]["obj"]["params"];
    params["max_retries"] = 4.into();
    params["delay_after_error"] = 0.into();
    let agent = ada.agent("Model", &retried).await;
    let stream = ada.follow(json!({"agent_id": agent, "query": "hi"})).await;
    assert_eq!(
        stream.said(),
        "HelBye",
        "what was shown twice is shown once"
    );
    assert_eq!(stream.named("message_end").len(), 2, "{:?}", stream.names());
    let session = text(&stream.frames[0]["session_id"]);
    let read = ada
        .get(&format!("/agents/{agent}/sessions/{session}?dsl=false"))
        .await;
    assert_eq!(read["data"]["message"][2]["content"], "Bye", "what counts");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_after_the_server_was_restarted() {
    let server = TestServer::start().await;
    let (agent, session, key) = {
        let key = server.key("ada", &["read", "run", "write"]).await;
        let ada = Client::with(&server, Some(key.clone()));
        let agent = ada.agent("Form", &form()).await;
        let session = ada.session(&agent).await;
        let body = json!({"agent_id": agent, "session_id": session, "query": "hi"});
        assert_eq!(ada.ask(body).await["data"]["event"], "user_inputs");
        // The agent changes meanwhile; the run keeps what it began with.
        ada.put(&format!("/agents/{agent}"), json!({"dsl": echo()}))
            .await;
        (agent, session, key)
    };
    let server = server.restart().await;
    let ada = Client::with(&server, Some(key));
    let body = json!({"agent_id": agent, "session_id": session, "query": "Ada"});
    let answered = ada.ask(body).await;
    assert_eq!(
        answered["data"]["data"]["content"], "Hello Ada.",
        "{answered}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_of_a_request_reach_no_record() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Echo", &echo()).await;
    let header = json!({"X-Token": "token-0123456789"});
    let body =
        json!({"agent_id": agent, "query": "it is token-0123456789", "custom_header": header});
    let said = ada.ask(body).await;
    assert!(!said.to_string().contains("token-0123456789"), "{said}");
    let session = text(&said["data"]["session_id"]);
    let read = ada
        .get(&format!("/agents/{agent}/sessions/{session}"))
        .await;
    assert!(!read.to_string().contains("token-0123456789"), "{read}");
}
