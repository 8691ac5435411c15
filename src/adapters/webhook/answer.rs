//! Responses of the receiver: a status code and a small JSON document.
//!
//! GitHub shows them in the App's "Recent deliveries", so they are written for people who look
//! there.

use std::borrow::Cow;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::engine::intake::Outcome;
use crate::engine::model::run::RunId;

/// Seconds after which a sender may try again. GitHub itself does not retry.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("5");

/// A response to one request.
#[derive(Debug, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(super) enum Answer {
    /// Stored.
    Accepted { runs: Vec<RunId> },
    /// Known; nothing to do.
    Duplicate,
    /// Known; its failed runs are queued again.
    Requeued,
    /// Response to a ping.
    Pong {
        #[serde(skip_serializing_if = "Vec::is_empty")]
        missing_events: Vec<&'static str>,
    },
    /// The App was installed.
    Installed,
    /// It asks for nothing.
    Ignored { why: Cow<'static, str> },
    /// It is invalid.
    Refused {
        #[serde(skip)]
        code: StatusCode,
        /// Name of the failed check; stable, for programs.
        check: &'static str,
        message: Cow<'static, str>,
    },
    /// It cannot be stored at the moment.
    Busy { message: String },
}

impl Answer {
    pub(super) fn refused(
        code: StatusCode,
        check: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Refused {
            code,
            check,
            message: message.into(),
        }
    }

    pub(super) fn method() -> Self {
        Self::refused(
            StatusCode::METHOD_NOT_ALLOWED,
            "method",
            "this address takes GitHub webhooks, sent with POST",
        )
    }

    /// Returns why the request was not passed on, for metrics.
    pub(super) fn refusal(&self) -> &'static str {
        match self {
            Self::Refused { check, .. } => check,
            _ => "busy",
        }
    }

    fn code(&self) -> StatusCode {
        match self {
            Self::Accepted { .. } | Self::Requeued => StatusCode::ACCEPTED,
            Self::Duplicate | Self::Pong { .. } | Self::Installed | Self::Ignored { .. } => {
                StatusCode::OK
            }
            Self::Refused { code, .. } => *code,
            Self::Busy { .. } => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Accepted(runs) => Self::Accepted { runs },
            Outcome::Duplicate => Self::Duplicate,
            Outcome::Requeued => Self::Requeued,
            Outcome::Pong { missing_events } => Self::Pong { missing_events },
            Outcome::Installed => Self::Installed,
            Outcome::Ignored(why) => Self::Ignored { why },
            Outcome::Refused(error) => {
                Self::refused(StatusCode::BAD_REQUEST, "payload", error.to_string())
            }
            Outcome::Busy(message) => Self::Busy { message },
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let code = self.code();
        let mut response = (code, Json(self)).into_response();
        if code == StatusCode::METHOD_NOT_ALLOWED {
            let headers = response.headers_mut();
            headers.insert(ALLOW, HeaderValue::from_static("POST"));
        } else if code == StatusCode::SERVICE_UNAVAILABLE {
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        response
    }
}
