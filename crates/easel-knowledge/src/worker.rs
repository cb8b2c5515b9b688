//! Work that computes or waits for the disk, on threads of its own.
//!
//! Any executor may poll what is returned: nothing here belongs to one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use futures::channel::oneshot;

use crate::error::KnowledgeError;

/// Bytes of stack. Readers of documents go deep.
const STACK: usize = 16 << 20;

/// Pieces of work that may be given up and still compute; while there are as many, no more are begun.
const LOST: usize = 8;
static LOST_NOW: AtomicUsize = AtomicUsize::new(0);

/// Held by a piece of work and by who waits for it. The first to leave says so; if that is who waits, the work is lost until
/// it leaves, too.
#[derive(Clone, Default)]
struct Pair(Arc<AtomicBool>);

impl Pair {
    fn give_up(&self) {
        LOST_NOW.fetch_add(1, Ordering::SeqCst);
        if self.0.swap(true, Ordering::SeqCst) {
            LOST_NOW.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// The end of a piece of work, by a panic as well.
struct AtEnd(Pair);

impl Drop for AtEnd {
    fn drop(&mut self) {
        if self.0.0.swap(true, Ordering::SeqCst) {
            LOST_NOW.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Does a piece of work on another thread.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, KnowledgeError> + Send + 'static,
) -> Result<T, KnowledgeError> {
    let (done, result) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("easel-knowledge".into())
        .stack_size(STACK)
        .spawn(move || done.send(work()));
    thread.map_err(|cause| KnowledgeError::Broken(format!("no thread could be had: {cause}")))?;
    result
        .await
        .unwrap_or_else(|_| Err(KnowledgeError::Broken("its thread panicked".into())))
}

/// Does a piece of work on another thread and gives it up after a time; `late` says what is to be told then.
///
/// Nothing can stop a thread from outside. One that was given up computes on; what it finds is thrown away.
pub(crate) async fn run_within<T: Send + 'static>(
    time: Duration,
    late: impl FnOnce() -> KnowledgeError + Send + 'static,
    work: impl FnOnce() -> Result<T, KnowledgeError> + Send + 'static,
) -> Result<T, KnowledgeError> {
    if LOST_NOW.load(Ordering::SeqCst) >= LOST {
        let cause = format!("{LOST} documents that were given up are still being read");
        return Err(KnowledgeError::Broken(cause));
    }
    run(move || {
        let (done, result) = std::sync::mpsc::sync_channel(1);
        let pair = Pair::default();
        let at_end = AtEnd(pair.clone());
        let thread = std::thread::Builder::new()
            .name("easel-reading".into())
            .stack_size(STACK)
            .spawn(move || {
                let _at_end = at_end;
                done.send(work())
            });
        thread
            .map_err(|cause| KnowledgeError::Broken(format!("no thread could be had: {cause}")))?;
        match result.recv_timeout(time) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => {
                pair.give_up();
                Err(late())
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(KnowledgeError::Broken("its thread panicked".into()))
            }
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;

    #[test]
    fn work_that_takes_too_long_is_given_up() {
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let late = || KnowledgeError::Broken("late".into());
        let work = move || {
            let _ = wait.recv();
            Ok(())
        };
        let given_up = block_on(run_within(Duration::from_millis(10), late, work));
        assert!(given_up.unwrap_err().to_string().contains("late"));
        // Once it ends it is lost no more; a test that waits for that waits for a thread, not for a time.
        drop(go_on);
        while LOST_NOW.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_panic_is_an_error() {
        let work = || -> Result<(), KnowledgeError> { panic!("on purpose") };
        let late = || KnowledgeError::Broken("late".into());
        let broken = block_on(run_within(Duration::from_secs(60), late, work));
        assert!(broken.unwrap_err().to_string().contains("panicked"));
    }
}
