//! A gate in front of the simulator, which counts requests and stops one write at a chosen moment.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{Notify, watch};

/// The moment at which a write is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before the simulator sees it.
    Before,
    /// After the simulator has performed it; the response is never sent.
    During,
    /// Just after the response has been sent.
    After,
}

/// A shared handle to the gate; clones refer to the same gate.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Inner>);

struct Inner {
    answered: watch::Sender<u64>,
    writes: Mutex<Vec<Method>>,
    armed: Mutex<Option<(usize, Moment)>>,
    caught: Notify,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self(Arc::new(Inner {
            answered: watch::Sender::new(0),
            writes: Mutex::default(),
            armed: Mutex::default(),
            caught: Notify::new(),
        }))
    }

    pub(super) fn wrap(&self, router: Router) -> Router {
        router.layer(from_fn_with_state(self.clone(), pass))
    }

    /// Returns the number of answered requests.
    pub(crate) fn requests(&self) -> u64 {
        *self.0.answered.borrow()
    }

    /// Returns a receiver that is notified of every answered request.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.0.answered.subscribe()
    }

    /// Waits until `count` requests have been answered since the start.
    pub(super) async fn answered(&self, count: u64) {
        let mut answered = self.0.answered.subscribe();
        // Cannot fail, because the gate owns the sender.
        let _ = answered.wait_for(|answered| *answered >= count).await;
    }

    /// Returns the methods of the writes to repositories so far, in order.
    pub(crate) fn writes(&self) -> Vec<Method> {
        self.0.writes.lock().unwrap().clone()
    }

    /// Stops the write with this index (from 0), once.
    pub(crate) fn arm(&self, write: usize, moment: Moment) {
        *self.0.armed.lock().unwrap() = Some((write, moment));
    }

    pub(super) async fn caught(&self) {
        self.0.caught.notified().await;
    }

    /// Counts a request. Returns the moment at which to stop it, if it is the chosen write.
    fn enter(&self, request: &Request) -> Option<Moment> {
        if request.method() == Method::GET || !request.uri().path().contains("/repos/") {
            return None;
        }
        let mut writes = self.0.writes.lock().unwrap();
        writes.push(request.method().clone());
        self.0
            .armed
            .lock()
            .unwrap()
            .take_if(|(write, _)| *write + 1 == writes.len())
            .map(|(_, moment)| moment)
    }

    fn leave(&self) {
        self.0.answered.send_modify(|answered| *answered += 1);
    }
}

async fn pass(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let moment = gate.enter(&request);
    if moment == Some(Moment::Before) {
        gate.0.caught.notify_one();
        return std::future::pending().await;
    }
    let response = next.run(request).await;
    gate.leave();
    match moment {
        Some(Moment::After) => {
            let (parts, body) = response.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes();
            let gone = Gone {
                bytes: Some(bytes),
                gate,
            };
            Response::from_parts(parts, Body::new(gone))
        }
        Some(_) => {
            gate.0.caught.notify_one();
            // Never answered: the bot is killed and its connection with it.
            std::future::pending().await
        }
        None => response,
    }
}

/// A body that signals when the server has sent and dropped it.
struct Gone {
    bytes: Option<Bytes>,
    gate: Gate,
}

impl hyper::body::Body for Gone {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        self.gate.0.caught.notify_one();
    }
}
