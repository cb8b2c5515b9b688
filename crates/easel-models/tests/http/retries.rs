use std::time::{Duration, Instant};

use easel_models::config::{ProviderConfig, ProviderKind};
use easel_models::{ModelError, Stage};
use serde_json::json;

use super::server::{Prepared, Server, Step, ask, connect, reply};

const KIND: ProviderKind = ProviderKind::OpenAi;

fn fine() -> Prepared {
    Prepared::events([json!({"choices": [{"delta": {"content": "A"}, "finish_reason": "stop"}]})])
}

fn refused(status: u16) -> Prepared {
    Prepared::json(
        status,
        json!({"error": {"message": "try later", "type": "some_error"}}),
    )
}

#[tokio::test]
async fn a_busy_provider_is_asked_again_after_the_wait_it_wants() {
    let server = Server::start([refused(429).header("retry-after", "0.2"), fine()]).await;
    let begun = Instant::now();
    assert_eq!(
        reply(&server.model(KIND), ask("hi")).await.unwrap().text,
        "A"
    );
    assert!(begun.elapsed() >= Duration::from_millis(200));
    let got = server.got();
    assert_eq!(got.len(), 2);
    assert_eq!(got[0].body, got[1].body);
    assert_eq!(
        got[0].headers["authorization"],
        got[1].headers["authorization"]
    );
}

#[tokio::test]
async fn a_date_in_retry_after_is_understood() {
    let past = "Sun, 06 Nov 1994 08:49:37 GMT";
    let server = Server::start([refused(503).header("retry-after", past), fine()]).await;
    assert_eq!(
        reply(&server.model(KIND), ask("hi")).await.unwrap().text,
        "A"
    );
}

#[tokio::test]
async fn server_errors_pass_within_three_retries() {
    let server = Server::start([refused(500), refused(502), refused(529), fine()]).await;
    assert_eq!(
        reply(&server.model(KIND), ask("hi")).await.unwrap().text,
        "A"
    );
    assert_eq!(server.got().len(), 4);
}

#[tokio::test]
async fn after_three_retries_the_error_is_told() {
    let server = Server::start((0..9).map(|_| refused(500))).await;
    let error = reply(&server.model(KIND), ask("hi")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Test refused the request (HTTP 500): try later"
    );
    assert!(error.retryable());
    assert_eq!(server.got().len(), 4);
}

#[tokio::test]
async fn a_provider_that_wants_too_long_a_wait_is_given_up_on() {
    let server = Server::start([refused(429).header("retry-after", "3600"), fine()]).await;
    let error = reply(&server.model(KIND), ask("hi")).await.unwrap_err();
    let expected = Some(Duration::from_secs(3600));
    assert!(
        matches!(&error, ModelError::RateLimited { retry_after, .. } if *retry_after == expected),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "Test limits the rate of requests and asks to wait 3600 s: try later"
    );
    assert!(error.retryable() && error.certain_nothing_sent());
    assert_eq!(server.got().len(), 1);
}

#[tokio::test]
async fn a_refusal_is_final() {
    for status in [400, 404, 422] {
        let server = Server::start([refused(status), fine()]).await;
        let error = reply(&server.model(KIND), ask("hi")).await.unwrap_err();
        assert!(
            matches!(&error, ModelError::Refused { status: told, .. } if *told == status),
            "{error:?}"
        );
        assert!(!error.retryable());
        assert_eq!(server.got().len(), 1);
    }
}

#[tokio::test]
async fn an_empty_account_is_no_rate_limit() {
    let empty = Prepared::json(
        429,
        json!({"error": {"message": "no credit", "code": "insufficient_quota"}}),
    );
    let server = Server::start([empty, fine()]).await;
    let error = reply(&server.model(KIND), ask("hi")).await.unwrap_err();
    assert!(matches!(error, ModelError::Refused { status: 429, .. }));
    assert_eq!(server.got().len(), 1);
}

#[tokio::test]
async fn an_answer_that_has_begun_is_not_asked_for_again() {
    let server = Server::start([fine_then_broken(), fine()]).await;
    let error = reply(&server.model(KIND), ask("hi")).await.unwrap_err();
    assert!(matches!(error, ModelError::Broken { .. }), "{error:?}");
    assert_eq!(server.got().len(), 1);
}

fn fine_then_broken() -> Prepared {
    Prepared::events([json!({"choices": [{"delta": {"content": "half"}}]})]).then(Step::BreakOff)
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_connection_error_after_the_retries() {
    let gone = Server::start([]).await.config(KIND);
    let config = ProviderConfig {
        // Nothing listens on port 9 of this machine.
        base_url: Some("http://127.0.0.1:9/v1".to_owned()),
        ..gone
    };
    let error = reply(&connect(config), ask("hi")).await.unwrap_err();
    assert!(matches!(error, ModelError::Connect { .. }), "{error:?}");
    assert!(error.retryable() && error.certain_nothing_sent());
    assert!(
        error.to_string().starts_with("cannot connect to Test: "),
        "{error}"
    );
}

#[tokio::test]
async fn retries_end_when_the_time_for_all_of_it_would() {
    let server = Server::start([refused(500), fine()]).await;
    let config = ProviderConfig {
        retry_delay_s: Duration::from_secs(2),
        timeout_s: Duration::from_secs(1),
        ..server.config(KIND)
    };
    let begun = Instant::now();
    let error = reply(&connect(config), ask("hi")).await.unwrap_err();
    assert!(matches!(error, ModelError::Refused { status: 500, .. }));
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_asked_twice() {
    let server = Server::start([Prepared::silence(), fine()]).await;
    let config = ProviderConfig {
        read_timeout_s: Duration::from_millis(100),
        ..server.config(KIND)
    };
    let error = reply(&connect(config), ask("hi")).await.unwrap_err();
    assert!(
        matches!(
            error,
            ModelError::Timeout {
                stage: Stage::More,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "Test took too long: nothing came within 0.1 s"
    );
    assert!(error.retryable() && !error.certain_nothing_sent());
    assert_eq!(server.got().len(), 1);
}
