//! Compiles the texts in a node's parameters: templates, references, bindings, targets.

use std::sync::Arc;

use easel_catalog::common::FILES_PORT;
use easel_catalog::{Catalog, Component as Table, Control, Family, Role, Site};
use easel_core::bind::ReadId;
use easel_core::draft::Field;
use easel_core::reference::canvas::{self, Grammar};
use easel_core::reference::{Path, Reference, Root};
use easel_core::{Object, Value};
use indexmap::IndexMap;

use super::{Finding, Lowering};
use crate::component::Component;

/// What a node reads and writes, as far as its parameters were looked at.
pub(super) struct Fields<'a> {
    pub lowering: &'a Lowering<'a>,
    pub component: &'a Component,
    in_iteration: bool,
    /// Place of each reference in `reads`, by its text.
    known: IndexMap<Arc<str>, ReadId>,
    pub reads: Vec<Reference>,
    pub writes: Vec<Reference>,
    pub compiled: Vec<(Arc<str>, Field)>,
    pub findings: Vec<Finding>,
}

impl<'a> Fields<'a> {
    pub fn new(lowering: &'a Lowering<'a>, component: &'a Component) -> Fields<'a> {
        Fields {
            in_iteration: lowering.in_iteration(component),
            lowering,
            component,
            known: IndexMap::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            compiled: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Compiles every site of some parameters; `prefix` is where they stand in the node's own.
    pub fn add(&mut self, table: &Table, params: &Object, prefix: &str) {
        for site in table.sites(params) {
            let path = format!("{prefix}{}", site.path);
            if site.role == Role::Params {
                let tool = tool_table(self.lowering.catalog, params, &site.path);
                if let (Some(tool), Some(inner)) = (tool, site.value.as_object()) {
                    self.add(&tool, inner, &format!("{path}."));
                }
                continue;
            }
            self.site(&site, path);
        }
    }

    fn site(&mut self, site: &Site<'_>, path: String) {
        let Some(text) = site.value.as_str() else {
            return;
        };
        match site.role {
            Role::Template { jinja } => self.template(text, path, jinja),
            Role::Reference => match self.reference_in(text) {
                Some(reference) => {
                    let read = self.read(reference);
                    self.compiled.push((path.into(), Field::Reference(read)));
                }
                None => self.no_reference(text, path),
            },
            Role::Target => match self.reference_in(text) {
                Some(reference) => {
                    // What is changed is read as well: most changes start from the value that is there.
                    self.read(reference.clone());
                    let target = self.writes.len() as u32;
                    self.writes.push(reference);
                    self.compiled.push((path.into(), Field::Target(target)));
                }
                None => self.no_reference(text, path),
            },
            Role::Binding => match self.bare_in_text(text) {
                Some(reference) => {
                    let read = self.read(reference);
                    self.compiled.push((path.into(), Field::Reference(read)));
                }
                None => self.template(text, path, false),
            },
            Role::Text | Role::Credential | Role::Model | Role::NodeId | Role::Params => {}
        }
    }

    /// Compiles a text; one without references stays a literal.
    fn template(&mut self, text: &str, path: String, jinja: bool) {
        let template = self.compile(text, jinja);
        if template.jinja || template.reads().next().is_some() {
            self.compiled.push((path.into(), Field::Template(template)));
        }
    }

    pub fn compile(&mut self, text: &str, jinja: bool) -> easel_core::template::Template {
        let lowering = self.lowering;
        let known = |name: &str| lowering.knows(name);
        let grammar = Grammar {
            known: &known,
            in_iteration: self.in_iteration,
            jinja,
        };
        grammar.template(text, |reference| self.read(reference))
    }

    /// Adds a reference that the file does not write, under a path of its own.
    pub fn reference(&mut self, path: &str, text: &str) {
        if let Some(reference) = canvas::bare(text) {
            let read = self.read(reference);
            self.compiled.push((path.into(), Field::Reference(read)));
        }
    }

    /// Adds what was uploaded beside each reference to a field of Begin or of a form, where files are asked for.
    pub fn files(&mut self, table: &Table, params: &Object) {
        for param in table.params.iter().filter(|param| param.files) {
            let items = params.get(&param.name).and_then(Value::as_array);
            for (at, item) in items.into_iter().flatten().enumerate() {
                let reference = item.as_str().and_then(|text| self.reference_in(text));
                let field = reference
                    .as_ref()
                    .and_then(|reference| self.form_field(reference));
                if let Some(uploaded) = field {
                    self.reference(&format!("{}.{at}.{FILES_PORT}", param.name), &uploaded);
                }
            }
        }
    }

    /// Adds all ports of the steps of a pipeline before this one, as `handed.N.PORT`: each step hands on what it put out.
    pub fn handed_on(&mut self) {
        let lowering = self.lowering;
        let table = |id: &Arc<str>| {
            let component = lowering.components.get(id)?;
            lowering.catalog.get(&component.class)
        };
        let before = lowering
            .edges
            .iter()
            .filter(|(_, to)| to.contains(&self.component.id));
        let before = before.filter_map(|(id, _)| Some((id, table(id)?)));
        let steps = before.filter(|(_, table)| table.family == Family::Ingestion);
        for (number, (id, table)) in steps.enumerate() {
            for port in &table.ports {
                let path = format!("handed.{number}.{}", port.name);
                self.reference(&path, &format!("{id}@{}", port.name));
            }
        }
    }

    /// The reference to what was uploaded in the field that a reference names. `None`: it names no field.
    fn form_field(&self, reference: &Reference) -> Option<String> {
        let Root::Output { node, .. } = &reference.root else {
            return None;
        };
        let class = &self.lowering.components.get(node)?.class;
        let table = self.lowering.catalog.get(class)?;
        let is_form = table.control == Control::Form || *table.name == *"Begin";
        let (_, field) = reference.text.split_once('@')?;
        is_form.then(|| format!("{node}@{FILES_PORT}.{field}"))
    }

    /// The number of a reference among the node's reads.
    pub fn read(&mut self, reference: Reference) -> ReadId {
        let next = ReadId(self.reads.len() as u32);
        let id = *self.known.entry(reference.text.clone()).or_insert(next);
        if id == next {
            self.reads.push(reference);
        }
        id
    }

    /// A reference where one must stand. A variable that is no `sys.` or `env.` one goes by its whole name.
    pub fn reference_in(&self, text: &str) -> Option<Reference> {
        canvas::bare(text).or_else(|| {
            let key = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}'));
            self.lowering.globals.contains_key(key).then(|| {
                let text: Arc<str> = key.into();
                Reference {
                    root: Root::Variable(text.clone()),
                    text,
                    path: Path::default(),
                }
            })
        })
    }

    /// A reference in a place that may hold text as well: only one to something that exists counts
    /// (spec/canvas-engine §2.3).
    fn bare_in_text(&self, text: &str) -> Option<Reference> {
        let reference = self.reference_in(text)?;
        if reference.text.contains(['{', '}']) {
            return None;
        }
        let exists = match &reference.root {
            Root::Output { node, .. } => {
                text.matches('@').count() == 1 && self.lowering.components.contains_key(node)
            }
            Root::Variable(_) => reference
                .variable_candidates()
                .any(|(name, _)| self.lowering.globals.contains_key(name)),
            Root::Pass(_) => self.in_iteration && text.contains('{'),
            // Only graphs name the container.
            Root::PassOf { .. } => false,
        };
        exists.then_some(reference)
    }

    pub fn no_reference(&mut self, text: &str, path: String) {
        self.findings.push(Finding::NoReference {
            node: self.component.id.clone(),
            path,
            text: text.into(),
        });
    }
}

/// The table of the component whose parameters stand at `path`: the member `component_name` beside them names it.
pub(super) fn tool_table(catalog: &Catalog, params: &Object, path: &str) -> Option<Arc<Table>> {
    let (entry, _) = path.rsplit_once('.')?;
    let (first, rest) = entry.split_once('.').unwrap_or((entry, ""));
    let entry = Path::parse(rest).walk(params.get(first)?)?;
    let name = entry.get("component_name").and_then(Value::as_str)?;
    catalog.get(name).cloned()
}
