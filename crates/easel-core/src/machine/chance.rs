//! Random choices, which follow from the run's seed: the same on every machine, in every release, after every crash.

use super::Machine;
use super::frame::Site;
use crate::chance::{mix, of_name};

/// The longest pause between two attempts.
const LONGEST_PAUSE_MS: u64 = 60_000;

impl Machine {
    /// A number that follows from the run's seed and from where and how often the node fired, not from when.
    pub(super) fn random(&self, site: Site) -> u64 {
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(site.frame)) else {
            return self.seed;
        };
        let node = mix(self.seed ^ self.workflow.node(id).chance);
        let passes = frame.passes.iter().fold(node, |so_far, pass| {
            let container = mix(so_far ^ of_name(&pass.container));
            mix(mix(container ^ pass.index) ^ pass.visit)
        });
        mix(passes ^ frame.node(site.member).visit)
    }
}

/// The pause after the n-th attempt: doubled each time, at most a minute; of that between half and all, by chance.
pub(super) fn pause(base_ms: u64, attempt: u32, random: u64) -> u64 {
    let doubled = 1u64.checked_shl(attempt.saturating_sub(1));
    let whole = base_ms.saturating_mul(doubled.unwrap_or(u64::MAX));
    let whole = whole.min(LONGEST_PAUSE_MS);
    whole - mix(random.wrapping_add(u64::from(attempt))) % (whole / 2 + 1)
}
