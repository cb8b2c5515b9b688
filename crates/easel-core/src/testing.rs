//! For tests: workflows drawn in a line, and a world that does what it is told.

mod drawing;
pub(crate) mod python;
mod run;
mod world;

pub(crate) use drawing::{Drawing, draw, reference};
pub(crate) use run::Run;
pub(crate) use world::{Deed, Order, World};
