//! `/v1/responses`.

use serde_json::{Value as Json, json};

use super::{SCOPES, data, get, post, remembers, send, with};
use crate::support::{form, model};

#[tokio::test]
async fn an_answer_that_fits_nothing_is_asked_for_again() {
    let mut two = form();
    let fields =
        json!({"name": {"name": "Name", "type": "line"}, "town": {"name": "Town", "type": "line"}});
    two["components"]["UserFillUp:Ask"]["obj"]["params"]["inputs"] = fields;
    let (server, agent, key) = with(&two).await;
    let ask = |input: &str, previous: &Json| json!({"model": agent, "input": input, "previous_response_id": previous});
    let (_, asked) = post(&server, &key, "/v1/responses", ask("hi", &Json::Null)).await;
    let (status, again) = post(&server, &key, "/v1/responses", ask("Ann", &asked["id"])).await;
    assert_eq!((status, &again["status"]), (200, &json!("completed")));
    assert_eq!(again["output"][0]["content"][0]["text"], "Who are you?");
    assert_eq!(again["easel"]["waiting"]["fields"]["town"]["name"], "Town");
    let path = format!("/v1/responses/{}", again["id"].as_str().unwrap());
    assert_eq!(get(&server, &key, &path).await.1["output"], again["output"]);
    let mut body = ask("", &again["id"]);
    body["inputs"] = json!({"name": "Ann", "town": "Rome"});
    let (_, answered) = post(&server, &key, "/v1/responses", body).await;
    assert_eq!(answered["output"][0]["content"][0]["text"], "Hello Ann.");
}

#[tokio::test]
async fn a_response_is_made_continued_and_read_again() {
    let (server, agent, key) = with(&remembers()).await;
    let body = json!({"model": agent, "input": "one", "metadata": {"topic": "test"}});
    let (status, first) = post(&server, &key, "/v1/responses", body).await;
    assert_eq!(
        (status, &first["object"], &first["status"]),
        (200, &json!("response"), &json!("completed"))
    );
    let text = |response: &Json| {
        response["output"][0]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(text(&first).starts_with("1: "), "{first}");
    assert_eq!(first["metadata"]["topic"], "test");
    let items = json!([{"role": "user", "content": [{"type": "input_text", "text": "two"}]}]);
    let body = json!({"model": agent, "input": items, "previous_response_id": first["id"]});
    let (_, second) = post(&server, &key, "/v1/responses", body).await;
    assert!(
        text(&second).starts_with("2: ") && text(&second).contains("user: one"),
        "{second}"
    );
    assert_eq!(second["previous_response_id"], first["id"]);
    for response in [&first, &second] {
        let (status, read) = get(
            &server,
            &key,
            &format!("/v1/responses/{}", response["id"].as_str().unwrap()),
        )
        .await;
        assert_eq!(
            (status, &read["output"], &read["status"]),
            (200, &response["output"], &response["status"])
        );
    }
    let server = server.restart().await;
    let path = format!("/v1/responses/{}", first["id"].as_str().unwrap());
    assert_eq!(get(&server, &key, &path).await.1["output"], first["output"]);
    let bob = server.key("bob", SCOPES).await;
    assert_eq!(
        get(&server, &bob, &path).await.1["error"]["code"],
        "response_not_found"
    );
    for unknown in ["resp_x", "resp_x_1", "x", "resp_x_y"] {
        assert_eq!(
            get(&server, &key, &format!("/v1/responses/{unknown}"))
                .await
                .0,
            404
        );
    }
    let body = json!({"model": agent, "input": "x", "previous_response_id": "resp_x_1"});
    assert_eq!(post(&server, &key, "/v1/responses", body).await.0, 404);
}

#[tokio::test]
async fn a_response_streams_with_the_official_events() {
    let (server, agent, key) = with(&model()).await;
    let body = json!({"model": agent, "input": "tell", "stream": true});
    let (status, _, stream) = send(&server, &key, "/v1/responses", Some(body)).await;
    assert_eq!(status, 200);
    let names = stream
        .lines()
        .filter_map(|line| line.strip_prefix("event: "));
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(names, expected);
    let events = data(&stream);
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], at);
    }
    let deltas = events
        .iter()
        .filter(|event| event["type"] == "response.output_text.delta");
    let text: String = deltas
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(text, "Once upon a time.");
    let response = &events.last().unwrap()["response"];
    assert_eq!(
        response["output"][0]["content"][0]["text"],
        "Once upon a time."
    );
    assert!(response["usage"]["output_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn each_turn_of_a_run_is_a_response_of_its_own() {
    let (server, agent, key) = with(&form()).await;
    let (_, asked) = post(
        &server,
        &key,
        "/v1/responses",
        json!({"model": agent, "input": "hi"}),
    )
    .await;
    let body = json!({"model": agent, "input": "Ann", "previous_response_id": asked["id"]});
    let (_, answered) = post(&server, &key, "/v1/responses", body).await;
    for (response, text) in [(&asked, "Who are you?"), (&answered, "Hello Ann.")] {
        assert_eq!(response["output"][0]["content"][0]["text"], text);
        let path = format!("/v1/responses/{}", response["id"].as_str().unwrap());
        assert_eq!(
            get(&server, &key, &path).await.1["output"],
            response["output"]
        );
    }
}
