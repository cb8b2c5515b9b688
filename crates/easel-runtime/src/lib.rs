//! The library to embed: engine, driver and in-memory journal.
