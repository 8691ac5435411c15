//! Rate limits and the write lane.
//!
//! Rules: <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api> and the best practices page
//! beside it. `retry-after` first; else `x-ratelimit-reset` when nothing remains; else a minute, doubling.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::DateTime;
use http::StatusCode;

use super::answer::Complaint;
use super::transport::Answer;
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;
use crate::engine::model::time::Millis;

/// Default pause between writes, from GitHub's best practices.
pub(super) const WRITE_GAP: Duration = Duration::from_secs(1);

/// Default pause between writes that notify people, as in octokit's throttling plugin.
pub(super) const NOTIFY_GAP: Duration = Duration::from_secs(3);

/// First wait when GitHub limits without saying for how long.
const FALLBACK: Duration = Duration::from_mins(1);

/// The fallback doubles up to 64 minutes.
const MAX_DOUBLINGS: u32 = 6;

/// The primary limit's window is an hour. A longer wait is a broken clock on one side: ask again by then.
const MAX_WAIT: Duration = Duration::from_hours(2);

/// How long GitHub wants us to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// It said so.
    Until(Millis),
    /// It did not say.
    Unsaid,
}

/// GitHub's time when it answered.
pub(super) fn date(answer: &Answer) -> Option<Millis> {
    let date = DateTime::parse_from_rfc2822(answer.header("date")?).ok()?;
    Some(date.to_utc().into())
}

/// Whether the answer is a rate limit, and for how long.
pub(super) fn limited(answer: &Answer, now: Millis) -> Option<Wait> {
    if answer.status == StatusCode::UNPROCESSABLE_ENTITY {
        // The limit on creating content also answers like this (cli/cli#4801).
        return Complaint::of(answer)
            .mentions("was submitted too quickly")
            .then_some(Wait::Unsaid);
    }
    if !matches!(
        answer.status,
        StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS
    ) {
        return None;
    }
    let message = Complaint::of(answer).message.to_ascii_lowercase();
    let said = message.contains("rate limit") || message.contains("abuse detection");
    // The last request of the hour may well be one that is forbidden anyway.
    let refused = message.contains("not accessible by integration");
    let retry_after = retry_after(answer, now);
    let spent = answer.header("x-ratelimit-remaining") == Some("0");
    let limits = answer.status == StatusCode::TOO_MANY_REQUESTS
        || said
        || (!refused && (retry_after.is_some() || spent));
    limits.then(|| {
        retry_after
            .or_else(|| reset(answer, now).filter(|_| spent))
            .map_or(Wait::Unsaid, Wait::Until)
    })
}

/// When the budget is spent with this very answer: the moment it fills again.
pub(super) fn spent(answer: &Answer, now: Millis) -> Option<Millis> {
    let core = answer
        .header("x-ratelimit-resource")
        .is_none_or(|resource| resource == "core");
    (core && answer.header("x-ratelimit-remaining") == Some("0"))
        .then(|| reset(answer, now))
        .flatten()
}

/// `retry-after` in seconds or as a date; never zero, never more than [`MAX_WAIT`].
fn retry_after(answer: &Answer, now: Millis) -> Option<Millis> {
    let value = answer.header("retry-after")?.trim();
    let wait = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => Millis::from(DateTime::parse_from_rfc2822(value).ok()?.to_utc())
            .since(date(answer).unwrap_or(now)),
    };
    Some(now.plus(wait.clamp(Duration::from_secs(1), MAX_WAIT)))
}

/// `x-ratelimit-reset` (epoch seconds) when it lies ahead of the answer's own `Date`: this machine's clock may be wrong. In
/// the past it says nothing.
fn reset(answer: &Answer, now: Millis) -> Option<Millis> {
    let seconds: i64 = answer.header("x-ratelimit-reset")?.trim().parse().ok()?;
    let reset = Millis(seconds.saturating_mul(1000));
    let answered = date(answer).unwrap_or(now);
    (reset > answered).then(|| now.plus(reset.since(answered).min(MAX_WAIT)))
}

/// What is left of one installation's budget: while it is limited, nobody asks.
#[derive(Debug, Default)]
pub(super) struct Budget(Mutex<Spending>);

#[derive(Debug, Default)]
struct Spending {
    until: Option<Millis>,
    /// Limits without a time in a row.
    strikes: u32,
}

impl Budget {
    /// An error while the limit lasts.
    pub(super) fn check(&self, what: &str, now: Millis) -> Result<(), ForgeError> {
        match self.lock().until {
            Some(until) if until > now => Err(ForgeError::Limited {
                what: what.to_owned(),
                until,
            }),
            _ => Ok(()),
        }
    }

    /// Notes a limit and gives the moment it ends.
    pub(super) fn stop(&self, wait: Wait, now: Millis) -> Millis {
        let mut spending = self.lock();
        let running = spending.until.filter(|until| *until > now);
        let until = match (wait, running) {
            (Wait::Until(until), running) => running.map_or(until, |other| other.max(until)),
            // Requests that were under way together are one strike.
            (Wait::Unsaid, Some(running)) => running,
            (Wait::Unsaid, None) => {
                let doublings = spending.strikes.min(MAX_DOUBLINGS);
                spending.strikes = spending.strikes.saturating_add(1);
                now.plus(FALLBACK * 2_u32.pow(doublings))
            }
        };
        spending.until = Some(until);
        until
    }

    /// Notes that a request went through.
    pub(super) fn went_through(&self, now: Millis) {
        let mut spending = self.lock();
        if spending.until.is_none_or(|until| until <= now) {
            *spending = Spending::default();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Spending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes one after another, with a pause from the start of one to the start of the next.
#[derive(Debug, Default)]
pub(super) struct Lane(tokio::sync::Mutex<Last>);

/// When the last writes started.
#[derive(Debug, Default)]
pub(super) struct Last {
    write: Option<Millis>,
    notifying: Option<Millis>,
}

/// The pauses of a lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gaps {
    /// Between any two writes.
    pub(super) write: Duration,
    /// Between two writes that notify people.
    pub(super) notify: Duration,
}

impl Lane {
    /// Waits for the turn. The lane is free again when the returned guard is dropped.
    pub(super) async fn enter(
        &self,
        gaps: Gaps,
        notifies: bool,
        clock: &dyn Clock,
    ) -> tokio::sync::MutexGuard<'_, Last> {
        let mut last = self.0.lock().await;
        let now = clock.now();
        // Capped by the gap itself: a clock that was set back must not stop the lane.
        let left = |since: Option<Millis>, gap: Duration| {
            since.map_or(Duration::ZERO, |since| since.plus(gap).since(now).min(gap))
        };
        let mut wait = left(last.write, gaps.write);
        if notifies {
            wait = wait.max(left(last.notifying, gaps.notify));
        }
        if !wait.is_zero() {
            clock.sleep(wait).await;
        }
        let start = clock.now();
        last.write = Some(start);
        if notifies {
            last.notifying = Some(start);
        }
        last
    }
}
