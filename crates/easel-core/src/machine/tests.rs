//! What users do with workflows, subject by subject.

mod back_edges;
mod bodies;
mod branches;
mod cancelling;
mod concurrency;
mod dead_paths;
mod differential;
mod failures;
mod forms;
mod guards;
mod iterations;
mod joins;
mod limits;
mod lives;
mod loops;
mod oracle;
mod properties;
mod random;
mod references;
mod replay;
mod retries;
mod streams;
mod variables;
mod window;

impl super::Machine {
    /// Everything the machine knows, as text. The moment of the last event is no part of it.
    pub(crate) fn digest(&self) -> String {
        let super::Machine {
            workflow: _,
            life,
            run,
            seed,
            concurrency,
            circle_runs_left,
            context,
            variables,
            frames,
            root,
            active,
            next_activation,
            ready,
            lane,
            speaking,
            places,
            under_way,
            forms,
            gathered,
            usage,
            outcome,
            work,
            quiet,
            now: _,
            reaction,
        } = self;
        let who = (life, run, seed, concurrency, circle_runs_left, context);
        let state = (variables, frames, root, active, next_activation, ready);
        let lines = (lane, speaking, places, under_way, forms);
        let rest = (gathered, usage, outcome, work, quiet, reaction);
        format!("{who:?} {state:?} {lines:?} {rest:?}")
    }
}
