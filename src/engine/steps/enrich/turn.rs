//! One turn of the agent: its prompt, its limits, and the evaluation of its ending.

use crate::engine::settings::Role;
use std::sync::Arc;
use std::time::Duration;

use super::{Step, ask, judge, prompts, work};
use crate::engine::agent::{Agent, Task, TurnObserver};
use crate::engine::effects::StepError;
use crate::engine::model::agent::{Ending, Micros, Report, Session};
use crate::engine::model::conversation::Conversation;
use crate::engine::model::failure::Failure;
use crate::engine::model::progress::{AgentState, Next, Prepared, TurnResult};

use crate::engine::messages::{self, agent as sentences};
use crate::engine::metrics;
use crate::engine::planner::{self, Rejected};
use crate::engine::settings::Settings;
use crate::engine::steps::{Context, planning, report, repository};
use crate::engine::stop::StopFlag;
use crate::engine::store::BudgetScope;
use crate::formats::command::Command;
use crate::formats::plan::enriched::salvage_plan;

/// Interval at which a waiting run checks whether an agent is free. Meanwhile it occupies no
/// worker.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Runs one turn of the agent and processes its result.
///
/// # Errors
/// See [`super::enrich`].
pub(super) async fn turn(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
    thread: &mut Option<Arc<Conversation>>,
    stop: &StopFlag,
) -> Result<Step, StepError> {
    if let Some(came) = work(context).came.take() {
        // The attempt that stored the result may have been interrupted before recording the costs.
        account(context, &came).await?;
        return process_answer(context, came, stop).await;
    }
    let now = context.effects.clock.now();
    let longest = context.settings.worker.max_backoff;
    if let Some(until) = work(context)
        .not_before
        .and_then(|until| Settings::still_waits(until, now, longest))
    {
        let why = "the agent failed temporarily; retrying".to_owned();
        return Err(StepError::Wait { until, why });
    }
    if agent.full() {
        let why = "waiting for a free agent".to_owned();
        let until = now.plus(POLL_INTERVAL);
        return Err(StepError::Wait { until, why });
    }
    if context.trigger.command == Command::Plan {
        planning::provide(context, agent).await?;
    }
    repository::provide(context).await?;
    let goes_on = agent.about().resumes && work(context).session.is_some();
    let writes = agent.about().writes;
    let prompt = prompts::ask(context, thread, goes_on, writes).await?;
    stop.check_cancelled()?;
    let key = format!("turn-{}", work(context).turns + 1);
    if let Err((failure, why)) = allowed(context, &key).await? {
        return continue_without_agent(context, failure, why).await;
    }
    let session = match work(context).session.clone().filter(|_| goes_on) {
        Some(id) => Session::Resume(id),
        None => Session::New(uuid::Uuid::new_v4().to_string()),
    };
    let task = task(context, prompt, session);
    let before = work(context).spent;
    // Stored before the turn begins, so that a crash cannot hide its costs.
    work(context).turns += 1;
    work(context).not_before = None;
    context.remember().await?;
    let said = sentences::at_work(context.trigger.command, &agent.about().name, &before);
    let body = messages::working(&context.trigger, context.run(), &said);
    report::show(context, &key, &body).await?;
    let came = run(context, agent, &task, stop).await?;
    let spent = came.report.spent;
    tracing::info!(
        ending = came.report.ending.name(),
        turns = spent.turns,
        tools = spent.tools,
        cost_micros = spent.cost,
        millis = spent.millis,
        "the agent's turn ended"
    );
    account(context, &came).await?;
    // The stored result is processed by the next process.
    stop.check_paused()?;
    work(context).came = None;
    process_answer(context, came, stop).await
}

/// Returns the budget key of the turn that was begun last.
fn turn_key(work: &AgentState) -> String {
    format!("turn-{}", work.turns)
}

/// Records the costs of the last turn for the budget. Idempotent.
async fn account(context: &mut Context, came: &TurnResult) -> Result<(), StepError> {
    let key = turn_key(work(context));
    let effects = &context.effects;
    effects
        .store
        .end_turn(&effects.lease, &key, &came.report.spent)
        .await?;
    Ok(())
}

/// Returns the number of rounds of questions that the agent may still ask.
pub(super) fn rounds_left(context: &mut Context) -> u32 {
    let agent = &context.settings.agent;
    let most = if agent.ask { agent.rounds } else { 0 };
    planner::rounds_left(work(context), most)
}

/// Checks whether the limits of actor, repository and day, and the cost limit of the run, allow
/// another turn. If not, returns the failure, and a reason for a plan that is saved without the
/// agent.
async fn allowed(
    context: &mut Context,
    key: &str,
) -> Result<Result<(), (Failure, String)>, StepError> {
    let settings = Arc::clone(&context.settings);
    let command = context.trigger.command;
    let spent = spent(context);
    if let Some(most) = settings.agent.run_cost.filter(|most| spent >= *most) {
        let failure = sentences::run_cost(command, most);
        return Ok(Err((failure, sentences::why_run_cost(most))));
    }
    let scope = BudgetScope {
        repo: context.trigger.place.repo.id,
        actor: context.trigger.actor.id,
    };
    let effects = &context.effects;
    let now = effects.clock.now();
    let judged = effects
        .store
        .begin_turn(&effects.lease, key, scope, &settings.agent.budget(), now)
        .await?;
    let repo = context.trigger.place.repo.full_name();
    Ok(judged.map_err(|exceeded| {
        (
            sentences::exceeded(command, &exceeded, &repo),
            sentences::why_exceeded(&exceeded, &repo),
        )
    }))
}

/// Continues without the agent: the plan is saved as found, with the reason `why`; if no plan was
/// found, the run fails.
async fn continue_without_agent(
    context: &mut Context,
    failure: Failure,
    why: String,
) -> Result<Step, StepError> {
    if let Some(accepted) = work(context).accepted.take() {
        tracing::info!(run.id = %context.run(), why, "the agent did not correct the paths in its plan");
        return Ok(Step::Done(accepted));
    }
    let unclear = work(context)
        .found
        .as_ref()
        .is_some_and(|found| found.unclear.is_some());
    // If there are several plans, people choose one, which is then saved as found.
    let saves = context.trigger.command == Command::SavePlan
        && (unclear || judge::as_found(context).is_some());
    let code = failure.code.name();
    if !saves {
        tracing::warn!(run.id = %context.run(), code, why, "the agent failed, and the run with it");
        if context.trigger.command != Command::SavePlan {
            return Err(StepError::Failed(failure));
        }
        let looked = work(context)
            .found
            .as_ref()
            .map(|found| found.looked.clone());
        let failure = sentences::and_no_plan(failure, looked.unwrap_or_default());
        return Err(StepError::Failed(failure));
    }
    tracing::warn!(run.id = %context.run(), code, why, "the agent failed; the plan is saved as found");
    work(context).next = Next::Nothing { why };
    context.remember().await?;
    Ok(Step::Again)
}

/// Returns the costs of the run so far, including research.
fn spent(context: &Context) -> Micros {
    context.progress.spent().unwrap_or_default().cost
}

fn task(context: &mut Context, prompt: String, session: Session) -> Task {
    let settings = Arc::clone(&context.settings);
    let agent = &settings.agent;
    let plans = context.trigger.command == Command::Plan;
    let repository = context.checkout.as_ref().map(|copy| copy.path.clone());
    let spent = spent(context);
    let work = work(context);
    let cost_before = match session {
        Session::New(_) => 0,
        Session::Resume(_) => work.session_cost,
    };
    let mut limits = agent.limits();
    limits.cost = agent.run_cost.map(|most| most.saturating_sub(spent));
    let (role, wanted, files) = if plans {
        let wanted = planner::FILES.map(str::to_owned).to_vec();
        (Role::Planner, wanted, work.written.clone())
    } else {
        (Role::PlanExtractor, Vec::new(), Vec::new())
    };
    Task {
        part: 0,
        wanted,
        files,
        model: None,
        repository,
        run: context.run().clone(),
        system: agent.prompts.system(role, &context.trigger.place.repo),
        prompt,
        session,
        cost_before,
        limits,
    }
}

/// Runs the agent and shows its progress in the status comment. The result is stored at once.
async fn run(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
    task: &Task,
    stop: &StopFlag,
) -> Result<TurnResult, StepError> {
    let name = agent.about().name;
    let before = work(context).spent;
    let (seen, now) = TurnObserver::new();
    let clock = Arc::clone(&context.effects.clock);
    let working = agent.work(task, &seen, stop.token());
    let working = metrics::agent_turn(context.trigger.command, working);
    let mut working = std::pin::pin!(working);
    loop {
        tokio::select! {
            biased;
            ended = &mut working => return keep(context, task, ended).await,
            () = clock.sleep(report::EDIT_GAP) => {}
        }
        let mut so_far = before;
        so_far.add(&now.borrow());
        let telling = report::progress(
            context,
            &sentences::at_work(context.trigger.command, &name, &so_far),
        );
        let mut telling = std::pin::pin!(telling);
        // Keep polling the agent during the edit, so that a slow response of GitHub does not stop
        // it.
        let ended = tokio::select! {
            biased;
            ended = &mut working => ended,
            told = &mut telling => {
                if let Err(error) = told {
                    tracing::debug!(error = %error, "the status comment was not updated");
                }
                continue;
            }
        };
        let came = keep(context, task, ended).await;
        // Finish an edit that was begun, which could otherwise arrive after the final report.
        let _ = telling.await;
        return came;
    }
}

/// Stores the result of a turn.
async fn keep(context: &mut Context, task: &Task, report: Report) -> Result<TurnResult, StepError> {
    let work = work(context);
    work.add(&report.spent);
    work.redacted = work.redacted.saturating_add(report.redacted);
    let came = TurnResult {
        report,
        session: task.session.clone(),
    };
    work.came = Some(came.clone());
    context.remember().await?;
    Ok(came)
}

/// Processes the result of a turn that has ended.
async fn process_answer(
    context: &mut Context,
    came: TurnResult,
    stop: &StopFlag,
) -> Result<Step, StepError> {
    if came.report.ending == Ending::Cancelled {
        stop.check_cancelled()?;
        // Stopped in an earlier round or by a shutdown, so this is no fault of the agent.
        planner::interrupted(work(context), &came.report);
        context.remember().await?;
        return Ok(Step::Again);
    }
    let (rounds, tries) = (rounds_left(context), context.settings.agent.tries);
    let next = planner::turn_ended(work(context), came, rounds, tries);
    match next {
        planner::Step::Ask => {}
        planner::Step::Again | planner::Step::GivenUp { .. } => log_rejection(context),
        planner::Step::Wait(faults) => {
            let wait = context.settings.worker.delays().after(faults);
            let until = context.effects.clock.now().plus(wait);
            work(context).not_before = Some(until);
        }
        planner::Step::Plan { files, unasked } => {
            let mut prepared = planning::prepared(context, files, None);
            prepared.notes.extend(sentences::unasked(&unasked));
            return accept(context, prepared, None).await;
        }
        planner::Step::Rescued { files, ending } => {
            if let Some(accepted) = work(context).accepted.take() {
                return Ok(Step::Done(accepted));
            }
            let prepared = planning::prepared(context, files, Some(&ending));
            return Ok(Step::Done(Box::new(prepared)));
        }
        planner::Step::Check {
            text,
            unreadable,
            late,
        } => match judge::check(context, text.clone())? {
            Ok(mut prepared) => {
                prepared
                    .notes
                    .extend(sentences::unasked(&[unreadable, late].concat()));
                return accept(context, prepared, Some(text)).await;
            }
            Err(rejected) => {
                let draft = rejected.draft.as_deref();
                let is_plan = draft.is_some_and(|draft| salvage_plan(draft).is_some());
                planner::reject(work(context), rejected, is_plan, unreadable);
                log_rejection(context);
            }
        },
        planner::Step::Obeyed => {
            tracing::warn!(run.id = %context.run(), "the agent obeyed the conversation; the run is paused");
            let decision = ask::hold(context);
            work(context).rounds.push(decision);
        }
        planner::Step::Failed(report) => {
            let spent = work(context).spent;
            let failure = sentences::failed(context.trigger.command, &report, &spent);
            let why = sentences::why_ended(&report.ending);
            return continue_without_agent(context, failure, why).await;
        }
    }
    context.remember().await?;
    Ok(Step::Again)
}

/// Returns the plan, or asks the agent once to correct the paths in it. `draft` is the agent's
/// answer if it printed the plan.
async fn accept(
    context: &mut Context,
    prepared: Prepared,
    draft: Option<String>,
) -> Result<Step, StepError> {
    let work_now = work(context);
    if !work_now.paths_corrected && work_now.corrections < planner::MAX_CORRECTIONS {
        let faults = repository::wrong_paths(context, &prepared.document).await?;
        if !faults.is_empty() {
            let work = work(context);
            work.paths_corrected = true;
            work.accepted = Some(Box::new(prepared));
            planner::reject(work, Rejected { draft, faults }, true, Vec::new());
            log_rejection(context);
            context.remember().await?;
            return Ok(Step::Again);
        }
    }
    Ok(Step::Done(Box::new(prepared)))
}

/// Logs why the agent's answer was rejected.
fn log_rejection(context: &mut Context) {
    let why = match &work(context).next {
        Next::Correct { complaints } => complaints.join("; "),
        Next::AskAgain { lost } => lost.join("; "),
        Next::Nothing { why } => why.clone(),
        _ => return,
    };
    tracing::info!(run.id = %context.run(), why, "the agent's answer did not pass the checks");
}
