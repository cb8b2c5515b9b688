//! The life of an edge in one pass of its scope.

use super::life::life;

life! {
    /// Where an edge stands in one pass.
    EdgeLife on EdgeSignal {
        states {
            /// Its source is not settled.
            Pending,
            /// The run goes this way.
            Taken,
            /// The run does not go this way.
            Dead,
            /// Its source failed.
            Failed,
        }
        signals {
            /// Go this way.
            Take,
            /// Do not.
            Kill,
            /// The source failed, perhaps after its text had begun to arrive.
            Fail,
            /// The next pass begins.
            Reset,
        }
        arrows {
            Pending --(Take)--> Taken,
            Pending --(Kill)--> Dead,
            Pending --(Fail)--> Failed,
            Taken --(Fail)--> Failed,
            Taken --(Reset)--> Pending,
            Dead --(Reset)--> Pending,
            Failed --(Reset)--> Pending,
        }
    }
}
