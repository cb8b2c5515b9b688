//! Webhooks: an HTTP request starts a run of an agent whose Begin says which requests it takes (spec/canvas-engine §7).
//!
//! A [`Config`] is read once from the workflow. A request then passes, in this order: the method, [`Security`] (size,
//! address, rate, credentials), the content type, and the [`Schema`], which projects it onto the fields that Begin
//! declares. The first that refuses it ends it with a [`Refusal`], and no node has run. What passes becomes the ports of
//! Begin; the answer is a [`Reply`] made before the run, or what the run [`Said`].

mod config;
mod credential;
mod jwt;
mod request;
mod respond;
mod route;
mod schema;
mod security;
mod trace;

pub use config::{Config, Mode};
pub use credential::{Credential, Keyring};
pub use request::{Request, Upload, read_body};
pub use respond::{Reply, ReplyBody, Said};
pub use route::routes;
pub use schema::{Cleaned, Kind, Schema, Section};
pub use security::{Auth, Caller, Security};

/// Why a request starts nothing.
///
/// What it says is for the caller, who may be anybody: nothing secret is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{told}")]
pub struct Refusal {
    told: String,
    cause: Option<String>,
    retry_after: Option<u64>,
}

impl Refusal {
    /// A refusal with what the caller is told.
    pub fn new(told: impl Into<String>) -> Refusal {
        Refusal {
            told: told.into(),
            cause: None,
            retry_after: None,
        }
    }

    /// A refusal whose cause is for the log alone.
    pub fn because(told: impl Into<String>, cause: impl Into<String>) -> Refusal {
        Refusal {
            cause: Some(cause.into()),
            ..Refusal::new(told)
        }
    }

    /// The cause that only the log may have.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// Seconds after which it is worth trying again, if it is at all.
    pub fn retry_after(&self) -> Option<u64> {
        self.retry_after
    }
}
