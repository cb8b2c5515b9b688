//! Lives as tables of transitions.

/// Declares the states of a thing, the signals it reacts to, and which signal leads from where to where.
///
/// `next` answers with the new state, or `None` for a signal the state does not know. In tests each arrow that is taken is
/// remembered, so that one of them can ask whether all are.
macro_rules! life {
    (
        $(#[$about:meta])*
        $State:ident on $Signal:ident {
            states { $( $(#[$state_doc:meta])* $state:ident ),* $(,)? }
            signals { $( $(#[$signal_doc:meta])* $signal:ident ),* $(,)? }
            arrows { $( $from:ident --($by:ident)--> $to:ident ),* $(,)? }
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $State { $( $(#[$state_doc])* $state ),* }

        /// What moves it on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Signal { $( $(#[$signal_doc])* $signal ),* }

        impl $State {
            /// Every transition there is.
            pub const ARROWS: &[($State, $Signal, $State)] =
                &[ $( ($State::$from, $Signal::$by, $State::$to) ),* ];

            /// Where a signal leads, or `None` where this state does not know it.
            pub fn next(self, signal: $Signal) -> Option<$State> {
                let next = match (self, signal) {
                    $( ($State::$from, $Signal::$by) => Some($State::$to), )*
                    _ => None,
                };
                #[cfg(test)]
                if let Some(next) = next {
                    crate::machine::life::taken::note(stringify!($State), (self, signal, next));
                }
                next
            }
        }
    };
}
pub(crate) use life;

#[cfg(test)]
pub(crate) mod taken {
    //! Which arrows the tests of this thread have taken.

    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::fmt::Debug;

    thread_local! {
        static TAKEN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
    }

    pub(crate) fn note(life: &str, arrow: impl Debug) {
        TAKEN.with_borrow_mut(|taken| taken.insert(name(life, arrow)));
    }

    /// An arrow as text: the life it belongs to, from where, by what, to where.
    pub(crate) fn name(life: &str, arrow: impl Debug) -> String {
        format!("{life} {arrow:?}")
    }

    pub(crate) fn forget() {
        TAKEN.with_borrow_mut(BTreeSet::clear);
    }

    pub(crate) fn all() -> BTreeSet<String> {
        TAKEN.with_borrow(BTreeSet::clone)
    }
}
