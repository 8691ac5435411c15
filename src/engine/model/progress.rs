//! What a run remembers between its steps and across restarts. Kept as JSON in the run's row.

mod checked;
mod work;

use serde::{Deserialize, Serialize};

use super::agent::Spent;
use super::failure::Failure;
use super::research::Research;
use super::time::Millis;
use super::trigger::Place;

pub use checked::{Checked, Checking, Judged, Remark};
pub use work::{Brief, Came, Fault, Found, Next, Round, Told, Unclear, Work};

/// A plan that passed the gates, ready to be saved. Stored before the first write that saves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// Issue title, with the configured prefix, at most 250 characters.
    pub issue_title: String,
    /// The plan's own title.
    pub title: String,
    /// The document to save, before neutralisation.
    pub document: String,
    /// Where the plan was found, one phrase for people.
    pub found: String,
    /// What the plan does, in its own words; empty where it does not say so.
    pub sentence: String,
    /// The titles of its first steps, and a line that counts the others.
    #[serde(alias = "bullets")]
    pub steps: Vec<String>,
    /// What the reader should know (no agent, guidance not applied, posts left out).
    pub notes: Vec<String>,
    /// Title of the issue or pull request it came from.
    pub source_title: String,
    /// The session log it came from, one phrase for people.
    #[serde(default)]
    pub log: Option<String>,
    /// What the agent had to do with it.
    #[serde(default)]
    pub enriched: Enriched,
    /// Codes of what a program should know, e.g. `questions_unanswered`.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Documents that come with the plan, each in comments of its own behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<Attached>,
    /// Text in the plan that people do not see on GitHub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<HiddenText>,
    /// The plan issue from the same place that this plan takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<PlanIssue>,
}

/// A plan issue that an earlier run has saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanIssue {
    /// Number.
    pub number: u64,
    /// Permalink.
    pub url: String,
}

/// The plan that is asked for is saved already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Where.
    pub issue: PlanIssue,
    /// A later plan issue that replaced it.
    pub replaced_by: Option<PlanIssue>,
}

/// Text in a plan that people do not see on GitHub.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenText {
    /// The parts, in a form that can be seen.
    pub parts: Vec<String>,
    /// They are saved with the plan, as the command asked; else they were left out.
    pub kept: bool,
}

/// A document that comes with a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// What it is: `context` or `research`.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What an agent had to do with a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enriched {
    /// Nothing: it was saved as it was found.
    #[default]
    No,
    /// It was enriched, and the result holds.
    Yes,
    /// It was asked, but its answer did not hold: this is what was found, or the agent's own text, and no full success.
    Fallback,
}

/// A plan from a session log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPlan {
    /// The plan, verbatim.
    pub text: String,
    /// Path in the repository, or name of the attachment.
    pub name: String,
    /// Where people can look at the log.
    pub url: Option<String>,
    /// The commit it was read at, in full.
    pub commit: Option<String>,
    /// Line of the log, from 1.
    pub line: u64,
    /// Id of the session.
    pub session: Option<String>,
    /// When it was written, as the log has it.
    pub timestamp: Option<String>,
    /// The plan file it was written to, without `.md`.
    pub plan_file: Option<String>,
}

/// What the session logs came to that the command named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logs {
    /// The plan; `None` when no log was named.
    pub plan: Option<LogPlan>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// What is left of a saved plan when it has been saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Plan issue number.
    pub number: u64,
    /// Plan issue permalink.
    pub url: String,
    /// Ids of the comments that hold the plan, in order.
    pub comments: Vec<u64>,
}

/// Everything remembered. Unknown members of a newer version are ignored by an older one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// When the first attempt began to work.
    pub started: Option<Millis>,
    /// When the present round began, where it is not the first.
    pub resumed: Option<Millis>,
    /// Id of the status comment.
    pub status_comment: Option<u64>,
    /// How many status comments somebody deleted.
    pub status_lost: u32,
    /// Since when GitHub does not find the status comment: it may be a replica that lags behind.
    pub status_missing: Option<Millis>,
    /// Where the issue is now, when it was transferred to another repository.
    pub moved: Option<Place>,
    /// Why nothing can be said where the command was given, as the end of a sentence.
    pub unheard: Option<String>,
    /// When this run last created something on GitHub, by this machine's clock.
    pub created: Option<Millis>,
    /// The round whose final report has begun: nothing else is written over it.
    pub closing: Option<u32>,
    /// Step that is being done or was last done, for people.
    pub step: Option<String>,
    /// The session logs have been read: a later attempt neither fetches them again nor finds another plan. Dropped when
    /// the plan is prepared, and when a new round begins without one.
    pub logs: Option<Logs>,
    /// The agent's part, once it is asked for one.
    pub work: Option<Work>,
    /// Research agents' part, once there are topics.
    pub research: Option<Research>,
    /// A check of files that was interrupted.
    pub checking: Option<Checking>,
    /// The action plans that were checked.
    pub checked: Option<Checked>,
    /// What recognises the plan when it is asked for again, once it is found.
    pub identity: Option<Identity>,
    /// The plan is saved already: the run saves nothing.
    pub known: Option<Known>,
    /// Extracted, checked, ready to save.
    pub prepared: Option<Prepared>,
    /// Saving has begun: the plan issue may exist, whether or not its answer arrived.
    pub publishing: bool,
    /// Saved.
    pub saved: Option<Saved>,
    /// The round that created the plan issue.
    pub saved_in: u32,
    /// How many plan issues of this run somebody deleted.
    pub issue_lost: u32,
    /// Decided failure, and the round (how often the run was put back in line) it belongs to.
    pub failure: Option<(u32, Failure)>,
    /// Since when GitHub has not answered usefully, and how many times since a step last succeeded.
    pub outage: Option<(Millis, u32)>,
    /// Milliseconds that GitHub's rate limits have made the present round wait.
    pub limited: u64,
}

impl Progress {
    /// What agents have used, all of them together; `None` where none was asked.
    pub fn spent(&self) -> Option<Spent> {
        let research = self.research.as_ref().map(Research::spent);
        match (self.work.as_ref().map(|work| work.spent), research) {
            (Some(mut work), Some(research)) => {
                work.add(&research);
                Some(work)
            }
            (work, research) => work.or(research),
        }
    }

    /// Reads what an earlier attempt stored.
    ///
    /// # Errors
    /// The text is not a progress record.
    pub fn read(text: Option<&str>) -> Result<Self, serde_json::Error> {
        text.map_or_else(|| Ok(Self::default()), serde_json::from_str)
    }

    /// As JSON.
    pub fn write(&self) -> String {
        // Plain data with string keys: serialisation has no failing case; an empty record would only repeat work.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// What recognises a request to save a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Digest of the plan's text as it was found.
    pub text: String,
    /// Digest of the text and of what else decides what is saved.
    pub request: String,
}
