//! Whether trying again can help, by what an error says.

/// What can be done about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It passes: overload, rate limits, a network that fails. The same can work later.
    Transient,
    /// Nothing will work until somebody changes something: keys, credit, permissions, disk, the model's name.
    Fatal,
    /// This input will not work: too long, invalid, or nobody knows.
    Permanent,
    /// The session to go on with is gone; a new one works.
    SessionExpired,
}

/// What fatal errors say, in lower case; ` * ` stands for anything.
const FATAL: [&str; 18] = [
    "permission * denied",
    "out of * space",
    "no space left",
    "disk * full",
    "no such file",
    "corrupted",
    "invalid api key",
    "invalid x-api-key",
    "not logged in",
    "please run /login",
    "failed to authenticate",
    "authentication_error",
    "permission_error",
    "oauth token * expired",
    "credit balance",
    "billing",
    "selected model",
    "does not have access",
];

/// What errors say that pass.
const TRANSIENT: [&str; 18] = [
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
    "connection error",
    "connection refused",
    "connection reset",
    "unable to connect",
];

/// Classes an error by its text and by the HTTP status of the model's API, where one is known. What is fatal is looked for
/// before what passes: `timeout: permission denied` does not pass.
pub fn classify(message: &str, api_status: Option<u16>) -> Class {
    let message = message.to_lowercase();
    let says = |patterns: &[&str]| patterns.iter().any(|pattern| holds(&message, pattern));
    let status = api_status.or_else(|| status(&message));
    if says(&["no conversation found"]) {
        Class::SessionExpired
    } else if says(&["prompt is too long"]) {
        Class::Permanent
    } else if matches!(status, Some(401..=404)) || says(&FATAL) {
        Class::Fatal
    } else if matches!(status, Some(408 | 429 | 500..=599)) || says(&TRANSIENT) {
        Class::Transient
    } else {
        Class::Permanent
    }
}

/// The parts of `pattern` stand in `text`, in order.
fn holds(text: &str, pattern: &str) -> bool {
    let mut rest = text;
    pattern.split(" * ").all(|part| {
        let found = rest.find(part);
        if let Some(at) = found {
            rest = &rest[at + part.len()..];
        }
        found.is_some()
    })
}

/// An HTTP status that a text names as one: three digits after `http`, `error`, `status` or `code`.
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
