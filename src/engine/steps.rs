//! The steps of a run: gather ─▶ extract ─▶ verify ─▶ publish ─▶ report, and the answers to control commands.
//!
//! [`authorise`] comes before all of them; nothing that writes a plan can be reached without its proof.

pub mod answer;
pub mod authorise;
pub mod check;
pub mod control;
pub mod enrich;
pub mod extract;
mod find;
pub mod knowledge;
pub mod planning;
pub mod prepare;
pub mod publish;
pub mod report;
pub mod research;
pub mod source;
pub mod verify;

use std::sync::Arc;

use super::effects::{Effects, Stop};
use super::progress::Progress;
use super::settings::Settings;
use super::trigger::Trigger;

/// What every step of one leased run works with.
pub struct Context {
    /// What was asked for.
    pub trigger: Trigger,
    /// How often the run was put back in line after it had ended.
    pub round: u32,
    /// Writes, under the run's lease.
    pub effects: Effects,
    /// What is remembered.
    pub progress: Progress,
    /// The operator's settings.
    pub settings: Arc<Settings>,
    /// When the status comment was last written, to keep edits apart.
    pub status_written: Option<super::clock::Millis>,
    /// Who asks has no triage permission: the answer is one comment and one reaction.
    pub outsider: bool,
}

impl Context {
    /// Stores the progress under the lease.
    ///
    /// # Errors
    /// The store refuses: the lease is lost or the database fails.
    pub async fn remember(&self) -> Result<(), Stop> {
        self.effects
            .store
            .remember(&self.effects.lease, &self.progress.write())
            .await?;
        Ok(())
    }

    /// The run's id.
    pub fn run(&self) -> &super::run::RunId {
        &self.effects.lease.run
    }
}
