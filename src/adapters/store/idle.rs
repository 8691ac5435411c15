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
        let _counted = Counted::new(&self.waiting);
        self.notify.notified().await;
    }
}

/// Counts one waiting worker until it is dropped.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests;
