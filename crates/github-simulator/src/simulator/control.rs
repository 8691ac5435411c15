//! The control API: operations and logs over HTTP, for programs that are not written in Rust.
//!
//! There is no authentication: the simulator listens on 127.0.0.1. The content type keeps pages of
//! other sites from sending operations, because browsers ask for permission before.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{Operation, Simulator};

/// Returns the routes.
pub(super) fn router(simulator: Simulator) -> Router {
    Router::new()
        .route("/_simulator/operations", post(perform))
        .route("/_simulator/requests", get(requests))
        .route("/_simulator/deliveries", get(deliveries))
        .route("/_simulator/{*rest}", get(unknown).post(unknown))
        .with_state(simulator)
}

fn refuse(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "message": message }))).into_response()
}

/// Performs one operation, or a list of them until one fails.
async fn perform(State(simulator): State<Simulator>, headers: HeaderMap, body: Bytes) -> Response {
    let content_type = headers.get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    if !content_type.is_some_and(|value| value.starts_with("application/json")) {
        let message = "send operations with the content type application/json";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    }
    let (operations, is_list) = match serde_json::from_slice(&body) {
        Ok(Value::Array(operations)) => (operations, true),
        Ok(operation) => (vec![operation], false),
        Err(error) => {
            let message = format!("the body is not JSON: {error}");
            return refuse(StatusCode::BAD_REQUEST, &message);
        }
    };
    let mut results = Vec::new();
    for (index, operation) in operations.into_iter().enumerate() {
        let place = if is_list {
            format!("operation {}: ", index + 1)
        } else {
            String::new()
        };
        let operation: Operation = match serde_json::from_value(operation) {
            Ok(operation) => operation,
            Err(error) => {
                return refuse(StatusCode::BAD_REQUEST, &format!("{place}{error}"));
            }
        };
        match simulator.perform(&operation) {
            Ok(result) => results.push(result),
            Err(error) => {
                let message = format!("{place}{error}");
                return refuse(StatusCode::UNPROCESSABLE_ENTITY, &message);
            }
        }
    }
    let first = if is_list { None } else { results.pop() };
    Json(first.unwrap_or(Value::Array(results))).into_response()
}

/// Lists the requests to the API, the oldest first, without their headers, which hold tokens.
async fn requests(State(simulator): State<Simulator>) -> Json<Value> {
    let requests = simulator.requests().into_iter().map(|request| {
        json!({
            "method": request.method.as_str(),
            "path": request.path,
            "query": request.query,
            "status": request.status,
            "changed": request.changed,
        })
    });
    Json(requests.collect())
}

/// Lists the attempts at deliveries, the oldest first.
async fn deliveries(State(simulator): State<Simulator>) -> Json<Value> {
    let deliveries = simulator.deliveries().into_iter().map(|delivery| {
        json!({
            "id": delivery.id,
            "guid": delivery.guid,
            "event": delivery.event,
            "action": delivery.action,
            "status_code": delivery.status_code,
            "status": delivery.status,
            "redelivery": delivery.redelivery,
            "response": delivery.response,
        })
    });
    Json(deliveries.collect())
}

async fn unknown() -> Response {
    let message = "there are POST /_simulator/operations, GET /_simulator/requests and GET /_simulator/deliveries";
    refuse(StatusCode::NOT_FOUND, message)
}
