//! Mail that workflows send, handed to servers over SMTP (spec/canvas-components §6.4).
//!
//! [`Mailer`] is a [`MailSender`]. Port 465 is encrypted from the start, any other after `STARTTLS`; a server that offers
//! neither is told nothing, unless the operator says that it may be. A host that a workflow names goes through the guard of
//! easel-tools, and what is dialled is the address that the guard has seen; the certificate is held to the name.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod message;

use std::net::SocketAddr;

use easel_secrets::Masker;
use easel_tools::ToolError;
use easel_tools::guard::Allow;
use easel_tools::live::resolve_host;
use easel_tools::mail::{Mail, MailSender};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;

/// The port on which a server is spoken to encrypted from the start.
const ENCRYPTED: u16 = 465;

/// Which mail servers may be reached, and how.
#[derive(Clone, Debug, Default)]
pub struct MailConfig {
    /// Hosts and networks beyond the public internet.
    pub allow: Allow,
    /// Hosts that may be spoken to without encryption, where they offer none.
    pub plain: Vec<String>,
    /// Certificates in PEM that are trusted beside the public ones.
    pub roots: Vec<Vec<u8>>,
}

/// Hands mail to servers. Needs a tokio runtime with I/O and time around each call.
#[derive(Clone, Debug)]
pub struct Mailer {
    config: MailConfig,
    roots: Vec<Certificate>,
}

impl Mailer {
    /// A sender within the bounds of a deployment.
    ///
    /// # Errors
    /// One of the certificates is none.
    pub fn new(config: MailConfig) -> Result<Mailer, ToolError> {
        let roots = config.roots.iter().map(|pem| {
            Certificate::from_pem(pem).map_err(|error| ToolError::InvalidRequest {
                what: "a certificate for mail servers".to_owned(),
                problem: error.to_string(),
            })
        });
        let roots = roots.collect::<Result<_, _>>()?;
        Ok(Mailer { config, roots })
    }

    async fn hand_over(&self, mail: &Mail) -> Result<(), ToolError> {
        let message = message::of(mail)?;
        let server = &mail.server;
        let addresses = resolve_host(&server.host, server.port, &self.config.allow).await?;
        let mut session = self.connected(&addresses, mail).await?;
        if let Some(password) = &server.password {
            let known = Credentials::new(server.username.clone(), password.expose().to_owned());
            let ways = [Mechanism::Plain, Mechanism::Login];
            let signed_in = session.auth(&ways, &known).await;
            signed_in
                .map_err(|error| refused(&error, mail).unwrap_or_else(|| lost(&error, mail)))?;
        }
        let sent = session.send(message.envelope(), &message.formatted()).await;
        // Whoever took the mail took it, whatever becomes of the farewell.
        match sent {
            Ok(_) => {
                let _ = session.quit().await;
                Ok(())
            }
            Err(error) => Err(
                refused(&error, mail).unwrap_or_else(|| ToolError::Interrupted {
                    host: host(mail),
                    cause: error.to_string(),
                }),
            ),
        }
    }

    /// A session with the first address that answers; nothing has been told to it yet.
    async fn connected(
        &self,
        addresses: &[SocketAddr],
        mail: &Mail,
    ) -> Result<AsyncSmtpConnection, ToolError> {
        let mut last = ToolError::NoConnection {
            host: host(mail),
            cause: "it has no address".to_owned(),
        };
        for address in addresses {
            match self.connect(*address, mail).await {
                Ok(session) => return Ok(session),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn connect(
        &self,
        address: SocketAddr,
        mail: &Mail,
    ) -> Result<AsyncSmtpConnection, ToolError> {
        let (server, hello) = (&mail.server, ClientId::default());
        let lost = |error: Error| lost(&error, mail);
        let tls = self.encryption(&server.host).map_err(lost)?;
        let from_the_start = (server.port == ENCRYPTED).then(|| tls.clone());
        let time = Some(mail.timeout);
        let session =
            AsyncSmtpConnection::connect_tokio1(address, time, &hello, from_the_start, None).await;
        let mut session = session.map_err(lost)?;
        if session.is_encrypted() {
            return Ok(session);
        }
        if session.can_starttls() {
            session.starttls(tls, &hello).await.map_err(lost)?;
            return Ok(session);
        }
        let mut plain = self.config.plain.iter();
        match plain.any(|host| host.eq_ignore_ascii_case(server.host.trim())) {
            true => Ok(session),
            false => Err(ToolError::NoConnection {
                host: host(mail),
                cause: "it offers no encryption, so it was told nothing; use port 465, or name the host under `plain` in \
                        the section [mail] of easel.toml"
                    .to_owned(),
            }),
        }
    }

    fn encryption(&self, host: &str) -> Result<TlsParameters, Error> {
        let mut tls = TlsParameters::builder(host.trim().to_owned());
        for root in &self.roots {
            tls = tls.add_root_certificate(root.clone());
        }
        tls.build_rustls()
    }
}

impl MailSender for Mailer {
    fn deliver(&self, mail: Mail) -> BoxFuture<'_, Result<(), ToolError>> {
        async move {
            let late = ToolError::Timeout {
                what: host(&mail),
                after: mail.timeout,
            };
            let handed = tokio::time::timeout(mail.timeout, self.hand_over(&mail)).await;
            handed.unwrap_or(Err(late))
        }
        .boxed()
    }
}

fn host(mail: &Mail) -> String {
    format!("{}:{}", mail.server.host, mail.server.port)
}

/// What a server says against a mail or who sends it. Then nobody gets it.
fn refused(error: &Error, mail: &Mail) -> Option<ToolError> {
    let status = error.status()?;
    Some(ToolError::Failed {
        what: "the mail server".to_owned(),
        message: masked(&format!("{error} ({status})"), mail),
    })
}

/// A session that did not come about, or broke before the mail was told.
fn lost(error: &Error, mail: &Mail) -> ToolError {
    ToolError::NoConnection {
        host: host(mail),
        cause: masked(&error.to_string(), mail),
    }
}

/// A server may repeat what it was told.
fn masked(text: &str, mail: &Mail) -> String {
    let Some(password) = &mail.server.password else {
        return text.to_owned();
    };
    match Masker::new([password.as_ref()]) {
        Ok(masker) => masker.mask(text).into_owned(),
        Err(error) => error.to_string(),
    }
}
