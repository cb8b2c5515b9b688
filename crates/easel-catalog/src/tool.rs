//! How an agent's model calls a component.

use std::sync::Arc;

use easel_core::Value;
use serde::Serialize;
use serde_json::json;

use crate::param::{Param, Type};
use crate::schema;

/// A component as a function that a model can call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tool {
    /// The function's name. An agent adds `_<index>` to it (spec/canvas-components §3.2).
    pub function: Arc<str>,
    /// What it is for, told to the model. A node's own `description` takes its place.
    pub description: String,
    /// What the model may pass.
    pub arguments: Vec<Argument>,
}

/// One argument of a [`Tool`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Argument {
    /// Its name, and the name of the parameter that a node sets it by.
    pub name: Arc<str>,
    /// Its type.
    pub kind: Type,
    /// What it means, told to the model.
    pub description: String,
    /// True if the model has to pass it.
    pub required: bool,
    /// The value where neither the node nor the model sets it. A reference in it is resolved for a node alone.
    pub default: Value,
    /// True if it is no parameter of a node.
    pub from_model_only: bool,
}

impl Argument {
    /// An optional argument.
    pub fn new(name: &str, kind: Type, description: &str) -> Argument {
        Argument {
            name: name.into(),
            kind,
            description: description.to_owned(),
            required: false,
            default: Value::Null,
            from_model_only: false,
        }
    }

    /// Makes the model pass it.
    pub fn required(mut self) -> Argument {
        self.required = true;
        self
    }

    /// Sets its default.
    pub fn default(mut self, value: impl Into<Value>) -> Argument {
        self.default = value.into();
        self
    }

    /// Keeps it out of a node's parameters.
    pub fn from_model_only(mut self) -> Argument {
        self.from_model_only = true;
        self
    }

    /// The parameter by which a node sets it: a reference, or a literal of its type.
    pub fn to_param(&self) -> Param {
        let mut param = Param::new(
            &self.name,
            Type::binding(self.kind.clone()),
            &self.description,
        );
        param.default = self.default.clone();
        param.secrets = matches!(self.kind, Type::Text | Type::List { .. } | Type::Any);
        param
    }
}

impl Tool {
    /// A function without arguments.
    pub fn new(function: &str, description: &str) -> Tool {
        Tool {
            function: function.into(),
            description: description.to_owned(),
            arguments: Vec::new(),
        }
    }

    /// Adds an argument.
    pub fn argument(mut self, argument: Argument) -> Tool {
        self.arguments.push(argument);
        self
    }

    /// The JSON Schema of the arguments a model is offered: all but the `bound` ones (design.md §5.3).
    pub fn schema(&self, bound: &[&str]) -> serde_json::Value {
        let offered = || self.arguments.iter().filter(|a| !bound.contains(&&*a.name));
        let mut properties = serde_json::Map::new();
        for argument in offered() {
            let mut property = schema::of_literal(&argument.kind);
            if let Some(members) = property.as_object_mut() {
                members.insert("description".to_owned(), json!(argument.description));
            }
            properties.insert(argument.name.to_string(), property);
        }
        let required: Vec<&str> = offered().filter(|a| a.required).map(|a| &*a.name).collect();
        json!({"type": "object", "properties": properties, "required": required})
    }
}
