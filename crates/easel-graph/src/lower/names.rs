//! What the names in a graph stand for (spec/graph-engine §4).
//!
//! | where | what can be named, the first that is there wins |
//! |---|---|
//! | task texts, arguments, output values | the pass's values, variables, dependencies, inputs; `vars.`, `nodes.` (dependencies), `inputs.` |
//! | the question of a router | the pass's values and inputs; `inputs.` |
//! | expressions | `inputs.`, `nodes.`, `vars.`, the pass's values; `state.` before any of them |
//!
//! `nodes.x` of an expression is any node of its level or of a level around it, and any node of the body of a loop there.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use easel_core::draft::{ACCUMULATED, FEEDBACK, INDEX, ITEM};
use easel_core::reference::graph::Chain;
use easel_core::reference::{Path, Reference, Root, Step};
use indexmap::IndexSet;

use crate::document::{Document, InputMode, Node};
use crate::kind::Kind;

/// The port of every graph node.
pub const VALUE: &str = "value";
/// The port in which the machine leaves the text of an error.
pub const ERROR: &str = "_ERROR";
/// The variable that holds the inputs of a run, an object.
pub const INPUTS: &str = "inputs";

/// Where a text stands, which decides what it can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// A template of a node that is told its dependencies.
    Template,
    /// The question of a router that asks a model.
    Question,
    /// An expression.
    Expression,
}

/// What a chain of a text was found to name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meaning {
    /// Values to look for; the first that is there counts. Each with how many steps of the chain it covers. None: it is
    /// never there, and an expression reads it as null.
    pub reads: Vec<(Reference, usize)>,
    /// Why nothing in the file gives it a value. A run that is given any inputs may still have one of that name.
    pub missing: Option<Missing>,
}

impl Meaning {
    fn of(reads: Vec<(Reference, usize)>) -> Meaning {
        let missing = None;
        Meaning { reads, missing }
    }

    fn never(missing: Missing) -> Meaning {
        Meaning {
            reads: Vec::new(),
            missing: Some(missing),
        }
    }
}

/// Why a name stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing goes by that name.
    Unknown {
        /// The name.
        name: Arc<str>,
        /// A name that is spelled like it.
        like: Option<Arc<str>>,
    },
    /// It is a node, but the text's own node does not depend on it.
    NotADependency {
        /// The node's id.
        node: Arc<str>,
    },
    /// A name of a whole namespace, or one that is only known when the run is under way.
    Whole {
        /// The namespace.
        name: Arc<str>,
    },
}

/// A list of nodes: the top level, or a body.
#[derive(Debug)]
pub struct Level<'a> {
    /// The level around it, and the container whose body it is.
    pub around: Option<(usize, &'a Node)>,
    /// Its nodes in the order of the text, with the ids by which the workflow knows them.
    pub nodes: Vec<(&'a Node, Arc<str>)>,
    by_id: HashMap<&'a str, usize>,
    /// For each node the places of those that depend on it, in the order of the text.
    dependents: Vec<Vec<usize>>,
    /// The level of each container's body, by its place among the nodes.
    pub bodies: HashMap<usize, usize>,
}

impl<'a> Level<'a> {
    /// The node of that id.
    pub fn find(&self, id: &str) -> Option<&(&'a Node, Arc<str>)> {
        self.nodes.get(self.place(id)?)
    }

    /// The nodes that depend on the one at a place, in the order of the text.
    pub fn dependents(&self, place: usize) -> impl Iterator<Item = &(&'a Node, Arc<str>)> {
        let places = self.dependents.get(place).into_iter().flatten();
        places.filter_map(|&at| self.nodes.get(at))
    }

    fn connect(&mut self) {
        for (at, (node, _)) in self.nodes.iter().enumerate() {
            for id in &node.depends_on {
                if let Some(&on) = self.by_id.get(&***id)
                    && self.dependents[on].last() != Some(&at)
                {
                    self.dependents[on].push(at);
                }
            }
        }
    }

    /// The place of the node of that id among its nodes.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }
}

/// All names of a graph.
#[derive(Debug)]
pub struct Names<'a> {
    document: &'a Document,
    /// The top level first; a body comes after the level that holds its container.
    pub levels: Vec<Level<'a>>,
    /// Every variable that some node writes, in the order of the text.
    pub variables: IndexSet<Arc<str>>,
    /// Every input that a run may be given: those declared, and the keys of input nodes.
    inputs: HashSet<Arc<str>>,
    /// Unknown names that were compared with the known ones.
    compared: Cell<usize>,
}

/// Unknown names that are compared with the known ones, at most: each comparison looks at all of them.
const SUGGESTIONS: usize = 200;

impl<'a> Names<'a> {
    /// Collects the names of a document.
    pub fn of(document: &'a Document) -> Names<'a> {
        let mut names = Names {
            document,
            levels: Vec::new(),
            variables: IndexSet::new(),
            inputs: inputs_of(document),
            compared: Cell::new(0),
        };
        let mut taken: HashMap<Arc<str>, ()> = HashMap::new();
        let mut open = vec![(None, Arc::from(""), &document.nodes[..])];
        let mut at = 0;
        while let Some((around, path, nodes)) = open.get(at).cloned() {
            at += 1;
            let level = names.levels.len();
            let mut here = Level {
                around: around.map(|(level, _, node)| (level, node)),
                nodes: Vec::with_capacity(nodes.len()),
                by_id: HashMap::new(),
                dependents: vec![Vec::new(); nodes.len()],
                bodies: HashMap::new(),
            };
            if let Some((outer, place, _)) = around {
                let outer: &mut Level<'_> = &mut names.levels[outer];
                outer.bodies.insert(place, level);
            }
            for node in nodes {
                let id = unique(&mut taken, &path, &node.id);
                let place = here.nodes.len();
                here.by_id.entry(&node.id).or_insert(place);
                let variables = node.writes.iter().chain(&node.accumulate);
                names
                    .variables
                    .extend(variables.map(|name| (**name).clone()));
                if node.kind.has_body() {
                    open.push((Some((level, place, node)), id.clone(), &node.body[..]));
                }
                here.nodes.push((node, id));
            }
            here.connect();
            names.levels.push(here);
        }
        names
    }

    /// The levels from one outward, itself first, each with the container of it that leads inward.
    fn outward(&self, level: usize) -> impl Iterator<Item = &Level<'a>> {
        let mut next = Some(level);
        std::iter::from_fn(move || {
            let here = self.levels.get(next?)?;
            next = here.around.map(|(outer, _)| outer);
            Some(here)
        })
    }

    /// The containers around a level, innermost first, with their ids in the workflow.
    pub fn containers(&self, level: usize) -> impl Iterator<Item = (&'a Node, &Arc<str>)> {
        self.outward(level).filter_map(|here| {
            let (outer, container) = here.around?;
            let (_, id) = self.levels[outer].find(&container.id)?;
            Some((container, id))
        })
    }

    /// What the passes around a level are called there, innermost first; a name that is hidden by an inner one comes too.
    pub fn passes(&self, level: usize) -> impl Iterator<Item = (&'a str, Reference)> {
        self.containers(level).flat_map(|(container, id)| {
            let names = pass_names(container).into_iter();
            names.map(|(name, value)| (name, pass_value(id, name, value)))
        })
    }

    /// What a chain names in a text of a node.
    pub fn meaning(&self, level: usize, node: &Node, language: Language, chain: &Chain) -> Meaning {
        match language {
            Language::Expression => self.in_expression(level, chain),
            Language::Template | Language::Question => {
                self.in_template(level, node, language, chain)
            }
        }
    }

    fn in_template(&self, level: usize, node: &Node, language: Language, chain: &Chain) -> Meaning {
        let full = language == Language::Template;
        let name = &*chain.root;
        let mut found = Vec::new();
        if let Some((_, value)) = self.passes(level).find(|(pass, _)| *pass == name) {
            found.push((value, 0));
        }
        if full {
            found.extend(self.variable(level, name).map(|v| (v, 0)));
            found.extend(self.dependency(level, node, name).map(|v| (v, 0)));
        }
        if self.is_input(name) {
            found.push((input(name), 0));
        }
        if found.is_empty() {
            found.extend(self.in_namespace(level, node, language, chain));
        }
        if !found.is_empty() {
            return Meaning::of(found);
        }
        let missing = self.missing(level, node, language, chain);
        // A run of a graph that declares nothing takes whatever it is given.
        if self.document.inputs.is_empty()
            && matches!(missing, Missing::Unknown { .. })
            && !is_namespace(name)
        {
            found.push((input(name), 0));
        }
        Meaning {
            reads: found,
            missing: Some(missing),
        }
    }

    /// `inputs.x`, `nodes.x`, `vars.x` of a template.
    fn in_namespace(
        &self,
        level: usize,
        node: &Node,
        language: Language,
        chain: &Chain,
    ) -> Option<(Reference, usize)> {
        let step = chain.steps.first().map(|step| &*step.name);
        match (&*chain.root, step) {
            ("inputs", None) => Some((inputs(), 0)),
            ("inputs", Some(name)) => self.named_input(level, name).map(|r| (r, 1)),
            _ if language == Language::Question => None,
            ("nodes", Some(id)) => self.dependency(level, node, id).map(|r| (r, 1)),
            ("vars", Some(name)) => self.variable(level, name).map(|r| (r, 1)),
            _ => None,
        }
    }

    fn in_expression(&self, level: usize, chain: &Chain) -> Meaning {
        if &*chain.root == "state"
            && let Some((root, rest)) = chain.steps.split_first()
        {
            let inner = Chain {
                root: root.name.clone(),
                steps: rest.to_vec(),
                span: chain.span.clone(),
            };
            let mut meaning = self.in_expression(level, &inner);
            meaning.reads.iter_mut().for_each(|(_, used)| *used += 1);
            return meaning;
        }
        let step = chain.steps.first().map(|step| &*step.name);
        let found = match (&*chain.root, step) {
            ("inputs", None) => Some((inputs(), 0)),
            ("inputs", Some(name)) => self.named_input(level, name).map(|r| (r, 1)),
            ("nodes", Some(id)) => self.any_node(level, id).map(|id| (value_of(&id), 1)),
            ("vars", Some(name)) => self.variable(level, name).map(|r| (r, 1)),
            ("nodes" | "vars" | "state", None) => {
                return Meaning::never(Missing::Whole {
                    name: chain.root.clone(),
                });
            }
            (name, _) => {
                let mut passes = self.passes(level);
                let pass = passes.find(|(pass, _)| *pass == name);
                pass.map(|(_, value)| (value, 0))
            }
        };
        match found {
            Some(found) => Meaning::of(vec![found]),
            None => Meaning::never(self.missing_in_expression(level, chain)),
        }
    }

    /// A node that an expression can name: of its level or one around it, or of the body of a loop there.
    pub fn any_node(&self, level: usize, id: &str) -> Option<Arc<str>> {
        self.outward(level)
            .find_map(|here| Some(here.find(id)?.1.clone()))
            .or_else(|| {
                let mut around = self.outward(level);
                around.find_map(|here| self.in_loops(here, id))
            })
    }

    /// A node in the body of a loop of a level, or of a loop in such a body.
    fn in_loops(&self, level: &Level<'_>, id: &str) -> Option<Arc<str>> {
        let bodies = (level.nodes.iter().enumerate())
            .filter(|(_, (node, _))| *node.kind == Kind::Loop)
            .filter_map(|(place, _)| self.levels.get(*level.bodies.get(&place)?));
        for body in bodies {
            if let Some((_, id)) = body.find(id) {
                return Some(id.clone());
            }
            if let Some(found) = self.in_loops(body, id) {
                return Some(found);
            }
        }
        None
    }

    fn dependency(&self, level: usize, node: &Node, id: &str) -> Option<Reference> {
        let declared = node
            .depends_on
            .iter()
            .any(|dependency| ***dependency == *id);
        let (_, id) = self.levels.get(level)?.find(id).filter(|_| declared)?;
        Some(value_of(id))
    }

    /// A variable, or the text of the error that a node handed to its handler.
    fn variable(&self, level: usize, name: &str) -> Option<Reference> {
        if self.variables.contains(name) {
            return Some(variable(name));
        }
        let failed = name.strip_suffix("__error")?;
        let mut around = self.outward(level);
        let (node, id) = around.find_map(|here| here.find(failed))?;
        node.on_error.is_some().then(|| error_of(id))
    }

    /// Whether a node that runs before another always writes a variable: one that it depends on, or one that a container
    /// around it depends on.
    pub fn is_surely_written(&self, level: usize, node: &Node, variable: &str) -> bool {
        let (mut level, mut node) = (level, node);
        loop {
            let Some(here) = self.levels.get(level) else {
                return false;
            };
            let mut seen = HashSet::new();
            let mut todo: Vec<&Node> = vec![node];
            while let Some(node) = todo.pop() {
                for id in &node.depends_on {
                    let Some(&at) = here.by_id.get(&***id) else {
                        continue;
                    };
                    if !seen.insert(at) {
                        continue;
                    }
                    let (before, _) = here.nodes[at];
                    if before.writes.as_ref().is_some_and(|w| ***w == *variable) {
                        return true;
                    }
                    todo.push(before);
                }
            }
            match here.around {
                Some((outer, container)) => (level, node) = (outer, container),
                None => return false,
            }
        }
    }

    /// Whether another node than this one writes a variable.
    pub fn is_written_elsewhere(&self, variable: &str, node: &Node) -> bool {
        let all = self.levels.iter().flat_map(|level| &level.nodes);
        let mut others = all.filter(|(other, _)| !std::ptr::eq(*other, node));
        others.any(|(other, _)| {
            let mut written = other.writes.iter().chain(&other.accumulate);
            written.any(|name| ***name == *variable)
        })
    }

    /// Whether a run may be given an input of that name that can be read.
    pub fn is_input(&self, name: &str) -> bool {
        self.inputs.contains(name)
    }

    /// `inputs.name`: an input; in a body, without such an input, the pass's value of that name.
    fn named_input(&self, level: usize, name: &str) -> Option<Reference> {
        if self.is_input(name) {
            return Some(input(name));
        }
        let pass = self.passes(level).find(|(pass, _)| *pass == name);
        match pass {
            Some((_, value)) => Some(value),
            // What a graph that declares nothing is given is known only then.
            None => self.document.inputs.is_empty().then(|| input(name)),
        }
    }

    fn missing(&self, level: usize, node: &Node, language: Language, chain: &Chain) -> Missing {
        let step = chain.steps.first().map(|step| &step.name);
        let (name, of_nodes) = match (&*chain.root, step) {
            ("nodes", Some(step)) => (step, true),
            ("inputs" | "vars", Some(step)) => (step, false),
            ("nodes" | "vars", None) => {
                return Missing::Whole {
                    name: chain.root.clone(),
                };
            }
            _ => (&chain.root, false),
        };
        let here = self.levels.get(level);
        if here.is_some_and(|here| here.find(name).is_some()) {
            return Missing::NotADependency { node: name.clone() };
        }
        let whole = language == Language::Template;
        let nodes = node.depends_on.iter().map(|id| &***id);
        let variables = self.variables.iter().map(|name| &**name);
        let inputs = self.document.inputs.iter().map(|input| &**input.name);
        let passes = self.passes(level).map(|(name, _)| name);
        let known = nodes
            .filter(move |_| whole || of_nodes)
            .chain(variables.filter(move |_| whole && !of_nodes))
            .chain(inputs.chain(passes).filter(move |_| !of_nodes));
        self.unknown(name, known)
    }

    /// An unknown name, with the known one that it is spelled like; after many of them without.
    fn unknown<'n>(&self, name: &Arc<str>, known: impl Iterator<Item = &'n str>) -> Missing {
        let compared = self.compared.get();
        self.compared.set(compared + 1);
        let like = (compared < SUGGESTIONS).then(|| easel_catalog::nearest(name, known));
        Missing::Unknown {
            name: name.clone(),
            like: like.flatten().map(Arc::from),
        }
    }

    fn missing_in_expression(&self, level: usize, chain: &Chain) -> Missing {
        let step = chain.steps.first().map(|step| &step.name);
        match (&*chain.root, step) {
            ("nodes", Some(step)) => {
                let nodes = self.outward(level).flat_map(|here| &here.nodes);
                self.unknown(step, nodes.map(|(node, _)| &**node.id))
            }
            ("inputs", Some(step)) => {
                let declared = self.document.inputs.iter();
                self.unknown(step, declared.map(|input| &**input.name))
            }
            ("vars", Some(step)) => {
                let variables = self.variables.iter();
                self.unknown(step, variables.map(|name| &**name))
            }
            _ => {
                let roots = ["inputs", "nodes", "vars", "state"].into_iter();
                let passes = self.passes(level).map(|(name, _)| name);
                self.unknown(&chain.root, roots.chain(passes))
            }
        }
    }
}

/// The inputs that a run of a graph may be given by name.
fn inputs_of(document: &Document) -> HashSet<Arc<str>> {
    let declared = document.inputs.iter().map(|input| (*input.name).clone());
    let asked = document
        .nodes
        .iter()
        .filter(|node| *node.kind == Kind::Input && *node.input_mode != InputMode::Dict);
    declared
        .chain(asked.map(|node| (**node.input_key()).clone()))
        .collect()
}

fn is_namespace(name: &str) -> bool {
    matches!(name, "inputs" | "nodes" | "vars")
}

/// An id that no other node of the workflow has: its own, or behind that of the container.
fn unique(taken: &mut HashMap<Arc<str>, ()>, path: &str, id: &Arc<str>) -> Arc<str> {
    let mut unique = id.clone();
    if taken.contains_key(&unique) {
        unique = match path {
            "" => id.clone(),
            path => format!("{path}/{id}").into(),
        };
    }
    while taken.contains_key(&unique) {
        unique = format!("{unique}'").into();
    }
    taken.insert(unique.clone(), ());
    unique
}

/// What a container calls the values of its passes, with the machine's names for them.
pub fn pass_names(container: &Node) -> Vec<(&str, &'static str)> {
    let item = &**container.item_var;
    match *container.kind {
        Kind::Map => vec![("index", INDEX), (item, ITEM)],
        Kind::Loop => vec![
            ("index", INDEX),
            ("iteration", INDEX),
            ("acc", ACCUMULATED),
            ("feedback", FEEDBACK),
            (item, ITEM),
        ],
        _ => Vec::new(),
    }
}

fn reference(text: String, root: Root, path: Path) -> Reference {
    Reference {
        text: text.into(),
        root,
        path,
    }
}

fn pass_value(container: &Arc<str>, name: &str, value: &str) -> Reference {
    let root = Root::PassOf {
        container: container.clone(),
        name: value.into(),
    };
    reference(name.to_owned(), root, Path::default())
}

/// The value of a node.
pub fn value_of(id: &Arc<str>) -> Reference {
    port_of(id, VALUE, format!("nodes.{id}"))
}

/// The text of a node's error.
fn error_of(id: &Arc<str>) -> Reference {
    port_of(id, ERROR, format!("vars.{id}__error"))
}

/// A port of a node.
pub fn port_of(id: &Arc<str>, port: &str, text: String) -> Reference {
    let root = Root::Output {
        node: id.clone(),
        port: port.into(),
    };
    reference(text, root, Path::default())
}

/// A variable of the graph.
pub fn variable(name: &str) -> Reference {
    let key = format!("vars.{name}");
    let root = Root::Variable(key.as_str().into());
    reference(key, root, Path::default())
}

/// One input.
pub fn input(name: &str) -> Reference {
    let path = Path([Step::parse(name)].into());
    reference(
        format!("inputs.{name}"),
        Root::Variable(INPUTS.into()),
        path,
    )
}

/// All inputs.
pub fn inputs() -> Reference {
    let root = Root::Variable(INPUTS.into());
    reference(INPUTS.to_owned(), root, Path::default())
}
