//! The clock interface used by the engine, so that tests can control time.

use std::time::Duration;

use async_trait::async_trait;

use super::model::time::Millis;

/// A source of the current time and of delays.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> Millis;
    /// Waits for `duration`.
    async fn sleep(&self, duration: Duration);
}
