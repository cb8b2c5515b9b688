//! What is measured: whole runs, every event serialised to JSON and counted.

use std::error::Error;
use std::sync::Arc;

use easel_runtime::{Ending, Engine, Input, MemoryJournal, RunEvent, RunLimits, Workflow};
use tokio::runtime::Runtime;

/// An engine whose runs may be long, and that keeps the journals of so many of them.
pub fn engine(kept: usize) -> Result<Arc<Engine>, Box<dyn Error>> {
    let limits = RunLimits {
        node_runs: u64::MAX,
        ..RunLimits::default()
    };
    let journal = Arc::new(MemoryJournal::keeping(kept));
    Ok(Engine::builder().limits(limits).journal(journal).build()?)
}

/// Loads a canvas that must load.
pub fn load(engine: &Engine, text: &[u8]) -> Result<Arc<Workflow>, Box<dyn Error>> {
    Ok(Arc::new(engine.load(text)?))
}

/// One run, from the first message to the end.
#[inline(never)]
pub fn run(engine: &Arc<Engine>, workflow: &Arc<Workflow>) {
    futures::executor::block_on(one_run(engine.clone(), workflow.clone()));
}

/// Many runs at once, each a task.
#[inline(never)]
pub fn runs(runtime: &Runtime, engine: &Arc<Engine>, workflow: &Arc<Workflow>, count: usize) {
    runtime.block_on(async {
        let run = || tokio::spawn(one_run(engine.clone(), workflow.clone()));
        let tasks: Vec<_> = (0..count).map(|_| run()).collect();
        for task in tasks {
            assert!(task.await.is_ok());
        }
    });
}

async fn one_run(engine: Arc<Engine>, workflow: Arc<Workflow>) {
    let (mut line, mut bytes) = (Vec::new(), 0);
    let mut observe = |event: RunEvent| {
        line.clear();
        event.write_json(&mut line);
        bytes += std::hint::black_box(&line).len();
    };
    let mut session = engine.session(&workflow);
    let ending = session.turn(Input::from("hello"), &mut observe).await;
    assert!(matches!(ending, Ok(Ending::Finished)));
    assert!(bytes > 0);
}

/// Loads a canvas and forgets it.
#[inline(never)]
pub fn load_only(engine: &Engine, text: &[u8]) {
    assert!(std::hint::black_box(engine.load(text)).is_ok());
}

/// Loads a canvas and checks it.
#[inline(never)]
pub fn load_and_check(engine: &Engine, text: &[u8]) {
    let loaded = engine.load(text);
    let found = loaded.map(|workflow| engine.check(&workflow).len());
    assert!(std::hint::black_box(found).is_ok());
}

/// A folder that goes away again, on the disk that the program lies on: the system's own may be in memory.
pub fn folder() -> Result<tempfile::TempDir, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let beside = program.parent().ok_or("the program lies in no folder")?;
    Ok(tempfile::tempdir_in(beside)?)
}
