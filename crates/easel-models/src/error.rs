//! Why a model did not answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Why a model did not answer, or did not finish. No variant holds a key: texts are masked where the error is made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No connection came about, so nothing was sent.
    #[error("cannot connect to {provider}: {cause}; check its base_url and that it is running")]
    Connect {
        /// The provider as configured.
        provider: Arc<str>,
        /// What the network said.
        cause: String,
    },
    /// The provider did not answer in time.
    #[error("{provider} took too long: {stage} within {} s", .limit.as_secs_f64())]
    Timeout {
        /// The provider as configured.
        provider: Arc<str>,
        /// What was waited for.
        stage: Stage,
        /// How long was waited.
        limit: Duration,
    },
    /// Too many requests (HTTP 429), also after the retries of this attempt.
    #[error("{provider} limits the rate of requests{}: {excerpt}", RetryAfter(.retry_after))]
    RateLimited {
        /// The provider as configured.
        provider: Arc<str>,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
        /// The start of what it said.
        excerpt: String,
    },
    /// The provider does not accept the key (HTTP 401, 403).
    #[error(
        "{provider} does not accept the key (HTTP {status}): {excerpt}; check the secret the provider's `key` names"
    )]
    Unauthorised {
        /// The provider as configured.
        provider: Arc<str>,
        /// The HTTP status.
        status: u16,
        /// The start of what it said.
        excerpt: String,
    },
    /// The provider's key is not set, so nothing was sent.
    #[error("the key of {provider} is missing: set the secret {name}")]
    KeyMissing {
        /// The provider as configured.
        provider: Arc<str>,
        /// The name of the secret.
        name: String,
    },
    /// The provider answered with an HTTP status that is no success.
    #[error("{provider} refused the request (HTTP {status}): {excerpt}")]
    Refused {
        /// The provider as configured.
        provider: Arc<str>,
        /// The HTTP status.
        status: u16,
        /// The start of what it said.
        excerpt: String,
    },
    /// The provider reported an error inside its answer.
    #[error("{provider} failed: {message}")]
    Failed {
        /// The provider as configured.
        provider: Arc<str>,
        /// What it said.
        message: String,
        /// The fault lies with the provider and may pass.
        passing: bool,
    },
    /// The answer broke off before its end.
    #[error("the answer of {provider} broke off: {cause}")]
    Broken {
        /// The provider as configured.
        provider: Arc<str>,
        /// What happened.
        cause: String,
    },
    /// The answer is not what the provider's protocol allows.
    #[error(
        "{provider} sent something that is no answer: {cause}: {excerpt}; check that `kind` and `base_url` fit the server"
    )]
    Garbage {
        /// The provider as configured.
        provider: Arc<str>,
        /// What is wrong with it.
        cause: String,
        /// The start of what it sent.
        excerpt: String,
    },
    /// The answer, or a part of it, is larger than is accepted.
    #[error("{provider} sent {what} of more than {limit} bytes")]
    TooLarge {
        /// The provider as configured.
        provider: Arc<str>,
        /// What is too large.
        what: &'static str,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The request holds something that cannot be said to this provider, so nothing was sent.
    #[error("the request cannot be made to {provider}: {cause}")]
    Unsendable {
        /// The provider as configured.
        provider: Arc<str>,
        /// What cannot be sent, and what to do.
        cause: String,
    },
    /// No configured model answers to the id.
    #[error(
        "no model answers to `{id}`: {reason}; configured: {}. Add it under [providers] in easel.toml, or map it to one of these with [models.alias]",
        Listed(.configured)
    )]
    UnknownModel {
        /// The id as the workflow writes it.
        id: Arc<str>,
        /// Why nothing answers to it.
        reason: String,
        /// What is configured.
        configured: Vec<String>,
    },
    /// A blank model id, and no default model is set.
    #[error("the node names no model and no default is set; configured: {}. Set `default` under [models] in easel.toml, or choose a model in the node", Listed(.configured))]
    NoDefaultModel {
        /// What is configured.
        configured: Vec<String>,
    },
    /// The provider failed again and again, so it is left alone for a while and nothing was sent.
    #[error(
        "{provider} is left alone for another {} s since it failed too often; [breaker] in easel.toml says when", .wait.as_secs_f64().ceil()
    )]
    CircuitOpen {
        /// The provider as configured.
        provider: Arc<str>,
        /// How long it is left alone from now on.
        wait: Duration,
    },
    /// A scripted model has no rule for the request and no default reply.
    #[error(
        "no scripted rule matches the request of {component:?} in turn {turn}; its last message: {last:?}"
    )]
    NoScriptedRule {
        /// Who asked.
        component: Arc<str>,
        /// The turn of the run, from 0.
        turn: u32,
        /// The start of the last message.
        last: String,
    },
    /// A scripted rule answers with an error.
    #[error("{message}")]
    Scripted {
        /// The text of the rule.
        message: String,
    },
}

/// What was waited for when time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A connection.
    Connection,
    /// The start of the answer, or more of it.
    More,
    /// The end of the answer.
    Whole,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Connection => "no connection",
            Stage::More => "nothing came",
            Stage::Whole => "no complete answer",
        })
    }
}

impl ModelError {
    /// A stable code for records and programs.
    pub fn code(&self) -> &'static str {
        match self {
            ModelError::Connect { .. } => "model.connect",
            ModelError::Timeout { .. } => "model.timeout",
            ModelError::RateLimited { .. } => "model.rate_limited",
            ModelError::Unauthorised { .. } => "model.unauthorised",
            ModelError::KeyMissing { .. } => "model.key_missing",
            ModelError::Refused { .. } => "model.refused",
            ModelError::Failed { .. } => "model.failed",
            ModelError::Broken { .. } => "model.broken",
            ModelError::Garbage { .. } => "model.garbage",
            ModelError::TooLarge { .. } => "model.too_large",
            ModelError::Unsendable { .. } => "model.unsendable",
            ModelError::UnknownModel { .. } => "model.unknown",
            ModelError::NoDefaultModel { .. } => "model.no_default",
            ModelError::CircuitOpen { .. } => "circuit_open",
            ModelError::NoScriptedRule { .. } => "model.no_scripted_rule",
            ModelError::Scripted { .. } => "model.scripted",
        }
    }

    /// The same request may succeed later.
    pub fn retryable(&self) -> bool {
        match self {
            ModelError::Connect { .. }
            | ModelError::Timeout { .. }
            | ModelError::RateLimited { .. }
            | ModelError::Broken { .. }
            | ModelError::CircuitOpen { .. }
            | ModelError::Scripted { .. } => true,
            ModelError::Refused { status, .. } => {
                *status == 408 || (*status >= 500 && *status != 501)
            }
            ModelError::Failed { passing, .. } => *passing,
            ModelError::Unauthorised { .. }
            | ModelError::KeyMissing { .. }
            | ModelError::Garbage { .. }
            | ModelError::TooLarge { .. }
            | ModelError::Unsendable { .. }
            | ModelError::UnknownModel { .. }
            | ModelError::NoDefaultModel { .. }
            | ModelError::NoScriptedRule { .. } => false,
        }
    }

    /// It is certain that no model worked on the request: it never left, or was turned away at the door (design §6).
    pub fn certain_nothing_sent(&self) -> bool {
        matches!(
            self,
            ModelError::Connect { .. }
                | ModelError::Timeout {
                    stage: Stage::Connection,
                    ..
                }
                | ModelError::RateLimited { .. }
                | ModelError::Unauthorised { .. }
                | ModelError::KeyMissing { .. }
                | ModelError::CircuitOpen { .. }
                | ModelError::Unsendable { .. }
                | ModelError::UnknownModel { .. }
                | ModelError::NoDefaultModel { .. }
                | ModelError::NoScriptedRule { .. }
        )
    }
}

/// The start of a foreign text, fit for one line of a message: at most 300 characters, line breaks as spaces.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 300;
    let mut words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty());
    let mut short = String::new();
    let mut left = LONGEST;
    for word in &mut words {
        if !short.is_empty() {
            short.push(' ');
        }
        let taken: String = word.chars().take(left).collect();
        let cut = taken.len() < word.len();
        left = left.saturating_sub(taken.chars().count() + 1);
        short.push_str(&taken);
        if cut || left == 0 {
            short.push('…');
            break;
        }
    }
    match short.is_empty() {
        true => "(nothing)".to_owned(),
        false => short,
    }
}

struct RetryAfter<'a>(&'a Option<Duration>);

impl fmt::Display for RetryAfter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(wait) => write!(f, " and asks to wait {} s", wait.as_secs()),
            None => Ok(()),
        }
    }
}

struct Listed<'a>(&'a [String]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => f.write_str("no model at all"),
            false => f.write_str(&self.0.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_model_says_what_there_is_and_what_to_do() {
        let error = ModelError::UnknownModel {
            id: "gpt-9@Nobody".into(),
            reason: "there is no provider `Nobody`".into(),
            configured: vec!["qwen-max@Tongyi-Qianwen".into()],
        };
        assert_eq!(
            error.to_string(),
            "no model answers to `gpt-9@Nobody`: there is no provider `Nobody`; configured: qwen-max@Tongyi-Qianwen. \
             Add it under [providers] in easel.toml, or map it to one of these with [models.alias]"
        );
        assert!(!error.retryable());
        assert!(error.certain_nothing_sent());
    }

    #[test]
    fn a_server_error_may_pass_and_a_bad_request_does_not() {
        let refused = |status| ModelError::Refused {
            provider: "p".into(),
            status,
            excerpt: String::new(),
        };
        assert!(refused(503).retryable());
        assert!(!refused(400).retryable());
        assert!(!refused(503).certain_nothing_sent());
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt(" a\n\tb\u{0}c "), "a b c");
        assert_eq!(excerpt(""), "(nothing)");
        let long = excerpt(&"é".repeat(1000));
        assert_eq!(long.chars().count(), 301);
        assert!(long.ends_with('…'));
        assert!(excerpt(&"word ".repeat(1000)).chars().count() <= 302);
    }
}
