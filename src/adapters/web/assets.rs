//! The style sheet and the script of the pages, served without a login.

use axum::Router;
use axum::routing::get;
use http::header::CONTENT_TYPE;

/// Path of the style sheet.
pub(super) const STYLE: &str = "/ui/assets/style.css";

/// Path of the script.
pub(super) const SCRIPT: &str = "/ui/assets/live.js";

/// Returns the routes.
pub(super) fn router() -> Router {
    let style = (
        [(CONTENT_TYPE, "text/css; charset=utf-8")],
        include_str!("assets/style.css"),
    );
    let script = (
        [(CONTENT_TYPE, "text/javascript; charset=utf-8")],
        include_str!("assets/live.js"),
    );
    Router::new()
        .route(STYLE, get(move || async move { style }))
        .route(SCRIPT, get(move || async move { script }))
}
