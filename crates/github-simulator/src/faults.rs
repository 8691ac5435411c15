//! Faults between a client and GitHub, on demand or at random from a seed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// Effect of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// The response is delayed by this time on the simulator's clock.
    Delay(Duration),
    /// 502 without handling the request.
    BadGatewayBefore,
    /// 502 after handling the request.
    BadGatewayAfter,
    /// The request is handled, then the connection is closed without a response.
    LostResponse,
    /// 403 of the secondary rate limit without handling the request.
    SecondaryLimit {
        /// Value of the header `retry-after`, in seconds; `None` leaves the header out.
        retry_after: Option<u64>,
    },
    /// 403 of the primary rate limit without handling the request.
    PrimaryLimit {
        /// Time at which the limit is reset, sent as `x-ratelimit-reset`.
        reset: DateTime<Utc>,
    },
    /// 401 `Bad credentials` without handling the request.
    BadCredentials,
    /// 503 `Service unavailable` without handling the request.
    Unavailable,
    /// A response with any status and JSON body, without handling the request.
    Response {
        /// HTTP status.
        status: u16,
        /// JSON body.
        body: serde_json::Value,
    },
}

/// What happens to a delivery on its way to the App.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookFault {
    /// GitHub never creates the delivery, so that its log does not have it either.
    NotCreated,
    /// A proxy in front of the App answers with this status.
    Proxy(u16),
    /// It is held back until [`Simulator::release_deliveries`](crate::Simulator::release_deliveries).
    Held,
    /// It is sent twice.
    Duplicated,
}

/// How often a fault is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Count(u32),
    Until(DateTime<Utc>),
}

/// A fault and the requests that it affects.
///
/// By default it affects the next matching request, once.
#[derive(Debug, Clone)]
pub struct Fault {
    method: Option<Method>,
    path: String,
    skip: u32,
    repeat: Repeat,
    kind: FaultKind,
}

impl Fault {
    /// Creates a fault for requests with this method (`*` for all) and path.
    ///
    /// In the path, `*` matches one segment and a final `**` any number of segments. Paths are
    /// matched without `/api/v3` and in the form `/repos/{owner}/{name}/…`, whatever form the
    /// request has.
    pub fn on(method: &str, path: &str, kind: FaultKind) -> Self {
        Self {
            method: Method::from_bytes(method.as_bytes())
                .ok()
                .filter(|method| method.as_str() != "*"),
            path: path.to_owned(),
            skip: 0,
            repeat: Repeat::Count(1),
            kind,
        }
    }

    /// Lets the first `count` matching requests pass.
    #[must_use]
    pub fn after(mut self, count: u32) -> Self {
        self.skip = count;
        self
    }

    /// Affects `count` requests.
    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.repeat = Repeat::Count(count);
        self
    }

    /// Affects all requests until this time.
    #[must_use]
    pub fn until(mut self, end: DateTime<Utc>) -> Self {
        self.repeat = Repeat::Until(end);
        self
    }

    fn matches(&self, method: &Method, path: &str) -> bool {
        self.method.as_ref().is_none_or(|wanted| wanted == method) && path_matches(&self.path, path)
    }
}

/// Returns whether `path` matches `pattern`.
pub(crate) fn path_matches(pattern: &str, path: &str) -> bool {
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

/// Random faults, which are the same for the same seed and the same order of requests.
#[derive(Debug, Clone)]
pub struct RandomFaults {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Probability that a request is affected, from 0 to 1.
    pub probability: f64,
    /// Faults to choose from, with equal probability.
    pub kinds: Vec<FaultKind>,
    /// Whether GET requests are exempt.
    pub writes_only: bool,
    /// Time at which the faults end.
    pub until: Option<DateTime<Utc>>,
}

#[derive(Debug, Default)]
struct FaultQueue {
    faults: Vec<Fault>,
    random: Option<(RandomFaults, StdRng)>,
    injected: u64,
}

/// Faults that a simulator injects into requests to its API.
#[derive(Debug, Default)]
pub struct Faults {
    queue: Mutex<FaultQueue>,
}

impl Faults {
    fn lock(&self) -> MutexGuard<'_, FaultQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a fault. If several faults match a request, the first one is injected.
    pub fn push(&self, fault: Fault) {
        self.lock().faults.push(fault);
    }

    /// Starts random faults, or ends them with `None`.
    pub fn set_random(&self, random: Option<RandomFaults>) {
        self.lock().random = random.map(|faults| {
            let generator = StdRng::seed_from_u64(faults.seed);
            (faults, generator)
        });
    }

    /// Removes all faults and ends random faults.
    pub fn clear(&self) {
        let mut queue = self.lock();
        queue.faults.clear();
        queue.random = None;
    }

    /// Returns the number of requests that a fault was injected into.
    pub fn injected(&self) -> u64 {
        self.lock().injected
    }

    /// Returns the fault of a request, if any, and counts it.
    pub(crate) fn inject(
        &self,
        method: &Method,
        path: &str,
        now: DateTime<Utc>,
    ) -> Option<FaultKind> {
        let mut queue = self.lock();
        queue.faults.retain(|fault| match fault.repeat {
            Repeat::Count(count) => count > 0,
            Repeat::Until(end) => now < end,
        });
        let mut injected = None;
        for fault in &mut queue.faults {
            if !fault.matches(method, path) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            if let Repeat::Count(count) = &mut fault.repeat {
                *count -= 1;
            }
            injected = Some(fault.kind.clone());
            break;
        }
        if injected.is_none()
            && let Some((faults, generator)) = &mut queue.random
            && faults.until.is_none_or(|end| now < end)
            && !(faults.writes_only && method == Method::GET)
            && generator.random_bool(faults.probability.clamp(0.0, 1.0))
            && !faults.kinds.is_empty()
        {
            let index = generator.random_range(0..faults.kinds.len());
            injected = faults.kinds.get(index).cloned();
        }
        if injected.is_some() {
            queue.injected += 1;
        }
        injected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(milliseconds).unwrap_or_default()
    }

    #[test]
    fn patterns_match_whole_segments() {
        assert!(path_matches("/repos/*/*/issues", "/repos/a/b/issues"));
        assert!(!path_matches("/repos/*/*/issues", "/repos/a/b/issues/1"));
        assert!(!path_matches("/repos/*/*/issues/*", "/repos/a/b/issues"));
        assert!(path_matches("/repos/**", "/repos/a/b/issues/1"));
        assert!(path_matches("/**", "/app"));
    }

    #[test]
    fn injects_after_and_for_a_number_of_requests() {
        let faults = Faults::default();
        faults.push(
            Fault::on("POST", "/a", FaultKind::BadGatewayBefore)
                .after(1)
                .times(2),
        );
        let hits: Vec<bool> = (0..5)
            .map(|_| faults.inject(&Method::POST, "/a", at(0)).is_some())
            .collect();
        assert_eq!(hits, [false, true, true, false, false]);
        assert!(faults.inject(&Method::GET, "/a", at(0)).is_none());
        assert_eq!(faults.injected(), 2);
    }

    #[test]
    fn injects_until_a_time() {
        let faults = Faults::default();
        faults.push(Fault::on("*", "/**", FaultKind::BadCredentials).until(at(10)));
        assert!(faults.inject(&Method::GET, "/x", at(9)).is_some());
        assert!(faults.inject(&Method::GET, "/x", at(10)).is_none());
    }

    #[test]
    fn random_faults_are_the_same_for_the_same_seed() {
        let run = |seed| {
            let faults = Faults::default();
            faults.set_random(Some(RandomFaults {
                seed,
                probability: 0.5,
                kinds: vec![FaultKind::LostResponse, FaultKind::BadGatewayAfter],
                writes_only: true,
                until: None,
            }));
            (0..50)
                .map(|_| faults.inject(&Method::POST, "/a", at(0)))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        assert!(run(7).iter().any(Option::is_some));
        assert!(run(7).iter().any(Option::is_none));
    }
}
