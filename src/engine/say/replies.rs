//! One-comment answers: refusals, `/plan-help`, `/plan-status`, `/cancel`, `/retry`.

use super::super::run::RunId;
use super::super::store::RunView;
use super::super::trigger::Trigger;
use super::{asked, code_span, known, person};
use crate::formats::block::quiet;
use crate::formats::command::{Command, Permission, REGISTRY};

/// A refusal: one line, starts nothing.
pub fn refusal(trigger: &Trigger, has: Option<Permission>) -> String {
    let needs = permission_name(trigger.command.spec().permission);
    let has = has.map_or("no access", permission_name);
    format!(
        "😕 {}: {} needs `{needs}` permission in {}; you have `{has}`.",
        person(trigger),
        asked(trigger),
        trigger.place.repo.full_name()
    )
}

/// A role's name as GitHub shows it.
pub fn permission_name(permission: Permission) -> &'static str {
    match permission {
        Permission::Read => "read",
        Permission::Triage => "triage",
        Permission::Write => "write",
        Permission::Maintain => "maintain",
        Permission::Admin => "admin",
    }
}

/// The answer to `/plan-help`, from the registry.
///
/// `labels` are the configured names; a command whose label is not among them has none.
pub fn help(labels: &[(Command, String)]) -> String {
    let mut text = String::from(
        "Comment one of these at the start of a line; the label does the same as its command.\n\n\
         | command | label | needs | what it does |\n|---|---|---|---|\n",
    );
    for spec in REGISTRY {
        let argument = spec
            .argument
            .map(|argument| format!(" [{argument}]"))
            .unwrap_or_default();
        let mut options = String::new();
        for option in spec.options {
            options.push_str(&format!(" [{option}]"));
        }
        let label = labels.iter().find(|(command, _)| *command == spec.command);
        let label = label.map_or_else(|| "–".to_owned(), |(_, name)| code_span(name));
        text.push_str(&format!(
            "| {} | {label} | {} | {} |\n",
            code_span(&format!("/{}{options}{argument}", spec.name)),
            permission_name(spec.permission),
            spec.summary
        ));
    }
    text.push('\n');
    let mut told: Vec<&str> = Vec::new();
    for option in REGISTRY.iter().flat_map(|spec| spec.options) {
        if !told.contains(&option.name) {
            told.push(option.name);
            text.push_str(&format!(
                "- {}: {}\n",
                code_span(&option.to_string()),
                option.summary
            ));
        }
    }
    text.push_str(
        "\nA session log may also be attached to the command's own comment.\n\nA command in a quote, a list, code or an HTML comment is not a command. New comments count, and what their author adds within ten minutes; at most eight commands a comment.",
    );
    text
}

/// The answer to `/plan-status`: the newest runs at a place.
pub fn status(runs: &[RunView]) -> String {
    if runs.is_empty() {
        return "No command has run here yet. Comment `/plan-help` for what can be said."
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
            .map(|note| quiet(&super::failures::shorten(note, 160)).replace('|', "\\|"))
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

/// A link to the plan issue that the run has saved or begun, or found to hold the same plan.
fn saved(run: &RunView) -> Option<String> {
    let progress = run.progress.as_ref()?;
    match (&progress.saved, &progress.known) {
        (Some(saved), _) => Some(format!("[#{}]({})", saved.number, saved.url)),
        (None, Some(known)) => Some(format!("already saved as {}", known::link(&known.issue))),
        (None, None) => None,
    }
}

/// The answer to `/cancel`.
pub fn cancelling(runs: &[RunId]) -> String {
    match runs {
        [] => "Nothing is running here, so there is nothing to cancel.".to_owned(),
        runs => format!("Stopping {}.", list(runs)),
    }
}

/// The answer to `/retry`.
pub fn retrying(run: Option<&RunId>) -> String {
    run.map_or_else(
        || "No failed or cancelled run here, so there is nothing to run again.".to_owned(),
        |run| format!("Run `{run}` is back in line and goes on from the step that failed."),
    )
}

fn list(runs: &[RunId]) -> String {
    let names: Vec<String> = runs.iter().map(|run| format!("`{run}`")).collect();
    let noun = if runs.len() == 1 { "run" } else { "runs" };
    format!("{noun} {}", names.join(", "))
}
