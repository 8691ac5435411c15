//! Points in time.

use std::time::Duration;

use chrono::{DateTime, Datelike, SecondsFormat, TimeZone, Utc};

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
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
    /// Returns this time plus `duration` (saturating).
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// Returns this time minus `duration` (saturating).
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// Returns the time elapsed since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Returns the UTC date and time; the epoch if the value is out of range.
    pub fn datetime(self) -> DateTime<Utc> {
        Utc.timestamp_millis_opt(self.0)
            .single()
            .unwrap_or_default()
    }

    /// Returns the beginning of the month (UTC) that this time is in.
    #[must_use]
    pub fn month(self) -> Self {
        let first = self.datetime().date_naive().with_day(1);
        let start = first.and_then(|day| day.and_hms_opt(0, 0, 0));
        start.map_or(self, |start| start.and_utc().into())
    }

    /// Returns the time in ISO 8601 with seconds and `Z`, as GitHub writes times.
    pub fn iso(self) -> String {
        self.datetime().to_rfc3339_opts(SecondsFormat::Secs, true)
    }
}

impl From<DateTime<Utc>> for Millis {
    fn from(time: DateTime<Utc>) -> Self {
        Self(time.timestamp_millis())
    }
}
