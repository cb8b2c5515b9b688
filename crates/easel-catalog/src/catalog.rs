//! All components by name.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use easel_core::draft::EffectClass;
use easel_core::{Object, Value};

use crate::component::{Availability, Component, PortsFrom, Primary, TimeLimit};
use crate::param::{Param, Type};
use crate::table;

/// Kinds that exist in the editor's drawing alone and are no components.
pub const EDITOR_ONLY: &[&str] = &["Note", "Tool", "Placeholder"];

/// Components by name. Cloning one shares the tables.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    components: Vec<Arc<Component>>,
    /// Lower-case names and aliases.
    by_name: HashMap<String, usize>,
    /// Whether there are tools that are no components.
    tools_elsewhere: bool,
}

/// Why a component was not added to a catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// A name that another component has; use another one.
    #[error("cannot add component `{component}`: the name `{name}` belongs to `{owner}`")]
    NameTaken {
        /// The component that was to be added.
        component: Arc<str>,
        /// The name in question.
        name: Arc<str>,
        /// The component that has it.
        owner: Arc<str>,
    },
    /// A table that contradicts itself or says too little.
    #[error("cannot add component `{component}`: {}", faults.join("; "))]
    Faulty {
        /// The component that was to be added.
        component: Arc<str>,
        /// What is wrong with it, a phrase each.
        faults: Vec<String>,
    },
}

impl Catalog {
    /// A catalogue without components.
    pub fn new() -> Catalog {
        Catalog::default()
    }

    /// The components that come with Easel. Built once; clone it to add your own.
    pub fn builtin() -> &'static Catalog {
        static BUILTIN: LazyLock<Catalog> = LazyLock::new(|| {
            let mut catalog = Catalog::new();
            for component in table::all() {
                catalog.insert(component);
            }
            catalog
        });
        &BUILTIN
    }

    /// Says that there are tools beside those of components: MCP servers, which are asked for theirs when a node runs.
    pub fn expect_tools_elsewhere(&mut self) {
        self.tools_elsewhere = true;
    }

    /// Whether a tool of that name may be somewhere else than here. `mcp__SERVER__TOOL` names one of an MCP server in any
    /// case.
    pub fn may_be_elsewhere(&self, tool: &str) -> bool {
        let of_server = tool.strip_prefix("mcp__");
        self.tools_elsewhere || of_server.is_some_and(|rest| rest.contains("__"))
    }

    /// Adds a component after the others.
    ///
    /// # Errors
    /// [`Rejected`] if a name is taken or the table has [faults](Component::faults).
    pub fn add(&mut self, component: Component) -> Result<(), Rejected> {
        for name in component.names() {
            if let Some(owner) = self.get(name) {
                return Err(Rejected::NameTaken {
                    name: name.clone(),
                    owner: owner.name.clone(),
                    component: component.name.clone(),
                });
            }
        }
        let faults = component.faults();
        if !faults.is_empty() {
            return Err(Rejected::Faulty {
                component: component.name,
                faults,
            });
        }
        self.insert(component);
        Ok(())
    }

    fn insert(&mut self, component: Component) {
        let place = self.components.len();
        for name in component.names() {
            self.by_name.entry(name.to_lowercase()).or_insert(place);
        }
        self.components.push(Arc::new(component));
    }

    /// The component of that name or alias, in any case.
    pub fn get(&self, name: &str) -> Option<&Arc<Component>> {
        self.components
            .get(*self.by_name.get(&name.to_lowercase())?)
    }

    /// Every component, in the order of the tables.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Component>> {
        self.components.iter()
    }

    /// What one node does to the outside: its own class, and for an agent the strongest of its tools, at any depth.
    /// An MCP tool writes unless its annotations say `readOnlyHint`; so does a tool nobody knows.
    pub fn effect_of(&self, component: &Component, params: &Object) -> EffectClass {
        /// Deeper nesting than agents allow is taken to write.
        const DEPTH: u32 = 8;
        self.effect_within(component, params, DEPTH)
    }

    fn effect_within(&self, component: &Component, params: &Object, depth: u32) -> EffectClass {
        let list = |name: &str| {
            params
                .get(name)
                .and_then(Value::as_array)
                .unwrap_or_default()
        };
        let mut effect = component.effect_of(params);
        let nests = component.params.iter().any(|p| holds_params(&p.kind));
        if !nests {
            return effect;
        }
        for entry in list("tools") {
            let name = entry.get("component_name").and_then(Value::as_str);
            let of_tool = match name.and_then(|name| self.get(name)) {
                Some(tool) if depth > 0 => {
                    let empty = Object::new();
                    let params = entry
                        .get("params")
                        .and_then(Value::as_object)
                        .unwrap_or(&empty);
                    self.effect_within(tool, params, depth - 1)
                }
                _ => EffectClass::Writes,
            };
            effect = stronger(effect, of_tool);
        }
        for server in list("mcp") {
            for tool in server
                .get("tools")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(Object::values)
            {
                let hint = tool.get("annotations").and_then(|a| a.get("readOnlyHint"));
                let reads = hint.and_then(Value::as_bool) == Some(true);
                effect = stronger(
                    effect,
                    if reads {
                        EffectClass::Reads
                    } else {
                        EffectClass::Writes
                    },
                );
            }
        }
        effect
    }
}

fn stronger(a: EffectClass, b: EffectClass) -> EffectClass {
    use EffectClass::{Pure, Reads, Writes};
    match (a, b) {
        (Writes, _) | (_, Writes) => Writes,
        (Reads, _) | (_, Reads) => Reads,
        (Pure, Pure) => Pure,
    }
}

/// True if other components' parameters stand in values of that type.
fn holds_params(kind: &Type) -> bool {
    match kind {
        Type::Params => true,
        Type::List { of, .. } | Type::Map(of) | Type::Json(of) | Type::Binding(of) => {
            holds_params(of)
        }
        Type::Object(shape) => shape.fields.iter().any(|field| holds_params(&field.kind)),
        _ => false,
    }
}

impl Component {
    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        std::iter::once(&self.name).chain(&self.aliases)
    }

    /// What is wrong with the table itself, a phrase each: a default that its own type refuses, a parameter without a
    /// sentence, a primary port that is none.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for name in self.names() {
            if !is_identifier(name) {
                faults.push(format!(
                    "the name `{name}` is not made of letters, digits and `_`"
                ));
            }
        }
        if self.title.trim().is_empty() {
            faults.push("it has no title".to_owned());
        }
        if !is_sentence(&self.summary) {
            faults.push("its summary is no sentence".to_owned());
        }
        check_params(&self.params, "", &mut faults);
        let port = |name: &str| self.ports.iter().any(|port| *port.name == *name);
        if self
            .ports
            .iter()
            .enumerate()
            .any(|(i, p)| self.ports.iter().skip(i + 1).any(|q| p.name == q.name))
        {
            faults.push("two ports have the same name".to_owned());
        }
        for port in &self.ports {
            if !is_sentence(&port.doc) {
                faults.push(format!("port `{}` has no sentence", port.name));
            }
        }
        match &self.primary {
            Primary::Port(name) if !port(name) => {
                faults.push(format!("the primary port `{name}` is none of its ports"));
            }
            Primary::First if self.ports_from.is_none() => {
                faults.push(
                    "its primary port is the first that its parameters name, but they name none"
                        .to_owned(),
                );
            }
            _ => {}
        }
        let named = match &self.ports_from {
            Some(PortsFrom::Keys { param } | PortsFrom::Items { param, .. }) => Some(param),
            None => None,
        };
        let limit = match &self.time_limit {
            TimeLimit::Own { param, .. } => Some(param),
            TimeLimit::None | TimeLimit::Seconds(_) => None,
        };
        let decides = self.reads_when.as_ref().map(|when| &when.param);
        for name in [named, limit, decides].into_iter().flatten() {
            if self.find_param(name).is_none() {
                faults.push(format!(
                    "it speaks of a parameter `{name}` that it does not have"
                ));
            }
        }
        if let Some(tool) = &self.tool {
            if !is_function_name(&tool.function) {
                faults.push(format!("`{}` is no legal function name", tool.function));
            }
            if !is_sentence(&tool.description) {
                faults.push("its tool description is no sentence".to_owned());
            }
            for argument in &tool.arguments {
                if !is_sentence(&argument.description) {
                    faults.push(format!("tool argument `{}` has no sentence", argument.name));
                }
            }
        }
        if let Availability::Later { why } = &self.availability
            && !is_sentence(why)
        {
            faults.push("it does not say in a sentence why it is not available".to_owned());
        }
        faults
    }
}

fn check_params(params: &[Param], within: &str, faults: &mut Vec<String>) {
    for (i, param) in params.iter().enumerate() {
        let name = format!("{within}{}", param.name);
        if !is_sentence(&param.doc) {
            faults.push(format!("parameter `{name}` has no sentence"));
        }
        let names = || std::iter::once(&param.name).chain(&param.aliases);
        if params
            .iter()
            .skip(i + 1)
            .any(|other| names().any(|n| other.answers_to(n)))
        {
            faults.push(format!("parameter `{name}` shares a name with another"));
        }
        if let Err(findings) = param.kind.coerce(&param.default) {
            for finding in findings {
                faults.push(format!(
                    "the default of `{name}` does not fit its type: {finding}"
                ));
            }
        }
        check_type(&param.kind, &name, faults);
    }
}

fn check_type(kind: &Type, name: &str, faults: &mut Vec<String>) {
    match kind {
        Type::Object(shape) => {
            check_params(&shape.fields, &format!("{name}."), faults);
            if let Some(short) = &shape.shorthand
                && !shape.fields.iter().any(|field| field.name == *short)
            {
                faults.push(format!(
                    "parameter `{name}` has no member `{short}` for its shorthand"
                ));
            }
        }
        Type::List { of, .. } | Type::Map(of) | Type::Json(of) | Type::Binding(of) => {
            check_type(of, name, faults);
        }
        Type::Choice(choice) => {
            if choice.options.is_empty() {
                faults.push(format!("parameter `{name}` has no options"));
            }
            for (spelling, option) in &choice.also {
                if !choice.options.contains(option) {
                    faults.push(format!(
                        "`{spelling}` stands for `{option}`, which `{name}` does not offer"
                    ));
                }
            }
        }
        _ => {}
    }
}

fn is_sentence(text: &str) -> bool {
    text.contains(' ') && text.trim_end().ends_with(['.', '?'])
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// True if every provider takes the name, an index of three digits included.
fn is_function_name(name: &str) -> bool {
    /// What providers allow at most, less `_999`.
    const LONGEST: usize = 60;
    is_identifier(name)
        && name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests;
