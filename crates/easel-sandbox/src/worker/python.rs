//! The built-in Python interpreter behind the protocol.

mod interpreter;
mod module;

pub(super) use self::interpreter::Python;
