//! Watches how much memory this process really uses.
//!
//! The limit on address space is not enough by itself: an allocator may have taken a gigabyte of it in advance.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::protocol::OUT_OF_MEMORY;

/// Time between two looks while code runs.
const INTERVAL: Duration = Duration::from_millis(10);

/// A thread that looks while code runs, and ends the process where it uses too much.
#[derive(Debug)]
pub(super) struct Watch {
    working: Arc<AtomicBool>,
    thread: Option<Thread>,
}

impl Watch {
    /// Watches for more than that many bytes beyond what the process uses now. Without `/proc` nothing is watched.
    ///
    /// # Errors
    /// No thread can be started.
    pub(super) fn start(memory: u64) -> io::Result<Watch> {
        let working = Arc::<AtomicBool>::default();
        let Some((statm, before)) = open() else {
            let thread = None;
            return Ok(Watch { working, thread });
        };
        let most = before.saturating_add(memory);
        let seen = Arc::clone(&working);
        let watcher = thread::Builder::new().spawn(move || {
            loop {
                if seen.load(Ordering::Acquire) {
                    thread::sleep(INTERVAL);
                } else {
                    thread::park();
                }
                let used = resident(&statm).unwrap_or(0);
                if used > most {
                    eprintln!("{OUT_OF_MEMORY} more than {memory} bytes");
                    std::process::exit(1);
                }
            }
        })?;
        Ok(Watch {
            working,
            thread: Some(watcher.thread().clone()),
        })
    }

    /// Says whether code runs.
    pub(super) fn working(&self, working: bool) {
        self.working.store(working, Ordering::Release);
        if let (true, Some(thread)) = (working, &self.thread) {
            thread.unpark();
        }
    }
}

/// The place to look at, open before files are out of reach, and what it says now.
fn open() -> Option<(File, u64)> {
    let statm = File::open("/proc/self/statm").ok()?;
    let now = resident(&statm)?;
    Some((statm, now))
}

/// Bytes of memory in use.
fn resident(statm: &File) -> Option<u64> {
    let mut text = [0; 128];
    let length = statm.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(super::limit::PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_uses_shows() {
        let (statm, before) = open().unwrap();
        let block = vec![1_u8; 64 << 20];
        let grown = resident(&statm).unwrap() - before;
        assert!(grown >= 60 << 20, "{grown}");
        drop(block);
    }
}
