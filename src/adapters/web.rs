//! The HTTP server: routes put together, connections bounded, an orderly end.

pub mod health;
pub mod server;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;

use health::Health;

/// Everything the process serves: the given routes (the webhook, pages), `/livez` and `/readyz`.
pub fn app(routes: Router, health: Arc<Health>) -> Router {
    routes
        .merge(health::router(health))
        .fallback(|| async { (StatusCode::NOT_FOUND, "nothing here\n") })
}
