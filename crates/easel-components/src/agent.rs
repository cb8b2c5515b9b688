//! Agent: a model that may call tools, other agents among them, before it answers (spec/canvas-components §3.2).

mod arguments;
mod question;
pub(crate) mod rounds;
pub(crate) mod toolbox;

use std::sync::Arc;

use easel_catalog as catalog;
use easel_core::event::{Completion, Fault, Ports};
use easel_core::{Object, Value};
use easel_models::ToolSpec;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::behaviour::{Behaviour, Call, Component, Prepared, Run};
use crate::chat::ask::{Asker, Outlet, cut_off, whole_text};
use crate::chat::llm::{Chat, done, streams};
use crate::chat::prompt::Composed;
use crate::site::Site;
use crate::tool::{Tool, ToolAnswer, ToolSite};
use rounds::{Haul, Rounds, links};
use toolbox::Toolbox;

/// Agents inside agents that are allowed.
const DEEPEST: u32 = 8;

/// Rounds of tool calls where the node does not say.
const ROUNDS: u32 = 5;

/// The component.
pub(crate) struct AgentComponent {
    pub(crate) table: Arc<catalog::Component>,
}

impl Component for AgentComponent {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        let name = &node.node.draft.name;
        Ok(Arc::new(AgentNode {
            agent: Agent::read(&Site::of_node(node), 0, name)?,
            streams: streams(node.workflow, node.node),
        }))
    }

    fn tool(&self, site: ToolSite<'_>) -> Option<Result<Arc<dyn Tool>, Fault>> {
        let table = self.table.tool.as_ref()?;
        Some(nested(table, &site))
    }
}

/// An agent as a tool of the one around it.
fn nested(table: &catalog::Tool, tool_site: &ToolSite<'_>) -> Result<Arc<dyn Tool>, Fault> {
    let site = Site::of_tool(tool_site);
    if tool_site.depth > DEEPEST {
        return Err(site.wrong(
            "tools",
            &format!("has agents in agents more than {DEEPEST} deep"),
            "Take some out",
        ));
    }
    let function = match tool_site.name {
        Some(name) => name.replace(' ', "_").into(),
        None => table.function.clone(),
    };
    let described = site.text("description").trim();
    let owner = &site.owner.node.draft.name;
    let inner = site.path.split_once("-->").map_or("", |(_, inner)| inner);
    let agent = Agent::read(&site, tool_site.depth, &format!("{owner}-->{inner}"))?;
    Ok(Arc::new(AgentTool {
        spec: ToolSpec {
            name: function,
            description: match described.is_empty() {
                true => table.description.as_str().into(),
                false => described.into(),
            },
            parameters: Value::from(table.schema(&[])),
        },
        agent,
    }))
}

/// A model and its tools.
struct Agent {
    chat: Chat,
    toolbox: Toolbox,
    rounds: u32,
    /// Names of the agents around it and its own, for the record of tool calls.
    trail: Arc<str>,
}

/// What an agent ends with.
struct Ended {
    ports: Ports,
    haul: Haul,
}

impl Agent {
    fn read(site: &Site<'_>, depth: u32, trail: &str) -> Result<Agent, Fault> {
        Ok(Agent {
            chat: Chat::read(site)?,
            toolbox: Toolbox::read(site, depth + 1)?,
            rounds: site.count("max_rounds")?.unwrap_or(ROUNDS),
            trail: trail.into(),
        })
    }

    /// Makes one attempt. `order` takes the place of the agent's own messages.
    async fn answer(
        &self,
        asker: &mut Asker<'_>,
        order: Option<String>,
        streams: bool,
    ) -> Result<Ended, Fault> {
        for text in &self.toolbox.left_out {
            asker.call.warn(text.clone());
        }
        let mut composed = self.chat.prompt.compose(asker, order)?;
        let model = asker.info()?;
        if self.toolbox.is_empty() || !model.tools {
            if !self.toolbox.is_empty() {
                asker
                    .call
                    .warn("The model calls no tools, so it was asked without them.");
            }
            let ports = self.chat.answer(asker, composed, streams).await?;
            let haul = Haul::default();
            return Ok(Ended { ports, haul });
        }
        let rounds = Rounds {
            toolbox: &self.toolbox,
            most: self.rounds,
            trail: &self.trail,
            window: model.context_window,
        };
        let mut haul = Haul::default();
        let ports = match &self.chat.schema {
            Some(schema) => {
                composed.instruct(&schema.instruction());
                let reply = rounds.run(asker, &mut composed, &mut haul, None).await?;
                let format = model.json_schema.then(|| schema.format());
                let messages = composed.messages;
                let value = schema
                    .object_of_reply(asker, messages, reply, format)
                    .await?;
                Ports::one("structured", value)
            }
            None if streams => Ports::one(
                "content",
                self.stream(asker, composed, &rounds, &mut haul).await?,
            ),
            None => {
                let reply = rounds.run(asker, &mut composed, &mut haul, None).await?;
                let mut content = whole_text(&reply);
                content.extend(links(&haul.artifacts, &content));
                Ports::one("content", content)
            }
        };
        Ok(Ended { ports, haul })
    }

    /// Shows the answer, and what is done for it, while it comes in.
    async fn stream(
        &self,
        asker: &mut Asker<'_>,
        mut composed: Composed,
        rounds: &Rounds<'_>,
        haul: &mut Haul,
    ) -> Result<String, Fault> {
        question::stand_alone(asker, &mut composed.messages).await;
        let activation = asker.call.execute.activation;
        let mut outlet = Outlet::new(asker.call.run.wire.open(activation));
        let reply = rounds
            .run(asker, &mut composed, haul, Some(&mut outlet))
            .await?;
        if let Some(notice) = cut_off(&reply) {
            outlet.text(notice);
        }
        if let Some(links) = links(&haul.artifacts, &reply.text) {
            outlet.text(&links);
        }
        Ok(outlet.finish())
    }
}

struct AgentNode {
    agent: Agent,
    streams: bool,
}

impl Behaviour for AgentNode {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move {
            let agent = &self.agent;
            let mut asker = Asker::new(&call, &agent.chat.caller, &agent.chat.settings);
            match agent.answer(&mut asker, None, self.streams).await {
                Ok(ended) => Ok(Completion {
                    references: ended.haul.references,
                    ..done(&asker, Ok(ended.ports))?
                }),
                Err(fault) => Err(asker.failure(fault)),
            }
        })
    }
}

/// An agent that another one calls.
struct AgentTool {
    spec: ToolSpec,
    agent: Agent,
}

impl Tool for AgentTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call<'a>(&'a self, arguments: Object, call: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        async move {
            let chat = &self.agent.chat;
            let mut asker = Asker::new(call, &chat.caller, &chat.settings);
            let answer = self
                .agent
                .answer(&mut asker, Some(order(&arguments)), false)
                .await;
            let usage = asker.usage();
            match answer {
                Err(fault) => ToolAnswer {
                    usage,
                    ..ToolAnswer::failure(fault.message)
                },
                Ok(Ended { ports, haul }) => ToolAnswer {
                    text: told(&ports),
                    failed: false,
                    references: haul.references,
                    artifacts: haul.artifacts,
                    usage,
                },
            }
        }
        .boxed()
    }
}

/// What an agent around it wants, as the message it is asked with.
fn order(arguments: &Object) -> String {
    let text = |name: &str| {
        let text = arguments.get(name).and_then(Value::as_str);
        text.filter(|text| !text.trim().is_empty())
    };
    let task = text("user_prompt").unwrap_or_default();
    let mut order = String::new();
    for (heading, name) in [("REASONING", "reasoning"), ("CONTEXT", "context")] {
        if let Some(text) = text(name) {
            order.push_str(&format!("\n{heading}:\n{text}\n"));
        }
    }
    match order.is_empty() {
        true => task.to_owned(),
        false => format!("{order}\nQUERY:\n{task}\n"),
    }
}

/// What the agent around it is told.
fn told(ports: &Ports) -> Arc<str> {
    match (ports.get("content"), ports.get("structured")) {
        (Some(Value::String(content)), _) => content.clone(),
        (_, Some(structured)) => structured.to_json_text().into(),
        (content, None) => content.map(Value::to_string).unwrap_or_default().into(),
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
