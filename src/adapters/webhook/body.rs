//! Reads a body with bounded memory and time.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use bytes::BytesMut;
use http::StatusCode;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::Answer;

/// GitHub sends at most 25 MB
/// (<https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap>).
pub const MAX_BODY: usize = 25 * 1024 * 1024;

/// Maximum size of a body that is read without a permit, in bytes. The longest comment that GitHub
/// takes, with its issue, stays below it unless every character is escaped.
pub const SMALL_BODY: usize = 256 * 1024;

/// Maximum number of larger bodies in memory.
pub const LARGE_BODIES: usize = 2;

/// Maximum time that a large body waits for its permit.
const LARGE_WAIT: Duration = Duration::from_secs(5);

/// Time limit for a body. GitHub gives up on a delivery after 10 seconds.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A sender has [`RATE_INTERVAL`] for each portion of this many bytes, or for the end of the body,
/// so that a sender that has stopped does not hold a connection or a permit for a large body.
const RATE_BYTES: usize = 16 * 1024;
const RATE_INTERVAL: Duration = Duration::from_secs(3);

/// Maximum number of bytes of a refused body that are read, and the time limit for it, so that the
/// sender gets the response instead of a broken connection.
const MAX_DISCARDED: usize = 32 * 1024 * 1024;
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// The permits for large bodies.
#[derive(Debug)]
pub(super) struct LargeBodies(Arc<Semaphore>);

impl Default for LargeBodies {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LARGE_BODIES)))
    }
}

/// A body in memory, with its permit if it is large.
#[derive(Debug)]
pub(super) struct Buffered {
    pub(super) bytes: Bytes,
    _place: Option<OwnedSemaphorePermit>,
}

/// Whether `Content-Length` is more than GitHub sends.
pub(super) fn is_too_large(body: &Body) -> bool {
    let announced = body.size_hint().exact();
    announced.is_some_and(|length| length > MAX_BODY as u64)
}

/// Reads the whole body, or returns the response that refuses it.
///
/// The permit for a large body is acquired once more than [`SMALL_BODY`] has arrived, because
/// announcing a large one costs the sender nothing.
pub(super) async fn read(mut body: Body, large: &LargeBodies) -> Result<Buffered, Answer> {
    let announced = body
        .size_hint()
        .exact()
        .map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    if announced.is_some_and(|length| length > MAX_BODY) {
        discard(body).await;
        return Err(too_large());
    }
    let mut rate = Pace::start();
    let mut place = None;
    let mut whole = BytesMut::new();
    while let Some(more) = rate.next(&mut body).await? {
        // The usual case: all of it came with the headers, and nothing needs to be copied.
        if announced == Some(more.len()) && more.len() <= SMALL_BODY {
            return Ok(Buffered {
                bytes: more,
                _place: None,
            });
        }
        if whole.len() + more.len() > MAX_BODY {
            drop(whole);
            discard(body).await;
            return Err(too_large());
        }
        if place.is_none() && whole.len() + more.len() > SMALL_BODY {
            place = Some(self::place(large).await?);
            // The sender could not continue meanwhile.
            rate = Pace::start();
        }
        if whole.is_empty() {
            whole.reserve(announced.unwrap_or(0).min(SMALL_BODY));
        }
        whole.extend_from_slice(&more);
    }
    Ok(Buffered {
        bytes: whole.freeze(),
        _place: place,
    })
}

/// Measures how fast a body arrives.
struct Pace {
    end: Instant,
    due: Instant,
    bytes: usize,
}

impl Pace {
    fn start() -> Self {
        let now = Instant::now();
        Self {
            end: now + BODY_TIMEOUT,
            due: now + RATE_INTERVAL,
            bytes: 0,
        }
    }

    /// Returns the next piece, or the response that refuses a sender that is too slow.
    async fn next(&mut self, body: &mut Body) -> Result<Option<Bytes>, Answer> {
        let late =
            |message: &'static str| Answer::refused(StatusCode::REQUEST_TIMEOUT, "body", message);
        let piece = timeout_at(self.end.min(self.due), frame(body)).await;
        let Ok(piece) = piece else {
            return Err(if self.due < self.end {
                late("the body stopped arriving: less than 16 KiB of it came in 3 seconds")
            } else {
                late("the body did not arrive within 10 seconds")
            });
        };
        let piece = piece?;
        self.bytes += piece.as_ref().map_or(0, Bytes::len);
        if self.bytes >= RATE_BYTES {
            self.bytes = 0;
            self.due = Instant::now() + RATE_INTERVAL;
        }
        Ok(piece)
    }
}

async fn place(large: &LargeBodies) -> Result<OwnedSemaphorePermit, Answer> {
    match timeout(LARGE_WAIT, Arc::clone(&large.0).acquire_owned()).await {
        Ok(Ok(place)) => Ok(place),
        Ok(Err(_)) | Err(_) => Err(Answer::Busy {
            message: "too many large deliveries at once".to_owned(),
        }),
    }
}

async fn frame(body: &mut Body) -> Result<Option<Bytes>, Answer> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            Answer::refused(StatusCode::BAD_REQUEST, "body", "the body ended early")
        })?;
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

/// Reads and discards a refused body.
pub(super) async fn discard(mut body: Body) {
    let all = async {
        let mut seen = 0_usize;
        while let Ok(Some(data)) = frame(&mut body).await {
            seen = seen.saturating_add(data.len());
            if seen > MAX_DISCARDED {
                break;
            }
        }
    };
    // The response is the same if this times out.
    let _ = timeout(DISCARD_TIMEOUT, all).await;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

    use std::convert::Infallible;

    use futures_util::{StreamExt, stream};
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;

    /// A body of `pieces` (seconds before it, number of bytes) that never ends.
    fn endless(pieces: &[(u64, usize)]) -> Body {
        let pieces = stream::iter(pieces.to_vec()).then(|(seconds, length)| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b' '; length])))
        });
        Body::new(StreamBody::new(pieces.chain(stream::pending())))
    }

    fn said(answer: &Answer) -> String {
        serde_json::to_string(answer).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_sender_that_has_sent_little_of_a_large_body_holds_no_place() {
        let large = LargeBodies::default();
        let senders = (0..6).map(|_| read(endless(&[(0, SMALL_BODY)]), &large));
        let mut senders = Box::pin(futures_util::future::join_all(senders));
        assert!(
            timeout(Duration::from_secs(2), &mut senders).await.is_err(),
            "they are still being read"
        );
        assert_eq!(large.0.available_permits(), LARGE_BODIES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sender_that_stops_gives_its_place_back_before_others_give_up_waiting() {
        let large = LargeBodies::default();
        let stalled = || endless(&[(0, SMALL_BODY + 1)]);
        let whole = Body::from(vec![b' '; 2 * SMALL_BODY]);
        let (one, two, whole) = tokio::join!(
            read(stalled(), &large),
            read(stalled(), &large),
            read(whole, &large)
        );
        for refused in [one, two] {
            assert!(
                said(&refused.unwrap_err()).contains(
                    "the body stopped arriving: less than 16 KiB of it came in 3 seconds"
                )
            );
        }
        assert_eq!(whole.unwrap().bytes.len(), 2 * SMALL_BODY);
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_waits_five_seconds_for_a_place() {
        let large = LargeBodies::default();
        let slow = || {
            let mut pieces = vec![(0, SMALL_BODY + 1)];
            pieces.extend([(1, RATE_BYTES); 20]);
            endless(&pieces)
        };
        let third = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let began = Instant::now();
            let whole = Body::from(vec![b' '; 2 * SMALL_BODY]);
            let refused = read(whole, &large).await.unwrap_err();
            assert_eq!(began.elapsed().as_secs(), 5);
            said(&refused)
        };
        let (one, two, third) = tokio::join!(read(slow(), &large), read(slow(), &large), third);
        assert!(
            third.contains("too many large deliveries at once"),
            "{third}"
        );
        // Fast enough for the rate, too slow for GitHub's ten seconds.
        for refused in [one, two] {
            let said = said(&refused.unwrap_err());
            assert!(
                said.contains("the body did not arrive within 10 seconds"),
                "{said}"
            );
        }
    }
}
