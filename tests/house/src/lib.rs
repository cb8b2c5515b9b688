//! Tests of the repository itself.
//!
//! `tests/arrows.rs` holds who may use whom, `tests/book.rs` what the docs say, `tests/examples.rs` that the examples run.
//! The code in the pages below is compiled and run like any other documentation test.
