//! What an agent is asked at its next turn, and what an ended turn comes to, by what is remembered: decisions that the bot
//! ([`super::steps::enrich`]) and the terminal ([`super::planner`]) share. Pure.

use super::agent::{Document, Ending, Limit, Report};
use super::progress::{Fault, Next, Work};
use super::prompt::{self, Answered, Form, new_words, obeys};
use super::say::agent as sentences;
use super::steps::planning::FILES;
use crate::formats::agent_stream::{ErrorClass, classify};
use crate::formats::question::Question;

/// Corrections that are asked for, the second one stricter, before the answer is given up.
pub const CORRECTIONS: u32 = 2;

/// What is asked in a session that knows everything so far; `None` where there was no earlier turn.
pub fn later(work: &Work, rounds: u32, goes_on: bool, form: Form) -> Option<String> {
    let last = || work.answered().pop().unwrap_or_default();
    match &work.next {
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
    }
}

/// What the agent is told of questions that people were not asked; empty where there are none.
fn unasked(work: &Work) -> String {
    if work.lost.is_empty() {
        return String::new();
    }
    format!("\n{}", prompt::unasked(&work.lost))
}

/// The prompt after a round that was not answered in time, or in part only. A session that goes on has not been told that
/// part yet; a new one is told it with everything else.
fn unanswered(nonce: &str, last: &Answered, goes_on: bool, form: Form) -> String {
    let open = last.iter().filter(|(_, answer)| answer.is_none());
    let open: Vec<_> = open.map(|(question, _)| question.clone()).collect();
    let finish = prompt::unanswered(&open, form);
    if goes_on && open.len() < last.len() {
        return format!("{}\n\n{finish}", prompt::answers(nonce, last, 0, form));
    }
    finish
}

/// The rounds that a session that begins anew is told of; `later` is what [`later`] gave.
pub fn earlier(work: &Work, later: Option<&String>) -> Vec<Answered> {
    match later {
        None if work.asked_rounds() == 0 => Vec::new(),
        _ => work.answered(),
    }
}

/// The prompt of a session that begins anew: `first` tells everything, and behind it stands what is asked now.
pub fn anew(work: &Work, mut first: String, later: Option<String>) -> String {
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

/// Keeps the planner's own files: they stand there at its next turn, too.
pub fn keep(work: &mut Work, came: &Report) {
    let known = |file: &&Document| FILES.contains(&file.path.as_str());
    work.written = came.files.iter().filter(known).cloned().collect();
}

/// Whether the agent wrote the word that only an instruction in the data asks for, also escaped within its questions.
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

/// The answer does not hold: it is asked for again, or given up.
pub fn complain(work: &mut Work, draft: Option<String>, faults: Vec<Fault>) {
    if draft.is_some() {
        work.draft = draft;
    }
    if work.corrections < CORRECTIONS {
        work.corrections += 1;
        let complaints = faults.into_iter().map(|fault| fault.told).collect();
        work.next = Next::Correct { complaints };
    } else {
        work.next = Next::Nothing {
            why: sentences::does_not_hold(&faults),
        };
    }
}

/// The agent's questions cannot be read: it is told so and may ask again, or they are given up.
pub fn ask_again(work: &mut Work, lost: Vec<String>) {
    if work.corrections < CORRECTIONS {
        work.corrections += 1;
        work.next = Next::AskAgain { lost };
    } else {
        let faults: Vec<Fault> = lost.into_iter().map(Fault::from).collect();
        work.next = Next::Nothing {
            why: sentences::does_not_hold(&faults),
        };
    }
}

/// People are asked a round, but for what is in `lost`: the agent is told, and people where this
/// was the last of the `rounds` that were left.
pub fn not_asked(work: &mut Work, lost: Vec<String>, rounds: u32) {
    if rounds <= 1 {
        work.unasked.extend(lost.iter().cloned());
    }
    work.lost = lost;
}

/// What a turn that brought no answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The session is gone: everything said so far is told to a new one.
    Anew,
    /// It may pass: worth another try.
    Passing,
    /// Another try would not help.
    Final,
}

/// What an ending without an answer means; `resumed`: the turn went on with an earlier session.
pub fn meaning(ending: &Ending, resumed: bool) -> Meaning {
    match ending {
        Ending::SessionLost if resumed => Meaning::Anew,
        Ending::AgentError {
            message, status, ..
        } => match classify(message, *status) {
            ErrorClass::SessionExpired if resumed => Meaning::Anew,
            ErrorClass::Transient => Meaning::Passing,
            _ => Meaning::Final,
        },
        // Two of twelve hang when several run at once (anthropics/claude-code#39700): worth another try.
        Ending::Limited(Limit::Silence)
        | Ending::ProcessError { .. }
        | Ending::NoResult
        | Ending::Success { .. } => Meaning::Passing,
        _ => Meaning::Final,
    }
}

/// A new conversation with the agent: other words, no session.
pub fn begin_again(work: &mut Work) {
    renew_words(work);
    work.forget_session();
    work.next = Next::Plan;
    work.corrections = 0;
    work.draft = None;
    // What an agent wrote that obeyed the data is not for the next one.
    work.written.clear();
}

/// New unguessable words.
pub fn renew_words(work: &mut Work) {
    (work.nonce, work.canary) = new_words();
}
