//! Exactly-once writes: every write to GitHub is recorded before it is tried and again when it is known to have happened.
//!
//! A create whose outcome nobody knows (timeout, 5xx, crash) is looked for before it is tried again: the bot lists its own
//! recent issues or comments and adopts the one that ends with the effect's marker. Only posts written by the App itself are
//! listed, so a pasted marker proves nothing. Check runs have a reference for that (`checks`).

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::clock::{Clock, Millis};
use super::forge::{Forge, ForgeError, Written};
use super::store::{EffectState, Lease, Store, StoreError};
use super::trigger::Repo;

mod checks;

/// After an unknown outcome GitHub may still be at work, or its lists may lag: how long to wait before looking.
/// GitHub itself ends a request after 10 s (<https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api>).
pub const ADOPT_DELAY: Duration = Duration::from_secs(12);

/// Clocks differ: how far before the first try the look-up begins.
const CLOCK_SKEW: Duration = Duration::from_mins(5);

/// Why a step could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// GitHub did not do it.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The store did not do it, or the lease is lost.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Too early to look for an effect of unknown outcome.
    #[error("an earlier write is settling until {}", until.iso())]
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
    Failed(super::code::Failure),
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
            |since| self.forge.own_issues(repo, since),
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
            |since| self.forge.own_comments(repo, number, since),
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

    async fn create<L, W, Looking>(
        &self,
        key: &str,
        marker: &str,
        look: L,
        write: W,
    ) -> Result<Posted, Stop>
    where
        L: FnOnce(Millis) -> Looking + Send,
        Looking: Future<Output = Result<Vec<Written>, ForgeError>> + Send,
        W: Future<Output = Result<Written, ForgeError>> + Send,
    {
        match self.begin(key).await? {
            EffectState::Done(result) => {
                let written = self.recall(key, &result)?;
                let fresh = false;
                return Ok(Posted { written, fresh });
            }
            EffectState::Tried { since, last } => {
                self.settled(last)?;
                let found = look(since.minus(CLOCK_SKEW))
                    .await?
                    .into_iter()
                    .find(|own| own.body.trim_end().ends_with(marker));
                if let Some(found) = found {
                    tracing::info!(run.id = %self.lease.run, effect = key, id = found.id, "adopted an earlier write");
                    return self.keep(key, found, false).await;
                }
                self.tried(key).await?;
            }
            EffectState::New => {}
        }
        match write.await {
            Ok(written) => self.keep(key, written, true).await,
            Err(error) => {
                if matches!(error, ForgeError::Unknown { .. }) {
                    // It may have waited its turn before it was sent: the settling time counts from now.
                    self.tried(key).await?;
                }
                Err(error.into())
            }
        }
    }

    async fn keep(&self, key: &str, written: Written, fresh: bool) -> Result<Posted, Stop> {
        // The body is on GitHub and can be long: what identifies it is enough.
        let written = Written {
            body: String::new(),
            ..written
        };
        self.end(key, &written).await?;
        Ok(Posted { written, fresh })
    }

    /// Whether a write that was last tried then may be looked for.
    fn settled(&self, last: Millis) -> Result<(), Stop> {
        let until = last.plus(self.adopt_delay);
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
