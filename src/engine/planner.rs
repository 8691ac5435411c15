//! The conversation with a planning agent as a state machine without I/O. It determines the next
//! request to the agent and evaluates finished turns.
//!
//! The state is [`AgentState`], which is stored with the run. The events are a finished turn
//! ([`turn_ended`]), a text that failed its checks ([`reject`]) and answers to questions
//! ([`answered`], [`left_open`]). The result is the next [`Step`], which a driver carries out: it
//! starts agents, asks people, waits and saves. There are two drivers, `steps::enrich` on GitHub
//! and `planwright plan` at a terminal.
//!
//! ```text
//! turn ─▶ questions? ─▶ people ─────┐
//!   ▲  └─▶ text or files: check ─▶ plan
//!   └──── correction (twice) ◀──────┘
//! ```

mod files;
#[cfg(test)]
mod tests;

use super::messages::agent as sentences;
use super::prompt::{self, Answered, Form, PlanPromptInput, new_words, obeys};
use crate::engine::model::agent::{Document, Ending, Limit, Report, Session};
use crate::engine::model::progress::{AgentState, Fault, Next, Round, TurnResult};
use crate::formats::agent_stream::{ErrorClass, classify};
use crate::formats::question::marker::without_markers;
use crate::formats::question::turn::{
    NextStep, TurnEnd, collect_questions, next_step, too_late_notices,
};
use crate::formats::question::{Answer, Question};

pub use files::{CONTEXT, FILES, PLAN, PlanFiles, RESEARCH, Rejected, read_files};

/// Maximum number of corrections requested from an agent before its answer is given up. The second
/// request is worded more strictly.
pub const MAX_CORRECTIONS: u32 = 2;

/// The next action of a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Ask people the questions of the last round in [`AgentState::rounds`].
    Ask,
    /// Send the request in [`AgentState::next`] to the agent now.
    Again,
    /// Send the request to the agent after the backoff for this number of consecutive faults.
    Wait(u32),
    /// Save the plan found in the planner's files.
    Plan {
        /// The plan.
        files: PlanFiles,
        /// Questions of the agent that were not posted, one sentence each.
        unasked: Vec<String>,
    },
    /// Save the plan found in the planner's files, although the turn did not end successfully.
    Rescued {
        /// The plan.
        files: PlanFiles,
        /// How the turn ended.
        ending: Ending,
    },
    /// Check whether this text of the agent is the plan; call [`reject`] if it is not.
    Check {
        /// The text.
        text: String,
        /// Questions of the agent that could not be read, one sentence each.
        unreadable: Vec<String>,
        /// Questions asked after the last permitted round, one sentence each.
        late: Vec<String>,
    },
    /// The agent followed an instruction in the data. Its answer is discarded, and the next turn
    /// starts a new session.
    Obeyed,
    /// All [`MAX_CORRECTIONS`] corrections have been used. [`AgentState::draft`] contains the last
    /// rejected answer.
    GivenUp {
        /// The reason, as one phrase.
        why: String,
    },
    /// The agent failed, and a retry would not help or has been made.
    Failed(Box<Report>),
}

/// Returns how many of `most` rounds of questions the agent may still ask.
pub fn rounds_left(work: &AgentState, most: u32) -> u32 {
    if work.unanswered {
        return 0;
    }
    most.saturating_sub(work.asked_rounds())
}

/// Returns the planner's next prompt. `goes_on`: the session is resumed and has the full context.
pub fn ask(work: &AgentState, given: &PlanPromptInput<'_>, goes_on: bool) -> String {
    let later = follow_up(work, given.rounds, goes_on, given.form());
    if let (true, Some(later)) = (goes_on, &later) {
        return later.clone();
    }
    let earlier = earlier_rounds(work, later.as_ref());
    restarted(work, prompt::plan(given, &earlier), later)
}

/// Returns the prompt for a session that has the full context; `None` if there is none yet.
pub fn follow_up(work: &AgentState, rounds: u32, goes_on: bool, form: Form) -> Option<String> {
    let last = || work.answered().pop().unwrap_or_default();
    let later = match &work.next {
        Next::Plan | Next::Nothing { .. } => None,
        Next::Answers => {
            let told = prompt::answers(&work.nonce, &last(), rounds, form);
            Some(told + &unasked(work))
        }
        Next::AskAgain { lost } => Some(prompt::ask_again(lost, rounds)),
        Next::Unanswered => Some(unanswered(&work.nonce, &last(), goes_on, form)),
        Next::Correct { complaints } => {
            let strict = work.corrections > 1;
            Some(match form {
                Form::Extracted => prompt::correction(complaints, strict),
                form => prompt::corrected(form, complaints, strict),
            })
        }
    };
    if goes_on && work.interrupted {
        return Some(prompt::go_on(later.as_deref()));
    }
    later
}

/// Returns the message for the agent about questions that were not posted; empty if there are none.
fn unasked(work: &AgentState) -> String {
    if work.lost.is_empty() {
        return String::new();
    }
    format!("\n{}", prompt::unasked(&work.lost))
}

/// Returns the prompt after a round that was not or only partly answered in time. A resumed session
/// is given the partial answers here; a new session receives them with the full context.
fn unanswered(nonce: &str, last: &Answered, goes_on: bool, form: Form) -> String {
    let open = last.iter().filter(|(_, answer)| answer.is_none());
    let open: Vec<_> = open.map(|(question, _)| question.clone()).collect();
    let finish = prompt::unanswered(&open, form);
    if goes_on && open.len() < last.len() {
        return format!("{}\n\n{finish}", prompt::answers(nonce, last, 0, form));
    }
    finish
}

/// Returns the rounds of questions that a new session is told about; `later` is the result of
/// [`follow_up`].
pub fn earlier_rounds(work: &AgentState, later: Option<&String>) -> Vec<Answered> {
    match later {
        None if work.asked_rounds() == 0 => Vec::new(),
        _ => work.answered(),
    }
}

/// Returns the first prompt of a new session: the full context in `first`, followed by the current
/// request.
pub fn restarted(work: &AgentState, mut first: String, later: Option<String>) -> String {
    match (&work.next, &work.draft, later) {
        (Next::Correct { .. }, Some(draft), Some(later)) => {
            first.push_str(&prompt::draft(&work.nonce, draft));
            first.push_str(&later);
        }
        (Next::Correct { .. } | Next::Unanswered | Next::AskAgain { .. }, _, Some(later)) => {
            first.push_str("\n\n");
            first.push_str(&later);
        }
        (Next::Answers, ..) => first.push_str(&unasked(work)),
        _ => {}
    }
    first
}

/// Processes a finished turn. `rounds` is the number of rounds of questions left, `tries` the
/// maximum number of attempts per turn.
pub fn turn_ended(work: &mut AgentState, came: TurnResult, rounds: u32, tries: u32) -> Step {
    work.interrupted = false;
    let resumed = matches!(came.session, Session::Resume(_));
    let (Session::New(id) | Session::Resume(id)) = came.session;
    let report = came.report;
    let usable = work.brief.is_some() && !obeyed(&work.canary, &report, &[]);
    if usable {
        keep(work, &report);
    }
    match &report.ending {
        Ending::Success { denials, .. } => {
            work.session = report.session.clone().or(Some(id));
            work.session_cost = report.spent.session_cost;
            work.denials = work.denials.saturating_add(*denials);
            // Reset only if the turn produced an answer; otherwise an agent without output would be
            // retried forever.
            let faults = std::mem::take(&mut work.faults);
            if let Some(step) = answer(work, &report, rounds) {
                return step;
            }
            work.faults = faults;
        }
        Ending::NoResult => {
            // The output may consist of a question alone. Such a session can be resumed.
            let before = std::mem::replace(&mut work.session, report.session.clone());
            if let Some(step) = answer(work, &report, rounds) {
                return step;
            }
            work.session = before;
        }
        _ => {}
    }
    let decision = classify_ending(&report.ending, resumed);
    if decision == RetryDecision::RestartSession {
        work.forget_session();
        return Step::Again;
    }
    // The files have been paid for, so use them however the turn ended.
    if usable && let Ok(files) = read_files(&report) {
        let ending = report.ending;
        return Step::Rescued { files, ending };
    }
    work.faults = work.faults.saturating_add(1);
    if decision == RetryDecision::GiveUp || work.faults >= tries {
        work.faults = 0;
        return Step::Failed(Box::new(report));
    }
    Step::Wait(work.faults)
}

/// Processes a turn that was stopped before its end and is to be continued. It does not count as a
/// failure.
pub fn interrupted(work: &mut AgentState, report: &Report) {
    // Without an id, the program was not started.
    if let Some(id) = &report.session {
        work.session = Some(id.clone());
        work.interrupted = true;
        if work.brief.is_some() && !obeyed(&work.canary, report, &[]) {
            keep(work, report);
        }
    }
}

/// Evaluates the agent's texts and files; `None` if there are none.
fn answer(work: &mut AgentState, report: &Report, rounds: u32) -> Option<Step> {
    let (result, structured) = match &report.ending {
        Ending::Success {
            text, structured, ..
        } => (Some(text.as_str()), structured.as_ref()),
        _ => (None, None),
    };
    let gathered = collect_questions(&report.texts, structured);
    let (questions, unreadable) = (gathered.questions, gathered.lost);
    if obeyed(&work.canary, report, &questions) {
        restart(work);
        return Some(Step::Obeyed);
    }
    let plan = structured.and_then(|value| value.get("plan")?.as_str());
    let said = [plan, result].into_iter().flatten();
    let said = said.into_iter().find(|text| !text.trim().is_empty());
    let mut late = Vec::new();
    let text = match next_step(
        said.map_or(TurnEnd::NoResult, TurnEnd::Text),
        questions,
        rounds,
    ) {
        NextStep::Ask(questions) => {
            not_asked(work, unreadable, rounds);
            work.rounds.push(Round {
                answers: vec![None; questions.len()],
                questions,
                ..Round::default()
            });
            return Some(Step::Ask);
        }
        NextStep::Done(text) => text,
        // The agent has used all its rounds, so use the rest of its text.
        NextStep::TooManyRounds(questions) => {
            late.extend(too_late_notices(&questions));
            without_markers(said.unwrap_or_default())
        }
        // The files take precedence over the agent's text.
        NextStep::Nothing | NextStep::Failed
            if work.brief.is_some() && files::holds_plan(report) =>
        {
            String::new()
        }
        NextStep::Nothing if !unreadable.is_empty() => return Some(ask_again(work, unreadable)),
        NextStep::Nothing | NextStep::Failed => return None,
    };
    if work.brief.is_none() {
        return Some(Step::Check {
            text,
            unreadable,
            late,
        });
    }
    Some(match read_files(report) {
        Ok(files) => {
            let unasked = [unreadable, late].concat();
            Step::Plan { files, unasked }
        }
        Err(rejected) => {
            let is_plan = rejected.draft.is_some();
            reject(work, rejected, is_plan, unreadable)
        }
    })
}

/// Requests a correction of an answer that failed the checks, or gives it up. `is_plan`: the draft
/// could be saved as a plan nevertheless. `unreadable`: questions that could not be read, one
/// sentence each.
pub fn reject(
    work: &mut AgentState,
    rejected: Rejected,
    is_plan: bool,
    unreadable: Vec<String>,
) -> Step {
    // If the agent tried to ask, its text is not meant to be the plan.
    if !unreadable.is_empty() && !is_plan {
        return ask_again(work, unreadable);
    }
    if rejected.draft.is_some() {
        work.draft = rejected.draft;
    }
    let faults = unreadable.into_iter().map(Fault::from);
    let faults: Vec<Fault> = faults.chain(rejected.faults).collect();
    correct(work, faults, |faults| Next::Correct {
        complaints: faults.into_iter().map(|fault| fault.for_agent).collect(),
    })
}

/// Tells the agent that its questions could not be read and lets it ask again, or gives up.
fn ask_again(work: &mut AgentState, unreadable: Vec<String>) -> Step {
    let faults = unreadable.into_iter().map(Fault::from).collect();
    correct(work, faults, |faults| Next::AskAgain {
        lost: faults.into_iter().map(|fault| fault.for_agent).collect(),
    })
}

/// Requests another correction if one is left.
fn correct(work: &mut AgentState, faults: Vec<Fault>, ask: fn(Vec<Fault>) -> Next) -> Step {
    if work.corrections < MAX_CORRECTIONS {
        work.corrections += 1;
        work.next = ask(faults);
        return Step::Again;
    }
    let why = sentences::answer_rejected(&faults);
    work.next = Next::Nothing { why: why.clone() };
    Step::GivenUp { why }
}

/// Records the answer to question `at` of the open round; `None` leaves it to the agent. After the
/// last question, the answers become the next request to the agent.
pub fn answered(work: &mut AgentState, at: usize, answer: Option<Answer>) {
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

/// Closes the open round without answers and asks no further questions.
pub fn left_open(work: &mut AgentState) {
    if let Some(round) = work.rounds.last_mut() {
        round.closed = true;
        work.unanswered = true;
        work.next = Next::Unanswered;
    }
}

/// Keeps the planner's own files so that its next turn finds them again.
fn keep(work: &mut AgentState, came: &Report) {
    let known = |file: &&Document| FILES.contains(&file.path.as_str());
    work.written = came.files.iter().filter(known).cloned().collect();
}

/// Whether the agent wrote the canary word, which only an instruction in the data asks for. Also
/// finds it in escaped form within the questions.
pub fn obeyed(canary: &str, came: &Report, questions: &[Question]) -> bool {
    let (result, structured) = match &came.ending {
        Ending::Success {
            text, structured, ..
        } => (Some(text.as_str()), structured.as_ref()),
        _ => (None, None),
    };
    let structured = structured.map(ToString::to_string).unwrap_or_default();
    let asked = serde_json::to_string(questions).unwrap_or_default();
    let said = came.texts.iter().map(String::as_str).chain(result);
    let files = came.files.iter().flat_map(|file| [&file.path, &file.text]);
    let wrote = came.wrote.iter().flat_map(|one| [&one.path, &one.text]);
    let said = said.chain(files.chain(wrote).map(String::as_str));
    obeys(canary, said.chain([structured.as_str(), asked.as_str()]))
}

/// Records the questions in `lost`, which were not posted with this round because they could not be
/// read. The agent is told about them, and people too if this was the last of the remaining
/// `rounds`.
fn not_asked(work: &mut AgentState, lost: Vec<String>, rounds: u32) {
    if rounds <= 1 {
        work.unasked.extend(lost.iter().cloned());
    }
    work.lost = lost;
}

/// Whether a turn without an answer should be retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// Start a new session with the full context, because the old one is gone.
    RestartSession,
    /// Retry, because the failure may be transient.
    Retry,
    /// Give up, because a retry would not help.
    GiveUp,
}

/// Decides how to continue after an ending without an answer. `resumed`: the turn continued an
/// earlier session.
pub fn classify_ending(ending: &Ending, resumed: bool) -> RetryDecision {
    match ending {
        Ending::SessionLost if resumed => RetryDecision::RestartSession,
        Ending::AgentError {
            message, status, ..
        } => match classify(message, *status) {
            ErrorClass::SessionExpired if resumed => RetryDecision::RestartSession,
            ErrorClass::Transient => RetryDecision::Retry,
            _ => RetryDecision::GiveUp,
        },
        // Agents started in parallel sometimes hang (two of twelve in
        // anthropics/claude-code#39700).
        Ending::Limited(Limit::Silence)
        | Ending::ProcessError { .. }
        | Ending::NoResult
        // If the run itself was cancelled, the driver has already stopped.
        | Ending::Cancelled
        | Ending::Success { .. } => RetryDecision::Retry,
        _ => RetryDecision::GiveUp,
    }
}

/// Starts a new conversation with the agent: new delimiters, no session.
pub fn restart(work: &mut AgentState) {
    renew_words(work);
    work.forget_session();
    work.next = Next::Plan;
    work.corrections = 0;
    work.draft = None;
    work.accepted = None;
    // Files of an agent that followed instructions in the data are not given to the next agent.
    work.written.clear();
}

/// Replaces the random words in the delimiters of data.
pub fn renew_words(work: &mut AgentState) {
    (work.nonce, work.canary) = new_words();
}
