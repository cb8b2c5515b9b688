//! A component's parameters where they stand: those of a node, or those in an agent's `tools`.

use std::sync::Arc;

use easel_core::argument::ArgumentTemplate;
use easel_core::draft::Field;
use easel_core::event::Fault;
use easel_core::{Object, Value};

use crate::behaviour::Prepared;
use crate::given::Given;
use crate::tool::ToolSite;

/// Where a graph's node has the settings of its tools, by their names.
pub(crate) const SETTINGS: &str = "tool_settings";

/// Parameters, and what was compiled of the texts in them.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    /// The node that owns them in the end.
    pub owner: Prepared<'a>,
    /// The id that model requests carry: `Agent:X`, or `Agent:X-->Sub_Agent`.
    pub path: &'a str,
    /// How many agents are around it, if it is a tool.
    pub tool_depth: Option<u32>,
    params: Option<&'a Object>,
    prefix: &'a str,
}

impl<'a> Site<'a> {
    /// The parameters of a node.
    pub(crate) fn of_node(owner: Prepared<'a>) -> Site<'a> {
        Site {
            owner,
            path: &owner.node.draft.id,
            tool_depth: None,
            params: owner.node.draft.params.as_object(),
            prefix: "",
        }
    }

    /// The parameters of an agent's tool.
    pub(crate) fn of_tool(site: &ToolSite<'a>) -> Site<'a> {
        Site {
            owner: site.owner,
            path: site.path,
            tool_depth: Some(site.depth),
            params: site.params.as_object(),
            prefix: site.prefix,
        }
    }

    /// A parameter that is set: `null` is as good as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.params?.get(name).filter(|value| !value.is_null())
    }

    /// A parameter that is text; nothing where it is absent.
    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A switch; off where it is absent.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(Value::is_truthy)
    }

    /// The items of a list; none where it is absent.
    pub(crate) fn items(&self, name: &str) -> &'a [Value] {
        self.get(name).and_then(Value::as_array).unwrap_or_default()
    }

    /// The texts of a list; items of another type are left out.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let texts = self.items(name).iter().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    /// A number. Errors: it is something else.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.as_f64() {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(name, &not("number", value), "Set a number")),
        }
    }

    /// A count. Errors: it is no whole number from 0 on.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u32>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.as_i64().and_then(|n| u32::try_from(n).ok()) {
            Some(count) => Ok(Some(count)),
            None => Err(self.wrong(name, &not("count", value), "Set a whole number from 0 on")),
        }
    }

    /// What was compiled of the text at that dotted path.
    pub(crate) fn field(&self, path: &str) -> Option<&'a Field> {
        let of_owner = |field: &&(Arc<str>, Field)| match self.prefix {
            "" => *field.0 == *path,
            prefix => {
                field
                    .0
                    .strip_prefix(prefix)
                    .and_then(|rest| rest.strip_prefix('.'))
                    == Some(path)
            }
        };
        let fields = &self.owner.node.draft.fields;
        fields.iter().find(of_owner).map(|(_, field)| field)
    }

    /// What a graph has at that dotted path of its tool's settings.
    fn setting(&self, path: &str) -> Option<&'a ArgumentTemplate> {
        let tool = self.prefix.strip_prefix(SETTINGS)?.strip_prefix('.')?;
        let Field::Arguments(settings) = self.owner_field(SETTINGS)? else {
            return None;
        };
        let mut steps = std::iter::once(tool).chain(path.split('.'));
        steps.try_fold(settings, |template, step| match template {
            ArgumentTemplate::Object(members) => members.get(step),
            ArgumentTemplate::Array(items) => items.get(step.parse::<usize>().ok()?),
            ArgumentTemplate::Value(_) | ArgumentTemplate::Text(_) => None,
        })
    }

    /// What was compiled for the owner itself, wherever these parameters stand.
    pub(crate) fn owner_field(&self, path: &str) -> Option<&'a Field> {
        let fields = &self.owner.node.draft.fields;
        let found = fields.iter().find(|(at, _)| **at == *path);
        found.map(|(_, field)| field)
    }

    /// Where a parameter's value comes from; `null` where it is absent.
    pub(crate) fn given(&self, name: &str, secrets: bool) -> Given {
        let null = Value::Null;
        self.given_at(name, self.get(name).unwrap_or(&null), secrets)
    }

    /// Where a value comes from that stands at that dotted path. Texts at any depth may be more than they say.
    pub(crate) fn given_at(&self, path: &str, value: &Value, secrets: bool) -> Given {
        if let Some(template) = self.setting(path) {
            return Given::argument(template);
        }
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Given::list(
                    items.map(|(at, item)| self.given_at(&format!("{path}.{at}"), item, secrets)),
                )
            }
            Value::Object(members) => Given::object(members.iter().map(|(name, member)| {
                let given = self.given_at(&format!("{path}.{name}"), member, secrets);
                (name.clone(), given)
            })),
            _ => Given::new(value, self.field(path), secrets),
        }
    }

    /// Where a parameter of these stands in the owner's.
    pub(crate) fn full_path(&self, path: &str) -> String {
        match self.prefix {
            "" => path.to_owned(),
            prefix => format!("{prefix}.{path}"),
        }
    }

    /// The component cannot run because of a parameter: what is wrong with it (to be read after its name), and what to
    /// do.
    pub(crate) fn wrong(&self, parameter: &str, problem: &str, fix: &str) -> Fault {
        let node = &self.owner.node.draft.name;
        let parameter = self.full_path(parameter);
        let message =
            format!("\"{node}\" cannot run: its parameter `{parameter}` {problem}. {fix}.");
        Fault::new("bad_parameter", message).without_trace()
    }
}

fn not(what: &str, value: &Value) -> String {
    format!("is no {what} but {}", value.to_json_text())
}
