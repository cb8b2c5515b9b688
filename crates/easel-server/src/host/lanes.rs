//! Lanes: one turn at a time in each conversation, in the order in which they were asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

use super::{Busy, HostError};

/// The lanes of all conversations in which somebody drives or waits.
#[derive(Clone, Default)]
pub(super) struct Lanes(Arc<Mutex<BySession>>);

/// The lane of each conversation, as long as somebody holds it or waits for it.
type BySession = HashMap<Arc<str>, Weak<tokio::sync::Mutex<()>>>;

/// The right to drive in a conversation. Dropped, it goes to whoever waits.
pub(super) struct Lane {
    lanes: Lanes,
    session: Arc<str>,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Lanes {
    /// Waits for the lane of a conversation, or refuses to.
    pub async fn enter(&self, session: &str, busy: Busy) -> Result<Lane, HostError> {
        let session: Arc<str> = session.into();
        let lane = {
            let mut lanes = self.lock();
            match lanes.get(&session).and_then(Weak::upgrade) {
                Some(lane) => lane,
                None => {
                    let lane = Arc::new(tokio::sync::Mutex::new(()));
                    lanes.insert(session.clone(), Arc::downgrade(&lane));
                    lane
                }
            }
        };
        let guard = match busy {
            Busy::Queue => lane.lock_owned().await,
            Busy::Refuse => lane
                .try_lock_owned()
                .map_err(|_| HostError::Busy(session.to_string()))?,
        };
        Ok(Lane {
            lanes: self.clone(),
            session,
            guard: Some(guard),
        })
    }

    fn lock(&self) -> MutexGuard<'_, BySession> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.guard.take();
        let mut lanes = self.lanes.lock();
        let gone = |lane: &Weak<_>| lane.strong_count() == 0;
        if lanes.get(&self.session).is_some_and(gone) {
            lanes.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lane_that_nobody_uses_takes_no_room() {
        let lanes = Lanes::default();
        let first = lanes.enter("s", Busy::Refuse).await.unwrap();
        let refused = lanes.enter("s", Busy::Refuse).await;
        assert!(matches!(refused, Err(HostError::Busy(_))));
        let next = tokio::spawn({
            let lanes = lanes.clone();
            async move { drop(lanes.enter("s", Busy::Queue).await) }
        });
        tokio::task::yield_now().await;
        drop(first);
        next.await.unwrap();
        assert!(lanes.lock().is_empty());
    }
}
