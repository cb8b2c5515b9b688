//! What the places of a provider's requests stand for.

use std::time::{SystemTime, UNIX_EPOCH};

use easel_core::{Object, Value};
use easel_secrets::Opened;

use super::declaration::{Declaration, KeyUse, Kind, Parameter, Subject, is_label};
use crate::error::ToolError;
use crate::search::SearchRequest;

/// The values that requests are made of: the main argument, the parameters, the key and what earlier steps kept.
pub(super) struct Scope<'r> {
    values: Object,
    key: Option<&'r Opened>,
}

impl<'r> Scope<'r> {
    /// Reads a request by what its provider takes. Parameters that it does not know are left aside.
    ///
    /// Errors: the main argument, a parameter or the key is missing or of the wrong type.
    pub(super) fn new(
        declared: &Declaration,
        request: &'r SearchRequest,
    ) -> Result<Scope<'r>, ToolError> {
        let invalid = |what: String, problem: String| ToolError::InvalidRequest { what, problem };
        let subject = subject(declared.subject, &request.subject)
            .map_err(|problem| invalid(request.provider.clone(), problem))?;
        let key = request
            .api_key
            .as_ref()
            .filter(|key| declared.key != KeyUse::None && !key.expose().trim().is_empty());
        if key.is_none() && declared.key == KeyUse::Required {
            let problem = "it has no API key: set api_key".to_owned();
            return Err(invalid(request.provider.clone(), problem));
        }
        let mut values = Object::new();
        for (name, parameter) in &declared.parameters {
            let given = request.parameters.get(name.as_str()).filter(|v| says(v));
            let Some(value) = given.or(parameter.default.as_ref()) else {
                continue;
            };
            let value = parameter
                .read(value)
                .map_err(|problem| invalid(format!("{name} of {}", request.provider), problem))?;
            values.insert(name.as_str().into(), value);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_millis() as u64);
        values.insert("now".into(), Value::from(now));
        values.insert("subject".into(), subject);
        Ok(Scope { values, key })
    }

    /// Keeps what an answer said for later steps.
    pub(super) fn keep(&mut self, name: &str, value: String) {
        self.values.insert(name.into(), Value::from(value));
    }

    /// What a place stands for, if that says something.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        match name {
            "key" => self.key.map(|key| Value::from(key.expose().trim())),
            _ => self.values.get(name).filter(|v| says(v)).cloned(),
        }
    }

    /// The same as text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(|value| value.to_string())
    }

    /// The number that a parameter has.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        usize::try_from(self.values.get(name)?.as_i64()?).ok()
    }

    /// Whether a condition of a step holds: `"*"` is any value, `""` none, `"*:fx"` one that ends so, `"!now"` any
    /// but that one.
    pub(super) fn meets(&self, name: &str, wanted: &Value) -> bool {
        if let Some(unwanted) = wanted.as_str().and_then(|wanted| wanted.strip_prefix('!')) {
            return !self.meets(name, &Value::from(unwanted));
        }
        let found = self.value(name);
        match (wanted.as_str(), found) {
            (Some(""), found) => found.is_none(),
            (Some(wanted), Some(found)) => match wanted.strip_prefix('*') {
                Some(end) => found.to_string().ends_with(end),
                None => found.to_string() == wanted,
            },
            (None, Some(found)) => found == *wanted,
            (_, None) => false,
        }
    }
}

/// Whether a value is more than nothing.
fn says(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

fn subject(kind: Subject, given: &Value) -> Result<Value, String> {
    match (kind, given) {
        (Subject::Text, Value::String(text)) if !text.trim().is_empty() => {
            Ok(Value::from(text.trim()))
        }
        (Subject::Text, _) => Err("the query must be a text".to_owned()),
        (Subject::Addresses, given) => match texts(given) {
            Some(addresses) if !addresses.is_empty() => Ok(addresses.into()),
            _ => Err(
                "the addresses must be a list of texts, or a text with commas between".to_owned(),
            ),
        },
    }
}

/// A list of texts, or a text with commas between.
fn texts(given: &Value) -> Option<Vec<Value>> {
    let listed: Vec<&str> = match given {
        Value::String(text) => text.split(',').collect(),
        Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    let texts = listed
        .into_iter()
        .map(str::trim)
        .filter(|text| !text.is_empty());
    Some(texts.map(Value::from).collect())
}

impl Parameter {
    /// The value in the parameter's type, under the provider's name for it. Errors: what it must be.
    pub(super) fn read(&self, given: &Value) -> Result<Value, String> {
        let value = match self.kind {
            Kind::Text => Value::from(given.to_string().trim()),
            Kind::Label => {
                let text = given.to_string();
                match is_label(text.trim()) {
                    true => Value::from(text.trim()),
                    false => return Err("it must be letters, digits and hyphens".to_owned()),
                }
            }
            Kind::Integer => self.integer(given)?,
            Kind::Boolean => boolean(given).ok_or("it must be true or false")?.into(),
            Kind::List => texts(given).ok_or("it must be a list of texts")?.into(),
        };
        self.named(value)
    }

    fn integer(&self, given: &Value) -> Result<Value, String> {
        let number = given
            .as_i64()
            .or_else(|| given.as_str()?.trim().parse().ok());
        let number = number.ok_or("it must be a whole number")?;
        match (self.least, self.most) {
            (Some(least), _) if number < least => Err(format!("it must be at least {least}")),
            (_, Some(most)) if number > most => Err(format!("it must be at most {most}")),
            _ => Ok(Value::from(number)),
        }
    }

    fn named(&self, value: Value) -> Result<Value, String> {
        if self.names.is_empty() && self.allowed.is_empty() {
            return Ok(value);
        }
        let text = value.to_string();
        if let Some(name) = self.names.get(&text) {
            return Ok(Value::from(name.as_str()));
        }
        match self.allowed.contains(&text) {
            true => Ok(value),
            false => {
                let known: Vec<&str> = self
                    .names
                    .keys()
                    .chain(&self.allowed)
                    .map(String::as_str)
                    .collect();
                Err(format!("it must be one of {}", known.join(", ")))
            }
        }
    }
}

fn boolean(given: &Value) -> Option<bool> {
    match given.to_string().trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}
