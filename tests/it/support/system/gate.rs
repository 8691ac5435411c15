//! The gate before the simulator: counts what passes, and stops one write at a chosen moment.

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

/// When a write is caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The simulator has not seen it, and never will.
    Before,
    /// The simulator has done it; the answer never comes.
    During,
    /// The answer has just gone out.
    After,
}

/// Clones are handles to the same gate.
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

    /// How many requests have been answered.
    pub(crate) fn requests(&self) -> u64 {
        *self.0.answered.borrow()
    }

    /// Tells of every request that is answered.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.0.answered.subscribe()
    }

    /// Returns when `count` requests have been answered since the start.
    pub(super) async fn answered(&self, count: u64) {
        let mut answered = self.0.answered.subscribe();
        // The sending half lives as long as the gate.
        let _ = answered.wait_for(|answered| *answered >= count).await;
    }

    /// Methods of the writes to repositories so far, in order.
    pub(crate) fn writes(&self) -> Vec<Method> {
        self.0.writes.lock().unwrap().clone()
    }

    /// Catches the write with this index (from 0), once.
    pub(crate) fn arm(&self, write: usize, moment: Moment) {
        *self.0.armed.lock().unwrap() = Some((write, moment));
    }

    pub(super) async fn caught(&self) {
        self.0.caught.notified().await;
    }

    /// Counts a request; says whether it is the one to be caught.
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
            // Until the bot is dead and its connection with it.
            std::future::pending().await
        }
        None => response,
    }
}

/// A body that tells when the server is done with it.
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
