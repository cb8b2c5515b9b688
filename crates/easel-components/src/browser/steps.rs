//! The tools with which a model works in a page.

use std::sync::{Arc, Mutex, PoisonError};

use easel_core::{Object, Value};
use easel_models::ToolSpec;
use easel_tools::ToolError;
use easel_tools::browser::{BrowserPage, BrowserStep, Downloads};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};

use super::object;
use crate::behaviour::Call;
use crate::tool::{Tool, ToolAnswer};

/// A page, and what has come of the work in it. Cloning shares it.
#[derive(Clone)]
pub(super) struct Desk(Arc<Shared>);

struct Shared {
    /// One step at a time, in the order of the calls. `None` once it is closed.
    page: futures::lock::Mutex<Option<Box<dyn BrowserPage>>>,
    ended: Mutex<Ended>,
}

#[derive(Default)]
struct Ended {
    answer: Option<String>,
    /// Why there is no page any more.
    broken: Option<ToolError>,
}

/// A tool: its name, what it does, and what it takes.
struct Kind {
    name: &'static str,
    does: &'static str,
    takes: fn() -> Json,
    step: fn(&Object) -> Option<BrowserStep>,
}

const KINDS: [Kind; 6] = [
    Kind {
        name: "go",
        does: "Goes to an address.",
        takes: || json!({"address": {"type": "string", "description": "The address, such as https://example.com/."}}),
        step: |given| {
            Some(BrowserStep::Go {
                address: text(given, "address"),
            })
        },
    },
    Kind {
        name: "back",
        does: "Goes back to the page before.",
        takes: || json!({}),
        step: |_| Some(BrowserStep::Back),
    },
    Kind {
        name: "click",
        does: "Clicks something on the page.",
        takes: || json!({"element": element()}),
        step: |given| {
            Some(BrowserStep::Click {
                element: number(given, "element")?,
            })
        },
    },
    Kind {
        name: "type",
        does: "Fills in a field, in place of what stands there, or takes one of the options of a choice.",
        takes: || {
            json!({"element": element(), "text": {"type": "string", "description": "What is filled in."},
                   "enter": {"type": "boolean", "description": "Whether Enter is pressed then, which sends most forms."}})
        },
        step: |given| {
            Some(BrowserStep::Type {
                element: number(given, "element")?,
                text: text(given, "text"),
                enter: given.get("enter").is_some_and(Value::is_truthy),
            })
        },
    },
    Kind {
        name: "read",
        does: "Reads the page again, or more of a long one.",
        takes: || json!({"from": {"type": "integer", "description": "From which character on; 0 for the beginning."}}),
        step: |given| {
            let from = given.get("from").and_then(Value::as_i64).unwrap_or(0);
            Some(BrowserStep::Read {
                from: usize::try_from(from).unwrap_or(0),
            })
        },
    },
    Kind {
        name: "upload",
        does: "Chooses a file for a field that takes files.",
        takes: || json!({"element": element(), "file": {"type": "string", "description": "The name of the file."}}),
        step: |given| {
            Some(BrowserStep::Upload {
                element: number(given, "element")?,
                file: text(given, "file"),
            })
        },
    },
];

/// What need not be given.
const OPTIONAL: [&str; 2] = ["enter", "from"];

fn element() -> Json {
    json!({"type": "integer", "description": "Its number, as it stands in brackets."})
}

fn text(given: &Object, name: &str) -> String {
    crate::function::text(given, name)
}

fn number(given: &Object, name: &str) -> Option<u32> {
    u32::try_from(given.get(name)?.as_i64()?).ok()
}

/// What a model is offered under a name.
fn spec(name: &str, does: &str, takes: Json) -> ToolSpec {
    let names = takes
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str());
    let required: Vec<&str> = names.filter(|name| !OPTIONAL.contains(name)).collect();
    ToolSpec {
        name: name.into(),
        description: does.into(),
        parameters: object(json!({"type": "object", "properties": takes, "required": required})),
    }
}

impl Desk {
    pub(super) fn new(page: Box<dyn BrowserPage>) -> Desk {
        Desk(Arc::new(Shared {
            page: futures::lock::Mutex::new(Some(page)),
            ended: Mutex::default(),
        }))
    }

    /// The tools, those for uploads only if there are files.
    pub(super) fn tools(&self, uploads: bool) -> Vec<(Arc<dyn Tool>, Option<f64>)> {
        let kinds = KINDS.iter().filter(|kind| uploads || kind.name != "upload");
        let step = |kind| {
            let tool: Arc<dyn Tool> = Arc::new(StepTool {
                kind,
                desk: self.clone(),
            });
            (tool, None)
        };
        let mut tools: Vec<_> = kinds.map(step).collect();
        tools.push((Arc::new(Done(self.clone())), None));
        tools
    }

    /// What the model answered in the end, if it has.
    pub(super) fn answer(&self) -> Option<String> {
        self.ended().answer.clone()
    }

    /// Why there is no page any more.
    pub(super) fn broken(&self) -> Option<ToolError> {
        self.ended().broken.clone()
    }

    /// Ends the browser; `None` if it is ended already.
    pub(super) async fn close(&self) -> Option<Result<Downloads, ToolError>> {
        let page = self.0.page.lock().await.take()?;
        match self.broken() {
            // It is gone: there is nothing to be asked of it.
            Some(_) => None,
            None => Some(page.close().await),
        }
    }

    fn ended(&self) -> std::sync::MutexGuard<'_, Ended> {
        self.0.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn step(&self, step: BrowserStep) -> ToolAnswer {
        let mut page = self.0.page.lock().await;
        let Some(page) = page.as_mut().filter(|_| self.broken().is_none()) else {
            return ToolAnswer::failure("There is no page any more.");
        };
        match page.step(step).await {
            Ok(seen) => ToolAnswer {
                text: seen.into(),
                ..ToolAnswer::default()
            },
            Err(error @ (ToolError::Failed { .. } | ToolError::Blocked(_))) => {
                ToolAnswer::failure(format!("That did not work: {error}."))
            }
            Err(error) => {
                let told = ToolAnswer::failure(format!("The browser is gone: {error}."));
                self.ended().broken = Some(error);
                told
            }
        }
    }
}

struct StepTool {
    kind: &'static Kind,
    desk: Desk,
}

impl Tool for StepTool {
    fn spec(&self) -> ToolSpec {
        spec(self.kind.name, self.kind.does, (self.kind.takes)())
    }

    fn call<'a>(&'a self, arguments: Object, _: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        async move {
            match (self.kind.step)(&arguments) {
                Some(step) => self.desk.step(step).await,
                None => {
                    ToolAnswer::failure("`element` is the number of something on the page, from 1.")
                }
            }
        }
        .boxed()
    }
}

/// Ends the work with an answer.
struct Done(Desk);

impl Tool for Done {
    fn spec(&self) -> ToolSpec {
        let takes =
            json!({"answer": {"type": "string", "description": "The whole answer for the user."}});
        spec(
            "done",
            "Ends the work, when the task is done or cannot be done.",
            takes,
        )
    }

    fn call<'a>(&'a self, arguments: Object, _: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        async move {
            // After the steps that were asked for before it.
            drop(self.0.0.page.lock().await);
            self.0
                .ended()
                .answer
                .get_or_insert(text(&arguments, "answer"));
            ToolAnswer {
                text: "Done.".into(),
                ..ToolAnswer::default()
            }
        }
        .boxed()
    }
}
