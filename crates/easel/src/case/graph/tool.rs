//! The scripted tools of a graph case: `tools` of `inputs.json`.

use std::sync::{Arc, Mutex, PoisonError};

use easel_runtime::components::{Call, Tool, ToolAnswer};
use easel_runtime::models::ToolSpec;
use easel_runtime::{Object, Value};
use futures::FutureExt;
use futures::future::BoxFuture;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// A tool as `inputs.json` describes it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Script {
    /// Its name.
    pub name: String,
    params: IndexMap<String, Param>,
    /// `allow`: it takes arguments that it does not list.
    extra: Option<String>,
    /// The parameters that carry credentials.
    pub secret_inputs: Vec<String>,
    result: Option<String>,
    always_error: Option<String>,
    raises: Option<String>,
    fail_times: u32,
    /// Whether it changes nothing outside.
    pub read_only: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Param {
    #[serde(rename = "type")]
    kind: Option<String>,
    required: bool,
    default: Option<Json>,
    description: Option<String>,
}

/// What all tools of a case were called with, in order.
pub type Log = Arc<Mutex<Vec<Json>>>;

/// A tool that answers as its script says.
pub struct Scripted {
    script: Script,
    log: Log,
    failed: Mutex<u32>,
}

impl Scripted {
    pub fn new(script: Script, log: Log) -> Scripted {
        Scripted {
            script,
            log,
            failed: Mutex::new(0),
        }
    }

    fn answer(&self, arguments: &Object) -> ToolAnswer {
        let args = Value::from(arguments.clone()).to_json();
        let call = json!({"tool": self.script.name, "args": args});
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(call);
        drop(log);
        let filled = |text: &str| {
            let mut text = text.to_owned();
            for (name, value) in arguments {
                text = text.replace(&format!("<{name}>"), &value.to_string());
            }
            text
        };
        if let Some(error) = self
            .script
            .raises
            .as_ref()
            .or(self.script.always_error.as_ref())
        {
            return ToolAnswer::failure(filled(error));
        }
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if *failed < self.script.fail_times {
            *failed += 1;
            return ToolAnswer::failure(format!("failed for the {}. time", *failed));
        }
        let text = match &self.script.result {
            Some(result) => filled(result),
            None => sorted(&Value::from(arguments.clone())).to_string(),
        };
        ToolAnswer {
            text: text.into(),
            ..ToolAnswer::default()
        }
    }
}

/// A value with the members of its objects in the order of their names.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(Arc<str>, Value)> = members
                .iter()
                .map(|(name, member)| (name.clone(), sorted(member)))
                .collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::from(members.into_iter().collect::<Object>())
        }
        Value::Array(items) => Value::from(items.iter().map(sorted).collect::<Vec<_>>()),
        other => other.clone(),
    }
}

impl Tool for Scripted {
    fn spec(&self) -> ToolSpec {
        let params = &self.script.params;
        let property = |param: &Param| {
            let mut property = json!({"type": param.kind.as_deref().unwrap_or("string")});
            if let Some(default) = &param.default {
                property["default"] = default.clone();
            }
            if let Some(text) = &param.description {
                property["description"] = json!(text);
            }
            property
        };
        let properties: serde_json::Map<String, Json> = params
            .iter()
            .map(|(name, param)| (name.clone(), property(param)))
            .collect();
        let required = params.iter().filter(|(_, param)| param.required);
        let required: Vec<&String> = required.map(|(name, _)| name).collect();
        let parameters = json!({
            "properties": properties, "required": required, "type": "object",
            "additionalProperties": self.script.extra.as_deref() == Some("allow"),
        });
        ToolSpec {
            name: self.script.name.as_str().into(),
            description: "A tool of the case.".into(),
            parameters: Value::from(parameters),
        }
    }

    fn call<'a>(&'a self, mut arguments: Object, _: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        for (name, param) in &self.script.params {
            if let (false, Some(default)) = (arguments.contains_key(name.as_str()), &param.default)
            {
                arguments.insert(name.as_str().into(), Value::from(default));
            }
        }
        std::future::ready(self.answer(&arguments)).boxed()
    }
}
