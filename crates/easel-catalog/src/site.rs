//! Where in a node's parameters references, templates, node ids and credentials stand.

use easel_core::{Object, Value};

use crate::component::Component;
use crate::param::Type;

/// One text in a node's parameters that is more than data.
#[derive(Clone, Debug, PartialEq)]
pub struct Site<'a> {
    /// Where it stands: names and indexes joined by dots (`conditions.0.items.1.cpn_id`).
    pub path: String,
    /// What the text is.
    pub role: Role,
    /// True if `${NAME}` in it names a secret.
    pub secrets: bool,
    /// The text, or the object of a [`Role::Params`].
    pub value: &'a Value,
}

/// What a text in a node's parameters is; the types of the same names say more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Plain text that may hold `${NAME}`.
    Text,
    /// Text with references.
    Template {
        /// True if Jinja works in it.
        jinja: bool,
    },
    /// One reference, bare or in braces.
    Reference,
    /// One reference that is assigned to.
    Target,
    /// A bare reference, text with references, or a literal.
    Binding,
    /// A credential.
    Credential,
    /// The name of a model.
    Model,
    /// The id of a node.
    NodeId,
    /// Parameters of another component.
    Params,
}

impl Component {
    /// Every site of a node's parameters, in the order of the file. Blank texts are none.
    pub fn sites<'a>(&self, params: &'a Object) -> Vec<Site<'a>> {
        let mut walk = Walk::default();
        for (key, value) in params {
            if let Some(param) = self.find_param(key) {
                walk.member(key, &param.kind, param.secrets, value);
            }
        }
        walk.sites
    }
}

#[derive(Default)]
struct Walk<'a> {
    path: String,
    sites: Vec<Site<'a>>,
}

impl<'a> Walk<'a> {
    fn member(&mut self, key: &str, kind: &Type, secrets: bool, value: &'a Value) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        self.value(kind, secrets, value);
        self.path.truncate(length);
    }

    fn items(&mut self, kind: &Type, secrets: bool, items: &'a [Value]) {
        for (i, item) in items.iter().enumerate() {
            self.member(&i.to_string(), kind, secrets, item);
        }
    }

    fn text(&mut self, role: Role, secrets: bool, value: &'a Value) {
        if value.as_str().is_some_and(|text| !text.trim().is_empty()) {
            self.found(role, secrets, value);
        }
    }

    fn found(&mut self, role: Role, secrets: bool, value: &'a Value) {
        self.sites.push(Site {
            path: self.path.clone(),
            role,
            secrets,
            value,
        });
    }

    fn value(&mut self, kind: &Type, secrets: bool, value: &'a Value) {
        match kind {
            Type::Text if secrets => self.text(Role::Text, true, value),
            Type::Template { jinja } => self.text(Role::Template { jinja: *jinja }, secrets, value),
            Type::Reference => self.text(Role::Reference, secrets, value),
            Type::Target => self.text(Role::Target, secrets, value),
            Type::Binding(_) => self.text(Role::Binding, secrets, value),
            Type::Credential => self.text(Role::Credential, true, value),
            Type::Model => self.text(Role::Model, secrets, value),
            Type::NodeId => self.text(Role::NodeId, secrets, value),
            Type::NodeIds => match value {
                Value::Array(items) => self.items(&Type::NodeId, secrets, items),
                one => self.text(Role::NodeId, secrets, one),
            },
            Type::Rendered => self.rendered(secrets, value),
            Type::Json(of) => self.value(of, secrets, value),
            Type::List { of, .. } => {
                if let Value::Array(items) = value {
                    self.items(of, secrets, items);
                }
            }
            Type::Map(of) => {
                for (key, member) in value.as_object().into_iter().flatten() {
                    self.member(key, of, secrets, member);
                }
            }
            Type::Object(shape) => {
                for (key, member) in value.as_object().into_iter().flatten() {
                    if let Some(field) = shape.fields.iter().find(|f| f.answers_to(key)) {
                        self.member(key, &field.kind, secrets || field.secrets, member);
                    }
                }
            }
            Type::Params => {
                if value.as_object().is_some() {
                    self.found(Role::Params, secrets, value);
                }
            }
            Type::Text
            | Type::Boolean
            | Type::Integer { .. }
            | Type::Number { .. }
            | Type::Choice(_)
            | Type::Any => {}
        }
    }

    fn rendered(&mut self, secrets: bool, value: &'a Value) {
        match value {
            Value::String(_) => self.text(Role::Template { jinja: false }, secrets, value),
            Value::Array(items) => self.items(&Type::Rendered, secrets, items),
            Value::Object(members) => {
                for (key, member) in members.iter() {
                    self.member(key, &Type::Rendered, secrets, member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
