//! Everything that can be known about a workflow before it runs.
