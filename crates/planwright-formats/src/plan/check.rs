//! Would this text be saved? What it is, its title, and what the gates say.

use super::document::{self, Reading};
use super::gate::Measure;
use super::inline;
use super::split;
use super::title::{cut, gate_title, title_of};
use crate::block::{self, Content};

/// What a text turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plan as somebody wrote it.
    Plan,
    /// A plan document: `# Plan:`, enrichment details, the plan.
    Document,
    /// An extractor's answer with a plan: a document with words before it, or the JSON form.
    Answer,
    /// An extractor's answer that there is no plan.
    Error,
    /// Text of a saved plan: its comments with `plan-body` blocks.
    Saved,
}

impl Kind {
    /// Stable name for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Document => "document",
            Self::Answer => "answer",
            Self::Error => "error",
            Self::Saved => "saved",
        }
    }

    /// For people, with its article.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Plan => "a plan as it was written",
            Self::Document => "a plan document",
            Self::Answer => "an extractor's answer with a plan",
            Self::Error => "an extractor's answer that there is no plan",
            Self::Saved => "a saved plan in its metadata block",
        }
    }
}

/// A text, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What the text is.
    pub kind: Kind,
    /// The title that was checked, on one line; `None` when there is none.
    pub title: Option<String>,
    /// Length and structure of the plan.
    pub measure: Measure,
    /// Why the content is refused.
    pub error: Option<String>,
    /// Why the title is refused.
    pub title_error: Option<String>,
    /// What a model should change; `None` when everything is accepted.
    pub agent_guidance: Option<String>,
    /// What a person should change, one sentence each; empty when everything is accepted.
    pub feedback: Vec<&'static str>,
}

impl Checked {
    /// The plan would be saved.
    pub fn is_accepted(&self) -> bool {
        self.error.is_none() && self.title_error.is_none()
    }
}

/// Judges `text`. `title` takes the place of the plan's own title.
pub fn check(text: &str, title: Option<&str>) -> Checked {
    let found = find(text);
    let title = title.map(str::to_owned).or(found.title);
    let title = title
        .map(|title| inline::one_line(&title))
        .filter(|title| !title.is_empty());
    let mut checked = Checked {
        kind: found.kind,
        title,
        measure: Measure::of(&found.plan),
        error: None,
        title_error: None,
        agent_guidance: None,
        feedback: Vec::new(),
    };
    if let Some(complaint) = found.complaint {
        checked.agent_guidance = Some(format!(
            "{complaint}\nAnswer with the plan itself: a first line `# Plan: <title>`, then `## Enrichment Details`, a \
             line `---`, and the plan."
        ));
        checked.error = Some(complaint);
        checked.feedback = vec!["Write the plan first, then check that text."];
        return checked;
    }
    let mut guidance = Vec::new();
    if let Err(fault) = checked.measure.verdict() {
        checked.error = Some(fault.to_string());
        checked.feedback.push(fault.feedback());
        guidance.push(fault.agent_guidance(&found.plan));
    }
    let title = checked.title.as_deref().unwrap_or_default();
    if let Err(fault) = gate_title(title) {
        guidance.push(fault.agent_guidance(title));
        checked.feedback.push(fault.feedback());
        checked.title_error = Some(fault.to_string());
    }
    if !guidance.is_empty() {
        checked.agent_guidance = Some(guidance.join("\n\n"));
    }
    checked
}

struct Found {
    kind: Kind,
    title: Option<String>,
    plan: String,
    /// Why there is no plan.
    complaint: Option<String>,
}

fn find(text: &str) -> Found {
    if let Some(plan) = saved(text) {
        return Found {
            kind: Kind::Saved,
            ..find_unsaved(&plan)
        };
    }
    find_unsaved(text)
}

fn find_unsaved(text: &str) -> Found {
    match document::read(text) {
        Reading::Plan(read) => Found {
            kind: if document::is_success_document(text) {
                Kind::Document
            } else {
                Kind::Answer
            },
            title: Some(read.title),
            plan: read.body,
            complaint: None,
        },
        Reading::Error(error) => {
            let message = cut(&inline::one_line(&error.message), 200);
            let said = if message.is_empty() { "" } else { ": " };
            Found {
                kind: Kind::Error,
                title: None,
                plan: text.to_owned(),
                complaint: Some(format!(
                    "The extractor found no plan (`{}`){said}{message}",
                    cut(&inline::one_line(&error.code), 64)
                )),
            }
        }
        Reading::Neither(_) => Found {
            kind: Kind::Plan,
            title: title_of(text),
            plan: document::body(text).to_owned(),
            complaint: None,
        },
    }
}

/// The plan in the `plan-body` blocks of `text`, its parts joined; the first one when they are not parts of one text.
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
