//! The life of a run.

use super::life::life;

life! {
    /// Where a run stands.
    RunLife on RunSignal {
        states {
            /// Something is under way.
            Running,
            /// Only an answer can move it on.
            Waiting,
            /// Everything that could run did.
            Done,
            /// A failure nobody handled.
            Failed,
            /// Somebody ended it.
            Cancelled,
        }
        signals {
            /// Nothing but open forms is left.
            Wait,
            /// A person answered.
            Answer,
            /// The root is settled.
            Finish,
            /// A failure nobody handled.
            Fail,
            /// Somebody ends it.
            Cancel,
        }
        arrows {
            Running --(Wait)--> Waiting,
            Running --(Finish)--> Done,
            Running --(Fail)--> Failed,
            Running --(Cancel)--> Cancelled,
            Waiting --(Answer)--> Running,
            Waiting --(Cancel)--> Cancelled,
        }
    }
}

impl RunLife {
    /// True once nothing more will happen to the run.
    pub fn over(self) -> bool {
        matches!(self, RunLife::Done | RunLife::Failed | RunLife::Cancelled)
    }
}
