//! `/metrics`: the metrics of this process in Prometheus' text format, for the operator only.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::nothing_here;
use super::token::OperatorToken;
use crate::adapters::github::GitHub;
use crate::adapters::metrics::Exporter;
use crate::engine::clock::Clock;
use crate::engine::metrics::{
    GITHUB_BUDGET, HTTP_IN_FLIGHT, OLDEST_READY, RUNS, Running, STORE_UP,
};
use crate::engine::model::run::State as RunState;
use crate::engine::model::time::Millis;
use crate::engine::store::Store;

/// How long values from the database are reused, so that several scrapers cost one query.
const CACHE_TIME: Duration = Duration::from_secs(1);

/// Time limit for values from the database. Prometheus waits for 10 seconds by default.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Media type of the text format.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The metrics, and what is read when they are requested.
pub struct MetricsPage {
    exporter: Exporter,
    token: OperatorToken,
    store: Arc<dyn Store>,
    github: Arc<GitHub>,
    clock: Arc<dyn Clock>,
    /// When values were last read from the database.
    refreshed: Mutex<Option<Millis>>,
}

impl MetricsPage {
    /// Creates a page that is shown to requests with `token`.
    pub fn new(
        exporter: Exporter,
        token: OperatorToken,
        store: Arc<dyn Store>,
        github: Arc<GitHub>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            exporter,
            token,
            store,
            github,
            clock,
            refreshed: Mutex::default(),
        }
    }

    /// Returns the route.
    pub fn router(self) -> Router {
        Router::new()
            .route("/metrics", any(metrics))
            .with_state(Arc::new(self))
    }

    /// Sets the gauges that are read on request, unless that was done recently. The lock is held
    /// meanwhile, so that concurrent requests share the values.
    async fn refresh(&self) {
        let mut refreshed = self.refreshed.lock().await;
        let now = self.clock.now();
        if refreshed.is_some_and(|at| now >= at && now.since(at) < CACHE_TIME) {
            return;
        }
        *refreshed = Some(now);
        #[expect(clippy::cast_precision_loss, reason = "budgets are small")]
        let budget = self
            .github
            .lowest_budget()
            .map_or(f64::NAN, |left| left as f64);
        GITHUB_BUDGET.gauge(&[]).set(budget);
        let counts = match timeout(STORE_TIMEOUT, self.store.counts()).await {
            Ok(Ok(counts)) => Some(counts),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the runs cannot be counted for the metrics");
                None
            }
            Err(_) => {
                tracing::warn!("the runs cannot be counted for the metrics within 2 seconds");
                None
            }
        };
        STORE_UP
            .gauge(&[])
            .set(f64::from(u8::from(counts.is_some())));
        for state in RunState::ALL {
            let value = counts.as_ref().map_or(f64::NAN, |counts| {
                let mut states = counts.by_state.iter();
                let found = states.find(|(counted, _)| *counted == state);
                #[expect(clippy::cast_precision_loss, reason = "runs are fewer than 2^52")]
                found.map_or(0.0, |(_, count)| *count as f64)
            });
            RUNS.gauge(&[state.name()]).set(value);
        }
        let age = counts.map_or(f64::NAN, |counts| {
            let oldest = counts.oldest_ready.unwrap_or(now);
            now.since(oldest).as_secs_f64()
        });
        OLDEST_READY.gauge(&[]).set(age);
    }
}

/// Answers like an address that does not exist unless the request has the token.
async fn metrics(
    State(page): State<Arc<MetricsPage>>,
    method: Method,
    headers: HeaderMap,
) -> Response {
    if method != Method::GET || !page.token.matches(&headers) {
        return nothing_here().await.into_response();
    }
    page.refresh().await;
    ([(CONTENT_TYPE, TEXT_FORMAT)], page.exporter.render()).into_response()
}

/// Counts a request while it is answered.
pub(super) async fn count_in_flight(request: Request, next: Next) -> Response {
    let _running = Running::new(&HTTP_IN_FLIGHT);
    next.run(request).await
}
