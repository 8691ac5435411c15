//! Texts about action plans.

use serde_json::{Map, json};

use super::{RESULT_BLOCK, asked, code_span, footer, person, quiet};
use crate::engine::model::progress::{Checked, Judged};
use crate::engine::model::run::RunId;
use crate::engine::model::trigger::Trigger;
use crate::formats::action_plan::{self, ActionPlan, is_action_plan};
use crate::formats::block::render_yaml;
use crate::formats::plan::document::plan_text;

/// Maximum size of all details and of the list of plans in one text, in bytes. GitHub allows 65,536
/// characters in a comment, and escaping can double the length of a text.
const MAX_DETAILS: usize = 20_000;
const MAX_SUMMARY: usize = 8_000;

/// Maximum size of the table in the body of a plan issue, in bytes. The body also contains the
/// header and the next steps.
const MAX_TABLE: usize = 30_000;

/// Returns one sentence about a valid plan.
pub fn good(plan: &ActionPlan, with_files: bool) -> String {
    let actions = match plan.actions.len() {
        1 => "1 action".to_owned(),
        many => format!("{many} actions"),
    };
    let files = if with_files {
        "fits the files of the repository"
    } else {
        "the files of the repository were not checked"
    };
    format!("{actions}, structure valid, {files}")
}

/// The sentence about a plan that was not checked.
pub const SKIPPED: &str = "Not checked: the check reached its limit of requests to GitHub.";

/// Returns a note that the check is limited because of the person who pushed the commits.
pub fn pushed_by_outsider(login: &str, most: usize) -> String {
    format!(
        "{login}, who pushed these commits, has no triage permission: the check is limited to \
         {most} requests to GitHub. Somebody with that permission can comment `/check-plan` for a \
         full check."
    )
}

/// Returns the title of the check run.
pub fn title(checked: &Checked) -> String {
    let skipped = checked.skipped();
    if skipped > 0 && checked.good() + skipped == checked.plans.len() {
        return match (skipped, checked.plans.len()) {
            (1, 1) => "The plan was not checked".to_owned(),
            (1, all) => format!("1 of {all} plans was not checked"),
            (_, all) => format!("{skipped} of {all} plans were not checked"),
        };
    }
    match (checked.plans.len(), checked.good() + skipped) {
        (0, _) => "No plan to check".to_owned(),
        (1, 1) => "The plan can be executed".to_owned(),
        (1, _) => "The plan cannot be executed".to_owned(),
        (all, good) if all == good => format!("{all} plans can be executed"),
        (all, good) => format!("{} of {all} plans cannot be executed", all - good),
    }
}

/// Returns one line for each plan, followed by the notes; truncated if too long.
pub fn summary(checked: &Checked) -> String {
    let lines = checked.plans.iter().map(|plan| {
        let mark = match (plan.good, plan.skipped) {
            (true, _) => "✅",
            (false, true) => "⏭️",
            (false, false) => "❌",
        };
        format!("- {mark} {}: {}\n", name(plan), quiet(&plan.sentence))
    });
    let text = with_room(lines, MAX_SUMMARY, "- … and more plans\n");
    format!("{text}{}", notes(checked))
}

/// Returns the notes on the check; truncated if too long.
pub(super) fn notes(checked: &Checked) -> String {
    let notes = checked.notes.iter();
    let notes = notes.map(|note| format!("\n> [!NOTE]\n> {}\n", quiet(note)));
    with_room(notes, MAX_SUMMARY, "\n> … and more notes\n")
}

/// Returns the details of each plan below a heading; truncated if too long.
pub fn details<'p>(plans: impl Iterator<Item = &'p Judged>) -> String {
    let parts = plans.map(|plan| format!("### {}\n\n{}\n\n", name(plan), plan.details.trim_end()));
    with_room(parts, MAX_DETAILS, "Further details do not fit here.\n\n")
}

/// Concatenates `parts` up to `most` bytes. If some do not fit, `more` is appended.
fn with_room(parts: impl Iterator<Item = String>, most: usize, more: &str) -> String {
    let mut text = String::new();
    for part in parts {
        if text.len() + part.len() > most {
            text.push_str(more);
            break;
        }
        text.push_str(&part);
    }
    text
}

/// Returns the path of a plan, or the name of its place.
pub(super) fn name(plan: &Judged) -> String {
    match &plan.path {
        Some(path) => quiet(&code_span(path)),
        None => quiet(&plan.name),
    }
}

/// Returns the final status if all plans are valid, or there is none.
pub fn passed(trigger: &Trigger, run: &RunId, checked: &Checked) -> String {
    let mark = if checked.plans.is_empty() {
        "ℹ️"
    } else {
        "✅"
    };
    let mut text = format!(
        "{mark} {}: {} for {}{}.\n\n{}\n{}",
        title(checked),
        asked(trigger),
        person(trigger),
        at(checked),
        summary(checked),
        details(checked.plans.iter())
    );
    let mut fields = Map::new();
    fields.insert("status".into(), json!("succeeded"));
    fields.insert("run".into(), json!(run.0));
    fields.insert("command".into(), json!(trigger.command.name()));
    fields.insert("plans".into(), json!(checked.plans.len()));
    if let Some(head) = &checked.head {
        fields.insert("head".into(), json!(head));
    }
    text.push_str(&render_yaml(RESULT_BLOCK, &fields));
    text.push_str(&format!("\n\n{}", footer(run)));
    text
}

/// Returns ` at abc1234` if the plans are files of a commit.
pub(super) fn at(checked: &Checked) -> String {
    match &checked.head {
        Some(head) => format!(" at {}", code_span(super::short(head))),
        None => String::new(),
    }
}

/// Returns the table of actions if the saved plan is an action plan, or an error message for people
/// if it only looks like one.
pub fn actions(document: &str) -> Option<Result<String, String>> {
    let plan = [plan_text(document), document]
        .into_iter()
        .find(|text| is_action_plan(text))?;
    Some(match action_plan::parse(plan) {
        Ok(plan) => Ok(table(&plan)),
        Err(refused) => Err(format!(
            "It looks like an executable plan, but cannot be executed: {refused} Comment `/check-plan` on the plan issue to see all errors."
        )),
    })
}

/// Returns the table of a plan's actions; truncated if too long. GitHub shows an HTML comment in a
/// code span as text, but programs that read blocks do not parse Markdown, so rows that contain one
/// are escaped.
pub fn table(plan: &ActionPlan) -> String {
    let mut text = String::new();
    for row in action_plan::table(plan).lines() {
        let row = if row.contains("<!--") {
            quiet(row)
        } else {
            row.to_owned()
        };
        if text.len() + row.len() > MAX_TABLE {
            text.push_str("\nMore actions are in the plan.\n");
            break;
        }
        text.push_str(&row);
        text.push('\n');
    }
    text
}

/// Returns a note that GitHub does not list all changed files.
pub fn not_all_listed(all: usize) -> String {
    format!(
        "The pull request changes {all} files; GitHub lists 3,000, and plans among the others were not checked."
    )
}

/// Returns a note that not all plan files are checked.
pub fn not_all_checked(all: usize, most: usize) -> String {
    format!("The pull request changes {all} plan files; the first {most} were checked.")
}

/// Returns a note that no changed file has the name of a plan.
pub fn no_plan_files(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| code_span(name)).collect();
    format!("No changed file is called {}.", names.join(" or "))
}

/// Returns a note that a plan names more files than are read. `name` is the plan's name as shown to
/// people.
pub fn not_all_looked_at(name: &str, all: usize, most: usize) -> String {
    format!(
        "In {name}, {all} files and folders are named; only the first {most} were compared, and actions on the others are \
         reported as unreadable (`check.max_compared_files`)."
    )
}
