//! Graphs: chains and maps beside the canvas's, an expression, and calls of Python.

use std::error::Error;
use std::hint::black_box;

use easel_core::Value;
use easel_core::bind::{Inputs, ReadId, Resolved};
use easel_core::expression::{Expression, parse};
use easel_core::reference::graph::Binding;
use easel_runtime::Object;
use easel_runtime::sandbox::{Entry, Package, Sandbox, Session, Settings, WorkerProgram};
use tokio::runtime::Runtime;

use crate::engine::{self, load, run};
use crate::pairs::measure;
use crate::{floor, row};

/// The word that makes this program a worker of the sandbox.
pub const WORKER: &str = "sandbox-worker";

pub fn rows(runtime: &Runtime) -> Result<(), Box<dyn Error>> {
    let engine = engine::engine(1)?;
    let (graph, canvas) = (
        load(&engine, &benches::graph_chain(100))?,
        load(&engine, &benches::chain(100))?,
    );
    let pair = measure(|| run(&engine, &graph), || run(&engine, &canvas));
    row(
        "a graph's chain of 100 routers / a canvas's of 100 text nodes",
        "ratio 1",
        pair,
        100,
    );

    let map = load(&engine, &benches::graph_map(1_000))?;
    let pair = measure(|| run(&engine, &map), || floor::hops(runtime, 2_000));
    row(
        "a map over 1,000 items, body of two / 2,000 hops",
        "8 ms",
        pair,
        1_000,
    );

    expression()?;
    python(runtime)
}

fn expression() -> Result<(), Box<dyn Error>> {
    const TIMES: u32 = 1_000;
    let expression = parse("len(inputs.items) > 3 and contains(lower(nodes.check), 'yes')")?;
    let expression: Expression = expression.bind(|chain| Binding::Read {
        read: ReadId(u32::from(*chain.root == *"nodes")),
        used: 1,
    });
    let items: Vec<Value> = (0..5).map(Value::from).collect();
    let values = [Value::from(items), Value::from("Oh yes, it does.")];
    let inputs = Inputs(values.map(Resolved::Value).into());
    let evaluate = || {
        for _ in 0..TIMES {
            assert_eq!(black_box(&expression).truth(black_box(&inputs)), Ok(true));
        }
    };
    let text = "Oh yes, it does.";
    let floor = || {
        for _ in 0..TIMES {
            assert!(black_box(text).to_lowercase().contains("yes"));
        }
    };
    let pair = measure(evaluate, floor);
    row(
        "an expression, 1,000 times / lower case and a search",
        "1 µs each",
        pair,
        TIMES,
    );
    Ok(())
}

fn python(runtime: &Runtime) -> Result<(), Box<dyn Error>> {
    const TIMES: u32 = 100;
    let sidecar = "def total(xs, **kwargs):\n    return sum(xs)\n";
    let package = Package::new([("helpers.py", sidecar)])?.with_sidecar("helpers.py")?;
    let sandbox = Sandbox::new(Settings::new(WorkerProgram::this(WORKER)?));
    let session = sandbox.session(package.into());
    let entry: Entry = "helpers:total".parse()?;
    let xs: Vec<Value> = (0..10).map(Value::from).collect();
    let arguments = Object::from_iter([
        ("xs".into(), Value::from(xs)),
        ("more".into(), Value::from(1)),
    ]);
    let call = |session: &Session| {
        runtime.block_on(async {
            for _ in 0..TIMES {
                let outcome = session.call(&entry, &arguments, None).await;
                assert!(outcome.is_ok_and(|outcome| outcome.value == Value::from(45)));
            }
        });
    };
    call(&session);
    let pair = measure(|| call(&session), || floor::hops(runtime, TIMES as usize));
    row(
        "100 calls of a sidecar's function / 100 hops",
        "0.5 ms each",
        pair,
        TIMES,
    );
    Ok(())
}
