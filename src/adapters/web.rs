//! The HTTP server: routes, connection limits, graceful shutdown.

pub mod health;
pub mod metrics;
pub mod server;
pub mod token;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;

use health::Health;

/// Combines the given routes (the webhook, pages) with `/livez` and `/readyz`.
pub fn app(routes: Router, health: Arc<Health>) -> Router {
    routes
        .merge(health::router(health))
        .fallback(nothing_here)
        .layer(middleware::from_fn(metrics::count_in_flight))
}

/// Answers requests for paths that do not exist, and for metrics without the operator's token.
async fn nothing_here() -> (StatusCode, &'static str) {
    (StatusCode::NOT_FOUND, "nothing here\n")
}
