//! What each component takes and gives, as data.
//!
//! One [`Component`] describes one kind of node of a canvas: its parameters with their types and defaults, its ports,
//! which parameters hold references or credentials, what it does to the outside and how long it may take. The importer,
//! the check, the reference page ([`page`]), the JSON Schema ([`schema`]) and the editor's forms all read these tables,
//! so a component of your own needs one more table and nothing else to be loaded, checked and documented:
//!
//! ```
//! use easel_catalog::{Catalog, Component, Family, Param, Type};
//! use serde_json::json;
//!
//! let mut catalog = Catalog::builtin().clone();
//! catalog.add(
//!     Component::new("Shout", Family::Data, "Shout", "Turns a text into capitals.")
//!         .param(Param::new("text", Type::template(), "The text.").required())
//!         .param(Param::new("times", Type::at_least(1), "How often it is said.").default(json!(1)))
//!         .port("result", "string", "The text in capitals.")
//!         .primary("result"),
//! )?;
//!
//! let shout = catalog.get("shout").unwrap();
//! let read = shout.read(json!({"text": "{sys.query}", "times": "3"}));
//! assert!(read.findings.is_empty());
//! assert_eq!(read.params.get("times"), Some(&3_i64.into()));
//! # Ok::<(), easel_catalog::Rejected>(())
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod catalog;
mod check;
pub mod common;
mod component;
mod finding;
pub mod page;
mod param;
pub mod schema;
mod site;
mod table;
mod tool;

pub use catalog::{Catalog, EDITOR_ONLY, Rejected};
pub use check::Read;
pub use component::{
    Availability, Component, Control, Family, Port, PortsFrom, Primary, TimeLimit,
};
pub use finding::{Finding, Problem, nearest};
pub use param::{Choice, Param, Required, Shape, Split, Type, When};
pub use site::{Role, Site};
pub use tool::{Argument, Tool};
