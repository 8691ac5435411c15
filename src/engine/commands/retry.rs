//! `/retry`: puts the last failed run here back into the queue.

use super::once;
use crate::engine::effects::StepError;
use crate::engine::model::run::RunId;
use crate::engine::steps::Context;
use crate::formats::command::Command;

pub(super) async fn reply(context: &Context) -> Result<String, StepError> {
    let place = context.trigger.place.key();
    once(context, Command::Retry, async {
        let run = context.effects.store.requeue_failed(&place).await?;
        Ok(text(run.as_ref()))
    })
    .await
}

/// Returns the reply, which names the run that is queued again.
pub(in crate::engine) fn text(run: Option<&RunId>) -> String {
    run.map_or_else(
        || "No run has failed or been cancelled here, so there is nothing to retry.".to_owned(),
        |run| format!("Run `{run}` is queued again and continues from the step that failed."),
    )
}
