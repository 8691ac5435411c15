//! The webhook receiver: verifies a signed request, decides what it asks for, stores it and
//! responds.
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
mod decision;
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
use tracing::Instrument as _;

use crate::engine::clock::Clock;
use crate::engine::decide::{AppIdentity, Decision};
use crate::engine::model::run::RunId;
use crate::engine::model::trigger::Trigger;
use crate::engine::store::{Accepted, NewDelivery, NewRun, Store, StoreError};

use answer::Answer;
pub use body::{LARGE_BODIES, MAX_BODY, SMALL_BODY};
pub use verified::Verified;

/// What the receiver is made of.
pub struct Receiver {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    facts: Arc<AppIdentity>,
    secrets: Vec<SecretString>,
    keep_payloads: bool,
    large: body::LargeBodies,
    decisions: decision::Decisions,
    forged: forged::Forged,
}

impl Receiver {
    /// A receiver that accepts a signature made with any of `secrets` (several while one is being
    /// replaced). With `keep_payloads` the raw body of every delivery with runs is stored for
    /// replay.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        facts: AppIdentity,
        secrets: Vec<SecretString>,
        keep_payloads: bool,
    ) -> Self {
        Self {
            store,
            clock,
            facts: Arc::new(facts),
            secrets,
            keep_payloads,
            large: body::LargeBodies::default(),
            decisions: decision::Decisions::default(),
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
        headers::check_target(&parts.headers, self.facts.app_id)?;
        Ok(verified)
    }

    /// Decides what the delivery asks for and stores it if necessary.
    async fn handle(&self, delivery: &Verified) -> Answer {
        let Some(decided) = self.decisions.decide(delivery, &self.facts).await else {
            return Answer::Busy {
                message: "too many long comments at once".to_owned(),
            };
        };
        match decided {
            Err(error) => {
                tracing::warn!(delivery.guid = delivery.guid(), error = %error, "delivery refused");
                Answer::refused(StatusCode::BAD_REQUEST, "payload", error.to_string())
            }
            Ok(Decision::Ignore { why }) => {
                tracing::debug!(delivery.guid = delivery.guid(), %why, "delivery ignored");
                Answer::Ignored { why }
            }
            Ok(Decision::Ping { missing_events }) => {
                if !missing_events.is_empty() {
                    tracing::warn!(
                        ?missing_events,
                        "the App is not subscribed to all events it needs"
                    );
                }
                Answer::Pong { missing_events }
            }
            Ok(Decision::Installed {
                installation,
                account,
            }) => {
                tracing::info!(installation.id = installation, account, "App installed");
                Answer::Installed
            }
            Ok(Decision::InstallationGone {
                installation,
                action,
            }) => {
                tracing::info!(installation.id = installation, action, "App removed");
                self.store(delivery, installation, action, Vec::new()).await
            }
            Ok(Decision::Runs { action, triggers }) => {
                let installation = triggers
                    .first()
                    .map_or(0, |trigger| trigger.place.repo.installation);
                let span = span(&triggers);
                let stored = self.store(delivery, installation, action, triggers);
                stored.instrument(span).await
            }
        }
    }

    async fn store(
        &self,
        delivery: &Verified,
        installation: u64,
        action: &str,
        triggers: Vec<Trigger>,
    ) -> Answer {
        let dedup_key = triggers.first().and_then(Trigger::said);
        let runs: Vec<NewRun> = triggers.into_iter().map(new_run).collect();
        let ids: Vec<RunId> = runs.iter().map(|run| run.id.clone()).collect();
        let accepted = self
            .store
            .accept(NewDelivery {
                guid: delivery.guid().to_owned(),
                event: delivery.event().to_owned(),
                action: Some(action.to_owned()),
                installation,
                dedup_key,
                received: self.clock.now(),
                payload: self.keep_payloads.then(|| delivery.body().to_vec()),
                installation_gone: runs.is_empty(),
                runs,
            })
            .await;
        match accepted {
            Ok(Accepted::New) => {
                tracing::info!(
                    delivery.guid = delivery.guid(),
                    runs = ids.len(),
                    "delivery accepted"
                );
                Answer::Accepted { runs: ids }
            }
            Ok(Accepted::Duplicate) => Answer::Duplicate,
            Ok(Accepted::Requeued) => {
                tracing::info!(
                    delivery.guid = delivery.guid(),
                    "redelivery: failed runs are repeated"
                );
                Answer::Requeued
            }
            Err(error) => {
                if !matches!(error, StoreError::Busy) {
                    tracing::error!(delivery.guid = delivery.guid(), error = %error, "delivery not stored");
                }
                Answer::busy(&error)
            }
        }
    }
}

async fn receive(State(receiver): State<Arc<Receiver>>, request: Request) -> Response {
    match receiver.verify(request).await {
        Ok(delivery) => receiver.handle(&delivery).await.into_response(),
        Err(answer) => answer.into_response(),
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

/// Returns the span of log lines about a delivery with commands.
fn span(triggers: &[Trigger]) -> tracing::Span {
    let first = triggers.first();
    let place = first.map(|trigger| &trigger.place);
    let commands: Vec<&str> = triggers.iter().map(|one| one.command.name()).collect();
    tracing::info_span!(
        "delivery",
        repository = place.map(|place| place.repo.full_name()),
        number = place.map(|place| place.number),
        command = commands.join(" "),
        actor = first.map(|trigger| trigger.actor.login.as_str()),
    )
}

fn new_run(trigger: Trigger) -> NewRun {
    NewRun {
        id: RunId::new(),
        command: trigger.command.name().to_owned(),
        serial: trigger.serial(),
        place: trigger.place.key(),
        repo_id: trigger.place.repo.id,
        installation: trigger.place.repo.installation,
        trigger,
    }
}
