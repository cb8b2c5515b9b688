//! Function and python: a call of a Python function with everything by name (spec/graph-engine §7.4, §10.3).

use std::sync::Arc;

use easel_core::Value;
use easel_core::event::{Completion, Fault};

use super::gives;
use super::keywords::Keywords;
use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::site::Site;

struct Function {
    callable: Arc<str>,
    keywords: Keywords,
}

pub(super) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let callable = site.text("callable").trim();
    if callable.is_empty() {
        let message = format!(
            "\"{}\" names no function. Set `callable`, such as `nodes.clean:clean`.",
            node.node.draft.name
        );
        return Err(Fault::new("bad_parameter", message));
    }
    Ok(Arc::new(Function {
        callable: callable.into(),
        keywords: Keywords::read(node),
    }))
}

impl Behaviour for Function {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move {
            let arguments = self.keywords.object(call.inputs());
            let functions = &call.run.functions;
            let limit = call.node().draft.timeout_s;
            let called = functions.call(&self.callable, arguments, limit).await;
            let called = called.map_err(|fault| {
                let node = &call.node().draft.name;
                let message = format!("\"{node}\" failed: {}", fault.message);
                Failure::from(Fault {
                    message: message.into(),
                    ..fault
                })
            })?;
            let printed = Some(called.printed).filter(|printed| !printed.is_empty());
            let details = [
                ("runtime", Value::from(called.runtime)),
                ("why", Value::from(called.why)),
            ];
            let printed = printed.map(|printed| ("printed", Value::from(printed)));
            Ok(Completion {
                ports: gives(called.value, details.into_iter().chain(printed)),
                ..Completion::default()
            })
        })
    }
}
