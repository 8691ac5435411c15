//! What is stored about events: where each came from, what was decided, and how far GitHub's
//! delivery log and the comments of each repository have been read.

use serde::{Deserialize, Serialize};

use super::run::RunId;
use super::time::Millis;

/// The way in which an event was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A webhook request.
    Webhook,
    /// GitHub's log of the App's deliveries.
    DeliveryLog,
    /// The comments and labels of a repository.
    Scan,
    /// A command line, without GitHub.
    Terminal,
    /// A request to run a command again, on a page or the operator's command line.
    Operator,
}

impl Source {
    const ALL: [Self; 5] = [
        Self::Webhook,
        Self::DeliveryLog,
        Self::Scan,
        Self::Terminal,
        Self::Operator,
    ];

    /// Returns the name in the database and in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::DeliveryLog => "delivery_log",
            Self::Scan => "scan",
            Self::Terminal => "terminal",
            Self::Operator => "operator",
        }
    }

    /// Returns the source with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// What an event is about, as far as its payload says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// The payload's `action`.
    pub action: Option<String>,
    /// Repository id.
    pub repo: Option<u64>,
    /// Number of the issue or pull request.
    pub number: Option<u64>,
    /// Comment id.
    pub comment: Option<u64>,
}

/// What was decided about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was stored, with these runs.
    Accepted(Vec<RunId>),
    /// It is known under this or another delivery id.
    Duplicate,
    /// It is known, and its failed runs were queued again.
    Requeued,
    /// It asks for nothing, for this reason.
    Ignored(String),
    /// Its payload cannot be used, for this reason.
    Refused(String),
}

impl Verdict {
    /// Returns the name in the database.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Duplicate => "duplicate",
            Self::Requeued => "requeued",
            Self::Ignored(_) => "ignored",
            Self::Refused(_) => "refused",
        }
    }

    /// Returns the reason, if the verdict has one.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Ignored(why) | Self::Refused(why) => Some(why),
            Self::Accepted(_) | Self::Duplicate | Self::Requeued => None,
        }
    }
}

/// The decision about one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord {
    /// Time of the decision.
    pub at: Millis,
    /// Where the event came from.
    pub source: Source,
    /// The delivery's GUID, or the one made up for a comment or label found by a scan.
    pub guid: String,
    /// The event's name, e.g. `issue_comment`.
    pub event: String,
    /// What it is about.
    pub subject: Subject,
    /// What was decided.
    pub verdict: Verdict,
}

/// An attempt at a delivery, as listed in GitHub's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedAttempt {
    /// Id of the attempt; 19 digits on github.com.
    pub id: u64,
    /// GUID of the delivery, the same for all its attempts.
    pub guid: String,
    /// The event's name.
    pub event: String,
    /// The payload's `action`.
    pub action: Option<String>,
    /// Time of the attempt.
    pub delivered: Millis,
    /// Status with which it was answered; GitHub's own 502 or 504 if it was not.
    pub status_code: u16,
    /// Repository id.
    pub repo: Option<u64>,
}

/// An unfinished walk through the log, from the newest attempt back to the watermark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walk {
    /// Time at which the walk began: the next watermark.
    pub began: Millis,
    /// The page to read next; `None` for the first.
    pub cursor: Option<String>,
}

/// The state of reading the delivery log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogState {
    /// Everything delivered before this time, by GitHub's clock, has been looked at.
    pub watermark: Millis,
    /// The walk that was interrupted, if any.
    pub walk: Option<Walk>,
}

/// How far the comments and issues of a repository have been scanned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanState {
    /// How far its comments were read.
    pub comments: ScanPosition,
    /// How far its issues were read.
    pub issues: ScanPosition,
}

/// How far a list that is ordered by the time of the last update has been read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanPosition {
    /// Items updated before this time have been looked at.
    pub since: Millis,
    /// `ETag` of the list from this time on, if it was read to its end.
    pub etag: Option<String>,
}
