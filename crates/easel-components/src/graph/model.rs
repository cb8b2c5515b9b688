//! Base and react: a model that answers, with tools for one round or until it is done (spec/graph-engine §7.1, §7.2).

use std::sync::Arc;

use easel_core::Value;
use easel_core::event::{Completion, Fault};
use easel_models::{ChatReply, Message};
use futures::future::try_join_all;

use super::arguments::Arguments;
use super::asking::{said, settings};
use super::gives;
use super::prompt::{Prompt, STEP};
use super::submit::Shape;
use super::tools::{self, Bound, Wanted};
use crate::agent::rounds::{self, Haul};
use crate::agent::toolbox::Toolbox;
use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::chat::ask::{Ask, Asker};
use crate::chat::fit;
use crate::chat::settings::Settings;
use crate::site::{SETTINGS, Site};

/// Rounds of tool calls that `react` may make.
const ROUNDS: usize = 50;
/// The tool that no node has and some models call when they are done, with their report.
const FINISH: &str = "finish";

pub(super) const SHAPES: &str = "You bring a finished answer into a given shape. Use only what the answer says: add nothing, leave \
nothing out that the shape asks for, and where the answer is silent take null or an empty list.";

/// How often a model may use its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// For one round: then it has to answer.
    Once,
    /// Until it has an answer.
    UntilDone,
}

struct Model {
    style: Style,
    settings: Settings,
    prompt: Prompt,
    tools: Vec<Wanted>,
    arguments: Arguments,
    /// Settings of its tools, which the tools read by themselves.
    tool_settings: Arguments,
    shape: Option<Shape>,
}

pub(super) fn prepare(node: Prepared<'_>, style: Style) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let shown = &node.node.draft.name;
    let tools = site.texts("tools");
    let tools = tools.iter().map(|name| tools::find(node, name));
    let tools = tools.collect::<Result<Vec<_>, _>>()?;
    if style == Style::UntilDone && tools.is_empty() {
        let message = format!(
            "\"{shown}\" is of the kind react and has no tools. Give it `tools`, or make it base."
        );
        return Err(Fault::new("no_tools", message));
    }
    let shape = match site.get("schema") {
        None => None,
        Some(schema) => Some(Shape::read(schema).map_err(|why| {
            let message =
                format!("\"{shown}\" cannot run: its output_schema cannot be used: {why}.");
            Fault::new("bad_schema", message)
        })?),
    };
    Ok(Arc::new(Model {
        style,
        settings: settings(node)?,
        prompt: Prompt::read(node),
        tools,
        arguments: Arguments::read(node, "tool_args"),
        tool_settings: Arguments::read(node, SETTINGS),
        shape,
    }))
}

impl Behaviour for Model {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move {
            let id = call.node().draft.id.clone();
            let mut asker = Asker::new(&call, &id, &self.settings);
            let mut haul = Haul::default();
            match self.answer(&mut asker, &mut haul).await {
                Ok((value, called)) => {
                    let called = Some(called).filter(|called| !called.is_empty());
                    let called = called.map(|called| ("tool_calls", Value::from(called)));
                    Ok(Completion {
                        ports: gives(value, called),
                        references: haul.references,
                        usage: asker.usage(),
                        ..Completion::default()
                    })
                }
                Err(fault) => Err(asker.failure(fault)),
            }
        })
    }
}

impl Model {
    /// The answer, and the names of the tools that were called for it.
    async fn answer(
        &self,
        asker: &mut Asker<'_>,
        haul: &mut Haul,
    ) -> Result<(Value, Vec<Value>), Fault> {
        let bound = self.arguments.render(asker.call)?;
        self.tool_settings.render(asker.call)?;
        let mut messages = vec![
            Message::system(STEP),
            Message::user(self.prompt.message(asker.call)),
        ];
        if let (Style::Once, Some(shape)) = (self.style, &self.shape) {
            return Ok((shape.ask(asker, messages).await?, Vec::new()));
        }
        let found = self.tools.iter().map(|wanted| wanted.found(asker.call));
        let tools = try_join_all(found).await?.into_iter().map(|named| {
            let limit_s = named.limit_s;
            let tool: Arc<dyn crate::tool::Tool> = Arc::new(Bound::new(named, &bound));
            (tool, limit_s)
        });
        let toolbox = Toolbox::of(tools);
        let mut called = Vec::new();
        let most = match self.style {
            Style::Once => 1,
            Style::UntilDone => ROUNDS,
        };
        let window = asker.info()?.context_window;
        let mut rounds = 0;
        let text = loop {
            let ask = Ask {
                messages: messages.clone(),
                tools: toolbox.specs(),
                ..Ask::default()
            };
            let reply = asker.ask(ask, None).await?;
            if let Some(report) = self.report(&reply) {
                break report;
            }
            if reply.tool_calls.is_empty() || toolbox.is_empty() {
                break said(&reply);
            }
            if rounds == most {
                break self.cut_short(asker, &reply)?;
            }
            rounds += 1;
            let calls = reply.tool_calls.clone();
            called.extend(calls.iter().map(|call| Value::from(call.name.clone())));
            messages.push(rounds::as_said(reply));
            let trail = asker.call.node().draft.id.clone();
            rounds::make(&toolbox, &trail, asker, &calls, &mut messages, haul).await;
            fit::tool_answers(&mut messages, window);
        };
        if self.style == Style::UntilDone && text.trim().is_empty() {
            return Err(asker.trouble("no_answer", "got only blank answers from its model."));
        }
        let value = match &self.shape {
            None => Value::from(text),
            Some(shape) => {
                let answer = format!("The finished answer:\n{text}");
                let messages = vec![Message::system(SHAPES), Message::user(answer)];
                shape.ask(asker, messages).await?
            }
        };
        Ok((value, called))
    }

    /// The report of a model that calls `finish`, which is no tool of the node.
    fn report(&self, reply: &ChatReply) -> Option<String> {
        let has_one = self.tools.iter().any(|wanted| **wanted.name() == *FINISH);
        let call = reply
            .tool_calls
            .iter()
            .find(|call| *call.name == *FINISH && !has_one)?;
        let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
        let texts = ["summary", "report", "answer", "result"];
        let report = texts.iter().find_map(|name| arguments.get(name)?.as_str());
        let report = report.filter(|report| !report.trim().is_empty());
        Some(report.map_or_else(|| said(reply), str::to_owned))
    }

    /// What is made of a model that still wants tools when it has to answer: what it said, if it said something.
    fn cut_short(&self, asker: &Asker<'_>, reply: &ChatReply) -> Result<String, Fault> {
        if !reply.text.trim().is_empty() {
            return Ok(reply.text.clone());
        }
        let names: Vec<&str> = reply.tool_calls.iter().map(|call| &*call.name).collect();
        let names = names.join(", ");
        let cause = match self.style {
            Style::Once => format!(
                "may use its tools for one round, and its model wants another ({names}) before it answers. Make it `kind: react`, which goes on until there is an answer."
            ),
            Style::UntilDone => format!(
                "made {ROUNDS} rounds of tool calls, the most, and its model wants another ({names}). Split the task, or ask for less."
            ),
        };
        Err(asker.trouble("too_many_rounds", &cause))
    }
}
