//! Expressions beside CPython.
