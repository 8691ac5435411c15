//! Slash commands, one module each: behaviour and replies.
//!
//! `handler` is the only place where commands are dispatched. The syntax, required permission and
//! label of each command are in `formats::command::REGISTRY`.

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

use super::effects::StepError;
use super::forge::Reaction;
use super::messages::{self, failures, replies};
use super::services::Services;
use super::steps::authorise::Authorised;
use super::steps::prepare::{self, Ready};
use super::steps::report::Reporting;
use super::steps::{Context, publish, report, repository};
use super::stop::StopFlag;
use super::store::{AuditEntry, EffectState};
use super::trace;
use crate::engine::model::trigger::Trigger;
use crate::formats::command::{Command, Permission};

pub use answer::waits_at;
pub use check_plan::CHECK_RUN;

/// Inputs of a command.
pub(super) struct CommandRun<'a> {
    /// Store, GitHub client, clock and agent.
    pub(super) parts: &'a Services,
    /// Context of the run.
    pub(super) context: &'a mut Context,
    /// Flag that is set when someone cancels the run.
    pub(super) stop: &'a StopFlag,
    /// Proof that the sender has the required permission.
    pub(super) allowed: &'a Authorised,
}

/// A function that carries out a command.
type Run = for<'a, 'b> fn(&'a mut CommandRun<'b>) -> BoxFuture<'a, Result<(), StepError>>;

/// How a command is executed.
enum Handler {
    /// The command reports its own progress and result.
    Run(Run, Reporting),
    /// The command replies with a text ([`Execution::Reply`]).
    Reply(for<'a> fn(&'a Context) -> BoxFuture<'a, Result<String, StepError>>),
}

/// Returns the function that executes `command`.
fn handler(command: Command) -> Handler {
    let run = |run: Run| Handler::Run(run, Reporting::default());
    match command {
        Command::SavePlan => run(|run| Box::pin(save_plan::run(run))),
        Command::SaveRawPlan => run(|run| Box::pin(save_raw_plan::run(run))),
        Command::Plan => run(|run| Box::pin(plan::run(run))),
        Command::Research => run(|run| Box::pin(research::run(run))),
        Command::CheckPlan => {
            Handler::Run(|run| Box::pin(check_plan::run(run)), check_plan::REPORTING)
        }
        Command::Answer => run(|run| Box::pin(answer::run(run))),
        Command::Cancel => Handler::Reply(|context| Box::pin(cancel::reply(context))),
        Command::Retry => Handler::Reply(|context| Box::pin(retry::reply(context))),
        Command::Status => Handler::Reply(|context| Box::pin(status::reply(context))),
        Command::Help => {
            Handler::Reply(|context| Box::pin(async { Ok(help::text(&context.settings.labels)) }))
        }
    }
}

/// Returns how `command` reports.
pub(super) fn reporting(command: Command) -> Reporting {
    match handler(command) {
        Handler::Run(_, reporting) => reporting,
        Handler::Reply(_) => Reporting::default(),
    }
}

/// Executes the command of a run whose sender has the required permission.
///
/// # Errors
/// Returns the [`StepError`] that ends the run or makes it wait.
pub(super) async fn run(mut run: CommandRun<'_>) -> Result<(), StepError> {
    match handler(run.context.trigger.command) {
        Handler::Run(carry_out, _) => carry_out(&mut run).await,
        Handler::Reply(_) => reply(run.context, run.allowed).await,
    }
}

/// Replies to all text commands of the comment in one comment.
async fn reply(context: &mut Context, allowed: &Authorised) -> Result<(), StepError> {
    let has = allowed.has().unwrap_or(Permission::Read);
    let commands: Vec<Command> = context.trigger.commands().collect();
    let mut said = Vec::new();
    for &command in &commands {
        let needs = command.spec().permission;
        said.push(if has < needs {
            let one = Trigger {
                command,
                also: Vec::new(),
                expired: false,
                repeated: false,
                ..context.trigger.clone()
            };
            replies::refusal(&one, allowed.has())
        } else {
            match handler(command) {
                Handler::Reply(reply) => reply(context).await?,
                // Not expected: only commands with a text reply are combined.
                Handler::Run(..) => continue,
            }
        });
    }
    let refused = report::reply(context, &said.join("\n\n"), Reaction::Rocket).await?;
    // What everybody may use changes nothing.
    let changes_nothing = |command: &Command| command.spec().permission == Permission::Read;
    match refused {
        Some(error) if commands.iter().all(changes_nothing) => {
            let failure = failures::refused(&error, &context.trigger.place);
            Err(StepError::Failed(failure))
        }
        // The other commands have taken effect even if the reply could not be posted.
        _ => Ok(()),
    }
}

/// Executes `act` once and stores the text it returns. A later attempt changes nothing and returns
/// the stored text.
///
/// # Errors
/// Returns an error if the store or `act` fails.
async fn once<F>(context: &Context, command: Command, act: F) -> Result<String, StepError>
where
    F: Future<Output = Result<String, StepError>> + Send,
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

/// Function that prepares a plan to save, or finds that it is already saved.
type WorkOut = for<'a, 'b> fn(&'a mut CommandRun<'b>) -> BoxFuture<'a, Result<Ready, StepError>>;

/// Saves the plan that `work_out` prepares, and reports the result.
async fn save(run: &mut CommandRun<'_>, work_out: WorkOut) -> Result<(), StepError> {
    let ready = if let Some(ready) = prepare::begun(run.context) {
        ready
    } else {
        run.stop.check_cancelled()?;
        let mut ready = work_out(run).await?;
        if let Ready::Plan(prepared) = &mut ready {
            let context = &mut *run.context;
            let checking = repository::checked_files(context, &prepared.document);
            prepared.files = trace::step("verify", checking).await?;
            prepared.base.clone_from(&context.progress.repository.base);
        }
        prepare::remember(run.context, &ready).await?;
        ready
    };
    let prepared = match prepare::unless_saved(run.context, ready).await? {
        Ready::Plan(prepared) => prepared,
        Ready::Known(known) => {
            let context = &mut *run.context;
            let body = messages::known::already_saved(&context.trigger, context.run(), &known);
            report::succeeded(context, &body).await?;
            run.context.audit("saved before", &known.issue.url).await?;
            return Ok(());
        }
    };
    if !run.context.progress.publishing {
        // Once the issue may exist, cancellation is ignored: a partial plan is useless.
        run.stop.check_cancelled()?;
    }
    let publishing = publish::publish(run.context, &prepared, run.allowed);
    let saved = trace::step("publish", publishing).await?;
    let context = &mut *run.context;
    let body = messages::saved(
        &context.trigger,
        context.run(),
        &prepared,
        &saved,
        &messages::next_steps(&context.settings, &context.trigger.place, &saved),
        report::seconds(context),
        messages::Used {
            total: context.progress.spent().as_ref(),
            turns: context.progress.spent_by_turn(),
        },
    );
    report::succeeded(context, &body).await?;
    run.context.audit("saved", &saved.url).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::command::{Execution, REGISTRY};

    #[test]
    fn commands_that_reply_are_registered_as_such() {
        for spec in REGISTRY {
            let replies = matches!(handler(spec.command), Handler::Reply(_));
            assert_eq!(replies, spec.execution == Execution::Reply, "{}", spec.name);
        }
    }
}
