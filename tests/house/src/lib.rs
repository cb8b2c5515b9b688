//! Tests of the repository itself.
//!
//! `tests/arrows.rs` holds who may use whom, `tests/book.rs` what the docs say, `tests/examples.rs` that the examples run.
//! The Rust code in the pages below is compiled and run as documentation tests.

/// The page on the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
pub struct Library;

/// The page for contributors.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
pub struct Contributing;
