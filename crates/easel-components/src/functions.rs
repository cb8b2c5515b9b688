//! The door to the Python of a package: its functions, for one run.

use std::sync::Arc;

use easel_core::event::Fault;
use easel_core::{Object, Value};
use futures::FutureExt;
use futures::future::BoxFuture;

/// The functions of a graph's package in one run. A module keeps its globals as long as the run; after a crash it starts
/// anew.
pub trait Functions: Send + Sync {
    /// Calls a function (`module:name`, `module.name`, or a name of the sidecar) with these arguments by keyword, for at
    /// most that many seconds.
    ///
    /// Errors: there is no such function, it raised, or it reached a limit.
    fn call<'a>(
        &'a self,
        callable: &'a str,
        arguments: Object,
        limit_s: Option<f64>,
    ) -> BoxFuture<'a, Result<Called, Fault>>;

    /// Asks a function of the sidecar whether a loop is done. `iteration` holds what `LoopIteration` shows.
    ///
    /// Errors: as [`Functions::call`].
    fn until<'a>(
        &'a self,
        function: &'a str,
        iteration: Object,
        limit_s: Option<f64>,
    ) -> BoxFuture<'a, Result<Verdict, Fault>>;
}

/// What a function gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Called {
    /// Its result, as JSON.
    pub value: Value,
    /// What ran it.
    pub runtime: Arc<str>,
    /// Why that one.
    pub why: Arc<str>,
    /// What it printed.
    pub printed: Arc<str>,
}

/// Whether a loop is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// It is.
    pub stop: bool,
    /// What the next pass is told.
    pub reason: Arc<str>,
}

/// For workflows without a package.
pub struct NoFunctions;

impl NoFunctions {
    fn fault(name: &str) -> Fault {
        let message = format!(
            "there is no package in which {name} could be found. Load the graph from its folder."
        );
        Fault::new("no_package", message).without_trace()
    }
}

impl Functions for NoFunctions {
    fn call<'a>(
        &'a self,
        name: &'a str,
        _: Object,
        _: Option<f64>,
    ) -> BoxFuture<'a, Result<Called, Fault>> {
        std::future::ready(Err(NoFunctions::fault(name))).boxed()
    }

    fn until<'a>(
        &'a self,
        name: &'a str,
        _: Object,
        _: Option<f64>,
    ) -> BoxFuture<'a, Result<Verdict, Fault>> {
        std::future::ready(Err(NoFunctions::fault(name))).boxed()
    }
}
