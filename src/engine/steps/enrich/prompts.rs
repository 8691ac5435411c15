//! What the agent is asked at a turn, by what is remembered.

use super::super::super::effects::Stop;
use super::super::super::progress::{Next, Work};
use super::super::super::prompt::{self, Answered, Form, Given};
use super::super::super::thread::Thread;
use super::super::{Context, planning};
use super::{read_thread, turn, work};

/// The prompt of this turn. `goes_on`: in a session that knows everything so far; `writes`: the agent has tools to write
/// files with.
///
/// # Errors
/// GitHub does not answer.
pub(super) async fn ask(
    context: &mut Context,
    thread: &mut Option<Thread>,
    goes_on: bool,
    writes: bool,
) -> Result<String, Stop> {
    let rounds = turn::rounds_left(context);
    let work_now = work(context).clone();
    let form = match (&work_now.brief, writes) {
        (None, _) => Form::Extracted,
        (Some(_), true) => Form::Files,
        (Some(_), false) => Form::Printed,
    };
    let later = later(&work_now, rounds, goes_on, form);
    if let (true, Some(later)) = (goes_on, &later) {
        return Ok(later.clone());
    }
    let earlier = match &later {
        None if work_now.asked_rounds() == 0 => Vec::new(),
        _ => work_now.answered(),
    };
    let mut prompt = match &work_now.brief {
        Some(brief) => {
            let given = planning::specified(context, &work_now, brief, rounds, writes);
            prompt::plan(&given, &earlier)
        }
        None => {
            let thread = read_thread(context, thread).await?.clone();
            let found = work_now.found.as_ref();
            let given = Given {
                trigger: &context.trigger,
                thread: &thread,
                candidate: found.and_then(|found| found.candidate.as_ref()),
                nonce: &work_now.nonce,
                canary: &work_now.canary,
                rounds,
                most: context.settings.agent.most_prompt,
            };
            if later.is_none() && earlier.is_empty() {
                prompt::first(&given)
            } else {
                prompt::afresh(&given, &earlier)
            }
        }
    };
    match (&work_now.next, &work_now.draft, later) {
        (Next::Correct { .. }, Some(draft), Some(later)) => {
            prompt.push_str(&prompt::draft(&work_now.nonce, draft));
            prompt.push_str(&later);
        }
        (Next::Unanswered, _, Some(later)) => {
            prompt.push_str("\n\n");
            prompt.push_str(&later);
        }
        _ => {}
    }
    Ok(prompt)
}

/// What is asked in a session that knows everything so far; `None` where there was no earlier turn.
fn later(work: &Work, rounds: u32, goes_on: bool, form: Form) -> Option<String> {
    let last = || work.answered().pop().unwrap_or_default();
    match &work.next {
        Next::Plan | Next::Nothing { .. } => None,
        Next::Answers => Some(prompt::answers(&work.nonce, &last(), rounds, form)),
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
