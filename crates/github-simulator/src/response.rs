//! Responses of the REST API.
//!
//! Errors have the shapes `basic-error` and `validation-error` of GitHub's OpenAPI description.
//! Their messages are not part of it: they follow GitHub's documentation and public issue threads.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::SimulatorError;

/// `documentation_url` of every error.
pub(crate) const DOCUMENTATION_URL: &str = "https://docs.github.com/rest";

/// A response of the API; the error is a response that refuses the request.
pub(crate) type ApiResult<T = ApiResponse> = Result<T, ApiResponse>;

/// Body of a response.
#[derive(Debug, Clone)]
enum ResponseBody {
    Empty,
    Json(Value),
    /// Content type and bytes.
    Raw(&'static str, Bytes),
}

/// A response that has not been logged and sent yet.
#[derive(Debug, Clone)]
pub(crate) struct ApiResponse {
    pub(crate) status: StatusCode,
    headers: Vec<(&'static str, String)>,
    body: ResponseBody,
}

impl ApiResponse {
    /// Returns a response with a JSON body.
    pub(crate) fn new(status: StatusCode, body: Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: ResponseBody::Json(body),
        }
    }

    pub(crate) fn ok(body: Value) -> Self {
        Self::new(StatusCode::OK, body)
    }

    /// Returns a 201 response whose `Location` is the `url` of the created object.
    pub(crate) fn created(body: Value) -> Self {
        let url = body.get("url").and_then(Value::as_str).map(str::to_owned);
        let response = Self::new(StatusCode::CREATED, body);
        match url {
            Some(url) => response.header("location", url),
            None => response,
        }
    }

    /// Returns a redirect without a body.
    pub(crate) fn found(location: String) -> Self {
        Self::empty(StatusCode::FOUND).header("location", location)
    }

    pub(crate) fn no_content() -> Self {
        Self::empty(StatusCode::NO_CONTENT)
    }

    /// Returns the 404 of operations that only tell whether something exists.
    pub(crate) fn not_found_without_body() -> Self {
        Self::empty(StatusCode::NOT_FOUND)
    }

    pub(crate) fn not_modified() -> Self {
        Self::empty(StatusCode::NOT_MODIFIED)
    }

    fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: ResponseBody::Empty,
        }
    }

    /// Returns a response with a body that is not JSON.
    pub(crate) fn raw(status: StatusCode, content_type: &'static str, content: Bytes) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: ResponseBody::Raw(content_type, content),
        }
    }

    /// Returns the content of a file, as requested with the media type `raw`.
    pub(crate) fn raw_content(content: Bytes) -> Self {
        let content_type = "application/vnd.github.raw+json; charset=utf-8";
        Self::raw(StatusCode::OK, content_type, content)
    }

    /// Adds a header unless the response has it already.
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if !self.headers.iter().any(|(other, _)| *other == name) {
            self.headers.push((name, value.into()));
        }
        self
    }

    /// Sets the page of GitHub's documentation, unless the error refers to a special one.
    pub(crate) fn documented_at(self, page: &str) -> Self {
        self.map_json(|mut body| {
            if body["documentation_url"] == DOCUMENTATION_URL {
                body["documentation_url"] = json!(page);
            }
            body
        })
    }

    /// Replaces the JSON body.
    pub(crate) fn map_json(mut self, map: impl FnOnce(Value) -> Value) -> Self {
        if let ResponseBody::Json(body) = &mut self.body {
            *body = map(body.take());
        }
        self
    }

    pub(crate) fn json(&self) -> Option<&Value> {
        match &self.body {
            ResponseBody::Json(body) => Some(body),
            ResponseBody::Empty | ResponseBody::Raw(..) => None,
        }
    }

    pub(crate) fn error(status: StatusCode, message: &str) -> Self {
        let code = status.as_u16().to_string();
        Self::new(
            status,
            json!({"message": message, "documentation_url": DOCUMENTATION_URL, "status": code}),
        )
    }

    pub(crate) fn bad_request(message: &str) -> Self {
        Self::error(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn unauthorized(message: &str) -> Self {
        Self::error(StatusCode::UNAUTHORIZED, message)
    }

    pub(crate) fn bad_credentials() -> Self {
        Self::unauthorized("Bad credentials")
    }

    pub(crate) fn forbidden(message: &str) -> Self {
        Self::error(StatusCode::FORBIDDEN, message)
    }

    /// Returns the 403 for an installation token without the permission.
    pub(crate) fn not_accessible_by_app() -> Self {
        Self::forbidden("Resource not accessible by integration")
    }

    /// Returns the 403 for a person's token without the permission.
    pub(crate) fn not_accessible_by_person() -> Self {
        Self::forbidden("Resource not accessible by personal access token")
    }

    pub(crate) fn not_found() -> Self {
        Self::error(StatusCode::NOT_FOUND, "Not Found")
    }

    pub(crate) fn gone(message: &str) -> Self {
        Self::error(StatusCode::GONE, message)
    }

    pub(crate) fn unprocessable(message: &str) -> Self {
        Self::error(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Returns the 422 for a request body that violates the schema.
    pub(crate) fn invalid_request(reason: &str) -> Self {
        Self::unprocessable(&format!("Invalid request.\n\n{reason}"))
    }

    /// Returns the 422 for a missing member of the request body.
    pub(crate) fn missing(member: &str) -> Self {
        Self::invalid_request(&format!("\"{member}\" wasn't supplied."))
    }

    /// Returns the 422 for a value that fails validation.
    pub(crate) fn validation_failed(resource: &str, field: &str, code: &str) -> Self {
        let error = json!({"resource": resource, "code": code, "field": field});
        let body = json!({
            "message": "Validation Failed",
            "errors": [error],
            "documentation_url": DOCUMENTATION_URL,
            "status": "422",
        });
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, body)
    }

    /// Returns the 422 for a value that fails validation, with a message.
    pub(crate) fn validation_message(
        resource: &str,
        field: &str,
        code: &str,
        message: &str,
    ) -> Self {
        Self::validation_failed(resource, field, code).map_json(|mut body| {
            body["errors"][0]["message"] = json!(message);
            body
        })
    }

    pub(crate) fn into_response(self) -> Response {
        let (content_type, body) = match self.body {
            ResponseBody::Empty => (None, Body::empty()),
            ResponseBody::Json(body) => (
                Some("application/json; charset=utf-8"),
                Body::from(body.to_string()),
            ),
            ResponseBody::Raw(content_type, content) => (Some(content_type), Body::from(content)),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if let Some(content_type) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
        response
    }
}

impl From<SimulatorError> for ApiResponse {
    fn from(_: SimulatorError) -> Self {
        Self::not_found()
    }
}
