//! A receiver on a loopback port with a store in memory, and a client that signs its requests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use planwright::adapters::signature;
use planwright::adapters::web::health::{Health, StoreCheck};
use planwright::adapters::web::{self, server};
use planwright::adapters::webhook::Receiver;
use planwright::engine::clock::Clock;
use planwright::engine::decide::{AppIdentity, AppSlug};
use planwright::engine::intake::Intake;
use planwright::engine::model::agent::Spent;
use planwright::engine::model::intake::{DecisionRecord, LogState, LoggedAttempt, ScanState};
use planwright::engine::model::plan_entry::PlanEntry;
use planwright::engine::model::progress::Progress;
use planwright::engine::model::run::RunId;
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::Repo;
use planwright::engine::settings::LateSettings;
use planwright::engine::store::*;
use planwright::formats::command::Command;
use planwright::formats::question::{Choice, Question, boxes};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const APP_ID: u64 = 424_242;
pub(crate) const SECRET: &str = "the first secret of this test";
pub(crate) const OLD_SECRET: &str = "the secret before it";
pub(crate) const CREATED: &str = include_str!("../../fixtures/payloads/issue_comment.created.json");

/// A comment that asks, as the App posts it.
pub(crate) fn asking() -> String {
    let choice = |label: &str| Choice {
        label: label.to_owned(),
        description: String::new(),
    };
    let questions = [Question {
        question: "Which store?".to_owned(),
        header: String::new(),
        choice: true,
        multi: false,
        options: vec![choice("SQLite"), choice("Redis")],
    }];
    boxes::render(&boxes::Round {
        own_words: true,
        run: "run_1",
        number: 1,
        questions: &questions,
    })
}

/// The payload when `mira-solano` edits the App's comment that asks.
pub(crate) fn edited(before: &str, after: &str) -> String {
    let payload = include_str!("../../fixtures/payloads/issue_comment.edited.json");
    let mut payload: Value = serde_json::from_str(payload).unwrap();
    payload["comment"]["user"] = json!({"id": 5, "login": "planwright[bot]", "type": "Bot"});
    payload["comment"]["performed_via_github_app"] = json!({"id": APP_ID});
    payload["comment"]["body"] = json!(after);
    payload["changes"]["body"]["from"] = json!(before);
    payload.to_string()
}

/// What the store is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Well,
    Busy,
    Broken,
    Requeues,
}

/// Only what a receiver, a health check and the recording of an agent's output use.
pub(crate) struct FakeStore {
    pub(crate) mood: Mutex<Mood>,
    pub(crate) deliveries: Mutex<Vec<NewDelivery>>,
    pub(crate) decisions: Mutex<Vec<DecisionRecord>>,
    seen: Mutex<HashSet<String>>,
    pub(crate) pings: AtomicU64,
    pub(crate) ping_fails: AtomicBool,
    /// Permits to leave `accept`; one is used for each delivery.
    pub(crate) gate: Semaphore,
    /// Grows when a delivery has entered `accept`.
    pub(crate) entered: Semaphore,
    /// Permits to leave `record_decisions`; one is used for each batch.
    pub(crate) record_gate: Semaphore,
    /// Grows when a batch of decisions is being written.
    pub(crate) recorded: Semaphore,
    /// Portions of agents' output.
    pub(crate) output: Mutex<Vec<(RunId, String, Millis)>>,
    /// Grows when a portion of output has been stored or refused.
    pub(crate) appended: Semaphore,
}

impl FakeStore {
    pub(crate) fn new() -> Self {
        Self {
            mood: Mutex::new(Mood::Well),
            deliveries: Mutex::default(),
            decisions: Mutex::default(),
            seen: Mutex::default(),
            pings: AtomicU64::new(0),
            ping_fails: AtomicBool::new(false),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
            entered: Semaphore::new(0),
            record_gate: Semaphore::new(Semaphore::MAX_PERMITS),
            recorded: Semaphore::new(0),
            output: Mutex::default(),
            appended: Semaphore::new(0),
        }
    }

    pub(crate) fn stored(&self) -> usize {
        self.deliveries.lock().unwrap().len()
    }
}

type Outcome<T> = Result<T, StoreError>;

#[async_trait]
impl Store for FakeStore {
    async fn accept(&self, delivery: NewDelivery) -> Outcome<Accepted> {
        self.entered.add_permits(1);
        self.gate.acquire().await.unwrap().forget();
        match *self.mood.lock().unwrap() {
            Mood::Busy => return Err(StoreError::Busy),
            Mood::Broken => return Err(StoreError::Failed("disk full at /var/secret".to_owned())),
            Mood::Requeues => return Ok(Accepted::Requeued),
            Mood::Well => {}
        }
        if !self.seen.lock().unwrap().insert(delivery.guid.clone()) {
            return Ok(Accepted::Duplicate);
        }
        self.deliveries.lock().unwrap().push(delivery);
        Ok(Accepted::New)
    }

    async fn ping(&self) -> Outcome<()> {
        self.pings.fetch_add(1, Ordering::SeqCst);
        if self.ping_fails.load(Ordering::SeqCst) {
            return Err(StoreError::Failed("read-only file system".to_owned()));
        }
        Ok(())
    }

    async fn record_decisions(&self, decisions: &[DecisionRecord]) -> Outcome<()> {
        self.decisions.lock().unwrap().extend_from_slice(decisions);
        self.recorded.add_permits(1);
        self.record_gate.acquire().await.unwrap().forget();
        Ok(())
    }
    async fn decisions_at(&self, _: u64, _: u64, _: u32) -> Outcome<Vec<DecisionRecord>> {
        unreachable!()
    }
    async fn decided(&self, _: &[&str], _: Millis) -> Outcome<HashSet<String>> {
        unreachable!()
    }
    async fn decided_comments(&self, _: u64, _: &[(u64, u64)]) -> Outcome<HashSet<u64>> {
        unreachable!()
    }
    async fn label_accepted(&self, _: &str, _: &str, _: (Millis, Millis)) -> Outcome<bool> {
        unreachable!()
    }
    async fn log_state(&self) -> Outcome<Option<LogState>> {
        unreachable!()
    }
    async fn save_log_state(&self, _: &LogState, _: &[LoggedAttempt]) -> Outcome<()> {
        unreachable!()
    }
    async fn missed(&self, _: u32) -> Outcome<Vec<LoggedAttempt>> {
        unreachable!()
    }
    async fn drop_missed(&self, _: u64) -> Outcome<()> {
        unreachable!()
    }
    async fn scan_state(&self, _: u64) -> Outcome<Option<ScanState>> {
        unreachable!()
    }
    async fn save_scan_state(&self, _: u64, _: &ScanState) -> Outcome<()> {
        unreachable!()
    }
    async fn claim(
        &self,
        _: &str,
        _: Millis,
        _: Duration,
        _: &ClaimLimits,
    ) -> Outcome<Option<Claimed>> {
        unreachable!()
    }
    async fn claim_unacknowledged(
        &self,
        _: &str,
        _: Millis,
        _: Duration,
        _: Millis,
    ) -> Outcome<Option<Claimed>> {
        unreachable!()
    }
    async fn acknowledged(&self, _: &Lease) -> Outcome<()> {
        unreachable!()
    }
    async fn heartbeat(&self, _: &[Lease], _: Millis, _: Duration) -> Outcome<Vec<LeaseStatus>> {
        unreachable!()
    }
    async fn save_progress(&self, _: &Lease, _: &Progress) -> Outcome<()> {
        unreachable!()
    }
    async fn finish(&self, _: &Lease, _: &RunOutcome, _: Millis) -> Outcome<()> {
        unreachable!()
    }
    async fn release(&self, _: &str) -> Outcome<u64> {
        unreachable!()
    }
    async fn recover_expired(&self, _: Millis) -> Outcome<u64> {
        unreachable!()
    }
    async fn next_due(&self) -> Outcome<Option<Millis>> {
        unreachable!()
    }
    async fn work_arrived(&self) {
        unreachable!()
    }
    async fn begin_effect(&self, _: &Lease, _: &str, _: Millis) -> Outcome<EffectState> {
        unreachable!()
    }
    async fn retry_effect(&self, _: &Lease, _: &str, _: Millis) -> Outcome<()> {
        unreachable!()
    }
    async fn drop_effect(&self, _: &Lease, _: &str) -> Outcome<()> {
        unreachable!()
    }
    async fn effects(&self, _: &RunId) -> Outcome<Vec<(String, String)>> {
        unreachable!()
    }
    async fn end_effect(&self, _: &Lease, _: &str, _: &str, _: Millis) -> Outcome<()> {
        unreachable!()
    }
    async fn run(&self, _: &RunId) -> Outcome<Option<RunView>> {
        unreachable!()
    }
    async fn runs_at(&self, _: &str, _: u32) -> Outcome<Vec<RunView>> {
        unreachable!()
    }
    async fn recent_runs(&self, _: u32) -> Outcome<Vec<RunView>> {
        unreachable!()
    }
    async fn queue_position(&self, _: &RunId) -> Outcome<QueuePosition> {
        unreachable!()
    }
    async fn request_cancel(&self, _: &str, _: &RunId, _: &str) -> Outcome<Vec<RunId>> {
        unreachable!()
    }
    async fn requeue_failed(&self, _: &str) -> Outcome<Option<RunId>> {
        unreachable!()
    }
    async fn send_message(&self, _: &RunId, _: &str, _: Millis) -> Outcome<bool> {
        unreachable!()
    }
    async fn messages(&self, _: &RunId) -> Outcome<Vec<String>> {
        unreachable!()
    }
    async fn decide_answer(
        &self,
        _: &Lease,
        _: &CommandRequest,
        _: Option<ActorStanding>,
        _: &AnswerLimits,
        _: Millis,
    ) -> Outcome<AnswerDecision> {
        unreachable!()
    }
    async fn begin_turn(
        &self,
        _: &Lease,
        _: &str,
        _: BudgetScope,
        _: &Budget,
        _: Millis,
    ) -> Outcome<Result<(), Exceeded>> {
        unreachable!()
    }
    async fn end_turn(&self, _: &Lease, _: &str, _: &Spent) -> Outcome<()> {
        unreachable!()
    }
    async fn usage(&self, _: u64, _: Millis) -> Outcome<Vec<CommandUsage>> {
        unreachable!()
    }
    async fn record_saved(&self, _: &Lease, _: &SavedPlan, _: &PlanEntry) -> Outcome<()> {
        unreachable!()
    }
    async fn record_repository(&self, _: &Repo) -> Outcome<()> {
        unreachable!()
    }
    async fn append_output(&self, run: &RunId, text: &str, now: Millis) -> Outcome<()> {
        self.appended.add_permits(1);
        if *self.mood.lock().unwrap() == Mood::Broken {
            return Err(StoreError::Failed("disk full".to_owned()));
        }
        let portion = (run.clone(), text.to_owned(), now);
        self.output.lock().unwrap().push(portion);
        Ok(())
    }
    async fn cancel_run(&self, _: &RunId, _: &AuditEntry) -> Outcome<Change> {
        unreachable!()
    }
    async fn retry_run(&self, _: &RunId, _: &AuditEntry) -> Outcome<Change> {
        unreachable!()
    }
    async fn run_again(
        &self,
        _: &RunId,
        _: NewDelivery,
        _: &AuditEntry,
    ) -> Outcome<(Change, RunId)> {
        unreachable!()
    }
    async fn saved_at(&self, _: &str) -> Outcome<Vec<SavedPlan>> {
        unreachable!()
    }
    async fn audit(&self, _: AuditEntry) -> Outcome<()> {
        unreachable!()
    }
    async fn audit_of(&self, _: &RunId) -> Outcome<Vec<AuditEntry>> {
        unreachable!()
    }
    async fn counts(&self) -> Outcome<QueueCounts> {
        unreachable!()
    }
    async fn prune(&self, _: Millis) -> Outcome<u64> {
        unreachable!()
    }
    async fn prune_refused(&self, _: Millis) -> Outcome<u64> {
        unreachable!()
    }
    async fn close(&self) {}
}

/// A clock that stands until it is moved.
pub(crate) struct Hand(pub(crate) AtomicI64);

#[async_trait]
impl Clock for Hand {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }

    /// Only the journal of decisions sleeps, until it is flushed.
    async fn sleep(&self, _: Duration) {
        std::future::pending::<()>().await;
    }
}

/// A running receiver.
pub(crate) struct Rig {
    pub(crate) store: Arc<FakeStore>,
    pub(crate) clock: Arc<Hand>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) receiver: Arc<Receiver>,
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinHandle<()>,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("JSON: {}", self.text))
    }
}

pub(crate) async fn start() -> Rig {
    start_with(false).await
}

pub(crate) async fn start_with(keep_payloads: bool) -> Rig {
    start_bounded(keep_payloads, 256).await
}

pub(crate) async fn start_bounded(keep_payloads: bool, max_connections: usize) -> Rig {
    let store = Arc::new(FakeStore::new());
    let clock = Arc::new(Hand(AtomicI64::new(1_780_000_000_000)));
    let facts = AppIdentity {
        app_id: APP_ID,
        app_slug: AppSlug::new(Some("planwright".to_owned())),
        labels: vec![(Command::SavePlan, "save-plan".to_owned())],
        allowed_bots: Vec::new(),
    };
    let secrets = [SECRET, OLD_SECRET].map(SecretString::from).to_vec();
    let intake = Arc::new(Intake::new(
        store.clone(),
        clock.clone(),
        facts,
        LateSettings::default(),
        keep_payloads,
    ));
    let receiver = Arc::new(Receiver::new(intake.clone(), clock.clone(), secrets));
    let health = Health::new(clock.clone(), vec![Box::new(StoreCheck(store.clone()))]);
    let app = web::app(receiver.clone().router("/webhook"), Arc::new(health));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let served = tokio::spawn(server::serve(listener, app, max_connections, stop.clone()));
    Rig {
        store,
        clock,
        intake,
        receiver,
        address,
        stop,
        served,
        client: Client::builder(TokioExecutor::new()).build_http(),
    }
}

/// A delivery as GitHub makes it; tests change what they are about.
#[derive(Clone)]
pub(crate) struct Delivery {
    pub(crate) method: Method,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Bytes,
}

impl Delivery {
    pub(crate) fn new(event: &str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let signed = signature::sign(&SecretString::from(SECRET), &body);
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("user-agent", "GitHub-Hookshot/0000000".to_owned()),
            ("x-github-event", event.to_owned()),
            ("x-github-delivery", uuid::Uuid::new_v4().to_string()),
            ("x-github-hook-id", "490011223".to_owned()),
            (
                "x-github-hook-installation-target-type",
                "integration".to_owned(),
            ),
            ("x-github-hook-installation-target-id", APP_ID.to_string()),
            ("x-hub-signature-256", signed),
        ];
        Self {
            method: Method::POST,
            headers,
            body,
        }
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| *header != name);
        self
    }

    pub(crate) fn with(self, name: &'static str, value: &str) -> Self {
        let mut changed = self.without(name);
        changed.headers.push((name, value.to_owned()));
        changed
    }

    pub(crate) fn signed_with(self, secret: &str) -> Self {
        let signed = signature::sign(&SecretString::from(secret), &self.body);
        self.with("x-hub-signature-256", &signed)
    }

    pub(crate) fn request(&self, rig: &Rig) -> http::request::Builder {
        let uri = format!("http://{}/webhook", rig.address);
        let request = Request::builder().method(&self.method).uri(uri);
        self.headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, value)
        })
    }
}

impl Rig {
    pub(crate) async fn send(&self, delivery: &Delivery) -> Got {
        let request = delivery
            .request(self)
            .body(Full::new(delivery.body.clone()));
        got(self.client.request(request.unwrap()).await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Got {
        let uri = format!("http://{}{path}", self.address);
        let request = Request::get(uri).body(Full::default()).unwrap();
        got(self.client.request(request).await.unwrap()).await
    }
}

pub(crate) async fn got(response: http::Response<hyper::body::Incoming>) -> Got {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Got {
        status: parts.status,
        headers: parts.headers,
        text: String::from_utf8(body.to_vec()).unwrap(),
    }
}
