//! The clock that the simulator reads, which a test can replace.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

/// Source of the current time and of delays.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> DateTime<Utc>;
    /// Waits for `duration`.
    async fn sleep(&self, duration: Duration);
}

/// The computer's clock and Tokio's timers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
