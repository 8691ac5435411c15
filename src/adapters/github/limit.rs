//! Rate limits and the write lane.
//!
//! Rules: <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api> and the
//! page on best practices beside it. `retry-after` has precedence, then `x-ratelimit-reset` if
//! nothing remains, then a minute, doubling.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::DateTime;
use http::StatusCode;

use super::response::{ErrorBody, Response};
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;
use crate::engine::model::time::Millis;

/// Default pause between writes, from GitHub's best practices.
pub(super) const DEFAULT_WRITE_GAP: Duration = Duration::from_secs(1);

/// Default pause between writes that notify people, as in octokit's throttling plugin.
pub(super) const DEFAULT_NOTIFY_GAP: Duration = Duration::from_secs(3);

/// First wait after a limit without a time.
const DEFAULT_WAIT: Duration = Duration::from_mins(1);

/// Maximum number of times the default wait doubles: up to 64 minutes.
const MAX_DOUBLINGS: u32 = 6;

/// Maximum wait. The window of the primary limit is an hour; a longer wait comes from a wrong
/// clock.
const MAX_WAIT: Duration = Duration::from_hours(2);

/// How long to wait after a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Until a time given by GitHub.
    Until(Millis),
    /// GitHub gave no time.
    Unspecified,
}

/// Returns the `Date` of the response: GitHub's clock.
pub(super) fn date(response: &Response) -> Option<Millis> {
    let date = DateTime::parse_from_rfc2822(response.header("date")?).ok()?;
    Some(date.to_utc().into())
}

/// Returns how long to wait if the response is a rate limit.
pub(super) fn rate_limit(response: &Response, now: Millis) -> Option<Wait> {
    if response.status == StatusCode::UNPROCESSABLE_ENTITY {
        // The limit on creating content also has this status (cli/cli#4801).
        return ErrorBody::of(response)
            .mentions("was submitted too quickly")
            .then_some(Wait::Unspecified);
    }
    if !matches!(
        response.status,
        StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS
    ) {
        return None;
    }
    let message = ErrorBody::of(response).message.to_ascii_lowercase();
    let said = message.contains("rate limit") || message.contains("abuse detection");
    // The last request of the hour may be one that is forbidden anyway.
    let refused = message.contains("not accessible by integration");
    let retry_after = retry_after(response, now);
    let spent = response.header("x-ratelimit-remaining") == Some("0");
    let limits = response.status == StatusCode::TOO_MANY_REQUESTS
        || said
        || (!refused && (retry_after.is_some() || spent));
    limits.then(|| {
        retry_after
            .or_else(|| reset(response, now).filter(|_| spent))
            .map_or(Wait::Unspecified, Wait::Until)
    })
}

/// Returns when the budget is refilled if this response used it up.
pub(super) fn exhausted_until(response: &Response, now: Millis) -> Option<Millis> {
    budget(response, now).and_then(|(remaining, until)| (remaining == 0).then_some(until))
}

/// Returns the number of requests that are left after this response, and when the budget is
/// refilled.
pub(super) fn budget(response: &Response, now: Millis) -> Option<(u64, Millis)> {
    let resource = response.header("x-ratelimit-resource");
    if resource.is_some_and(|resource| resource != "core") {
        return None;
    }
    let remaining = response.header("x-ratelimit-remaining")?.parse().ok()?;
    Some((remaining, reset(response, now)?))
}

/// Parses `retry-after` (seconds or a date); never zero, never more than [`MAX_WAIT`].
fn retry_after(response: &Response, now: Millis) -> Option<Millis> {
    let value = response.header("retry-after")?.trim();
    let wait = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => Millis::from(DateTime::parse_from_rfc2822(value).ok()?.to_utc())
            .since(date(response).unwrap_or(now)),
    };
    Some(now.plus(wait.clamp(Duration::from_secs(1), MAX_WAIT)))
}

/// Parses `x-ratelimit-reset` (epoch seconds). It is compared with the response's own `Date`,
/// because this machine's clock may be wrong; a time in the past is ignored.
fn reset(response: &Response, now: Millis) -> Option<Millis> {
    let seconds: i64 = response.header("x-ratelimit-reset")?.trim().parse().ok()?;
    let reset = Millis(seconds.saturating_mul(1000));
    let answered = date(response).unwrap_or(now);
    (reset > answered).then(|| now.plus(reset.since(answered).min(MAX_WAIT)))
}

/// The rate limit of one installation: while it lasts, no request is sent.
#[derive(Debug, Default)]
pub(super) struct RateLimit(Mutex<RateLimitState>);

#[derive(Debug, Default)]
struct RateLimitState {
    until: Option<Millis>,
    /// Consecutive limits without a time.
    strikes: u32,
    /// Requests that are left, and until when.
    budget: Option<(u64, Millis)>,
}

impl RateLimit {
    /// Returns an error while the limit lasts.
    pub(super) fn check(&self, what: &str, now: Millis) -> Result<(), ForgeError> {
        match self.lock().until {
            Some(until) if until > now => Err(ForgeError::Limited {
                what: what.to_owned(),
                until,
            }),
            _ => Ok(()),
        }
    }

    /// Records a limit and returns when it ends.
    pub(super) fn start(&self, wait: Wait, now: Millis) -> Millis {
        let mut state = self.lock();
        let running = state.until.filter(|until| *until > now);
        let until = match (wait, running) {
            (Wait::Until(until), running) => running.map_or(until, |other| other.max(until)),
            // Concurrent requests are one strike.
            (Wait::Unspecified, Some(running)) => running,
            (Wait::Unspecified, None) => {
                let doublings = state.strikes.min(MAX_DOUBLINGS);
                state.strikes = state.strikes.saturating_add(1);
                now.plus(DEFAULT_WAIT * 2_u32.pow(doublings))
            }
        };
        state.until = Some(until);
        until
    }

    /// Records a successful request.
    pub(super) fn record_success(&self, now: Millis) {
        let mut state = self.lock();
        if state.until.is_none_or(|until| until <= now) {
            state.until = None;
            state.strikes = 0;
        }
    }

    /// Records how many requests are left until a time.
    pub(super) fn record_budget(&self, remaining: u64, until: Millis) {
        self.lock().budget = Some((remaining, until));
    }

    /// Returns how many requests are left; `None` if it is not known, for example because the
    /// budget has been refilled since the last response.
    pub(super) fn budget(&self, now: Millis) -> Option<u64> {
        let (remaining, until) = self.lock().budget?;
        (now < until).then_some(remaining)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RateLimitState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serialises writes, with a pause from the start of one to the start of the next.
#[derive(Debug, Default)]
pub(super) struct WriteLane(tokio::sync::Mutex<LastWrites>);

/// When the last writes started.
#[derive(Debug, Default)]
pub(super) struct LastWrites {
    write: Option<Millis>,
    notifying: Option<Millis>,
}

/// The pauses of a lane; zero turns one off.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteGaps {
    /// Between any two writes.
    pub(super) write: Duration,
    /// Between two writes that notify people.
    pub(super) notify: Duration,
}

impl WriteLane {
    /// Waits for the turn. The lane is released when the returned guard is dropped.
    pub(super) async fn enter(
        &self,
        gaps: WriteGaps,
        notifies: bool,
        clock: &dyn Clock,
    ) -> tokio::sync::MutexGuard<'_, LastWrites> {
        let mut last = self.0.lock().await;
        let now = clock.now();
        // Capped by the gap itself: a clock that was set back must not block the lane.
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
