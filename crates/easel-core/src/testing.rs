//! For tests: workflows drawn in a line, and a world that does what it is told.

mod drawing;
mod world;

pub(crate) use drawing::{Drawing, draw};
pub(crate) use world::{Deed, Order, Run, World};
