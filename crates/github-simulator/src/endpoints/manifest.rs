//! The exchange of a code for the credentials of a new App.

use http::StatusCode;
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::request::ApiRequest;
use crate::response::{ApiResponse, ApiResult};
use crate::state::State;

/// `POST /app-manifests/{code}/conversions`, without credentials.
pub(super) fn convert(state: &mut State, request: &ApiRequest, code: &str) -> ApiResult {
    let credentials = state
        .exchange_code(code)
        .ok_or_else(ApiResponse::not_found)??;
    let mut app = state.renderer(&request.urls).app();
    app["client_secret"] = json!(credentials.client_secret.expose_secret());
    app["webhook_secret"] = json!(credentials.webhook_secret.expose_secret());
    app["pem"] = json!(credentials.private_pem.expose_secret());
    Ok(ApiResponse::new(StatusCode::CREATED, app))
}
