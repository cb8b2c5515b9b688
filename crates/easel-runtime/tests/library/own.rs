//! Components of one's own, for the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use easel_runtime::catalog::{self, Family};
use easel_runtime::components::{Behaviour, Call, Component, Prepared, Run};
use easel_runtime::core::draft::EffectClass;
use easel_runtime::core::event::{Completion, Fault, Ports};

/// A component that does what it is given, and counts how often.
pub struct Own {
    table: catalog::Component,
    deed: Arc<Deed>,
}

struct Deed {
    run: Box<dyn Fn(Call) -> Run + Send + Sync>,
    calls: Arc<AtomicU32>,
}

impl Own {
    /// The component, and the count of its calls.
    pub fn new(
        name: &str,
        effect: EffectClass,
        run: impl Fn(Call) -> Run + Send + Sync + 'static,
    ) -> (Arc<Own>, Arc<AtomicU32>) {
        let calls = Arc::new(AtomicU32::new(0));
        let own = Own {
            table: catalog::Component::new(name, Family::Tool, name, "One of the tests' own.")
                .effect(effect)
                .port("result", "string", "What it gives.")
                .primary("result"),
            deed: Arc::new(Deed {
                run: Box::new(run),
                calls: calls.clone(),
            }),
        };
        (Arc::new(own), calls)
    }
}

impl Component for Own {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, _: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        Ok(self.deed.clone())
    }
}

impl Behaviour for Deed {
    fn run(self: Arc<Self>, call: Call) -> Run {
        self.calls.fetch_add(1, Ordering::SeqCst);
        (self.run)(call)
    }
}

/// An attempt that gave that result.
pub fn done(result: &str) -> Run {
    Run::Done(Ok(Completion {
        ports: Ports::one("result", result),
        ..Completion::default()
    }))
}

/// A canvas: Begin, then these nodes one after the other, each `(id, component, parameters)`.
pub fn canvas(nodes: &[(&str, &str, serde_json::Value)]) -> Vec<u8> {
    let mut components = serde_json::Map::new();
    let begin = ("begin", "Begin", serde_json::json!({}));
    let all: Vec<_> = std::iter::once(&begin).chain(nodes).collect();
    for (at, (id, component, params)) in all.iter().enumerate() {
        let next = all.get(at + 1).map(|(next, ..)| *next);
        let entry = serde_json::json!({
            "obj": {"component_name": component, "params": params},
            "downstream": next.into_iter().collect::<Vec<_>>(),
        });
        components.insert((*id).to_owned(), entry);
    }
    serde_json::json!({"components": components})
        .to_string()
        .into_bytes()
}
