//! The real clock: system time and Tokio timers.

use std::time::Duration;

use async_trait::async_trait;
use chrono::Utc;

use crate::engine::clock::{Clock, Millis};

/// System time (UTC) and `tokio::time::sleep`.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Millis {
        Utc::now().into()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sleeps_on_tokio_time() {
        let start = tokio::time::Instant::now();
        SystemClock.sleep(Duration::from_secs(3600)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(3600));
    }

    #[test]
    fn tells_the_present() {
        // 2026-01-01T00:00:00Z: any machine that runs this has a later date.
        assert!(SystemClock.now() > Millis(1_767_225_600_000));
    }
}
