//! The HTTP server: routes, connection limits, graceful shutdown.

pub mod health;
pub mod server;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;

use health::Health;

/// Combines the given routes (the webhook, pages) with `/livez` and `/readyz`.
pub fn app(routes: Router, health: Arc<Health>) -> Router {
    routes
        .merge(health::router(health))
        .fallback(|| async { (StatusCode::NOT_FOUND, "nothing here\n") })
}
