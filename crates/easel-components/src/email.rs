//! Email: a mail is handed to the server of an account (spec/canvas-components §6.4).

use std::sync::Arc;
use std::time::Duration;

use easel_catalog as catalog;
use easel_core::Object;
use easel_core::event::{Fault, Ports};
use easel_secrets::SinkKind;
use easel_tools::mail::{Mail, MailServer};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::behaviour::Call;
use crate::function::{Function, Outcome, Trouble, text};
use crate::given::Given;
use crate::site::Site;

/// Seconds that handing it over may take where the node does not say.
const SECONDS: f64 = 60.0;

/// The port where there is none on the node: encrypted from the start.
const PORT: u16 = 465;

/// Reads the parameters.
pub(crate) fn make(site: &Site<'_>, _: &catalog::Component) -> Result<Arc<dyn Function>, Fault> {
    let port = site.count("smtp_port")?.map(u16::try_from).transpose();
    let port =
        port.map_err(|_| site.wrong("smtp_port", "is no port", "Set a number from 1 to 65535"))?;
    let seconds = site.number("timeout_s")?.filter(|seconds| *seconds > 0.0);
    Ok(Arc::new(Email {
        host: site.given("smtp_server", true),
        port: port.unwrap_or(PORT),
        address: site.given("email", true),
        username: site.given("smtp_username", true),
        password: site.given("password", true),
        sender: site.given("sender_name", false),
        timeout: Duration::try_from_secs_f64(seconds.unwrap_or(SECONDS)).unwrap_or(Duration::MAX),
    }))
}

struct Email {
    host: Given,
    port: u16,
    address: Given,
    username: Given,
    password: Given,
    sender: Given,
    timeout: Duration,
}

impl Function for Email {
    fn call<'a>(
        &'a self,
        arguments: Object,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Outcome, Trouble>> {
        async move {
            let text = |name: &str| text(&arguments, name);
            let to = text("to_email");
            if to.trim().is_empty() {
                return Ok(outcome(false, "There is nobody to send it to."));
            }
            let or = |text: String, other: &str| match text.trim().is_empty() {
                true => other.to_owned(),
                false => text,
            };
            let from = self.open(&self.address, call)?;
            let username = self.open(&self.username, call)?;
            let door = call.door(SinkKind::Component, "Email");
            let mail = Mail {
                server: MailServer {
                    host: self.open(&self.host, call)?,
                    port: self.port,
                    username: or(username, &from),
                    password: self.password.open_credential(call, &door, "password")?,
                },
                sender: self.open(&self.sender, call)?,
                from,
                to,
                cc: text("cc_email"),
                subject: or(text("subject"), "No Subject"),
                html: or(text("content"), "No content provided"),
                key: call.idempotency_key(),
                timeout: self.timeout,
            };
            call.run.services.world.mail.deliver(mail).await?;
            Ok(outcome(true, "The mail was sent."))
        }
        .boxed()
    }
}

impl Email {
    fn open(&self, given: &Given, call: &Call) -> Result<String, Fault> {
        let door = call.door(SinkKind::Component, "Email");
        Ok(given.open(call, &door)?.expose().to_string())
    }
}

fn outcome(sent: bool, told: &str) -> Outcome {
    Outcome {
        ports: Ports::one("success", sent),
        told: told.into(),
        ..Outcome::default()
    }
}

#[cfg(test)]
mod tests {
    use easel_tools::ScriptedWorld;
    use serde_json::{Value as Json, json};

    use crate::testing::{Trial, Tried};

    fn send(arguments: Json, rules: Json) -> (Tried, Vec<Json>) {
        let mut params = json!({
            "smtp_server": "mail.example.com", "email": "me@example.com", "password": "p", "sender_name": "Me",
        });
        if let (Some(params), Some(more)) = (params.as_object_mut(), arguments.as_object()) {
            params.extend(more.clone());
        }
        let world = ScriptedWorld::new(serde_json::from_value(json!({"mail": rules})).unwrap());
        let tried = Trial::new("Email", params).world(world.world()).run();
        let calls = world
            .take_calls()
            .iter()
            .map(|call| call.to_json())
            .collect();
        (tried, calls)
    }

    #[test]
    fn a_mail_is_handed_over_once() {
        let (tried, calls) = send(
            json!({"to_email": "a@b.example", "cc_email": "c@d.example", "subject": "Hi", "content": "<p>Hello</p>"}),
            json!([]),
        );
        assert_eq!(tried.ports(), json!({"success": true}));
        assert_eq!(
            calls,
            [
                json!({"mail": "a@b.example", "cc": "c@d.example", "subject": "Hi", "html": "<p>Hello</p>"})
            ]
        );
    }

    #[test]
    fn without_anybody_to_get_it_none_is_sent() {
        let (tried, calls) = send(json!({"to_email": " ", "subject": "Hi"}), json!([]));
        assert_eq!(tried.ports(), json!({"success": false}));
        assert!(calls.is_empty());
    }

    #[test]
    fn what_is_blank_is_said_to_be() {
        let (_, calls) = send(json!({"to_email": "a@b.example"}), json!([]));
        assert_eq!(calls[0]["subject"], "No Subject");
        assert_eq!(calls[0]["html"], "No content provided");
    }

    #[test]
    fn a_refusal_is_a_failure_in_the_servers_words() {
        let rules = json!([{"error": "550 no such user"}]);
        let (tried, _) = send(json!({"to_email": "a@b.example"}), rules);
        let fault = tried.fault();
        assert!(
            fault.message.contains("550 no such user"),
            "{}",
            fault.message
        );
    }
}
