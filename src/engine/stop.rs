//! Asking a run to stop while it works.

use std::sync::Mutex;

use tokio_util::sync::CancellationToken;

use super::effects::Stop;

/// Who asked a running run to stop; set by the heartbeat, heeded between steps and by the agent.
#[derive(Debug, Default)]
pub struct StopFlag {
    token: CancellationToken,
    by: Mutex<Option<String>>,
}

impl StopFlag {
    /// Asks the run to stop.
    pub fn set(&self, by: &str) {
        if let Ok(mut slot) = self.by.lock() {
            *slot = Some(by.to_owned());
        }
        self.token.cancel();
    }

    /// Cancelled as soon as somebody asks.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Goes on unless somebody asked to stop.
    ///
    /// # Errors
    /// [`Stop::Cancelled`] with who asked.
    pub fn heed(&self) -> Result<(), Stop> {
        if !self.token.is_cancelled() {
            return Ok(());
        }
        let by = self.by.lock().ok().and_then(|by| by.clone());
        Err(Stop::Cancelled(by.unwrap_or_default()))
    }
}
