//! Templates beside CPython.
