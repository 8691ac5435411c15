//! A clock that advances only when the test moves it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use planwright::engine::clock::Clock;
use planwright::engine::model::time::Millis;

/// A manually controlled clock. `sleep` never returns, because tests drive waiting work by steps.
pub(crate) struct ManualClock(AtomicI64);

impl ManualClock {
    /// Creates a clock that starts at a fixed time in 2026.
    pub(crate) fn new() -> Self {
        Self(AtomicI64::new(1_780_000_000_000))
    }

    /// Moves the clock forward to `to`; it never moves back.
    pub(crate) fn advance_to(&self, to: Millis) {
        self.0.fetch_max(to.0, Ordering::SeqCst);
    }

    /// Sets the clock, possibly back, as an operator may do while the bot is down.
    pub(crate) fn set_to(&self, to: Millis) {
        self.0.store(to.0, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, _duration: Duration) {
        std::future::pending::<()>().await;
    }
}
