//! Steps of a run (gather ─▶ extract ─▶ verify ─▶ publish ─▶ report) and replies to control
//! commands.
//!
//! [`authorise`] runs first: [`publish::publish`] requires the proof of permission that it returns.

pub mod authorise;
pub mod enrich;
mod find;
pub mod knowledge;
pub mod known;
pub mod planning;
pub mod prepare;
pub mod publish;
pub mod report;
pub mod repository;
pub mod research;
pub mod source;
pub mod verify;

use std::sync::Arc;
use std::time::Duration;

use super::checkout::{Checkout, Checkouts};
use super::effects::{Effects, StepError};
use super::forge::ForgeError;
use super::settings::Settings;
use super::store::{AuditEntry, StoreError};
use crate::engine::model::progress::Progress;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{IssueRef, Trigger};

/// Number of `adopt_delay` periods during which a 404 or 422 for a new object counts as temporary:
/// two minutes by default. Reports of such responses (cli/cli#4801,
/// peter-evans/create-pull-request#4321, probot/probot#690) mention seconds.
const FRESH: u32 = 10;

/// Minimum pause before a new object is queried again.
const MIN_PAUSE: Duration = Duration::from_secs(2);
/// Maximum pause before a new object is queried again.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// State shared by all steps of one leased run.
pub struct Context {
    /// Trigger of the run: command, sender and place.
    pub trigger: Trigger,
    /// Number of times the run was queued again after it had ended.
    pub round: u32,
    /// Time at which the run was accepted, by the local clock.
    pub accepted: Millis,
    /// Writer of effects under the run's lease.
    pub effects: Effects,
    /// Progress stored with the run.
    pub progress: Progress,
    /// Operator's settings.
    pub settings: Arc<Settings>,
    /// Time of the last write to the status comment, used to space edits.
    pub status_written: Option<Millis>,
    /// Whether the sender lacks triage permission. Such a sender gets one comment and one reaction.
    pub outsider: bool,
    /// How the command reports.
    pub reporting: report::Reporting,
    /// Source of read-only copies of the repository; `None` if agents get none.
    pub checkouts: Option<Arc<dyn Checkouts>>,
    /// The copy that the agents of this attempt read.
    pub checkout: Option<Arc<Checkout>>,
    /// The files of the base commit, once they are needed in this attempt.
    pub base_files: Option<Arc<repository::BaseFiles>>,
}

impl Context {
    /// Saves the progress under the lease.
    ///
    /// # Errors
    /// Returns [`StepError::Store`] if the lease is lost or the database fails.
    pub async fn remember(&self) -> Result<(), StepError> {
        self.effects
            .store
            .save_progress(&self.effects.lease, &self.progress)
            .await?;
        Ok(())
    }

    /// Returns the current place of the conversation, which differs from the place of the command
    /// after a transfer of the issue.
    pub fn home(&self) -> &IssueRef {
        self.progress.moved.as_ref().unwrap_or(&self.trigger.place)
    }

    /// Returns when to retry a request that failed with `error`, or `None` if the error is final.
    ///
    /// A 404 or 422 soon after the run was accepted or created something may come from a replica
    /// that does not have the object yet.
    pub fn again_at(&self, error: &ForgeError) -> Option<Millis> {
        let temporary = matches!(
            error,
            ForgeError::NotFound { .. } | ForgeError::Rejected { status: 422, .. }
        );
        if !temporary {
            return None;
        }
        let newest = self.accepted.max(self.progress.created.unwrap_or_default());
        let until = newest.plus(self.effects.adopt_delay * FRESH);
        self.pause(newest, until)
    }

    /// Returns when to check again for something that began at `since`, or `None` from `until` on.
    /// The pauses grow with the time elapsed.
    pub(in crate::engine) fn pause(&self, since: Millis, until: Millis) -> Option<Millis> {
        let now = self.effects.clock.now();
        let pause = now.since(since).clamp(MIN_PAUSE, MAX_PAUSE);
        (now < until).then(|| now.plus(pause).min(until))
    }

    /// Returns the run's id.
    pub fn run(&self) -> &crate::engine::model::run::RunId {
        &self.effects.lease.run
    }

    /// Records a decision of the run in the audit log.
    ///
    /// # Errors
    /// Returns an error if the store fails.
    pub(in crate::engine) async fn audit(
        &self,
        decision: &str,
        why: &str,
    ) -> Result<(), StoreError> {
        let entry = AuditEntry {
            at: self.effects.clock.now(),
            run: Some(self.run().clone()),
            guid: None,
            actor: self.trigger.actor.login.clone(),
            decision: decision.to_owned(),
            why: why.to_owned(),
        };
        self.effects.store.audit(entry).await
    }
}
