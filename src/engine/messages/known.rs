//! Texts about plans that are already saved, and about plans that replace another one.

use serde_json::{Map, json};

use super::{RESULT_BLOCK, footer};
use crate::engine::model::progress::{Known, PlanIssue, Saved};
use crate::engine::model::run::RunId;
use crate::engine::model::trigger::Trigger;
use crate::formats::block::render_yaml;

/// Formats an issue number as a link, e.g. `#2`.
pub fn link(issue: &PlanIssue) -> String {
    format!("[#{}]({})", issue.number, issue.url)
}

/// Returns the final status of a run whose plan is already saved in an open issue.
pub fn already_saved(trigger: &Trigger, run: &RunId, known: &Known) -> String {
    let mut text = format!(
        "✅ Already saved as {}: the plan here has not changed since, so it was not saved again.\n\n",
        link(&known.issue)
    );
    if let Some(later) = &known.replaced_by {
        text.push_str(&format!(
            "{} was saved from here later, and replaces it.\n\n",
            link(later)
        ));
    }
    let more = match (trigger.options.is_empty(), trigger.guidance.is_none()) {
        (true, true) => "",
        (false, true) => ", with the same options",
        (true, false) => ", with the same guidance",
        (false, false) => ", with the same options and guidance",
    };
    text.push_str(&format!(
        "To save it once more, comment `/{} again=yes`{more}.\n\n",
        trigger.command.name()
    ));
    let mut fields = Map::new();
    fields.insert("status".into(), json!("succeeded"));
    fields.insert("already_saved".into(), json!(true));
    fields.insert("run".into(), json!(run.0));
    fields.insert("command".into(), json!(trigger.command.name()));
    fields.insert("plan_issue".into(), json!(known.issue.number));
    fields.insert("plan_url".into(), json!(known.issue.url));
    text.push_str(&render_yaml(RESULT_BLOCK, &fields));
    text.push_str(&format!("\n\n{}", footer(run)));
    text
}

/// Returns the sentence in a new plan issue and its report that names the issue it replaces.
pub fn replaces(old: &PlanIssue) -> String {
    format!(
        "It replaces {}, which was saved from here before.",
        link(old)
    )
}

/// Returns the comment on a plan issue that was replaced.
pub fn replaced(trigger: &Trigger, run: &RunId, saved: &Saved) -> String {
    let place = &trigger.place;
    let source = format!("{}#{}", place.repo.full_name(), place.number);
    let new = PlanIssue {
        number: saved.number,
        url: saved.url.clone(),
    };
    format!(
        "This plan was replaced by {}: a changed version was saved from {source}. This issue stays \
         open; close it if it is no longer needed.\n\n{}",
        link(&new),
        footer(run)
    )
}
