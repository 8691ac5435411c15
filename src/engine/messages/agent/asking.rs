//! Texts for asking people on behalf of the agent, and replies to their answers.

use super::spent;
use crate::engine::messages::{asked, footer, person, unclear};
use crate::engine::model::agent::Spent;
use crate::engine::model::progress::Round;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Origin, Trigger};
use crate::formats::block::quiet;
use crate::formats::question::answer::AnswerError;
use crate::formats::question::boxes;

/// The options for a held run, each with its label and description.
pub const DECISIONS: [(&str, &str); 3] = [
    (
        "Ask the agent again",
        "in a new session; the conversation stays as it was",
    ),
    ("Save the plan as it was found", "without the agent"),
    ("Stop", "nothing is saved"),
];

/// Returns the comment that asks a round of questions.
pub fn questions(
    trigger: &Trigger,
    run: &RunId,
    number: usize,
    round: &Round,
    until: Millis,
) -> String {
    let boxes = boxes::render(&boxes::Round {
        run: &run.0,
        number: u32::try_from(number).unwrap_or(u32::MAX),
        questions: &round.questions,
        own_words: round.by_agent(),
    });
    if round.hold {
        return format!(
            "✋ **The agent followed an instruction in this conversation.** Its answer was \
             discarded, and {} for {} is paused. Somebody may have hidden text here that steers \
             agents: check the conversation first. Then somebody with write access must tick one \
             option and *Send these answers*, or comment, for example, `/answer 1: a`. Without an \
             answer by {} the run fails.\n\n{boxes}",
            asked(trigger),
            person(trigger),
            until.iso()
        );
    }
    if round.which {
        return unclear::asks(trigger, until, &boxes);
    }
    let what = match round.questions.len() {
        1 => "is a question".to_owned(),
        count => format!("are {count} questions"),
    };
    format!(
        "❓ {}, there {what} before the plan for {} can be written. Tick your choices, then *Send \
         these answers*; or comment, for example, `/answer 1: a`. `/answer skip` leaves the open \
         questions to the agent. The requester, or anyone with write access, can answer. Without \
         an answer by {} the plan is saved with its questions open.\n\n{boxes}",
        person(trigger),
        asked(trigger),
        until.iso()
    )
}

/// Returns the final text of the comment that asked: the answers and who gave them.
pub fn concluded(trigger: &Trigger, round: &Round) -> String {
    let open = round.open();
    let by = || quiet(&round.by.join(", "));
    let (first, left) = match (round.hold, open.is_empty()) {
        (true, true) => (
            format!("✅ **Decided by {}.**", by()),
            "No option was chosen",
        ),
        (true, false) => (
            "⌛ **Nobody decided in time**, so the run failed.".to_owned(),
            "Not decided",
        ),
        (false, false) if round.which => (
            "⌛ **Nobody chose a plan in time**, so nothing was saved.".to_owned(),
            "Not chosen",
        ),
        (false, true) if round.answers.iter().all(Option::is_none) => (
            format!("✅ **Left to the agent by {}.**", by()),
            "Left to the agent",
        ),
        (false, true) => (format!("✅ **Answered by {}.**", by()), "Left to the agent"),
        (false, false) => (
            "⌛ **Not all questions were answered in time.** The plan lists the open ones."
                .to_owned(),
            "Not answered",
        ),
    };
    let answers = boxes::answered(&round.questions, &round.answers, &round.whose, left);
    format!(
        "{first} This was asked for {} of {}.\n\n{}",
        asked(trigger),
        person(trigger),
        answers.trim_end()
    )
}

/// Returns the status while a run waits for answers.
pub fn waiting(
    trigger: &Trigger,
    run: &RunId,
    round: &Round,
    until: Millis,
    used: &Spent,
) -> String {
    let place = if round.url.is_empty() {
        "below".to_owned()
    } else {
        format!("in [this comment]({})", round.url)
    };
    let what = if round.hold {
        "paused: somebody with write access must decide".to_owned()
    } else if round.which {
        "it is not clear which plan is meant; waiting for an answer".to_owned()
    } else {
        format!("waiting for answers to {}", open(round))
    };
    let by = if round.hold { "by" } else { "until" };
    let used = spent(used);
    let used = if used.is_empty() {
        String::new()
    } else {
        format!(" Used by the agent so far: {used}.")
    };
    format!(
        "❓ {} for {}: {what} {place}, {by} {}. `/cancel` stops it.{used}\n\n{}",
        asked(trigger),
        person(trigger),
        until.iso(),
        footer(run)
    )
}

/// Returns the reason for waiting as one phrase, for `/plan-status`.
pub fn waits(round: &Round, until: Millis) -> String {
    if round.hold {
        return format!(
            "paused: somebody with write access must decide by {}",
            until.iso()
        );
    }
    format!(
        "waiting for answers to {} until {}",
        open(round),
        until.iso()
    )
}

fn open(round: &Round) -> String {
    match round.open().len() {
        1 => "1 question".to_owned(),
        n => format!("{n} questions"),
    }
}

/// Returns the reminder. It is a separate comment, because edits do not notify anybody.
pub fn reminder(round: &Round, until: Millis) -> String {
    let what = if round.hold {
        "A run is still paused and waiting for a decision".to_owned()
    } else {
        format!(
            "{} still open",
            match round.open().len() {
                1 => "1 question is".to_owned(),
                n => format!("{n} questions are"),
            }
        )
    };
    format!(
        "⏰ {what} in [this comment]({}). Answer by {}.",
        round.url,
        until.iso()
    )
}

/// Returns the reply to `/answer` if no question is open.
pub fn nothing_asked(trigger: &Trigger) -> String {
    format!(
        "😕 {}: the bot has no open questions here.",
        person(trigger)
    )
}

/// Returns the reply to `/answer` by somebody who may not answer.
pub fn may_not_answer(trigger: &Trigger, hold: bool) -> String {
    let who = if hold {
        "only people with write access can decide about a paused run"
    } else {
        "only the requester and people with write access can answer these questions"
    };
    format!("😕 {}: {who}.", person(trigger))
}

/// Returns the reply to an `/answer` that cannot be parsed.
pub fn bad_answer(trigger: &Trigger, error: &AnswerError) -> String {
    format!(
        "😕 {}: {}{}",
        person(trigger),
        quiet(&error.to_string()),
        sent_again(trigger)
    )
}

/// Returns how to send ticked boxes again; empty for answers in a comment.
fn sent_again(trigger: &Trigger) -> &'static str {
    match trigger.origin {
        Origin::Boxes { .. } => {
            " *Send these answers* is unticked again; your choices are kept, so you can change them and send again."
        }
        _ => "",
    }
}

/// Returns the reply to an answer that does not choose an option of a held run.
pub fn no_decision(trigger: &Trigger) -> String {
    format!(
        "😕 {}: this question needs one of its options, not free text or `skip`. Comment, for example, \
         `/answer 1: a`, or tick one option and *Send these answers*.",
        person(trigger)
    )
}

/// Returns the reply to an answer that leaves questions open.
pub fn partly_answered(trigger: &Trigger, round: &Round) -> String {
    let open: Vec<String> = round.open().iter().map(|at| (at + 1).to_string()).collect();
    let (noun, verb) = if open.len() == 1 {
        ("Question", "is")
    } else {
        ("Questions", "are")
    };
    format!(
        "✍️ Noted, {}. {noun} {} {verb} still open; `/answer skip` continues without an answer.{}",
        person(trigger),
        open.join(", "),
        sent_again(trigger)
    )
}
