//! `/plan-status`: lists the newest runs at this place.

use crate::engine::effects::StepError;
use crate::engine::messages::{agent, failures, known};
use crate::engine::steps::Context;
use crate::engine::store::RunView;
use crate::formats::block::quiet;

/// Number of runs that are listed.
const MAX_LISTED: u32 = 10;

pub(super) async fn reply(context: &Context) -> Result<String, StepError> {
    let place = &context.trigger.place;
    let store = &context.effects.store;
    let mut said = text(&store.runs_at(&place.key(), MAX_LISTED).await?);
    let month = context.effects.clock.now().month();
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

/// Returns a link to the plan issue that the run saved, or found to hold the same plan.
fn saved(run: &RunView) -> Option<String> {
    let progress = run.progress.as_ref()?;
    match (&progress.saved, &progress.known) {
        (Some(saved), _) => Some(format!("[#{}]({})", saved.number, saved.url)),
        (None, Some(known)) => Some(format!("already saved as {}", known::link(&known.issue))),
        (None, None) => None,
    }
}
