use std::collections::HashMap;
use std::time::Duration;

use easel_models::config::{ModelsConfig, ProviderConfig, ProviderKind};
use easel_models::{ChatRequest, ConfigError, HttpModel, ModelError, ModelEvent, Registry, Stage};
use easel_secrets::Resolver;
use serde_json::json;

use super::server::{KEY, Prepared, Server, Step, ask, connect, events, replied, reply};

const KIND: ProviderKind = ProviderKind::OpenAi;

fn text(delta: &str) -> serde_json::Value {
    json!({"choices": [{"delta": {"content": delta}}]})
}

#[tokio::test]
async fn an_answer_that_breaks_off_shows_what_came_and_then_fails() {
    let server = Server::start([Prepared::events([text("half")]).then(Step::BreakOff)]).await;
    let events = events(&server.model(KIND), ask("hi")).await;
    assert_eq!(events[0], Ok(ModelEvent::Text("half".into())));
    assert!(
        matches!(&events[1], Err(ModelError::Broken { .. })),
        "{events:?}"
    );
    assert_eq!(events.len(), 2);
}

#[tokio::test]
async fn an_answer_that_ends_too_early_is_broken() {
    let error = replied(KIND, Prepared::events([text("half")]))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the answer of Test broke off: it ended before it was complete"
    );
    assert!(error.retryable());
    let nothing = replied(KIND, Prepared::new(200, "text/event-stream", ""))
        .await
        .unwrap_err();
    assert!(matches!(nothing, ModelError::Broken { .. }));
    let kept_open = replied(KIND, Prepared::new(200, "text/event-stream", ": ping\n\n"))
        .await
        .unwrap_err();
    assert!(matches!(kept_open, ModelError::Broken { .. }));
}

#[tokio::test]
async fn a_silence_between_pieces_is_a_timeout() {
    let server = Server::start([Prepared::events([text("half")]).then(Step::Hang)]).await;
    let config = ProviderConfig {
        read_timeout_s: Duration::from_millis(100),
        ..server.config(KIND)
    };
    let events = events(&connect(config), ask("hi")).await;
    assert_eq!(events[0], Ok(ModelEvent::Text("half".into())));
    assert!(
        matches!(
            &events[1],
            Err(ModelError::Timeout {
                stage: Stage::More,
                ..
            })
        ),
        "{events:?}"
    );
}

#[tokio::test]
async fn an_answer_that_never_ends_is_a_timeout() {
    let endless = (0..10_000).map(|_| Step::Send(format!("data: {}\n\n", text("x")).into_bytes()));
    let server = Server::start([Prepared {
        steps: endless.collect(),
        ..Prepared::events([""; 0])
    }])
    .await;
    let config = ProviderConfig {
        timeout_s: Duration::from_millis(200),
        ..server.config(KIND)
    };
    let error = reply(&connect(config), ask("hi")).await.unwrap_err();
    assert!(
        matches!(
            error,
            ModelError::Timeout {
                stage: Stage::Whole,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn an_answer_in_one_piece_may_be_silent_until_the_end_of_its_time() {
    let server = Server::start([Prepared {
        steps: vec![Step::Hang],
        ..Prepared::json(200, json!({}))
    }])
    .await;
    let config = ProviderConfig {
        read_timeout_s: Duration::from_millis(1),
        timeout_s: Duration::from_millis(150),
        ..server.config(KIND)
    };
    let request = ChatRequest {
        stream: false,
        ..ask("hi")
    };
    let error = reply(&connect(config), request).await.unwrap_err();
    assert!(
        matches!(
            error,
            ModelError::Timeout {
                stage: Stage::Whole,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let page = Prepared::new(200, "text/html", "<html>\n<h1>Welcome</h1></html>");
    let error = replied(KIND, page).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Test sent something that is no answer: it is no stream of answers: <html> <h1>Welcome</h1></html>; \
         check that `kind` and `base_url` fit the server"
    );
    assert!(!error.retryable());
}

#[tokio::test]
async fn garbage_in_the_stream_is_quoted() {
    for (garbage, cause) in [
        (&b"data: {broken\n\n"[..], "{broken"),
        (b"data: {\"choices\": 7}\n\n", "invalid type"),
        (b"data: \xff\xfe\n\n", "not UTF-8"),
        (b"data: {\"what\": \"else\"}\n\n", "no `choices`"),
    ] {
        let error = replied(KIND, Prepared::new(200, "text/event-stream", garbage))
            .await
            .unwrap_err();
        assert!(matches!(error, ModelError::Garbage { .. }), "{error:?}");
        assert!(error.to_string().contains(cause), "{error}");
    }
    let whole = replied(KIND, Prepared::new(200, "application/json", "nonsense"))
        .await
        .unwrap_err();
    assert!(matches!(whole, ModelError::Garbage { .. }), "{whole:?}");
}

#[tokio::test]
async fn a_line_without_end_is_cut_off_at_a_megabyte() {
    let mut steps = vec![Step::Send(b"data: ".to_vec())];
    steps.extend((0..40).map(|_| Step::Send(vec![b'x'; 64 << 10])));
    let prepared = Prepared {
        steps,
        ..Prepared::events([""; 0])
    };
    let error = replied(KIND, prepared).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Test sent a line of more than 1048576 bytes"
    );
}

#[tokio::test]
async fn an_answer_of_more_than_ten_megabytes_is_refused() {
    let piece = format!("data: {}\n\n", text(&"x".repeat(500_000)));
    let steps = (0..24).map(|_| Step::Send(piece.clone().into_bytes()));
    let streamed = Prepared {
        steps: steps.collect(),
        ..Prepared::events([""; 0])
    };
    let whole = Prepared::new(200, "application/json", vec![b' '; 11 << 20]);
    for prepared in [streamed, whole] {
        let error = replied(KIND, prepared).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "Test sent an answer of more than 10485760 bytes"
        );
        assert!(!error.retryable());
    }
}

#[tokio::test]
async fn a_bad_key_is_told_without_the_key() {
    let echo = json!({"error": {"message": format!("Incorrect API key provided: {KEY}.")}});
    let error = replied(KIND, Prepared::json(401, echo)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Test does not accept the key (HTTP 401): Incorrect API key provided: ••••••.; \
         check the secret the provider's `key` names"
    );
    assert!(!error.retryable() && error.certain_nothing_sent());
}

#[tokio::test]
async fn no_error_holds_the_key() {
    let with_key = |status| Prepared::new(status, "text/plain", format!("you sent {KEY}"));
    let in_stream = |data: String| Prepared::events([data]);
    for prepared in [
        with_key(200),
        with_key(400),
        with_key(403),
        with_key(500),
        in_stream(format!("{{broken {KEY}")),
        in_stream(json!({"error": {"message": KEY}}).to_string()),
        in_stream(json!({"error": {"message": KEY, "type": "overloaded"}}).to_string()),
    ] {
        let server = Server::start([prepared]).await;
        let config = ProviderConfig {
            retries: 0,
            ..server.config(KIND)
        };
        let model = connect(config);
        let error = reply(&model, ask("hi")).await.unwrap_err();
        assert!(
            !format!("{error} {error:?} {model:?}").contains(KEY),
            "{error:?}"
        );
        assert!(error.to_string().contains("••••••"), "{error}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::start([]).await;
    let there = elsewhere.config(KIND).base_url.unwrap();
    let error = replied(
        KIND,
        Prepared::new(302, "text/plain", "").header("location", there),
    )
    .await
    .unwrap_err();
    assert!(
        matches!(error, ModelError::Refused { status: 302, .. }),
        "{error:?}"
    );
    assert!(elsewhere.got().is_empty());
}

#[tokio::test]
async fn a_key_that_is_not_set_is_missed_before_anything_is_sent() {
    let server = Server::start([]).await;
    let secrets = HashMap::<String, easel_secrets::Secret>::new();
    let model = HttpModel::new("Test", server.config(KIND), Resolver::from(secrets)).unwrap();
    let error = reply(&model, ask("hi")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the key of Test is missing: set the secret TEST_KEY"
    );
    assert!(error.certain_nothing_sent() && server.got().is_empty());
}

#[test]
fn settings_that_cannot_be_used_are_told_before_a_run() {
    let with = |change: fn(&mut ProviderConfig)| {
        let mut config = ProviderConfig::new(KIND);
        change(&mut config);
        let providers = [("P".to_owned(), config)].into_iter().collect();
        Registry::from_config(
            ModelsConfig::default(),
            &providers,
            &Resolver::environment(),
        )
    };
    with(|_| ()).unwrap();
    let told = |change| with(change).unwrap_err().to_string();
    let base_url =
        |error: String| assert!(error.starts_with("[providers.P] base_url: "), "{error}");
    base_url(told(|config| config.base_url = Some("nonsense".to_owned())));
    base_url(told(|config| {
        config.base_url = Some("ftp://host/v1".to_owned())
    }));
    let password = told(|config| config.base_url = Some("https://me:hunter2@host/v1".to_owned()));
    assert!(!password.contains("hunter2"), "{password}");
    base_url(password);
    let key = told(|config| config.key = Some("sk-1234567890".to_owned()));
    assert!(
        key.starts_with("[providers.P] key: ") && !key.contains("sk-1"),
        "{key}"
    );
    let header = with(|config| {
        config.headers.insert("x y".to_owned(), String::new());
    });
    assert!(matches!(
        header,
        Err(ConfigError::Setting {
            setting: "headers",
            ..
        })
    ));
}
