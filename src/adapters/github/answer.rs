//! From an answer that is not a success to a [`ForgeError`].

use http::StatusCode;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::transport::{Answer, Lost, Request};
use crate::adapters::redact::redact;
use crate::engine::forge::ForgeError;

/// Longest piece of GitHub's text in a message, in characters.
const MAX_MESSAGE: usize = 500;

/// What GitHub says about an error.
#[derive(Debug)]
pub(super) struct Complaint {
    /// `message`, or the status in words.
    pub(super) message: String,
    /// `errors`, each as `field: message`.
    errors: Vec<String>,
    /// An error code `already_exists` is among them.
    pub(super) already_exists: bool,
    /// An error code `too_large` is among them: a file over 100 MB.
    pub(super) too_large: bool,
}

impl Complaint {
    /// Reads the error body leniently: JSON, HTML or nothing.
    pub(super) fn of(answer: &Answer) -> Self {
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
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
            message: text(&body, "message").unwrap_or_else(|| in_words(answer.status)),
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

    /// Whether message or errors hold these words.
    pub(super) fn mentions(&self, words: &str) -> bool {
        let texts = std::iter::once(&self.message).chain(&self.errors);
        texts
            .into_iter()
            .any(|text| text.to_ascii_lowercase().contains(words))
    }

    fn text(&self) -> String {
        if self.errors.is_empty() {
            tidy(&self.message)
        } else {
            tidy(&format!("{} ({})", self.message, self.errors.join("; ")))
        }
    }
}

/// A success, or the error that the answer means, rate limits aside.
pub(super) fn judge(answer: &Answer, request: &Request) -> Result<(), ForgeError> {
    if answer.status.is_success() {
        Ok(())
    } else {
        Err(error(answer, &Complaint::of(answer), request))
    }
}

fn error(answer: &Answer, complaint: &Complaint, request: &Request) -> ForgeError {
    let what = request.what.clone();
    let message = complaint.text();
    match answer.status {
        StatusCode::UNAUTHORIZED => ForgeError::Unauthorized { what, message },
        StatusCode::FORBIDDEN if message.to_ascii_lowercase().contains("suspended") => {
            ForgeError::Unauthorized { what, message }
        }
        // The words are from public issue threads (renovatebot/renovate#6215, #42992), not from the OpenAPI description.
        StatusCode::FORBIDDEN if complaint.mentions("is locked") => {
            ForgeError::Locked { what, message }
        }
        StatusCode::FORBIDDEN if complaint.mentions("archived so is read-only") => {
            ForgeError::Archived { what, message }
        }
        StatusCode::FORBIDDEN if complaint.mentions("ip allow list") => {
            ForgeError::IpAllowList { what, message }
        }
        StatusCode::FORBIDDEN => ForgeError::Forbidden {
            what,
            message: match answer.header("x-accepted-github-permissions") {
                Some(needed) if !needed.is_empty() => tidy(&format!(
                    "{message} (the token needs the permission {needed})"
                )),
                _ => message,
            },
        },
        StatusCode::NOT_FOUND => ForgeError::NotFound { what },
        StatusCode::GONE if complaint.mentions("was deleted") => {
            ForgeError::Deleted { what, message }
        }
        StatusCode::GONE => ForgeError::Gone { what, message },
        status if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
            ForgeError::Unknown {
                what,
                message: match answer.header("x-github-request-id") {
                    Some(id) => tidy(&format!(
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

/// The error for a request without an answer.
pub(super) fn lost(lost: Lost, request: &Request) -> ForgeError {
    let what = request.what.clone();
    match lost {
        Lost::NotSent(message) => ForgeError::Unreachable {
            what,
            message: tidy(&message),
        },
        Lost::Unknown(message) => ForgeError::Unknown {
            what,
            message: tidy(&message),
        },
    }
}

/// Reads a success. A write whose answer cannot be read has happened all the same: its outcome (the new id) is unknown.
pub(super) fn read<T: DeserializeOwned>(
    answer: &Answer,
    request: &Request,
) -> Result<T, ForgeError> {
    serde_json::from_slice(&answer.body).map_err(|why| {
        let what = request.what.clone();
        let message = tidy(&why.to_string());
        if request.reads() {
            ForgeError::Unreadable { what, message }
        } else {
            ForgeError::Unknown {
                what,
                message: format!("the answer cannot be read: {message}"),
            }
        }
    })
}

/// Somebody else's text, fit for a message: no credentials, one line, not too long.
pub(super) fn tidy(text: &str) -> String {
    let clean = redact(text);
    let mut words = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = words.char_indices().nth(MAX_MESSAGE) {
        words.truncate(cut);
        words.push('…');
    }
    words
}

fn in_words(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or("no message").to_owned()
}
