//! The engine: everything runs share.

use std::path::Path;
use std::sync::Arc;

use easel_components::{Around, Component, Registry, Services, Tool, ToolComponent};
use easel_graph::package::{Package, PackageError};
use easel_models::{ChatModel, ModelError};
use easel_secrets::{Gate, Resolver, Secret, SecretError};
use easel_tools::World;

use crate::bounds::{Bounds, Places};
use crate::breaker::{Breaker, BreakerSettings, BreakingModel};
use crate::clock::{Clock, SystemClock};
use crate::gated::GatedModel;
use crate::journal::{Journal, MemoryJournal};
use crate::python::PackageCode;
use crate::session::Session;
use crate::workflow::{LoadError, Workflow};

/// What runs share: components, models, tools, journal, clock.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use easel_runtime::Engine;
/// let engine = Engine::builder().build()?;
/// # Ok(()) }
/// ```
pub struct Engine {
    pub(crate) registry: Registry,
    pub(crate) services: Arc<Services>,
    pub(crate) secrets: Resolver,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: RunLimits,
    pub(crate) places: Places,
    breaker: Option<Arc<Breaker>>,
    pub(crate) timed: bool,
    #[cfg(feature = "python")]
    pub(crate) sandbox: Option<easel_sandbox::Sandbox>,
    pub(crate) ids: Arc<dyn Fn() -> (Arc<str>, u64) + Send + Sync>,
}

/// What bounds one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Attempts under way at once; with 1, nodes start in the order of the file.
    pub concurrency: u32,
    /// Node runs after which a run fails.
    pub node_runs: u64,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits {
            concurrency: 16,
            node_runs: 10_000,
        }
    }
}

impl Engine {
    /// An engine in the making.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Loads a canvas with this engine's components.
    ///
    /// # Errors
    /// The bytes are no canvas.
    pub fn load(&self, bytes: &[u8]) -> Result<Workflow, LoadError> {
        Workflow::load_with(bytes, &self.registry)
    }

    /// Loads a workflow from where it lies, with this engine's components: a canvas (`.json`), a graph (`.yaml`, `.yml`, or
    /// JSON) with the Python beside it, or a package as a folder or an archive (`.zip`). Nothing of it is run.
    ///
    /// # Errors
    /// It cannot be read, or is none of these.
    pub fn open(&self, path: &Path) -> Result<Workflow, LoadError> {
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        let suffix = suffix.map(str::to_lowercase);
        let packed = path.is_dir() || matches!(suffix.as_deref(), Some("yaml" | "yml" | "zip"));
        if !packed {
            let bytes = std::fs::read(path).map_err(|error| PackageError::Io {
                path: path.to_owned(),
                error,
            })?;
            if crate::graph::format_of(&bytes).is_none() {
                return self.load(&bytes);
            }
        }
        Ok(self.package(&Package::open(path)?))
    }

    /// Loads the graph of a package with its Python.
    pub fn package(&self, package: &Package) -> Workflow {
        let code = PackageCode::read(
            package,
            #[cfg(feature = "python")]
            self.sandbox.clone(),
        );
        Workflow::from_graph(
            package.document.clone(),
            Some(Arc::new(code)),
            &self.registry,
        )
    }

    /// Everything the check says about a workflow where it would run: with this engine's models and secrets.
    pub fn check(&self, workflow: &Workflow) -> Vec<easel_check::Diagnostic> {
        let models = &self.services.models;
        let secrets = &self.secrets;
        workflow.check(&easel_check::Surroundings {
            model: &|id| match models.describe(id) {
                Ok(_) => None,
                // Where there are no models at all, which one is asked for does not matter.
                Err(ModelError::UnknownModel { configured, .. }) if configured.is_empty() => None,
                Err(error) => Some(error.to_string()),
            },
            secret: &|name| matches!(secrets.find(name), Ok(Some(_))),
        })
    }

    /// This engine's components.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Tools that touch the world.
    pub fn world(&self) -> &World {
        &self.services.world
    }

    /// What the Python of graphs may run in.
    pub fn python_allowed(&self) -> easel_sandbox::Allowed {
        #[cfg(feature = "python")]
        if let Some(sandbox) = &self.sandbox {
            return sandbox.settings().allowed.clone();
        }
        easel_sandbox::Allowed::MontyOnly
    }

    /// The circuits that are open: `host:…`, `tool:…` and `provider:…` that failed again and again and are left alone.
    pub fn open_circuits(&self) -> Vec<Arc<str>> {
        let breaker = self.breaker.as_ref();
        breaker.map(|breaker| breaker.open()).unwrap_or_default()
    }

    /// Where secret values live.
    pub fn secrets(&self) -> &Resolver {
        &self.secrets
    }

    /// The gate of a run that begins: it knows every secret that the workflow names or holds, and those that the run
    /// `before` it in the same conversation knew, so that what users and tools bring along is masked from the beginning.
    ///
    /// # Errors
    /// There are too many secrets to be masked.
    pub(crate) fn gate(
        &self,
        run: Arc<str>,
        workflow: &Workflow,
        before: Option<&Gate>,
    ) -> Result<Gate, SecretError> {
        let gate = Gate::new(run, self.secrets.clone());
        let uses = workflow.secrets();
        let written_out = uses.written_out();
        let mut known = before.map(Gate::known).unwrap_or_default();
        known.extend(written_out.map(|found| (found.place(), Secret::new(&*found.value))));
        gate.know(known)?;
        gate.declare(uses.asked().map(|asked| &*asked.name))?;
        Ok(gate)
    }

    /// What one run has of the world outside: everything, with models behind its gate.
    pub(crate) fn services(&self, gate: &Gate) -> Arc<Services> {
        let models = GatedModel {
            model: self.services.models.clone(),
            gate: gate.clone(),
            clock: self.clock.clone(),
        };
        Arc::new(Services {
            models: Arc::new(models),
            ..(*self.services).clone()
        })
    }

    /// A new conversation with a workflow.
    pub fn session(self: &Arc<Self>, workflow: &Arc<Workflow>) -> Session {
        Session::new(self.clone(), workflow.clone())
    }
}

/// An engine in the making. What is not set is what comes with Easel, without a model or a tool that reaches outside.
#[derive(Default)]
pub struct Builder {
    components: Vec<Arc<dyn Component>>,
    around: Option<Around>,
    model: Option<Arc<dyn ChatModel>>,
    world: Option<World>,
    secrets: Option<Resolver>,
    journal: Option<Arc<dyn Journal>>,
    clock: Option<Arc<dyn Clock>>,
    limits: RunLimits,
    bounds: Bounds,
    breaker: Option<BreakerSettings>,
    timed: bool,
    seed: Option<u64>,
    #[cfg(feature = "python")]
    sandbox: Option<easel_sandbox::Sandbox>,
}

impl Builder {
    /// Where models are found.
    pub fn model(mut self, model: Arc<dyn ChatModel>) -> Builder {
        self.model = Some(model);
        self
    }

    /// Tools that touch the world.
    pub fn world(mut self, world: World) -> Builder {
        self.world = Some(world);
        self
    }

    /// Where secret values live; the environment if not set.
    pub fn secrets(mut self, secrets: impl Into<Resolver>) -> Builder {
        self.secrets = Some(secrets.into());
        self
    }

    /// Where the Python of graphs runs; without it a function node fails.
    #[cfg(feature = "python")]
    pub fn sandbox(mut self, sandbox: easel_sandbox::Sandbox) -> Builder {
        self.sandbox = Some(sandbox);
        self
    }

    /// Adds a component of one's own.
    pub fn component(mut self, component: Arc<dyn Component>) -> Builder {
        self.components.push(component);
        self
    }

    /// Puts something around the behaviour of every node: to watch attempts, to count them, to answer in their place.
    pub fn around(mut self, around: Around) -> Builder {
        self.around = Some(around);
        self
    }

    /// Adds a tool of one's own, which agents list by the name in its spec.
    pub fn tool(self, tool: Arc<dyn Tool>) -> Builder {
        self.component(Arc::new(ToolComponent::new(tool)))
    }

    /// Where events are kept; in memory if not set.
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Builder {
        self.journal = Some(journal);
        self
    }

    /// Where time comes from.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Builder {
        self.clock = Some(clock);
        self
    }

    /// What bounds a run.
    pub fn limits(mut self, limits: RunLimits) -> Builder {
        self.limits = limits;
        self
    }

    /// What bounds each kind of work over all runs.
    pub fn bounds(mut self, bounds: Bounds) -> Builder {
        self.bounds = bounds;
        self
    }

    /// Leaves services alone for a while that fail again and again: hosts, tools and providers of models. Without it each call
    /// is made.
    pub fn breaker(mut self, breaker: Option<BreakerSettings>) -> Builder {
        self.breaker = breaker;
        self
    }

    /// Keeps account of where the time goes: see [`Session::timings`]. Costs a little time itself.
    pub fn timed(mut self) -> Builder {
        self.timed = true;
        self
    }

    /// Makes run ids and random choices the same each time: for tests.
    pub fn seed(mut self, seed: u64) -> Builder {
        self.seed = Some(seed);
        self
    }

    /// The engine.
    ///
    /// # Errors
    /// A component's table contradicts itself or takes another's name.
    pub fn build(self) -> Result<Arc<Engine>, easel_catalog::Rejected> {
        let mut registry = crate::builtin();
        for component in self.components {
            registry.add(component)?;
        }
        if let Some(around) = self.around {
            registry.put_around(around);
        }
        let world = self.world.unwrap_or_else(World::none);
        if !world.mcp.servers().is_empty() {
            registry.expect_tools_elsewhere();
        }
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock));
        let mut services = Services {
            models: self
                .model
                .unwrap_or_else(|| Arc::new(easel_models::Registry::new(Default::default()))),
            world,
            clock: clock.clone(),
        };
        let breaker = self
            .breaker
            .map(|settings| Breaker::new(settings, clock.clone()));
        if let Some(breaker) = &breaker {
            services.world = breaker.around(services.world);
            services.models = Arc::new(BreakingModel {
                model: services.models,
                breaker: breaker.clone(),
            });
        }
        Ok(Arc::new(Engine {
            registry,
            services: Arc::new(services),
            secrets: self.secrets.unwrap_or_else(Resolver::environment),
            journal: self
                .journal
                .unwrap_or_else(|| Arc::new(MemoryJournal::new())),
            clock,
            limits: self.limits,
            places: Places::new(self.bounds),
            breaker,
            timed: self.timed,
            #[cfg(feature = "python")]
            sandbox: self.sandbox,
            ids: ids(self.seed),
        }))
    }
}

/// Run ids and seeds: counted from a given seed, or drawn.
fn ids(seed: Option<u64>) -> Arc<dyn Fn() -> (Arc<str>, u64) + Send + Sync> {
    match seed {
        Some(seed) => {
            let count = std::sync::atomic::AtomicU64::new(seed);
            Arc::new(move || {
                let n = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                (format!("run-{n}").into(), n)
            })
        }
        None => Arc::new(|| {
            let id = uuid::Uuid::now_v7();
            // All but two bits of it are drawn.
            let (_, seed) = id.as_u64_pair();
            (id.simple().to_string().into(), seed)
        }),
    }
}
