//! Requests to stop a run while it is being executed: by a user, or because the process shuts down.

use std::sync::OnceLock;

use tokio_util::sync::CancellationToken;

use super::effects::StepError;

/// The shutdown of a process, in two stages. Clones refer to the same shutdown.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    begun: CancellationToken,
    turns_over: CancellationToken,
}

impl Shutdown {
    /// Begins the shutdown: runs pause at their next step.
    pub fn begin(&self) {
        self.begun.cancel();
    }

    /// Returns a token that is cancelled when the shutdown begins.
    pub fn begun(&self) -> &CancellationToken {
        &self.begun
    }

    /// Ends the running turns of agents.
    pub fn end_turns(&self) {
        self.begun.cancel();
        self.turns_over.cancel();
    }
}

/// A request to stop a running run. The heartbeat sets it for a user; the run checks it between
/// steps, and its token cancels the agent's turn.
#[derive(Debug, Default)]
pub struct StopFlag {
    token: CancellationToken,
    by: OnceLock<String>,
    shutdown: Shutdown,
}

impl StopFlag {
    /// Creates a flag for a run of a process with this `shutdown`.
    pub fn new(shutdown: &Shutdown) -> Self {
        Self {
            token: shutdown.turns_over.child_token(),
            by: OnceLock::new(),
            shutdown: shutdown.clone(),
        }
    }

    /// Requests the run to stop on behalf of the user `by`.
    pub fn set(&self, by: &str) {
        self.by.get_or_init(|| by.to_owned());
        self.token.cancel();
    }

    /// Returns a token that is cancelled when the agent's turn must end.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Returns an error if the run must not begin another step.
    ///
    /// # Errors
    /// Returns [`StepError::Cancelled`] with the login of the user who requested the stop, or
    /// [`StepError::Paused`] if the process shuts down.
    pub fn check_cancelled(&self) -> Result<(), StepError> {
        match self.by.get() {
            Some(by) => Err(StepError::Cancelled(by.clone())),
            None => self.check_paused(),
        }
    }

    /// Returns an error if the process shuts down and no user requested the stop.
    ///
    /// # Errors
    /// Returns [`StepError::Paused`].
    pub fn check_paused(&self) -> Result<(), StepError> {
        if self.shutdown.begun.is_cancelled() && self.by.get().is_none() {
            return Err(StepError::Paused);
        }
        Ok(())
    }
}
