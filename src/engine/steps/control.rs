//! Commands that answer at once: `/plan-help`, `/plan-status`, `/cancel`, `/retry`.

use super::authorise::Authorised;
use super::{Context, report};
use crate::engine::effects::Stop;
use crate::engine::forge::Reaction;
use crate::engine::model::trigger::Trigger;
use crate::engine::say::{failures, replies};
use crate::engine::store::AuditEntry;
use crate::formats::command::{Command, Permission};

/// How many runs `/plan-status` lists.
const LISTED: u32 = 10;

/// Answers the control commands of a trigger with one comment.
///
/// The answer of `/cancel` and `/retry` is recorded as an effect before it is posted, so a repeated attempt says the same
/// even though there is nothing left to stop or to requeue.
///
/// # Errors
/// GitHub or the store did not do it.
pub async fn answer(context: &mut Context, allowed: &Authorised) -> Result<(), Stop> {
    let has = allowed.has().unwrap_or(Permission::Read);
    let commands: Vec<Command> = context.trigger.commands().collect();
    let mut said = Vec::new();
    for &command in &commands {
        let needs = command.spec().permission;
        said.push(if has < needs {
            let one = Trigger {
                command,
                also: Vec::new(),
                ..context.trigger.clone()
            };
            replies::refusal(&one, allowed.has())
        } else {
            one(context, command).await?
        });
    }
    let refused = report::reply(context, &said.join("\n\n"), Reaction::Rocket).await?;
    let text_only = |command: &Command| matches!(command, Command::Help | Command::Status);
    match refused {
        Some(error) if commands.iter().all(text_only) => {
            let failure = failures::refused(&error, &context.trigger.place);
            Err(Stop::Failed(failure))
        }
        // What else was asked for is done, whether or not that could be said.
        _ => Ok(()),
    }
}

/// The answer to one command.
async fn one(context: &Context, command: Command) -> Result<String, Stop> {
    let place = context.trigger.place.key();
    let store = &context.effects.store;
    Ok(match command {
        Command::Help => replies::help(&context.settings.labels),
        Command::Status => replies::status(&store.runs_at(&place, LISTED).await?),
        Command::Cancel => {
            decide(context, command, async {
                let by = &context.trigger.actor.login;
                let stopped = store.request_cancel(&place, context.run(), by).await?;
                Ok(replies::cancelling(&stopped))
            })
            .await?
        }
        Command::Retry => {
            decide(context, command, async {
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
        | Command::Answer => String::new(),
    })
}

/// Does something in the store once and keeps the sentence that says what was done.
async fn decide<F>(context: &Context, command: Command, act: F) -> Result<String, Stop>
where
    F: Future<Output = Result<String, Stop>> + Send,
{
    use crate::engine::store::EffectState;
    let effects = &context.effects;
    let key = &format!("{}-{}", command.name(), context.round);
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
            decision: command.name().to_owned(),
            why: said.clone(),
        })
        .await?;
    Ok(said)
}
