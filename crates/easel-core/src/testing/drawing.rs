//! Workflows in a few words.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::Object;
use crate::Value;
use crate::bind::ReadId;
use crate::compile::{Compiled, Finding, compile};
use crate::condition::{Condition, Operand, Operator, Table, Test};
use crate::draft::{
    Assignments, Draft, EffectClass, Entry, FormField, Gather, Guard, Initial, Items, Kind,
    NodeDraft, OnFailure, Otherwise,
};
use crate::event::Fault;
use crate::reference::canvas::{Grammar, bare};
use crate::reference::{Path, Reference, Root};
use crate::workflow::Workflow;

/// A draft in the making. Nodes exist from the moment they are named.
#[derive(Clone)]
pub(crate) struct Drawing {
    draft: Draft,
}

/// One line a node: what it is, where it leads, what it reads and assigns.
impl fmt::Debug for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.draft.on_failure)?;
        for n in &self.draft.nodes {
            let kind = match &n.kind {
                Kind::Each { concurrency, .. } => format!("each({concurrency})"),
                Kind::While { maximum, .. } => format!("while({maximum})"),
                Kind::Repeat { maximum, .. } => format!("repeat({maximum})"),
                Kind::Once { .. } => "once".to_owned(),
                Kind::Branch { .. } => "branch".to_owned(),
                Kind::Form { .. } => "form".to_owned(),
                other => format!("{other:?}").to_lowercase(),
            };
            let texts = |all: &[Reference]| {
                let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
                texts.join(" ")
            };
            let parent = n.parent.as_deref().unwrap_or("-");
            let edges = n.downstream.join(",");
            write!(f, "{parent}/{} {kind} -> {edges}", n.id)?;
            write!(
                f,
                " reads [{}] writes [{}]",
                texts(&n.reads),
                texts(&n.writes)
            )?;
            let (streams, drains) = (n.streams, n.drains);
            write!(
                f,
                " streams {streams} drains {drains} error -> {}",
                n.on_error.join(",")
            )?;
            writeln!(f, " {:?}", n.policy)?;
        }
        Ok(())
    }
}

/// Draws edges: `begin -> a, b -> c; a -> d`. The first node is the entry.
pub(crate) fn draw(edges: &str) -> Drawing {
    let drawing = Drawing {
        draft: Draft {
            entry: Entry::Node(0),
            ..Draft::default()
        },
    };
    drawing.edges(None, edges)
}

impl Drawing {
    fn edges(mut self, parent: Option<&str>, edges: &str) -> Drawing {
        for chain in edges.split([';', '\n']).filter(|c| !c.trim().is_empty()) {
            let mut before: Vec<Arc<str>> = Vec::new();
            for group in chain.split("->") {
                let group: Vec<Arc<str>> = group.split(',').map(|n| n.trim().into()).collect();
                for node in &group {
                    self.declare(parent, node);
                }
                for from in &before {
                    self.node(from).downstream.extend(group.iter().cloned());
                }
                before = group;
            }
        }
        self
    }

    /// Draws a large workflow: like [`draw`], in time that does not grow with the square of its size. Each node is
    /// declared where it is named first.
    pub fn wide(edges: String) -> Drawing {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut drawing = draw("");
        for chain in edges.split(';') {
            let mut before: Vec<usize> = Vec::new();
            for group in chain.split("->") {
                let mut here = Vec::new();
                for name in group.split(',').map(str::trim) {
                    let nodes = &mut drawing.draft.nodes;
                    here.push(*places.entry(name.to_owned()).or_insert_with(|| {
                        nodes.push(blank(None, name));
                        nodes.len() - 1
                    }));
                }
                let ids: Vec<Arc<str>> = here
                    .iter()
                    .map(|&at| drawing.draft.nodes[at].id.clone())
                    .collect();
                for from in before {
                    let downstream = &mut drawing.draft.nodes[from].downstream;
                    downstream.extend(ids.iter().cloned());
                }
                before = here;
            }
        }
        drawing
    }

    /// Changes every node.
    pub fn change_all(mut self, change: impl Fn(&mut NodeDraft)) -> Drawing {
        self.draft.nodes.iter_mut().for_each(change);
        self
    }

    /// Makes the node that was drawn last a loop of one pass whose body is a new node.
    pub fn nest(mut self, container: &str, body: &str) -> Drawing {
        if let Some(last) = self.draft.nodes.last_mut() {
            assert_eq!(&*last.id, container);
            last.kind = Kind::While {
                variables: Vec::new(),
                until: None,
                maximum: 1,
            };
        }
        self.draft.nodes.push(blank(Some(container), body));
        self
    }

    /// Draws more edges.
    pub fn more(self, edges: &str) -> Drawing {
        self.edges(None, edges)
    }

    /// Draws edges in the body of a container.
    pub fn inside(self, container: &str, edges: &str) -> Drawing {
        self.edges(Some(container), edges)
    }

    fn declare(&mut self, parent: Option<&str>, id: &str) {
        if self.draft.nodes.iter().any(|n| &*n.id == id) {
            return;
        }
        self.draft.nodes.push(blank(parent, id));
    }

    fn node(&mut self, id: &str) -> &mut NodeDraft {
        let node = self.draft.nodes.iter_mut().find(|n| &*n.id == id);
        node.unwrap_or_else(|| panic!("no node {id} is drawn"))
    }

    fn with(mut self, id: &str, change: impl FnOnce(&mut NodeDraft)) -> Drawing {
        change(self.node(id));
        self
    }

    /// A branch among its edges.
    pub fn branch(self, id: &str) -> Drawing {
        self.with(id, |n| {
            n.kind = Kind::Branch {
                targets: n.downstream.clone(),
            };
        })
    }

    /// A form with fields: `name age? photo!`; `?` is optional, `!` is optional and no reason to ask.
    pub fn form(self, id: &str, fields: &str) -> Drawing {
        self.with(id, |n| {
            let field = |word: &str| FormField {
                key: word.trim_end_matches(['?', '!']).into(),
                declaration: Object::from_iter([("type".into(), Value::from("line"))]),
                optional: word.ends_with(['?', '!']),
                unasked: word.ends_with('!'),
                given: Vec::new(),
            };
            n.kind = Kind::Form {
                fields: fields.split_whitespace().map(field).collect(),
                tips: None,
            };
        })
    }

    /// The text that goes with a form's question, with references in braces.
    pub fn tips(self, id: &str, text: &str) -> Drawing {
        self.with(id, |n| {
            let grammar = Grammar {
                known: &|_| true,
                in_iteration: true,
                jinja: false,
            };
            let reads = &mut n.reads;
            let template = grammar.template(text, |reference| {
                reads.push(reference);
                ReadId(reads.len() as u32 - 1)
            });
            match &mut n.kind {
                Kind::Form { tips, .. } => *tips = Some(template),
                _ => panic!("{id} is no form"),
            }
        })
    }

    /// Passes over a list.
    pub fn each(self, id: &str, items: &str, concurrency: u32) -> Drawing {
        self.with(id, |n| {
            n.kind = Kind::Each {
                items: Items::Read(read(n, items)),
                concurrency,
                collect: Vec::new(),
            };
        })
    }

    /// What passes over a list collect under a port.
    pub fn collect(self, id: &str, port: &str, what: &str) -> Drawing {
        self.with(id, |n| match &mut n.kind {
            Kind::Each { collect, .. } => {
                collect.push((port.into(), Gather::One(reference(what))));
            }
            _ => panic!("{id} collects nothing"),
        })
    }

    /// A loop.
    pub fn repeat(self, id: &str, maximum: u64) -> Drawing {
        self.with(id, |n| {
            n.kind = Kind::While {
                variables: Vec::new(),
                until: None,
                maximum,
            };
        })
    }

    /// A loop's variable and its first value.
    pub fn first(self, id: &str, port: &str, value: impl Into<Value>) -> Drawing {
        let value = value.into();
        self.with(id, |n| match &mut n.kind {
            Kind::While { variables, .. } => {
                variables.push((port.into(), Initial::Constant(value)));
            }
            _ => panic!("{id} is no loop"),
        })
    }

    /// A loop's variable that begins as something else's value.
    pub fn first_from(self, id: &str, port: &str, what: &str) -> Drawing {
        self.with(id, |n| {
            let initial = Initial::Read(read(n, what));
            match &mut n.kind {
                Kind::While { variables, .. } => variables.push((port.into(), initial)),
                _ => panic!("{id} is no loop"),
            }
        })
    }

    /// When a loop ends: `loop@n ≥ 3`, the value as JSON.
    pub fn until(self, id: &str, test: &str) -> Drawing {
        self.with(id, |n| {
            let words: Vec<&str> = test.splitn(3, ' ').collect();
            let [left, operator, right] = words[..] else {
                panic!("no test: {test}");
            };
            let test = Test {
                left: read(n, left),
                operator: Operator::parse(operator).unwrap(),
                right: Operand::Constant(serde_json::from_str(right).unwrap()),
            };
            match &mut n.kind {
                Kind::While { until, .. } => {
                    *until = Some(Condition {
                        all: true,
                        tests: vec![test],
                        table: Table::Loop,
                    });
                }
                _ => panic!("{id} is no loop"),
            }
        })
    }

    /// The start of a body.
    pub fn item(self, id: &str) -> Drawing {
        self.with(id, |n| n.kind = Kind::Item)
    }

    /// The end of a loop.
    pub fn exit(self, id: &str) -> Drawing {
        self.with(id, |n| n.kind = Kind::Exit)
    }

    /// What a node reads: `a@out`, `env.x`, `item`; words apart.
    pub fn reads(self, id: &str, what: &str) -> Drawing {
        self.with(id, |n| {
            for what in what.split_whitespace() {
                read(n, what);
            }
        })
    }

    /// What a node assigns to; words apart.
    pub fn writes(self, id: &str, what: &str) -> Drawing {
        self.with(id, |n| {
            n.writes.extend(what.split_whitespace().map(reference));
        })
    }

    /// A variable and its initial value.
    pub fn variable(mut self, name: &str, value: impl Into<Value>) -> Drawing {
        let value = Some(value.into());
        self.draft.variables.push((name.into(), value));
        self
    }

    /// Nodes whose text may arrive as a stream; words apart.
    pub fn streams(self, ids: &str) -> Drawing {
        ids.split_whitespace()
            .fold(self, |d, id| d.with(id, |n| n.streams = true))
    }

    /// Nodes that speak, and can show a text that is still arriving; words apart.
    pub fn drains(self, ids: &str) -> Drawing {
        ids.split_whitespace()
            .fold(self, |d, id| d.with(id, |n| n.drains = true))
    }

    /// Attempts in all, and the pause after the first.
    pub fn attempts(self, id: &str, attempts: u32, delay_ms: u64) -> Drawing {
        self.with(id, |n| {
            n.policy.attempts = attempts;
            n.policy.delay_ms = delay_ms;
        })
    }

    /// The value that stands in when the node fails.
    pub fn default(self, id: &str, value: impl Into<Value>) -> Drawing {
        let value = value.into();
        self.with(id, |n| n.policy.otherwise = Otherwise::Default(value))
    }

    /// Where the run goes on when the node fails.
    pub fn on_error(self, id: &str, handlers: &str) -> Drawing {
        self.with(id, |n| {
            n.policy.otherwise = Otherwise::Goto;
            let handlers = handlers.split(',').map(|h| h.trim().into());
            n.on_error.extend(handlers);
        })
    }

    /// What a node does to the outside.
    pub fn effect(self, id: &str, effect: EffectClass) -> Drawing {
        self.with(id, |n| n.effect = effect)
    }

    /// The node's target honours idempotency keys.
    pub fn idempotent(self, id: &str) -> Drawing {
        self.with(id, |n| n.idempotent = true)
    }

    /// The node fails when it is reached.
    pub fn broken(self, id: &str, why: &str) -> Drawing {
        self.with(id, |n| n.broken = Some(Fault::new("bad_parameter", why)))
    }

    /// Makes another node the entry; `None` names none.
    pub fn entry(mut self, id: Option<&str>) -> Drawing {
        let place = |id| self.draft.nodes.iter().position(|n| &*n.id == id);
        self.draft.entry = id.and_then(place).map_or(Entry::Missing, Entry::Node);
        self
    }

    /// Draws a node whose id is taken.
    pub fn again(mut self, id: &str) -> Drawing {
        let twin = self.node(id).clone();
        self.draft.nodes.push(twin);
        self
    }

    /// A failure that nobody handles fails the edges of its node, not the scope.
    pub fn failing_edges(mut self) -> Drawing {
        self.draft.on_failure = OnFailure::FailEdges;
        self
    }

    /// True if the node is of such a kind.
    pub fn is(&self, id: &str, kind: impl Fn(&Kind) -> bool) -> bool {
        let node = self.draft.nodes.iter().find(|n| &*n.id == id);
        node.is_some_and(|n| kind(&n.kind))
    }

    /// A variable that has no value yet.
    pub fn unset(mut self, name: &str) -> Drawing {
        self.draft.variables.push((name.into(), None));
        self
    }

    /// A run starts at every node that no edge leads to.
    pub fn starting_at_sources(mut self) -> Drawing {
        self.draft.entry = Entry::Sources;
        self
    }

    /// What is assigned in a body stays there.
    pub fn private(mut self) -> Drawing {
        self.draft.assignments = Assignments::Private;
        self
    }

    /// The node is guarded.
    pub fn guarded(self, id: &str, guard: Guard) -> Drawing {
        self.with(id, |n| n.guard = guard)
    }

    /// The node's value becomes that of a variable, too.
    pub fn publishes(self, id: &str, variable: &str) -> Drawing {
        self.with(id, |n| {
            n.publishes = Some(n.writes.len() as u32);
            n.writes.push(reference(variable));
        })
    }

    /// A body that runs once.
    pub fn once(self, id: &str, give: Gather) -> Drawing {
        self.with(id, |n| n.kind = Kind::Once { give })
    }

    /// A body that runs again until the node's own attempt says stop, or never if it is not judged.
    pub fn until_told(self, id: &str, give: Gather, maximum: u64, judged: bool) -> Drawing {
        self.with(id, |n| {
            n.kind = Kind::Repeat {
                give,
                maximum,
                judged,
                accumulates: false,
                accumulator: None,
            };
        })
    }

    /// The value of a repeated body is the list of what its passes gave, which a variable shows on the way.
    pub fn accumulates(self, id: &str, variable: &str) -> Drawing {
        self.with(id, |n| {
            let target = n.writes.len() as u32;
            n.writes.push(reference(variable));
            match &mut n.kind {
                Kind::Repeat {
                    accumulates,
                    accumulator,
                    ..
                } => (*accumulates, *accumulator) = (true, Some(target)),
                _ => panic!("{id} is not repeated"),
            }
        })
    }

    /// The node reads a value of the pass of a container around it.
    pub fn reads_pass(self, id: &str, container: &str, name: &str) -> Drawing {
        self.with(id, |n| {
            n.reads.push(Reference {
                text: name.into(),
                root: Root::PassOf {
                    container: container.into(),
                    name: name.into(),
                },
                path: Path::default(),
            });
        })
    }

    /// A field of a form that a value may answer.
    pub fn answered_by(self, id: &str, key: &str, what: &str) -> Drawing {
        self.with(id, |n| {
            let read = read(n, what);
            match &mut n.kind {
                Kind::Form { fields, .. } => {
                    let field = fields.iter_mut().find(|f| &*f.key == key);
                    field.expect("no such field").given.push(read);
                }
                _ => panic!("{id} is no form"),
            }
        })
    }

    /// The draft.
    pub fn draft(&self) -> Draft {
        self.draft.clone()
    }

    /// What compiling finds.
    pub fn findings(&self) -> Vec<Finding> {
        compile(self.draft.clone()).findings
    }

    /// The workflow, which must not be refused.
    pub fn workflow(&self) -> Arc<Workflow> {
        let Compiled { workflow, findings } = compile(self.draft.clone());
        let refused: Vec<&Finding> = findings.iter().filter(|f| f.refuses()).collect();
        assert!(refused.is_empty(), "refused: {refused:?}");
        Arc::new(workflow)
    }
}

/// A task that reads and does nothing.
fn blank(parent: Option<&str>, id: &str) -> NodeDraft {
    NodeDraft {
        parent: parent.map(Arc::from),
        primary: "out".into(),
        ..NodeDraft::new(id, "Task")
    }
}

pub(crate) fn reference(text: &str) -> Reference {
    bare(text).unwrap_or_else(|| panic!("{text} is no reference"))
}

fn read(node: &mut NodeDraft, what: &str) -> ReadId {
    node.reads.push(reference(what));
    ReadId(node.reads.len() as u32 - 1)
}
