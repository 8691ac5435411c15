//! `/answer`, and boxes ticked in the bot's own comment: the answers are checked here and sent to
//! the waiting run.

use super::CommandRun;
use crate::engine::effects::StepError;
use crate::engine::forge::Reaction;
use crate::engine::messages::agent as sentences;
use crate::engine::model::progress::{Round, SubmittedAnswers};
use crate::engine::model::run::{RunId, State};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::engine::steps::{Context, report};
use crate::engine::store::{AuditEntry, EffectState, RunView};
use crate::formats::command::Permission;
use crate::formats::question::answer::{self, AnswerError, ParsedAnswers};
use crate::formats::question::{Answer, boxes};

/// Maximum number of runs of the place that are searched for an open question.
const MAX_SEARCHED_RUNS: u32 = 20;

/// A run that waits for answers.
struct Asking {
    run: RunId,
    trigger: Trigger,
    number: usize,
    round: Round,
}

pub(super) async fn run(run: &mut CommandRun<'_>) -> Result<(), StepError> {
    answer(run.context).await
}

/// Sends the answers to the run that asked, and replies with what is still missing.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
async fn answer(context: &mut Context) -> Result<(), StepError> {
    let store = context.effects.store.clone();
    let key = format!("answer-{}", context.round);
    let now = context.effects.clock.now();
    let lease = &context.effects.lease;
    // The decision is stored, so that later attempts only repeat the rest.
    let begun = store.begin_effect(lease, &key, now).await?;
    let said = if let EffectState::Done(said) = begun {
        said
    } else {
        let said = decide(context).await?;
        store.end_effect(lease, &key, &said, now).await?;
        said
    };
    reply(context, &said).await?;
    untick(context).await
}

/// Unticks the box that submits the answers if the round is still open, so that they can be
/// corrected and submitted again.
async fn untick(context: &Context) -> Result<(), StepError> {
    let Origin::Boxes { id, text, .. } = &context.trigger.origin else {
        return Ok(());
    };
    let Some(asking) = asking(context).await? else {
        return Ok(());
    };
    let repo = &context.trigger.place.repo;
    let forge = &context.effects.forge;
    let own = forge
        .own_comments(repo, context.trigger.place.number, asking.trigger.at)
        .await;
    // More boxes may have been ticked since; a stale list is no newer than the webhook payload.
    let now = own.ok().and_then(|own| {
        let body = own.into_iter().find(|one| one.id == *id)?.body;
        boxes::parse(&body).is_some().then_some(body)
    });
    let Some(body) = boxes::unsent(now.as_deref().unwrap_or(text)) else {
        return Ok(());
    };
    let key = format!("untick-{}", context.round);
    let editing = forge.update_comment(repo, *id, &body);
    match context.effects.idempotent(&key, editing).await {
        Err(StepError::Forge(error)) if error.is_refusal() => {
            tracing::info!(run.id = %context.run(), error = %error, "the send checkbox could not be cleared");
            Ok(())
        }
        done => done,
    }
}

/// Replies with `text` and a reaction, or only with the reaction if `text` is empty: the run's
/// status comment goes on.
async fn reply(context: &mut Context, text: &str) -> Result<(), StepError> {
    if text.is_empty() {
        return report::close(context, Reaction::Rocket).await;
    }
    let reaction = if text.starts_with('😕') {
        Reaction::Confused
    } else {
        Reaction::Rocket
    };
    report::reply(context, text, reaction).await?;
    Ok(())
}

async fn decide(context: &Context) -> Result<String, StepError> {
    let Some(asking) = asking(context).await? else {
        return Ok(sentences::nothing_asked(&context.trigger));
    };
    if !may(context, &asking).await? {
        return Ok(sentences::may_not_answer(
            &context.trigger,
            asking.round.hold,
        ));
    }
    let given = match read(&context.trigger, &asking.round) {
        Ok(given) => given,
        Err(error) => return Ok(sentences::bad_answer(&context.trigger, &error)),
    };
    let chosen = |answer: &Answer| !answer.chosen.is_empty();
    if !asking.round.by_agent() && !given.answers.iter().flatten().any(chosen) {
        // A run must not be cancelled because of an answer that cannot be read.
        return Ok(sentences::no_decision(&context.trigger));
    }
    let told = SubmittedAnswers {
        round: asking.number,
        answers: given.answers,
        skipped: given.skipped,
        by: context.trigger.actor.clone(),
    };
    let mut round = asking.round.clone();
    round.take(&told);
    let store = &context.effects.store;
    let message = serde_json::to_string(&told).unwrap_or_default();
    let now = context.effects.clock.now();
    if !store.send_message(&asking.run, &message, now).await? {
        return Ok(sentences::nothing_asked(&context.trigger));
    }
    store
        .audit(AuditEntry {
            at: now,
            run: Some(asking.run.clone()),
            guid: None,
            actor: context.trigger.actor.login.clone(),
            decision: "answered".to_owned(),
            why: format!("round {}", asking.number),
        })
        .await?;
    Ok(if round.closed {
        String::new()
    } else {
        sentences::partly_answered(&context.trigger, &round)
    })
}

/// Returns the run at this place that waits for answers: the one whose boxes were ticked, or else
/// the newest.
async fn asking(context: &Context) -> Result<Option<Asking>, StepError> {
    let place = context.trigger.place.key();
    let store = &context.effects.store;
    let views = store.runs_at(&place, MAX_SEARCHED_RUNS).await?;
    let ticked = match &context.trigger.origin {
        Origin::Boxes { id, text, .. } => Some((*id, boxes::parse(text))),
        _ => None,
    };
    let mut asking = None;
    for view in views.iter().filter(|view| !view.state.is_terminal()) {
        let Some(one) = open(view) else { continue };
        let fits = match &ticked {
            None => true,
            // Everyone with write permission can copy the bot's marker into another of its
            // comments.
            Some((id, Some(boxes))) => {
                one.round.comment == Some(*id)
                    && boxes.run == one.run.0
                    && usize::try_from(boxes.round) == Ok(one.number)
            }
            Some((_, None)) => false,
        };
        if fits {
            asking = Some(one);
            break;
        }
    }
    if let Some(asking) = &mut asking {
        // Include answers that the run has not processed yet.
        for message in store.messages(&asking.run).await? {
            if let Ok(told) = serde_json::from_str::<SubmittedAnswers>(&message)
                && told.round == asking.number
            {
                asking.round.take(&told);
            }
        }
    }
    Ok(asking.filter(|asking| !asking.round.closed))
}

/// Returns which human input a run at this place waits for, as a phrase.
///
/// # Errors
/// Returns an error if the store fails.
pub async fn waits_at(context: &Context) -> Result<Option<String>, StepError> {
    let place = context.trigger.place.key();
    let views = context
        .effects
        .store
        .runs_at(&place, MAX_SEARCHED_RUNS)
        .await?;
    let mut waiting = views.iter().filter(|view| view.state == State::Waiting);
    let asks = waiting.find(|view| open(view).is_some());
    Ok(asks.and_then(|view| view.note.clone()))
}

fn open(view: &RunView) -> Option<Asking> {
    let work = view.progress.as_ref()?.work.as_ref()?;
    let (number, round) = work.open_round()?;
    round.comment?;
    Some(Asking {
        run: view.id.clone(),
        trigger: view.trigger.clone()?,
        number,
        round: round.clone(),
    })
}

/// Returns whether the sender may answer: the person who started the run and people with write
/// permission may answer its questions, but only the latter may decide on a held run.
async fn may(context: &Context, asking: &Asking) -> Result<bool, StepError> {
    let actor = &context.trigger.actor;
    if !asking.round.hold && asking.trigger.actor.id == actor.id {
        return Ok(true);
    }
    let repo = &context.trigger.place.repo;
    let access = context.effects.forge.access(repo, &actor.login).await?;
    let writes = access
        .permission
        .is_some_and(|has| has >= Permission::Write);
    Ok(writes && access.user_id == actor.id)
}

fn read(trigger: &Trigger, round: &Round) -> Result<ParsedAnswers, AnswerError> {
    match &trigger.origin {
        Origin::Boxes { text, .. } => {
            let ticked = boxes::parse(text).ok_or(AnswerError::Nothing)?;
            let answers = boxes::answers(&ticked, &round.questions)?;
            if answers.iter().all(Option::is_none) {
                return Err(AnswerError::Unticked);
            }
            Ok(ParsedAnswers {
                answers,
                skipped: Vec::new(),
            })
        }
        _ => answer::parse(
            trigger.guidance.as_deref().unwrap_or_default(),
            &round.questions,
        ),
    }
}
