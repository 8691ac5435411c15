//! Asking people on behalf of the agent, and what they are told when they answer.

use super::super::super::agent::Spent;
use super::super::super::clock::Millis;
use super::super::super::progress::Round;
use super::super::super::run::RunId;
use super::super::super::trigger::Trigger;
use super::super::{asked, footer, person, unclear};
use super::spent;
use crate::formats::block::quiet;
use crate::formats::question::answer::AnswerError;
use crate::formats::question::boxes;

/// What can be chosen where a run is held: label and what it means.
pub const DECISIONS: [(&str, &str); 3] = [
    (
        "Ask the agent again",
        "in a new session; the conversation stays as it was",
    ),
    ("Save the plan as it was found", "without the agent"),
    ("Stop", "nothing is saved"),
];

/// The comment that asks a round of questions.
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
    });
    if round.hold {
        return format!(
            "✋ **The agent followed an instruction in this conversation**, so nothing of its answer is used, and {} for {} \
             is held. Somebody may have hidden a text here that steers agents: look at the conversation first. \
             Then somebody with write permission ticks one box and the last one, or comments `/answer 1: a`. \
             Without an answer by {} the run fails.\n\n{boxes}",
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
        "❓ {}, there {what} before the plan for {} can be written. Tick boxes and then the last one, or comment, for \
         example, `/answer 1: a`. `/answer skip` leaves the rest to the agent. Who asked for the plan may answer, and whoever \
         has write permission. Without an answer by {} the plan is saved with its questions open.\n\n{boxes}",
        person(trigger),
        asked(trigger),
        until.iso()
    )
}

/// The status comment while people are asked.
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
        "held: somebody with write permission has to decide".to_owned()
    } else if round.which {
        "it is not clear which plan is meant; waiting for an answer".to_owned()
    } else {
        format!("waiting for answers to {}", open(round))
    };
    let used = spent(used);
    let used = if used.is_empty() {
        String::new()
    } else {
        format!(" So far: {used}.")
    };
    format!(
        "❓ {} for {}: {what} {place}, until {}. `/cancel` stops it.{used}\n\n{}",
        asked(trigger),
        person(trigger),
        until.iso(),
        footer(run)
    )
}

/// The same for `/plan-status`, one phrase.
pub fn waits(round: &Round, until: Millis) -> String {
    if round.hold {
        return format!(
            "held: somebody with write permission has to decide until {}",
            until.iso()
        );
    }
    format!("waits for answers to {} until {}", open(round), until.iso())
}

fn open(round: &Round) -> String {
    match round.open().len() {
        1 => "1 question".to_owned(),
        n => format!("{n} questions"),
    }
}

/// The reminder. A comment of its own: an edit tells nobody.
pub fn reminder(round: &Round, until: Millis) -> String {
    let what = if round.hold {
        "A run is still held and waits for a decision".to_owned()
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
        "⏰ {what} in [this comment]({}). It counts until {}.",
        round.url,
        until.iso()
    )
}

/// `/answer` where nothing is asked.
pub fn nothing_asked(trigger: &Trigger) -> String {
    format!(
        "😕 {}: no question of the bot is open here.",
        person(trigger)
    )
}

/// `/answer` by somebody who may not.
pub fn may_not_answer(trigger: &Trigger, hold: bool) -> String {
    let who = if hold {
        "whether a held run goes on is for people with `write` permission"
    } else {
        "these questions are for who asked for the plan, and for people with `write` permission"
    };
    format!("😕 {}: {who}.", person(trigger))
}

/// `/answer` that cannot be read.
pub fn bad_answer(trigger: &Trigger, error: &AnswerError) -> String {
    format!("😕 {}: {}", person(trigger), quiet(&error.to_string()))
}

/// An answer to a held run that chooses nothing.
pub fn no_decision(trigger: &Trigger) -> String {
    format!(
        "😕 {}: a held run needs one of its options, not words. Comment `/answer 1: a`, for example, or tick one box, take \
         the tick off the last one and set it again.",
        person(trigger)
    )
}

/// Some questions are answered, others are not.
pub fn partly_answered(trigger: &Trigger, round: &Round) -> String {
    let open: Vec<String> = round.open().iter().map(|at| (at + 1).to_string()).collect();
    let (noun, verb) = if open.len() == 1 {
        ("question", "is")
    } else {
        ("questions", "are")
    };
    format!(
        "✍️ Noted, {}. Open {verb} {noun} {}; `/answer skip` goes on without.",
        person(trigger),
        open.join(", ")
    )
}
