//! What a run did with secrets since it was last written down.

use easel_secrets::{Gate, Receipt};

/// How much of a run's receipt is in the journal.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    entries: usize,
    bytes_scanned: u64,
    masked: u64,
    unmasked: usize,
}

impl Receipts {
    /// What is new; `None` if nothing is.
    pub fn since_last(&mut self, gate: &Gate) -> Option<Receipt> {
        if !gate.is_armed() {
            return None;
        }
        let mut receipt = gate.receipt();
        let new = Receipts {
            entries: receipt.entries.len(),
            bytes_scanned: receipt.bytes_scanned,
            masked: receipt.masked,
            unmasked: receipt.unmasked.len(),
        };
        receipt.entries.drain(..self.entries.min(new.entries));
        receipt.unmasked.drain(..self.unmasked.min(new.unmasked));
        receipt.bytes_scanned -= self.bytes_scanned;
        receipt.masked -= self.masked;
        *self = new;
        Some(receipt)
    }
}
