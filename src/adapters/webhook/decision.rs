//! Deciding what a delivery asks for, away from the threads that serve connections.
//!
//! The longest comment takes tens of milliseconds to parse. On the threads that serve connections a few of them would
//! delay every other delivery and the health checks.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::Verified;
use crate::engine::decide::{Decision, Facts, PayloadError, decide};

/// Bodies up to here are decided where they were read: GitHub's part of one is about 10 KiB, and what is left for the
/// comment is parsed in a few milliseconds at most.
const MAX_DIRECT_BODY: usize = 16 * 1024;

/// How long a delivery waits for its turn. GitHub gives up on it after 10 seconds.
const MAX_WAIT: Duration = Duration::from_secs(7);

/// The turns: as many decisions at a time as there are processors.
#[derive(Debug)]
pub(super) struct Decisions(Arc<Semaphore>);

impl Default for Decisions {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self(Arc::new(Semaphore::new(processors)))
    }
}

impl Decisions {
    /// What `delivery` asks for; `None` when too many others wait to be decided.
    pub(super) async fn decide(
        &self,
        delivery: &Verified,
        facts: &Arc<Facts>,
    ) -> Option<Result<Decision, PayloadError>> {
        if delivery.body().len() <= MAX_DIRECT_BODY {
            return Some(decide(delivery.event(), delivery.body(), facts));
        }
        let turn = timeout(MAX_WAIT, Arc::clone(&self.0).acquire_owned());
        let turn = turn.await.ok()?.ok()?;
        let (event, body) = (delivery.event().to_owned(), delivery.shared_body());
        let facts = Arc::clone(facts);
        let decided = tokio::task::spawn_blocking(move || {
            // Kept until the work is done, also when the sender has hung up by then.
            let _turn = turn;
            decide(&event, &body, &facts)
        });
        decided.await.ok()
    }
}
