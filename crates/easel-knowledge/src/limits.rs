//! What a document may cost.

use std::time::Duration;

/// What reading one document may cost at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of all that is packed in the file, once unpacked.
    pub unpacked_bytes: u64,
    /// Bytes of the text that is read out of it.
    pub text_bytes: usize,
    /// Pages, slides or sheets.
    pub pages: usize,
    /// Time.
    pub time: Duration,
}

impl Default for Limits {
    /// 64 MiB, unpacked 256 MiB, 32 MiB of text, 5,000 pages, two minutes.
    fn default() -> Self {
        Limits {
            file_bytes: 64 << 20,
            unpacked_bytes: 256 << 20,
            text_bytes: 32 << 20,
            pages: 5_000,
            time: Duration::from_secs(120),
        }
    }
}
