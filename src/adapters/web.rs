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
        .fallback(not_found)
        .layer(middleware::from_fn(metrics::count_in_flight))
}

/// The answer where there is nothing.
async fn not_found() -> (StatusCode, &'static str) {
    (StatusCode::NOT_FOUND, "nothing here\n")
}
