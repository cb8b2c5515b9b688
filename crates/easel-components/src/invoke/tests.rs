//! HTTP nodes as users set them up.

use std::sync::{Arc, Mutex};

use easel_core::Value;
use easel_tools::http::{HttpRequest, HttpResponse, HttpSender};
use easel_tools::{ScriptedWorld, ToolError, World};
use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Value as Json, json};

use crate::testing::{Trial, Tried};

fn invoke(params: Json, rule: Json) -> (Tried, Vec<Json>) {
    let mut all =
        json!({"url": "http://api.example.com/x", "method": "get", "variables": [], "timeout": 5});
    for (name, value) in params.as_object().unwrap() {
        all[name] = value.clone();
    }
    let world = ScriptedWorld::new(serde_json::from_value(json!({"http": [rule]})).unwrap());
    let trial = Trial::new("Invoke", all)
        .given("sys.query", json!("hello"))
        .given("env.none", json!(null));
    let tried = trial.world(world.world()).run();
    let calls = world.take_calls().iter().map(Value::to_json).collect();
    (tried, calls)
}

#[test]
fn arguments_go_into_the_query_of_a_get() {
    let variables = json!([{"key": "q", "ref": "sys.query", "value": null}, {"key": "n", "value": "5"},
        {"key": "d", "ref": "env.none", "value": "else"}, {"key": " ", "value": "x"}]);
    let (tried, calls) = invoke(json!({"variables": variables}), json!({"text": "body"}));
    assert_eq!(tried.ports(), json!({"result": "body"}));
    assert_eq!(
        calls,
        [
            json!({"http": "get", "url": "http://api.example.com/x", "params": {"q": "hello", "n": 5, "d": "else"},
                "json": null, "data": null, "headers": {}})
        ]
    );
}

#[test]
fn arguments_go_into_the_body_of_a_post() {
    let variables =
        json!([{"key": "a", "value": "{sys.query}"}, {"key": "n", "ref": "", "value": "10"}]);
    let (_, calls) = invoke(
        json!({"method": "post", "variables": variables, "datatype": "formdata"}),
        json!({"text": "ok"}),
    );
    assert_eq!(
        (&calls[0]["data"], &calls[0]["params"]),
        (&json!({"a": "hello", "n": "10"}), &Json::Null)
    );
    let (_, calls) = invoke(
        json!({"method": "POST", "variables": variables}),
        json!({"text": "ok"}),
    );
    assert_eq!(calls[0]["json"], json!({"a": "hello", "n": 10}));
    let (_, calls) = invoke(
        json!({"method": "put", "body": {"say": "{sys.query}"}}),
        json!({"text": "ok"}),
    );
    assert_eq!(calls[0]["json"], json!({"say": "hello"}));
}

#[test]
fn addresses_and_headers_may_have_references() {
    let params =
        json!({"url": "api.example.com/{sys.query}", "headers": "{\"X-Q\": \"{sys.query}!\"}"});
    let (_, calls) = invoke(params, json!({"text": "ok"}));
    assert_eq!(
        (&calls[0]["url"], &calls[0]["headers"]),
        (
            &json!("http://api.example.com/hello"),
            &json!({"X-Q": "hello!"})
        )
    );
}

#[test]
fn headers_that_are_no_object_are_named() {
    let (tried, calls) = invoke(json!({"headers": "nope"}), json!({"text": "ok"}));
    assert!(
        tried.fault().message.contains("`headers`"),
        "{}",
        tried.fault()
    );
    assert!(calls.is_empty());
}

#[test]
fn addresses_inside_are_refused() {
    let (tried, _) = invoke(
        json!({"url": "http://127.0.0.1:80/"}),
        json!({"text": "never"}),
    );
    assert_eq!(&*tried.fault().code, "tool.blocked");
}

#[test]
fn a_status_is_an_answer_unless_the_node_says_otherwise() {
    let (tried, _) = invoke(json!({}), json!({"status": 500, "text": "oops"}));
    assert_eq!(tried.ports(), json!({"result": "oops"}));
    let (strict, _) = invoke(
        json!({"fail_on_status": true}),
        json!({"status": 500, "text": "oops"}),
    );
    assert_eq!(&*strict.fault().code, "http_status");
}

#[test]
fn what_somebody_asks_for_is_given_beside_the_body() {
    let outputs = json!({"result": {}, "status": {}, "json": {}});
    let (tried, _) = invoke(json!({"outputs": outputs}), json!({"json": {"id": 1}}));
    assert_eq!(
        tried.ports(),
        json!({"result": "{\"id\":1}", "status": 200, "json": {"id": 1}})
    );
}

#[test]
fn pages_are_reduced_to_their_text() {
    let (tried, _) = invoke(
        json!({"clean_html": true}),
        json!({"text": "<html><body><p>Hi</p><script>x</script></body></html>"}),
    );
    assert_eq!(tried.port("result"), "Hi");
}

/// Keeps the keys of the requests it gets.
#[derive(Default)]
struct Keys(Mutex<Vec<Option<String>>>);

impl HttpSender for Keys {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        self.0.lock().unwrap().push(request.idempotency_key);
        let response = HttpResponse {
            status: 200,
            headers: Vec::new(),
            body: String::new(),
        };
        ready(Ok(response)).boxed()
    }
}

#[test]
fn a_request_that_writes_says_which_one_it_is() {
    let keys = Arc::new(Keys::default());
    for method in ["get", "head", "post", "delete"] {
        let world = World {
            http: keys.clone(),
            ..World::none()
        };
        let params = json!({"url": "http://api.example.com/x", "method": method});
        Trial::new("Invoke", params).world(world).run().completion();
    }
    let key = Some("run-1/X/1".to_owned());
    assert_eq!(*keys.0.lock().unwrap(), [None, None, key.clone(), key]);
}
