//! The behaviour of every kind of component.
//!
//! A [`Component`] has a table (from `easel-catalog`) and prepares a [`Behaviour`] for each node that uses it, once, when
//! the workflow loads. The driver hands a behaviour a [`Call`] for each attempt and gets a
//! [`Completion`](easel_core::event::Completion) or a [`Failure`] back. A behaviour keeps nothing between calls.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agent;
mod artifact;
mod begin;
mod behaviour;
mod browser;
mod builtin;
mod categorize;
mod chat;
pub mod clock;
mod code_exec;
mod control_and_data;
mod crawler;
mod data_operations;
mod doc_generator;
mod email;
mod excel_processor;
mod exe_sql;
mod fields;
mod form;
mod function;
mod functions;
mod given;
pub mod graph;
mod ingestion;
mod invoke;
mod jinja;
mod later;
mod list_operations;
mod made_file;
mod mcp;
mod message;
mod models_and_tools;
mod parameters;
mod passages;
mod python_literal;
mod registry;
mod retrieval;
mod search;
mod site;
mod stream;
mod string_transform;
mod switch;
#[cfg(test)]
mod testing;
mod text;
mod text_test;
mod thoughts;
mod tool;
mod turn;
mod variable_aggregator;
mod variable_assigner;
mod whose;

pub use behaviour::{
    Behaviour, Call, Component, Failure, Later, Note, Prepared, Run, RunContext, Services, Wire,
    idempotency_key,
};
pub use functions::{Called, Functions, NoFunctions, Verdict};
pub use registry::{Around, Registry};
pub use stream::{Piece, PieceKind, StreamItem, StreamReader, StreamWriter};
pub use tool::{Tool, ToolAnswer, ToolComponent, ToolSite};
pub use turn::{HistoryEntry, Turn};

/// The components that come with Easel, and the tables of those it does not run yet.
pub fn builtin() -> Registry {
    let catalog = easel_catalog::Catalog::builtin();
    let mut registry = Registry::new(catalog.clone());
    let of = |table| control_and_data::of(table).or_else(|| models_and_tools::of(table));
    for component in catalog.iter().filter_map(of) {
        registry.implement(component);
    }
    registry
}
