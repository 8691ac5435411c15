//! Time as the engine sees it, so that tests can own it.

use std::time::Duration;

use async_trait::async_trait;

use super::model::time::Millis;

/// Where the engine gets the time from, and how it waits.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// The present.
    fn now(&self) -> Millis;
    /// Returns after `duration`.
    async fn sleep(&self, duration: Duration);
}
