//! Responses of the API, and the errors they stand for.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use http_body_util::combinators::BoxBody;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::transport::{Request, TransportError};
use crate::adapters::redact::redact;
use crate::adapters::text::truncate_chars;
use crate::engine::forge::ForgeError;

/// Maximum length of GitHub's text in an error message, in characters.
const MAX_MESSAGE: usize = 500;

/// A response to a [`Request`].
#[derive(Debug)]
pub(super) struct Response {
    /// HTTP status.
    pub(super) status: StatusCode,
    /// Headers.
    pub(super) headers: HeaderMap,
    /// The whole body; empty when it is in `stream`.
    pub(super) body: Bytes,
    /// The unread body of a successful request for [`Format::Raw`](super::transport::Format::Raw).
    pub(super) stream: Option<BoxBody<Bytes, octocrab::Error>>,
    /// What was requested, for error messages.
    pub(super) what: String,
    /// Whether the request only read.
    pub(super) is_read: bool,
}

impl Response {
    /// Returns a header as text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns a successful response, and the error of any other, rate limits aside.
    pub(super) fn error_for_status(self) -> Result<Self, ForgeError> {
        if self.status.is_success() {
            Ok(self)
        } else {
            Err(status_error(&self))
        }
    }

    /// Parses the body of a success. A write whose response cannot be read has happened all the
    /// same, but its outcome (the new id) is unknown.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, ForgeError> {
        serde_json::from_slice(&self.body).map_err(|why| {
            let message = clean_message(&why.to_string());
            if self.is_read {
                self.unreadable(message)
            } else {
                ForgeError::Unknown {
                    what: self.what.clone(),
                    message: format!("the answer cannot be read: {message}"),
                }
            }
        })
    }

    /// The error of a read whose response cannot be used.
    pub(super) fn unreadable(&self, message: String) -> ForgeError {
        ForgeError::Unreadable {
            what: self.what.clone(),
            message,
        }
    }
}

/// The body of an unsuccessful response.
#[derive(Debug)]
pub(super) struct ErrorBody {
    /// `message`, or the text of the status.
    pub(super) message: String,
    /// `errors`, each as `field: message`.
    errors: Vec<String>,
    /// Whether an error code is `already_exists`.
    pub(super) already_exists: bool,
    /// Whether an error code is `too_large`: a file over 100 MB.
    pub(super) too_large: bool,
}

impl ErrorBody {
    /// Parses the error body leniently: JSON, HTML or nothing.
    pub(super) fn of(response: &Response) -> Self {
        let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let errors = body
            .get("errors")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let has = |code: &str| {
            errors
                .iter()
                .any(|error| error.get("code").and_then(Value::as_str) == Some(code))
        };
        Self {
            message: text(&body, "message").unwrap_or_else(|| status_text(response.status)),
            errors: errors
                .iter()
                .map(|error| match error {
                    Value::String(error) => error.clone(),
                    error => [
                        text(error, "field").or_else(|| text(error, "resource")),
                        text(error, "message").or_else(|| text(error, "code")),
                    ]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(": "),
                })
                .chain(body.get("block").and_then(|block| text(block, "reason")))
                .filter(|error| !error.is_empty())
                .collect(),
            already_exists: has("already_exists"),
            too_large: has("too_large"),
        }
    }

    /// Whether the message or an error contains `words`, which are lower case.
    pub(super) fn mentions(&self, words: &str) -> bool {
        let texts = std::iter::once(&self.message).chain(&self.errors);
        texts
            .into_iter()
            .any(|text| text.to_ascii_lowercase().contains(words))
    }

    fn text(&self) -> String {
        if self.errors.is_empty() {
            clean_message(&self.message)
        } else {
            clean_message(&format!("{} ({})", self.message, self.errors.join("; ")))
        }
    }
}

/// Converts an unsuccessful response, rate limits aside.
fn status_error(response: &Response) -> ForgeError {
    let body = ErrorBody::of(response);
    let message = body.text();
    let what = response.what.clone();
    match response.status {
        StatusCode::UNAUTHORIZED => ForgeError::Unauthorized { what, message },
        StatusCode::FORBIDDEN if message.to_ascii_lowercase().contains("suspended") => {
            ForgeError::Unauthorized { what, message }
        }
        // The words are from public issue threads (renovatebot/renovate#6215, #42992), not from the
        // OpenAPI description.
        StatusCode::FORBIDDEN if body.mentions("is locked") => ForgeError::Locked { what, message },
        StatusCode::FORBIDDEN if body.mentions("archived so is read-only") => {
            ForgeError::Archived { what, message }
        }
        StatusCode::FORBIDDEN if body.mentions("ip allow list") => {
            ForgeError::IpAllowList { what, message }
        }
        StatusCode::FORBIDDEN => ForgeError::Forbidden {
            what,
            message: match response.header("x-accepted-github-permissions") {
                Some(needed) if !needed.is_empty() => clean_message(&format!(
                    "{message} (the token needs the permission {needed})"
                )),
                _ => message,
            },
        },
        StatusCode::NOT_FOUND => ForgeError::NotFound { what },
        StatusCode::GONE if body.mentions("was deleted") => ForgeError::Deleted { what, message },
        StatusCode::GONE => ForgeError::Gone { what, message },
        status if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
            ForgeError::Unknown {
                what,
                message: match response.header("x-github-request-id") {
                    Some(id) => clean_message(&format!(
                        "GitHub answered {}: {message} (request {id})",
                        status.as_u16()
                    )),
                    None => format!("GitHub answered {}: {message}", status.as_u16()),
                },
            }
        }
        status => ForgeError::Rejected {
            what,
            status: status.as_u16(),
            message,
        },
    }
}

/// Converts the error of a request without a response.
pub(super) fn transport_error(error: TransportError, request: &Request) -> ForgeError {
    let what = request.what.clone();
    match error {
        TransportError::NotSent(message) => ForgeError::Unreachable {
            what,
            message: clean_message(&message),
        },
        TransportError::Unknown(message) => ForgeError::Unknown {
            what,
            message: clean_message(&message),
        },
    }
}

/// Makes foreign text fit for a message: without credentials, on one line, truncated.
pub(super) fn clean_message(text: &str) -> String {
    let clean = redact(text);
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    truncate_chars(&line, MAX_MESSAGE + 1)
}

fn status_text(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or("no message").to_owned()
}
