//! `/metrics` of the bot as a process: access, and the values after real commands and after
//! failures.

use std::collections::BTreeSet;

use github_simulator::{Fault, FaultKind};
use planwright::adapters::metrics::recorder;
use planwright::engine::metrics::{ALL, initialise};
use planwright::engine::model::time::Millis;

use crate::support::program::Visitor;
use crate::support::prometheus::{Metrics, Series, TOKEN, metrics_of, request, token};
use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

const REPO: &str = "acme/search";

async fn system(environment: Vec<(&'static str, String)>) -> System {
    let options = Options {
        environment,
        ..Options::default()
    };
    let system = System::with(options).await;
    system.repository(REPO, false);
    system
}

/// An issue with a plan.
fn issue(system: &System) -> u64 {
    let opened = system.sim.open_issue(REPO, "bob", "Search is slow", PLAN);
    opened.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_operators_token_opens_them() {
    let system = system(vec![token()]).await;
    let url = system.url("/metrics");
    let nothing = request(&system.url("/nothing"), None).await;
    assert_eq!(nothing.status, 404);
    let right = format!("Bearer {TOKEN}");
    for wrong in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer wrong"),
        Some(&right[..right.len() - 1]),
        Some(&format!("Basic {TOKEN}")),
        Some(TOKEN),
    ] {
        let page = request(&url, wrong).await;
        assert_eq!((page.status, &page.text), (404, &nothing.text), "{wrong:?}");
    }
    let with_query = request(&format!("{url}?token={TOKEN}"), None).await;
    assert_eq!(with_query.status, 404);
    let post = http::Request::post(&url).header("authorization", &right);
    let mut visitor = Visitor { cookie: None };
    assert_eq!(visitor.send(post, String::new()).await.status, 404);
    let page = request(&url, Some(&right)).await;
    assert_eq!(page.status, 200);
    for metric in ALL {
        assert!(page.text.contains(metric.name), "{}", metric.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_configured_token_there_are_none() {
    let system = system(Vec::new()).await;
    for authorization in [None, Some("Bearer "), Some(&*format!("Bearer {TOKEN}"))] {
        let page = request(&system.url("/metrics"), authorization).await;
        assert_eq!(page.status, 404, "{authorization:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happened_is_counted() {
    let system = system(vec![token()]).await;
    let sim = &system.sim;
    let place = issue(&system);
    sim.comment(REPO, place, "ada", "/save-plan").unwrap();
    sim.settle().await;
    let accepted = sim
        .deliveries()
        .into_iter()
        .rfind(|one| one.event == "issue_comment");
    system.logged("\"run ended\"").await;
    sim.comment(REPO, place, "ada", "Thanks.").unwrap();
    let opened = sim.open_issue(REPO, "bob", "Hello", "How are you?");
    sim.comment(REPO, opened.unwrap(), "ada", "/save-raw-plan")
        .unwrap();
    system.logged("\"run failed\"").await;
    sim.redeliver(accepted.unwrap().id).unwrap();
    sim.settle().await;
    forge_a_delivery(&system).await;

    let now = metrics_of(&system).await;
    let number = |name: &str, labels: &[(&str, &str)]| count(now.sum(name, labels));
    let deliveries = "planwright_deliveries_total";
    for (decision, expected) in [
        ("accepted", 2),
        ("duplicate", 1),
        ("busy", 0),
        ("refused", 0),
    ] {
        let labels = [("source", "webhook"), ("decision", decision)];
        assert_eq!(number(deliveries, &labels), expected, "{decision}");
    }
    assert!(number(deliveries, &[("decision", "ignored")]) > 0);
    let refused = "planwright_webhook_requests_refused_total";
    assert_eq!(number(refused, &[("reason", "signature")]), 1);
    assert_eq!(number(refused, &[]), 1);

    let ended = "planwright_runs_ended_total";
    let saved = [
        ("command", "save-plan"),
        ("state", "succeeded"),
        ("code", "none"),
    ];
    assert_eq!(number(ended, &saved), 1);
    let failed = [
        ("command", "save-raw-plan"),
        ("state", "failed"),
        ("code", "no_plan_found"),
    ];
    assert_eq!(number(ended, &failed), 1);
    assert_eq!(number(ended, &[]), 2);
    assert_eq!(number("planwright_runs", &[("state", "succeeded")]), 1);
    assert_eq!(number("planwright_runs", &[("state", "failed")]), 1);
    assert_eq!(number("planwright_runs", &[]), 2);
    assert_eq!(number("planwright_oldest_ready_run_age_seconds", &[]), 0);
    let duration = "planwright_run_duration_seconds_count";
    assert_eq!(number(duration, &[("command", "save-plan")]), 1);

    let effects = "planwright_effects_total";
    assert_eq!(
        number(effects, &[("kind", "plan_issue"), ("outcome", "done")]),
        2
    );
    assert_eq!(
        number(effects, &[("kind", "plan_comment"), ("outcome", "done")]),
        1
    );
    assert!(number(effects, &[("kind", "status"), ("outcome", "done")]) >= 2);
    assert_eq!(number(effects, &[("kind", "other")]), 0);
    assert_eq!(number(effects, &[("outcome", "failed")]), 0);

    let requests = "planwright_github_requests_total";
    for class in ["app", "read", "write"] {
        assert!(
            number(requests, &[("class", class), ("outcome", "2xx")]) > 0,
            "{class}"
        );
        let timed = number(
            "planwright_github_request_duration_seconds_count",
            &[("class", class)],
        );
        assert_eq!(timed, number(requests, &[("class", class)]), "{class}");
    }
    assert_eq!(number(requests, &[("outcome", "unknown")]), 0);
    let left = number("planwright_github_rate_limit_remaining", &[]);
    assert!((1..=15_000).contains(&left), "{left}");

    for operation in ["accept", "claim", "read", "write"] {
        let timed = "planwright_store_operation_duration_seconds_count";
        assert!(
            number(timed, &[("operation", operation)]) > 0,
            "{operation}"
        );
    }
    assert_eq!(number("planwright_store_errors_total", &[]), 0);
    assert_eq!(number("planwright_store_up", &[]), 1);
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    assert_eq!(number("planwright_build_info", &version), 1);
    assert_eq!(number("planwright_http_requests_in_flight", &[]), 1);
    let start = number("planwright_process_start_time_seconds", &[]);
    for done in ["sweep", "scan"] {
        let name = format!("planwright_{done}_completed_timestamp_seconds");
        assert!((start..start + 600).contains(&number(&name, &[])), "{name}");
    }
    assert_eq!(now.series(), initial());
}

/// Answers of GitHub that are no success, and what they did to effects.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_of_github_are_counted() {
    let system = system(vec![token()]).await;
    let comments = "/repos/*/*/issues/*/comments";
    let faults = system.sim.faults();
    faults.push(Fault::on("POST", comments, FaultKind::LostResponse));
    let limit = FaultKind::SecondaryLimit {
        retry_after: Some(1),
    };
    faults.push(Fault::on("POST", "/repos/*/*/issues", limit));
    let place = issue(&system);
    system
        .sim
        .comment(REPO, place, "ada", "/save-plan")
        .unwrap();
    system.logged("\"run ended\"").await;
    let now = metrics_of(&system).await;
    let number = |name: &str, labels: &[(&str, &str)]| count(now.sum(name, labels));
    let requests = "planwright_github_requests_total";
    for outcome in ["unknown", "limited"] {
        let labels = [("class", "write"), ("outcome", outcome)];
        assert_eq!(number(requests, &labels), 1, "{outcome}");
    }
    let effects = "planwright_effects_total";
    assert_eq!(
        number(effects, &[("kind", "status"), ("outcome", "unknown")]),
        1
    );
    assert_eq!(
        number(effects, &[("kind", "status"), ("outcome", "adopted")]),
        1
    );
    assert_eq!(
        number(effects, &[("kind", "plan_issue"), ("outcome", "failed")]),
        1
    );
}

/// The series that are there from the start.
fn initial() -> BTreeSet<Series> {
    let recorder = recorder().unwrap();
    metrics::with_local_recorder(&recorder, || initialise(Millis(0)));
    Metrics::parse(&recorder.handle().render()).series()
}

/// Sends a delivery with a wrong signature.
async fn forge_a_delivery(system: &System) {
    let request = http::Request::post(system.url("/webhook"))
        .header("content-type", "application/json")
        .header("x-github-event", "issue_comment")
        .header("x-github-delivery", "00000000-0000-0000-0000-000000000000")
        .header("x-hub-signature-256", format!("sha256={}", "0".repeat(64)));
    let mut visitor = Visitor { cookie: None };
    let page = visitor.send(request, "{}".to_owned()).await;
    assert_eq!(page.status, 401, "{}", page.text);
}

/// Converts a value that is a whole number, or the whole part of one.
#[expect(clippy::cast_possible_truncation, reason = "values of tests are small")]
fn count(value: f64) -> i64 {
    value as i64
}
