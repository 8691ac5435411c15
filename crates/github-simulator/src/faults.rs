//! What can go wrong on the way to GitHub and back, on demand or at random from a seed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use chrono::{DateTime, Utc};

/// One thing that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The answer takes this much longer (by the simulator's clock).
    Delay(Duration),
    /// 502; nothing was done.
    BadGatewayBefore,
    /// 502; it was done.
    BadGatewayAfter,
    /// It was done, and the connection ends without an answer.
    LostAnswer,
    /// 403 for the secondary rate limit, with `retry-after` in seconds or without it; nothing was done.
    SecondaryLimit {
        /// Seconds.
        retry_after: Option<u64>,
    },
    /// 403 for the primary rate limit until `reset`; nothing was done.
    PrimaryLimit {
        /// `x-ratelimit-reset`.
        reset: DateTime<Utc>,
    },
    /// 401 `Bad credentials`; nothing was done.
    BadCredentials,
    /// 503 `Service unavailable`; nothing was done.
    Unavailable,
    /// Any status with any JSON; nothing was done.
    Answer {
        /// HTTP status.
        status: u16,
        /// Body.
        body: serde_json::Value,
    },
}

/// How often a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    Count(u32),
    Until(DateTime<Utc>),
}

/// A fault and when it strikes: the next request that fits, once, unless said otherwise.
#[derive(Debug, Clone)]
pub struct Fault {
    method: Option<Method>,
    path: String,
    skip: u32,
    times: Times,
    trouble: Trouble,
}

impl Fault {
    /// For requests with this method (`*` for all) and path. In the path `*` stands for one segment and a last `**` for
    /// any rest; it is written without `/api/v3` and as `/repos/{owner}/{name}/…` whatever form the request has.
    pub fn on(method: &str, path: &str, trouble: Trouble) -> Self {
        Self {
            method: Method::from_bytes(method.as_bytes())
                .ok()
                .filter(|method| method.as_str() != "*"),
            path: path.to_owned(),
            skip: 0,
            times: Times::Count(1),
            trouble,
        }
    }

    /// Lets the first `count` fitting requests pass.
    #[must_use]
    pub fn after(mut self, count: u32) -> Self {
        self.skip = count;
        self
    }

    /// Strikes `count` times.
    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.times = Times::Count(count);
        self
    }

    /// Strikes every time until this moment.
    #[must_use]
    pub fn until(mut self, end: DateTime<Utc>) -> Self {
        self.times = Times::Until(end);
        self
    }

    fn fits(&self, method: &Method, path: &str) -> bool {
        self.method.as_ref().is_none_or(|wanted| wanted == method) && matches(&self.path, path)
    }
}

/// True when `path` fits `pattern`.
fn matches(pattern: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    for wanted in pattern.split('/') {
        if wanted == "**" {
            return true;
        }
        match segments.next() {
            Some(segment) if wanted == "*" || wanted == segment => {}
            _ => return false,
        }
    }
    segments.next().is_none()
}

/// Faults at random, the same ones for the same seed and the same order of requests.
#[derive(Debug, Clone)]
pub struct Storm {
    /// Seed.
    pub seed: u64,
    /// Probability that a request is struck, 0 to 1.
    pub probability: f64,
    /// What strikes; each is equally likely.
    pub troubles: Vec<Trouble>,
    /// Only requests that change something.
    pub writes_only: bool,
    /// End of the storm.
    pub until: Option<DateTime<Utc>>,
}

#[derive(Debug, Default)]
struct Plan {
    faults: Vec<Fault>,
    storm: Option<(Storm, StdRng)>,
    struck: u64,
}

/// The simulator's faults.
#[derive(Debug, Default)]
pub struct Faults {
    plan: Mutex<Plan>,
}

impl Faults {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a fault; earlier ones go first.
    pub fn push(&self, fault: Fault) {
        self.plan().faults.push(fault);
    }

    /// Begins a storm, or ends it with `None`.
    pub fn storm(&self, storm: Option<Storm>) {
        self.plan().storm = storm.map(|storm| {
            let random = StdRng::seed_from_u64(storm.seed);
            (storm, random)
        });
    }

    /// Removes every fault and ends a storm.
    pub fn clear(&self) {
        let mut plan = self.plan();
        plan.faults.clear();
        plan.storm = None;
    }

    /// How many requests have been struck.
    pub fn struck(&self) -> u64 {
        self.plan().struck
    }

    /// What strikes this request.
    pub(crate) fn strike(
        &self,
        method: &Method,
        path: &str,
        now: DateTime<Utc>,
    ) -> Option<Trouble> {
        let mut plan = self.plan();
        plan.faults.retain(|fault| match fault.times {
            Times::Count(count) => count > 0,
            Times::Until(end) => now < end,
        });
        let mut struck = None;
        for fault in &mut plan.faults {
            if !fault.fits(method, path) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            if let Times::Count(count) = &mut fault.times {
                *count -= 1;
            }
            struck = Some(fault.trouble.clone());
            break;
        }
        if struck.is_none()
            && let Some((storm, random)) = &mut plan.storm
            && storm.until.is_none_or(|end| now < end)
            && !(storm.writes_only && method == Method::GET)
            && random.random_bool(storm.probability.clamp(0.0, 1.0))
            && !storm.troubles.is_empty()
        {
            let index = random.random_range(0..storm.troubles.len());
            struck = storm.troubles.get(index).cloned();
        }
        if struck.is_some() {
            plan.struck += 1;
        }
        struck
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(milliseconds).unwrap_or_default()
    }

    #[test]
    fn patterns_fit_whole_segments() {
        assert!(matches("/repos/*/*/issues", "/repos/a/b/issues"));
        assert!(!matches("/repos/*/*/issues", "/repos/a/b/issues/1"));
        assert!(!matches("/repos/*/*/issues/*", "/repos/a/b/issues"));
        assert!(matches("/repos/**", "/repos/a/b/issues/1"));
        assert!(matches("/**", "/app"));
    }

    #[test]
    fn strikes_after_and_for_a_number_of_times() {
        let faults = Faults::default();
        faults.push(
            Fault::on("POST", "/a", Trouble::BadGatewayBefore)
                .after(1)
                .times(2),
        );
        let hits: Vec<bool> = (0..5)
            .map(|_| faults.strike(&Method::POST, "/a", at(0)).is_some())
            .collect();
        assert_eq!(hits, [false, true, true, false, false]);
        assert!(faults.strike(&Method::GET, "/a", at(0)).is_none());
        assert_eq!(faults.struck(), 2);
    }

    #[test]
    fn strikes_until_a_time() {
        let faults = Faults::default();
        faults.push(Fault::on("*", "/**", Trouble::BadCredentials).until(at(10)));
        assert!(faults.strike(&Method::GET, "/x", at(9)).is_some());
        assert!(faults.strike(&Method::GET, "/x", at(10)).is_none());
    }

    #[test]
    fn a_storm_is_the_same_for_the_same_seed() {
        let run = |seed| {
            let faults = Faults::default();
            faults.storm(Some(Storm {
                seed,
                probability: 0.5,
                troubles: vec![Trouble::LostAnswer, Trouble::BadGatewayAfter],
                writes_only: true,
                until: None,
            }));
            (0..50)
                .map(|_| faults.strike(&Method::POST, "/a", at(0)))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        assert!(run(7).iter().any(Option::is_some));
        assert!(run(7).iter().any(Option::is_none));
    }
}
