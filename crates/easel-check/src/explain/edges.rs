//! Edges and branches.

use crate::code::{
    Dialect::{Both, Canvas},
    Rule,
};
use crate::diagnostic::Severity::{Error, Warning};

pub(crate) const EDGE_TO_NOTHING: Rule = Rule {
    name: "edge-to-nothing",
    severity: Error,
    dialect: Canvas,
    title: "an edge leads to nothing",
    means: "A node names another behind it, under `downstream` or `exception_goto`, that is not in the canvas. Mostly it was deleted or renamed.",
    matters: "The run would end there without a word, and what was meant to follow would be missing from the answer.",
    example: r#""begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Message:Gone"]}"#,
    fix: "Remove the id from the list, or add the node it names.",
};

pub(crate) const EDGE_ACROSS_BODIES: Rule = Rule {
    name: "edge-across-bodies",
    severity: Error,
    dialect: Canvas,
    title: "an edge leads into a body or out of one",
    means: "The body of an Iteration or Loop runs once a pass. An edge joins a node in it with one that is not.",
    matters: "It is open in which pass the node outside would run, and how often.",
    example: r#""Agent:InLoop": {..., "parent_id": "Loop:L", "downstream": ["Message:Outside"]}"#,
    fix: "Lead the edge from the container itself and read what the body collected, or move both nodes into the same body.",
};

pub(crate) const ONE_SIDED_EDGE: Rule = Rule {
    name: "one-sided-edge",
    severity: Warning,
    dialect: Canvas,
    title: "an edge stands on one side only",
    means: "An edge is kept up to three times: under `downstream` of its source, under `upstream` of its target, and as a line of the drawing. Here one of them lacks it.",
    matters: "Easel takes the union, other programs one of the three, so the canvas may run differently elsewhere. Often somebody deleted the edge in one place and not in the other.",
    example: r#""A": {..., "downstream": ["B"]},
"B": {..., "upstream": []}"#,
    fix: "Add the edge on the side that lacks it, or remove it on the other; drawing it anew in the editor does both.",
};

pub(crate) const SELF_EDGE: Rule = Rule {
    name: "self-edge",
    severity: Warning,
    dialect: Canvas,
    title: "a node leads to itself",
    means: "A node names itself under `downstream`.",
    matters: "It would wait for itself for ever; the edge is left out.",
    example: r#""Agent:A": {..., "downstream": ["Agent:A", "Message:M"]}"#,
    fix: "Remove the edge; to repeat a step put it into a Loop.",
};

pub(crate) const UNREACHABLE_NODE: Rule = Rule {
    name: "unreachable-node",
    severity: Warning,
    dialect: Both,
    title: "no edge leads to it",
    means: "No way along the edges leads from the start of the canvas, or of the body it stands in, to this node. In a graph: all that it depends on is disabled.",
    matters: "It never runs, and references to it are always missing.",
    example: r#""Message:Alone": {"obj": {"component_name": "Message", "params": {"content": ["?"]}}, "upstream": []}"#,
    fix: "Lead an edge to it, or remove it.",
};

pub(crate) const NO_SUCH_TARGET: Rule = Rule {
    name: "no-such-target",
    severity: Warning,
    dialect: Canvas,
    title: "a branch leads to nothing",
    means: "A case of a Switch or a category of a Categorize names a node that is not in the canvas.",
    matters: "The run fails when that case is chosen, which may be rare.",
    example: r#""conditions": [{"items": [...], "to": ["Message:Gone"]}]"#,
    fix: "Name a node of the canvas, or none.",
};

pub(crate) const TARGET_WITHOUT_EDGE: Rule = Rule {
    name: "target-without-edge",
    severity: Warning,
    dialect: Canvas,
    title: "a branch leads where it has no edge",
    means: "A case names a node, but there is no edge from the branch to it. Easel goes on there all the same.",
    matters: "The drawing does not show where the run goes, and other programs may not go there.",
    example: r#""Switch:S": {"obj": {..., "params": {"conditions": [{"items": [...], "to": ["Message:M"]}]}}, "downstream": []}"#,
    fix: "Draw the edge from the case to the node, or remove the node from the case.",
};

pub(crate) const BRANCH_WITHOUT_ELSE: Rule = Rule {
    name: "branch-without-else",
    severity: Warning,
    dialect: Canvas,
    title: "nothing happens otherwise",
    means: "A Switch does not say where the run goes on when none of its cases holds: `end_cpn_ids` is empty.",
    matters: "Then everything behind it is left out, and the user may get no answer.",
    example: r#""params": {"conditions": [...], "end_cpn_ids": []}"#,
    fix: "Lead the rest (`end_cpn_ids`) to a node that answers for it.",
};

pub(crate) const TARGET_RUNS_ANYWAY: Rule = Rule {
    name: "target-runs-anyway",
    severity: Warning,
    dialect: Both,
    title: "it runs even if it is not chosen",
    means: "A branch kills the edges it does not choose, not the nodes. This target has another edge, in a graph another dependency, from a node that runs whatever the branch chooses.",
    matters: "The node runs in every case, and the branch has no say in it.",
    example: r#"begin -> Switch -> Message:M
begin -> Agent:A -> Message:M      (M runs after A even if the Switch leads elsewhere)"#,
    fix: "Move the other edge so that it starts behind the branch, or lead the branch to a node of its own.",
};
