//! How nodes hang together: what has to hold of ids, dependencies, routers, handlers and bodies before anything can be
//! compiled (spec/graph-engine §2.6). Bodies are held to the same rules as the top level.

mod circle;

use std::collections::{HashMap, HashSet};

use crate::document::{Document, Node, Text};
use crate::finding::{Code, Finding, Stage};
use crate::kind::Kind;
use crate::place::{Place, Position};

/// With more findings than this, no further unknown word is compared with the known ones: that costs a look at each.
pub(crate) const SUGGESTIONS: usize = 200;

/// Adds what is wrong to the document's findings.
pub(crate) fn check(document: &mut Document) {
    let mut findings = std::mem::take(&mut document.findings);
    Checker {
        document,
        findings: &mut findings,
    }
    .graph();
    document.findings = findings;
}

struct Checker<'a> {
    document: &'a Document,
    findings: &'a mut Vec<Finding>,
}

/// The nodes of one level: the top, or a body.
struct Level<'a> {
    nodes: &'a [Node],
    by_id: HashMap<&'a str, &'a Node>,
    /// Node and dependency, by id.
    edges: HashSet<(&'a str, &'a str)>,
    /// How many containers are around it.
    depth: usize,
}

impl<'a> Level<'a> {
    fn new(nodes: &'a [Node], depth: usize) -> Level<'a> {
        let mut by_id = HashMap::new();
        for node in nodes {
            by_id.entry(&**node.id).or_insert(node);
        }
        let of_node = |node: &'a Node| {
            let dependencies = node.depends_on.iter();
            dependencies.map(|dependency| (&**node.id, &*dependency.value))
        };
        Level {
            nodes,
            by_id,
            edges: nodes.iter().flat_map(of_node).collect(),
            depth,
        }
    }

    fn depends(&self, node: &str, on: &str) -> bool {
        self.edges.contains(&(node, on))
    }

    /// When the old engine found what is wrong with a node of this level itself.
    fn stage(&self) -> Stage {
        match self.depth {
            0 => Stage::Load,
            _ => Stage::Check,
        }
    }

    /// When the old engine found what is wrong with the dependencies of this level: it looked one body deep.
    fn stage_of_dependencies(&self) -> Stage {
        match self.depth {
            0 | 1 => Stage::Load,
            _ => Stage::Check,
        }
    }
}

impl<'a> Checker<'a> {
    fn graph(&mut self) {
        let document = self.document;
        let level = Level::new(&document.nodes, 0);
        self.level(&level, &mut Vec::new());
        for (at, output) in document.outputs.iter().enumerate() {
            if level.by_id.contains_key(&*output.value) {
                continue;
            }
            let cause = format!("The output `{}` names no node.", &*output.value);
            let place = Place::top().key("outputs").index(at);
            let fix = self.suggestion(output, &level);
            self.report(None, Code::Dag, Stage::Load, place, output, cause, fix);
        }
        let has_result = document
            .nodes
            .iter()
            .any(|node| node.kind.value == Kind::Output);
        if document.outputs.is_empty() && !has_result && !document.nodes.is_empty() {
            self.findings.push(Finding {
                code: Code::NoResult,
                severity: Code::NoResult.severity(),
                stage: Stage::Check,
                place: Place::top(),
                at: Position {
                    len: 0,
                    ..document.root.at
                },
                node: None,
                subject: None,
                cause: "The graph names no result, so a run gives out the value of one of its last steps.".to_owned(),
                fix: "Write outputs: and a list of ids, or add a node of kind `output`.".to_owned(),
            });
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a finding has that many parts")]
    fn report(
        &mut self,
        node: Option<&Node>,
        code: Code,
        stage: Stage,
        place: Place,
        about: &Text,
        cause: String,
        fix: impl Into<String>,
    ) {
        self.findings.push(Finding {
            code,
            severity: code.severity(),
            stage,
            place,
            at: about.at,
            node: node.map(|node| node.id.value.clone()),
            subject: Some(about.value.clone()),
            cause,
            fix: fix.into(),
        });
    }

    /// Like [`report`](Checker::report), of a key of a node rather than of a text that it names.
    fn report_key(
        &mut self,
        node: &Node,
        code: Code,
        stage: Stage,
        key: &str,
        cause: String,
        fix: impl Into<String>,
    ) {
        let at = self.key_position(node, key);
        let about = Text {
            value: key.into(),
            at,
        };
        self.report(Some(node), code, stage, node.key(key), &about, cause, fix);
    }

    /// Where the key of a node stands, or else where the node begins.
    fn key_position(&self, node: &Node, key: &str) -> Position {
        let map = self
            .document
            .get(&node.place)
            .and_then(|found| found.as_map());
        let entry = map.and_then(|map| map.get(key));
        let start = Position { len: 0, ..node.at };
        entry.map_or(start, |entry| entry.key.at)
    }

    /// Whether the text sets the key, to whatever.
    fn sets(&self, node: &Node, key: &str) -> bool {
        let value = self.document.get(&node.key(key));
        value.is_some_and(|value| !value.is_null())
    }

    fn suggestion(&self, id: &str, level: &Level<'_>) -> String {
        let ids = level.nodes.iter().map(|node| &*node.id.value);
        let meant = (self.findings.len() < SUGGESTIONS)
            .then(|| easel_catalog::nearest(id, ids))
            .flatten();
        match meant {
            Some(meant) => format!("Did you mean `{meant}`?"),
            None => "Write the id of a node of the same level.".to_owned(),
        }
    }

    fn level(&mut self, level: &Level<'a>, outer: &mut Vec<HashSet<&'a str>>) {
        self.ids(level);
        for node in level.nodes {
            self.dependencies(node, level, outer);
            self.guard(node);
            self.handler(node, level);
            match node.kind.value {
                Kind::Router => self.router(node, level),
                Kind::Function | Kind::Python => self.code(node),
                kind if kind.has_body() => self.container(node, level),
                Kind::Tool => self.tool(node),
                _ => {}
            }
            if node.kind.value != Kind::Router {
                self.router_keys_elsewhere(node, level);
            }
        }
        self.circles(level);
        outer.push(level.by_id.keys().copied().collect());
        for node in level.nodes.iter().filter(|node| !node.body.is_empty()) {
            let body = Level::new(&node.body, level.depth + 1);
            self.level(&body, outer);
            for (at, output) in node.body_outputs.iter().enumerate() {
                if body.by_id.contains_key(&*output.value) {
                    continue;
                }
                let cause = format!(
                    "The body of `{}` has no node `{}`.",
                    &**node.id, &*output.value
                );
                let (place, fix) = (
                    node.key("body_outputs").index(at),
                    self.suggestion(output, &body),
                );
                let stage = body.stage_of_dependencies();
                self.report(
                    Some(node),
                    Code::BodyOutputs,
                    stage,
                    place,
                    output,
                    cause,
                    fix,
                );
            }
        }
        outer.pop();
    }

    fn ids(&mut self, level: &Level<'a>) {
        for node in level.nodes.iter().filter(|node| !node.id.is_empty()) {
            let first = level.by_id.get(&**node.id).copied();
            if let Some(first) = first.filter(|first| !std::ptr::eq(*first, node)) {
                let cause = match first.id.at.line {
                    0 => format!("Another node has the id `{}`.", &**node.id),
                    line => format!(
                        "The node of line {line} has the id `{}` already.",
                        &**node.id
                    ),
                };
                let fix = "Give one of them another id, and name it where that one is meant.";
                let place = node.key("id");
                self.report(
                    Some(node),
                    Code::DuplicateId,
                    level.stage(),
                    place,
                    &node.id,
                    cause,
                    fix,
                );
            }
        }
    }

    fn dependencies(&mut self, node: &Node, level: &Level<'a>, outer: &[HashSet<&str>]) {
        for (at, dependency) in node.depends_on.iter().enumerate() {
            let id = &*dependency.value;
            let place = node.key("depends_on").index(at);
            let stage = level.stage_of_dependencies();
            let (code, stage, cause, fix) = match level.by_id.get(id) {
                Some(found) if found.kind.value == Kind::Output => (
                    Code::DependsOnOutput,
                    level.stage(),
                    format!(
                        "`{id}` is an output node: it gives its value to whoever runs the graph, not to other nodes."
                    ),
                    "Depend on what the output depends on.".to_owned(),
                ),
                Some(_) if *node.id.value == *id => (
                    Code::Dag,
                    stage,
                    format!("`{id}` depends on itself."),
                    "Leave this dependency out.".to_owned(),
                ),
                Some(_) => continue,
                None if outer.iter().any(|ids| ids.contains(id)) => (
                    Code::BodyDependencyOutside,
                    stage,
                    format!(
                        "`{id}` stands outside of this body, and a body depends on itself alone."
                    ),
                    "Let the container depend on it, and the body name the variable that it writes (`writes`)."
                        .to_owned(),
                ),
                None => (
                    Code::Dag,
                    stage,
                    format!("There is no node `{id}` on this level."),
                    self.suggestion(id, level),
                ),
            };
            self.report(Some(node), code, stage, place, dependency, cause, fix);
        }
    }

    fn guard(&mut self, node: &Node) {
        if node
            .when
            .as_ref()
            .is_some_and(|when| when.trim().is_empty())
        {
            let cause = "`when` is blank, which never holds: this node could not run.".to_owned();
            let fix = "Write an expression, or leave `when` out.";
            self.report_key(node, Code::BlankWhen, Stage::Check, "when", cause, fix);
        }
    }

    fn handler(&mut self, node: &Node, level: &Level<'a>) {
        let Some(handler) = &node.on_error else {
            return;
        };
        let id = &*handler.value;
        let (code, cause, fix) = match level.by_id.get(id) {
            None => (
                Code::Dag,
                format!("`on_error` names `{id}`, and there is no such node on this level."),
                self.suggestion(id, level),
            ),
            Some(found) if found.kind.value == Kind::Output => (
                Code::OutputAsHandler,
                format!("`{id}` is an output node and handles no errors."),
                "Name a node that says what went wrong, and let the output depend on it."
                    .to_owned(),
            ),
            Some(_) if !level.depends(id, &node.id) => (
                Code::HandlerNotDownstream,
                format!(
                    "`{id}` is to handle the error of `{}` but does not depend on it.",
                    &**node.id
                ),
                format!("Add `{}` to the `depends_on` of `{id}`.", &**node.id),
            ),
            Some(_) => return,
        };
        let place = node.key("on_error");
        self.report(Some(node), code, level.stage(), place, handler, cause, fix);
    }

    fn router(&mut self, node: &Node, level: &Level<'a>) {
        let stage = level.stage();
        match (node.routes.is_empty(), node.cases.is_empty()) {
            (false, false) => {
                let cause = "A router has either `routes`, between which a model chooses, or `cases`, not both.".to_owned();
                let fix = "Leave one of them out, or use two routers.";
                self.report_key(node, Code::RoutesAndCases, stage, "cases", cause, fix);
            }
            // A wrong type is reported already.
            (true, true)
                if !is_filled(self.document, node, "routes")
                    && !is_filled(self.document, node, "cases") =>
            {
                let cause =
                    "This router has neither `routes` nor `cases`, so it leads nowhere.".to_owned();
                let fix = "Write routes: {label: id} or cases: [{when: \"…\", to: id}].";
                self.report_key(node, Code::RouterTargets, stage, "routes", cause, fix);
            }
            _ => {}
        }
        let labels = node.routes.iter().map(|route| &route.label);
        let labels = labels.chain(node.cases.iter().filter_map(|case| case.label.as_ref()));
        for label in labels.filter(|label| label.trim().is_empty()) {
            let cause = "A label is blank, so no answer can choose it.".to_owned();
            let fix = "Write a word.";
            let place = node.key("routes");
            self.report(
                Some(node),
                Code::RouterBlankLabel,
                stage,
                place,
                label,
                cause,
                fix,
            );
        }
        let mut seen = HashSet::new();
        for (place, target) in targets(node) {
            let id = &*target.value;
            let (code, cause, fix) = match level.by_id.get(id) {
                None => (
                    Code::RouterUnknownTarget,
                    format!("The router leads to `{id}`, and there is no such node on this level."),
                    self.suggestion(id, level),
                ),
                Some(_) if !level.depends(id, &node.id) => (
                    Code::RouterTargetNotDownstream,
                    format!("The router leads to `{id}`, which does not depend on it."),
                    format!("Add `{}` to the `depends_on` of `{id}`.", &**node.id),
                ),
                Some(_) => continue,
            };
            if seen.insert(id) {
                self.report(Some(node), code, stage, place, target, cause, fix);
            }
        }
    }

    fn router_keys_elsewhere(&mut self, node: &Node, level: &Level<'a>) {
        for key in ["routes", "cases", "default"] {
            if !self.sets(node, key) {
                continue;
            }
            let kind = node.kind.value;
            let cause = format!("Only a router reads `{key}`, and this is a `{kind}` node.");
            let fix = "Leave it out, or make this a router.";
            let (code, stage) = match level.depth == 0 && !kind.has_body() {
                true => (Code::RouterKeyElsewhere, Stage::Load),
                false => (Code::InertKey, Stage::Check),
            };
            self.report_key(node, code, stage, key, cause, fix);
        }
    }

    fn code(&mut self, node: &Node) {
        let blank = node
            .callable
            .as_ref()
            .is_none_or(|name| name.trim().is_empty());
        if blank
            && self
                .document
                .get(&node.key("callable"))
                .is_none_or(|value| value.is_null() || value.as_text().is_some())
        {
            let cause = format!(
                "A `{}` node calls a function, and this one names none.",
                node.kind.value
            );
            let fix = "Write callable: module:name, or the name of a function of the sidecar.";
            self.report_key(node, Code::Callable, Stage::Check, "callable", cause, fix);
        }
    }

    fn tool(&mut self, node: &Node) {
        if let [first, ignored, ..] = node.tools.as_slice() {
            let cause = format!(
                "A tool node calls one tool: `{}`. The others are not called.",
                &*first.value
            );
            let fix = "Use a node for each tool, or a `react` node that chooses among them.";
            let place = node.key("tools").index(1);
            self.report(
                Some(node),
                Code::OnlyFirstTool,
                Stage::Check,
                place,
                ignored,
                cause,
                fix,
            );
        }
    }

    fn container(&mut self, node: &Node, level: &Level<'a>) {
        let (kind, stage) = (node.kind.value, level.stage());
        if node.body.is_empty() && !is_filled(self.document, node, "body") {
            let cause = format!("A `{kind}` runs its body, and this one has none.");
            let fix = "Write body: and a list with at least one node.";
            self.report_key(node, Code::Structure, stage, "body", cause, fix);
        }
        if kind == Kind::Loop && !self.sets(node, "max_iterations") {
            let cause = "A loop needs a ceiling, and this one has no `max_iterations`.".to_owned();
            let fix = "Write max_iterations: and a number of at least 1.";
            self.report_key(node, Code::Structure, stage, "max_iterations", cause, fix);
        }
        if kind == Kind::Loop
            && node
                .until
                .as_ref()
                .is_some_and(|until| until.trim().is_empty())
        {
            let cause = "`until` is blank, so nobody can say when it holds.".to_owned();
            let fix = "Write a sentence or the name of a function, or leave `until` out to run to the ceiling.";
            self.report_key(node, Code::BlankUntil, stage, "until", cause, fix);
        }
        let blank = node
            .over
            .as_ref()
            .is_some_and(|over| over.trim().is_empty());
        if kind == Kind::Map && (blank || !self.sets(node, "over")) {
            let cause = "A map runs for each item of a list, and this one does not say of which."
                .to_owned();
            let fix = "Write over: and an expression, such as inputs.items.";
            self.report_key(node, Code::Structure, stage, "over", cause, fix);
        }
    }

    fn circles(&mut self, level: &Level<'a>) {
        for circle in circle::all(level.nodes, &level.by_id) {
            let Some(first) = circle.first() else {
                continue;
            };
            let mut names: Vec<String> = circle
                .iter()
                .map(|node| format!("`{}`", &**node.id))
                .collect();
            names.push(format!("`{}`", &**first.id));
            let cause = format!("Dependencies go in a circle: {}.", names.join(" needs "));
            let fix = "Leave one of them out; to repeat steps, put them into the body of a loop.";
            let stage = level.stage_of_dependencies();
            self.report_key(first, Code::Dag, stage, "depends_on", cause, fix);
        }
    }
}

/// Whether a key has a value that isn't an empty list or mapping.
fn is_filled(document: &Document, node: &Node, key: &str) -> bool {
    document.get(&node.key(key)).is_some_and(|value| {
        let no_items = value.as_list().is_some_and(<[_]>::is_empty);
        let no_members = value.as_map().is_some_and(|map| map.is_empty());
        !value.is_null() && !no_items && !no_members
    })
}

/// The ids that a router may choose, each with its place.
fn targets(node: &Node) -> impl Iterator<Item = (Place, &Text)> {
    let labels = node.key("routes");
    let routes = node.routes.iter();
    let routes = routes.map(move |route| (labels.key(&route.label), &route.to));
    let cases = node
        .cases
        .iter()
        .map(|case| (case.place.key("to"), &case.to));
    let default = node
        .default
        .iter()
        .map(|default| (node.key("default"), default));
    routes.chain(cases).chain(default)
}

#[cfg(test)]
mod tests;
