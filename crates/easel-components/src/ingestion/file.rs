//! File: the document that a run of a pipeline is about.

use std::sync::Arc;

use easel_core::event::{Completion, Fault, Ports};
use easel_tools::files::FileDescriptor;

use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::parameters::bad_input;

struct File;

/// Reads nothing: it has no parameters.
pub(crate) fn prepare(_: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    Ok(Arc::new(File))
}

impl Behaviour for File {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::Done(document(&call).map_err(Into::into))
    }
}

fn document(call: &Call) -> Result<Completion, Fault> {
    let file = match call.run.turn.files.as_slice() {
        [file] => file,
        [] => {
            let fix = "Bring one: `easel run PIPELINE FILE`, or `easel kb add BASE FILES --pipeline PIPELINE`";
            return Err(bad_input(call.node(), "was given no document", fix));
        }
        _ => {
            let fix = "Run it once for each";
            return Err(bad_input(call.node(), "was given several documents", fix));
        }
    };
    let name = FileDescriptor::from_value(file)
        .map_err(|error| {
            bad_input(
                call.node(),
                &format!("cannot use its document: {error}"),
                "Upload it",
            )
        })?
        .name;
    let mut ports = Ports::one("name", name);
    ports.set("file", file.clone());
    Ok(Completion {
        ports,
        ..Completion::default()
    })
}
