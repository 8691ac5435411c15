//! Requests to stop a run while it is being executed.

use std::sync::Mutex;

use tokio_util::sync::CancellationToken;

use super::effects::StepError;

/// A request to stop a running run. The heartbeat sets it; the run checks it between steps, and its
/// token cancels the agent's turn.
#[derive(Debug, Default)]
pub struct StopFlag {
    token: CancellationToken,
    by: Mutex<Option<String>>,
}

impl StopFlag {
    /// Requests the run to stop on behalf of the user `by`.
    pub fn set(&self, by: &str) {
        if let Ok(mut slot) = self.by.lock() {
            *slot = Some(by.to_owned());
        }
        self.token.cancel();
    }

    /// Returns a token that is cancelled when a stop is requested.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Returns an error if a stop was requested.
    ///
    /// # Errors
    /// Returns [`StepError::Cancelled`] with the login of the user who requested the stop.
    pub fn check_cancelled(&self) -> Result<(), StepError> {
        if !self.token.is_cancelled() {
            return Ok(());
        }
        let by = self.by.lock().ok().and_then(|by| by.clone());
        Err(StepError::Cancelled(by.unwrap_or_default()))
    }
}
