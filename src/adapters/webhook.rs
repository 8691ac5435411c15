//! The webhook receiver: verifies a signed request, passes it to the intake, and responds.
//!
//! Nothing is parsed before the signature is verified, and a delivery to be stored is acknowledged
//! only once it is on disk. The checks are made in the order of this table; the first failure
//! determines the response.
//!
//! | case | status | `status` in the answer | stored |
//! |---|---|---|---|
//! | not `POST` | 405, `Allow: POST` | `refused` | no |
//! | content type is not `application/json` (the App's setting "Content type") | 415 | `refused` | no |
//! | `X-GitHub-Event` or `X-GitHub-Delivery` missing, doubled or malformed | 400 | `refused` | no |
//! | `X-Hub-Signature-256` missing (the App has no webhook secret) | 401 | `refused` | no |
//! | body over 25 MiB | 413 | `refused` | no |
//! | body not complete within 10 seconds, less than 16 KiB of it in 3 seconds, or broken off | 408, 400 | `refused` | no |
//! | two bodies over 256 KiB are being read for more than 5 seconds | 503, `Retry-After` | `busy` | no |
//! | so many long comments wait to be parsed that this one's turn does not come within 7 seconds | 503, `Retry-After` | `busy` | no |
//! | signature malformed or made with another secret | 401 | `refused` | no |
//! | `X-GitHub-Hook-Installation-Target-ID` is not our App's id (another App, or a repository's webhook) | 421 | `refused` | no |
//! | `ping` | 200 | `pong` | no |
//! | an event, action, label or comment that asks for nothing; bots; our own doing | 200 | `ignored` with `why` | no |
//! | an event of ours with a body that cannot be used | 400 with the member's path | `refused` | no |
//! | installation created, woken, given permissions | 200 | `installed` | no |
//! | installation deleted | 202 | `accepted`, no runs | yes |
//! | a command, or the box ticked that sends the answers to our questions | 202 | `accepted` with `runs` | yes |
//! | the same delivery again, known and not failed; the same comment, label or push under another delivery id | 200 | `duplicate` | was |
//! | the same delivery again after its runs failed (a redelivery) | 202 | `requeued` | was |
//! | the store has too many deliveries in line, or fails | 503, `Retry-After` | `busy` | no |
//!
//! # Memory
//! A body up to [`SMALL_BODY`] is buffered at once, and there are at most `server.max_connections`
//! of them. A longer one needs one of [`LARGE_BODIES`] permits as soon as more has arrived. Memory
//! is therefore bounded by `max_connections` × 256 KiB + 2 × 25 MiB.

mod answer;
mod body;
mod forged;
mod headers;
mod verified;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http::{Method, StatusCode};
use secrecy::SecretString;

use crate::engine::clock::Clock;
use crate::engine::intake::Intake;
use crate::engine::metrics;

use answer::Answer;
pub use body::{LARGE_BODIES, MAX_BODY, SMALL_BODY};
pub use verified::Verified;

/// Receives webhook requests.
pub struct Receiver {
    intake: Arc<Intake>,
    clock: Arc<dyn Clock>,
    secrets: Vec<SecretString>,
    large: body::LargeBodies,
    forged: forged::Forged,
}

impl Receiver {
    /// A receiver that accepts a signature made with any of `secrets` (several while one is being
    /// replaced).
    pub fn new(intake: Arc<Intake>, clock: Arc<dyn Clock>, secrets: Vec<SecretString>) -> Self {
        Self {
            intake,
            clock,
            secrets,
            large: body::LargeBodies::default(),
            forged: forged::Forged::default(),
        }
    }

    /// How many deliveries with a wrong signature were refused since the start.
    pub fn forged(&self) -> u64 {
        self.forged.count()
    }

    /// The route, at `path`.
    pub fn router(self: Arc<Self>, path: &str) -> Router {
        Router::new().route(path, any(receive)).with_state(self)
    }

    /// Reads the request and verifies headers and signature.
    async fn verify(&self, request: Request) -> Result<Verified, Answer> {
        let (parts, incoming) = request.into_parts();
        let waits = headers::expects_continue(&parts.headers);
        let head = match check_head(&parts) {
            Ok(head) => head,
            // Reading would send `100 Continue` to a sender that waits for it.
            Err(answer) if waits => return Err(answer),
            Err(answer) => {
                body::discard(incoming).await;
                return Err(answer);
            }
        };
        if waits && body::is_too_large(&incoming) {
            return Err(body::too_large());
        }
        let body = body::read(incoming, &self.large).await?;
        let verified = Verified::check(&self.secrets, head, body).map_err(|error| {
            self.forged.seen(self.clock.now());
            Answer::refused(
                StatusCode::UNAUTHORIZED,
                "signature",
                format!("{error}; the App's webhook secret must be one of the configured ones"),
            )
        })?;
        headers::check_target(&parts.headers, self.intake.identity().app_id)?;
        Ok(verified)
    }
}

async fn receive(State(receiver): State<Arc<Receiver>>, request: Request) -> Response {
    match receiver.verify(request).await {
        Ok(delivery) => Answer::from(receiver.intake.accept(&delivery).await).into_response(),
        Err(answer) => {
            metrics::WEBHOOKS_REFUSED
                .counter(&[answer.refusal()])
                .increment(1);
            answer.into_response()
        }
    }
}

/// Checks method, content type and headers, before the body is read.
fn check_head(parts: &http::request::Parts) -> Result<headers::Head, Answer> {
    if parts.method != Method::POST {
        return Err(Answer::method());
    }
    headers::check_content_type(&parts.headers)?;
    headers::parse(&parts.headers)
}
