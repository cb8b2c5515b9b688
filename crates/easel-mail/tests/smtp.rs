//! Mail as workflows send it, against servers that speak SMTP on this machine.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use easel_mail::{MailConfig, Mailer};
use easel_secrets::{Gate, Opened, Resolver, Sink, SinkKind};
use easel_tools::ToolError;
use easel_tools::guard::Allow;
use easel_tools::mail::{Mail, MailSender, MailServer};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// How a server behaves.
#[derive(Clone, Default)]
struct Manner {
    /// Offers `STARTTLS`, with this.
    tls: Option<TlsAcceptor>,
    /// Answers to commands that begin so, in place of the usual ones; an empty one ends the connection.
    answers: Vec<(&'static str, &'static str)>,
}

/// A server and what it was told.
struct Server {
    port: u16,
    told: Arc<Mutex<String>>,
    root: Vec<u8>,
}

impl Server {
    async fn start(encrypted: bool, answers: &[(&'static str, &'static str)]) -> Server {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = tokio_rustls::rustls::crypto::ring::default_provider();
        let config = ServerConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let manner = Manner {
            tls: encrypted.then(|| TlsAcceptor::from(Arc::new(config))),
            answers: answers.to_vec(),
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let told: Arc<Mutex<String>> = Arc::default();
        let heard = told.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, manner.clone(), heard.clone()));
            }
        });
        Server {
            port,
            told,
            root: made.cert.pem().into_bytes(),
        }
    }

    fn told(&self) -> String {
        self.told.lock().unwrap().clone()
    }

    async fn send(&self, change: impl FnOnce(&mut Mail, &mut MailConfig)) -> Result<(), ToolError> {
        let mut mail = mail(self.port);
        let mut config = MailConfig {
            allow: Allow::parse(["localhost", "127.0.0.1"]).unwrap(),
            plain: Vec::new(),
            roots: vec![self.root.clone()],
        };
        change(&mut mail, &mut config);
        Mailer::new(config).unwrap().deliver(mail).await
    }
}

fn mail(port: u16) -> Mail {
    let gate = Gate::new("run-1", Resolver::default());
    let door = gate.door(Sink::new(SinkKind::Component, "Email", "Send"));
    let password: Opened = door.literal("password", "hunter2-secret").unwrap();
    Mail {
        server: MailServer {
            host: "localhost".to_owned(),
            port,
            username: "ada".to_owned(),
            password: Some(password),
        },
        sender: "Ada Lovelace".to_owned(),
        from: "ada@example.com".to_owned(),
        to: "bo@example.com".to_owned(),
        cc: String::new(),
        subject: "Grüße".to_owned(),
        html: "<p>Hello <b>Bo</b></p>".to_owned(),
        key: "run-1:Email:0:1".to_owned(),
        timeout: Duration::from_secs(10),
    }
}

async fn serve(stream: TcpStream, manner: Manner, told: Arc<Mutex<String>>) {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 here\r\n").await.unwrap();
    if talk(&mut stream, &manner, &told, false).await
        && let Some(tls) = &manner.tls
        && let Ok(stream) = tls.accept(stream.into_inner()).await
    {
        told.lock().unwrap().push_str("(encrypted)\n");
        talk(&mut BufReader::new(stream), &manner, &told, true).await;
    }
}

/// True if it goes on encrypted.
async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut BufReader<S>,
    manner: &Manner,
    told: &Mutex<String>,
    encrypted: bool,
) -> bool {
    let mut data = false;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return false;
        }
        told.lock().unwrap().push_str(&line);
        if data {
            if line == ".\r\n" {
                data = false;
                let end = manner.answers.iter().find(|(command, _)| *command == ".");
                let answer = end.map_or("250 taken\r\n", |(_, answer)| answer);
                if answer.is_empty() {
                    return false;
                }
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            continue;
        }
        let mut set = manner.answers.iter();
        let set = set.find(|(command, _)| line.starts_with(command));
        let answer = match (set, line.split_whitespace().next().unwrap_or_default()) {
            (Some((_, "")), _) => return false,
            (Some((_, answer)), _) => (*answer).to_owned(),
            (None, "EHLO") if encrypted => "250-here\r\n250 AUTH PLAIN LOGIN\r\n".to_owned(),
            (None, "EHLO") if manner.tls.is_some() => "250-here\r\n250 STARTTLS\r\n".to_owned(),
            (None, "EHLO") => "250-here\r\n250 AUTH PLAIN LOGIN\r\n".to_owned(),
            (None, "STARTTLS") => "220 go\r\n".to_owned(),
            (None, "AUTH") => "235 welcome\r\n".to_owned(),
            (None, "DATA") => "354 go\r\n".to_owned(),
            (None, "QUIT") => "221 bye\r\n".to_owned(),
            (None, _) => "250 ok\r\n".to_owned(),
        };
        stream.write_all(answer.as_bytes()).await.unwrap();
        match line.split_whitespace().next() {
            Some("STARTTLS") => return true,
            Some("DATA") if answer.starts_with('3') => data = true,
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_mail_goes_out_encrypted_with_both_of_its_texts() {
    let server = Server::start(true, &[]).await;
    let sent = server.send(|mail, _| {
        mail.to = "bo@example.com; Cy <cy@example.com>".to_owned();
        mail.cc = "di@example.com".to_owned();
    });
    sent.await.unwrap();
    let told = server.told();
    let (before, after) = told.split_once("(encrypted)").unwrap();
    assert!(
        !before.contains("AUTH") && !before.contains("MAIL"),
        "{told}"
    );
    for line in [
        "MAIL FROM:<ada@example.com>",
        "RCPT TO:<bo@example.com>",
        "RCPT TO:<cy@example.com>",
        "RCPT TO:<di@example.com>",
        "From: \"Ada Lovelace\" <ada@example.com>",
        "Message-ID: <run-1-Email-0-1@easel>",
        "Auto-Submitted: auto-generated",
        "Content-Type: text/plain",
        "Content-Type: text/html",
        "<p>Hello <b>Bo</b></p>",
    ] {
        assert!(after.contains(line), "{line}: {after}");
    }
    assert!(!after.contains("Grüße"), "heads are ASCII: {after}");
}

#[tokio::test]
async fn a_server_without_encryption_is_told_nothing_unless_it_may_be() {
    let server = Server::start(false, &[]).await;
    let error = server.send(|_, _| {}).await.unwrap_err();
    assert!(matches!(error, ToolError::NoConnection { .. }), "{error:?}");
    assert!(error.to_string().contains("[mail]"), "{error}");
    let told = server.told();
    assert!(!told.contains("AUTH") && !told.contains("MAIL"), "{told}");
    server
        .send(|_, config| config.plain.push("localhost".to_owned()))
        .await
        .unwrap();
    assert!(server.told().contains("<p>Hello <b>Bo</b></p>"));
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_not_taken() {
    let server = Server::start(true, &[]).await;
    let error = server
        .send(|_, config| config.roots.clear())
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::NoConnection { .. }), "{error:?}");
    let other = server.send(|mail, _| mail.server.host = "127.0.0.1".to_owned());
    let error = other.await.unwrap_err();
    assert!(matches!(error, ToolError::NoConnection { .. }), "{error:?}");
    assert!(!server.told().contains("AUTH"), "{}", server.told());
}

#[tokio::test]
async fn a_refusal_is_told_in_the_servers_words_without_the_password() {
    for (command, answer) in [
        ("AUTH", "535 5.7.8 hunter2-secret is wrong\r\n"),
        ("RCPT", "550 5.1.1 no such user\r\n"),
        (".", "554 5.7.1 that is spam\r\n"),
        ("MAIL", "421 too many of you\r\n"),
    ] {
        let server = Server::start(true, &[(command, answer)]).await;
        let error = server.send(|_, _| {}).await.unwrap_err();
        assert!(
            matches!(error, ToolError::Failed { .. }),
            "{command}: {error:?}"
        );
        let code = answer.split(' ').next().unwrap();
        assert!(error.to_string().contains(code), "{error}");
        assert!(!error.to_string().contains("hunter2-secret"), "{error}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_behind_the_mail_leaves_it_open_whether_it_was_taken() {
    let server = Server::start(true, &[(".", "")]).await;
    let error = server.send(|_, _| {}).await.unwrap_err();
    assert!(matches!(error, ToolError::Interrupted { .. }), "{error:?}");
    assert!(!error.certain_nothing_sent());
    let server = Server::start(true, &[("AUTH", "")]).await;
    let error = server.send(|_, _| {}).await.unwrap_err();
    assert!(error.certain_nothing_sent(), "{error:?}");
}

#[tokio::test]
async fn nothing_in_a_mail_begins_a_head_or_another_address() {
    let server = Server::start(true, &[]).await;
    let sent = server.send(|mail, _| {
        mail.subject = "Hi\r\nBcc: eve@example.com\r\n\r\n<p>other</p>".to_owned();
        mail.sender = "Ada\nX-Evil: yes".to_owned();
        mail.html = "line\r\n.\r\nMAIL FROM:<eve@example.com>\r\n".to_owned();
    });
    sent.await.unwrap();
    let told = server.told();
    assert!(
        !told.contains("\nBcc:") && !told.contains("\nX-Evil:"),
        "{told}"
    );
    assert_eq!(
        told.matches("\nMAIL FROM:<").count(),
        2,
        "one is text: {told}"
    );
    assert_eq!(told.matches("\n.\r\n").count(), 1, "{told}");
    for to in [
        "bo@example.com\r\nRCPT TO:<eve@example.com>",
        "no address",
        "a@b@c",
        "<>",
    ] {
        let error = server
            .send(|mail, _| mail.to = to.to_owned())
            .await
            .unwrap_err();
        assert!(
            matches!(error, ToolError::InvalidRequest { .. }),
            "{to}: {error:?}"
        );
    }
    assert!(!server.told().contains("RCPT TO:<eve"), "{}", server.told());
}

#[tokio::test]
async fn a_host_that_is_not_public_is_refused_unless_it_is_allowed() {
    let server = Server::start(true, &[]).await;
    for host in ["localhost", "127.0.0.1", "10.0.0.7", "0x7f.1"] {
        let error = server
            .send(|mail, config| {
                mail.server.host = host.to_owned();
                config.allow = Allow::default();
            })
            .await
            .unwrap_err();
        assert!(matches!(error, ToolError::Blocked(_)), "{host}: {error:?}");
    }
    assert_eq!(server.told(), "");
}

#[tokio::test]
async fn a_server_that_does_not_answer_costs_its_time_and_no_more() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let server = Server::start(true, &[]).await;
    let port = listener.local_addr().unwrap().port();
    let sent = server.send(|mail, _| {
        mail.server.port = port;
        mail.timeout = Duration::from_millis(200);
    });
    let error = sent.await.unwrap_err();
    let late = matches!(
        error,
        ToolError::Timeout { .. } | ToolError::NoConnection { .. }
    );
    assert!(late, "{error:?}");
}
