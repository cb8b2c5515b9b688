//! Canvases to measure with, made by number.

use easel_core::effect::Execute;
use easel_core::event::{Completion, Event, Fact, Ports, Timestamp};
use serde_json::{Map, Value as Json, json};

/// A canvas in the making.
#[derive(Default)]
pub struct Canvas {
    components: Map<String, Json>,
    globals: Map<String, Json>,
}

impl Canvas {
    /// A canvas with a Begin that leads to these nodes.
    pub fn new(first: &[&str]) -> Canvas {
        Canvas::default().node("begin", "Begin", json!({}), first, None)
    }

    /// Adds a node.
    pub fn node(
        mut self,
        id: &str,
        class: &str,
        params: Json,
        downstream: &[&str],
        parent: Option<&str>,
    ) -> Canvas {
        let mut entry = json!({
            "obj": {"component_name": class, "params": params},
            "downstream": downstream,
        });
        if let Some(parent) = parent {
            entry["parent_id"] = json!(parent);
        }
        self.components.insert(id.to_owned(), entry);
        self
    }

    /// Adds a variable with its value.
    pub fn variable(mut self, name: &str, value: Json) -> Canvas {
        self.globals.insert(name.to_owned(), value);
        self
    }

    /// The canvas as text.
    pub fn text(self) -> Vec<u8> {
        let globals = self.globals;
        let variables: Map<String, Json> = globals
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("env.")?, value)))
            .map(|(name, value)| (name.to_owned(), json!({"value": value})))
            .collect();
        let canvas = json!({
            "components": self.components, "globals": globals, "variables": variables,
        });
        canvas.to_string().into_bytes()
    }
}

/// A graph of `length` routers, each of which looks at the one before and goes on to the next.
pub fn graph_chain(length: usize) -> Vec<u8> {
    let mut text = "name: chain\nnodes:\n".to_owned();
    for n in 0..length {
        let (when, after) = match n {
            0 => ("inputs.query == 'hello'".to_owned(), String::new()),
            n => (
                format!("nodes.r{} == 'r{n}'", n - 1),
                format!(", depends_on: [r{}]", n - 1),
            ),
        };
        let next = n + 1;
        text += &format!(
            "  - {{id: r{n}, kind: router, cases: [{{when: \"{when}\", to: r{next}}}]{after}}}\n"
        );
    }
    text += &format!(
        "  - {{id: r{length}, kind: output, depends_on: [r{}]}}\n",
        length - 1
    );
    text.into_bytes()
}

/// A graph that maps over so many items with a body of two nodes.
pub fn graph_map(items: usize) -> Vec<u8> {
    let items: Vec<String> = (0..items).map(|n| n.to_string()).collect();
    let items = items.join(", ");
    format!(
        "name: map\nnodes:\n  - id: m\n    kind: map\n    over: \"[{items}]\"\n    body:\n      \
         - {{id: a, kind: router, cases: [{{when: item >= 0, to: b}}]}}\n      \
         - {{id: b, kind: output, value: \"{{item}}\", depends_on: [a]}}\noutputs: [m]\n"
    )
    .into_bytes()
}

fn merge(script: &str) -> Json {
    json!({"method": "merge", "script": script, "delimiters": [","]})
}

/// Begin, then `length` text nodes, each reading the one before, then a Message.
pub fn chain(length: usize) -> Vec<u8> {
    let name = |n: usize| match n == length {
        true => "Message:End".to_owned(),
        false => format!("StringTransform:N{n}"),
    };
    let mut canvas = Canvas::new(&[&name(0)]);
    for n in 0..length {
        let script = match n {
            0 => "{sys.query}".to_owned(),
            n => format!("{{{}@result}}", name(n - 1)),
        };
        let next = name(n + 1);
        canvas = canvas.node(&name(n), "StringTransform", merge(&script), &[&next], None);
    }
    let said = match length {
        0 => "{sys.query}".to_owned(),
        length => format!("{{{}@result}}", name(length - 1)),
    };
    let said = json!({"content": [said]});
    canvas
        .node("Message:End", "Message", said, &[], None)
        .text()
}

/// Begin, then `length` nodes of a class that passes on its `text`, each reading the one before, then a Message.
pub fn waits(length: usize, class: &str) -> Vec<u8> {
    let name = |n: usize| match n == length {
        true => "Message:End".to_owned(),
        false => format!("{class}:N{n}"),
    };
    let mut canvas = Canvas::new(&[&name(0)]);
    for n in 0..length {
        let text = match n {
            0 => "{sys.query}".to_owned(),
            n => format!("{{{}@result}}", name(n - 1)),
        };
        let next = name(n + 1);
        canvas = canvas.node(&name(n), class, json!({"text": text}), &[&next], None);
    }
    let said = json!({"content": [format!("{{{}@result}}", name(length - 1))]});
    canvas
        .node("Message:End", "Message", said, &[], None)
        .text()
}

/// Begin, a form with one field, then a Message that says what was filled in.
pub fn form() -> Vec<u8> {
    let field = json!({"name": "Name", "type": "line", "optional": false});
    let form = json!({"enable_tips": true, "tips": "Who are you?", "inputs": {"name": field}});
    Canvas::new(&["UserFillUp:Form"])
        .node(
            "UserFillUp:Form",
            "UserFillUp",
            form,
            &["Message:End"],
            None,
        )
        .node(
            "Message:End",
            "Message",
            json!({"content": ["{UserFillUp:Form@name}"]}),
            &[],
            None,
        )
        .text()
}

/// Begin, then a model, then a Message that says what the model does.
pub fn asker() -> Vec<u8> {
    let prompts = json!([{"role": "user", "content": "{sys.query}"}]);
    let params = json!({
        "sys_prompt": "Answer.",
        "prompts": prompts,
        "outputs": {"content": {"type": "string", "value": ""}},
    });
    Canvas::new(&["LLM:Model"])
        .node("LLM:Model", "LLM", params, &["Message:End"], None)
        .node(
            "Message:End",
            "Message",
            json!({"content": ["{LLM:Model@content}"]}),
            &[],
            None,
        )
        .text()
}

/// Begin, then a Message of about that many bytes that ends with what the user said. The text repeats nothing.
pub fn speaker(bytes: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let words = (0..bytes / 17).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        format!("{state:016x} ")
    });
    let said = words.collect::<String>() + "{sys.query}";
    Canvas::new(&["Message:End"])
        .node(
            "Message:End",
            "Message",
            json!({"content": [said]}),
            &[],
            None,
        )
        .text()
}

/// Begin, then `width` text nodes side by side, then a Message that joins them and says the first.
pub fn fan(width: usize) -> Vec<u8> {
    let name = |n: usize| format!("StringTransform:F{n}");
    let names: Vec<String> = (0..width).map(name).collect();
    let mut canvas = Canvas::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for name in &names {
        let params = merge("{sys.query}");
        canvas = canvas.node(name, "StringTransform", params, &["Message:End"], None);
    }
    let said = json!({"content": [format!("{{{}@result}}", name(0))]});
    canvas
        .node("Message:End", "Message", said, &[], None)
        .text()
}

/// An iteration over `items` items with a body of two text nodes, then a Message.
pub fn iteration(items: usize) -> Vec<u8> {
    let list: Vec<Json> = (0..items).map(|n| json!(format!("item {n}"))).collect();
    Canvas::new(&["Iteration:I"])
        .variable("env.items", Json::from(list))
        .node(
            "Iteration:I",
            "Iteration",
            json!({"items_ref": "env.items", "outputs": {"lines": {"ref": "StringTransform:B@result"}}}),
            &["Message:End"],
            None,
        )
        .node("IterationItem:It", "IterationItem", json!({}), &["StringTransform:A"], Some("Iteration:I"))
        .node("StringTransform:A", "StringTransform", merge("a {item}"), &["StringTransform:B"], Some("Iteration:I"))
        .node("StringTransform:B", "StringTransform", merge("b {StringTransform:A@result}"), &[], Some("Iteration:I"))
        .node("Message:End", "Message", json!({"content": ["done"]}), &[], None)
        .text()
}

/// The node of [`nested`] that reads.
pub const READER: &str = "StringTransform:Reader";

/// `reads` text nodes one after the other, then `depth` iterations, one inside the other, each with one pass; the
/// innermost node reads all the text nodes.
pub fn nested(depth: usize, reads: usize) -> Vec<u8> {
    let read = |n: usize| format!("StringTransform:R{n}");
    let inner = |level: usize| match level == depth {
        true => READER.to_owned(),
        false => format!("Iteration:I{level}"),
    };
    let mut canvas = Canvas::new(&[&read(0)]).variable("env.one", json!(["x"]));
    for n in 0..reads {
        let next = match n + 1 == reads {
            true => inner(0),
            false => read(n + 1),
        };
        let params = merge("{sys.query}");
        canvas = canvas.node(&read(n), "StringTransform", params, &[&next], None);
    }
    let mut parent = None;
    for level in 0..depth {
        let (id, params) = (inner(level), json!({"items_ref": "env.one"}));
        let item = format!("IterationItem:T{level}");
        let next = inner(level + 1);
        canvas = canvas
            .node(&id, "Iteration", params, &[], parent.as_deref())
            .node(&item, "IterationItem", json!({}), &[&next], Some(&id));
        parent = Some(id);
    }
    let script: String = (0..reads)
        .map(|n| format!("{{{}@result}}", read(n)))
        .collect();
    canvas
        .node(
            READER,
            "StringTransform",
            merge(&script),
            &[],
            parent.as_deref(),
        )
        .text()
}

/// `length` text nodes, the last of which leads back to the first unless a Switch says that it is enough.
pub fn circle(length: usize) -> Vec<u8> {
    circles_of(1, length)
}

/// `nodes` nodes in circles of five, one after the other.
pub fn circles(nodes: usize) -> Vec<u8> {
    circles_of(nodes / 5, 5)
}

fn circles_of(count: usize, length: usize) -> Vec<u8> {
    let name = |circle: usize, n: usize| match n + 1 == length {
        true => format!("S{circle}"),
        false => format!("T{circle}.{n}"),
    };
    let mut canvas = Canvas::new(&[&name(0, 0)]);
    for circle in 0..count {
        for n in 0..length - 1 {
            let next = name(circle, n + 1);
            let params = merge("{sys.query}");
            canvas = canvas.node(&name(circle, n), "StringTransform", params, &[&next], None);
        }
        let back = name(circle, 0);
        let onward = match circle + 1 == count {
            true => "Message:End".to_owned(),
            false => name(circle + 1, 0),
        };
        let enough = json!({
            "logical_operator": "and",
            "items": [{"cpn_id": "sys.query", "operator": "contains", "value": "enough"}],
            "to": [onward],
        });
        let params = json!({"conditions": [enough], "end_cpn_ids": [back]});
        canvas = canvas.node(
            &name(circle, length - 1),
            "Switch",
            params,
            &[&onward, &back],
            None,
        );
    }
    canvas
        .node(
            "Message:End",
            "Message",
            json!({"content": ["done"]}),
            &[],
            None,
        )
        .text()
}

/// A canvas of about that many bytes, as canvases with agents are: few nodes with long prompts that read one another.
pub fn agents(bytes: usize) -> Vec<u8> {
    const PROMPT: usize = 4_000;
    let count = bytes / (PROMPT + 500);
    let name = |n: usize| format!("Agent:Writer{n}");
    let mut canvas = Canvas::new(&[&name(0)]);
    for n in 0..count {
        let before = match n {
            0 => "{sys.query}".to_owned(),
            n => format!("{{{}@content}}", name(n - 1)),
        };
        let line = "Read what comes first, then write one paragraph about it in plain words.\n";
        let params = json!({
            "sys_prompt": line.repeat(PROMPT / line.len()),
            "prompts": [{"role": "user", "content": format!("{before} and {{sys.history}}")}],
            "outputs": {"content": {"type": "string", "value": ""}},
        });
        let next = match n + 1 == count {
            true => "Message:End".to_owned(),
            false => name(n + 1),
        };
        canvas = canvas.node(&name(n), "Agent", params, &[&next], None);
    }
    let said = json!({"content": [format!("{{{}@content}}", name(count - 1))]});
    canvas
        .node("Message:End", "Message", said, &[], None)
        .text()
}

/// What happens when an attempt succeeds at once with a short text: for measuring the machine alone.
pub fn completed(execute: &Execute) -> Event {
    let completed = Fact::Completed {
        activation: execute.activation,
        attempt: execute.attempt,
        completion: Completion {
            ports: Ports::one("result", "a short value"),
            ..Completion::default()
        },
    };
    Event::new(Timestamp(0), completed)
}
