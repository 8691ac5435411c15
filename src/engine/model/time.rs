//! Points in time.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeZone, Utc};

/// A point in time in whole milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Millis(pub i64);

impl Millis {
    /// This moment plus `duration` (saturating).
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// This moment minus `duration` (saturating).
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// Time from `earlier` to this moment; zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// As a UTC date and time; the epoch for a value no calendar can hold.
    pub fn datetime(self) -> DateTime<Utc> {
        Utc.timestamp_millis_opt(self.0)
            .single()
            .unwrap_or_default()
    }

    /// ISO 8601 with seconds and `Z`, as GitHub writes times.
    pub fn iso(self) -> String {
        self.datetime().to_rfc3339_opts(SecondsFormat::Secs, true)
    }
}

impl From<DateTime<Utc>> for Millis {
    fn from(time: DateTime<Utc>) -> Self {
        Self(time.timestamp_millis())
    }
}
