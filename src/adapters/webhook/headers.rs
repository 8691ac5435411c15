//! The headers GitHub sends with a delivery
//! (<https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers>).

use http::header::{CONTENT_TYPE, EXPECT};
use http::{HeaderMap, StatusCode};

use super::answer::Answer;

/// Maximum length of `X-GitHub-Event` and `X-GitHub-Delivery`, in bytes. GitHub sends short names
/// and GUIDs; this leaves room for other senders.
const MAX_NAME: usize = 64;

const EVENT: &str = "x-github-event";
const DELIVERY: &str = "x-github-delivery";
const SIGNATURE: &str = "x-hub-signature-256";
const TARGET_ID: &str = "x-github-hook-installation-target-id";
const TARGET_TYPE: &str = "x-github-hook-installation-target-type";

/// The headers of a delivery.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) event: String,
    pub(super) guid: String,
    pub(super) signature: String,
}

/// Refuses a body that is not JSON (415).
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), Answer> {
    let found = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = found.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let found = if essence.is_empty() {
        "nothing"
    } else {
        essence
    };
    Err(Answer::refused(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "content_type",
        format!(
            "the content type is {found}; set \"Content type\" to application/json in the webhook section of the \
             App's settings"
        ),
    ))
}

/// Whether the sender waits for `100 Continue` before it sends the body (RFC 9110, 10.1.1).
pub(super) fn expects_continue(headers: &HeaderMap) -> bool {
    headers
        .get(EXPECT)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Parses event, GUID and signature, each of which must be present once and well formed.
pub(super) fn parse(headers: &HeaderMap) -> Result<Head, Answer> {
    let event = name(headers, EVENT, "X-GitHub-Event", |c| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_'
    })?;
    let guid = name(headers, DELIVERY, "X-GitHub-Delivery", |c| {
        c.is_ascii_alphanumeric() || c == b'-'
    })?;
    let signature = headers
        .get(SIGNATURE)
        .and_then(|value| value.to_str().ok())
        .ok_or_else(|| {
            Answer::refused(
                StatusCode::UNAUTHORIZED,
                "signature",
                "the header X-Hub-Signature-256 is missing; set a webhook secret in the App's settings",
            )
        })?;
    Ok(Head {
        event: event.to_owned(),
        guid: guid.to_owned(),
        signature: signature.to_owned(),
    })
}

fn name<'a>(
    headers: &'a HeaderMap,
    header: &'static str,
    shown: &'static str,
    allowed: impl Fn(u8) -> bool,
) -> Result<&'a str, Answer> {
    let bad = |why: &str| {
        Answer::refused(
            StatusCode::BAD_REQUEST,
            "header",
            format!("the header {shown} {why}; this address takes GitHub webhooks"),
        )
    };
    let mut values = headers.get_all(header).iter();
    let Some(first) = values.next() else {
        return Err(bad("is missing"));
    };
    if values.next().is_some() {
        return Err(bad("is present more than once"));
    }
    first
        .to_str()
        .ok()
        .filter(|text| (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(allowed))
        .ok_or_else(|| bad("is malformed"))
}

/// Refuses a delivery for another App or webhook (421). Senders without these headers are trusted:
/// they know the secret.
pub(super) fn check_target(headers: &HeaderMap, app_id: u64) -> Result<(), Answer> {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    let misdirected = |message: String| {
        Err(Answer::refused(
            StatusCode::MISDIRECTED_REQUEST,
            "target",
            message,
        ))
    };
    match text(TARGET_TYPE) {
        None | Some("integration") => {}
        Some(kind) => {
            return misdirected(format!(
                "this delivery comes from the webhook of a {kind}; delete that webhook and install \
                 the GitHub App instead, which has its own webhook"
            ));
        }
    }
    match text(TARGET_ID) {
        Some(id) if id.parse() != Ok(app_id) => misdirected(format!(
            "this delivery is for the App with id {id}, and github.app_id is {app_id}"
        )),
        _ => Ok(()),
    }
}
