//! What the handle, the HTTP server and the webhook sender share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::clock::Clock;
use crate::faults::Faults;
use crate::state::State;

/// A request to the API with the result of handling it.
#[derive(Debug, Clone)]
pub struct LoggedRequest {
    /// HTTP method.
    pub method: Method,
    /// Path without `/api/v3`, always in the form `/repos/{owner}/{name}`.
    pub path: String,
    /// Query parameters.
    pub query: Vec<(String, String)>,
    /// Request headers. They contain the access token, so do not print them.
    pub headers: HeaderMap,
    /// Request body.
    pub body: Bytes,
    /// Status of the response; `None` if a fault dropped the connection.
    pub status: Option<u16>,
    /// JSON body of the response.
    pub response: Option<Value>,
    /// Whether the request changed something in a repository, regardless of the response that the
    /// client got.
    pub changed: bool,
}

/// State that all parts of a simulator share.
pub(crate) struct Shared {
    pub(crate) state: Mutex<State>,
    pub(crate) log: Mutex<Vec<LoggedRequest>>,
    pub(crate) faults: Faults,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Shared {
    /// Calls `work` with exclusive access to the state.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut lock(&self.state))
    }

    /// Returns exclusive access to the request log.
    pub(crate) fn log(&self) -> MutexGuard<'_, Vec<LoggedRequest>> {
        lock(&self.log)
    }
}

/// Locks a mutex. What a panicking test leaves behind is as good as any other state, so poisoning
/// is ignored.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
