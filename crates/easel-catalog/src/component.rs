//! One component: what it takes, gives, does to the outside, and how the machine treats it.

use std::sync::Arc;

use easel_core::draft::EffectClass;
use easel_core::{Object, Value};
use serde::Serialize;

use crate::common;
use crate::param::{Param, When};
use crate::tool::Tool;

/// The table of one component.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Component {
    /// The name canvases use (`VariableAggregator`). Looked up in any case.
    pub name: Arc<str>,
    /// Other names files use for it.
    pub aliases: Vec<Arc<str>>,
    /// The name people read.
    pub title: String,
    /// What it does, in one sentence.
    pub summary: String,
    /// Where it belongs in lists.
    pub family: Family,
    /// How the machine treats it.
    pub control: Control,
    /// What it does to the outside, at worst; [`Component::effect_of`] knows one node's.
    pub effect: EffectClass,
    /// When it only reads, though it may write otherwise.
    pub reads_when: Option<When>,
    /// True if its primary port may arrive as a stream.
    pub streams: bool,
    /// True if it can show the stream of another node while that still arrives.
    pub drains: bool,
    /// How long one attempt may take (design.md §3).
    pub time_limit: TimeLimit,
    /// Its own parameters; those every node has are in [`common`].
    pub params: Vec<Param>,
    /// Names the editor writes into its parameters that nothing reads, beside [`common::IGNORED`].
    pub ignored: Vec<Arc<str>>,
    /// The ports it always has.
    pub ports: Vec<Port>,
    /// Where the names of its further ports stand.
    pub ports_from: Option<PortsFrom>,
    /// The port that stands for the node's value.
    pub primary: Primary,
    /// How an agent calls it, if one can.
    pub tool: Option<Tool>,
    /// Whether this version runs it.
    pub availability: Availability,
}

/// Where a component belongs in lists and on the reference page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Order, branches, loops and the conversation.
    Control,
    /// Language models.
    Model,
    /// Pure work on values.
    Data,
    /// HTTP, documents and pages.
    Io,
    /// Tools with logic of their own.
    Tool,
    /// Searches and services on the web.
    Search,
    /// Ingestion pipelines.
    Ingestion,
    /// Kinds that only old files have.
    Legacy,
}

impl Family {
    /// Every family, in the order of lists.
    pub const ALL: [Family; 8] = [
        Family::Control,
        Family::Model,
        Family::Data,
        Family::Io,
        Family::Tool,
        Family::Search,
        Family::Ingestion,
        Family::Legacy,
    ];

    /// The heading people read.
    pub fn title(self) -> &'static str {
        match self {
            Family::Control => "Flow and conversation",
            Family::Model => "Models",
            Family::Data => "Data",
            Family::Io => "HTTP, documents and pages",
            Family::Tool => "Tools",
            Family::Search => "Search and services",
            Family::Ingestion => "Ingestion",
            Family::Legacy => "Old kinds",
        }
    }
}

/// How the machine treats a node: the shapes of [`easel_core::draft::Kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// It is executed and reports its ports.
    Task,
    /// A task that chooses among its edges.
    Branch,
    /// It asks a person.
    Form,
    /// It runs its body for each item of a list.
    Each,
    /// It runs its body until a condition holds.
    While,
    /// The start of a body.
    Item,
    /// It ends the innermost loop around it.
    Exit,
}

impl Control {
    /// True for a container: nodes with its id as `parent_id` are its body.
    pub fn opens_body(self) -> bool {
        matches!(self, Control::Each | Control::While)
    }
}

/// How long one attempt may take before it is cancelled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeLimit {
    /// As long as it needs.
    None,
    /// That many seconds.
    Seconds(f64),
    /// What its own parameter says, in seconds, plus something for the way.
    Own {
        /// The parameter.
        param: Arc<str>,
        /// Seconds added to it.
        plus_s: f64,
    },
}

/// A port that a component always has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Port {
    /// Its name, as references write it after the `@`.
    pub name: Arc<str>,
    /// The type as canvases write it: `string`, `Array<Object>`, `object`, …; `any` where it depends.
    pub kind: Arc<str>,
    /// What comes out of it.
    pub doc: String,
}

/// Where the names of a node's further ports stand in its parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PortsFrom {
    /// The member names of the object in this parameter (`inputs` of a form).
    Keys {
        /// The parameter.
        param: Arc<str>,
    },
    /// One member of each object in the list in this parameter (`groups`, `group_name`).
    Items {
        /// The parameter.
        param: Arc<str>,
        /// The member that holds the name.
        member: Arc<str>,
    },
}

/// Which port stands for a node's value: it takes a default value after a failure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Primary {
    /// None.
    None,
    /// The port of that name.
    Port(Arc<str>),
    /// The first of the ports named in the parameters ([`Component::ports_from`]).
    First,
}

/// Whether this version runs a component. One that is not run yet still loads, shows and is checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// It runs.
    Available,
    /// A node of it fails when it is reached.
    Later {
        /// Why, in one sentence that helps whoever meets it.
        why: String,
    },
}

impl Component {
    /// A pure task with a limit of ten seconds, no parameters and no ports: what most components differ from least.
    pub fn new(name: &str, family: Family, title: &str, summary: &str) -> Component {
        Component {
            name: name.into(),
            aliases: Vec::new(),
            title: title.to_owned(),
            summary: summary.to_owned(),
            family,
            control: Control::Task,
            effect: EffectClass::Pure,
            reads_when: None,
            streams: false,
            drains: false,
            time_limit: TimeLimit::Seconds(10.0),
            params: Vec::new(),
            ignored: Vec::new(),
            ports: Vec::new(),
            ports_from: None,
            primary: Primary::None,
            tool: None,
            availability: Availability::Available,
        }
    }

    /// Adds another name.
    pub fn alias(mut self, name: &str) -> Component {
        self.aliases.push(name.into());
        self
    }

    /// Sets how the machine treats it. Containers, their items and forms take as long as they need.
    pub fn control(mut self, control: Control) -> Component {
        self.control = control;
        if !matches!(control, Control::Task | Control::Branch) {
            self.time_limit = TimeLimit::None;
        }
        self
    }

    /// Sets what it does to the outside.
    pub fn effect(mut self, effect: EffectClass) -> Component {
        self.effect = effect;
        self
    }

    /// Says that it only reads while `param` has one of these values.
    pub fn reads_when(mut self, param: &str, is: &[&str]) -> Component {
        self.reads_when = Some(When::new(param, is));
        self
    }

    /// Says that its primary port may arrive as a stream.
    pub fn streams(mut self) -> Component {
        self.streams = true;
        self
    }

    /// Says that it can show another node's stream.
    pub fn drains(mut self) -> Component {
        self.drains = true;
        self
    }

    /// Sets how many seconds one attempt may take.
    pub fn seconds(mut self, seconds: f64) -> Component {
        self.time_limit = TimeLimit::Seconds(seconds);
        self
    }

    /// Sets how long one attempt may take.
    pub fn time_limit(mut self, limit: TimeLimit) -> Component {
        self.time_limit = limit;
        self
    }

    /// Adds a parameter; one of the same name is replaced where it stands.
    pub fn param(mut self, param: Param) -> Component {
        match self.params.iter_mut().find(|p| p.name == param.name) {
            Some(place) => *place = param,
            None => self.params.push(param),
        }
        self
    }

    /// Adds parameters.
    pub fn params(self, params: impl IntoIterator<Item = Param>) -> Component {
        params.into_iter().fold(self, Component::param)
    }

    /// Adds names that nothing reads and that are no surprise.
    pub fn ignored(mut self, names: &[&str]) -> Component {
        self.ignored
            .extend(names.iter().map(|&name| Arc::from(name)));
        self
    }

    /// Adds a port.
    pub fn port(mut self, name: &str, kind: &str, doc: &str) -> Component {
        self.ports.push(Port {
            name: name.into(),
            kind: kind.into(),
            doc: doc.to_owned(),
        });
        self
    }

    /// Says that the members of the object in `param` are ports as well.
    pub fn ports_from_keys(mut self, param: &str) -> Component {
        self.ports_from = Some(PortsFrom::Keys {
            param: param.into(),
        });
        self
    }

    /// Says that `member` of each object in the list in `param` names a port as well.
    pub fn ports_from_items(mut self, param: &str, member: &str) -> Component {
        self.ports_from = Some(PortsFrom::Items {
            param: param.into(),
            member: member.into(),
        });
        self
    }

    /// Sets the primary port.
    pub fn primary(mut self, port: &str) -> Component {
        self.primary = Primary::Port(port.into());
        self
    }

    /// Makes the first port that the parameters name the primary one.
    pub fn primary_first(mut self) -> Component {
        self.primary = Primary::First;
        self
    }

    /// Lets agents call it. Each argument that is no parameter yet becomes one, so that a node can set it.
    pub fn tool(mut self, tool: Tool) -> Component {
        for argument in tool.arguments.iter().filter(|a| !a.from_model_only) {
            if !self.params.iter().any(|p| p.name == argument.name) {
                self.params.push(argument.to_param());
            }
        }
        self.tool = Some(tool);
        self
    }

    /// Says that this version does not run it, and why.
    pub fn later(mut self, why: &str) -> Component {
        self.availability = Availability::Later {
            why: why.to_owned(),
        };
        self
    }

    /// The parameter that `key` names, by its present or an older name: its own before those every node has.
    pub fn find_param(&self, key: &str) -> Option<&Param> {
        let named = |p: &&Param| *p.name == *key;
        self.all_params()
            .find(named)
            .or_else(|| self.all_params().find(|p| p.answers_to(key)))
    }

    /// Its own parameters, then those of [`common`] that it does not have itself.
    pub fn all_params(&self) -> impl Iterator<Item = &Param> {
        let inherited = common::params()
            .iter()
            .filter(|shared| !self.params.iter().any(|own| own.name == shared.name));
        self.params.iter().chain(inherited)
    }

    /// True if a model that calls it has to pass this parameter.
    pub fn is_passed(&self, param: &str) -> bool {
        let required = self
            .tool
            .iter()
            .flat_map(|tool| &tool.arguments)
            .filter(|a| a.required);
        required
            .into_iter()
            .any(|argument| *argument.name == *param)
    }

    /// True if nothing reads a parameter of that name and that is no surprise.
    pub fn ignores(&self, key: &str) -> bool {
        common::IGNORED.contains(&key) || self.ignored.iter().any(|name| **name == *key)
    }

    /// What one node of it does to the outside. An agent's tools are not looked at: see
    /// [`Catalog::effect_of`](crate::Catalog::effect_of).
    pub fn effect_of(&self, params: &Object) -> EffectClass {
        let reads = self
            .reads_when
            .as_ref()
            .is_some_and(|when| when.holds(params));
        if reads {
            EffectClass::Reads
        } else {
            self.effect
        }
    }

    /// How many seconds one attempt of one node may take; its `timeout_s` wins, where 0 is no limit. `None`: as long as it
    /// needs.
    pub fn timeout_s(&self, params: &Object) -> Option<f64> {
        let set = |name: &str| params.get(name).and_then(Value::as_f64);
        if let Some(seconds) = set(common::TIMEOUT_S) {
            return (seconds > 0.0).then_some(seconds);
        }
        match &self.time_limit {
            TimeLimit::None => None,
            TimeLimit::Seconds(seconds) => Some(*seconds),
            TimeLimit::Own { param, plus_s } => {
                let default = || self.find_param(param)?.default.as_f64();
                Some(set(param).or_else(default)? + plus_s)
            }
        }
    }

    /// The ports of one node: those it always has, then those its parameters name, in their order.
    pub fn ports_of(&self, params: &Object) -> Vec<Arc<str>> {
        let mut ports: Vec<Arc<str>> = self.ports.iter().map(|port| port.name.clone()).collect();
        ports.extend(self.named_ports(params));
        ports
    }

    /// The primary port of one node, if it has one.
    pub fn primary_of(&self, params: &Object) -> Option<Arc<str>> {
        match &self.primary {
            Primary::None => None,
            Primary::Port(name) => Some(name.clone()),
            Primary::First => self.named_ports(params).into_iter().next(),
        }
    }

    /// The ports that the parameters name, without blank, reserved and repeated names.
    fn named_ports(&self, params: &Object) -> Vec<Arc<str>> {
        let names: Vec<Arc<str>> = match &self.ports_from {
            None => Vec::new(),
            Some(PortsFrom::Keys { param }) => {
                match params.get(&**param).and_then(Value::as_object) {
                    Some(members) => members.keys().cloned().collect(),
                    None => Vec::new(),
                }
            }
            Some(PortsFrom::Items { param, member }) => {
                let items = params.get(&**param).and_then(Value::as_array);
                let name = |item: &Value| item.get(member).and_then(Value::as_str).map(Arc::from);
                items.unwrap_or_default().iter().filter_map(name).collect()
            }
        };
        let mut ports: Vec<Arc<str>> = Vec::with_capacity(names.len());
        for name in names {
            let known = self.ports.iter().any(|port| port.name == name) || ports.contains(&name);
            if !known && !name.trim().is_empty() && !common::is_reserved_port(&name) {
                ports.push(name);
            }
        }
        ports
    }
}
