//! Random choices, which follow from the run's seed: the same on every machine, in every release, after every crash.

use std::hash::Hasher;

use super::Machine;
use super::frame::Site;

/// The longest pause between two attempts.
const LONGEST_PAUSE_MS: u64 = 60_000;

impl Machine {
    /// A number that follows from the run's seed and from where and how often the node fired, not from when.
    pub(super) fn random(&self, site: Site) -> u64 {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325 ^ self.seed);
        if let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(site.frame)) {
            hash.write(self.workflow.node(id).draft.id.as_bytes());
            for pass in frame.passes.iter() {
                hash.write(pass.container.as_bytes());
                hash.write(&pass.index.to_le_bytes());
                hash.write(&pass.visit.to_le_bytes());
            }
            hash.write(&frame.node(site.member).visit.to_le_bytes());
        }
        mix(hash.finish())
    }
}

/// The pause after the n-th attempt: doubled each time, at most a minute; of that between half and all, by chance.
pub(super) fn pause(base_ms: u64, attempt: u32, random: u64) -> u64 {
    let doubled = 1u64.checked_shl(attempt.saturating_sub(1));
    let whole = base_ms.saturating_mul(doubled.unwrap_or(u64::MAX));
    let whole = whole.min(LONGEST_PAUSE_MS);
    whole - mix(random.wrapping_add(u64::from(attempt))) % (whole / 2 + 1)
}

/// FNV-1a.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The last step of splitmix64: spreads what differs in a few bits over all.
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
