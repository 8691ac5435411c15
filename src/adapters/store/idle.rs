//! The workers of this process that wait for a run.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Wakes workers that wait, one at a time. Keeps one permit while none waits, so that an event
/// between a fruitless claim and the wait is not lost.
#[derive(Debug, Default)]
pub(super) struct IdleWorkers {
    notify: Notify,
    /// Number of workers that wait, with those that were woken and have not continued yet.
    waiting: AtomicUsize,
}

impl IdleWorkers {
    /// Wakes one worker. Returns false if none was waiting.
    pub(super) fn wake(&self) -> bool {
        let waiting = self.waiting.load(Ordering::SeqCst) > 0;
        self.notify.notify_one();
        waiting
    }

    /// Waits to be woken.
    pub(super) async fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        scopeguard::defer!({
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        });
        self.notify.notified().await;
    }
}

#[cfg(test)]
mod tests;
