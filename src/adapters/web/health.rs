//! `/livez`: the process answers. `/readyz`: everything it needs to take work answers too.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use serde::Serialize;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::engine::clock::Clock;
use crate::engine::model::time::Millis;
use crate::engine::store::Store;

/// How long a result is good for: probes of many balancers cost one look.
const FRESH: Duration = Duration::from_secs(1);

/// A check that takes longer has failed.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// One thing the process needs in order to take work.
#[async_trait]
pub trait Check: Send + Sync + 'static {
    /// Short name, stable.
    fn name(&self) -> &'static str;

    /// Looks. The error is one sentence for the log.
    async fn check(&self) -> Result<(), String>;
}

/// The store takes a write.
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

/// All checks, and what they said last.
pub struct Health {
    clock: Arc<dyn Clock>,
    checks: Vec<Box<dyn Check>>,
    last: Mutex<Option<(Millis, Report)>>,
}

/// What `/readyz` answers.
#[derive(Debug, Clone, Serialize)]
struct Report {
    ready: bool,
    checks: Vec<Checked>,
}

/// Which check, and whether it went well: whoever can reach the port reads this, so the reason is not in it.
#[derive(Debug, Clone, Serialize)]
struct Checked {
    name: &'static str,
    ok: bool,
}

impl Health {
    /// Ready when all `checks` are.
    pub fn new(clock: Arc<dyn Clock>, checks: Vec<Box<dyn Check>>) -> Self {
        Self {
            clock,
            checks,
            last: Mutex::new(None),
        }
    }

    /// The lock is held while looking: whoever asks meanwhile gets the same result.
    async fn report(&self) -> Report {
        let mut last = self.last.lock().await;
        let now = self.clock.now();
        if let Some((at, report)) = last.as_ref()
            && now >= *at
            && now.since(*at) < FRESH
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
            if let Some(why) = why {
                tracing::warn!(check = name, why, "not ready");
            }
            checks.push(Checked { name, ok });
        }
        let report = Report {
            ready: checks.iter().all(|check| check.ok),
            checks,
        };
        *last = Some((now, report.clone()));
        report
    }
}

/// The two routes.
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
