//! Time of requests for each page, and the memory that they leave behind.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use github_simulator::AppKeys;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use planwright::adapters::clock::SystemClock;
use planwright::adapters::github::{GitHub, GitHubConfig};
use planwright::adapters::store::{PostgresOptions, SqlStore};
use planwright::adapters::web::login::Login;
use planwright::adapters::web::pages::Pages;
use planwright::adapters::web::token::OperatorToken;
use planwright::engine::clock::Clock;
use planwright::engine::store::{ClaimLimits, Store};
use secrecy::{ExposeSecret as _, SecretString};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::database::Database;
use crate::figures::{Bars, median, quantile};
use crate::{Outcome, Plan, data};

const TOKEN: &str = "the token of the operator";

/// Maximum time of a request, in milliseconds.
const BAR: f64 = 50.0;

/// Number of requests whose memory is measured.
const REQUESTS: usize = 500;

/// Maximum growth of the resident memory during them, in MiB.
const GROWTH_BAR: f64 = 16.0;

/// The pages, each with a text that it must have.
const PAGES: [(&str, &str, &str); 14] = [
    ("first page", "/ui", "/ui/runs/"),
    ("failed runs", "/ui?state=failed", "no_plan_found"),
    ("cancelled runs", "/ui?state=cancelled", "/ui/runs/"),
    (
        "waiting runs",
        "/ui?state=waiting",
        "There are no such runs",
    ),
    (
        "runs of a repository",
        "/ui?repository=owner1%2Frepository7",
        "repository7",
    ),
    ("deep page", "/ui?before=20000", "/ui/runs/"),
    (
        "no run found",
        "/ui?command=research",
        "There are no such runs",
    ),
    ("plans, few found", "/ui/plans?text=word19000", "Plan "),
    ("plans, many found", "/ui/plans?text=plan", "Plan "),
    (
        "no plan found",
        "/ui/plans?person=nobody",
        "There are no such plans",
    ),
    ("costs", "/ui/costs", "$1.25"),
    ("audit log", "/ui/audit", "octocat"),
    (
        "no audit entry found",
        "/ui/audit?actor=nobody",
        "There are no such entries",
    ),
    ("a run", "", "comment 7"),
];

/// The pages of a store, for the operator.
pub(crate) struct Site {
    pub(crate) store: Arc<SqlStore>,
    pub(crate) clock: Arc<dyn Clock>,
    app: Router,
}

impl Site {
    pub(crate) async fn open(database: &Database) -> Outcome<Self> {
        let store = Arc::new(database.open_with(PostgresOptions::default()).await?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let clock = store.clock().unwrap_or(clock);
        // It is not asked: the operator may see everything.
        let key = SecretString::from(AppKeys::generate()?.private_pem.expose_secret());
        let config = GitHubConfig::new("http://127.0.0.1:1/".parse()?, 1, key);
        let github = Arc::new(GitHub::new(config, Arc::clone(&clock))?);
        let token = OperatorToken::new(SecretString::from(TOKEN));
        let login = Login::new(None, Some(token), None, github, Arc::clone(&clock));
        let login = Arc::new(login.ok_or("there is a token")?);
        let pages = Pages::new(
            Arc::clone(&login),
            store.history(),
            Arc::clone(&store) as _,
            Arc::clone(&clock),
            "https://github.com",
            ClaimLimits::default(),
            CancellationToken::new(),
        );
        let app = login.add_to(Router::new(), pages.router());
        Ok(Self { store, clock, app })
    }

    /// Requests a page with the operator's token and returns the body of a successful response.
    pub(crate) async fn get(&self, path: &str) -> Outcome<Body> {
        let request = Request::get(path)
            .header("authorization", format!("Bearer {TOKEN}"))
            .body(Body::empty())?;
        let response = self.app.clone().oneshot(request).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("{path}: status {}", response.status()).into());
        }
        Ok(response.into_body())
    }

    async fn page(&self, path: &str, expected: &str) -> Outcome<usize> {
        let body = self.get(path).await?.collect().await?.to_bytes();
        let text = std::str::from_utf8(&body)?;
        if !text.contains(expected) {
            return Err(format!("{path} does not contain {expected}").into());
        }
        Ok(body.len())
    }

    pub(crate) async fn close(&self) {
        self.store.close().await;
    }
}

/// Measures every page in turn.
pub(crate) async fn run(plan: &Plan, name: &str, site: &Site, bars: &mut Bars) -> Outcome<()> {
    let last = format!("/ui/runs/{}", data::run(data::RUNS));
    let pages = PAGES.map(|(what, path, expected)| {
        let path = if path.is_empty() { &last } else { path };
        (what, path, expected)
    });
    println!(
        "\n{name}: milliseconds of {} requests for each page",
        plan.requests
    );
    println!("{:<24} {:>8} {:>8} {:>8}", "", "KiB", "median", "p99");
    let mut times = [const { Vec::new() }; PAGES.len()];
    let mut sizes = [0; PAGES.len()];
    // The first round warms up.
    for round in 0..=plan.requests {
        for (index, (_, path, expected)) in pages.iter().enumerate() {
            let began = Instant::now();
            sizes[index] = site.page(path, expected).await?;
            if round > 0 {
                times[index].push(milliseconds(began.elapsed()));
            }
        }
    }
    for (((what, _, _), times), size) in pages.iter().zip(&times).zip(sizes) {
        let (median, p99) = (median(times), quantile(times, 0.99));
        println!("{what:<24} {:>8} {median:>8.2} {p99:>8.2}", size / 1024);
        bars.at_most(format!("{name}: {what}, median, ms"), median, BAR);
        bars.at_most(format!("{name}: {what}, p99, ms"), p99, BAR);
    }
    let before = resident()?;
    for index in 0..REQUESTS {
        let (_, path, expected) = pages[index % pages.len()];
        site.page(path, expected).await?;
    }
    let grown = resident()? - before;
    println!(
        "resident memory: {before:.1} MiB before {REQUESTS} requests, {grown:+.1} MiB after them"
    );
    bars.at_most(format!("{name}: growth of memory, MiB"), grown, GROWTH_BAR);
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the resident memory of this process, in MiB.
fn resident() -> Outcome<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let value = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(value.ok_or("the memory cannot be read")?.parse::<f64>()? / 1024.0)
}
