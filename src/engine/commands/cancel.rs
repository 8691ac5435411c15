//! `/cancel`: stops the runs at this place that were accepted before the command.

use super::once;
use crate::engine::effects::StepError;
use crate::engine::model::run::RunId;
use crate::engine::steps::Context;
use crate::formats::command::Command;

pub(super) async fn reply(context: &Context) -> Result<String, StepError> {
    let place = context.trigger.place.key();
    once(context, Command::Cancel, async {
        let by = &context.trigger.actor.login;
        let store = &context.effects.store;
        let stopped = store.request_cancel(&place, context.run(), by).await?;
        Ok(text(&stopped))
    })
    .await
}

/// Returns the reply, which names the runs that are being stopped.
pub(in crate::engine) fn text(runs: &[RunId]) -> String {
    match runs {
        [] => "Nothing is running here, so there is nothing to cancel.".to_owned(),
        runs => format!("Stopping {}.", list(runs)),
    }
}

fn list(runs: &[RunId]) -> String {
    let names: Vec<String> = runs.iter().map(|run| format!("`{run}`")).collect();
    let noun = if runs.len() == 1 { "run" } else { "runs" };
    format!("{noun} {}", names.join(", "))
}
