//! Traces of runs, as an OpenTelemetry collector receives them from the bot's process.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::routing::post;
use bytes::Bytes;
use github_simulator::{Fault, FaultKind, LoggedRequest};
use http::{HeaderMap, StatusCode};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode as SpanStatus;
use prost::Message as _;
use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use ulid::Ulid;

use crate::simulator_support::KEYS;
use crate::support::rig::PLAN;
use crate::support::system::{Options, RunRow, System};

const REPO: &str = "acme/search";

/// A collector that keeps what it receives.
#[derive(Clone, Default)]
struct Collector {
    received: Arc<Mutex<Vec<Bytes>>>,
}

impl Collector {
    /// Starts a collector. Returns it and its base URL.
    async fn start() -> (Self, String) {
        let collector = Self::default();
        let router = axum::Router::new()
            .route("/v1/traces", post(receive))
            .with_state(collector.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (collector, url)
    }

    /// Returns the bodies of all requests, one after the other.
    fn bytes(&self) -> Vec<u8> {
        self.received.lock().unwrap().concat()
    }

    fn spans(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        for body in self.received.lock().unwrap().iter() {
            let request = ExportTraceServiceRequest::decode(body.clone()).unwrap();
            for resource in request.resource_spans {
                let attributes = &resource.resource.as_ref().unwrap().attributes;
                assert_eq!(attribute(attributes, "service.name"), "planwright");
                let scopes = resource.scope_spans.into_iter();
                spans.extend(scopes.flat_map(|scope| scope.spans));
            }
        }
        spans
    }

    /// Returns the spans of the run's trace.
    fn trace(&self, run: &RunRow) -> Vec<Span> {
        let id = Ulid::from_string(&run.id).unwrap().to_bytes();
        let mut spans = self.spans();
        spans.retain(|span| span.trace_id == id);
        spans
    }
}

async fn receive(
    State(collector): State<Collector>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, [(&'static str, &'static str); 1]) {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    collector.received.lock().unwrap().push(body);
    (StatusCode::OK, [("content-type", "application/x-protobuf")])
}

/// Returns the value of an attribute as text; empty if there is none.
fn attribute(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|one| one.key == key);
    let value = found.and_then(|one| one.value.as_ref()?.value.as_ref());
    match value {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        None => String::new(),
        other => panic!("{key}: {other:?}"),
    }
}

/// Returns the message of the error status; `None` if the status is no error.
fn error(span: &Span) -> Option<&str> {
    let status = span.status.as_ref()?;
    (status.code() == SpanStatus::Error).then_some(&*status.message)
}

/// Returns the names of the spans above `span`, from the root.
fn above(span: &Span, trace: &[Span]) -> Vec<String> {
    let by_id: HashMap<&[u8], &Span> = trace.iter().map(|one| (&*one.span_id, one)).collect();
    let mut names = Vec::new();
    let mut parent = &span.parent_span_id;
    while !parent.is_empty() {
        let above = by_id.get(&**parent);
        let above = above.unwrap_or_else(|| panic!("without a parent: {span:?}"));
        names.insert(0, above.name.clone());
        parent = &above.parent_span_id;
    }
    names
}

async fn system(collector: &str, more: &[(&'static str, &str)]) -> System {
    let ours = [
        ("PLANWRIGHT_LOG_OTLP_ENDPOINT", collector),
        ("OTEL_BSP_SCHEDULE_DELAY", "100"),
    ];
    let environment = ours.iter().chain(more);
    let system = System::with(Options {
        environment: environment
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect(),
        ..Options::default()
    })
    .await;
    system.repository(REPO, false);
    system
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_one_trace() {
    let (collector, url) = Collector::start().await;
    // An agent that prints no result, so that its turn fails and the plan is saved as found. The
    // spans do not depend on the level of the log.
    let more = [
        ("PLANWRIGHT_LOG_LEVEL", "info,planwright=debug"),
        ("PLANWRIGHT_AGENT_KIND", "command"),
        ("PLANWRIGHT_AGENT_PATH", "/bin/false"),
    ];
    let mut system = system(&url, &more).await;
    let sim = &system.sim;
    let plan = sim.open_issue(REPO, "bob", "Search is slow", PLAN).unwrap();
    let talk = sim.open_issue(REPO, "bob", "Talk", "Hello").unwrap();
    sim.comment(REPO, plan, "ada", "/save-plan guidanceword")
        .unwrap();
    sim.comment(REPO, talk, "ada", "/save-raw-plan").unwrap();
    let wide = sim.open_issue(REPO, "bob", "Wide", "Hello").unwrap();
    sim.comment(REPO, wide, "ada", "/research topicword; two")
        .unwrap();
    let runs = system.run_to_rest().await;
    system.logged_times("\"run ended\"", 1).await;
    system.logged_times("\"run failed\"", 2).await;
    system.stop().await;

    assert_eq!(runs.len(), 3);
    let run = |command: &str| runs.iter().find(|run| run.command == command).unwrap();
    let (saved, failed, research) = (run("save-plan"), run("save-raw-plan"), run("research"));
    // There are no other traces, such as of requests outside of runs.
    let all: BTreeSet<Vec<u8>> = collector
        .spans()
        .into_iter()
        .map(|span| span.trace_id)
        .collect();
    let ids = runs.iter().map(|run| Ulid::from_string(&run.id).unwrap());
    assert_eq!(all, ids.map(|id| id.to_bytes().to_vec()).collect());

    for (run, number, state, status) in [
        (saved, plan, "succeeded", None),
        (failed, talk, "failed", Some("no_plan_found")),
    ] {
        let trace = collector.trace(run);
        // A run that waits, as for another turn, is continued with a new root span.
        let root = trace.iter().filter(|span| span.name == "run");
        let root = root.max_by_key(|span| span.start_time_unix_nano).unwrap();
        assert_eq!(above(root, &trace), [""; 0]);
        let deliveries = system.sim.deliveries();
        let guid = attribute(&root.attributes, "delivery.guid");
        assert!(deliveries.iter().any(|one| one.guid == guid), "{guid}");
        for (key, expected) in [
            ("run.id", run.id.as_str()),
            ("repository", REPO),
            ("number", &number.to_string()),
            ("command", &run.command),
            ("state", state),
            ("error.type", status.unwrap_or_default()),
        ] {
            assert_eq!(attribute(&root.attributes, key), expected, "{key}");
        }
        assert_ne!(attribute(&root.attributes, "attempt"), "");
        assert_eq!(error(root), status);
        assert!(root.end_time_unix_nano > root.start_time_unix_nano);
    }

    let trace = collector.trace(saved);
    let is_at = |name: &str, path: &[&str]| {
        let mut named = trace.iter().filter(|span| span.name == name);
        assert!(
            named.any(|span| above(span, &trace) == path),
            "{name} below {path:?}: {:#?}",
            trace
                .iter()
                .map(|span| (above(span, &trace), &span.name))
                .collect::<Vec<_>>()
        );
    };
    is_at("authorise", &["run"]);
    is_at("gather", &["run"]);
    is_at("extract", &["run"]);
    is_at("enrich", &["run"]);
    is_at("turn", &["run", "enrich"]);
    is_at("verify", &["run"]);
    is_at("publish", &["run"]);
    is_at("report", &["run"]);
    is_at("GET /repos/{}/{}/issues/{}/comments", &["run", "gather"]);
    is_at("POST /repos/{}/{}/issues", &["run", "publish"]);
    let named = |name: &str| trace.iter().find(|span| span.name == name).unwrap();
    let request = &named("POST /repos/{}/{}/issues").attributes;
    for (key, expected) in [
        ("http.request.method", "POST"),
        ("url.template", "/repos/{}/{}/issues"),
        ("http.response.status_code", "201"),
    ] {
        assert_eq!(attribute(request, key), expected, "{key}");
    }
    let turn = named("turn");
    assert_eq!(error(turn), Some("process_error"));
    assert_eq!(attribute(&turn.attributes, "ending"), "process_error");
    let trace = collector.trace(failed);
    let step = trace.iter().find(|span| span.name == "verify").unwrap();
    assert_eq!(error(step), Some("no_plan_found"));

    let trace = collector.trace(research);
    let turn = trace.iter().find(|span| span.name == "turn").unwrap();
    assert_eq!(above(turn, &trace), ["run", "research"]);

    let bytes = String::from_utf8_lossy(&collector.bytes()).into_owned();
    let token = |request: &LoggedRequest| {
        let header = request.headers.get("authorization")?;
        Some(header.to_str().unwrap().rsplit(' ').next()?.to_owned())
    };
    let mut secrets: BTreeSet<String> = system.sim.requests().iter().filter_map(token).collect();
    assert!(secrets.len() > 1);
    let key = KEYS.private_pem.expose_secret();
    secrets.extend(key.lines().map(str::to_owned));
    let texts = [
        "a webhook secret",
        "guidanceword",
        "topicword",
        "Search is slow",
        "index",
    ];
    secrets.extend(texts.map(str::to_owned));
    for secret in secrets {
        assert!(!bytes.contains(&secret), "{secret}");
    }
    // Spans of traces are not in the log.
    for line in system.log() {
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        for span in line["spans"].as_array().into_iter().flatten() {
            let ours = ["attempt", "step", "request", "turn"];
            assert!(!ours.contains(&span["name"].as_str().unwrap()), "{line}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_another_process_continues_is_the_same_trace() {
    let (collector, url) = Collector::start().await;
    let mut system = system(&url, &[]).await;
    let comments = "/repos/*/*/issues/*/comments";
    let fault = Fault::on("GET", comments, FaultKind::Unavailable);
    system.sim.faults().push(fault);
    let plan = system.sim.open_issue(REPO, "bob", "Search", PLAN).unwrap();
    system.sim.comment(REPO, plan, "ada", "/save-plan").unwrap();
    system.logged("\"run waits\"").await;
    system.stop().await;
    let before = collector.spans().len();
    system.start_bot().await;
    let runs = system.run_to_rest().await;
    system.logged("\"run ended\"").await;
    system.stop().await;

    let trace = collector.trace(&runs[0]);
    assert_eq!(trace.len(), collector.spans().len());
    assert!((1..trace.len()).contains(&before), "{before}");
    let states: Vec<String> = trace
        .iter()
        .filter(|span| span.name == "run")
        .map(|span| attribute(&span.attributes, "state"))
        .collect();
    assert_eq!(states, ["waiting", "succeeded"]);
    let request = trace
        .iter()
        .find(|span| error(span) == Some("503"))
        .unwrap();
    assert_eq!(above(request, &trace), ["run", "gather"]);
    let gather = trace.iter().find(|span| span.name == "gather").unwrap();
    assert_eq!(error(gather), Some("github"));
}

/// Nobody listens, or nobody answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_fails_does_not_disturb() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let urls = [&silent, &closed].map(|one| format!("http://{}", one.local_addr().unwrap()));
    drop(closed);
    for url in urls {
        let mut system = system(&url, &[]).await;
        for number in 0..3 {
            let title = format!("Search {number}");
            let plan = system.sim.open_issue(REPO, "bob", &title, PLAN).unwrap();
            system.sim.comment(REPO, plan, "ada", "/save-plan").unwrap();
        }
        let runs = system.run_to_rest().await;
        assert!(runs.iter().all(|run| run.code.is_none()), "{runs:#?}");
        system.logged("accepts no traces").await;
        let stopping = Instant::now();
        system.stop().await;
        assert!(stopping.elapsed() < Duration::from_secs(30));
        let log = system.log();
        let about = log.iter().filter(|line| line.contains("accepts no traces"));
        assert_eq!(about.count(), 1, "{log:#?}");
    }
}
