//! The exchange of a code for a user's token.

use bytes::Bytes;
use http::StatusCode;
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use crate::auth;
use crate::oauth::{ExchangeError, TOKEN_LIFETIME};
use crate::request::ApiRequest;
use crate::response::ApiResponse;
use crate::state::State;

/// Lifetime of a refresh token, in seconds: six months.
const REFRESH_LIFETIME: u64 = 15_897_600;

const HELP: &str = "https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/";

/// `POST /login/oauth/access_token`: parameters in a form, in JSON or in the query. Errors have the
/// status 200
/// (<https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors>).
pub(super) fn access_token(state: &mut State, request: &ApiRequest) -> ApiResponse {
    let members = request.members().unwrap_or_default();
    let form: Vec<(String, String)> = form_urlencoded::parse(&request.body).into_owned().collect();
    let field = |name: &str| {
        let member = members.get(name).and_then(Value::as_str);
        let mut pairs = form.iter().chain(&request.query);
        let pair = pairs.find(|(other, _)| other == name);
        member.or(pair.map(|(_, value)| value.as_str()))
    };
    if field("client_id") != Some(&state.app.client_id()) {
        let body = json!({ "error": "Not Found" });
        return ApiResponse::new(StatusCode::NOT_FOUND, body);
    }
    let secret = state.app.client_secret.expose_secret();
    if field("client_secret") != Some(secret) {
        return refuse(
            request,
            "incorrect_client_credentials",
            "The client_id and/or client_secret passed are incorrect.",
        );
    }
    let code = field("code").unwrap_or_default();
    let uri = field("redirect_uri");
    match state.exchange_authorization(code, uri, field("code_verifier")) {
        Ok(token) => answer(
            request,
            json!({
                "access_token": token,
                "expires_in": TOKEN_LIFETIME.as_secs(),
                "refresh_token": auth::refresh_token(),
                "refresh_token_expires_in": REFRESH_LIFETIME,
                "scope": "",
                "token_type": "bearer",
            }),
        ),
        Err(ExchangeError::Code) => refuse(
            request,
            "bad_verification_code",
            "The code passed is incorrect or expired.",
        ),
        Err(ExchangeError::RedirectUri) => refuse(
            request,
            "redirect_uri_mismatch",
            "The redirect_uri MUST match the registered callback URL for this application.",
        ),
    }
}

fn refuse(request: &ApiRequest, error: &str, description: &str) -> ApiResponse {
    let uri = format!("{HELP}#{}", error.replace('_', "-"));
    answer(
        request,
        json!({ "error": error, "error_description": description, "error_uri": uri }),
    )
}

/// Returns JSON if the request asks for it, else a form.
fn answer(request: &ApiRequest, body: Value) -> ApiResponse {
    let accept = request.header("accept");
    if accept.is_some_and(|accept| accept.contains("json")) {
        return ApiResponse::ok(body);
    }
    let members = body.as_object().map_or_else(Map::new, Clone::clone);
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in &members {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        form.append_pair(name, &text);
    }
    let kind = "application/x-www-form-urlencoded; charset=utf-8";
    ApiResponse::raw(StatusCode::OK, kind, Bytes::from(form.finish()))
}
