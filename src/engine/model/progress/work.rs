//! What a run remembers of its agent: the session, what was asked and answered, what it has used.

use serde::{Deserialize, Serialize};

use crate::engine::model::agent::{Document, Micros, Report, Session, Spent};
use crate::engine::model::candidate::{Candidate, Unconfirmed};
use crate::engine::model::progress::HiddenText;
use crate::engine::model::research::{Handed, Indexed};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Actor;
use crate::formats::plan::enriched;
use crate::formats::question::{Answer, Question};
use crate::formats::report;

/// The agent's part of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// Unguessable word in the delimiters of data.
    pub nonce: String,
    /// Unguessable word that only an agent that obeys data would write.
    pub canary: String,
    /// What the plan is written for, where it is one for a specification.
    pub brief: Option<Brief>,
    /// Files of the agent's own from its last turn.
    pub written: Vec<Document>,
    /// What was found before the agent was asked; a later attempt finds nothing else.
    pub found: Option<Found>,
    /// Session that the agent can go on with.
    pub session: Option<String>,
    /// What that session has cost so far.
    pub session_cost: Micros,
    /// How many turns were begun.
    pub turns: u32,
    /// What all turns together have used.
    pub spent: Spent,
    /// A turn that has ended and is not judged yet: stored before anything is written to GitHub.
    pub came: Option<Came>,
    /// What the agent is asked next.
    pub next: Next,
    /// What people were asked, in order.
    pub rounds: Vec<Round>,
    /// How often the present turn failed for a reason that may pass.
    pub faults: u32,
    /// When it may be tried again.
    pub not_before: Option<Millis>,
    /// How many corrections were asked for.
    pub corrections: u32,
    /// The agent's last answer that was not good enough.
    pub draft: Option<String>,
    /// Things that look like credentials and were taken out of what the agent wrote.
    pub redacted: u32,
    /// Tool calls that were refused.
    pub denials: u32,
    /// Nobody answered in time.
    pub unanswered: bool,
    /// What of the last round of questions people were not asked, a sentence each. The agent is
    /// told with the answers.
    pub lost: Vec<String>,
    /// The same where the agent could not ask again: people are told.
    pub unasked: Vec<String>,
}

/// A turn that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Came {
    /// What came of it.
    pub report: Report,
    /// The session it belongs to.
    pub session: Session,
}

/// What the agent is asked next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Next {
    /// The plan, for the first time.
    #[default]
    Plan,
    /// To go on with what was answered.
    Answers,
    /// To finish without answers.
    Unanswered,
    /// To put right what was wrong.
    Correct {
        /// What was wrong, one sentence each.
        complaints: Vec<String>,
    },
    /// To ask again what could not be read, or to finish without asking.
    AskAgain {
        /// What could not be read, one sentence each.
        lost: Vec<String>,
    },
    /// Nothing: the plan is saved as it was found, for this reason.
    Nothing {
        /// Why, one sentence for people.
        why: String,
    },
}

/// A specification and what there is to read for a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Brief {
    /// Title of the specification.
    pub title: String,
    /// Its text, without placeholders.
    pub text: String,
    /// Documents of the repository in the agent's working directory.
    pub documents: Vec<Indexed>,
    /// The same as text, for an agent that has no tools to read files with.
    pub inline: String,
    /// What research found.
    pub reports: Vec<Handed>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// All of it is gathered.
    pub ready: bool,
}

/// What there was before the agent was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The best plan, where one was found.
    pub candidate: Option<Candidate>,
    /// Where the bot looked, for an error message.
    pub looked: Vec<String>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// The session log it came from, one phrase for people.
    pub log: Option<String>,
    /// The same for the plan document.
    pub provenance: Option<String>,
    /// Title of the issue or pull request.
    pub source_title: String,
    /// Posts with a plan that were not considered, because their authors have no write permission.
    #[serde(default)]
    pub unconfirmed: Vec<Unconfirmed>,
    /// Text in the plan that people do not see on GitHub.
    #[serde(default)]
    pub hidden: Option<HiddenText>,
    /// Several plans of which nobody could tell which one is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclear: Option<Unclear>,
}

impl Found {
    /// The plan, or the plans of which one is meant.
    pub fn candidates(&self) -> &[Candidate] {
        match (&self.candidate, &self.unclear) {
            (Some(one), _) => std::slice::from_ref(one),
            (None, Some(unclear)) => &unclear.among,
            (None, None) => &[],
        }
    }
}

/// Several plans of which nobody could tell which one is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unclear {
    /// The plans, best first.
    pub among: Vec<Candidate>,
    /// Why, a sentence for people.
    pub why: String,
}

/// Questions that were asked together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and the form of stored runs"
)]
pub struct Round {
    /// The questions, 1 to 4.
    pub questions: Vec<Question>,
    /// One entry a question.
    pub answers: Vec<Option<Answer>>,
    /// Positions of questions that are to stay open.
    pub skipped: Vec<usize>,
    /// Not the agent asks, but the bot: the run is held until somebody with write permission decides.
    pub hold: bool,
    /// Not the agent asks, but the bot: which plan is meant. The options are those of
    /// [`Found::unclear`], and one more for none of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub which: bool,
    /// Comment that asks.
    pub comment: Option<u64>,
    /// Its permalink.
    pub url: String,
    /// When it was posted.
    pub asked: Option<Millis>,
    /// People were reminded.
    pub reminded: bool,
    /// Nothing more is waited for.
    pub closed: bool,
    /// Logins of who answered.
    pub by: Vec<String>,
    /// Login of whose answer counts, one entry a question.
    pub whose: Vec<Option<String>>,
    /// When the comment that asked was changed to say what became of it.
    pub concluded: Option<Millis>,
}

impl Round {
    /// The agent asks, not the bot.
    pub fn by_agent(&self) -> bool {
        !self.hold && !self.which
    }

    /// Positions of the questions that are waited for.
    pub fn open(&self) -> Vec<usize> {
        (0..self.answers.len())
            .filter(|at| self.answers[*at].is_none() && !self.skipped.contains(at))
            .collect()
    }

    /// Takes an answer in: later answers to the same question count.
    pub fn take(&mut self, told: &Told) {
        self.whose.resize(self.answers.len(), None);
        let mine = self.answers.iter_mut().zip(&mut self.whose);
        for ((mine, whose), theirs) in mine.zip(&told.answers) {
            if theirs.is_some() && mine != theirs {
                mine.clone_from(theirs);
                *whose = Some(told.by.login.clone());
            }
        }
        // Told anew at every attempt.
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

/// Answers on their way to a run, as its message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Which round, from 1.
    pub round: usize,
    /// One entry a question; `None` where nothing was said.
    pub answers: Vec<Option<Answer>>,
    /// Positions of questions that are to stay open.
    pub skipped: Vec<usize>,
    /// Who.
    pub by: Actor,
}

impl Work {
    /// The round that waits for answers, and its number from 1.
    pub fn open_round(&self) -> Option<(usize, &Round)> {
        let round = self.rounds.last()?;
        (!round.closed).then_some((self.rounds.len(), round))
    }

    /// How many questions of the agent were asked.
    pub fn questions(&self) -> u32 {
        let asked = self.rounds.iter().filter(|round| round.by_agent());
        u32::try_from(asked.map(|round| round.questions.len()).sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// How many rounds of the agent's questions there were.
    pub fn asked_rounds(&self) -> u32 {
        let asked = self.rounds.iter().filter(|round| round.by_agent()).count();
        u32::try_from(asked).unwrap_or(u32::MAX)
    }

    /// The agent's rounds with what was answered.
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

    /// The agent's questions that nobody answered, and whether somebody left each of them to the agent.
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

    /// The agent has no session to go on with: the next one is told everything.
    pub fn forget_session(&mut self) {
        self.session = None;
        self.session_cost = 0;
    }

    /// Adds what a turn used.
    pub fn add(&mut self, spent: &Spent) {
        self.spent.add(spent);
        self.session_cost = self.session_cost.max(spent.session_cost);
    }
}

/// Something that is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What the agent is told: what is wrong, and what to write.
    pub told: String,
    /// What people are told: what is wrong, without a full stop.
    pub what: String,
}

impl From<String> for Fault {
    /// A sentence that is for both.
    fn from(told: String) -> Self {
        let what = told.trim_end_matches('.').to_owned();
        Self { told, what }
    }
}

impl From<&enriched::AnswerProblem> for Fault {
    fn from(complaint: &enriched::AnswerProblem) -> Self {
        Self {
            told: complaint.to_string(),
            what: complaint.description(),
        }
    }
}

impl From<&report::DocumentProblem> for Fault {
    fn from(complaint: &report::DocumentProblem) -> Self {
        Self {
            told: complaint.to_string(),
            what: complaint.description(),
        }
    }
}
