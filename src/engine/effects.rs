//! Exactly-once writes to GitHub. Every write is recorded before it is tried, and again when it is
//! known to be done.
//!
//! Before a create of unknown outcome (timeout, 5xx, crash) is tried again, its result is searched:
//! the bot lists its own recent issues or comments and adopts the one that ends with the effect's
//! marker. Only posts written by the App itself are listed, so a marker copied into another post
//! has no effect. Check runs are identified by their external id instead (see `checks`).
//!
//! GitHub's lists lag behind its writes, so a post that is not listed is searched again before it
//! is sent again. If the lag exceeds even that and a second post is created, [`Effects::strays`]
//! finds the first one at the end of the run.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::forge::{Forge, ForgeError, Written};
use super::metrics::{self, EffectOutcome};
use super::store::{EffectState, Lease, Store, StoreError};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{IssueRef, Repo};

mod checks;

/// Maximum assumed lag of GitHub's lists, in multiples of `adopt_delay`: 72 s by default. A post
/// that is not listed by then is created again.
pub const LIST_LAG: u32 = 6;

/// The reason why a step stopped.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A request to GitHub failed.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The store failed, or the lease is lost.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is too early to continue: a write of unknown outcome may still be in progress, or
    /// GitHub's lists may lag.
    #[error("waiting until {} for GitHub to show an earlier write", until.iso())]
    Settling {
        /// The time to continue.
        until: Millis,
    },
    /// The run waits for an answer from people, or for another try of an agent.
    #[error("{why}")]
    Wait {
        /// The latest time to continue; a message to the run wakes it earlier.
        until: Millis,
        /// The reason for waiting, for `/plan-status`.
        why: String,
    },
    /// The run fails with this error.
    #[error("{}: {}", .0.code.name(), .0.message)]
    Failed(super::model::failure::Failure),
    /// A user requested the run to stop.
    #[error("stopped by {0}")]
    Cancelled(String),
    /// The process shuts down; the run continues in the next one.
    #[error("paused, because the process shuts down")]
    Paused,
}

/// An existing post whose creation is recorded as done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    written: Written,
    fresh: bool,
}

/// The kind of post that an effect creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostKind {
    /// An issue.
    Issue,
    /// A comment on the issue or pull request with this number.
    Comment(u64),
    /// A check run.
    CheckRun,
}

/// The stored result of an effect that creates a post.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredPost {
    #[serde(flatten)]
    written: Written,
    /// Set if the post was sent again after an unknown outcome, so that the first post may exist
    /// too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    again: Option<Again>,
}

/// A repeated create.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Again {
    kind: PostKind,
    at: Millis,
}

/// A duplicate post of this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The kind of post.
    pub kind: PostKind,
    /// The comment id or issue number of the duplicate.
    pub id: u64,
    /// The id of the post that the run uses.
    pub kept: u64,
}

impl Posted {
    /// Returns the id of the comment or check run, or the issue number.
    pub fn id(&self) -> u64 {
        self.written.id
    }

    /// Returns the permalink.
    pub fn url(&self) -> &str {
        &self.written.url
    }

    /// Returns whether the post was created by this call, with the given body. If not, an earlier
    /// attempt created it, possibly with a different body.
    pub fn fresh(&self) -> bool {
        self.fresh
    }
}

/// Returns the marker that ends every body the bot creates: an HTML comment, which is invisible
/// when rendered.
pub fn marker(lease: &Lease, key: &str) -> String {
    format!("<!-- planwright:effect {}/{key} -->", lease.run)
}

/// Returns whether `post` was created by the effect with this marker.
fn bears(post: &Written, marker: &str) -> bool {
    post.body.trim_end().ends_with(marker)
}

/// Performs writes on behalf of one leased run.
#[derive(Clone)]
pub struct Effects {
    /// The durable store.
    pub store: Arc<dyn Store>,
    /// The GitHub client.
    pub forge: Arc<dyn Forge>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The lease on the run, which permits writes.
    pub lease: Lease,
    /// The time to wait before looking for a write of unknown outcome, see
    /// [`WorkerSettings::adopt_delay`](super::settings::WorkerSettings); zero when running against
    /// the simulator.
    pub adopt_delay: Duration,
    /// The time of the command by GitHub's clock; no post of the run is older. The local clock is
    /// not used, because it may differ from GitHub's.
    pub since: Millis,
    /// Whether earlier processes may have performed the run's effects without a record in this
    /// store, so that GitHub is searched before each create.
    pub search_first: bool,
}

impl Effects {
    /// Performs a write that may be repeated safely (an edit, a reaction, a label). It is skipped
    /// if it is known to be done.
    ///
    /// # Errors
    /// Returns [`StepError::Store`] if the effect cannot be recorded, and [`StepError::Forge`] if
    /// the request fails.
    pub async fn idempotent<T, F>(&self, key: &str, write: F) -> Result<T, StepError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, ForgeError>> + Send,
    {
        if let EffectState::Done(result) = self.begin(key).await? {
            return self.recall(key, &result);
        }
        let result = write.await;
        metrics::effect(key, outcome(&result));
        let result = result?;
        self.end(key, &result).await?;
        Ok(result)
    }

    /// Creates an issue once. The id of the result is the issue number.
    ///
    /// # Errors
    /// As [`Effects::idempotent`], and [`StepError::Settling`] if an earlier try may still be in
    /// progress.
    pub async fn create_issue(
        &self,
        key: &str,
        repo: &Repo,
        title: &str,
        body: &str,
        labels: &[&str],
    ) -> Result<Posted, StepError> {
        let marker = marker(&self.lease, key);
        let body = with_marker(body, &marker);
        self.create(
            key,
            &marker,
            PostKind::Issue,
            self.forge.own_issues(repo, self.since),
            self.forge.create_issue(repo, title, &body, labels),
        )
        .await
    }

    /// Creates a comment once.
    ///
    /// # Errors
    /// As [`Effects::create_issue`].
    pub async fn create_comment(
        &self,
        key: &str,
        repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<Posted, StepError> {
        let marker = marker(&self.lease, key);
        let body = with_marker(body, &marker);
        self.create(
            key,
            &marker,
            PostKind::Comment(number),
            self.forge.own_comments(repo, number, self.since),
            self.forge.create_comment(repo, number, &body),
        )
        .await
    }

    /// Replaces the body of a comment that [`Effects::create_comment`] created under the key
    /// `created`, keeping its marker.
    ///
    /// # Errors
    /// As [`Effects::idempotent`].
    pub async fn edit_comment(
        &self,
        key: &str,
        repo: &Repo,
        comment: u64,
        created: &str,
        body: &str,
    ) -> Result<(), StepError> {
        let body = with_marker(body, &marker(&self.lease, created));
        self.idempotent(key, self.forge.update_comment(repo, comment, &body))
            .await
    }

    /// Replaces the body of a comment like [`Effects::edit_comment`], but without a record, for
    /// edits that are superseded by the next one.
    ///
    /// # Errors
    /// Returns [`StepError::Forge`] if the request fails.
    pub async fn edit_unrecorded(
        &self,
        repo: &Repo,
        comment: u64,
        created: &str,
        body: &str,
    ) -> Result<(), StepError> {
        let body = with_marker(body, &marker(&self.lease, created));
        Ok(self.forge.update_comment(repo, comment, &body).await?)
    }

    /// Replaces the body of an issue that [`Effects::create_issue`] created under the key
    /// `created`, keeping its marker.
    ///
    /// # Errors
    /// As [`Effects::idempotent`].
    pub async fn edit_issue(
        &self,
        key: &str,
        repo: &Repo,
        number: u64,
        created: &str,
        body: &str,
    ) -> Result<(), StepError> {
        let body = with_marker(body, &marker(&self.lease, created));
        self.idempotent(key, self.forge.update_issue_body(repo, number, &body))
            .await
    }

    async fn create<L, W>(
        &self,
        key: &str,
        marker: &str,
        kind: PostKind,
        look: L,
        write: W,
    ) -> Result<Posted, StepError>
    where
        L: Future<Output = Result<Vec<Written>, ForgeError>> + Send,
        W: Future<Output = Result<Written, ForgeError>> + Send,
    {
        let state = self.begin(key).await?;
        let first = state == EffectState::New;
        match state {
            EffectState::Done(result) => {
                let kept: StoredPost = self.recall(key, &result)?;
                return Ok(Posted {
                    written: kept.written,
                    fresh: false,
                });
            }
            EffectState::Tried { last, .. } => {
                self.settled(last, 1)?;
                let found = look.await?.into_iter().find(|own| bears(own, marker));
                if let Some(found) = found {
                    tracing::info!(run.id = %self.lease.run, effect = key, id = found.id, "adopted an earlier write");
                    metrics::effect(key, EffectOutcome::Adopted);
                    return self.keep(key, found, None).await;
                }
                self.settled(last, LIST_LAG)?;
                self.tried(key).await?;
            }
            EffectState::New if self.search_first => {
                let found = look.await?.into_iter().find(|own| bears(own, marker));
                if let Some(found) = found {
                    tracing::info!(run.id = %self.lease.run, effect = key, id = found.id, "an earlier process wrote it");
                    metrics::effect(key, EffectOutcome::Adopted);
                    return self.keep(key, found, None).await;
                }
            }
            EffectState::New => {}
        }
        let result = write.await;
        metrics::effect(key, outcome(&result));
        match result {
            Ok(written) => {
                let at = self.clock.now();
                let again = (!first).then_some(Again { kind, at });
                let mut posted = self.keep(key, written, again).await?;
                posted.fresh = true;
                Ok(posted)
            }
            Err(error) => {
                if matches!(error, ForgeError::Unknown { .. }) {
                    // The request may have been queued before it was sent, so `adopt_delay` counts
                    // from now.
                    self.tried(key).await?;
                } else if first {
                    // Nothing was done, so the next try does not need to look for a result.
                    self.store.drop_effect(&self.lease, key).await?;
                }
                Err(error.into())
            }
        }
    }

    async fn keep(
        &self,
        key: &str,
        written: Written,
        again: Option<Again>,
    ) -> Result<Posted, StepError> {
        // The body can be long and is stored on GitHub; only the id and the URL are needed.
        let written = Written {
            body: String::new(),
            ..written
        };
        let kept = StoredPost { written, again };
        self.end(key, &kept).await?;
        Ok(Posted {
            written: kept.written,
            fresh: false,
        })
    }

    /// Searches for duplicate posts of this run, which exist if a list lagged longer than the run
    /// waited before it sent the post again. `home` is the place of the conversation; plan issues
    /// are in `repo`.
    ///
    /// # Errors
    /// Returns [`StepError::Settling`] while the lists may still lag, and [`StepError::Forge`] or
    /// [`StepError::Store`] if GitHub or the store fails.
    pub async fn strays(&self, repo: &Repo, home: &IssueRef) -> Result<Vec<Stray>, StepError> {
        let mut strays = Vec::new();
        for (key, result) in self.store.effects(&self.lease.run).await? {
            // Results of other effects have other types and do not parse.
            let Ok(StoredPost {
                written,
                again: Some(again),
            }) = serde_json::from_str(&result)
            else {
                continue;
            };
            self.settled(again.at, LIST_LAG)?;
            let own = match again.kind {
                PostKind::CheckRun => continue,
                PostKind::Issue => self.forge.own_issues(repo, self.since).await?,
                PostKind::Comment(number) => {
                    let repo = if number == home.number {
                        &home.repo
                    } else {
                        repo
                    };
                    self.forge.own_comments(repo, number, self.since).await?
                }
            };
            let marker = marker(&self.lease, &key);
            let others = own
                .iter()
                .filter(|own| own.id != written.id && bears(own, &marker));
            strays.extend(others.map(|own| Stray {
                kind: again.kind,
                id: own.id,
                kept: written.id,
            }));
        }
        Ok(strays)
    }

    /// Returns the id of the comment at `place` that the effect `key` created. It is searched on
    /// GitHub, regardless of what is recorded about the effect.
    ///
    /// # Errors
    /// Returns the error of the request to GitHub.
    pub async fn find_comment(
        &self,
        key: &str,
        place: &IssueRef,
    ) -> Result<Option<u64>, ForgeError> {
        let marker = marker(&self.lease, key);
        let own = self
            .forge
            .own_comments(&place.repo, place.number, self.since)
            .await?;
        Ok(own.iter().find(|own| bears(own, &marker)).map(|own| own.id))
    }

    /// Returns [`StepError::Settling`] until `times` times `adopt_delay` have passed since `last`.
    fn settled(&self, last: Millis, times: u32) -> Result<(), StepError> {
        let until = last.plus(self.adopt_delay * times);
        if self.clock.now() < until {
            return Err(StepError::Settling { until });
        }
        Ok(())
    }

    /// Records that the effect is tried again, or that the last try has just ended with unknown
    /// outcome.
    async fn tried(&self, key: &str) -> Result<(), StoreError> {
        let now = self.clock.now();
        self.store.retry_effect(&self.lease, key, now).await
    }

    async fn begin(&self, key: &str) -> Result<EffectState, StoreError> {
        self.store
            .begin_effect(&self.lease, key, self.clock.now())
            .await
    }

    async fn end<T: Serialize>(&self, key: &str, result: &T) -> Result<(), StoreError> {
        let json = serde_json::to_string(result).map_err(|error| StoreError::Corrupt {
            what: format!("result of effect {key}"),
            why: error.to_string(),
        })?;
        self.store
            .end_effect(&self.lease, key, &json, self.clock.now())
            .await
    }

    fn recall<T: DeserializeOwned>(&self, key: &str, json: &str) -> Result<T, StepError> {
        serde_json::from_str(json).map_err(|error| {
            StepError::Store(StoreError::Corrupt {
                what: format!("effect {key} of run {}", self.lease.run),
                why: error.to_string(),
            })
        })
    }
}

/// Returns the outcome of a write, for metrics.
fn outcome<T>(result: &Result<T, ForgeError>) -> EffectOutcome {
    match result {
        Ok(_) => EffectOutcome::Done,
        Err(ForgeError::Unknown { .. }) => EffectOutcome::Unknown,
        Err(_) => EffectOutcome::Failed,
    }
}

fn with_marker(body: &str, marker: &str) -> String {
    format!("{}\n\n{marker}", body.trim_end_matches('\n'))
}
