//! What a Begin in mode `Webhook` says: which requests it takes, and how they are answered (spec/canvas-engine §7.1).

use std::sync::Arc;

use axum::http::Method;
use easel_runtime::{Object, Value, Workflow};

use super::{Refusal, Reply, Schema, Security};

/// A webhook. Each part that has a fault says so when a request comes to it, so the order in which requests are checked
/// stays the same whatever is wrong.
#[derive(Clone, Debug)]
pub struct Config {
    /// The id of the Begin.
    pub node: Arc<str>,
    /// The methods it takes; empty takes all.
    pub methods: Result<Vec<Method>, Refusal>,
    /// Who may call.
    pub security: Result<Security, Refusal>,
    /// The content type that a request must have, if it has one.
    pub content_type: Option<Arc<str>>,
    /// The fields that are kept of a request.
    pub schema: Schema,
    /// How it is answered.
    pub mode: Mode,
}

/// When a request is answered.
#[derive(Clone, Debug)]
pub enum Mode {
    /// At once; the run goes on behind it.
    Immediately(Result<Reply, Refusal>),
    /// With what the run said, once it is over.
    Streaming,
}

impl Config {
    /// The webhook of a workflow.
    ///
    /// # Errors
    /// It has none.
    pub fn of(workflow: &Workflow) -> Result<Config, Refusal> {
        let nodes = workflow.compiled().nodes.iter().rev();
        let mut begins = nodes
            .map(|node| &node.draft)
            .filter(|draft| &*draft.component == "Begin")
            .filter_map(|draft| Some((&draft.id, draft.params.as_object()?)));
        let webhook = begins
            .find(|(_, params)| params.get("mode").and_then(Value::as_str) == Some("Webhook"));
        match webhook {
            Some((node, params)) => Ok(Config::read(node, params)),
            None => Err(Refusal::new("Webhook not configured for this agent.")),
        }
    }

    /// What the parameters of a Begin say.
    pub fn read(node: &str, params: &Object) -> Config {
        let content_type = params.get("content_types").and_then(Value::as_str);
        let content_type = content_type
            .map(|kind| kind.trim().to_ascii_lowercase())
            .filter(|kind| !kind.is_empty());
        let mode = params.get("execution_mode").filter(|mode| !mode.is_null());
        let mode = match mode.map_or(Some("Immediately"), Value::as_str) {
            Some("Immediately" | "") => Mode::Immediately(Reply::read(params.get("response"))),
            _ => Mode::Streaming,
        };
        Config {
            node: node.into(),
            methods: methods(params.get("methods")),
            security: Security::read(node, params.get("security")),
            content_type: content_type.map(Arc::from),
            schema: Schema::read(params.get("schema")),
            mode,
        }
    }

    /// Whether it takes requests with that method.
    ///
    /// # Errors
    /// It does not.
    pub fn admit_method(&self, method: &Method) -> Result<(), Refusal> {
        let methods = self.methods.as_ref().map_err(Clone::clone)?;
        match methods.is_empty() || methods.contains(method) {
            true => Ok(()),
            false => Err(Refusal::new(format!(
                "HTTP method '{method}' not allowed for this webhook."
            ))),
        }
    }

    /// Whether it takes requests with that header `Content-Type`; one without it it takes.
    ///
    /// # Errors
    /// It does not.
    pub fn admit_content_type(&self, content_type: &str) -> Result<(), Refusal> {
        match &self.content_type {
            Some(expected) if !content_type.is_empty() && **expected != *content_type => {
                Err(Refusal::new(format!(
                    "Invalid Content-Type: expect '{expected}', got '{content_type}'"
                )))
            }
            _ => Ok(()),
        }
    }
}

fn methods(methods: Option<&Value>) -> Result<Vec<Method>, Refusal> {
    let invalid = || Refusal::new("Invalid methods: it must be a list of HTTP methods");
    let names: &[Value] = match methods {
        None | Some(Value::Null) => &[],
        Some(Value::Array(names)) => names,
        Some(one) => std::slice::from_ref(one),
    };
    let method = |name: &Value| {
        let name = name.as_str().ok_or_else(invalid)?.trim();
        name.to_ascii_uppercase().parse().map_err(|_| invalid())
    };
    names.iter().map(method).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn read(params: Json) -> Config {
        let params = Value::from(params);
        Config::read("begin", params.as_object().unwrap())
    }

    #[test]
    fn the_methods_that_are_named_are_taken() {
        let config = read(json!({"methods": ["post", "PUT"]}));
        assert!(config.admit_method(&Method::POST).is_ok());
        assert_eq!(
            config.admit_method(&Method::GET).unwrap_err().to_string(),
            "HTTP method 'GET' not allowed for this webhook."
        );
        for all in [json!({}), json!({"methods": []}), json!({"methods": null})] {
            assert!(read(all).admit_method(&Method::DELETE).is_ok());
        }
        let one = read(json!({"methods": "POST"}));
        assert!(one.admit_method(&Method::GET).is_err());
        let wrong = read(json!({"methods": [1]}));
        assert!(wrong.admit_method(&Method::GET).is_err());
    }

    #[test]
    fn another_content_type_than_the_one_that_is_named_is_refused() {
        let config = read(json!({"content_types": "Application/JSON"}));
        assert!(config.admit_content_type("application/json").is_ok());
        assert!(config.admit_content_type("").is_ok());
        assert_eq!(
            config
                .admit_content_type("text/plain")
                .unwrap_err()
                .to_string(),
            "Invalid Content-Type: expect 'application/json', got 'text/plain'"
        );
        assert!(read(json!({})).admit_content_type("text/plain").is_ok());
    }

    #[test]
    fn a_webhook_answers_at_once_unless_told() {
        let at_once = |params| matches!(read(params).mode, Mode::Immediately(Ok(_)));
        assert!(at_once(json!({})));
        assert!(at_once(json!({"execution_mode": "Immediately"})));
        assert!(!at_once(json!({"execution_mode": "Streaming"})));
        assert!(!at_once(json!({"execution_mode": "later"})));
    }

    #[test]
    fn the_last_begin_in_mode_webhook_counts() {
        let begin = |mode: Json, method: &str| {
            let params = json!({"mode": mode, "methods": [method]});
            json!({"obj": {"component_name": "Begin", "params": params}, "downstream": [], "upstream": []})
        };
        let load = |components: Json| {
            let text = json!({"components": components}).to_string();
            Config::of(&Workflow::load(text.as_bytes()).unwrap())
        };
        let refused = load(json!({"begin": begin(json!("conversational"), "GET")})).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "Webhook not configured for this agent."
        );
        let config = load(json!({"begin": begin(json!("Webhook"), "PUT")})).unwrap();
        assert_eq!(&*config.node, "begin");
        assert!(config.admit_method(&Method::PUT).is_ok());
    }
}
