//! What one node reads: its texts compiled, its names as references.

use std::sync::Arc;

use easel_core::argument::ArgumentTemplate;
use easel_core::bind::ReadId;
use easel_core::draft::Field;
use easel_core::expression::{self, Expression};
use easel_core::format::{self, FormatString, Secrets};
use easel_core::reference::Reference;
use easel_core::reference::graph::{Binding, Chain};
use easel_core::{Object, Value};
use indexmap::IndexSet;

use super::finding::{Finding, FindingKind};
use super::names::{self, Language, Meaning, Names};
use crate::document::Node;
use crate::place::Place;

/// Collects what a node reads and assigns while its parts are lowered.
pub(super) struct Reader<'a> {
    names: &'a Names<'a>,
    level: usize,
    node: &'a Node,
    pub reads: IndexSet<Reference>,
    pub writes: Vec<Reference>,
    pub publishes: Option<u32>,
    pub fields: Vec<(Arc<str>, Field)>,
    pub findings: Vec<Finding>,
}

impl<'a> Reader<'a> {
    pub fn new(names: &'a Names<'a>, level: usize, node: &'a Node) -> Reader<'a> {
        Reader {
            names,
            level,
            node,
            reads: IndexSet::new(),
            writes: Vec::new(),
            publishes: None,
            fields: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// The number of a reference among the node's reads.
    pub fn read(&mut self, reference: Reference) -> ReadId {
        let (at, _) = self.reads.insert_full(reference);
        ReadId(at as u32)
    }

    /// The number of a reference among what the node assigns to.
    pub fn write(&mut self, reference: Reference) -> u32 {
        self.writes.push(reference);
        self.writes.len() as u32 - 1
    }

    /// A reference that the node's behaviour looks up under a path.
    pub fn field(&mut self, path: &str, reference: Reference) {
        let read = self.read(reference);
        self.fields.push((path.into(), Field::Reference(read)));
    }

    /// The values of the node's dependencies, under `depends_on.0` and so on. Returns their ids as the file has them.
    pub fn dependencies(&mut self) -> Vec<Arc<str>> {
        let here = &self.names.levels[self.level];
        let mut ids = Vec::new();
        for id in &self.node.depends_on {
            let Some((node, id)) = here.find(id) else {
                continue;
            };
            self.field(&format!("depends_on.{}", ids.len()), names::value_of(id));
            ids.push((*node.id).clone());
        }
        ids
    }

    /// Everything that code and tools are told by name, the later of two that are equal wins: inputs under `inputs`,
    /// dependencies under `depends_on.N`, values of the passes around under `pass.N`, outermost first. Returns the names of
    /// the latter two.
    pub fn keywords(&mut self) -> Keywords {
        self.field("inputs", names::inputs());
        let dependencies = self.dependencies();
        let passes: Vec<(&str, Reference)> = self.names.passes(self.level).collect();
        let mut pass = Vec::new();
        for (name, value) in passes.into_iter().rev() {
            self.field(&format!("pass.{}", pass.len()), value);
            pass.push(name.into());
        }
        Keywords { dependencies, pass }
    }

    /// Compiles an expression. `None`: it cannot be read, and a finding says why.
    pub fn expression(&mut self, place: &Place, text: &str) -> Option<Expression> {
        match expression::parse(text) {
            Ok(parsed) => {
                Some(parsed.bind(|chain| self.bind(place, text, Language::Expression, chain)))
            }
            Err(error) => {
                let span = error.span.clone();
                self.find(place, span, FindingKind::Syntax(error));
                None
            }
        }
    }

    /// Compiles a template.
    pub fn template(&mut self, place: &Place, text: &str, language: Language) -> FormatString {
        let parsed = format::parse(text, Secrets::None);
        for finding in parsed.findings() {
            self.note(place, finding, false);
        }
        parsed.bind(|chain| self.bind(place, text, language, chain))
    }

    /// Compiles arguments, in which the node's secrets may stand.
    pub fn arguments(&mut self, place: &Place, arguments: &Object) -> ArgumentTemplate {
        let secrets: Vec<Arc<str>> = self.node.secrets.iter().map(|s| (**s).clone()).collect();
        let arguments = Value::from(arguments.clone());
        let (compiled, findings) = ArgumentTemplate::compile(
            &arguments,
            Secrets::Declared(&secrets),
            &mut |path, chain| {
                let (place, text) = within(place, &arguments, path);
                self.bind(&place, &text, Language::Template, chain)
            },
        );
        for located in findings {
            let (place, _) = within(place, &arguments, &located.path);
            self.note(&place, &located.finding, true);
        }
        compiled
    }

    /// Notes what stands in a text that is sent as it is written.
    pub fn literal(&mut self, place: &Place, text: &str) {
        let parsed = format::parse(text, Secrets::None);
        for finding in parsed.findings() {
            if let format::FindingKind::Secret(_) = finding.kind {
                self.note(place, finding, false);
            }
        }
        for chain in parsed.chains() {
            let name = chain.root.clone();
            self.find(place, chain.span.clone(), FindingKind::NotRendered { name });
        }
    }

    /// Notes something that the node as a whole is about.
    pub fn find_at(&mut self, place: &Place, kind: FindingKind) {
        self.find(place, 0..0, kind);
    }

    fn find(&mut self, place: &Place, span: std::ops::Range<usize>, kind: FindingKind) {
        self.findings.push(Finding {
            node: (*self.node.id).clone(),
            place: place.clone(),
            span,
            kind,
        });
    }

    fn note(&mut self, place: &Place, finding: &format::Finding, allowed: bool) {
        let kind = match &finding.kind {
            format::FindingKind::UnpairedBrace => FindingKind::UnpairedBrace,
            format::FindingKind::Literal(name) => FindingKind::Literal { name: name.clone() },
            format::FindingKind::Secret(name) => FindingKind::Secret {
                name: name.clone(),
                allowed,
            },
        };
        self.find(place, finding.span.clone(), kind);
    }

    /// What a name of a text stands for, with its values among the node's reads.
    fn bind(&mut self, place: &Place, text: &str, language: Language, chain: &Chain) -> Binding {
        let meaning = (self.names).meaning(self.level, self.node, language, chain);
        let Meaning { reads, missing } = meaning;
        // An expression may ask for a value that is never there, but not by a name that there is not.
        let namespaced = matches!(&*chain.root, "inputs" | "nodes" | "vars" | "state");
        let written = text.get(chain.span.clone()).unwrap_or(&chain.root);
        if let Some(why) = missing {
            let kind = FindingKind::Missing {
                language,
                written: written.into(),
                why,
            };
            self.find(place, chain.span.clone(), kind);
        }
        let mut bound: Vec<Binding> = Vec::new();
        let alone = reads.len() == 1;
        for (reference, used) in reads {
            let of_node = matches!(reference.root, easel_core::reference::Root::Output { .. });
            let variable = reference.text.strip_prefix("vars.").map(Arc::<str>::from);
            if let Some(variable) = variable
                && alone
                && !of_node
                && language == Language::Template
                && !self
                    .names
                    .is_surely_written(self.level, self.node, &variable)
            {
                self.find(place, chain.span.clone(), FindingKind::Unsure { variable });
            }
            let whole = used == chain.steps.len();
            let is_value = of_node && reference.text.starts_with("nodes.");
            let read = self.read(reference);
            bound.push(Binding::Read { read, used });
            // A dependency that did not run has no value, which a text shows like any other null.
            if whole && is_value && language == Language::Template {
                bound.push(Binding::Constant(Value::Null));
            }
        }
        match (bound.len(), language) {
            (0, Language::Expression) if namespaced => Binding::Constant(Value::Null),
            (0, _) => Binding::Unknown(format!("nothing is called {}", chain.root).into()),
            (1, _) => bound.remove(0),
            _ => Binding::First(bound),
        }
    }
}

/// What code and tools are told by name beside the inputs.
pub(super) struct Keywords {
    pub dependencies: Vec<Arc<str>>,
    pub pass: Vec<Arc<str>>,
}

/// The place and the text of a part of an argument.
fn within(
    place: &Place,
    arguments: &Value,
    path: &easel_core::reference::Path,
) -> (Place, Arc<str>) {
    let mut place = place.clone();
    let mut at = Some(arguments);
    for step in &path.0 {
        at = match at {
            Some(Value::Array(items)) => {
                let index = step.index.and_then(|index| usize::try_from(index).ok());
                place = place.index(index.unwrap_or_default());
                items.get(index.unwrap_or_default())
            }
            Some(Value::Object(members)) => {
                place = place.key(&step.name);
                members.get(&step.name)
            }
            _ => None,
        };
    }
    let text = match at {
        Some(Value::String(text)) => text.clone(),
        _ => "".into(),
    };
    (place, text)
}
