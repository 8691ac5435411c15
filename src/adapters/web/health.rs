//! Health checks: `/livez` tells that the process responds, `/readyz` that its dependencies do too.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use serde::Serialize;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use crate::engine::clock::Clock;
use crate::engine::model::time::Millis;
use crate::engine::store::Store;

/// How long a result is reused, so that the probes of several load balancers cost one check.
const CACHE_TIME: Duration = Duration::from_secs(1);

/// Time limit for one check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// A check of one dependency.
#[async_trait]
pub trait Check: Send + Sync + 'static {
    /// Short name, stable.
    fn name(&self) -> &'static str;

    /// Runs the check. The error is one sentence for the log.
    async fn check(&self) -> Result<(), String>;

    /// Whether the error may be read by anybody who can reach the port.
    fn is_public(&self) -> bool {
        false
    }
}

/// Checks that the store accepts a write.
pub struct StoreCheck(pub Arc<dyn Store>);

#[async_trait]
impl Check for StoreCheck {
    fn name(&self) -> &'static str {
        "store"
    }

    async fn check(&self) -> Result<(), String> {
        self.0.ping().await.map_err(|error| error.to_string())
    }
}

/// Checks that GitHub has confirmed the App since the start. Holds the reason why it has not, or
/// `None` once it has.
pub struct AppCheck(pub watch::Receiver<Option<String>>);

#[async_trait]
impl Check for AppCheck {
    fn name(&self) -> &'static str {
        "github"
    }

    async fn check(&self) -> Result<(), String> {
        match self.0.borrow().as_ref() {
            None => Ok(()),
            Some(why) => Err(format!("GitHub has not confirmed the App yet: {why}")),
        }
    }

    fn is_public(&self) -> bool {
        true
    }
}

/// All checks and their last result.
pub struct Health {
    clock: Arc<dyn Clock>,
    checks: Vec<Box<dyn Check>>,
    last: Mutex<Option<(Millis, Report)>>,
}

/// The response of `/readyz`.
#[derive(Debug, Clone, Serialize)]
struct Report {
    ready: bool,
    checks: Vec<CheckResult>,
}

/// The result of one check. Most reasons are only logged, because anybody who can reach the port
/// can read this.
#[derive(Debug, Clone, Serialize)]
struct CheckResult {
    name: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Health {
    /// Creates a health report that is ready if all `checks` succeed.
    pub fn new(clock: Arc<dyn Clock>, checks: Vec<Box<dyn Check>>) -> Self {
        Self {
            clock,
            checks,
            last: Mutex::new(None),
        }
    }

    /// Runs the checks unless the last result is recent. The lock is held meanwhile, so that
    /// concurrent callers share the result.
    async fn report(&self) -> Report {
        let mut last = self.last.lock().await;
        let now = self.clock.now();
        if let Some((at, report)) = last.as_ref()
            && now >= *at
            && now.since(*at) < CACHE_TIME
        {
            return report.clone();
        }
        let mut checks = Vec::with_capacity(self.checks.len());
        for check in &self.checks {
            let why = match timeout(CHECK_TIMEOUT, check.check()).await {
                Ok(Ok(())) => None,
                Ok(Err(why)) => Some(why),
                Err(_) => Some("no answer within 2 seconds".to_owned()),
            };
            let (name, ok) = (check.name(), why.is_none());
            if let Some(why) = &why {
                tracing::warn!(check = name, why, "not ready");
            }
            let why = why.filter(|_| check.is_public());
            checks.push(CheckResult { name, ok, why });
        }
        let report = Report {
            ready: checks.iter().all(|check| check.ok),
            checks,
        };
        *last = Some((now, report.clone()));
        report
    }
}

/// Returns the two routes.
pub(super) fn router(health: Arc<Health>) -> Router {
    Router::new()
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(ready))
        .with_state(health)
}

async fn ready(State(health): State<Arc<Health>>) -> (StatusCode, Json<Report>) {
    let report = health.report().await;
    let code = if report.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (code, Json(report))
}
