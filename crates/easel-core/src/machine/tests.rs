//! What users do with workflows, subject by subject.

mod back_edges;
mod branches;
mod cancelling;
mod concurrency;
mod dead_paths;
mod failures;
mod forms;
mod iterations;
mod joins;
mod limits;
mod loops;
mod references;
mod replay;
mod retries;
mod streams;
mod tour;
mod variables;
