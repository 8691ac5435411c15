//! Reads GitHub's log of the App's deliveries and receives those that did not arrive.
//!
//! GitHub does not repeat a delivery that failed, but lists all attempts of the last days
//! (<https://docs.github.com/en/rest/apps/webhooks>). A walk reads the list from the newest attempt
//! back to the watermark, the time up to which everything was looked at before. Deliveries about
//! which nothing was decided yet are stored as missed, page by page, together with the position of
//! the walk; the watermark moves only at the end of a walk. Then the payloads of the missed ones
//! are fetched, the oldest first, and received like webhook requests. Whatever is interrupted goes
//! on where it was.
//!
//! The status of an attempt is not looked at: a delivery that was answered with 202 is missed too
//! if the database does not know it, for example because it was restored from a backup.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::clock::Clock;
use super::decide::concerns_us;
use super::forge::ForgeError;
use super::intake::{Authentic, Intake, Outcome};
use super::metrics;
use super::settings::SweepSettings;
use super::store::{Store, StoreError};
use crate::engine::model::intake::{LogState, LoggedAttempt, Source, Subject, Walk};
use crate::engine::model::time::Millis;

/// Time before the watermark that every walk reads again, because attempts may appear in the list
/// late and out of order.
pub const OVERLAP: Duration = Duration::from_mins(10);

/// Time for which GitHub keeps deliveries
/// (<https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks>).
pub const RETENTION: Duration = Duration::from_hours(72);

/// Number of missed deliveries that are read from the store at a time.
const BATCH: u32 = 50;

/// Number of failed attempts to fetch a payload after which the later ones are not held up by it.
const MAX_FAILURES: u32 = 3;

const HOUR: Duration = Duration::from_hours(1);

/// A page of GitHub's log of deliveries.
#[derive(Debug, Clone, Default)]
pub struct LogPage {
    /// Attempts, the newest first.
    pub attempts: Vec<LoggedAttempt>,
    /// The cursor of the next page; `None` at the end of the log.
    pub next: Option<String>,
}

/// GitHub's log of the App's deliveries.
#[async_trait]
pub trait DeliveryLog: Send + Sync + 'static {
    /// A delivery read from the log. It is authentic because GitHub's API returned it; the
    /// signature of the original request cannot be checked again.
    type Delivery: Authentic + Send;

    /// Returns the time by GitHub's clock, which the times of attempts are compared with.
    fn time(&self) -> Millis;

    /// Returns the page at `cursor`, or the newest. Fails with [`ForgeError::Rejected`] if GitHub
    /// does not know the cursor.
    async fn page(&self, cursor: Option<&str>) -> Result<LogPage, ForgeError>;

    /// Returns the delivery of an attempt.
    async fn delivery(&self, attempt: &LoggedAttempt) -> Result<Self::Delivery, ForgeError>;
}

/// The reason why reading the log was interrupted. It goes on at the next call.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// GitHub did not respond as expected.
    #[error("{0}")]
    Forge(#[from] ForgeError),
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A delivery could not be stored at the moment.
    #[error("a delivery cannot be stored: {0}")]
    Busy(String),
    /// The requests of this hour are used up.
    #[error("sweep.max_requests_per_hour is reached until {}", until.iso())]
    Budget {
        /// The end of the hour.
        until: Millis,
    },
}

/// The result of reading the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Number of missed deliveries that were received.
    pub received: usize,
    /// Number of those that started runs.
    pub accepted: usize,
    /// The period whose deliveries GitHub no longer lists, if the log was not read for so long.
    pub beyond: Option<(Millis, Millis)>,
}

/// Reads the log.
pub struct Sweep<L> {
    log: Arc<L>,
    store: Arc<dyn Store>,
    intake: Arc<Intake>,
    clock: Arc<dyn Clock>,
    settings: SweepSettings,
    memory: Mutex<Memory>,
}

/// What is known of earlier calls in this process.
#[derive(Debug, Default)]
struct Memory {
    /// Beginning of the hour, and requests used in it.
    used: (Millis, u32),
    /// The newest attempt in the log, and when it was first seen.
    newest: Option<(u64, Millis)>,
    /// Failed requests for the payload of an attempt.
    failures: HashMap<u64, u32>,
}

impl<L: DeliveryLog> Sweep<L> {
    /// Creates a reader of `log`.
    pub fn new(
        log: Arc<L>,
        store: Arc<dyn Store>,
        intake: Arc<Intake>,
        clock: Arc<dyn Clock>,
        settings: SweepSettings,
    ) -> Self {
        Self {
            log,
            store,
            intake,
            clock,
            settings,
            memory: Mutex::default(),
        }
    }

    /// Reads the log up to the newest delivery and receives what was missed.
    ///
    /// # Errors
    /// Returns the reason why it was interrupted. Nothing is lost or skipped by that.
    pub async fn run(&self) -> Result<Swept, SweepError> {
        let mut swept = Swept::default();
        loop {
            let state = match self.store.log_state().await? {
                Some(state) => state,
                None => self.begin().await?,
            };
            let resumed = state.walk.is_some();
            if !resumed {
                swept.beyond = self.beyond(&state);
            }
            self.walk(state).await?;
            self.receive(&mut swept).await?;
            // After a walk of an earlier call, what came since is still to be read.
            if !resumed {
                return Ok(swept);
            }
        }
    }

    /// Returns the time until the log should be read again. With `pulls`, it is the only or the
    /// first source of deliveries.
    pub fn pause(&self, pulls: bool) -> Duration {
        let settings = &self.settings;
        if !pulls {
            return settings.every;
        }
        let now = self.clock.now();
        let seen = self.memory().newest.map_or(now, |(_, seen)| seen);
        let longest = settings.every.max(settings.pull_every);
        (now.since(seen) / 10).clamp(settings.pull_every, longest)
    }

    /// Reads the log again and again, after a pause each time, until `stop` is cancelled.
    pub async fn drive(&self, pulls: bool, stop: &CancellationToken) {
        let mut pause = self.pause(pulls);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.clock.sleep(pause) => {}
            }
            // Dropped in the middle, it goes on at the next start.
            tokio::select! {
                () = stop.cancelled() => return,
                next = self.round(pulls) => pause = next,
            }
        }
    }

    /// Reads the log once, logs the result and returns the pause until the next time.
    pub async fn round(&self, pulls: bool) -> Duration {
        let pause = self.pause(pulls);
        match self.run().await {
            Ok(swept) => {
                metrics::happened(&metrics::SWEEP_COMPLETED, self.clock.now());
                if let Some((from, to)) = swept.beyond {
                    tracing::warn!(
                        from = from.iso(),
                        to = to.iso(),
                        "GitHub no longer lists the deliveries of this period; only a scan can find their commands"
                    );
                }
                if swept.received > 0 && !pulls {
                    tracing::warn!(
                        deliveries = swept.received,
                        with_commands = swept.accepted,
                        "received deliveries that did not arrive as webhook requests"
                    );
                }
                tracing::debug!(received = swept.received, "delivery log read");
                pause
            }
            Err(error) => {
                tracing::warn!(%error, "the delivery log could not be read to its end; it goes on later");
                let now = self.clock.now();
                match error {
                    SweepError::Forge(ForgeError::Limited { until, .. })
                    | SweepError::Budget { until } => until.since(now).max(pause),
                    _ => pause,
                }
            }
        }
    }

    /// Stores the first watermark. Deliveries before the first start are of no concern, because
    /// another database may have handled them.
    async fn begin(&self) -> Result<LogState, StoreError> {
        let state = LogState {
            watermark: self.log.time(),
            walk: None,
        };
        self.store.save_log_state(&state, &[]).await?;
        Ok(state)
    }

    fn beyond(&self, state: &LogState) -> Option<(Millis, Millis)> {
        let oldest = self.log.time().minus(RETENTION);
        (state.watermark < oldest).then_some((state.watermark, oldest))
    }

    /// Reads the list back to the watermark and stores what was missed.
    async fn walk(&self, mut state: LogState) -> Result<(), SweepError> {
        let stop_at = state.watermark.minus(OVERLAP);
        let mut walk = state.walk.clone().unwrap_or(Walk {
            began: state.watermark,
            cursor: None,
        });
        // Only the cursor of an earlier call can be too old.
        let mut resumes = walk.cursor.is_some();
        loop {
            self.spend()?;
            let page = match self.log.page(walk.cursor.as_deref()).await {
                Err(ForgeError::Rejected { .. }) if resumes => {
                    // What was found so far is stored.
                    walk.cursor = None;
                    resumes = false;
                    continue;
                }
                page => page?,
            };
            if walk.cursor.is_none()
                && let Some(newest) = page.attempts.first()
            {
                walk.began = walk.began.max(newest.delivered);
                self.note_newest(newest.id);
            }
            let missed = self.missed(&page.attempts, stop_at).await?;
            let last = page.attempts.last();
            let next = page
                .next
                .filter(|_| last.is_some_and(|last| last.delivered >= stop_at));
            let ended = next.is_none();
            let now = if ended {
                LogState {
                    watermark: walk.began,
                    walk: None,
                }
            } else {
                walk.cursor = next;
                LogState {
                    watermark: state.watermark,
                    walk: Some(walk.clone()),
                }
            };
            if now != state || !missed.is_empty() {
                self.store.save_log_state(&now, &missed).await?;
                state = now;
            }
            if ended {
                return Ok(());
            }
        }
    }

    /// Returns the attempts since `stop_at` whose deliveries may ask for something and were not
    /// decided.
    async fn missed(
        &self,
        attempts: &[LoggedAttempt],
        stop_at: Millis,
    ) -> Result<Vec<LoggedAttempt>, StoreError> {
        let ours = || {
            attempts.iter().filter(|one| {
                one.delivered >= stop_at && concerns_us(&one.event, one.action.as_deref())
            })
        };
        let guids: Vec<&str> = ours().map(|one| &*one.guid).collect();
        if guids.is_empty() {
            return Ok(Vec::new());
        }
        // Decisions that are not written yet would make their deliveries look missed.
        self.intake.flush().await;
        let decided = self.decided(&guids, stop_at).await?;
        Ok(ours()
            .filter(|one| !decided.contains(&one.guid))
            .cloned()
            .collect())
    }

    /// Returns those of `guids`, delivered at `delivered` or later by GitHub's clock, about which
    /// something was decided.
    async fn decided(
        &self,
        guids: &[&str],
        delivered: Millis,
    ) -> Result<HashSet<String>, StoreError> {
        let now = self.clock.now();
        let ahead = now.0.saturating_sub(self.log.time().0);
        let here = Millis(delivered.0.saturating_add(ahead));
        self.store.decided(guids, here.minus(OVERLAP)).await
    }

    /// Fetches the missed deliveries and passes them to the intake.
    async fn receive(&self, swept: &mut Swept) -> Result<(), SweepError> {
        let mut held_up = 0;
        loop {
            let missed = self.store.missed(held_up + BATCH).await?;
            let rest = usize::try_from(held_up).unwrap_or(usize::MAX);
            if missed.len() <= rest {
                return Ok(());
            }
            let guids: Vec<&str> = missed.iter().map(|one| &*one.guid).collect();
            let oldest = missed.iter().map(|one| one.delivered).min();
            let decided = self.decided(&guids, oldest.unwrap_or_default()).await?;
            let mut handled = Vec::new();
            let mut interrupted = None;
            for attempt in missed.iter().skip(rest) {
                if decided.contains(&attempt.guid) {
                    handled.push(attempt.id);
                    continue;
                }
                match self.receive_one(attempt, swept).await {
                    Ok(()) => handled.push(attempt.id),
                    Err(SweepError::Forge(error)) if self.is_stuck(attempt, &error) => {
                        tracing::warn!(delivery.guid = attempt.guid, %error, "the payload of a missed delivery cannot be fetched");
                        held_up += 1;
                    }
                    Err(error) => {
                        interrupted = Some(error);
                        break;
                    }
                }
            }
            // Decisions first: an attempt that is removed without one would be lost.
            self.intake.flush().await;
            for id in handled {
                self.store.drop_missed(id).await?;
                self.memory().failures.remove(&id);
            }
            if let Some(error) = interrupted {
                return Err(error);
            }
        }
    }

    async fn receive_one(
        &self,
        attempt: &LoggedAttempt,
        swept: &mut Swept,
    ) -> Result<(), SweepError> {
        self.spend()?;
        let delivery = match self.log.delivery(attempt).await {
            Ok(delivery) => delivery,
            Err(error) if error.is_absence() || matches!(error, ForgeError::Unreadable { .. }) => {
                tracing::warn!(delivery.guid = attempt.guid, %error, "a missed delivery is lost");
                let subject = Subject {
                    action: attempt.action.clone(),
                    repo: attempt.repo,
                    ..Subject::default()
                };
                let why = format!("its payload could not be read from GitHub's log: {error}");
                self.intake
                    .give_up(
                        Source::DeliveryLog,
                        &attempt.guid,
                        &attempt.event,
                        subject,
                        &why,
                    )
                    .await;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        swept.received += 1;
        match self.intake.accept(&delivery).await {
            Outcome::Busy(message) => return Err(SweepError::Busy(message)),
            Outcome::Accepted(_) => swept.accepted += 1,
            _ => {}
        }
        Ok(())
    }

    /// Returns whether this attempt has failed so often that the others should not wait for it.
    fn is_stuck(&self, attempt: &LoggedAttempt, error: &ForgeError) -> bool {
        if !matches!(error, ForgeError::Unknown { .. }) {
            return false;
        }
        let mut memory = self.memory();
        let failures = memory.failures.entry(attempt.id).or_default();
        *failures += 1;
        *failures > MAX_FAILURES
    }

    /// Counts a request.
    fn spend(&self) -> Result<(), SweepError> {
        let now = self.clock.now();
        let mut memory = self.memory();
        let (start, used) = &mut memory.used;
        if now.since(*start) >= HOUR || now < *start {
            (*start, *used) = (now, 0);
        }
        if *used >= self.settings.max_requests {
            return Err(SweepError::Budget {
                until: start.plus(HOUR),
            });
        }
        *used += 1;
        Ok(())
    }

    fn note_newest(&self, newest: u64) {
        let now = self.clock.now();
        let mut memory = self.memory();
        if memory.newest.is_none_or(|(id, _)| id != newest) {
            memory.newest = Some((newest, now));
        }
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
