//! Classifies the errors of agents by their text and HTTP status.

/// What can be done about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// Temporary: overload, rate limits, a network failure. The same request can succeed later.
    Transient,
    /// Nothing succeeds until somebody intervenes: credentials, credit, permissions, disk space,
    /// the model's name.
    Fatal,
    /// This input fails: it is too long, invalid, or the error is not recognised.
    Permanent,
    /// The session to resume no longer exists; a new one works.
    SessionExpired,
}

/// The cause of an error, as far as its text and the HTTP status of the model's API tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCause {
    /// Credentials are missing, rejected or expired.
    Credentials,
    /// The account has no credit left.
    Credit,
    /// The service was not reached.
    Network,
    /// The service is overloaded or failing.
    Overload,
    /// Anything else.
    Other,
}

/// Patterns of fatal errors, in lower case; ` * ` matches any text.
const FATAL: &[&str] = &[
    "permission * denied",
    "out of * space",
    "no space left",
    "disk * full",
    "no such file",
    "corrupted",
    "selected model",
    "does not have access",
];

/// Patterns of errors about missing, rejected or expired credentials, which are fatal.
const CREDENTIALS: &[&str] = &[
    "invalid api key",
    "invalid x-api-key",
    "not logged in",
    "please run /login",
    "failed to authenticate",
    "authentication_error",
    "permission_error",
    "oauth token * expired",
];

/// Patterns of errors about an account without credit, which are fatal.
const CREDIT: &[&str] = &["credit balance", "billing"];

/// Patterns of transient errors.
const TRANSIENT: &[&str] = &[
    "locked",
    "busy",
    "timeout",
    "timed out",
    "temporary",
    "temporarily",
    "unavailable",
    "try again",
    "overloaded",
    "rate limit",
    "rate_limit",
    "usage limit",
    "too many requests",
    "internal server error",
];

/// Patterns of errors in which the service was not reached, which are transient.
const NETWORK: &[&str] = &[
    "connection error",
    "connection refused",
    "connection reset",
    "unable to connect",
    "network error",
    "fetch failed",
    "enotfound",
    "eai_again",
    "econnrefused",
    "econnreset",
    "etimedout",
];

/// Returns the cause of an error that [`classify`] classifies.
pub fn cause(message: &str, api_status: Option<u16>) -> ErrorCause {
    let message = message.to_lowercase();
    let status = api_status.or_else(|| status(&message));
    if matches_any(&message, CREDIT) || status == Some(402) {
        ErrorCause::Credit
    } else if matches_any(&message, CREDENTIALS) || matches!(status, Some(401 | 403)) {
        ErrorCause::Credentials
    } else if classify(&message, api_status) != ErrorClass::Transient {
        ErrorCause::Other
    } else if matches_any(&message, NETWORK) {
        ErrorCause::Network
    } else {
        ErrorCause::Overload
    }
}

/// Classifies an error by its text and by the HTTP status of the model's API, where one is known.
///
/// Fatal patterns take precedence over transient ones: `timeout: permission denied` is fatal.
pub fn classify(message: &str, api_status: Option<u16>) -> ErrorClass {
    let message = message.to_lowercase();
    let says = |patterns| matches_any(&message, patterns);
    let status = api_status.or_else(|| status(&message));
    if message.contains("no conversation found") {
        ErrorClass::SessionExpired
    } else if message.contains("prompt is too long") {
        ErrorClass::Permanent
    } else if matches!(status, Some(401..=404))
        || [FATAL, CREDENTIALS, CREDIT].into_iter().any(says)
    {
        ErrorClass::Fatal
    } else if matches!(status, Some(408 | 429 | 500..=599)) || says(TRANSIENT) || says(NETWORK) {
        ErrorClass::Transient
    } else {
        ErrorClass::Permanent
    }
}

/// Whether the parts of any of `patterns` occur in `text` in order.
fn matches_any(text: &str, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| {
        let mut rest = text;
        pattern
            .split(" * ")
            .all(|part| match rest.split_once(part) {
                Some((_, after)) => {
                    rest = after;
                    true
                }
                None => false,
            })
    })
}

/// Finds an HTTP status in a text: three digits after `http`, `error`, `status` or `code`.
fn status(text: &str) -> Option<u16> {
    let mut before = "";
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        if matches!(before, "http" | "error" | "status" | "code")
            && word.len() == 3
            && let Ok(status @ 400..=599) = word.parse()
        {
            return Some(status);
        }
        before = word;
    }
    None
}
