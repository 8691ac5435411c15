//! Metrics: one table of all names, labels and descriptions, and what records them.
//!
//! Values go to the recorder of the process (`adapters::metrics`). Without one, recording does
//! nothing. Labels have few values, and none that users choose: a label with a repository, issue,
//! person or run would create a time series for each of them.

use std::time::Duration;

use ::metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, with_recorder};

use crate::engine::model::agent::{Ending, Micros, Report};
use crate::engine::model::failure::Code;
use crate::engine::model::intake::Source;
use crate::engine::model::run::State;
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;
use crate::formats::command::{Command, REGISTRY};

/// A metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Type.
    pub kind: Kind,
    /// Name.
    pub name: &'static str,
    /// Names of the labels.
    pub labels: &'static [&'static str],
    /// What is measured, in one sentence.
    pub help: &'static str,
}

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A number that only grows.
    Counter,
    /// A number that can go up and down.
    Gauge,
    /// The distribution of values, counted in buckets with these upper bounds.
    Histogram(&'static [f64]),
}

/// Defines the metrics as constants, and `ALL`.
macro_rules! metrics {
    ($($constant:ident: $kind:expr, $name:literal, [$($label:literal),*], $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $constant: Metric = Metric {
                kind: $kind,
                name: $name,
                labels: &[$($label),*],
                help: $help,
            };
        )*
        /// All metrics.
        pub const ALL: &[Metric] = &[$($constant),*];
    };
}

metrics! {
    BUILD_INFO: Kind::Gauge, "planwright_build_info", ["version"],
        "The version of the program; always 1.";
    START_TIME: Kind::Gauge, "planwright_process_start_time_seconds", [],
        "Time at which the process started, in seconds since 1970.";
    HTTP_IN_FLIGHT: Kind::Gauge, "planwright_http_requests_in_flight", [],
        "HTTP requests that are being answered, the request for the metrics included.";
    DELIVERIES: Kind::Counter, "planwright_deliveries_total", ["source", "decision"],
        "Events that were received, by the way they came and what was decided.";
    WEBHOOKS_REFUSED: Kind::Counter, "planwright_webhook_requests_refused_total", ["reason"],
        "Webhook requests that were refused before their payload was read.";
    RUNS: Kind::Gauge, "planwright_runs", ["state"],
        "Runs in the database; those that ended are kept for store.retention_days.";
    OLDEST_READY: Kind::Gauge, "planwright_oldest_ready_run_age_seconds", [],
        "Time since the oldest run that is ready was accepted; 0 if none is.";
    RUNS_ENDED: Kind::Counter, "planwright_runs_ended_total", ["command", "state", "code"],
        "Runs that ended, by command, state and error code.";
    RUN_DURATION: Kind::Histogram(&[1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 21600.0]),
        "planwright_run_duration_seconds", ["command"],
        "Time from the acceptance of a command to the end of its run, without repeated runs.";
    EFFECTS: Kind::Counter, "planwright_effects_total", ["kind", "outcome"],
        "Recorded writes to GitHub, by kind and outcome.";
    GITHUB_REQUESTS: Kind::Counter, "planwright_github_requests_total", ["class", "outcome"],
        "Requests to GitHub's API, by class of request and of response.";
    GITHUB_DURATION: Kind::Histogram(&[0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0]),
        "planwright_github_request_duration_seconds", ["class"],
        "Time from sending a request to GitHub's API to the end of its response.";
    GITHUB_BUDGET: Kind::Gauge, "planwright_github_rate_limit_remaining", [],
        "Requests that GitHub accepts until its rate limit resets, of the installation with the fewest; NaN if not known.";
    AGENT_TURNS: Kind::Counter, "planwright_agent_turns_total", ["command", "outcome"],
        "Turns of agents that ended, by command and ending.";
    AGENT_TURNS_RUNNING: Kind::Gauge, "planwright_agent_turns_running", [],
        "Turns of agents that run.";
    AGENT_TOKENS: Kind::Counter, "planwright_agent_tokens_total", ["kind"],
        "Tokens that agents used, as their clients report them.";
    AGENT_COST: Kind::Histogram(&[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0]),
        "planwright_agent_turn_cost_dollars", ["command"],
        "Cost of an agent's turn in US dollars, as its client reports it; the sum is the spending.";
    SWEEP_COMPLETED: Kind::Gauge, "planwright_sweep_completed_timestamp_seconds", [],
        "Time at which this process last read GitHub's delivery log to its end, in seconds since 1970; 0 before.";
    SCAN_COMPLETED: Kind::Gauge, "planwright_scan_completed_timestamp_seconds", [],
        "Time at which this process last scanned all repositories for commands, in seconds since 1970; 0 before.";
    STORE_UP: Kind::Gauge, "planwright_store_up", [],
        "Whether the database answered when the metrics were requested: 1 or 0.";
    STORE_DURATION: Kind::Histogram(&[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0]),
        "planwright_store_operation_duration_seconds", ["operation"],
        "Time of an operation of the database, including the wait for a connection.";
    STORE_ERRORS: Kind::Counter, "planwright_store_errors_total", ["operation", "kind"],
        "Operations of the database that failed.";
}

const METADATA: Metadata<'static> =
    Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

impl Metric {
    /// Returns the counter with these values of its labels.
    pub fn counter(&self, values: &[&'static str]) -> Counter {
        let key = self.key(values);
        with_recorder(|recorder| recorder.register_counter(&key, &METADATA))
    }

    /// Returns the gauge with these values of its labels.
    pub fn gauge(&self, values: &[&'static str]) -> Gauge {
        let key = self.key(values);
        with_recorder(|recorder| recorder.register_gauge(&key, &METADATA))
    }

    /// Returns the histogram with these values of its labels.
    pub fn histogram(&self, values: &[&'static str]) -> Histogram {
        let key = self.key(values);
        with_recorder(|recorder| recorder.register_histogram(&key, &METADATA))
    }

    /// Creates the series with these values of its labels.
    fn create(&self, values: &[&'static str]) {
        match self.kind {
            Kind::Counter => self.counter(values).increment(0),
            Kind::Gauge => self.gauge(values).set(0.0),
            Kind::Histogram(_) => drop(self.histogram(values)),
        }
    }

    fn key(&self, values: &[&'static str]) -> Key {
        debug_assert_eq!(self.labels.len(), values.len(), "{}", self.name);
        let labels = self.labels.iter().zip(values);
        let labels = labels.map(|(name, value)| Label::from_static_parts(name, value));
        Key::from_parts(self.name, labels.collect::<Vec<_>>())
    }
}

/// Value of the label `code` of runs that did not fail.
const NO_CODE: &str = "none";

/// What can be decided about an event.
const DECISIONS: [&str; 8] = [
    "accepted",
    "duplicate",
    "requeued",
    "pong",
    "installed",
    "ignored",
    "refused",
    "busy",
];

/// The ways in which events are received.
const SOURCES: [Source; 3] = [Source::Webhook, Source::DeliveryLog, Source::Scan];

/// Reasons why a webhook request is refused.
const REFUSALS: [&str; 7] = [
    "method",
    "content_type",
    "header",
    "body",
    "signature",
    "target",
    "busy",
];

/// Kinds of effects, by the prefixes of their keys. The first one that matches counts.
const EFFECT_KINDS: [(&str, &str); 14] = [
    ("status", "status"),
    ("plan-issue", "plan_issue"),
    ("plan-label", "label"),
    ("label-", "label"),
    ("plan-", "plan_comment"),
    ("react-", "reaction"),
    ("unreact-", "reaction"),
    ("questions-", "questions"),
    ("reminder-", "questions"),
    ("untick-", "questions"),
    ("reply-", "reply"),
    ("report-", "report"),
    ("check-", "check_run"),
    ("", "other"),
];

/// The outcome of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectOutcome {
    /// GitHub confirmed the write.
    Done,
    /// An earlier write of unknown outcome was found.
    Adopted,
    /// It is not known whether GitHub executed the write.
    Unknown,
    /// GitHub refused the write, or was not reached.
    Failed,
}

impl EffectOutcome {
    const ALL: [Self; 4] = [Self::Done, Self::Adopted, Self::Unknown, Self::Failed];

    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Adopted => "adopted",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
        }
    }
}

/// Counts the effect with this key.
pub fn effect(key: &str, outcome: EffectOutcome) {
    EFFECTS
        .counter(&[effect_kind(key), outcome.name()])
        .increment(1);
}

fn effect_kind(key: &str) -> &'static str {
    let mut kinds = EFFECT_KINDS.iter();
    let kind = kinds.find(|(prefix, _)| key.starts_with(prefix));
    kind.map_or("other", |(_, kind)| kind)
}

/// Counts received events. The counters are looked up once, because every delivery needs one.
pub struct Deliveries(Vec<Counter>);

impl Deliveries {
    /// Looks up the counters.
    pub fn new() -> Self {
        let counter = |source: Source| {
            DECISIONS.map(|decision| DELIVERIES.counter(&[source.name(), decision]))
        };
        Self(SOURCES.into_iter().flat_map(counter).collect())
    }

    /// Counts an event from `source` with this decision. Other sources and decisions are ignored.
    pub fn count(&self, source: Source, decision: &str) {
        let row = SOURCES.iter().position(|one| *one == source);
        let column = DECISIONS.iter().position(|one| *one == decision);
        let (Some(row), Some(column)) = (row, column) else {
            debug_assert!(false, "{source:?} {decision}");
            return;
        };
        if let Some(counter) = self.0.get(row * DECISIONS.len() + column) {
            counter.increment(1);
        }
    }
}

impl Default for Deliveries {
    fn default() -> Self {
        Self::new()
    }
}

/// Kinds of tokens: input that was not cached, input that was, and output.
const TOKEN_KINDS: [&str; 3] = ["input", "cached_input", "output"];

/// Counts a run that ended. `duration` is the time since its acceptance; `None` for a run that was
/// repeated.
pub fn run_ended(command: Command, state: State, code: Option<Code>, duration: Option<Duration>) {
    let code = code.map_or(NO_CODE, Code::name);
    RUNS_ENDED
        .counter(&[command.name(), state.name(), code])
        .increment(1);
    if let Some(duration) = duration {
        RUN_DURATION.histogram(&[command.name()]).record(duration);
    }
}

/// Waits for the end of an agent's turn, `work`, and counts the turn.
pub async fn agent_turn(command: Command, work: impl Future<Output = Report>) -> Report {
    let running = Running::new(&AGENT_TURNS_RUNNING);
    let report = work.await;
    drop(running);
    let command = command.name();
    AGENT_TURNS
        .counter(&[command, report.ending.name()])
        .increment(1);
    let tokens = report.spent.tokens;
    let uncached = tokens.input.saturating_sub(tokens.cached);
    let counts = [uncached, tokens.cached, tokens.output];
    for (kind, count) in TOKEN_KINDS.into_iter().zip(counts) {
        AGENT_TOKENS.counter(&[kind]).increment(count);
    }
    AGENT_COST
        .histogram(&[command])
        .record(dollars(report.spent.cost));
    report
}

/// Adds one to a gauge until dropped.
pub struct Running(Gauge);

impl Running {
    /// Adds one to a gauge without labels.
    pub fn new(metric: &Metric) -> Self {
        let gauge = metric.gauge(&[]);
        gauge.increment(1);
        Self(gauge)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to nine billion dollars"
)]
fn dollars(cost: Micros) -> f64 {
    cost as f64 / 1e6
}

/// Records the time `now` in a metric without labels.
pub fn happened(metric: &Metric, now: Millis) {
    metric.gauge(&[]).set(seconds(now));
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact for thousands of centuries"
)]
fn seconds(time: Millis) -> f64 {
    time.0 as f64 / 1e3
}

/// Classes of requests to GitHub's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestClass {
    /// Sent as the App itself: tokens, the delivery log.
    App,
    /// Reads with the token of an installation.
    Read,
    /// Writes with the token of an installation.
    Write,
}

impl RequestClass {
    const ALL: [Self; 3] = [Self::App, Self::Read, Self::Write];

    fn name(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Results of requests to GitHub's API.
const REQUEST_OUTCOMES: [&str; 7] = ["2xx", "3xx", "4xx", "5xx", "limited", "not_sent", "unknown"];

/// The outcome of a request to GitHub's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// A response with this HTTP status.
    Status(u16),
    /// A response that says that a rate limit is reached.
    Limited,
    /// There was no connection.
    NotSent,
    /// There was no response, or not all of it.
    Unknown,
}

impl RequestOutcome {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Status(..300) => "2xx",
            Self::Status(300..400) => "3xx",
            Self::Status(400..500) => "4xx",
            Self::Status(500..) => "5xx",
            Self::Limited => "limited",
            Self::NotSent => "not_sent",
            Self::Unknown => "unknown",
        }
    }
}

/// Counts a request to GitHub's API that took `time`.
pub fn github_request(class: RequestClass, outcome: RequestOutcome, time: Duration) {
    let class = class.name();
    GITHUB_REQUESTS
        .counter(&[class, outcome.name()])
        .increment(1);
    GITHUB_DURATION.histogram(&[class]).record(time);
}

/// Classes of operations of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreOperation {
    /// Stores deliveries.
    Accept,
    /// Claims a run.
    Claim,
    /// Any other read.
    Read,
    /// Any other write.
    Write,
}

impl StoreOperation {
    const ALL: [Self; 4] = [Self::Accept, Self::Claim, Self::Read, Self::Write];

    fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Claim => "claim",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Measures the operations of a store. The histograms are looked up once.
#[derive(Debug)]
pub struct StoreMeter([Histogram; 4]);

impl StoreMeter {
    /// Looks up the histograms.
    pub fn new() -> Self {
        Self(StoreOperation::ALL.map(|one| STORE_DURATION.histogram(&[one.name()])))
    }

    /// Records an operation that took `time`.
    pub fn record<T>(
        &self,
        operation: StoreOperation,
        time: Duration,
        result: &Result<T, StoreError>,
    ) {
        let [accept, claim, read, write] = &self.0;
        let histogram = match operation {
            StoreOperation::Accept => accept,
            StoreOperation::Claim => claim,
            StoreOperation::Read => read,
            StoreOperation::Write => write,
        };
        histogram.record(time);
        if let Err(error) = result
            && let Some(kind) = error.kind()
        {
            STORE_ERRORS.counter(&[operation.name(), kind]).increment(1);
        }
    }
}

impl Default for StoreMeter {
    fn default() -> Self {
        Self::new()
    }
}

/// Creates the series whose labels have known values, so that the first event of each is an
/// increase, and the series that are set once.
pub fn initialise(now: Millis) {
    BUILD_INFO.gauge(&[env!("CARGO_PKG_VERSION")]).set(1.0);
    happened(&START_TIME, now);
    for metric in [
        HTTP_IN_FLIGHT,
        OLDEST_READY,
        AGENT_TURNS_RUNNING,
        SWEEP_COMPLETED,
        SCAN_COMPLETED,
        STORE_UP,
    ] {
        metric.create(&[]);
    }
    GITHUB_BUDGET.gauge(&[]).set(f64::NAN);
    for source in SOURCES {
        for decision in DECISIONS {
            DELIVERIES.create(&[source.name(), decision]);
        }
    }
    for reason in REFUSALS {
        WEBHOOKS_REFUSED.create(&[reason]);
    }
    for state in State::ALL {
        RUNS.create(&[state.name()]);
    }
    for command in REGISTRY.iter().map(|spec| spec.name) {
        RUN_DURATION.create(&[command]);
        RUNS_ENDED.create(&[command, State::Succeeded.name(), NO_CODE]);
        for code in Code::ALL {
            let state = match code {
                Code::Cancelled => State::Cancelled,
                _ => State::Failed,
            };
            RUNS_ENDED.create(&[command, state.name(), code.name()]);
        }
    }
    for (_, kind) in EFFECT_KINDS {
        for outcome in EffectOutcome::ALL {
            EFFECTS.create(&[kind, outcome.name()]);
        }
    }
    for class in RequestClass::ALL {
        GITHUB_DURATION.create(&[class.name()]);
        for outcome in REQUEST_OUTCOMES {
            GITHUB_REQUESTS.create(&[class.name(), outcome]);
        }
    }
    for command in [Command::SavePlan, Command::Plan, Command::Research] {
        AGENT_COST.create(&[command.name()]);
        for outcome in Ending::NAMES {
            AGENT_TURNS.create(&[command.name(), outcome]);
        }
    }
    for kind in TOKEN_KINDS {
        AGENT_TOKENS.create(&[kind]);
    }
    for operation in StoreOperation::ALL {
        STORE_DURATION.create(&[operation.name()]);
        for kind in StoreError::KINDS {
            STORE_ERRORS.create(&[operation.name(), kind]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_follow_prometheus_conventions() {
        let names: BTreeSet<&str> = ALL.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), ALL.len());
        for metric in ALL {
            let name = metric.name;
            assert!(name.starts_with("planwright_"), "{name}");
            let is_counter = metric.kind == Kind::Counter;
            assert_eq!(name.ends_with("_total"), is_counter, "{name}");
            assert!(metric.help.ends_with('.'), "{name}");
        }
    }

    #[test]
    fn keys_of_effects_have_few_kinds() {
        for (key, kind) in [
            ("status", "status"),
            ("status-2-final-0", "status"),
            ("plan-issue~2", "plan_issue"),
            ("plan-issue-complete", "plan_issue"),
            ("plan-label", "label"),
            ("label-off", "label"),
            ("plan-part-12", "plan_comment"),
            ("plan-document-1", "plan_comment"),
            ("plan-replaced", "plan_comment"),
            ("react-eyes-0", "reaction"),
            ("unreact-eyes-1", "reaction"),
            ("questions-1-concluded", "questions"),
            ("reply-0", "reply"),
            ("report-3-final-0", "report"),
            ("report-elsewhere-0", "report"),
            ("check-0-from-50", "check_run"),
            ("something new", "other"),
        ] {
            assert_eq!(effect_kind(key), kind, "{key}");
        }
    }
}
