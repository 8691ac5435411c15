//! Settings for events that did not arrive as webhook requests.

use std::time::Duration;

use crate::setting::Rule::{Boolean, Integer};
use crate::setting::{hours, minutes, seconds, settings};

settings! {
    /// How GitHub's log of the App's deliveries is read, to find the ones that did not arrive. With
    /// `server.transport` set to `pull` or `both`, it is read often enough to do without webhooks.
    pub struct SweepSettings in "sweep" {
        /// Time between two readings of the log, in seconds, where deliveries arrive as webhook
        /// requests; also the longest time between two where they do not.
        every("every_seconds"): Duration as "seconds" = 120, Integer(1, 86_400, "seconds");
        /// Time between two readings of the log, in seconds, where `server.transport` is `pull` or
        /// `both`. After some minutes without a delivery the log is read less often.
        pull_every("pull_every_seconds"): Duration as "seconds" = 20, Integer(1, 3_600, "seconds");
        /// Maximum number of requests per hour that reading the log takes. GitHub allows an App
        /// 5,000 or more.
        max_requests("max_requests_per_hour"): u32 = 3000, Integer(60, 100_000, "requests");
    }
}

settings! {
    /// The search for commands in comments and for labels on open issues, in case GitHub never
    /// created a delivery for them.
    pub struct ScanSettings in "scan" {
        /// Time between two searches, in minutes.
        every("every_minutes"): Duration as "minutes" = 15, Integer(1, 1_440, "minutes");
        /// Maximum number of repositories with the App. If it is installed in more, there is no
        /// search, because each takes two requests per search; 0 turns the search off.
        max_repositories: usize = 100, Integer(0, 100_000, "repositories");
        /// Age at which a comment or label without a delivery is picked up, in seconds, so that
        /// deliveries that are on their way come first.
        settle("settle_seconds"): Duration as "seconds" = 60, Integer(0, 3_600, "seconds");
    }
}

settings! {
    /// Commands that are found some time after they were written, in GitHub's delivery log or by a
    /// search.
    pub struct LateSettings in "late" {
        /// Maximum age of a command that is executed, in hours. An older one is only recorded.
        max_age("max_age_hours"): Duration as "hours" = 24, Integer(0, 168, "hours");
        /// Whether a command that is too old is answered with a comment that says so.
        answer_old: bool = false, Boolean;
    }
}
