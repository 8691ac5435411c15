//! The stored state of a run's agent: its session, the questions and answers, and the resources
//! used.

use serde::{Deserialize, Serialize};

use crate::engine::model::agent::{Document, Micros, Report, Session, Spent};
use crate::engine::model::candidate::{Candidate, Unconfirmed};
use crate::engine::model::progress::{HiddenText, Prepared};
use crate::engine::model::research::{Indexed, ReportDigest};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Actor;
use crate::formats::plan::enriched;
use crate::formats::question::{Answer, Question};
use crate::formats::report;

/// The state of the agent's work in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentState {
    /// Random word in the delimiters around untrusted data.
    pub nonce: String,
    /// Random word that an agent writes only if it follows instructions in untrusted data.
    pub canary: String,
    /// The specification to plan for; `None` if an existing plan is enriched.
    pub brief: Option<Brief>,
    /// Files that the agent wrote in its last turn.
    pub written: Vec<Document>,
    /// Result of the search before the agent's first turn. Later attempts do not search again.
    pub found: Option<SearchResult>,
    /// Id of the session that the agent can continue.
    pub session: Option<String>,
    /// Cost of that session so far.
    pub session_cost: Micros,
    /// Whether the last turn of that session was stopped before its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Number of turns started.
    pub turns: u32,
    /// Resources used by all turns.
    pub spent: Spent,
    /// Resources used by each finished turn, in order.
    pub spent_by_turn: Vec<Spent>,
    /// A finished turn that is not yet evaluated. Stored before anything is written to GitHub.
    pub came: Option<TurnResult>,
    /// The next request to the agent.
    pub next: Next,
    /// Rounds of questions to people, in order.
    pub rounds: Vec<Round>,
    /// Number of consecutive transient failures of the current turn.
    pub faults: u32,
    /// Earliest time of the next try.
    pub not_before: Option<Millis>,
    /// Number of corrections requested.
    pub corrections: u32,
    /// The agent's last rejected answer.
    pub draft: Option<String>,
    /// A plan that passed all checks, kept while the agent is asked to correct the paths in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Box<Prepared>>,
    /// Whether the agent was asked to correct the paths in its plan.
    pub paths_corrected: bool,
    /// Number of apparent credentials removed from the agent's texts.
    pub redacted: u32,
    /// Number of refused tool calls.
    pub denials: u32,
    /// Whether a round of questions timed out.
    pub unanswered: bool,
    /// Questions of the last round that were not posted because they could not be read, one
    /// sentence each. The agent is told about them together with the answers.
    pub lost: Vec<String>,
    /// Like `lost`, but for questions that the agent had no round left to repeat. People are told
    /// about them.
    pub unasked: Vec<String>,
}

/// A finished turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnResult {
    /// Result of the turn.
    pub report: Report,
    /// The session that the turn belongs to.
    pub session: Session,
}

/// The next request to the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Next {
    /// Write the plan.
    #[default]
    Plan,
    /// Continue with the answers to the questions.
    Answers,
    /// Finish without answers.
    Unanswered,
    /// Correct the previous answer.
    Correct {
        /// Problems of the answer, one sentence each.
        complaints: Vec<String>,
    },
    /// Repeat questions that could not be read, or finish without asking.
    AskAgain {
        /// Problems of the questions, one sentence each.
        lost: Vec<String>,
    },
    /// No further request; the plan is saved as it was found.
    Nothing {
        /// The reason, as one sentence for people.
        why: String,
    },
}

/// A specification and the material available for planning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Brief {
    /// Title of the specification.
    pub title: String,
    /// Text of the specification, without placeholders.
    pub text: String,
    /// Repository documents in the agent's working directory.
    pub documents: Vec<Indexed>,
    /// The same documents as text, for agents that cannot read files.
    pub inline: String,
    /// Research reports.
    pub reports: Vec<ReportDigest>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Whether all material has been gathered.
    pub ready: bool,
}

/// The result of searching for a plan before the agent's first turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchResult {
    /// The best plan, if one was found.
    pub candidate: Option<Candidate>,
    /// Places that were searched, for error messages.
    pub looked: Vec<String>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// The session log that the plan comes from, as a phrase for people.
    pub log: Option<String>,
    /// The same information, as worded in the plan document.
    pub provenance: Option<String>,
    /// Title of the issue or pull request.
    pub source_title: String,
    /// Posts with a plan that were ignored because their authors have no write permission.
    #[serde(default)]
    pub unconfirmed: Vec<Unconfirmed>,
    /// Text in the plan that is invisible on GitHub.
    #[serde(default)]
    pub hidden: Option<HiddenText>,
    /// Set if it is unclear which of several plans is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclear: Option<Unclear>,
}

impl SearchResult {
    /// Returns the plan, or all plans in question if it is unclear which one is meant.
    pub fn candidates(&self) -> &[Candidate] {
        match (&self.candidate, &self.unclear) {
            (Some(one), _) => std::slice::from_ref(one),
            (None, Some(unclear)) => &unclear.among,
            (None, None) => &[],
        }
    }
}

/// Several plans, where it is unclear which one is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unclear {
    /// The plans, best first.
    pub among: Vec<Candidate>,
    /// The reason, as a sentence for people.
    pub why: String,
}

/// A set of questions posted together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and the form of stored runs"
)]
pub struct Round {
    /// The questions, 1 to 4.
    pub questions: Vec<Question>,
    /// One entry per question.
    pub answers: Vec<Option<Answer>>,
    /// Positions of questions that are intentionally left open.
    pub skipped: Vec<usize>,
    /// Asked by the bot: the run is paused until a user with write permission decides.
    pub hold: bool,
    /// Asked by the bot: which plan is meant. The options are those of [`SearchResult::unclear`],
    /// plus one for "none of them".
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub which: bool,
    /// Id of the comment that contains the questions.
    pub comment: Option<u64>,
    /// Permalink of the comment.
    pub url: String,
    /// Time at which the comment was posted.
    pub asked: Option<Millis>,
    /// Whether a reminder was posted.
    pub reminded: bool,
    /// Whether the round no longer waits for answers.
    pub closed: bool,
    /// Logins of the people who answered.
    pub by: Vec<String>,
    /// Login of the person whose answer is used, one entry per question.
    pub whose: Vec<Option<String>>,
    /// Time at which the comment was updated with the outcome.
    pub concluded: Option<Millis>,
}

impl Round {
    /// Whether the questions come from the agent rather than the bot.
    pub fn by_agent(&self) -> bool {
        !self.hold && !self.which
    }

    /// Returns the positions of the questions that still wait for an answer.
    pub fn open(&self) -> Vec<usize> {
        (0..self.answers.len())
            .filter(|at| self.answers[*at].is_none() && !self.skipped.contains(at))
            .collect()
    }

    /// Merges answers into the round. A later answer to the same question replaces an earlier one.
    pub fn take(&mut self, told: &SubmittedAnswers) {
        self.whose.resize(self.answers.len(), None);
        let mine = self.answers.iter_mut().zip(&mut self.whose);
        for ((mine, whose), theirs) in mine.zip(&told.answers) {
            if theirs.is_some() && mine != theirs {
                mine.clone_from(theirs);
                *whose = Some(told.by.login.clone());
            }
        }
        // The same message is applied again at every attempt.
        for at in &told.skipped {
            if !self.skipped.contains(at) {
                self.skipped.push(*at);
            }
        }
        if !self.by.contains(&told.by.login) {
            self.by.push(told.by.login.clone());
        }
        self.closed = self.closed || self.open().is_empty();
    }
}

/// Answers sent to a run as a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmittedAnswers {
    /// Number of the round, 1-based.
    pub round: usize,
    /// One entry per question; `None` if the question was not answered.
    pub answers: Vec<Option<Answer>>,
    /// Positions of questions that are intentionally left open.
    pub skipped: Vec<usize>,
    /// The person who answered.
    pub by: Actor,
}

impl AgentState {
    /// Returns the round that is waiting for answers, and its 1-based number.
    pub fn open_round(&self) -> Option<(usize, &Round)> {
        let round = self.rounds.last()?;
        (!round.closed).then_some((self.rounds.len(), round))
    }

    /// Returns the number of questions asked by the agent.
    pub fn questions(&self) -> u32 {
        let asked = self.rounds.iter().filter(|round| round.by_agent());
        u32::try_from(asked.map(|round| round.questions.len()).sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// Returns the number of rounds of questions asked by the agent.
    pub fn asked_rounds(&self) -> u32 {
        let asked = self.rounds.iter().filter(|round| round.by_agent()).count();
        u32::try_from(asked).unwrap_or(u32::MAX)
    }

    /// Returns the agent's rounds of questions with their answers.
    pub fn answered(&self) -> Vec<Vec<(Question, Option<Answer>)>> {
        self.rounds
            .iter()
            .filter(|round| round.by_agent())
            .map(|round| {
                let answers = round.answers.iter().cloned();
                round.questions.iter().cloned().zip(answers).collect()
            })
            .collect()
    }

    /// Returns the questions that nobody answered, and whether each of them was explicitly left to
    /// the agent. Includes the question which plan is meant, but not the one whether to continue a
    /// paused run.
    pub fn without_answer(&self) -> Vec<(&Question, bool)> {
        let rounds = self.rounds.iter().filter(|round| !round.hold);
        rounds
            .flat_map(|round| {
                let each = round.questions.iter().zip(&round.answers).enumerate();
                each.filter(|(_, (_, answer))| answer.is_none())
                    .map(|(at, (question, _))| (question, round.skipped.contains(&at)))
            })
            .collect()
    }

    /// Forgets the session, so that the next one receives the full context.
    pub fn forget_session(&mut self) {
        self.session = None;
        self.session_cost = 0;
        self.interrupted = false;
    }

    /// Adds the resources used by a turn.
    pub fn add(&mut self, spent: &Spent) {
        self.spent.add(spent);
        self.spent_by_turn.push(*spent);
        self.session_cost = self.session_cost.max(spent.session_cost);
    }
}

/// A problem in an agent's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Message for the agent: the problem and what to write instead.
    pub for_agent: String,
    /// Message for people: the problem, without a full stop.
    pub for_people: String,
}

impl From<String> for Fault {
    /// Uses the same sentence for the agent and for people.
    fn from(for_agent: String) -> Self {
        let for_people = for_agent.trim_end_matches('.').to_owned();
        Self {
            for_agent,
            for_people,
        }
    }
}

impl From<&enriched::AnswerProblem> for Fault {
    fn from(complaint: &enriched::AnswerProblem) -> Self {
        Self {
            for_agent: complaint.to_string(),
            for_people: complaint.description(),
        }
    }
}

impl From<&report::DocumentProblem> for Fault {
    fn from(complaint: &report::DocumentProblem) -> Self {
        Self {
            for_agent: complaint.to_string(),
            for_people: complaint.description(),
        }
    }
}
