//! The HTTP server: passes every request through faults, the API or the pages, and the log.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State as Extract};
use axum::response::Response;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::stream;
use http::StatusCode;
use http_body_util::{BodyExt, Limited};
use sha2::{Digest, Sha256};

use crate::faults::FaultKind;
use crate::model::Token;
use crate::request::ApiRequest;
use crate::response::ApiResponse;
use crate::shared::{LoggedRequest, Shared};
use crate::{archives, attachments, documentation, endpoints, pages, rate_limit};

/// Maximum length of a request body, in bytes. It exceeds every body that GitHub accepts here.
const MAX_REQUEST_BODY: usize = 8 * 1024 * 1024;

/// Returns the router of the simulator, with one handler for the API and the pages.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(handle).with_state(shared)
}

async fn handle(Extract(shared): Extract<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_REQUEST_BODY).collect().await else {
        let message = "Payload too large";
        return ApiResponse::error(StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    };
    let request = shared.with(|state| ApiRequest::parse(state, parts, body.to_bytes()));
    let is_file = attachments::is_attachment(&request) || archives::is_archive(&request);
    if !request.is_api() && !is_file {
        return shared.with(|state| pages::handle(state, &request));
    }
    let path = format!("/{}", request.path.join("/"));
    let fault = shared
        .faults
        .inject(&request.method, &path, shared.clock.now());
    if let Some(FaultKind::Delay(delay)) = fault {
        shared.clock.sleep(delay).await;
    }
    let (response, changed) = respond(&shared, &request, fault.as_ref());
    let lost = fault == Some(FaultKind::LostResponse);
    shared.log().push(LoggedRequest {
        method: request.method,
        path,
        query: request.query,
        headers: request.headers,
        body: request.body,
        status: (!lost).then_some(response.status.as_u16()),
        response: response.json().cloned(),
        changed,
    });
    if lost {
        drop_connection()
    } else {
        response.into_response()
    }
}

/// Handles a request to the API, for an attachment or for an archive, and returns the response and
/// whether the request changed something in a repository.
fn respond(
    shared: &Shared,
    request: &ApiRequest,
    fault: Option<&FaultKind>,
) -> (ApiResponse, bool) {
    // Requests for the rate limit itself are neither counted nor refused.
    let limited = request
        .path
        .first()
        .is_none_or(|first| first != "rate_limit");
    shared.with(|state| {
        let token = state.check_token(request.authorization()).ok();
        let exhausted = token
            .as_ref()
            .filter(|_| limited && fault.is_none())
            .and_then(|token| state.rate_limited_until(token));
        let exhausted = exhausted.map(|reset| FaultKind::PrimaryLimit { reset });
        let fault = fault.or(exhausted.as_ref());
        let response = match fault.and_then(refusal) {
            Some(refusal) => refusal,
            None if archives::is_archive(request) => archives::handle(state, request),
            None if attachments::is_attachment(request) => attachments::handle(state, request),
            None => endpoints::handle(state, request).unwrap_or_else(|refusal| {
                let path = format!("/{}", request.path.join("/"));
                refusal.documented_at(&documentation::page(&request.method, &path))
            }),
        };
        let changed = request.is_write()
            && response.status.is_success()
            && request.path.first().is_some_and(|first| first == "repos");
        if fault == Some(&FaultKind::BadGatewayAfter) {
            return (bad_gateway(), changed);
        }
        let response = conditional(request, response);
        let unchanged = response.status == StatusCode::NOT_MODIFIED;
        let response = with_common_headers(request, response, shared.clock.now());
        let Some(token) = token else {
            // Requests of the App itself have a limit of their own, which is not simulated.
            return (
                state.with_rate_limit(&Token::anonymous(), response),
                changed,
            );
        };
        // Requests that the limit refuses do not count against it, nor do conditional requests for
        // what has not changed
        // (<https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api>).
        if limited && !unchanged && !matches!(fault, Some(FaultKind::PrimaryLimit { .. })) {
            state.count_request(&token);
        }
        (state.with_rate_limit(&token, response), changed)
    })
}

/// Adds an `ETag` to what a GET returned, or returns 304 if the client has it already.
fn conditional(request: &ApiRequest, response: ApiResponse) -> ApiResponse {
    if request.is_write() || response.status != StatusCode::OK {
        return response;
    }
    let Some(body) = response.json() else {
        return response;
    };
    let digest = Sha256::digest(body.to_string().as_bytes());
    let etag = format!("W/\"{}\"", hex::encode(digest));
    if request.header("if-none-match") == Some(etag.as_str()) {
        return ApiResponse::not_modified().header("etag", etag);
    }
    response.header("etag", etag)
}

/// Returns a response whose body fails at once, so that the server closes the connection before it
/// sends a byte.
fn drop_connection() -> Response {
    let error = std::io::Error::new(std::io::ErrorKind::ConnectionAborted, "the answer is lost");
    Response::new(Body::from_stream(stream::iter([Err::<Bytes, _>(error)])))
}

fn with_common_headers(
    request: &ApiRequest,
    response: ApiResponse,
    now: DateTime<Utc>,
) -> ApiResponse {
    let version = request.header("x-github-api-version");
    response
        // Without it, the server adds the system's time instead of the simulator's. The format is
        // that of RFC 9110, section 5.6.7.
        .header("date", now.format("%a, %d %b %Y %H:%M:%S GMT").to_string())
        .header("x-github-request-id", request_id())
        .header("x-github-media-type", "github.v3; format=json")
        .header(
            "x-github-api-version-selected",
            version.unwrap_or("2022-11-28"),
        )
}

/// Returns a request id in GitHub's form: groups of hexadecimal digits.
fn request_id() -> String {
    let id = uuid::Uuid::new_v4().simple().to_string().to_uppercase();
    let (first, rest) = id.split_at(4);
    let (second, third) = rest.split_at(6);
    format!("{first}:{second}:{third}")
}

fn bad_gateway() -> ApiResponse {
    ApiResponse::error(StatusCode::BAD_GATEWAY, "Server Error")
}

/// Returns the response of a fault that prevents the request from being handled.
fn refusal(fault: &FaultKind) -> Option<ApiResponse> {
    Some(match fault {
        FaultKind::Delay(_) | FaultKind::BadGatewayAfter | FaultKind::LostResponse => return None,
        FaultKind::BadGatewayBefore => bad_gateway(),
        FaultKind::BadCredentials => ApiResponse::bad_credentials(),
        FaultKind::Unavailable => {
            ApiResponse::error(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable")
        }
        FaultKind::Response { status, body } => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY);
            ApiResponse::new(status, body.clone())
        }
        FaultKind::SecondaryLimit { retry_after } => {
            // The message is from public issue threads
            // (EnricoMi/publish-unit-test-result-action#419); `retry-after` is often missing.
            let response = ApiResponse::forbidden(
                "You have exceeded a secondary rate limit. Please wait a few minutes before you \
                 try again.",
            );
            match retry_after {
                Some(seconds) => response.header("retry-after", seconds.to_string()),
                None => response,
            }
        }
        FaultKind::PrimaryLimit { reset } => rate_limit::exceeded(*reset),
    })
}
