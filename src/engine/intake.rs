//! Receives events, whichever way they come: decides what each asks for, stores it once, and
//! records the decision.
//!
//! The sources are webhook requests, GitHub's log of deliveries (`engine::sweep`) and the comments
//! and labels of repositories (`engine::scan`). The same command from two sources is one run: it is
//! recognised by the delivery's GUID and by the key of the event (`Trigger::dedup_key`).

mod journal;
mod parsing;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tracing::Instrument as _;

use super::clock::Clock;
use super::decide::{AppIdentity, Decision, PayloadError};
use super::metrics::Deliveries;
use super::settings::LateSettings;
use super::store::{Accepted, NewDelivery, NewRun, Store, StoreError};
use crate::engine::model::intake::{DecisionRecord, Source, Subject, Verdict};
use crate::engine::model::run::RunId;
use crate::engine::model::trigger::Trigger;
use journal::Journal;
use parsing::Parsing;

/// An event that is known to come from GitHub. Types that implement this are created only by the
/// check that establishes it: a signature, or a request to GitHub's API.
pub trait Authentic: Sync {
    /// The way in which it was received.
    fn source(&self) -> Source;
    /// The delivery's GUID, or a unique name of an event that was not delivered.
    fn guid(&self) -> &str;
    /// The event's name, e.g. `issue_comment`.
    fn event(&self) -> &str;
    /// The payload.
    fn body(&self) -> &Bytes;
}

/// What became of an event.
#[derive(Debug)]
pub enum Outcome {
    /// It was stored, with these runs.
    Accepted(Vec<RunId>),
    /// It is known; nothing was done.
    Duplicate,
    /// It is known, and its failed runs were queued again.
    Requeued,
    /// A ping.
    Pong {
        /// Events that the App is not subscribed to but should be.
        missing_events: Vec<&'static str>,
    },
    /// The App was installed.
    Installed,
    /// It asks for nothing.
    Ignored(Cow<'static, str>),
    /// Its payload cannot be used.
    Refused(PayloadError),
    /// It cannot be stored at the moment; nothing was recorded.
    Busy(String),
}

impl Outcome {
    /// Returns the name for metrics.
    fn name(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Duplicate => "duplicate",
            Self::Requeued => "requeued",
            Self::Pong { .. } => "pong",
            Self::Installed => "installed",
            Self::Ignored(_) => "ignored",
            Self::Refused(_) => "refused",
            Self::Busy(_) => "busy",
        }
    }
}

/// Receives events from all sources.
pub struct Intake {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    identity: Arc<AppIdentity>,
    late: LateSettings,
    keep_payloads: bool,
    parsing: Parsing,
    journal: Journal,
    deliveries: Deliveries,
}

impl Intake {
    /// Creates an intake. With `keep_payloads` the payload of every delivery with runs is stored
    /// for replay. Must be called inside a Tokio runtime.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        identity: AppIdentity,
        late: LateSettings,
        keep_payloads: bool,
    ) -> Self {
        let journal = Journal::start(Arc::clone(&store), Arc::clone(&clock));
        Self {
            store,
            clock,
            identity: Arc::new(identity),
            late,
            keep_payloads,
            parsing: Parsing::default(),
            journal,
            deliveries: Deliveries::new(),
        }
    }

    /// The App whose events are received.
    pub fn identity(&self) -> &AppIdentity {
        &self.identity
    }

    /// Maximum age of a command that is found late and executed.
    pub fn max_age(&self) -> Duration {
        self.late.max_age
    }

    /// Waits until all decisions made so far are written.
    pub async fn flush(&self) {
        self.journal.flush().await;
    }

    /// Writes the decisions that are not written yet, and records no more.
    pub async fn close(&self) {
        self.journal.close().await;
    }

    /// Decides what an event asks for, and stores it if necessary. When this returns, runs are on
    /// disk.
    pub async fn accept(&self, event: &impl Authentic) -> Outcome {
        let outcome = self.take(event).await;
        self.deliveries.count(event.source(), outcome.name());
        outcome
    }

    async fn take(&self, event: &impl Authentic) -> Outcome {
        let decided = self
            .parsing
            .decide(event.event(), event.body(), &self.identity)
            .await;
        let Some(decided) = decided else {
            return Outcome::Busy("too many long comments at once".to_owned());
        };
        let decided = match decided {
            Ok(decided) => decided,
            Err(error) => {
                tracing::warn!(delivery.guid = event.guid(), %error, "delivery refused");
                let verdict = Verdict::Refused(error.to_string());
                self.record(event, Subject::default(), verdict).await;
                return Outcome::Refused(error);
            }
        };
        let subject = decided.subject;
        match decided.decision {
            Decision::Ignore { why } => self.ignored(event, subject, why).await,
            Decision::Ping { missing_events } => {
                if !missing_events.is_empty() {
                    tracing::warn!(
                        ?missing_events,
                        "the App is not subscribed to all events it needs"
                    );
                }
                let verdict = Verdict::Ignored("a ping, which was answered".to_owned());
                self.record(event, subject, verdict).await;
                Outcome::Pong { missing_events }
            }
            Decision::Installed {
                installation,
                account,
            } => {
                tracing::info!(installation.id = installation, account, "App installed");
                let verdict = Verdict::Ignored("the installation was noted".to_owned());
                self.record(event, subject, verdict).await;
                Outcome::Installed
            }
            Decision::InstallationGone {
                installation,
                action,
            } => {
                tracing::info!(installation.id = installation, action, "App removed");
                self.store(event, subject, installation, action, Vec::new())
                    .await
            }
            Decision::Runs {
                action,
                mut triggers,
            } => {
                if let Some(why) = self.too_old(event.source(), &triggers) {
                    if !self.late.answer_old {
                        return self.ignored(event, subject, why.into()).await;
                    }
                    for trigger in &mut triggers {
                        trigger.expired = true;
                    }
                }
                let installation = triggers
                    .first()
                    .map_or(0, |trigger| trigger.place.repo.installation);
                let span = span(event.source(), &triggers);
                let stored = self.store(event, subject, installation, action, triggers);
                stored.instrument(span).await
            }
        }
    }

    /// Records that an event that was found cannot be read any more, so that it is not looked for
    /// again.
    pub async fn give_up(
        &self,
        source: Source,
        guid: &str,
        event: &str,
        subject: Subject,
        why: &str,
    ) {
        let record = DecisionRecord {
            at: self.clock.now(),
            source,
            guid: guid.to_owned(),
            event: event.to_owned(),
            subject,
            verdict: Verdict::Ignored(why.to_owned()),
        };
        self.journal.add(record).await;
    }

    /// Returns why commands that were found late are not executed, if they are too old. A webhook
    /// request that comes days later was repeated by somebody on purpose.
    fn too_old(&self, source: Source, triggers: &[Trigger]) -> Option<String> {
        let at = triggers.first()?.at;
        let found = matches!(source, Source::DeliveryLog | Source::Scan);
        let age = self.clock.now().since(at);
        (found && age > self.late.max_age).then(|| {
            let hours = self.late.max_age.as_secs() / 3600;
            format!(
                "it was found {} hours after it was written; commands are executed up to {hours} hours later (late.max_age_hours)",
                age.as_secs() / 3600
            )
        })
    }

    async fn ignored(
        &self,
        event: &impl Authentic,
        subject: Subject,
        why: Cow<'static, str>,
    ) -> Outcome {
        tracing::debug!(delivery.guid = event.guid(), %why, "delivery ignored");
        self.record(event, subject, Verdict::Ignored(why.to_string()))
            .await;
        Outcome::Ignored(why)
    }

    async fn record(&self, event: &impl Authentic, subject: Subject, verdict: Verdict) {
        let record = DecisionRecord {
            at: self.clock.now(),
            source: event.source(),
            guid: event.guid().to_owned(),
            event: event.event().to_owned(),
            subject,
            verdict,
        };
        self.journal.add(record).await;
    }

    async fn store(
        &self,
        event: &impl Authentic,
        subject: Subject,
        installation: u64,
        action: &str,
        triggers: Vec<Trigger>,
    ) -> Outcome {
        let dedup_key = triggers.first().and_then(Trigger::dedup_key);
        let runs: Vec<NewRun> = triggers.into_iter().map(new_run).collect();
        let ids: Vec<RunId> = runs.iter().map(|run| run.id.clone()).collect();
        let accepted = self
            .store
            .accept(NewDelivery {
                source: event.source(),
                guid: event.guid().to_owned(),
                event: event.event().to_owned(),
                action: Some(action.to_owned()),
                installation,
                dedup_key,
                received: self.clock.now(),
                payload: self.keep_payloads.then(|| event.body().to_vec()),
                installation_gone: runs.is_empty(),
                runs,
            })
            .await;
        match accepted {
            Ok(Accepted::New) => {
                tracing::info!(
                    delivery.guid = event.guid(),
                    runs = ids.len(),
                    "delivery accepted"
                );
                Outcome::Accepted(ids)
            }
            Ok(Accepted::Duplicate) => {
                self.record(event, subject, Verdict::Duplicate).await;
                Outcome::Duplicate
            }
            Ok(Accepted::Requeued) => {
                tracing::info!(
                    delivery.guid = event.guid(),
                    "redelivery: failed runs are repeated"
                );
                self.record(event, subject, Verdict::Requeued).await;
                Outcome::Requeued
            }
            Err(StoreError::Busy) => Outcome::Busy(StoreError::Busy.to_string()),
            Err(error) => {
                tracing::error!(delivery.guid = event.guid(), %error, "delivery not stored");
                // The sender is not an operator: the message is in the log.
                Outcome::Busy("the delivery could not be stored".to_owned())
            }
        }
    }
}

/// Returns the span of log lines about a delivery with commands.
fn span(source: Source, triggers: &[Trigger]) -> tracing::Span {
    let first = triggers.first();
    let place = first.map(|trigger| &trigger.place);
    let commands: Vec<&str> = triggers.iter().map(|one| one.command.name()).collect();
    tracing::info_span!(
        "delivery",
        source = source.name(),
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
