//! The slash commands, one module each: what a command does and what it says.
//!
//! [`handler`] is the one place where a command is dispatched. What is typed, who may type it and
//! which label stands for it is in `formats::command::REGISTRY`.

mod answer;
pub(super) mod cancel;
mod check_plan;
pub(super) mod help;
mod plan;
mod research;
pub(super) mod retry;
mod save_plan;
mod save_raw_plan;
pub(super) mod status;

use futures_util::future::BoxFuture;

use super::effects::Stop;
use super::forge::Reaction;
use super::say::{failures, replies};
use super::services::Services;
use super::steps::authorise::Authorised;
use super::steps::prepare::{self, Ready};
use super::steps::{Context, publish, report};
use super::stop::StopFlag;
use super::store::{AuditEntry, EffectState};
use crate::engine::model::trigger::Trigger;
use crate::formats::command::{Command, Permission};

pub use answer::waits_at;
pub use check_plan::CHECK_RUN;

/// What a command works with.
pub(super) struct CommandRun<'a> {
    /// Store, GitHub, clock, agent.
    pub(super) parts: &'a Services,
    /// The run.
    pub(super) context: &'a mut Context,
    /// Set when somebody cancels the run.
    pub(super) stop: &'a StopFlag,
    /// Proof that the sender has the permission.
    pub(super) allowed: &'a Authorised,
}

/// How a command is carried out.
enum Handler {
    /// It reports its own progress and result.
    Run(for<'a, 'b> fn(&'a mut CommandRun<'b>) -> BoxFuture<'a, Result<(), Stop>>),
    /// It answers with a text. Several of these in one comment are answered together.
    Reply(for<'a> fn(&'a Context) -> BoxFuture<'a, Result<String, Stop>>),
}

/// Every command and the function that carries it out.
fn handler(command: Command) -> Handler {
    match command {
        Command::SavePlan => Handler::Run(|run| Box::pin(save_plan::run(run))),
        Command::SaveRawPlan => Handler::Run(|run| Box::pin(save_raw_plan::run(run))),
        Command::Plan => Handler::Run(|run| Box::pin(plan::run(run))),
        Command::Research => Handler::Run(|run| Box::pin(research::run(run))),
        Command::CheckPlan => Handler::Run(|run| Box::pin(check_plan::run(run))),
        Command::Answer => Handler::Run(|run| Box::pin(answer::run(run))),
        Command::Cancel => Handler::Reply(|context| Box::pin(cancel::reply(context))),
        Command::Retry => Handler::Reply(|context| Box::pin(retry::reply(context))),
        Command::Status => Handler::Reply(|context| Box::pin(status::reply(context))),
        Command::Help => {
            Handler::Reply(|context| Box::pin(async { Ok(help::text(&context.settings.labels)) }))
        }
    }
}

/// Carries out the command of a run whose sender has the permission.
///
/// # Errors
/// [`Stop`] with what ends the run or makes it wait.
pub(super) async fn run(mut run: CommandRun<'_>) -> Result<(), Stop> {
    match handler(run.context.trigger.command) {
        Handler::Run(carry_out) => carry_out(&mut run).await,
        Handler::Reply(_) => reply(run.context, run.allowed).await,
    }
}

/// Answers all commands of the comment that reply with a text, in one comment.
async fn reply(context: &mut Context, allowed: &Authorised) -> Result<(), Stop> {
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
            match handler(command) {
                Handler::Reply(reply) => reply(context).await?,
                // Only commands that reply come together.
                Handler::Run(_) => continue,
            }
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

/// Changes the store once, and records the text that says what was done: a repeated attempt posts the
/// same text although there is nothing left to change.
///
/// # Errors
/// The store fails.
async fn once<F>(context: &Context, command: Command, act: F) -> Result<String, Stop>
where
    F: Future<Output = Result<String, Stop>> + Send,
{
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

/// Makes a plan ready to be saved, or finds that it is saved already.
type WorkOut = for<'a, 'b> fn(&'a mut CommandRun<'b>) -> BoxFuture<'a, Result<Ready, Stop>>;

/// Saves the plan that `work_out` makes ready, and reports it.
async fn save(run: &mut CommandRun<'_>, work_out: WorkOut) -> Result<(), Stop> {
    let ready = if let Some(ready) = prepare::begun(run.context) {
        ready
    } else {
        run.stop.heed()?;
        let ready = work_out(run).await?;
        prepare::remember(run.context, &ready).await?;
        ready
    };
    let prepared = match prepare::unless_saved(run.context, ready).await? {
        Ready::Plan(prepared) => prepared,
        Ready::Known(known) => {
            report::known(run.context, &known).await?;
            run.context.audit("saved before", &known.issue.url).await?;
            return Ok(());
        }
    };
    if !run.context.progress.publishing {
        // Once the issue may exist the run goes through: half a plan helps nobody.
        run.stop.heed()?;
    }
    let saved = publish::publish(run.context, &prepared, run.allowed).await?;
    report::saved(run.context, &saved).await?;
    run.context.audit("saved", &saved.url).await?;
    Ok(())
}
