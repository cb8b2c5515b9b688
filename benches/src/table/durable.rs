//! Durable runs: every node waits for something, so each is committed before the next begins.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use easel_core::template::{Rendering, Template};
use easel_runtime::catalog::{self, Family, Param, Type};
use easel_runtime::clock::TokioClock;
use easel_runtime::components::{Behaviour, Call, Component, Prepared, Run};
use easel_runtime::core::draft::EffectClass;
use easel_runtime::core::event::{Completion, Fault, Ports};
use easel_runtime::{Engine, Workflow};
use easel_store::{Location, Store};
use tokio::runtime::{Builder, Runtime};

use crate::commits::Commits;
use crate::engine;
use crate::pairs::{Spread, alternate};

/// The class of the node that waits.
const CLASS: &str = "Wait";

/// Measures one run, and many at once.
pub fn rows() -> Result<(), Box<dyn Error>> {
    let folder = engine::folder()?;
    let (durable, mut commits) = (Durable::open(folder.path())?, Commits::open(folder.path())?);

    let chain = durable.chain(100)?;
    let pairs = alternate(
        20,
        || durable.one(&chain),
        || assert!(commits.one(100).is_ok()),
    );
    let each = pairs.ours() / 100;
    let what = "a durable run of 100 nodes that wait / 100 commits of a row";
    row(what, "ratio 1.3", &pairs, format_args!("{each:.0?}"));

    let pairs = alternate(
        5,
        || durable.many(&chain, 1_000),
        || assert!(commits.many(1_000, 100).is_ok()),
    );
    let rate = 100_000.0 / pairs.ours().as_secs_f64();
    let what = "1,000 of them at once / 100 commits of 1,000 rows";
    row(what, "20,000/s", &pairs, format_args!("{rate:.0}/s"));
    Ok(())
}

fn row(what: &str, asked: &str, pairs: &Spread, unit: std::fmt::Arguments<'_>) {
    let (ours, theirs): (Duration, Duration) = (pairs.ours(), pairs.theirs());
    println!("| {what} | {asked} | {ours:.2?} | {theirs:.2?} | {pairs} | {unit} |");
}

/// Easel with its store in a folder.
pub struct Durable {
    runtime: Runtime,
    engine: Arc<Engine>,
}

impl Durable {
    /// A new store in a folder, and an engine that writes to it.
    pub fn open(folder: &Path) -> Result<Durable, Box<dyn Error>> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let location = Location::Folder(folder.join("easel"));
        let store = runtime.block_on(Store::open(&location))?;
        let engine = Engine::builder()
            .clock(Arc::new(TokioClock))
            .component(Arc::new(Wait::new()))
            .journal(Arc::new(store))
            .build()?;
        Ok(Durable { runtime, engine })
    }

    /// Nodes that wait, one after the other, each of which takes what the one before gave.
    pub fn chain(&self, nodes: usize) -> Result<Arc<Workflow>, Box<dyn Error>> {
        engine::load(&self.engine, &benches::waits(nodes, CLASS))
    }

    /// One run.
    pub fn one(&self, workflow: &Arc<Workflow>) {
        engine::runs(&self.runtime, &self.engine, workflow, 1);
    }

    /// Many runs at once.
    pub fn many(&self, workflow: &Arc<Workflow>, runs: usize) {
        engine::runs(&self.runtime, &self.engine, workflow, runs);
    }
}

/// A node that passes on what it got, as if it came from outside: so what comes before it is in the journal when it
/// begins. It comes at once, as in the nodes of the peers.
struct Wait {
    table: catalog::Component,
}

impl Wait {
    fn new() -> Wait {
        let table = catalog::Component::new(CLASS, Family::Data, "Wait", "Waits for its turn.")
            .effect(EffectClass::Reads)
            .param(Param::new("text", Type::template(), "What it passes on.").required())
            .port("result", "string", "What it got.")
            .primary("result");
        Wait { table }
    }
}

impl Component for Wait {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        let text = node.template("text");
        Ok(Arc::new(Waiting { text }))
    }
}

struct Waiting {
    text: Template,
}

impl Behaviour for Waiting {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move {
            let text = self.text.render(call.inputs(), Rendering::Display);
            Ok(Completion {
                ports: Ports::one("result", &*text),
                ..Completion::default()
            })
        })
    }
}
