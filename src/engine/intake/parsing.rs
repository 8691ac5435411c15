//! Decides what a delivery asks for, on a blocking thread if that takes long.
//!
//! The longest comment takes tens of milliseconds to parse. On the threads that serve connections,
//! a few of them would delay every other delivery and the health checks.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::engine::decide::{AppIdentity, Decided, Payload, PayloadError, decide};

/// Maximum size of a body that is parsed on the thread that read it, in bytes. GitHub sends some
/// 20 KiB for a comment of usual length.
const MAX_DIRECT_BODY: usize = 64 * 1024;

/// Maximum length of a comment that is decided on the thread that read it, in bytes. Such a comment
/// is parsed in a few milliseconds, whatever it is. The JSON around a longer one is parsed a second
/// time on the blocking thread, which takes far less time than the comment.
const MAX_DIRECT_TEXT: usize = 8 * 1024;

/// Maximum time that a delivery waits for its turn. GitHub gives up after 10 seconds.
const MAX_WAIT: Duration = Duration::from_secs(7);

/// Limits concurrent decisions to the number of processors.
#[derive(Debug)]
pub(super) struct Parsing(Arc<Semaphore>);

impl Default for Parsing {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self(Arc::new(Semaphore::new(processors)))
    }
}

impl Parsing {
    /// Decides what the delivery of `event` with `body` asks for; `None` if too many others wait.
    pub(super) async fn decide(
        &self,
        event: &str,
        body: &Bytes,
        identity: &Arc<AppIdentity>,
    ) -> Option<Result<Decided, PayloadError>> {
        if body.len() <= MAX_DIRECT_BODY {
            match Payload::read(event, body) {
                Ok(read) if read.text_length() > MAX_DIRECT_TEXT => {}
                read => return Some(read.map(|read| read.decide(identity))),
            }
        }
        let turn = timeout(MAX_WAIT, Arc::clone(&self.0).acquire_owned());
        let turn = turn.await.ok()?.ok()?;
        let (event, body) = (event.to_owned(), body.clone());
        let identity = Arc::clone(identity);
        let decided = tokio::task::spawn_blocking(move || {
            // Held until the work is done, even if the sender has hung up by then.
            let _turn = turn;
            decide(&event, &body, &identity)
        });
        decided.await.ok()
    }
}
