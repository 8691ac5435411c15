//! Time as the simulator sees it, so that a test can own it.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, SecondsFormat, Utc};

/// Where the simulator gets the time from, and how it waits.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// The present.
    fn now(&self) -> DateTime<Utc>;
    /// Returns after `duration`.
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

/// ISO 8601 with seconds and `Z`, as GitHub writes times.
pub(crate) fn iso(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}
