//! Invoke: an HTTP request is sent, and the answer is given (spec/canvas-components §5.1).

use std::sync::Arc;
use std::time::Duration;

use easel_core::draft::EffectClass;
use easel_core::event::{Completion, Fault, Ports};
use easel_core::reference::Root;
use easel_core::{Object, Value};
use easel_secrets::{Door, Gate, SinkKind};
use easel_tools::html::clean_html;
use easel_tools::http::{HttpBody, HttpRequest, HttpResponse};

use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::function::Trouble;
use crate::given::Given;
use crate::site::Site;

/// Seconds a request may take where the node does not say.
const SECONDS: u32 = 60;

/// Redirects that are followed by a node that follows them.
const REDIRECTS: u8 = 5;

/// Reads a node's parameters.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let url = site.given("url", true);
    if url
        .literal()
        .is_some_and(|url| url.to_string().trim().is_empty())
    {
        return Err(site.wrong("url", "is not set", "Set the address the request goes to"));
    }
    let headers = site.given("headers", true);
    if let Some(Value::String(text)) = site.get("headers").filter(|headers| headers.is_truthy()) {
        let problem = format!(
            "is no JSON object but {}",
            Value::from(text.clone()).to_json_text()
        );
        return Err(site.wrong(
            "headers",
            &problem,
            "Write the headers as {\"Name\": \"value\"}",
        ));
    }
    let variables = site.items("variables").iter().enumerate();
    let variables = variables.filter_map(|(at, variable)| Variable::read(&site, at, variable));
    let method = site.text("method").trim().to_lowercase();
    Ok(Arc::new(Invoke {
        in_query: matches!(&*method, "" | "get" | "head" | "delete"),
        method: match method.is_empty() {
            true => "get".to_owned(),
            false => method,
        },
        url,
        headers,
        variables: variables.collect(),
        form: site.text("datatype") == "formdata",
        body: site.get("body").is_some().then(|| site.given("body", true)),
        content_type: site.text("content_type").trim().to_owned(),
        proxy: site.given("proxy", true),
        timeout: Duration::from_secs(site.count("timeout")?.unwrap_or(SECONDS).into()),
        clean_html: site.flag("clean_html"),
        fail_on_status: site.flag("fail_on_status"),
        redirects: if site.flag("follow_redirects") {
            REDIRECTS
        } else {
            0
        },
        extra: ["status", "headers", "json"].map(|port| is_wanted(&site, port)),
    }))
}

/// True if something reads that port, or the node declares it. One that nobody wants is not kept: the body would be in
/// the record twice.
fn is_wanted(site: &Site<'_>, port: &str) -> bool {
    let id = &site.owner.node.draft.id;
    let nodes = &site.owner.workflow.nodes;
    let mut reads = nodes.iter().flat_map(|node| &node.draft.reads);
    let read = reads.any(|reference| match &reference.root {
        Root::Output { node, port: of } => node == id && (of.is_empty() || **of == *port),
        Root::Variable(_) | Root::Pass(_) | Root::PassOf { .. } => false,
    });
    read || site
        .get("outputs")
        .and_then(|outputs| outputs.get(port))
        .is_some()
}

struct Invoke {
    method: String,
    url: Given,
    headers: Given,
    variables: Vec<Variable>,
    /// Whether the arguments go into the URL's query; else into the body.
    in_query: bool,
    /// Whether the arguments are form fields; else JSON.
    form: bool,
    body: Option<Given>,
    content_type: String,
    proxy: Given,
    timeout: Duration,
    clean_html: bool,
    fail_on_status: bool,
    redirects: u8,
    /// Whether `status`, `headers` and `json` are given too.
    extra: [bool; 3],
}

/// One argument.
struct Variable {
    key: Arc<str>,
    reference: Given,
    value: Given,
}

impl Variable {
    fn read(site: &Site<'_>, at: usize, variable: &Value) -> Option<Variable> {
        let key = variable.get("key").and_then(Value::as_str).map(str::trim);
        let key = key.filter(|key| !key.is_empty())?;
        let member = |name: &str, secrets| {
            let value = variable.get(name).cloned().unwrap_or_default();
            site.given_at(&format!("variables.{at}.{name}"), &value, secrets)
        };
        let reference = match member("ref", false) {
            // What is no reference gives nothing.
            Given::Literal(_) => Given::Literal(Value::Null),
            given => given,
        };
        Some(Variable {
            key: key.into(),
            reference,
            value: member("value", true),
        })
    }

    /// What the reference gives; what stands in the file where that is nothing.
    fn value(&self, call: &Call, door: &Door<'_>) -> Result<Value, Fault> {
        let referred = self.reference.value(call);
        let is_set = |value: &Value| !matches!(value, Value::Null) && value.as_str() != Some("");
        if is_set(&referred) {
            return Ok(referred);
        }
        let written = self.value.open(call, door)?.into_exposed();
        Ok(match written {
            Value::Null if referred.is_null() => Value::from(""),
            Value::Null => referred,
            written => written,
        })
    }
}

impl Behaviour for Invoke {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let request = match self.request(&call) {
            Ok(request) => request,
            Err(fault) => return Run::Done(Err(fault.into())),
        };
        Run::later(async move {
            let name = &call.node().draft.name;
            let response = call.run.services.world.http.send(request).await;
            let response = response.map_err(|error| Trouble::from(error).into_failure(name))?;
            self.completion(response, name, &call.run.gate)
        })
    }
}

impl Invoke {
    fn request(&self, call: &Call) -> Result<HttpRequest, Fault> {
        let door = call.door(SinkKind::Component, "Invoke");
        let open = |given: &Given| Ok(given.open(call, &door)?.into_exposed());
        let mut arguments = Object::new();
        for variable in &self.variables {
            let value = variable.value(call, &door)?;
            arguments.insert(
                variable.key.clone(),
                if self.form { value } else { typed(value) },
            );
        }
        let (query, body) = match (&self.body, self.in_query) {
            (Some(body), true) => (Some(arguments), self.own_body(open(body)?)),
            (Some(body), false) => (None, self.own_body(open(body)?)),
            (None, true) => (Some(arguments), HttpBody::Empty),
            (None, false) if self.form => (None, HttpBody::Form(arguments)),
            (None, false) => (None, HttpBody::Json(arguments.into())),
        };
        let writes = call.node().draft.effect == EffectClass::Writes;
        Ok(HttpRequest {
            url: with_scheme(open(&self.url)?.to_string().trim()),
            headers: headers(open(&self.headers)?),
            idempotency_key: writes.then(|| call.idempotency_key()),
            query,
            body,
            timeout: self.timeout,
            proxy: proxy(open(&self.proxy)?.to_string()),
            max_redirects: self.redirects,
            ..HttpRequest::new(&*self.method, "")
        })
    }

    fn own_body(&self, value: Value) -> HttpBody {
        match (value, &*self.content_type) {
            (Value::Null, _) => HttpBody::Empty,
            (Value::String(text), "") => HttpBody::Text {
                content_type: "text/plain; charset=utf-8".to_owned(),
                text: text.to_string(),
            },
            (value, "") => HttpBody::Json(value),
            (value, content_type) => HttpBody::Text {
                content_type: content_type.to_owned(),
                text: match value {
                    Value::String(text) => text.to_string(),
                    value => value.to_json_text(),
                },
            },
        }
    }

    fn completion(
        &self,
        response: HttpResponse,
        node: &str,
        gate: &Gate,
    ) -> Result<Completion, Failure> {
        if self.fail_on_status && response.status >= 400 {
            // Masked before it is cut: half a secret could not be found any more.
            let excerpt: String = gate.mask(&response.body).chars().take(200).collect();
            let text = format!("the answer has status {}: {excerpt}", response.status);
            let trouble = match response.status {
                // By it a server says that it refused before acting.
                429 => Trouble::new("http_status", text).without_trace(),
                _ => Trouble::new("http_status", text),
            };
            return Err(trouble.into_failure(node));
        }
        let [status, headers, json] = self.extra;
        let mut ports = Ports::new();
        let data = json.then(|| serde_json::from_str(&response.body).unwrap_or(Value::Null));
        ports.set(
            "result",
            match self.clean_html {
                true => clean_html(&response.body),
                false => response.body,
            },
        );
        if status {
            ports.set("status", i64::from(response.status));
        }
        if headers {
            let headers = response.headers.into_iter();
            let headers = headers.map(|(name, value)| (Arc::from(name), Value::from(value)));
            ports.set("headers", headers.collect::<Object>());
        }
        if let Some(data) = data {
            ports.set("json", data);
        }
        Ok(Completion {
            ports,
            ..Completion::default()
        })
    }
}

/// A text that is JSON as what it says.
fn typed(value: Value) -> Value {
    match &value {
        Value::String(text) => serde_json::from_str(text).unwrap_or(value),
        _ => value,
    }
}

fn with_scheme(url: &str) -> String {
    match url.contains("://") {
        true => url.to_owned(),
        false => format!("http://{url}"),
    }
}

/// A proxy, unless all there is of it is a scheme.
fn proxy(text: String) -> Option<String> {
    let text = text.trim();
    let host = text.split_once("://").map_or(text, |(_, host)| host);
    (!host.is_empty()).then(|| text.to_owned())
}

fn headers(value: Value) -> Vec<(String, String)> {
    let members = value.as_object().into_iter().flatten();
    members
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect()
}

#[cfg(test)]
mod tests;
