//! Commands that answer at once: `/plan-help`, `/plan-status`, `/cancel`, `/retry`.

use super::super::effects::Stop;
use super::super::forge::Reaction;
use super::super::say::{failures, replies};
use super::super::store::AuditEntry;
use super::authorise::Authorised;
use super::{Context, report};
use crate::formats::command::Command;

/// How many runs `/plan-status` lists.
const LISTED: u32 = 10;

/// Answers a control command with one comment.
///
/// The answer of `/cancel` and `/retry` is recorded as an effect before it is posted, so a repeated attempt says the same
/// even though there is nothing left to stop or to requeue.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn answer(context: &mut Context, _allowed: &Authorised) -> Result<(), Stop> {
    let place = context.trigger.place.key();
    let store = context.effects.store.clone();
    let body = match context.trigger.command {
        Command::Help => replies::help(&context.settings.labels),
        Command::Status => replies::status(&store.runs_at(&place, LISTED).await?),
        Command::Cancel => {
            decide(context, "cancel", async {
                let by = &context.trigger.actor.login;
                let stopped = store.request_cancel(&place, context.run(), by).await?;
                Ok(replies::cancelling(&stopped))
            })
            .await?
        }
        Command::Retry => {
            decide(context, "retry", async {
                let run = store.requeue_failed(&place).await?;
                Ok(replies::retrying(run.as_ref()))
            })
            .await?
        }
        Command::SavePlan
        | Command::SaveRawPlan
        | Command::Plan
        | Command::Research
        | Command::CheckPlan
        | Command::Answer => return Ok(()),
    };
    let refused = report::reply(context, &body, Reaction::Rocket).await?;
    match (refused, context.trigger.command) {
        (Some(error), Command::Help | Command::Status) => {
            let failure = failures::refused(&error, &context.trigger.place);
            Err(Stop::Failed(failure))
        }
        // It is done, whether or not that could be said.
        _ => Ok(()),
    }
}

/// Does something in the store once and keeps the sentence that says what was done.
async fn decide<F>(context: &Context, key: &str, act: F) -> Result<String, Stop>
where
    F: Future<Output = Result<String, Stop>> + Send,
{
    use super::super::store::EffectState;
    let effects = &context.effects;
    let key = &format!("{key}-{}", context.round);
    let now = effects.clock.now();
    if let EffectState::Done(said) = effects.store.begin_effect(&effects.lease, key, now).await? {
        return Ok(said);
    }
    let said = act.await?;
    effects
        .store
        .end_effect(&effects.lease, key, &said, now)
        .await?;
    effects
        .store
        .audit(AuditEntry {
            at: now,
            run: Some(context.run().clone()),
            guid: None,
            actor: context.trigger.actor.login.clone(),
            decision: context.trigger.command.name().to_owned(),
            why: said.clone(),
        })
        .await?;
    Ok(said)
}
