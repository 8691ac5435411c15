//! Answers and refusals, with GitHub's words.
//!
//! The shapes are `basic-error` and `validation-error` of the OpenAPI description. The words are not described there:
//! they rest on GitHub's documentation and on public issue threads, which are named where it matters.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::SimulatorError;

/// Where every refusal points.
pub(crate) const DOCUMENTATION: &str = "https://docs.github.com/rest";

/// A finished answer, still to be logged.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Option<Value>,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Content type and bytes of an answer that is not JSON, in the place of `body`.
    pub(crate) raw: Option<Box<(&'static str, Bytes)>>,
}

impl Answer {
    pub(crate) fn new(status: StatusCode, body: Value) -> Self {
        Self {
            status,
            body: Some(body),
            headers: Vec::new(),
            raw: None,
        }
    }

    pub(crate) fn ok(body: Value) -> Self {
        Self::new(StatusCode::OK, body)
    }

    /// 201 with a `Location` that is the new thing's `url`.
    pub(crate) fn created(body: Value) -> Self {
        let location = body.get("url").and_then(Value::as_str).map(str::to_owned);
        let answer = Self::new(StatusCode::CREATED, body);
        match location {
            Some(url) => answer.header("location", url),
            None => answer,
        }
    }

    pub(crate) fn empty() -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            body: None,
            headers: Vec::new(),
            raw: None,
        }
    }

    /// 200 with bytes as they are.
    pub(crate) fn bytes(kind: &'static str, content: Bytes) -> Self {
        Self {
            status: StatusCode::OK,
            raw: Some(Box::new((kind, content))),
            ..Self::empty()
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// A refusal with a message.
    pub(crate) fn refuse(status: StatusCode, message: &str) -> Self {
        let code = status.as_u16().to_string();
        Self::new(
            status,
            json!({"message": message, "documentation_url": DOCUMENTATION, "status": code}),
        )
    }

    pub(crate) fn not_found() -> Self {
        Self::refuse(StatusCode::NOT_FOUND, "Not Found")
    }

    pub(crate) fn bad_credentials() -> Self {
        Self::refuse(StatusCode::UNAUTHORIZED, "Bad credentials")
    }

    pub(crate) fn forbidden() -> Self {
        Self::refuse(
            StatusCode::FORBIDDEN,
            "Resource not accessible by integration",
        )
    }

    /// 422 for a member that is not there at all.
    pub(crate) fn missing(member: &str) -> Self {
        Self::refuse(
            StatusCode::UNPROCESSABLE_ENTITY,
            &format!("Invalid request.\n\n\"{member}\" wasn't supplied."),
        )
    }

    /// 422 with one entry in `errors`.
    pub(crate) fn invalid(resource: &str, field: &str, code: &str, message: Option<&str>) -> Self {
        let mut error = json!({"resource": resource, "code": code, "field": field});
        if let (Some(members), Some(message)) = (error.as_object_mut(), message) {
            members.insert("message".to_owned(), json!(message));
        }
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            json!({
                "message": "Validation Failed",
                "errors": [error],
                "documentation_url": DOCUMENTATION,
                "status": "422",
            }),
        )
    }

    /// As a response with JSON or without a body.
    pub(crate) fn into_response(self) -> Response {
        let (kind, body) = match (self.raw, &self.body) {
            (Some(raw), _) => (Some(raw.0), Body::from(raw.1)),
            (None, Some(body)) => (
                Some("application/json; charset=utf-8"),
                Body::from(body.to_string()),
            ),
            (None, None) => (None, Body::empty()),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if let Some(kind) = kind {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
        response
    }
}

impl From<SimulatorError> for Answer {
    fn from(_: SimulatorError) -> Self {
        Self::not_found()
    }
}
