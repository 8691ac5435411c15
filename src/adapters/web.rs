//! The HTTP server: routes, connection limits, graceful shutdown.

mod assets;
pub mod health;
pub mod login;
pub mod metrics;
pub mod pages;
pub mod secure;
pub mod server;
pub mod token;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;

use health::Health;

/// The answer where there is nothing, or nothing that the viewer may see.
const NOTHING_HERE: (StatusCode, &str) = (StatusCode::NOT_FOUND, "nothing here\n");

/// Combines the given routes (the webhook, pages) with `/livez` and `/readyz`.
pub fn app(routes: Router, health: Arc<Health>) -> Router {
    routes.merge(health::router(health)).fallback(nothing_here)
}

/// Counts the requests to all routes of `app` that are being answered.
pub fn counted(app: Router) -> Router {
    app.layer(middleware::from_fn(metrics::count_in_flight))
}

/// Answers requests for paths that do not exist, and for pages without a login.
async fn nothing_here() -> (StatusCode, &'static str) {
    NOTHING_HERE
}
