//! Exactly-once writes: every write to GitHub is recorded before it is tried and again when it is known to have happened.
//!
//! A create whose outcome nobody knows (timeout, 5xx, crash) is looked for before it is tried again: the bot lists its own
//! recent issues or comments and adopts the one that ends with the effect's marker. Only posts written by the App itself are
//! listed, so a pasted marker proves nothing. Check runs have a reference for that (`checks`).
//!
//! GitHub's lists lag behind its writes, so a post that is not listed is looked for again before it is sent again. If an even
//! longer lag leads to a second post all the same, [`Effects::strays`] finds the first one at the end of the run.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::forge::{Forge, ForgeError, Written};
use super::store::{EffectState, Lease, Store, StoreError};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Place, Repo};

mod checks;

/// For how many of these delays GitHub's lists may lag behind its writes: 72 s by default. What is not listed by then is
/// created again.
pub const LIST_LAG: u32 = 6;

/// Why a step could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// GitHub did not do it.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The store did not do it, or the lease is lost.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Too early to go on: a write of unknown outcome may still be at work, or GitHub's answers lag behind.
    #[error("GitHub is given time until {} to catch up with an earlier write", until.iso())]
    Settling {
        /// When to go on.
        until: Millis,
    },
    /// Nothing to do before then: people are asked, or an agent is tried again later.
    #[error("{why}")]
    Wait {
        /// When to go on at the latest; a message to the run wakes it earlier.
        until: Millis,
        /// What is waited for, for `/plan-status`.
        why: String,
    },
    /// The run is to end with this error.
    #[error("{}: {}", .0.code.name(), .0.message)]
    Failed(super::model::failure::Failure),
    /// Somebody asked the run to stop.
    #[error("stopped by {0}")]
    Cancelled(String),
}

/// An issue or comment that is known to be there, because its effect is recorded as done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    written: Written,
    fresh: bool,
}

/// What kind of post an effect creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An issue.
    Issue,
    /// A comment on this issue or pull request.
    Comment(u64),
    /// A check run.
    CheckRun,
}

/// The result of an effect that creates something, as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    written: Written,
    /// It was sent a second time after an unknown outcome: the first post may exist too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    again: Option<Again>,
}

/// A second try at creating something.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Again {
    kind: Kind,
    at: Millis,
}

/// A post of this run that exists beside the one that the run goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// What it is.
    pub kind: Kind,
    /// Comment id, or issue number.
    pub id: u64,
    /// The one that the run goes by.
    pub kept: u64,
}

impl Posted {
    /// Comment id, or issue number.
    pub fn id(&self) -> u64 {
        self.written.id
    }

    /// Permalink.
    pub fn url(&self) -> &str {
        &self.written.url
    }

    /// It was made now, with the body that was given. Else an earlier attempt made it, perhaps with another one.
    pub fn fresh(&self) -> bool {
        self.fresh
    }
}

/// The marker that ends every body the bot creates: an HTML comment, invisible when rendered.
pub fn marker(lease: &Lease, key: &str) -> String {
    format!("<!-- planwright:effect {}/{key} -->", lease.run)
}

/// Whether `post` is what the effect with this marker created.
fn bears(post: &Written, marker: &str) -> bool {
    post.body.trim_end().ends_with(marker)
}

/// Writes on behalf of one leased run.
#[derive(Clone)]
pub struct Effects {
    /// Durable memory.
    pub store: Arc<dyn Store>,
    /// GitHub.
    pub forge: Arc<dyn Forge>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The right to write.
    pub lease: Lease,
    /// See [`ADOPT_DELAY`]; zero against the simulator.
    pub adopt_delay: Duration,
    /// When the run was asked for, by GitHub's clock: nothing that it posts is older. This machine's clock says nothing
    /// about GitHub's lists, however wrong it is.
    pub since: Millis,
}

impl Effects {
    /// A write that may be repeated without harm (an edit, a reaction, a label): skipped once it is known to be done.
    ///
    /// # Errors
    /// [`Stop::Store`] when the effect cannot be recorded, [`Stop::Forge`] when GitHub does not do it.
    pub async fn idempotent<T, F>(&self, key: &str, write: F) -> Result<T, Stop>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, ForgeError>> + Send,
    {
        if let EffectState::Done(result) = self.begin(key).await? {
            return self.recall(key, &result);
        }
        let result = write.await?;
        self.end(key, &result).await?;
        Ok(result)
    }

    /// Creates an issue once; its number is the id.
    ///
    /// # Errors
    /// As [`Effects::idempotent`]; [`Stop::Settling`] when an earlier try may still be at work.
    pub async fn create_issue(
        &self,
        key: &str,
        repo: &Repo,
        title: &str,
        body: &str,
        labels: &[&str],
    ) -> Result<Posted, Stop> {
        let marker = marker(&self.lease, key);
        let body = with_marker(body, &marker);
        self.create(
            key,
            &marker,
            Kind::Issue,
            self.forge.own_issues(repo, self.since),
            self.forge.create_issue(repo, title, &body, labels),
        )
        .await
    }

    /// Adds a comment once.
    ///
    /// # Errors
    /// As [`Effects::create_issue`].
    pub async fn create_comment(
        &self,
        key: &str,
        repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<Posted, Stop> {
        let marker = marker(&self.lease, key);
        let body = with_marker(body, &marker);
        self.create(
            key,
            &marker,
            Kind::Comment(number),
            self.forge.own_comments(repo, number, self.since),
            self.forge.create_comment(repo, number, &body),
        )
        .await
    }

    /// Edits a comment that [`Effects::create_comment`] made under `created`, keeping its marker.
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
    ) -> Result<(), Stop> {
        let body = with_marker(body, &marker(&self.lease, created));
        self.idempotent(key, self.forge.update_comment(repo, comment, &body))
            .await
    }

    /// The same without a record: for edits that the next one makes void.
    ///
    /// # Errors
    /// [`Stop::Forge`] when GitHub does not do it.
    pub async fn edit_unrecorded(
        &self,
        repo: &Repo,
        comment: u64,
        created: &str,
        body: &str,
    ) -> Result<(), Stop> {
        let body = with_marker(body, &marker(&self.lease, created));
        Ok(self.forge.update_comment(repo, comment, &body).await?)
    }

    /// Replaces the body of an issue that [`Effects::create_issue`] made under `created`, keeping its marker.
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
    ) -> Result<(), Stop> {
        let body = with_marker(body, &marker(&self.lease, created));
        self.idempotent(key, self.forge.update_issue_body(repo, number, &body))
            .await
    }

    async fn create<L, W>(
        &self,
        key: &str,
        marker: &str,
        kind: Kind,
        look: L,
        write: W,
    ) -> Result<Posted, Stop>
    where
        L: Future<Output = Result<Vec<Written>, ForgeError>> + Send,
        W: Future<Output = Result<Written, ForgeError>> + Send,
    {
        let state = self.begin(key).await?;
        let first = state == EffectState::New;
        match state {
            EffectState::Done(result) => {
                let kept: Kept = self.recall(key, &result)?;
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
                    return self.keep(key, found, None).await;
                }
                self.settled(last, LIST_LAG)?;
                self.tried(key).await?;
            }
            EffectState::New => {}
        }
        match write.await {
            Ok(written) => {
                let at = self.clock.now();
                let again = (!first).then_some(Again { kind, at });
                let mut posted = self.keep(key, written, again).await?;
                posted.fresh = true;
                Ok(posted)
            }
            Err(error) => {
                if matches!(error, ForgeError::Unknown { .. }) {
                    // It may have waited its turn before it was sent: the settling time counts from now.
                    self.tried(key).await?;
                } else if first {
                    // Nothing was done, so the next try has nothing to look for.
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
    ) -> Result<Posted, Stop> {
        // The body is on GitHub and can be long: what identifies it is enough.
        let written = Written {
            body: String::new(),
            ..written
        };
        let kept = Kept { written, again };
        self.end(key, &kept).await?;
        Ok(Posted {
            written: kept.written,
            fresh: false,
        })
    }

    /// Looks once more for posts of this run that exist twice, because a list lagged behind for longer than the run waited
    /// before it sent the post again. `home` is where the conversation is; plan issues are in `repo`.
    ///
    /// # Errors
    /// [`Stop::Settling`] while the lists may still lag behind, [`Stop::Forge`] and [`Stop::Store`] when GitHub or the store
    /// does not answer.
    pub async fn strays(&self, repo: &Repo, home: &Place) -> Result<Vec<Stray>, Stop> {
        let mut strays = Vec::new();
        for (key, result) in self.store.effects(&self.lease.run).await? {
            // The results of other effects have other shapes.
            let Ok(Kept {
                written,
                again: Some(again),
            }) = serde_json::from_str(&result)
            else {
                continue;
            };
            self.settled(again.at, LIST_LAG)?;
            let own = match again.kind {
                Kind::CheckRun => continue,
                Kind::Issue => self.forge.own_issues(repo, self.since).await?,
                Kind::Comment(number) => {
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

    /// The comment at `place` that the effect `key` created, whatever is recorded about it.
    ///
    /// # Errors
    /// GitHub did not answer.
    pub async fn find_comment(&self, key: &str, place: &Place) -> Result<Option<u64>, ForgeError> {
        let marker = marker(&self.lease, key);
        let own = self
            .forge
            .own_comments(&place.repo, place.number, self.since)
            .await?;
        Ok(own.iter().find(|own| bears(own, &marker)).map(|own| own.id))
    }

    /// Whether so many settling times have passed since a write was last tried.
    fn settled(&self, last: Millis, times: u32) -> Result<(), Stop> {
        let until = last.plus(self.adopt_delay * times);
        if self.clock.now() < until {
            return Err(Stop::Settling { until });
        }
        Ok(())
    }

    /// Records that it is tried again, or that the last try has only now ended, its outcome unknown.
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

    fn recall<T: DeserializeOwned>(&self, key: &str, json: &str) -> Result<T, Stop> {
        serde_json::from_str(json).map_err(|error| {
            Stop::Store(StoreError::Corrupt {
                what: format!("effect {key} of run {}", self.lease.run),
                why: error.to_string(),
            })
        })
    }
}

fn with_marker(body: &str, marker: &str) -> String {
    format!("{}\n\n{marker}", body.trim_end_matches('\n'))
}
