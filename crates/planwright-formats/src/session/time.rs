//! Times of log entries: RFC 3339 texts in real logs, Unix numbers in some old ones.

use chrono::{DateTime, SecondsFormat, Utc};

use super::members;

/// Unix times above this are milliseconds: as seconds they would lie after the year 5138.
const LARGEST_SECONDS: f64 = 1e11;

/// The `timestamp` of an entry, from its JSON text, in a form that is compared as a string: a text stays as it is, a
/// Unix number (seconds, or milliseconds) becomes the same instant as `2025-11-23T10:00:00.000Z`. `None` for an empty
/// text and anything else.
pub(super) fn timestamp(json: &str) -> Option<String> {
    if let Some(text) = members::text(json) {
        return (!text.is_empty()).then(|| text.into_owned());
    }
    let number: f64 = json.parse().ok()?;
    let seconds = if number > LARGEST_SECONDS {
        number / 1000.0
    } else {
        number
    };
    written(seconds)
}

/// Seconds since 1970 of a timestamp as entries have it (RFC 3339); `None` when it is not one.
#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds of the next 200,000 years fit 2^53"
)]
pub fn seconds(timestamp: &str) -> Option<f64> {
    let time = DateTime::parse_from_rfc3339(timestamp).ok()?;
    Some(time.timestamp_millis() as f64 / 1000.0)
}

/// The timestamp of an instant, in the form logs have: UTC with milliseconds. `None` outside the years chrono knows.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float saturates, and chrono refuses what it does not know"
)]
pub fn written(seconds: f64) -> Option<String> {
    let time = DateTime::<Utc>::from_timestamp_millis((seconds * 1000.0).round() as i64)?;
    Some(time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

#[cfg(test)]
mod tests;
