//! Checks whether a text would be saved as a plan: its form, its title and the results of the
//! gates.

use super::document::{self, ParsedDocument};
use super::gate::{Measure, gate_title};
use super::split;
use super::title::title_of;
use crate::block::{self, Content};
use crate::text::{one_line, truncate_chars};

/// Maximum length of an extractor's message, in code points.
const MAX_MESSAGE_CHARS: usize = 200;
/// Maximum length of an extractor's error code, in code points.
const MAX_CODE_CHARS: usize = 64;

/// Form of a checked text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanTextForm {
    /// A plan as somebody wrote it.
    Plan,
    /// A plan document: `# Plan:`, enrichment details, the plan.
    Document,
    /// An extractor's answer with a plan: a document with a preamble, or the JSON form.
    Answer,
    /// An extractor's answer that there is no plan.
    Error,
    /// A saved plan: its comments with `plan-body` blocks.
    Saved,
}

impl PlanTextForm {
    /// Returns the stable name for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Document => "document",
            Self::Answer => "answer",
            Self::Error => "error",
            Self::Saved => "saved",
        }
    }

    /// Returns the description for people, with its article.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Plan => "raw plan",
            Self::Document => "a plan document",
            Self::Answer => "extractor's answer with a plan",
            Self::Error => "extractor's answer without a plan",
            Self::Saved => "saved plan in a metadata block",
        }
    }
}

/// Result of [`check`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanCheck {
    /// Form of the text.
    pub form: PlanTextForm,
    /// The checked title, on one line; `None` if there is none.
    pub title: Option<String>,
    /// Length and structure of the plan.
    pub measure: Measure,
    /// Reason why the content is rejected.
    pub error: Option<String>,
    /// Reason why the title is rejected.
    pub title_error: Option<String>,
    /// Instructions for a model; `None` if everything is accepted.
    pub agent_guidance: Option<String>,
    /// Remedies for people, one sentence each; empty if everything is accepted.
    pub feedback: Vec<&'static str>,
}

impl PlanCheck {
    /// Returns true if the plan would be saved.
    pub fn is_accepted(&self) -> bool {
        self.error.is_none() && self.title_error.is_none()
    }
}

/// Checks whether `text` would be saved. `title` overrides the title of the plan.
pub fn check(text: &str, title: Option<&str>) -> PlanCheck {
    let found = match saved(text) {
        Some(plan) => Found {
            form: PlanTextForm::Saved,
            ..find(&plan)
        },
        None => find(text),
    };
    let title = title.map(str::to_owned).or(found.title);
    let title = title
        .map(|title| one_line(&title))
        .filter(|title| !title.is_empty());
    let mut checked = PlanCheck {
        form: found.form,
        title,
        measure: Measure::of(&found.plan),
        error: None,
        title_error: None,
        agent_guidance: None,
        feedback: Vec::new(),
    };
    if let Some(error) = found.error {
        checked.agent_guidance = Some(format!(
            "{error}\nAnswer with the plan itself: a first line `# Plan: <title>`, then `## Enrichment Details`, a \
             line `---`, and the plan."
        ));
        checked.error = Some(error);
        checked.feedback = vec!["Write the plan first, then check that text."];
        return checked;
    }
    let mut guidance = Vec::new();
    if let Err(error) = checked.measure.verdict() {
        checked.error = Some(error.to_string());
        checked.feedback.push(error.feedback());
        guidance.push(error.agent_guidance(&found.plan));
    }
    let title = checked.title.as_deref().unwrap_or_default();
    if let Err(error) = gate_title(title) {
        guidance.push(error.agent_guidance(title));
        checked.feedback.push(error.feedback());
        checked.title_error = Some(error.to_string());
    }
    if !guidance.is_empty() {
        checked.agent_guidance = Some(guidance.join("\n\n"));
    }
    checked
}

/// Formats an error for people in the layout of erk's `format_error`: summary, details, numbered
/// actions.
///
/// There is no final line end. Without `actions`, the only one is to review the details and try
/// again.
///
/// ```
/// assert_eq!(
///     planwright_formats::plan::check::format_error("No plan", "The file is empty", &["Write one"]),
///     "❌ Error: No plan\n\nDetails: The file is empty\n\nSuggested action:\n  1. Write one"
/// );
/// ```
pub fn format_error(brief: &str, details: &str, actions: &[&str]) -> String {
    let actions = match actions {
        [] => &["Review the error details and try again"],
        some => some,
    };
    let several = if actions.len() > 1 { "s" } else { "" };
    let mut text = format!("❌ Error: {brief}\n\nDetails: {details}\n\nSuggested action{several}:");
    for (index, action) in actions.iter().enumerate() {
        text.push_str(&format!("\n  {}. {action}", index + 1));
    }
    text
}

/// The plan in a text.
struct Found {
    form: PlanTextForm,
    title: Option<String>,
    plan: String,
    /// The extractor's error, if it found no plan.
    error: Option<String>,
}

fn find(text: &str) -> Found {
    match document::parse(text) {
        ParsedDocument::Plan(read) => Found {
            form: if document::is_success_document(text) {
                PlanTextForm::Document
            } else {
                PlanTextForm::Answer
            },
            title: Some(read.title),
            plan: read.body,
            error: None,
        },
        ParsedDocument::Error(error) => {
            let message = truncate_chars(&one_line(&error.message), MAX_MESSAGE_CHARS);
            let colon = if message.is_empty() { "" } else { ": " };
            Found {
                form: PlanTextForm::Error,
                title: None,
                plan: text.to_owned(),
                error: Some(format!(
                    "The extractor found no plan (`{}`){colon}{message}",
                    truncate_chars(&one_line(&error.code), MAX_CODE_CHARS)
                )),
            }
        }
        ParsedDocument::Neither(_) => Found {
            form: PlanTextForm::Plan,
            title: title_of(text),
            plan: document::plan_body(text).to_owned(),
            error: None,
        },
    }
}

/// Returns the plan in the `plan-body` blocks of `text`: its parts joined, or the first one if they
/// do not fit together.
fn saved(text: &str) -> Option<String> {
    let blocks = block::parse(text).blocks;
    let parts: Vec<&str> = blocks
        .iter()
        .filter(|block| block.key == "plan-body")
        .filter_map(|block| match &block.content {
            Content::Text(plan) => Some(plan.as_str()),
            Content::Yaml(_) | Content::Raw(_) => None,
        })
        .collect();
    let first = *parts.first()?;
    Some(split::join(&parts).unwrap_or_else(|| first.to_owned()))
}

#[cfg(test)]
mod tests;
