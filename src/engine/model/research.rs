//! The research of a run: its topics, what became of each, and what is to be done next.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::agent::{Micros, Spent};
use super::time::Millis;

/// How many wordings there are: standard, ultra explicit, step by step.
pub const WORDINGS: u32 = 3;

/// Longest topic, in characters.
pub const TOPIC_MAX: usize = 300;

/// What is remembered of the research of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Research {
    /// The topics, in the order they were asked for.
    pub topics: Vec<Topic>,
    /// Title of the place that the topics come from, where there is one.
    pub title: String,
    /// Its text as it was at the command, cut to what agents are told.
    pub text: String,
    /// Documents of the repository in the agents' working directories; `None` before they are there.
    pub documents: Option<Vec<Indexed>>,
    /// Taken over from an earlier run, which has paid for it.
    pub adopted: bool,
    /// Unguessable word in the delimiters of data.
    pub nonce: String,
    /// Unguessable word that only an agent that obeys data would write.
    pub canary: String,
    /// The run has ended before all topics came to an end: nobody works on the open ones until it goes on.
    pub stopped: bool,
}

/// One topic and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topic {
    /// The topic, as it was asked for.
    pub topic: String,
    /// The file that the agent is to write: a name of ours.
    pub file: String,
    /// Where it stands.
    pub state: State,
    /// Tries that have ended without a report, for another reason than a passing one.
    pub tries: u32,
    /// Faults that may pass.
    pub faults: u32,
    /// Turns that were begun.
    pub turns: u32,
    /// A turn has begun and not ended; after a crash it begins again.
    pub at_work: bool,
    /// When it may be tried again.
    pub not_before: Option<Millis>,
    /// What was wrong with the last try and what to write, one sentence each, for the agent.
    pub complaints: Vec<String>,
    /// What was wrong with it, for people.
    pub wrong: Vec<String>,
    /// The longest of what it has said or left unfinished.
    pub draft: Option<String>,
    /// The report, or what stands in for it.
    pub report: Option<String>,
    /// How the report was found, where that is not at its path; or why there is none.
    pub note: Option<String>,
    /// What all turns have used.
    pub spent: Spent,
    /// What the turn under way may cost.
    pub reserved: Micros,
    /// Things that look like credentials and were taken out.
    pub redacted: u32,
    /// The comment that shows it.
    pub comment: Option<u64>,
    /// Its permalink.
    pub url: String,
}

/// Where a topic stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// To be done.
    #[default]
    Open,
    /// The agent wrote its report where it was told to.
    Written,
    /// The agent wrote its report, but somewhere else.
    Recovered,
    /// There is no report: what stands in for it was made from what the agent said. No success.
    Degraded,
    /// There is nothing.
    Failed,
}

impl State {
    /// A report of the agent's own: the only success.
    pub fn is_success(self) -> bool {
        matches!(self, Self::Written | Self::Recovered)
    }
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// These topics side by side, by position.
    Begin(Vec<usize>),
    /// Nothing before this time.
    Wait(Millis),
    /// Nothing.
    Done,
}

impl Research {
    /// Research on `topics`, with the names of their files.
    pub fn on(topics: &[String]) -> Self {
        let topics = topics.iter().enumerate().map(|(at, topic)| Topic {
            topic: topic.clone(),
            file: crate::formats::report::report_file(&format!("{:03}", at + 1), topic),
            ..Topic::default()
        });
        Self {
            topics: topics.collect(),
            ..Self::default()
        }
    }

    /// Whether it is on exactly these topics.
    pub fn is_on(&self, topics: &[String]) -> bool {
        let own = self.topics.iter().map(|topic| &topic.topic);
        own.eq(topics)
    }

    /// Ends waits that end later than `longest` from `now`: a clock that was set back has left them.
    pub fn end_impossible_waits(&mut self, now: Millis, longest: Duration) {
        for topic in &mut self.topics {
            topic.not_before = topic.not_before.filter(|until| *until <= now.plus(longest));
        }
    }

    /// What is to be done now: all first tries side by side, then retries one at a time in order.
    pub fn next(&self, now: Millis) -> Next {
        let open = || {
            let topics = self.topics.iter().enumerate();
            topics.filter(|(_, topic)| topic.state == State::Open)
        };
        let ready = |topic: &Topic| topic.not_before.is_none_or(|until| until <= now);
        let first: Vec<usize> = open()
            .filter(|(_, topic)| topic.tries == 0 && ready(topic))
            .map(|(at, _)| at)
            .collect();
        if !first.is_empty() {
            return Next::Begin(first);
        }
        if let Some((at, _)) = open().find(|(_, topic)| ready(topic)) {
            return Next::Begin(vec![at]);
        }
        match open().filter_map(|(_, topic)| topic.not_before).min() {
            Some(until) => Next::Wait(until),
            None => Next::Done,
        }
    }

    /// How it went, counted.
    pub fn tally(&self) -> crate::formats::report::ReportTally {
        let count = |wanted: fn(State) -> bool| {
            self.topics
                .iter()
                .filter(|topic| wanted(topic.state))
                .count()
        };
        crate::formats::report::ReportTally {
            expected: self.topics.len(),
            ok: count(State::is_success),
            degraded: count(|state| state == State::Degraded),
            failed: count(|state| matches!(state, State::Failed | State::Open)),
        }
    }

    /// What the next turn may cost of `most`, the limit of the whole run, of which `before` was spent before: an equal share
    /// of what neither is spent nor reserved for a turn under way, for each of `places` agents. `None` when nothing is left.
    pub fn share(&self, most: Micros, before: Micros, places: usize) -> Option<Micros> {
        let others = || {
            self.topics
                .iter()
                .filter(|topic| topic.state == State::Open)
        };
        let at_work = || others().filter(|topic| topic.at_work && topic.reserved > 0);
        let reserved: Micros = at_work().map(|topic| topic.reserved).sum();
        let used = before
            .saturating_add(self.spent().cost)
            .saturating_add(reserved);
        let free = places.saturating_sub(at_work().count());
        let open = others().count().saturating_sub(at_work().count());
        let shares = free.min(open).max(1);
        let left = most.saturating_sub(used) / Micros::try_from(shares).unwrap_or(1);
        (left > 0).then_some(left)
    }

    /// What all topics have used.
    pub fn spent(&self) -> Spent {
        let mut all = Spent::default();
        for topic in &self.topics {
            all.add(&topic.spent);
        }
        all
    }

    /// Topics that failed or have no report of the agent's own are to be done again; the others stay as they are.
    pub fn again(&mut self) {
        for topic in &mut self.topics {
            if !topic.state.is_success() {
                *topic = Topic {
                    topic: std::mem::take(&mut topic.topic),
                    file: std::mem::take(&mut topic.file),
                    turns: topic.turns,
                    spent: topic.spent,
                    comment: topic.comment,
                    url: std::mem::take(&mut topic.url),
                    ..Topic::default()
                };
            }
        }
    }
}

/// A document that agents find in their working directory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Indexed {
    /// Its name there: one of ours.
    pub file: String,
    /// Where it comes from: a path of the repository.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its size in bytes.
    pub bytes: usize,
}

/// A research report as the planner gets it: what it says in short, and where the whole of it is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Handed {
    /// What was asked.
    pub topic: String,
    /// Title, summary, recommendations, paths: `formats::report::handed`.
    pub text: String,
    /// Its file in the planner's working directory.
    pub file: String,
    /// It was made from an agent's words, and no agent wrote it.
    pub degraded: bool,
}
