//! The state that a run keeps between its steps and across restarts. Stored as JSON in the run's
//! row.

mod agent_state;
mod checked;

use serde::{Deserialize, Serialize};

use super::agent::Spent;
use super::failure::Failure;
use super::repository::{Base, RepositoryState};
use super::research::Research;
use super::time::Millis;
use super::trigger::IssueRef;

pub use agent_state::{
    AgentState, Brief, Fault, Next, Round, SearchResult, SubmittedAnswers, TurnResult, Unclear,
};
pub use checked::{Checked, Checking, Judged, Remark};

/// A plan that passed all checks and is ready to be saved. Stored before the first write to GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// Issue title with the configured prefix, at most 250 characters.
    pub issue_title: String,
    /// Title of the plan itself.
    pub title: String,
    /// The document to save, before neutralisation.
    pub document: String,
    /// Where the plan was found, as a phrase for people.
    pub found: String,
    /// Summary sentence from the plan; empty if it has none.
    pub sentence: String,
    /// Titles of the first steps, and a line with the number of remaining steps.
    #[serde(alias = "bullets")]
    pub steps: Vec<String>,
    /// Notes for the reader (no agent, guidance not applied, posts left out).
    pub notes: Vec<String>,
    /// Title of the issue or pull request that the plan comes from.
    pub source_title: String,
    /// The session log that the plan comes from, as a phrase for people.
    #[serde(default)]
    pub log: Option<String>,
    /// Whether an agent enriched the plan.
    #[serde(default)]
    pub enriched: Enriched,
    /// Warning codes for programs, e.g. `questions_unanswered`.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Documents attached to the plan, each posted in comments of its own after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<Attached>,
    /// Text in the plan that is invisible on GitHub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<HiddenText>,
    /// Earlier plan issue from the same issue or pull request that this plan replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<PlanIssue>,
    /// The commit that the plan is based on, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// How many of the files that the plan names exist in that commit, as a line of Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}

/// A plan issue saved by an earlier run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanIssue {
    /// Issue number.
    pub number: u64,
    /// Permalink of the issue.
    pub url: String,
}

/// A requested plan that is already saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The issue that contains the plan.
    pub issue: PlanIssue,
    /// Later plan issue that replaced it.
    pub replaced_by: Option<PlanIssue>,
}

/// Text in a plan that is invisible on GitHub.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenText {
    /// The hidden parts, escaped so that they are visible.
    pub parts: Vec<String>,
    /// Whether the hidden text is saved with the plan, as the command requested. Otherwise it is
    /// removed.
    pub kept: bool,
}

/// A document attached to a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// Kind of document: `context` or `research`.
    pub name: String,
    /// Text of the document.
    pub text: String,
}

/// Whether an agent enriched a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enriched {
    /// No agent was involved; the plan is saved as it was found.
    #[default]
    No,
    /// An agent enriched the plan, and the result passed the checks.
    Yes,
    /// An agent was asked, but its answer did not pass the checks. The plan is saved as found or
    /// with the agent's own text, and the run is not a full success.
    Fallback,
}

/// A plan from a session log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPlan {
    /// The plan, verbatim.
    pub text: String,
    /// Path in the repository, or name of the attachment.
    pub name: String,
    /// Address at which people can view the log.
    pub url: Option<String>,
    /// Full SHA of the commit at which the log was read.
    pub commit: Option<String>,
    /// Line in the log, 1-based.
    pub line: u64,
    /// Session id.
    pub session: Option<String>,
    /// Time at which the plan was written, as recorded in the log.
    pub timestamp: Option<String>,
    /// Name of the plan file it was written to, without `.md`.
    pub plan_file: Option<String>,
}

/// The result of reading the session logs named in the command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logs {
    /// The plan; `None` if no log was named.
    pub plan: Option<LogPlan>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// Maximum number of steps whose start is recorded.
pub const MAX_STEPS: usize = 100;

/// The start of a step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepStart {
    /// The step, for people.
    pub name: String,
    /// The time.
    pub at: Millis,
}

/// The GitHub ids of a saved plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Number of the plan issue.
    pub number: u64,
    /// Permalink of the plan issue.
    pub url: String,
    /// Ids of the comments that contain the plan, in order.
    pub comments: Vec<u64>,
}

/// The stored state of a run. Unknown fields written by a newer version are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Start time of the first attempt.
    pub started: Option<Millis>,
    /// Start time of the current round; `None` in the first round.
    pub resumed: Option<Millis>,
    /// Id of the status comment.
    pub status_comment: Option<u64>,
    /// Number of status comments that were deleted by users.
    pub status_lost: u32,
    /// Time since which GitHub reports the status comment as missing. It may only be missing on a
    /// replica that lags behind.
    pub status_missing: Option<Millis>,
    /// New location of the issue after a transfer to another repository.
    pub moved: Option<IssueRef>,
    /// Why the bot cannot comment on the triggering issue, as the end of a sentence.
    pub unheard: Option<String>,
    /// Time at which this run last created something on GitHub, according to the local clock.
    pub created: Option<Millis>,
    /// The round whose final report is being written. No other status may overwrite that report.
    pub closing: Option<u32>,
    /// Current or most recent step, for people.
    pub step: Option<String>,
    /// The steps so far, at most [`MAX_STEPS`], the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepStart>,
    /// Whether the status comment says that the run is paused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// Result of reading the session logs. Later attempts use it instead of fetching the logs
    /// again, so that they cannot find a different plan. Cleared when the plan is prepared, and
    /// when a new round begins without a prepared plan.
    pub logs: Option<Logs>,
    /// The repository's files, once they are needed.
    #[serde(skip_serializing_if = "RepositoryState::is_empty")]
    pub repository: RepositoryState,
    /// State of the agent's work, once an agent is needed.
    pub work: Option<AgentState>,
    /// State of the research agents' work, once there are topics.
    pub research: Option<Research>,
    /// State of an unfinished check of action-plan files.
    pub checking: Option<Checking>,
    /// Results of the action-plan check.
    pub checked: Option<Checked>,
    /// Digests that identify the plan when it is requested again; set once the plan is found.
    pub identity: Option<Identity>,
    /// Earlier issue that already contains the plan. If set, the run saves nothing.
    pub known: Option<Known>,
    /// The extracted and checked plan, ready to be saved.
    pub prepared: Option<Prepared>,
    /// Whether saving has begun. The plan issue may then exist even if GitHub's response was lost.
    pub publishing: bool,
    /// GitHub ids of the saved plan.
    pub saved: Option<Saved>,
    /// The round that created the plan issue.
    pub saved_in: u32,
    /// Number of plan issues of this run that were deleted by users.
    pub issue_lost: u32,
    /// Failure of the run, and the round to which it belongs (how often the run was requeued).
    pub failure: Option<(u32, Failure)>,
    /// Start of the current GitHub outage, and the number of failed attempts since the last
    /// successful step.
    pub outage: Option<(Millis, u32)>,
    /// Time that the current round has waited for GitHub's rate limits, in milliseconds.
    pub limited: u64,
}

impl Progress {
    /// Returns the resources used by all agents; `None` if no agent was used.
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

    /// Returns the resources used by each finished turn of the agent that works on the plan.
    pub fn spent_by_turn(&self) -> &[Spent] {
        self.work.as_ref().map_or(&[], |work| &work.spent_by_turn)
    }

    /// Records that a step starts, unless it is the current one.
    pub fn start_step(&mut self, name: &str, at: Millis) {
        if self.step.as_deref() != Some(name) && self.steps.len() < MAX_STEPS {
            self.steps.push(StepStart {
                name: name.to_owned(),
                at,
            });
        }
        self.step = Some(name.to_owned());
    }

    /// Parses the state stored by an earlier attempt.
    ///
    /// # Errors
    /// Fails if the text is not a valid progress record.
    pub fn read(text: Option<&str>) -> Result<Self, serde_json::Error> {
        text.map_or_else(|| Ok(Self::default()), serde_json::from_str)
    }

    /// Returns the state as JSON.
    pub fn write(&self) -> String {
        // Serialising plain data with string keys cannot fail, and an empty record would only cause
        // work to be repeated.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// The digests that identify a request to save a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Digest of the plan's text as found.
    pub text: String,
    /// Digest of the text and of everything else that determines what is saved.
    pub request: String,
}
