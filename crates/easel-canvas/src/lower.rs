//! From a normalised [`Document`] to the core's [`Draft`]: parameters are read by the component tables, texts are
//! compiled, control components become the machine's own kinds.
//!
//! Lowering always gives a draft. A node whose parameters cannot be used is marked as broken and fails when it is
//! reached (design.md §7).

mod control;
mod fields;
mod finding;

use std::collections::HashSet;
use std::sync::Arc;

use easel_catalog::{Catalog, Control, Family};
use easel_core::draft::{
    Assignments, Draft, Entry, Guard, Kind, NodeDraft, OnFailure, Otherwise, Policy,
};
use easel_core::event::Fault;
use easel_core::{Object, Value};
use indexmap::IndexMap;

pub use finding::Finding;

use crate::component::Component;
use crate::document::Document;
use fields::Fields;

/// A draft, and what was found while it was made.
#[derive(Debug)]
pub struct Lowered {
    /// The draft.
    pub draft: Draft,
    /// What is wrong or doubtful about parameters, in file order.
    pub findings: Vec<Finding>,
}

/// Attempts in all, where `max_retries` asks for more and `max_attempts` says nothing (design.md §3).
const MOST_ATTEMPTS: u32 = 5;

/// Lowers a document that is in normal form (see [`normalise`](crate::normalise::normalise)).
pub fn lower(document: &Document, catalog: &Catalog) -> Lowered {
    let components = document.components();
    let mut edges: IndexMap<Arc<str>, Vec<Arc<str>>> = IndexMap::new();
    for edge in document.edges_between(&components) {
        edges.entry(edge.from).or_default().push(edge.to);
    }
    let globals = document.fresh_globals();
    let mut lowering = Lowering {
        catalog,
        components: &components,
        edges: &edges,
        globals: &globals,
        findings: Vec::new(),
    };
    let mut nodes: Vec<NodeDraft> = Vec::with_capacity(components.len());
    for component in components.values() {
        let downstream = edges.get(&component.id).cloned().unwrap_or_default();
        nodes.push(lowering.node(component, downstream));
    }
    let findings = lowering.findings;
    let mut variables: Vec<(Arc<str>, Option<Value>)> = globals
        .iter()
        .map(|(k, v)| (k.clone(), Some(v.clone())))
        .collect();
    let created = created(&nodes, &globals).into_iter();
    variables.extend(created.map(|name| (name, Some(Value::Null))));
    Lowered {
        draft: Draft {
            entry: entry(&components).map_or(Entry::Missing, Entry::Node),
            nodes,
            variables,
            on_failure: OnFailure::FailScope,
            assignments: Assignments::Shared,
        },
        findings,
    }
}

/// The node at which a run starts: the one called `begin`, else the first Begin, else the first File (a pipeline).
fn entry(components: &IndexMap<Arc<str>, Component>) -> Option<usize> {
    let named = components.get_index_of("begin");
    let first = |class| components.values().position(|c| c.is(class));
    named.or_else(|| first("Begin")).or_else(|| first("File"))
}

/// Variables that some node assigns to and nobody declares: assigning makes them.
fn created(nodes: &[NodeDraft], globals: &Object) -> Vec<Arc<str>> {
    let mut created: Vec<Arc<str>> = Vec::new();
    for reference in nodes.iter().flat_map(|node| &node.writes) {
        let mut names = reference.variable_candidates().map(|(name, _)| name);
        let Some(whole) = names.next() else {
            continue;
        };
        let known = globals.contains_key(whole)
            || names.any(|name| globals.contains_key(name))
            || created.iter().any(|name| **name == *whole);
        if !known {
            created.push(whole.into());
        }
    }
    created
}

/// What is known while nodes are lowered.
struct Lowering<'a> {
    catalog: &'a Catalog,
    components: &'a IndexMap<Arc<str>, Component>,
    edges: &'a IndexMap<Arc<str>, Vec<Arc<str>>>,
    globals: &'a Object,
    findings: Vec<Finding>,
}

impl Lowering<'_> {
    fn node(&mut self, component: &Component, downstream: Vec<Arc<str>>) -> NodeDraft {
        let id = component.id.clone();
        let name = component
            .name
            .clone()
            .filter(|name| !name.trim().is_empty());
        let name = name.unwrap_or_else(|| id.clone());
        let params = Value::Object(component.params.clone());
        let Some(table) = self.catalog.get(&component.class).cloned() else {
            self.findings.push(Finding::UnknownComponent {
                node: id.clone(),
                component: component.class.clone(),
            });
            return NodeDraft {
                component: component.class.clone(),
                parent: component.parent.clone(),
                downstream,
                ..blank(id, name, params)
            };
        };
        let read = table.read(params);
        let mut broken = None;
        for finding in read.findings {
            let harmless = finding.is_harmless() || is_operator(&finding.path);
            if !harmless && broken.is_none() && table.control != Control::Task {
                let message = format!("\"{name}\" cannot run: {finding}");
                broken = Some(Fault::new("bad_parameter", message));
            }
            self.findings.push(Finding::Parameter {
                node: id.clone(),
                finding,
            });
        }
        let mut params = read.params;
        self.read_tools(&id, &table, &mut params, "");
        let mut fields = Fields::new(self, component);
        fields.add(&table, &params, "");
        fields.files(&table, &params);
        if table.family == Family::Model && table.control == Control::Task {
            fields.reference("sys.files", "sys.files");
        }
        if table.family == Family::Ingestion {
            fields.handed_on();
        }
        let kind = match fields.kind(&table, &params) {
            Ok(kind) => kind,
            Err(fault) => {
                broken.get_or_insert(fault);
                Kind::Task
            }
        };
        let Fields {
            reads,
            writes,
            compiled,
            findings,
            ..
        } = fields;
        self.findings.extend(findings);
        let (policy, on_error) = self.policy(&id, &params);
        let downstream = self.with_targets(&kind, downstream);
        NodeDraft {
            id,
            name,
            component: table.name.clone(),
            kind,
            parent: component.parent.clone(),
            downstream,
            on_error,
            reads,
            writes,
            fields: compiled,
            primary: table.primary_of(&params).unwrap_or_else(|| "result".into()),
            policy,
            drains: table.drains,
            streams: table.streams,
            effect: self.catalog.effect_of(&table, &params),
            idempotent: params.get("idempotent").and_then(Value::as_bool) == Some(true),
            timeout_s: table.timeout_s(&params),
            params: Value::from(params),
            broken,
            guard: Guard::None,
            publishes: None,
        }
    }

    /// Edges of a branch and the targets it names are one: a target that exists has an edge.
    fn with_targets(&self, kind: &Kind, mut downstream: Vec<Arc<str>>) -> Vec<Arc<str>> {
        if let Kind::Branch { targets } = kind {
            for target in targets {
                if self.components.contains_key(target) && !downstream.contains(target) {
                    downstream.push(target.clone());
                }
            }
        }
        downstream
    }

    /// Fills in defaults in the parameters of an agent's tools, and of theirs.
    fn read_tools(
        &mut self,
        id: &Arc<str>,
        table: &easel_catalog::Component,
        params: &mut Object,
        prefix: &str,
    ) {
        let sites: Vec<(String, Value)> = table
            .sites(params)
            .into_iter()
            .filter(|site| site.role == easel_catalog::Role::Params)
            .map(|site| (site.path, site.value.clone()))
            .collect();
        for (path, value) in sites {
            let Some(tool) = fields::tool_table(self.catalog, params, &path) else {
                continue;
            };
            let read = tool.read_as_tool(value);
            let full = format!("{prefix}{path}.");
            for mut finding in read.findings {
                finding.path = format!("{full}{}", finding.path);
                self.findings.push(Finding::Parameter {
                    node: id.clone(),
                    finding,
                });
            }
            let mut inner = read.params;
            self.read_tools(id, &tool, &mut inner, &full);
            let mut whole = Value::from(std::mem::take(params));
            // The place was found a moment ago, so it can be set.
            let _ = easel_core::reference::Path::parse(&path).set(&mut whole, Value::from(inner));
            if let Value::Object(members) = whole {
                *params = Arc::unwrap_or_clone(members);
            }
        }
    }

    /// What a node does about failures (design.md §3, spec/canvas-engine §4.7).
    fn policy(&mut self, id: &Arc<str>, params: &Object) -> (Policy, Vec<Arc<str>>) {
        let count = |name: &str| {
            let count = params.get(name).and_then(Value::as_i64);
            count.and_then(|n| u32::try_from(n).ok())
        };
        let retries = count("max_retries").unwrap_or(0);
        let most = count("max_attempts").unwrap_or(MOST_ATTEMPTS).max(1);
        let delay = params.get("delay_after_error").and_then(Value::as_f64);
        let method = params.get("exception_method").and_then(Value::as_str);
        let method = method.map(str::trim).filter(|m| !m.is_empty());
        let default = params.get("exception_default_value");
        let default = default.filter(|value| value.is_truthy());
        let goto = params.get("exception_goto").and_then(Value::as_array);
        let goto: Vec<Arc<str>> = goto
            .unwrap_or_default()
            .iter()
            .filter_map(|target| target.as_str().map(Arc::from))
            .collect();
        let named_default = matches!(method, Some("comment" | "default"));
        let otherwise = match (method, default) {
            (None, _) => Otherwise::Fail,
            (Some(_), Some(value)) if named_default || goto.is_empty() => {
                Otherwise::Default(value.clone())
            }
            (Some(_), _) if !goto.is_empty() => Otherwise::Goto,
            (Some(_), _) => Otherwise::Fail,
        };
        if default.is_some()
            && !goto.is_empty()
            && !matches!(method, None | Some("comment" | "default" | "goto"))
        {
            self.findings
                .push(Finding::TwoWaysAfterFailure { node: id.clone() });
        }
        let on_error = match otherwise {
            Otherwise::Goto | Otherwise::GotoAndFail => goto,
            _ => Vec::new(),
        };
        let policy = Policy {
            attempts: retries.saturating_add(1).min(most),
            delay_ms: (delay.unwrap_or(2.0).clamp(0.0, 86_400.0) * 1000.0) as u64,
            otherwise,
        };
        (policy, on_error)
    }

    /// True if the document has a node with that id or a variable of that name.
    fn knows(&self, name: &str) -> bool {
        self.components.contains_key(name) || self.globals.contains_key(name)
    }

    /// True if a node stands in the body of an iteration, however deep.
    fn in_iteration(&self, component: &Component) -> bool {
        let mut seen = HashSet::new();
        let mut parent = component.parent.as_ref();
        while let Some(id) = parent.filter(|id| seen.insert(*id)) {
            let Some(container) = self.components.get(id) else {
                return false;
            };
            let table = self.catalog.get(&container.class);
            if table.is_some_and(|t| t.control == Control::Each) {
                return true;
            }
            parent = container.parent.as_ref();
        }
        false
    }
}

/// True for the operator of a comparison. One that nobody knows is false, and the rest of the node works.
fn is_operator(path: &str) -> bool {
    path.rsplit('.').next() == Some("operator")
}

/// A node of which nothing but the name is known.
fn blank(id: Arc<str>, name: Arc<str>, params: Value) -> NodeDraft {
    NodeDraft {
        name,
        params,
        primary: "result".into(),
        ..NodeDraft::new(id, "")
    }
}
