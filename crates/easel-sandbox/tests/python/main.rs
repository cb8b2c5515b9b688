//! User code in both interpreters, through real workers. Needs `python3` on the PATH.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cpython;
mod hostile;
mod sidecars;
mod support;
