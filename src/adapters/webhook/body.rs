//! Reading a body with bounded memory and time.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use bytes::BytesMut;
use http::StatusCode;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::answer::Answer;

/// GitHub sends at most 25 MB (<https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap>).
pub const BODY_LIMIT: usize = 25 * 1024 * 1024;

/// Bodies up to here are read without waiting for a place. A comment of the greatest length GitHub takes, with its
/// issue, stays below it unless every character is written as an escape.
pub const SMALL_BODY: usize = 256 * 1024;

/// How many larger bodies are in memory at once.
pub const LARGE_BODIES: usize = 2;

/// How long a large body waits for its place.
const LARGE_WAIT: Duration = Duration::from_secs(5);

/// GitHub gives up on a delivery after 10 seconds; whoever needs longer to send it is not GitHub.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// How much of a refused body is taken off the wire, so that the sender reads the answer instead of a broken
/// connection, and for how long.
const DISCARD_LIMIT: usize = 32 * 1024 * 1024;
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// The places for large bodies.
#[derive(Debug)]
pub(super) struct LargeBodies(Arc<Semaphore>);

impl Default for LargeBodies {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LARGE_BODIES)))
    }
}

/// A body in memory, with its place when it is a large one.
#[derive(Debug)]
pub(super) struct Buffered {
    pub(super) bytes: Bytes,
    _place: Option<OwnedSemaphorePermit>,
}

/// Whether more is announced than GitHub sends.
pub(super) fn is_too_large(body: &Body) -> bool {
    let announced = body.size_hint().exact();
    announced.is_some_and(|length| length > BODY_LIMIT as u64)
}

/// The whole body, or the answer that says why not.
pub(super) async fn read(body: Body, large: &LargeBodies) -> Result<Buffered, Answer> {
    let announced = body
        .size_hint()
        .exact()
        .map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    if announced.is_some_and(|length| length > BODY_LIMIT) {
        discard(body).await;
        return Err(too_large());
    }
    let place = if announced.is_some_and(|length| length <= SMALL_BODY) {
        None
    } else {
        Some(place(large).await?)
    };
    let bytes = timeout(BODY_TIMEOUT, collect(body, announced))
        .await
        .map_err(|_| {
            Answer::refused(
                StatusCode::REQUEST_TIMEOUT,
                "body",
                "the body did not arrive within 10 seconds",
            )
        })??;
    Ok(Buffered {
        bytes,
        _place: place,
    })
}

async fn place(large: &LargeBodies) -> Result<OwnedSemaphorePermit, Answer> {
    match timeout(LARGE_WAIT, Arc::clone(&large.0).acquire_owned()).await {
        Ok(Ok(place)) => Ok(place),
        Ok(Err(_)) | Err(_) => Err(Answer::Busy {
            message: "too many large deliveries at once".to_owned(),
        }),
    }
}

async fn collect(mut body: Body, announced: Option<usize>) -> Result<Bytes, Answer> {
    let Some(first) = frame(&mut body).await? else {
        return Ok(Bytes::new());
    };
    // The usual case: all of it came with the headers, and nothing needs to be copied.
    if announced == Some(first.len()) {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(announced.unwrap_or(0).min(SMALL_BODY));
    whole.extend_from_slice(&first);
    while let Some(more) = frame(&mut body).await? {
        if whole.len() + more.len() > BODY_LIMIT {
            drop(whole);
            discard(body).await;
            return Err(too_large());
        }
        whole.extend_from_slice(&more);
    }
    Ok(whole.freeze())
}

async fn frame(body: &mut Body) -> Result<Option<Bytes>, Answer> {
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|_| Answer::refused(StatusCode::BAD_REQUEST, "body", "the body broke off"))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

pub(super) fn too_large() -> Answer {
    Answer::refused(
        StatusCode::PAYLOAD_TOO_LARGE,
        "body",
        "the body is larger than 25 MiB, which is more than GitHub sends",
    )
}

/// Takes a refused body off the wire and forgets it.
pub(super) async fn discard(mut body: Body) {
    let all = async {
        let mut seen = 0_usize;
        while let Ok(Some(data)) = frame(&mut body).await {
            seen = seen.saturating_add(data.len());
            if seen > DISCARD_LIMIT {
                break;
            }
        }
    };
    // Late or not, the answer is the same.
    let _ = timeout(DISCARD_TIMEOUT, all).await;
}
