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
const FATAL: [&str; 8] = [
    "permission * denied",
    "out of * space",
    "no space left",
    "disk * full",
    "no such file",
    "corrupted",
    "selected model",
    "does not have access",
];

/// What errors say where credentials are missing, refused or expired; fatal, too.
const CREDENTIALS: [&str; 8] = [
    "invalid api key",
    "invalid x-api-key",
    "not logged in",
    "please run /login",
    "failed to authenticate",
    "authentication_error",
    "permission_error",
    "oauth token * expired",
];

/// What errors say where an account has no money left; fatal, too.
const CREDIT: [&str; 2] = ["credit balance", "billing"];

/// What errors say that pass.
const TRANSIENT: [&str; 14] = [
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

/// What errors say where the service was not reached; this passes, too.
const NETWORK: [&str; 11] = [
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

/// What is behind an error, as far as its text and the HTTP status of the model's API tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Credentials are missing, refused or expired.
    Credentials,
    /// The account has no money left.
    Credit,
    /// The service was not reached.
    Network,
    /// The service has too much to do or fails itself.
    Overload,
    /// Anything else.
    Other,
}

/// Names the cause of an error that [`classify`] classes.
pub fn cause(message: &str, api_status: Option<u16>) -> Cause {
    let message = message.to_lowercase();
    let says = |patterns: &[&str]| patterns.iter().any(|pattern| holds(&message, pattern));
    let status = api_status.or_else(|| status(&message));
    if says(&CREDIT) || status == Some(402) {
        Cause::Credit
    } else if says(&CREDENTIALS) || matches!(status, Some(401 | 403)) {
        Cause::Credentials
    } else if classify(&message, api_status) != Class::Transient {
        Cause::Other
    } else if says(&NETWORK) {
        Cause::Network
    } else {
        Cause::Overload
    }
}

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
    } else if matches!(status, Some(401..=404))
        || [&FATAL[..], &CREDENTIALS, &CREDIT].into_iter().any(says)
    {
        Class::Fatal
    } else if matches!(status, Some(408 | 429 | 500..=599)) || says(&TRANSIENT) || says(&NETWORK) {
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
