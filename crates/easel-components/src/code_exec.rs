//! CodeExec: a script's `main` is called in a sandbox, and what it returns is held to the declared output
//! (spec/canvas-components §6.2).

mod contract;

use std::sync::Arc;
use std::time::Duration;

use easel_catalog as catalog;
use easel_core::event::{Fault, Ports};
use easel_core::{Object, Value};
use easel_tools::code::{Artifact, CodeOutcome, CodeRequest, Language};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::behaviour::Call;
use crate::function::{Function, Outcome, Trouble, text};
use crate::given::Given;
use crate::site::Site;
use contract::{Contract, name_of_type};

/// Seconds a script may take where the node does not say.
const SECONDS: f64 = 30.0;

/// Reads the parameters.
pub(crate) fn make(site: &Site<'_>, _: &catalog::Component) -> Result<Arc<dyn Function>, Fault> {
    let language = |name: &str| name.parse::<Language>();
    if let Some(lang) = site.get("lang").and_then(Value::as_str)
        && let Err(error) = language(lang)
    {
        return Err(site.wrong(
            "lang",
            &format!("is not usable: {error}"),
            "Choose python or javascript",
        ));
    }
    let seconds = site.number("timeout_s")?.filter(|seconds| *seconds > 0.0);
    Ok(Arc::new(CodeExec {
        // A model that calls it decides by itself what its code returns.
        contract: match site.tool_depth {
            Some(_) => Contract::any(),
            None => Contract::read(site.get("outputs")),
        },
        arguments: site.given("arguments", false),
        timeout: Duration::try_from_secs_f64(seconds.unwrap_or(SECONDS)).unwrap_or(Duration::MAX),
    }))
}

struct CodeExec {
    contract: Contract,
    arguments: Given,
    timeout: Duration,
}

impl Function for CodeExec {
    fn call<'a>(
        &'a self,
        arguments: Object,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Outcome, Trouble>> {
        async move {
            let language = match text(&arguments, "lang").trim() {
                "" => Language::Python,
                name => name.parse()?,
            };
            let request = CodeRequest {
                language,
                script: text(&arguments, "script"),
                arguments: match self.arguments.value(call) {
                    Value::Object(members) => Object::clone(&members),
                    _ => Object::new(),
                },
                timeout: self.timeout,
            };
            let began = call.run.services.clock.now();
            let outcome = call.run.services.world.code.run(request).await?;
            self.outcome(outcome, (began.0 - call.now.0) / 1000)
        }
        .boxed()
    }
}

impl CodeExec {
    /// What comes of a script that began that many seconds into the attempt.
    fn outcome(&self, outcome: CodeOutcome, began: i64) -> Result<Outcome, Trouble> {
        let stderr = outcome.stderr.trim();
        let silent = outcome.result.is_none()
            && outcome.artifacts.is_empty()
            && outcome.stdout.trim().is_empty();
        if silent && (!stderr.is_empty() || outcome.exit_code != 0) {
            let cause = match stderr {
                "" => format!("it ended with exit code {}", outcome.exit_code),
                stderr => stderr.to_owned(),
            };
            return Err(Trouble::new("code", format!("the script failed: {cause}")).told(&cause));
        }
        let result = match outcome.result {
            Some(result) => result.value,
            None => printed(&outcome.stdout),
        };
        let artifacts: Vec<Value> = outcome.artifacts.iter().map(link).collect();
        let content: Arc<str> = content(&result, &outcome.artifacts).into();
        let name = self.contract.check(&result).map_err(|problem| {
            let shown = format!("{problem} What the script returned: {content}");
            Trouble::new("bad_output", problem).told(&shown)
        })?;

        let mut ports = Ports::one(name.clone(), result.clone());
        ports.set("raw_result", result.clone());
        ports.set("actual_type", name_of_type(&result));
        let attachments = artifacts.iter().filter_map(attachment);
        ports.set("attachments", attachments.collect::<Vec<_>>());
        ports.set("content", content);
        if !artifacts.is_empty() {
            ports.set("_ARTIFACTS", artifacts.clone());
        }
        Ok(Outcome {
            told: told(&name, &ports, began).into(),
            ports,
            artifacts,
            ..Outcome::default()
        })
    }
}

/// What a model is told: the ports, with the names between them that instructions of canvases speak of, in their order.
fn told(name: &str, ports: &Ports, began: i64) -> String {
    let port = |name: &str| ports.get(name).cloned().unwrap_or_default();
    let members = [
        (name, port(name)),
        ("_created_time", began.into()),
        ("_ERROR", "".into()),
        ("raw_result", port("raw_result")),
        ("actual_type", port("actual_type")),
        ("_ARTIFACTS", port("_ARTIFACTS")),
        ("_ATTACHMENT_CONTENT", "".into()),
        ("attachments", port("attachments")),
        ("content", port("content")),
    ];
    let members = members.map(|(name, value)| (Arc::from(name), value));
    Value::from(Object::from_iter(members)).to_string()
}

/// What a script printed, for one that returned nothing: JSON if it is, else text.
fn printed(stdout: &str) -> Value {
    let text = stdout.trim();
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// The result as text for people and models: texts as they are, lists and objects as indented JSON in a fixed order; then
/// what was in files that hold text.
fn content(result: &Value, artifacts: &[Artifact]) -> String {
    let mut text = match result {
        Value::Array(_) | Value::Object(_) => format!("{:#}", sorted(result)),
        other => other.to_string(),
    };
    if !artifacts.is_empty() {
        text.push_str(&format!("\n\nattachment_count: {}", artifacts.len()));
    }
    for (number, file) in (1..).zip(artifacts) {
        text.push_str(&format!(
            "\n\nattachment{number} ({}): {}",
            file.mime_type, file.name
        ));
    }
    text.trim_start_matches('\n').to_owned()
}

/// JSON with the members of objects in alphabetical order.
fn sorted(value: &Value) -> serde_json::Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members = members
                .into_iter()
                .map(|(name, member)| (name.to_string(), sorted(member)));
            serde_json::Value::Object(members.collect())
        }
        other => other.to_json(),
    }
}

/// A file as a link: its content stands in the address.
pub(crate) fn link(file: &Artifact) -> Value {
    let members = [
        ("name", Value::from(&*file.name)),
        (
            "url",
            Value::from(format!(
                "data:{};base64,{}",
                file.mime_type, file.content_b64
            )),
        ),
        ("mime_type", Value::from(&*file.mime_type)),
        ("size", Value::from(file.size)),
    ];
    Value::from(Object::from_iter(
        members.map(|(name, value)| (Arc::from(name), value)),
    ))
}

/// A link in Markdown.
fn attachment(link: &Value) -> Option<Value> {
    let text = |name: &str| link.get(name).and_then(Value::as_str);
    let (name, url) = (text("name")?, text("url")?);
    let image = text("mime_type").is_some_and(|mime| mime.starts_with("image/"));
    Some(Value::from(match image {
        true => format!("![{name}]({url})"),
        false => format!("[{name}]({url})"),
    }))
}

#[cfg(test)]
mod tests;
