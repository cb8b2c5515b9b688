//! What an assignment changes of what the same node reads.

use easel_core::Value;
use easel_core::bind::Resolved;
use easel_core::reference::Path;
use easel_core::workflow::Slot;

/// How what was assigned to lies to something read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Overlap {
    /// What is read stands in what was assigned, behind this path; none if they are the same.
    Within(Path),
    /// What was assigned stands in what is read, behind this path.
    Around(Path),
}

impl Overlap {
    /// How a place assigned to lies to a place read. `None`: they have nothing in common.
    pub(super) fn of(assigned: &Slot, read: &Slot) -> Option<Overlap> {
        let (assigned, read) = match (assigned, read) {
            (
                Slot::Variable { variable, path },
                Slot::Variable {
                    variable: read,
                    path: read_path,
                },
            ) if variable == read => (path, read_path),
            (
                Slot::Port { place, port, path },
                Slot::Port {
                    place: read_place,
                    port: read_port,
                    path: read_path,
                },
            ) if place == read_place && port == read_port => (path, read_path),
            _ => return None,
        };
        let rest = |of: &Path, behind: &Path| {
            of.0.strip_prefix(&*behind.0)
                .map(|steps| Path(steps.into()))
        };
        rest(read, assigned)
            .map(Overlap::Within)
            .or_else(|| rest(assigned, read).map(Overlap::Around))
    }

    /// What is read after a value was assigned.
    pub(super) fn seen(&self, before: Resolved, value: &Value) -> Resolved {
        match self {
            Overlap::Within(path) => path.walk(value).map_or(Resolved::Missing, Resolved::Value),
            Overlap::Around(path) => {
                let mut around = before.or_null();
                match path.set(&mut around, value.clone()) {
                    Ok(()) => Resolved::Value(around),
                    Err(_) => before,
                }
            }
        }
    }
}
