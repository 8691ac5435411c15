//! The steps of a run: gather ─▶ extract ─▶ verify ─▶ publish ─▶ report, and the answers to control commands.
//!
//! [`authorise`] comes before all of them; nothing that writes a plan can be reached without its proof.

pub mod authorise;
pub mod enrich;
mod find;
pub mod knowledge;
pub mod known;
pub mod planning;
pub mod prepare;
pub mod publish;
pub mod report;
pub mod research;
pub mod source;
pub mod verify;

use std::sync::Arc;
use std::time::Duration;

use super::effects::{Effects, Stop};
use super::forge::ForgeError;
use super::settings::Settings;
use super::store::{AuditEntry, StoreError};
use crate::engine::model::progress::Progress;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Place, Trigger};

/// For how many settling times a 404 or a 422 on something new is taken for temporary: two minutes by default. Reports of
/// such answers (cli/cli#4801, peter-evans/create-pull-request#4321, probot/probot#690) name seconds.
const FRESH: u32 = 10;

/// Shortest and longest pause before something new is looked at again.
const MIN_PAUSE: Duration = Duration::from_secs(2);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// What every step of one leased run works with.
pub struct Context {
    /// What was asked for.
    pub trigger: Trigger,
    /// How often the run was put back in line after it had ended.
    pub round: u32,
    /// When the run was accepted, by this machine's clock.
    pub accepted: Millis,
    /// Writes, under the run's lease.
    pub effects: Effects,
    /// What is remembered.
    pub progress: Progress,
    /// The operator's settings.
    pub settings: Arc<Settings>,
    /// When the status comment was last written, to keep edits apart.
    pub status_written: Option<Millis>,
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
            .save_progress(&self.effects.lease, &self.progress)
            .await?;
        Ok(())
    }

    /// Where the conversation is now: another place than where the command was given when the issue was transferred.
    pub fn home(&self) -> &Place {
        self.progress.moved.as_ref().unwrap_or(&self.trigger.place)
    }

    /// When to try again what GitHub refused with `error`, because the refusal may be temporary: a 404 or a 422 soon after
    /// the run was accepted or created something comes from replicas that do not have it yet. `None` when it is final.
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

    /// When to look again at something that is `since` then on its way: the pauses grow, and end at `until`.
    pub(in crate::engine) fn pause(&self, since: Millis, until: Millis) -> Option<Millis> {
        let now = self.effects.clock.now();
        let pause = now.since(since).clamp(MIN_PAUSE, MAX_PAUSE);
        (now < until).then(|| now.plus(pause).min(until))
    }

    /// The run's id.
    pub fn run(&self) -> &crate::engine::model::run::RunId {
        &self.effects.lease.run
    }

    /// Records a decision of the run.
    ///
    /// # Errors
    /// The store fails.
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
