//! What a read costs, by how deep the reader sits.

use std::error::Error;

use easel_core::Machine;
use easel_core::bind::Activation;
use easel_core::effect::Effect;
use easel_core::event::{Start, Timestamp};
use easel_runtime::Workflow;

/// Reads in one call of [`Reader::read`].
pub const READS: usize = 20;

/// A run that stands still at a node which reads from the root.
pub struct Reader {
    machine: Machine,
    reader: Activation,
}

impl Reader {
    /// A reader inside that many iterations.
    pub fn at_depth(depth: usize) -> Result<Reader, Box<dyn Error>> {
        let workflow = Workflow::load(&benches::nested(depth, READS))?;
        let start = Start {
            run: "bench".into(),
            concurrency: 1,
            ..Start::default()
        };
        let compiled = workflow.compiled().clone();
        let (mut machine, reaction) = Machine::start(compiled, start, Timestamp(0));
        let mut effects = reaction.effects;
        while let Some(Effect::Execute(execute)) = effects.pop() {
            let node = workflow.compiled().node(execute.node);
            if *node.draft.id == *benches::READER {
                let reader = execute.activation;
                return Ok(Reader { machine, reader });
            }
            let reaction = machine.apply(&benches::completed(&execute));
            effects.extend(reaction.effects);
        }
        Err("the run never came to its reader".into())
    }

    /// Binds what the reader reads.
    pub fn read(&self) {
        assert!(std::hint::black_box(self.machine.bound(self.reader)).is_some());
    }
}
