//! LLM: a model is asked, and its answer is given.

use std::sync::Arc;

use easel_catalog as catalog;
use easel_core::event::{Completion, Fault, Ports};
use easel_core::workflow::{Node, Workflow};

use super::ask::{Ask, Asker, Outlet, cut_off, whole_text};
use super::prompt::{Composed, Prompt};
use super::settings::Settings;
use super::structured::Schema;
use crate::behaviour::{Behaviour, Call, Component, Failure, Prepared, Run};
use crate::site::Site;

/// The component.
pub(crate) struct Llm {
    pub(crate) table: Arc<catalog::Component>,
}

impl Component for Llm {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        Ok(Arc::new(LlmNode {
            chat: Chat::read(&Site::of_node(node))?,
            streams: streams(node.workflow, node.node),
        }))
    }
}

/// A model with what it is told: all of an LLM, and of an agent all but its tools.
pub(crate) struct Chat {
    /// The model.
    pub settings: Settings,
    /// What it is told.
    pub prompt: Prompt,
    /// The shape its answer must have, if one is asked for.
    pub schema: Option<Schema>,
    /// The id that requests carry.
    pub caller: Arc<str>,
}

impl Chat {
    pub(crate) fn read(site: &Site<'_>) -> Result<Chat, Fault> {
        Ok(Chat {
            settings: Settings::read(site)?,
            prompt: Prompt::read(site)?,
            schema: Schema::read(site),
            caller: site.path.into(),
        })
    }

    /// Asks once and gives the ports; shows the answer while it comes in if `streams`.
    pub(crate) async fn answer(
        &self,
        asker: &mut Asker<'_>,
        composed: Composed,
        streams: bool,
    ) -> Result<Ports, Fault> {
        if let Some(schema) = &self.schema {
            return self.structured(asker, composed, schema).await;
        }
        let ask = Ask {
            messages: composed.messages,
            ..Ask::default()
        };
        let content = match streams {
            false => whole_text(&asker.ask(ask, None).await?),
            true => {
                let execute = &asker.call.execute;
                let mut outlet = Outlet::new(asker.call.run.wire.open(execute.activation));
                let reply = asker.ask(ask, Some(&mut outlet)).await?;
                if let Some(notice) = cut_off(&reply) {
                    outlet.text(notice);
                }
                outlet.finish()
            }
        };
        Ok(Ports::one("content", content))
    }

    async fn structured(
        &self,
        asker: &mut Asker<'_>,
        mut composed: Composed,
        schema: &Schema,
    ) -> Result<Ports, Fault> {
        let format = asker.info()?.json_schema.then(|| schema.format());
        if format.is_none() {
            composed.instruct(&schema.instruction());
        }
        let ask = Ask {
            messages: composed.messages.clone(),
            format: format.clone(),
            ..Ask::default()
        };
        let reply = asker.ask(ask, None).await?;
        let value = schema
            .object_of_reply(asker, composed.messages, reply, format)
            .await?;
        Ok(Ports::one("structured", value))
    }
}

struct LlmNode {
    chat: Chat,
    streams: bool,
}

impl Behaviour for LlmNode {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move {
            let mut asker = Asker::new(&call, &self.chat.caller, &self.chat.settings);
            let answer = match self.chat.prompt.compose(&asker, None) {
                Ok(composed) => self.chat.answer(&mut asker, composed, self.streams).await,
                Err(fault) => Err(fault),
            };
            done(&asker, answer)
        })
    }
}

/// The end of an attempt, with what it used.
pub(crate) fn done(asker: &Asker<'_>, ports: Result<Ports, Fault>) -> Result<Completion, Failure> {
    match ports {
        Ok(ports) => Ok(Completion {
            ports,
            usage: asker.usage(),
            ..Completion::default()
        }),
        Err(fault) => Err(asker.failure(fault)),
    }
}

/// True if a node shows its answer while it comes in: some node right behind it drains streams, and no failure of it
/// leads elsewhere (spec/canvas-engine §3.7). An answer with a shape is not shown; that is the caller's to know.
pub(crate) fn streams(workflow: &Workflow, node: &Node) -> bool {
    let drains = |id: &Arc<str>| {
        let target = workflow.find(id);
        target.is_some_and(|target| workflow.node(target).draft.drains)
    };
    node.draft.on_error.is_empty() && node.draft.downstream.iter().any(drains)
}
