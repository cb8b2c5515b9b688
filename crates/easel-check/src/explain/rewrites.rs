//! What was rewritten because the file has a shape of former times.

use crate::code::{Dialect::Canvas, Rule};
use crate::diagnostic::Severity::{Info, Warning};

/// Why it matters that a shape was rewritten: the same for all.
const HARMLESS: &str = "It means the same as before. The file on disk is not changed; `easel export` writes the present shape.";

/// What to do about it: the same for all.
const NOTHING: &str = "Nothing has to be done; export the canvas to have the present shape.";

pub(crate) const SUB_AGENT_LEFT_OUT: Rule = Rule {
    name: "sub-agent-left-out",
    severity: Warning,
    dialect: Canvas,
    title: "a sub-agent was left out",
    means: "In the drawing an agent is, by way of others, one of its own tools, or stands too deep in the tools of others.",
    matters: "Such an agent cannot be written down as a tool, so the agent above it has one tool less than is drawn.",
    example: r#"Agent:A has Agent:B as a tool, and Agent:B has Agent:A"#,
    fix: "Remove the line that closes the circle in the drawing.",
};

/// A rewrite that changes nothing but the shape.
const fn rewrite(
    name: &'static str,
    title: &'static str,
    means: &'static str,
    example: &'static str,
) -> Rule {
    Rule {
        name,
        severity: Info,
        dialect: Canvas,
        title,
        means,
        matters: HARMLESS,
        example,
        fix: NOTHING,
    }
}

pub(crate) const DRAWING_LIFTED: Rule = rewrite(
    "drawing-lifted",
    "the drawing went under `graph`",
    "`nodes` and `edges` stand at the top of the file; today they stand under `graph`.",
    r#"{"nodes": [...], "edges": [...]}"#,
);

pub(crate) const DRAWING_REPAIRED: Rule = rewrite(
    "drawing-repaired",
    "kinds of drawn nodes got their present names",
    "Nodes of the drawing have kinds that editors of former times used.",
    r#"{"id": "Iteration:I", "type": "group", "data": {"label": "Iteration"}}"#,
);

pub(crate) const HISTORY_RESHAPED: Rule = rewrite(
    "history-reshaped",
    "entries of `history` became pairs",
    "Entries of the conversation are objects; today they are pairs of role and content.",
    r#""history": [{"role": "user", "content": "hi"}]"#,
);

pub(crate) const RETRIEVAL_RESHAPED: Rule = rewrite(
    "retrieval-reshaped",
    "`retrieval` became a list",
    "What was found for citations is one object; today it is a list with one object a turn.",
    r#""retrieval": {"chunks": {}, "doc_aggs": {}}"#,
);

pub(crate) const MEMORY_RESHAPED: Rule = rewrite(
    "memory-reshaped",
    "entries of `memory` became triples",
    "Summaries of tool calls are objects; today they are triples of user, assistant and summary.",
    r#""memory": [{"user": "...", "assistant": "...", "summary": "..."}]"#,
);

pub(crate) const VARIABLES_RESHAPED: Rule = rewrite(
    "variables-reshaped",
    "`variables` became an object",
    "The declarations of variables are no object; today they are one, by name.",
    r#""variables": []"#,
);

pub(crate) const ENTRY_RESHAPED: Rule = rewrite(
    "entry-reshaped",
    "a component got its `obj`",
    "A component has its name and parameters beside its edges; today they stand under `obj`.",
    r#""Message:M": {"name": "Message", "params": {"content": ["Hi"]}, "downstream": []}"#,
);

pub(crate) const CLASS_RENAMED: Rule = rewrite(
    "class-renamed",
    "a component got its present name",
    "The component has been renamed since the file was written.",
    r#""obj": {"component_name": "Splitter", "params": {}}      (now TokenChunker)"#,
);

pub(crate) const ID_RENAMED: Rule = rewrite(
    "id-renamed",
    "an id changed with the name of its component",
    "An id that begins with the former name of its component begins with the present one now, in edges and references too.",
    r#""Splitter:Tidy": {"obj": {"component_name": "Splitter", ...}}      (now TokenChunker:Tidy)"#,
);

pub(crate) const COMPONENTS_DERIVED: Rule = rewrite(
    "components-derived",
    "the components were made from the drawing",
    "The file has a drawing and no `components`, as exports of the editor do; they were made from the drawing.",
    r#"{"graph": {"nodes": [...], "edges": [...]}}"#,
);

pub(crate) const PARAM_RESHAPED: Rule = rewrite(
    "param-reshaped",
    "a parameter got its present name or shape",
    "A parameter has been renamed or given another shape since the file was written.",
    r#""params": {"messages": ["Hi"]}      (now `content`)"#,
);

pub(crate) const PLACEHOLDER_REWRITTEN: Rule = rewrite(
    "placeholder-rewritten",
    "an old placeholder became a reference",
    "A text refers to a value in the way of former times.",
    r#""sys_prompt": "Answer from {input}.""#,
);

pub(crate) const LEGACY_REPLACED: Rule = rewrite(
    "legacy-replaced",
    "a component that is gone became one that does the same",
    "The component no longer exists; another one takes its place.",
    r#""obj": {"component_name": "Generate", "params": {"prompt": "..."}}      (now LLM)"#,
);

pub(crate) const ANSWER_REPLACED: Rule = rewrite(
    "answer-replaced",
    "an old interaction point was taken apart",
    "`Answer` showed something and then waited for the next message. Today a Message shows, and the turn ends or a form waits.",
    r#""Answer:A": {"obj": {"component_name": "Answer", "params": {}}, "downstream": ["Generate:G"]}"#,
);

pub(crate) const MESSAGE_ADDED: Rule = rewrite(
    "message-added",
    "a Message was added",
    "A node led to an interaction point that showed what it said. A Message shows it now.",
    r#"Generate:G -> Answer:A      (now Generate:G -> Message)"#,
);
