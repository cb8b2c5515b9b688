//! All components by name.

use std::collections::HashMap;
use std::sync::Arc;

use easel_catalog::{Catalog, Rejected};

use crate::behaviour::{Behaviour, Component};

/// Puts something around the behaviour of a node.
pub type Around = Arc<dyn Fn(Arc<dyn Behaviour>) -> Arc<dyn Behaviour> + Send + Sync>;

/// Components by name and alias, in any case.
#[derive(Clone, Default)]
pub struct Registry {
    by_name: HashMap<String, Arc<dyn Component>>,
    catalog: Catalog,
    around: Option<Around>,
}

impl Registry {
    /// A registry without components, that knows the tables of `catalog`.
    pub fn new(catalog: Catalog) -> Registry {
        Registry {
            by_name: HashMap::new(),
            catalog,
            around: None,
        }
    }

    /// Adds a component under its name and aliases. Its table joins the others unless it is one of them already.
    ///
    /// Errors: its table contradicts itself or takes another component's name.
    pub fn add(&mut self, component: Arc<dyn Component>) -> Result<(), Rejected> {
        let table = component.table().clone();
        let known = self.catalog.get(&table.name);
        if known.is_none_or(|known| **known != table) {
            self.catalog.add(table.clone())?;
        }
        self.implement(component);
        Ok(())
    }

    /// Adds a component whose table the catalogue has already, so nothing can stand against it.
    pub(crate) fn implement(&mut self, component: Arc<dyn Component>) {
        let table = component.table();
        let names = std::iter::once(&table.name).chain(&table.aliases);
        let names: Vec<String> = names.map(|name| name.to_lowercase()).collect();
        for name in names {
            self.by_name.insert(name, component.clone());
        }
    }

    /// Says that there are MCP servers, so that a graph may name tools that are no components.
    pub fn expect_tools_elsewhere(&mut self) {
        self.catalog.expect_tools_elsewhere();
    }

    /// Puts something around the behaviour of every node that is prepared from here on.
    pub fn put_around(&mut self, around: Around) {
        self.around = Some(around);
    }

    /// A behaviour with what is to be around it.
    pub fn wrapped(&self, behaviour: Arc<dyn Behaviour>) -> Arc<dyn Behaviour> {
        match &self.around {
            Some(around) => around(behaviour),
            None => behaviour,
        }
    }

    /// The component of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Component>> {
        self.by_name.get(&name.to_lowercase())
    }

    /// The component that is a tool of that name: it is called so itself, or models know it by that name.
    pub fn tool(&self, name: &str) -> Option<&Arc<dyn Component>> {
        let by_function = || {
            let mut tables = self.catalog.iter();
            let named = |table: &&Arc<easel_catalog::Component>| {
                table
                    .tool
                    .as_ref()
                    .is_some_and(|tool| *tool.function == *name)
            };
            tables.find(named).and_then(|table| self.get(&table.name))
        };
        let component = self.get(name).or_else(by_function)?;
        component.table().tool.is_some().then_some(component)
    }

    /// The tables of all components, those without a behaviour included.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }
}
