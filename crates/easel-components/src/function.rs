//! Components that are functions: a node fills in their arguments, or an agent's model passes them. Both ways lead to
//! one [`Function`].

use std::sync::Arc;

use easel_catalog as catalog;
use easel_core::event::{Completion, Fault, Ports, Usage};
use easel_core::{Object, Value};
use easel_models::ToolSpec;
use easel_secrets::SinkKind;
use easel_tools::ToolError;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::behaviour::{Behaviour, Call, Component, Failure, Prepared, Run};
use crate::given::Given;
use crate::site::Site;
use crate::tool::{Tool, ToolAnswer, ToolSite};

/// A function with its settings, prepared.
pub(crate) trait Function: Send + Sync + 'static {
    /// Calls it. Arguments that nobody gave are absent or `null`.
    fn call<'a>(
        &'a self,
        arguments: Object,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Outcome, Trouble>>;
}

/// The text of an argument; blank if nobody gave it.
pub(crate) fn text(arguments: &Object, name: &str) -> String {
    let given = arguments.get(name);
    given.map(Value::to_string).unwrap_or_default()
}

/// What a function gives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// The ports of a node.
    pub ports: Ports,
    /// What a model is told.
    pub told: Arc<str>,
    /// What it found that answers may cite.
    pub references: Vec<Value>,
    /// Files it made.
    pub artifacts: Vec<Value>,
    /// What it used of models.
    pub usage: Usage,
}

/// Why a function gave nothing.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    /// The code of the fault.
    code: Arc<str>,
    /// The cause and the fix, for people.
    text: String,
    /// Whether the text names the place; else it is added.
    placed: bool,
    /// The cause for a model, if it is told in other words.
    told: Option<String>,
    nothing_sent: bool,
    usage: Usage,
}

impl Trouble {
    /// A cause, with its fix.
    pub(crate) fn new(code: &str, text: impl Into<String>) -> Trouble {
        Trouble {
            code: code.into(),
            text: text.into(),
            placed: false,
            told: None,
            nothing_sent: false,
            usage: Usage::default(),
        }
    }

    /// The same, said to a model in these words.
    pub(crate) fn told(self, told: &str) -> Trouble {
        Trouble {
            told: Some(told.to_owned()),
            ..self
        }
    }

    /// The same, certain to have left no trace outside.
    pub(crate) fn without_trace(self) -> Trouble {
        Trouble {
            nothing_sent: true,
            ..self
        }
    }

    /// The same, after a model was used.
    pub(crate) fn after(self, usage: Usage) -> Trouble {
        Trouble { usage, ..self }
    }

    pub(crate) fn into_failure(self, node: &str) -> Failure {
        let message = match self.placed {
            true => self.text,
            false => format!("\"{node}\" failed: {}.", self.text),
        };
        let fault = Fault {
            code: self.code,
            message: message.into(),
            nothing_sent: self.nothing_sent,
        };
        Failure {
            fault,
            usage: self.usage,
        }
    }
}

impl From<ToolError> for Trouble {
    fn from(error: ToolError) -> Trouble {
        Trouble {
            nothing_sent: error.certain_nothing_sent(),
            // A tool's own words say to a model what it needs to know.
            told: match &error {
                ToolError::Failed { message, .. } => Some(message.clone()),
                _ => None,
            },
            ..Trouble::new(error.code(), error.to_string())
        }
    }
}

impl From<Fault> for Trouble {
    /// A fault names its place already.
    fn from(fault: Fault) -> Trouble {
        Trouble {
            placed: true,
            nothing_sent: fault.nothing_sent,
            ..Trouble::new(&fault.code, &*fault.message)
        }
    }
}

/// Reads the settings of a function: the parameters that are no arguments.
pub(crate) type Make = fn(&Site<'_>, &catalog::Component) -> Result<Arc<dyn Function>, Fault>;

/// A component that is a function.
pub(crate) struct FunctionComponent {
    table: Arc<catalog::Component>,
    make: Make,
}

impl FunctionComponent {
    pub(crate) fn new(table: Arc<catalog::Component>, make: Make) -> FunctionComponent {
        FunctionComponent { table, make }
    }

    /// The arguments that stand in the file, each with where its value comes from.
    fn arguments(&self, site: &Site<'_>) -> impl Iterator<Item = (&catalog::Argument, Given)> {
        let arguments = self.table.tool.iter().flat_map(|tool| &tool.arguments);
        let in_file = arguments.filter(|argument| !argument.from_model_only);
        in_file.map(|argument| {
            let secrets = argument.to_param().secrets;
            (argument, site.given(&argument.name, secrets))
        })
    }
}

impl Component for FunctionComponent {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        let site = Site::of_node(node);
        let arguments = self.arguments(&site);
        let arguments = arguments.map(|(argument, given)| (argument.name.clone(), given));
        Ok(Arc::new(FunctionNode {
            arguments: arguments.collect(),
            function: (self.make)(&site, &self.table)?,
        }))
    }

    fn tool(&self, site: ToolSite<'_>) -> Option<Result<Arc<dyn Tool>, Fault>> {
        let tool = self.table.tool.as_ref()?;
        let site = Site::of_tool(&site);
        Some((self.make)(&site, &self.table).map(|function| {
            let mut bound = Vec::new();
            let mut defaults = Object::new();
            for (argument, given) in self.arguments(&site) {
                match given {
                    given if given.has_secret() => bound.push((argument.name.clone(), given)),
                    // What the file says of a required argument is for nodes; of others it is the default.
                    Given::Literal(value) if !argument.required && !value.is_null() => {
                        defaults.insert(argument.name.clone(), value);
                    }
                    _ => {}
                }
            }
            let hidden: Vec<&str> = bound.iter().map(|(name, _)| &**name).collect();
            let described = site.text("description").trim();
            let spec = ToolSpec {
                name: tool.function.clone(),
                description: match described.is_empty() {
                    true => tool.description.as_str().into(),
                    false => described.into(),
                },
                parameters: Value::from(tool.schema(&hidden)),
            };
            Arc::new(FunctionTool {
                spec,
                function,
                bound,
                defaults,
            }) as Arc<dyn Tool>
        }))
    }
}

/// A node that calls a function.
struct FunctionNode {
    function: Arc<dyn Function>,
    arguments: Vec<(Arc<str>, Given)>,
}

impl Behaviour for FunctionNode {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let door = call.door(SinkKind::Component, &call.node().draft.component);
        let arguments = self.arguments.iter();
        let arguments = arguments
            .map(|(name, given)| Ok((name.clone(), given.open(&call, &door)?.into_exposed())));
        let arguments: Object = match arguments.collect::<Result<_, Fault>>() {
            Ok(arguments) => arguments,
            Err(fault) => return Run::Done(Err(fault.into())),
        };
        Run::later(async move {
            let outcome = self.function.call(arguments, &call).await;
            let outcome =
                outcome.map_err(|trouble| trouble.into_failure(&call.node().draft.name))?;
            Ok(Completion {
                ports: outcome.ports,
                references: outcome.references,
                usage: outcome.usage,
                ..Completion::default()
            })
        })
    }
}

/// A function as an agent's tool.
struct FunctionTool {
    spec: ToolSpec,
    function: Arc<dyn Function>,
    /// Arguments that a secret goes into: the model is not offered them, and they win over what it sends.
    bound: Vec<(Arc<str>, Given)>,
    /// What is taken where the model passes nothing.
    defaults: Object,
}

impl Tool for FunctionTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call<'a>(&'a self, mut arguments: Object, call: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        async move {
            for (name, value) in &self.defaults {
                arguments
                    .entry(name.clone())
                    .or_insert_with(|| value.clone());
            }
            let door = call.door(SinkKind::Tool, &self.spec.name);
            for (name, given) in &self.bound {
                match given.open(call, &door) {
                    Ok(value) => arguments.insert(name.clone(), value.into_exposed()),
                    Err(fault) => return ToolAnswer::failure(&*fault.message),
                };
            }
            match self.function.call(arguments, call).await {
                Ok(outcome) => ToolAnswer {
                    text: outcome.told,
                    failed: false,
                    references: outcome.references,
                    artifacts: outcome.artifacts,
                    usage: outcome.usage,
                },
                Err(trouble) => ToolAnswer {
                    usage: trouble.usage,
                    ..ToolAnswer::failure(trouble.told.unwrap_or(trouble.text))
                },
            }
        }
        .boxed()
    }
}
