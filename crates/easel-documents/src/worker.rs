//! Work that computes, on threads of its own.
//!
//! Any executor may poll what is returned: nothing here belongs to one. Whoever drops the future is waited for no more, and
//! the work ends at the next block it comes to.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::channel::oneshot;

use crate::error::DocumentError;

/// Bytes of stack of a thread.
const STACK: usize = 8 << 20;

/// Whether somebody still waits for a piece of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted(Arc<AtomicBool>);

impl Wanted {
    pub(crate) fn still(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Held by who waits.
struct Waits(Wanted);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Places for threads; who finds none free waits for one, first come first served.
#[derive(Clone, Debug)]
pub(crate) struct Places(Arc<Mutex<Queue>>);

#[derive(Debug)]
struct Queue {
    free: usize,
    waiting: VecDeque<oneshot::Sender<Place>>,
}

/// A place that is taken.
#[derive(Debug)]
struct Place(Option<Places>);

impl Places {
    pub(crate) fn new(count: usize) -> Places {
        Places(Arc::new(Mutex::new(Queue {
            free: count.max(1),
            waiting: VecDeque::new(),
        })))
    }

    async fn take(&self) -> Option<Place> {
        let place = {
            let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.free > 0 {
                queue.free -= 1;
                return Some(Place(Some(self.clone())));
            }
            let (sender, place) = oneshot::channel();
            queue.waiting.push_back(sender);
            place
        };
        place.await.ok()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(places) = self.0.take() else {
            return;
        };
        loop {
            let mut queue = places.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(next) = queue.waiting.pop_front() else {
                queue.free += 1;
                return;
            };
            drop(queue);
            match next.send(Place(Some(places.clone()))) {
                Ok(()) => return,
                // That one waits no more: the place goes to the next.
                Err(mut unused) => drop(unused.0.take()),
            }
        }
    }
}

/// Does a piece of work on another thread. The libraries below panic on some damaged files: that is an error here.
pub(crate) async fn run<T: Send + 'static>(
    places: &Places,
    work: impl FnOnce(Wanted) -> Result<T, DocumentError> + Send + 'static,
) -> Result<T, DocumentError> {
    let broken = |cause: String| DocumentError::Broken(cause);
    let place = places.take().await;
    let place = place.ok_or_else(|| broken("its place is gone".into()))?;
    let waits = Waits(Wanted::default());
    let wanted = waits.0.clone();
    let (done, result) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("easel-documents".into())
        .stack_size(STACK)
        .spawn(move || {
            // Nothing that the work had is used after a panic.
            let outcome = catch_unwind(AssertUnwindSafe(|| work(wanted)));
            drop(place);
            done.send(outcome.unwrap_or_else(|_| {
                Err(broken(
                    "the library that does it gave up on this text or file".into(),
                ))
            }))
        });
    thread.map_err(|cause| broken(format!("no thread could be had: {cause}")))?;
    let outcome = result.await;
    drop(waits);
    outcome.unwrap_or_else(|_| Err(broken("its thread ended".into())))
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::future::{join_all, poll_immediate};

    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let work = |_| -> Result<(), DocumentError> { panic!("on purpose") };
        let broken = block_on(run(&Places::new(1), work));
        assert!(broken.unwrap_err().to_string().contains("gave up"));
    }

    #[test]
    fn more_work_than_places_is_done_all_the_same() {
        let places = Places::new(2);
        let busy = Arc::new(Mutex::new((0_usize, 0_usize)));
        let one = |n: u32| {
            let busy = busy.clone();
            run(&places, move |_| {
                {
                    let mut now = busy.lock().unwrap();
                    now.0 += 1;
                    now.1 = now.1.max(now.0);
                }
                std::thread::yield_now();
                busy.lock().unwrap().0 -= 1;
                Ok(n)
            })
        };
        let done = block_on(join_all((0..20).map(one)));
        let done: Vec<u32> = done.into_iter().map(Result::unwrap).collect();
        assert_eq!(done, (0..20).collect::<Vec<u32>>());
        assert!(busy.lock().unwrap().1 <= 2);
    }

    #[test]
    fn who_waits_no_more_is_told_to_the_work_and_leaves_its_place() {
        let places = Places::new(1);
        let (told, hears) = std::sync::mpsc::channel();
        let work = move |wanted: Wanted| {
            while wanted.still() {
                std::thread::yield_now();
            }
            told.send(()).unwrap();
            Ok(())
        };
        let mut first = Box::pin(run(&places, work));
        assert!(block_on(poll_immediate(&mut first)).is_none());
        // One in the queue that gives up before its turn must not take the place with it.
        let mut second = Box::pin(run(&places, |_| Ok(())));
        assert!(block_on(poll_immediate(&mut second)).is_none());
        drop(second);
        drop(first);
        hears.recv().unwrap();
        assert_eq!(block_on(run(&places, |_| Ok(7))), Ok(7));
    }
}
