//! Mail that a workflow sends.

use std::time::Duration;

use easel_secrets::Opened;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Hands mail to servers.
pub trait MailSender: Send + Sync {
    /// Done once the server has taken it. That it refuses is [`ToolError::Failed`] in its own words; then nobody gets it.
    fn deliver(&self, mail: Mail) -> BoxFuture<'_, Result<(), ToolError>>;
}

/// One mail and who hands it on (`spec/canvas-components §6.4`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mail {
    /// The server that it is handed to.
    pub server: MailServer,
    /// The sender's name.
    pub sender: String,
    /// The sender's address.
    pub from: String,
    /// Who gets it: addresses with commas between, `Name <address>` among them.
    pub to: String,
    /// Who gets a copy, written in the same way.
    pub cc: String,
    /// The subject line.
    pub subject: String,
    /// The text in HTML.
    pub html: String,
    /// By what the mail is known again, the same for every attempt: it becomes part of the message's id.
    pub key: String,
    /// Time allowed.
    pub timeout: Duration,
}

/// How to reach a mail server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MailServer {
    /// Host name or address; the sender checks it with [`crate::guard`].
    pub host: String,
    /// TCP port; 465 is encrypted from the start, any other after `STARTTLS`.
    pub port: u16,
    /// Name of the account.
    pub username: String,
    /// The password; without it nobody signs in. Never written with the rest.
    #[serde(skip)]
    pub password: Option<Opened>,
}
