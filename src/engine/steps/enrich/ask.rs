//! Questions to people: the comment with the questions, the wait of up to days, the reminder, and
//! the timeout.

use super::{Step, work};
use crate::engine::effects::StepError;
use crate::engine::forge::ForgeError;
use crate::engine::messages::{agent as sentences, unclear};
use crate::engine::model::progress::{Next, Round, SubmittedAnswers, Unclear};
use crate::engine::model::time::Millis;
use crate::engine::steps::{Context, report, verify};
use crate::engine::stop::StopFlag;
use crate::formats::question::{Choice, Question};

/// Indexes of the decisions in [`hold`]'s options.
const AGAIN: usize = 0;
const AS_FOUND: usize = 1;

/// Creates a round from the agent's questions, not yet posted.
pub(super) fn round(questions: Vec<Question>) -> Round {
    Round {
        answers: vec![None; questions.len()],
        questions,
        ..Round::default()
    }
}

/// Creates the round that asks whether to go on after the agent followed instructions in the
/// conversation.
pub(super) fn hold(context: &mut Context) -> Round {
    let found = work(context).found.as_ref();
    let candidate = found.is_some_and(|found| found.candidate.is_some());
    let [again, as_found, stop] = sentences::DECISIONS;
    let decisions = if candidate {
        vec![again, as_found, stop]
    } else {
        vec![again, stop]
    };
    let option = |(label, description): (&str, &str)| Choice {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    let question = Question {
        question: "What should the bot do?".to_owned(),
        header: "Held".to_owned(),
        choice: true,
        multi: false,
        options: decisions.into_iter().map(option).collect(),
    };
    Round {
        hold: true,
        ..round(vec![question])
    }
}

/// Creates the round that asks which of several plans is meant.
pub(super) fn which(unclear: &Unclear) -> Round {
    Round {
        which: true,
        ..round(vec![unclear::question(unclear)])
    }
}

/// Posts the open round, processes the answers given so far, and waits for the rest.
///
/// # Errors
/// Returns [`StepError::Wait`] while answers are missing, [`StepError::Failed`] or
/// [`StepError::Cancelled`] if the answers or the timeout end the run, and [`StepError::Forge`] or
/// [`StepError::Store`] if GitHub or the store fails.
pub(super) async fn wait(context: &mut Context, stop: &StopFlag) -> Result<Step, StepError> {
    let asked = match post(context).await {
        Err(StepError::Forge(error)) if nobody_there(context, &error) => {
            tracing::info!(run.id = %context.run(), error = %error, "the questions could not be posted");
            return expired(context).await;
        }
        done => done?,
    };
    take_answers(context).await?;
    stop.check_cancelled()?;
    let Some((number, round)) = work(context)
        .open_round()
        .map(|(n, round)| (n, round.clone()))
    else {
        return closed(context).await;
    };
    let settings = context.settings.agent.clone();
    let now = context.effects.clock.now();
    let until = asked.plus(settings.answer_within);
    if now >= until {
        return expired(context).await;
    }
    let remind = asked.plus(settings.remind_after);
    let reminds = !settings.remind_after.is_zero() && remind < until;
    if reminds && !round.reminded && now >= remind {
        let body = sentences::reminder(&round, until);
        let key = format!("reminder-{number}");
        match report::comment(context, &key, &body).await {
            Err(StepError::Forge(error)) if nobody_there(context, &error) => {
                tracing::info!(run.id = %context.run(), error = %error, "the reminder could not be posted");
            }
            done => {
                done?;
            }
        }
        if let Some(round) = work(context).rounds.last_mut() {
            round.reminded = true;
        }
        context.remember().await?;
    }
    let spent = work(context).spent;
    let body = sentences::waiting(&context.trigger, context.run(), &round, until, &spent);
    report::show(context, &format!("waiting-{number}"), &body).await?;
    let wake = if reminds && now < remind {
        remind
    } else {
        until
    };
    Err(StepError::Wait {
        until: wake,
        why: sentences::waits(&round, until),
    })
}

/// Returns whether the refusal of a comment means that nobody can be asked: the conversation is
/// locked or deleted.
fn nobody_there(context: &Context, error: &ForgeError) -> bool {
    match error {
        ForgeError::Locked { .. } => true,
        error => error.is_absence() && context.again_at(error).is_none(),
    }
}

/// Posts the open round's comment once, and returns when it was posted.
async fn post(context: &mut Context) -> Result<Millis, StepError> {
    let number = work(context).rounds.len();
    let Some(round) = work(context).rounds.last().cloned() else {
        return Ok(context.effects.clock.now());
    };
    if let (Some(asked), Some(_)) = (round.asked, round.comment) {
        let now = context.effects.clock.now();
        if asked > now {
            // The clock was set back: restart the time to answer from now.
            if let Some(round) = work(context).rounds.last_mut() {
                round.asked = Some(now);
            }
            context.remember().await?;
        }
        return Ok(asked.min(now));
    }
    let within = context.settings.agent.answer_within;
    let until = context.effects.clock.now().plus(within);
    let body = sentences::questions(&context.trigger, context.run(), number, &round, until);
    let key = format!("questions-{number}");
    let posted = report::comment(context, &key, &body).await?;
    let now = context.effects.clock.now();
    if let Some(round) = work(context).rounds.last_mut() {
        round.comment = Some(posted.id());
        posted.url().clone_into(&mut round.url);
        round.asked = Some(now);
    }
    context.progress.outage = None;
    context.remember().await?;
    Ok(now)
}

/// Adds the answers that people have sent since the last attempt to the open round.
///
/// # Errors
/// Returns [`StepError::Store`] if the store fails.
pub(super) async fn take_answers(context: &mut Context) -> Result<(), StepError> {
    let messages = context.effects.store.messages(context.run()).await?;
    let number = work(context).rounds.len();
    let before = work(context).rounds.last().cloned();
    for message in messages {
        match serde_json::from_str::<SubmittedAnswers>(&message) {
            Ok(told) if told.round == number => {
                if let Some(round) = work(context).rounds.last_mut() {
                    round.take(&told);
                }
            }
            // Answers to earlier rounds have been processed already.
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(run.id = %context.run(), error = %error, "a message to the run cannot be read");
            }
        }
    }
    if work(context).rounds.last() != before.as_ref() {
        context.remember().await?;
    }
    Ok(())
}

/// Marks the comment of the last round as concluded once the round is closed, which removes its
/// boxes. Done once; a refusal by GitHub is ignored.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub(super) async fn conclude(context: &mut Context) -> Result<(), StepError> {
    let number = work(context).rounds.len();
    let last = work(context).rounds.last();
    let Some(round) = last
        .filter(|round| round.closed && round.concluded.is_none())
        .cloned()
    else {
        return Ok(());
    };
    if let Some(comment) = round.comment {
        let body = sentences::concluded(&context.trigger, &round);
        let repo = context.home().repo.clone();
        let (key, created) = (
            format!("questions-{number}-concluded"),
            format!("questions-{number}"),
        );
        let edited = context
            .effects
            .edit_comment(&key, &repo, comment, &created, &body)
            .await;
        match edited {
            Err(StepError::Forge(error)) if error.is_refusal() => {
                tracing::info!(run.id = %context.run(), error = %error, "the questions were not marked as answered");
            }
            done => done?,
        }
    }
    let now = context.effects.clock.now();
    if let Some(round) = work(context).rounds.last_mut() {
        round.concluded = Some(now);
    }
    context.remember().await
}

/// Processes a round to which all answers are given.
async fn closed(context: &mut Context) -> Result<Step, StepError> {
    conclude(context).await?;
    let Some(round) = work(context).rounds.last().cloned() else {
        return Ok(Step::Again);
    };
    if round.which {
        return chosen(context, &round).await;
    }
    if !round.hold {
        work(context).next = Next::Answers;
        context.remember().await?;
        return Ok(Step::Again);
    }
    let by = round.by.join(", ");
    let candidate = round.questions.first().is_some_and(|q| q.options.len() > 2);
    let chosen = round.answers.first().cloned().flatten();
    match chosen.and_then(|answer| answer.chosen.first().copied()) {
        // The new session was prepared when the run was held.
        Some(AGAIN) => {}
        Some(AS_FOUND) if candidate => {
            work(context).next = Next::Nothing {
                why: sentences::held_as_found(&by),
            };
        }
        _ => return Err(StepError::Cancelled(by)),
    }
    context.remember().await?;
    Ok(Step::Again)
}

/// Processes the choice among several plans.
async fn chosen(context: &mut Context, round: &Round) -> Result<Step, StepError> {
    let answer = round.answers.first().cloned().flatten();
    let chosen = answer.and_then(|answer| answer.chosen.first().copied());
    let trigger = context.trigger.clone();
    let Some(found) = work(context).found.as_mut() else {
        return Ok(Step::Again);
    };
    let candidate = found.unclear.as_ref().zip(chosen);
    let candidate = candidate.and_then(|(unclear, at)| unclear.among.get(at).cloned());
    let Some(mut candidate) = candidate else {
        // A retry reads the conversation again.
        work(context).found = None;
        context.remember().await?;
        return Err(StepError::Failed(unclear::none_of_these(trigger.command)));
    };
    found.hidden = verify::settle_hidden(&trigger, &mut candidate).map_err(StepError::Failed)?;
    found.notes.push(unclear::chosen(&round.by.join(", ")));
    found.candidate = Some(candidate);
    found.unclear = None;
    context.remember().await?;
    Ok(Step::Again)
}

/// Processes a round that nobody answered in time.
async fn expired(context: &mut Context) -> Result<Step, StepError> {
    let work_now = work(context);
    let Some(round) = work_now.rounds.last_mut() else {
        return Ok(Step::Again);
    };
    round.closed = true;
    if round.which {
        let url = round.url.clone();
        work_now.found = None;
        let failure = unclear::nobody_chose(context.trigger.command, &url);
        context.remember().await?;
        return Err(StepError::Failed(failure));
    }
    if round.hold {
        let url = round.url.clone();
        let failure = sentences::held_for_good(context.trigger.command, &url);
        context.remember().await?;
        conclude(context).await?;
        return Err(StepError::Failed(failure));
    }
    work_now.unanswered = true;
    work_now.next = Next::Unanswered;
    context.remember().await?;
    conclude(context).await?;
    Ok(Step::Again)
}
