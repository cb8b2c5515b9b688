//! What code and tools are told by name.

use std::sync::Arc;

use easel_core::bind::{Inputs, ReadId};
use easel_core::{Object, Value};

use crate::behaviour::Prepared;
use crate::site::Site;

/// Named values a node reads.
#[derive(Debug, Default)]
pub(super) struct Named(Vec<(Arc<str>, ReadId)>);

impl Named {
    /// The values whose names stand in a list of the parameters, read under that list's path.
    pub fn read(node: Prepared<'_>, list: &str) -> Named {
        let site = Site::of_node(node);
        let names = site.items(list).iter().enumerate();
        let named = names.filter_map(|(at, name)| {
            let read = site
                .reference(&format!("{list}.{at}"), None)
                .ok()
                .flatten()?;
            Some((Arc::from(name.as_str()?), read))
        });
        Named(named.collect())
    }

    /// The names with their values; `None` for one that is not there.
    pub fn values<'a>(
        &'a self,
        inputs: &'a Inputs,
    ) -> impl Iterator<Item = (&'a Arc<str>, Option<&'a Value>)> {
        let named = self.0.iter();
        named.map(|(name, read)| (name, inputs.get(*read).value()))
    }

    /// The names with what reads them.
    pub fn reads(&self) -> impl Iterator<Item = (&Arc<str>, ReadId)> {
        self.0.iter().map(|(name, read)| (name, *read))
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Everything by name: the run's inputs, dependencies, values of the passes around.
#[derive(Debug)]
pub(super) struct Keywords {
    inputs: Option<ReadId>,
    dependencies: Named,
    passes: Named,
}

impl Keywords {
    pub fn read(node: Prepared<'_>) -> Keywords {
        Keywords {
            inputs: Site::of_node(node).reference("inputs", None).ok().flatten(),
            dependencies: Named::read(node, "depends_on"),
            passes: Named::read(node, "pass"),
        }
    }

    /// All of them; of two with one name the later kind wins. What did not run is null (spec/graph-engine §10.3).
    pub fn object(&self, inputs: &Inputs) -> Object {
        let given = self.inputs.and_then(|read| inputs.get(read).value());
        let mut all = given
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let named = self.dependencies.values(inputs);
        for (name, value) in named.chain(self.passes.values(inputs)) {
            all.insert(name.clone(), value.cloned().unwrap_or_default());
        }
        all
    }
}
