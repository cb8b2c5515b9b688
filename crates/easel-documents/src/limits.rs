//! What a document may cost.

use std::time::{Duration, Instant};

use crate::error::DocumentError;
use crate::worker::Wanted;

/// What making or reading one document may cost at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text a document is made of.
    pub text_bytes: usize,
    /// Pages of a PDF.
    pub pages: usize,
    /// Columns of a table in a PDF; other formats take any.
    pub columns: usize,
    /// Bytes of a workbook that is read.
    pub file_bytes: usize,
    /// Bytes of all that is packed in it, once unpacked.
    pub unpacked_bytes: u64,
    /// Sheets of a workbook that is read or written.
    pub sheets: usize,
    /// Cells of a workbook that is read or written, empty ones among them.
    pub cells: usize,
    /// Time.
    pub time: Duration,
    /// Documents that are made or read at once; further ones wait.
    pub at_once: usize,
}

impl Default for Limits {
    /// 4 MiB of text, 1,000 pages, 40 columns; workbooks of 32 MiB, 256 MiB when unpacked, 256 sheets and a million cells; a
    /// minute; two at once.
    fn default() -> Self {
        Limits {
            text_bytes: 4 << 20,
            pages: 1_000,
            columns: 40,
            file_bytes: 32 << 20,
            unpacked_bytes: 256 << 20,
            sheets: 256,
            cells: 1_000_000,
            time: Duration::from_secs(60),
            at_once: 2,
        }
    }
}

/// Says when a piece of work is to be given up: its time is over, or nobody waits for it any more.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    began: Instant,
    time: Duration,
    wanted: Wanted,
}

impl Patience {
    pub(crate) fn new(time: Duration, wanted: Wanted) -> Patience {
        Patience {
            began: Instant::now(),
            time,
            wanted,
        }
    }

    /// Errors: it is to be given up.
    pub(crate) fn check(&self) -> Result<(), DocumentError> {
        if self.began.elapsed() > self.time {
            return Err(DocumentError::Late(self.time));
        }
        match self.wanted.still() {
            true => Ok(()),
            false => Err(DocumentError::Unwanted),
        }
    }
}

#[cfg(test)]
impl Patience {
    /// Waits for a test as long as it takes.
    pub(crate) fn endless() -> Patience {
        Patience::new(Duration::MAX, Wanted::default())
    }
}
