//! Exactly-once check runs: each is created once, and each annotation is added once.
//!
//! GitHub adds the annotations of every request to the existing ones, so a batch of unknown outcome
//! must not be sent again unchanged. Instead, the number of existing annotations is requested, and
//! only the missing ones are sent.

use super::{Effects, PostKind, Posted, StepError, outcome};
use crate::engine::forge::{
    CheckReport, CheckRun, CheckState, ForgeError, MAX_ANNOTATIONS, NewCheckRun, Written,
};
use crate::engine::metrics;
use crate::engine::model::trigger::Repo;
use crate::engine::store::EffectState;

impl Effects {
    /// Creates a check run once, with any number of annotations. It is shown as in progress until
    /// all annotations are added, and then has the requested state. When called again, it must be
    /// given the same report.
    ///
    /// # Errors
    /// As [`Effects::create_issue`].
    pub async fn create_check(
        &self,
        key: &str,
        repo: &Repo,
        new: &NewCheckRun,
    ) -> Result<Posted, StepError> {
        let external_id = format!("{}/{key}", self.lease.run);
        let mut first = new.clone();
        let had = first.report.annotations.len().min(MAX_ANNOTATIONS);
        if first.report.annotations.split_off(had).is_empty() {
            return self.create_run(key, repo, &first, &external_id).await;
        }
        first.report.state = CheckState::InProgress;
        let posted = self.create_run(key, repo, &first, &external_id).await?;
        let mut rest = new.report.clone();
        rest.annotations.drain(..had);
        self.report_check(key, repo, posted.id(), had, &rest)
            .await?;
        Ok(posted)
    }

    /// Updates a check run that has `had` annotations, and adds any number of annotations. It is
    /// shown as in progress until all are added. When called again, it must be given the same
    /// report.
    ///
    /// # Errors
    /// As [`Effects::create_issue`].
    pub async fn report_check(
        &self,
        key: &str,
        repo: &Repo,
        check: u64,
        had: usize,
        report: &CheckReport,
    ) -> Result<(), StepError> {
        let mut from = had;
        let mut rest = report.annotations.as_slice();
        loop {
            let (piece, more) = rest.split_at(rest.len().min(MAX_ANNOTATIONS));
            let said = CheckReport {
                state: if more.is_empty() {
                    report.state
                } else {
                    CheckState::InProgress
                },
                annotations: piece.to_vec(),
                ..report.clone()
            };
            self.add(&format!("{key}-from-{from}"), repo, check, from, said)
                .await?;
            if more.is_empty() {
                return Ok(());
            }
            from += piece.len();
            rest = more;
        }
    }

    async fn create_run(
        &self,
        key: &str,
        repo: &Repo,
        new: &NewCheckRun,
        external_id: &str,
    ) -> Result<Posted, StepError> {
        let own = async {
            let runs = self.forge.own_check_runs(repo, &new.head_sha, &new.name);
            Ok(runs.await?.into_iter().map(written).collect())
        };
        let create = async {
            let run = self.forge.create_check_run(repo, new, external_id);
            run.await.map(written)
        };
        self.create(key, external_id, PostKind::CheckRun, own, create)
            .await
    }

    /// Sends one batch: updates a check run that has `from` annotations with `report`.
    async fn add(
        &self,
        key: &str,
        repo: &Repo,
        check: u64,
        from: usize,
        mut report: CheckReport,
    ) -> Result<(), StepError> {
        match self.begin(key).await? {
            EffectState::Done(_) => return Ok(()),
            EffectState::Tried { last, .. } => {
                self.settled(last, 1)?;
                let there = self.forge.check_run(repo, check).await?.annotations;
                let landed = there.saturating_sub(from).min(report.annotations.len());
                // Send the report even if no annotations are missing, because its other fields may
                // not have been applied.
                report.annotations.drain(..landed);
                self.tried(key).await?;
            }
            EffectState::New => {}
        }
        let result = self.forge.update_check_run(repo, check, &report).await;
        metrics::effect(key, outcome(&result));
        match result {
            Ok(()) => Ok(self.end(key, &()).await?),
            Err(error) => {
                if matches!(error, ForgeError::Unknown { .. }) {
                    self.tried(key).await?;
                }
                Err(error.into())
            }
        }
    }
}

/// Converts a check run for [`Effects::create`], which identifies it by its external id.
fn written(run: CheckRun) -> Written {
    Written {
        id: run.id,
        url: run.url,
        body: run.external_id,
    }
}
