//! `planwright check-content`: checks whether a plan would be saved, and prints what to change if
//! not.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::failure::print;
use super::{Failure, input};
use crate::formats::plan::check::{PlanCheck, PlanTextForm, check, format_error};
use crate::formats::plan::gate::MIN_PLAN_CHARS;
use crate::formats::plan::names::{file_name, worktree_name};

const HELP: &str = "\
FILE contains a raw plan, a plan document, the answer of an extractor (Markdown
or JSON), or the comments of a saved plan. The plan in it is checked.

Exit codes:
  0  the plan would be saved
  1  the plan would be rejected; what to change is printed
  2  FILE cannot be read, or is not UTF-8 text

Fields of --json (stable):
  valid           true if content and title are accepted
  error           the reason, or null; a rejected title is reported only if the
                  content is accepted
  details         {length, has_headers, has_lists}: characters, trimmed;
                  headings and lists outside of code
  kind            plan, document, answer, saved, or error (an extractor's answer
                  that there is no plan)
  title           the title that was checked, or null
  title_error     why the title is rejected, or null
  agent_guidance  for a model: reason, value, rules, examples; null when valid
  feedback        for a person: one sentence for each change to make
  file_name       the plan's file, such as add-csv-export-plan.md
  worktree_name   the plan's worktree, such as add-csv-export

Examples:
  planwright check-content plan.md
  planwright check-content plan.md --title 'Add CSV export' --json
  planwright plan get acme/search#12 | planwright check-content -";

/// Check whether a plan would be saved, and list what to change
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct CheckContent {
    /// File to read; `-` for standard input
    file: PathBuf,
    /// Title to check instead of the plan's title
    #[arg(long)]
    title: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl CheckContent {
    pub(super) fn run(self) -> Result<(), Failure> {
        let text = input::plan(&self.file)?;
        let checked = check(&text, self.title.as_deref());
        let shown = if self.json {
            format!("{:#}\n", as_json(&checked))
        } else {
            for_people(&checked)
        };
        print(&shown)?;
        if checked.is_accepted() {
            Ok(())
        } else {
            Err(Failure::failed(format!(
                "{}: the plan would be rejected",
                self.file.display()
            )))
        }
    }
}

fn as_json(checked: &PlanCheck) -> Value {
    let title_error = checked.title_error.as_deref();
    let title_failed = || title_error.map(|why| format!("Plan title validation failed: {why}"));
    let title = checked.title.as_deref().unwrap_or_default();
    json!({
        "valid": checked.is_accepted(),
        "error": checked.error.clone().or_else(title_failed),
        "details": {
            "length": checked.measure.length.chars,
            "has_headers": checked.measure.headings > 0,
            "has_lists": checked.measure.lists > 0,
        },
        "kind": checked.form.as_str(),
        "title": checked.title,
        "title_error": title_error,
        "agent_guidance": checked.agent_guidance,
        "feedback": checked.feedback,
        "file_name": file_name(title),
        "worktree_name": worktree_name(title),
    })
}

fn for_people(checked: &PlanCheck) -> String {
    let kind = checked.form.describe();
    if checked.is_accepted() {
        let title = checked.title.as_deref().unwrap_or_default();
        return format!(
            "accepted ({kind})\n\n{}  file       {}\n  worktree   {}\n",
            facts(checked),
            file_name(title),
            worktree_name(title)
        );
    }
    let facts = match checked.form {
        PlanTextForm::Error => String::new(),
        _ => format!("{}\n", facts(checked)),
    };
    let about_title = |why: &String| match why.strip_prefix("Title ") {
        Some(_) => why.clone(),
        None => format!("Title: {why}"),
    };
    let title_error = checked.title_error.as_ref().map(about_title);
    let reasons: Vec<String> = checked.error.iter().cloned().chain(title_error).collect();
    format!(
        "rejected ({kind})\n\n{facts}{}\n",
        format_error(
            "The plan would be rejected",
            &reasons.join("; "),
            &checked.feedback
        )
    )
}

fn facts(checked: &PlanCheck) -> String {
    format!(
        "  title      {}\n  length     {}, at least {MIN_PLAN_CHARS} are needed\n  structure  {}, {}\n",
        checked.title.as_deref().unwrap_or("(none)"),
        checked.measure.length,
        count(checked.measure.headings, "heading"),
        count(checked.measure.lists, "list"),
    )
}

fn count(number: usize, word: &str) -> String {
    let several = if number == 1 { "" } else { "s" };
    format!("{number} {word}{several}")
}
