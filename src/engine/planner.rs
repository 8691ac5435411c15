//! A planner at work without GitHub: what an ended turn comes to, over what is remembered in [`Work`]. Pure; who asks
//! people, waits and writes is the caller (`planwright plan`).
//!
//! ```text
//! turn ─▶ questions? ─▶ people ─┐
//!   ▲  └─▶ plan.md? look ─▶ plan │
//!   └──── correction (twice) ◀───┘
//! ```

use super::agent::{Ending, Report, Session};
use super::progress::{Attached, Came, Fault, Next, Round, Work};
use super::prompt::{self, Specified};
use super::say::agent as about_agents;
use super::say::planning as sentences;
use super::steps::planning::{Outcome, holds_plan, look};
use super::turns::{self, Meaning};
use crate::formats::question::Answer;
use crate::formats::question::turn::{
    NextStep, TurnEnd, collect_questions, next_step, too_late_notices,
};

/// What follows from a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// People are asked: the last round is open.
    Ask,
    /// The agent is asked again.
    Again,
    /// The agent is asked again after a wait; so many faults in a row.
    Wait(u32),
    /// The plan is there.
    Plan {
        /// Its title, without `Plan:`.
        title: String,
        /// The document, with its heading.
        document: String,
        /// `context` and `research`, where they say something.
        attached: Vec<Attached>,
        /// What the reader should know.
        notes: Vec<String>,
    },
    /// The agent followed an instruction in the data. Nothing of its answer is used, and the conversation begins anew.
    Obeyed,
    /// What the agent wrote was corrected as often as it may be; [`Work::draft`] is what there is.
    GivenUp {
        /// Why, one phrase.
        why: String,
    },
    /// The turn was stopped; it is as if it had not begun.
    Stopped,
    /// The agent failed, and another try does not help or has been made.
    Failed(Box<Report>),
}

/// How many more rounds of questions the agent may ask, of `most`.
pub fn rounds_left(work: &Work, most: u32) -> u32 {
    if work.unanswered {
        return 0;
    }
    most.saturating_sub(work.asked_rounds())
}

/// What the agent is asked now. `goes_on`: in a session that knows everything so far.
pub fn ask(work: &Work, given: &Specified<'_>, goes_on: bool) -> String {
    let later = turns::later(work, given.rounds, goes_on, given.form());
    if let (true, Some(later)) = (goes_on, &later) {
        return later.clone();
    }
    let earlier = turns::earlier(work, later.as_ref());
    turns::anew(work, prompt::plan(given, &earlier), later)
}

/// Takes in a turn that has ended. `rounds` are the rounds of questions that are left, `tries` those of one turn.
pub fn take(work: &mut Work, came: Came, rounds: u32, tries: u32) -> Step {
    let resumed = matches!(came.session, Session::Resume(_));
    let (Session::New(id) | Session::Resume(id)) = came.session;
    let came = came.report;
    match &came.ending {
        Ending::Cancelled => return Step::Stopped,
        Ending::Success { denials, .. } => {
            work.session = came.session.clone().or(Some(id));
            work.session_cost = came.spent.session_cost;
            work.denials = work.denials.saturating_add(*denials);
            // Forgotten only when there is something to judge: an agent that says nothing is not asked for ever.
            let faults = std::mem::take(&mut work.faults);
            if let Some(step) = judge(work, &came, rounds) {
                return step;
            }
            work.faults = faults;
        }
        Ending::NoResult => {
            // A question may be all it said (a session that ends there can be resumed).
            let before = std::mem::replace(&mut work.session, came.session.clone());
            if let Some(step) = judge(work, &came, rounds) {
                return step;
            }
            work.session = before;
        }
        _ => {}
    }
    let meaning = turns::meaning(&came.ending, resumed);
    if meaning == Meaning::Anew {
        work.forget_session();
        return Step::Again;
    }
    if !turns::obeyed(&work.canary, &came, &[]) {
        // What is written is paid for, however the turn ended.
        if let Outcome::Plan {
            title,
            document,
            attached,
            mut notes,
        } = look(&came)
        {
            notes.insert(
                0,
                sentences::cut_short(&about_agents::ended(&came.ending).1),
            );
            return Step::Plan {
                title,
                document,
                attached,
                notes,
            };
        }
        turns::keep(work, &came);
    }
    work.faults = work.faults.saturating_add(1);
    if meaning == Meaning::Final || work.faults >= tries {
        work.faults = 0;
        return Step::Failed(Box::new(came));
    }
    Step::Wait(work.faults)
}

/// What the agent said and wrote; `None` when that is nothing at all.
fn judge(work: &mut Work, came: &Report, rounds: u32) -> Option<Step> {
    let (result, structured) = match &came.ending {
        Ending::Success {
            text, structured, ..
        } => (Some(text.as_str()), structured.as_ref()),
        _ => (None, None),
    };
    let gathered = collect_questions(&came.texts, structured);
    let (questions, mut lost) = (gathered.questions, gathered.lost);
    let mut late = Vec::new();
    if turns::obeyed(&work.canary, came, &questions) {
        // Nor is anything of its session used later on.
        turns::begin_again(work);
        return Some(Step::Obeyed);
    }
    let end = match result.filter(|text| !text.trim().is_empty()) {
        Some(text) => TurnEnd::Text(text),
        None => TurnEnd::NoResult,
    };
    match next_step(end, questions, rounds) {
        NextStep::Ask(questions) => {
            turns::not_asked(work, lost, rounds);
            work.rounds.push(Round {
                answers: vec![None; questions.len()],
                questions,
                ..Round::default()
            });
            return Some(Step::Ask);
        }
        NextStep::Nothing | NextStep::Failed if !holds_plan(came) && lost.is_empty() => {
            return None;
        }
        NextStep::TooManyRounds(questions) => late.extend(too_late_notices(&questions)),
        // What an agent writes counts, whatever it says beside it.
        NextStep::Nothing | NextStep::Failed | NextStep::Done(_) => {}
    }
    turns::keep(work, came);
    match look(came) {
        Outcome::Plan {
            title,
            document,
            attached,
            mut notes,
        } => {
            let mut unasked = std::mem::take(&mut work.unasked);
            unasked.append(&mut lost);
            unasked.append(&mut late);
            notes.extend(about_agents::unasked(&unasked));
            Some(Step::Plan {
                title,
                document,
                attached,
                notes,
            })
        }
        Outcome::Wrong { draft, faults } => {
            if draft.is_none() && !lost.is_empty() {
                turns::ask_again(work, lost);
            } else {
                let lost = lost.into_iter().map(Fault::from);
                turns::complain(work, draft, lost.chain(faults).collect());
            }
            Some(match &work.next {
                Next::Nothing { why } => Step::GivenUp { why: why.clone() },
                _ => Step::Again,
            })
        }
    }
}

/// The answer to question `at` of the open round; `None` leaves it to the agent. When it was the last one, the agent is
/// told.
pub fn answered(work: &mut Work, at: usize, answer: Option<Answer>) {
    let Some(round) = work.rounds.last_mut() else {
        return;
    };
    match round.answers.get_mut(at) {
        Some(slot) if answer.is_some() => *slot = answer,
        _ => round.skipped.push(at),
    }
    if round.open().is_empty() {
        round.closed = true;
        work.next = Next::Answers;
    }
}

/// Nobody answers the open round, and nobody is asked any more.
pub fn left_open(work: &mut Work) {
    if let Some(round) = work.rounds.last_mut() {
        round.closed = true;
        work.unanswered = true;
        work.next = Next::Unanswered;
    }
}

#[cfg(test)]
mod tests;
