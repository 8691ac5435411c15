//! `/plan-status`: lists the newest runs at this place, and what was ignored.

use std::time::Duration;

use crate::engine::decide::NO_COMMAND;
use crate::engine::effects::StepError;
use crate::engine::messages::{agent, failures, known};
use crate::engine::model::intake::DecisionRecord;
use crate::engine::model::run::State;
use crate::engine::model::time::Millis;
use crate::engine::steps::Context;
use crate::engine::store::RunView;
use crate::formats::block::quiet;

/// Number of runs that are listed.
const MAX_LISTED: u32 = 10;

/// Number of ignored events that are listed.
const MAX_IGNORED: usize = 5;
/// Parts of the reasons for ignoring what nobody meant as a command: talk, edits of it, other
/// labels, commits of pull requests without the label, and what the bot itself does.
const ORDINARY: [&str; 7] = [
    NO_COMMAND,
    "this App",
    "is not a command",
    "asks nothing",
    "no label that asks for a check",
    "the edit adds no command",
    "left the comment's text",
];

/// Number of decisions among which they are searched.
const MAX_DECISIONS: u32 = 200;

/// Age up to which ignored events are listed.
const RECENT: Duration = Duration::from_hours(7 * 24);

pub(super) async fn reply(context: &Context) -> Result<String, StepError> {
    let place = &context.trigger.place;
    let store = &context.effects.store;
    let mut runs = store.runs_at(&place.key(), MAX_LISTED).await?;
    for run in runs.iter_mut().filter(|run| run.state == State::Ready) {
        let position = store.queue_position(&run.id).await?;
        run.note = Some(position.explain(&context.settings.worker.limits()));
    }
    let mut said = text(&runs);
    let now = context.effects.clock.now();
    let decisions = store
        .decisions_at(place.repo.id, place.number, MAX_DECISIONS)
        .await?;
    said.push_str(&ignored(&decisions, now.minus(RECENT)));
    let month = now.month();
    let usage = store.usage(place.repo.id, month).await?;
    if let Some(used) = agent::month(&usage, &month.iso()[..7]) {
        said.push_str(&format!("\n{used}\n"));
    }
    Ok(said)
}

/// Returns a table of `runs`.
pub(in crate::engine) fn text(runs: &[RunView]) -> String {
    if runs.is_empty() {
        return "No command has run here yet. Comment `/plan-help` for the list of commands."
            .to_owned();
    }
    let mut text =
        String::from("| run | command | state | since | note |\n|---|---|---|---|---|\n");
    for run in runs {
        let state = run.code.as_ref().map_or_else(
            || run.state.name().to_owned(),
            |code| format!("{} ({})", run.state.name(), code.name()),
        );
        let note = run
            .note
            .as_deref()
            .map(|note| quiet(&failures::shorten(note, 160)).replace('|', "\\|"))
            .or_else(|| saved(run));
        text.push_str(&format!(
            "| `{}` | `/{}` | {state} | {} | {} |\n",
            run.id,
            run.command,
            run.finished.unwrap_or(run.created).iso(),
            note.unwrap_or_default()
        ));
    }
    text
}

/// Returns a table of the last events since `since` that look like commands and led to nothing;
/// empty if there are none.
pub(in crate::engine) fn ignored(decisions: &[DecisionRecord], since: Millis) -> String {
    let mut rows = String::new();
    let told = decisions
        .iter()
        .filter(|one| one.at >= since)
        .filter_map(|one| Some((one, one.verdict.reason()?)))
        .filter(|(_, why)| !ORDINARY.iter().any(|ordinary| why.contains(ordinary)));
    for (decision, why) in told.take(MAX_IGNORED) {
        let what = match decision.subject.comment {
            Some(id) => format!("comment {id}"),
            None => decision.event.clone(),
        };
        let why = quiet(&failures::shorten(why, 200)).replace('|', "\\|");
        rows.push_str(&format!("| {} | {what} | {why} |\n", decision.at.iso()));
    }
    if rows.is_empty() {
        return rows;
    }
    format!("\nWithout effect:\n\n| received | what | why |\n|---|---|---|\n{rows}")
}

/// Returns a link to the plan issue that the run saved, or found to hold the same plan.
fn saved(run: &RunView) -> Option<String> {
    let progress = run.progress.as_ref()?;
    match (&progress.saved, &progress.known) {
        (Some(saved), _) => Some(format!("[#{}]({})", saved.number, saved.url)),
        (None, Some(known)) => Some(format!("already saved as {}", known::link(&known.issue))),
        (None, None) => None,
    }
}
