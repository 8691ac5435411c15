//! The plan document in which plans are saved, and the documents in the answers of extractors.
//!
//! ```text
//! # Plan: <title>
//!
//! ## Enrichment Details
//!
//! ### Process Summary
//! …
//! <!-- planwright:plan -->
//!
//! ---
//!
//! <the plan, byte for byte>
//! ```
//!
//! The frame is that of erk with two additions: the section `### Notes` and the invisible mark
//! before the rule. The mark identifies frames written by Planwright, so that [`plan_text`] can
//! distinguish them from plans that already had this form and were saved unchanged.
//!
//! A plan that was not enriched has no frame. It is saved unchanged, followed by notes on how it
//! was saved:
//!
//! ```text
//! <the plan, byte for byte>
//!
//! <!-- planwright:notes -->
//!
//! ---
//!
//! ## Notes
//! …
//! ```
//!
//! Each value in frame and notes is written on one line. Values are escaped as far as needed, and
//! line ends are written `&#10;`, so that both GitHub and [`parse`] return the text as given.

mod json;
mod parse;

pub use parse::{is_success_document, parse, plan_body, plan_text, strip_notes};

use super::inline::{self, Item, Piece};
use crate::markdown::{self, BlockKind};
use crate::text::one_line;

/// The context categories, in the order of erk.
pub const CATEGORIES: [&str; 8] = [
    "API/Tool Quirks",
    "Architectural Insights",
    "Domain Logic & Business Rules",
    "Complex Reasoning",
    "Known Pitfalls",
    "Raw Discoveries Log",
    "Planning Artifacts",
    "Implementation Risks",
];

/// Invisible mark in the frame: the text behind the next rule is the original plan, byte for byte.
const FRAME_MARK: &str = "<!-- planwright:plan -->";

/// Invisible mark between a plan and the notes on how it was saved.
const NOTES_MARK: &str = "<!-- planwright:notes -->";

/// Processing of a plan before it was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Guidance, answers and context were worked in.
    Enriched,
    /// None.
    Raw,
}

impl Mode {
    /// Returns the name in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enriched => "enriched",
            Self::Raw => "raw",
        }
    }
}

/// Text that a person wrote after the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guidance {
    /// Any text; NUL becomes U+FFFD when rendered.
    pub text: String,
    /// Whether it was worked into the plan.
    pub applied: bool,
}

/// Content of the section "Enrichment Details".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrichment {
    /// Enriched or raw.
    pub mode: Mode,
    /// Guidance, if any was given.
    pub guidance: Option<Guidance>,
    /// Number of questions asked.
    pub questions: u32,
    /// For each of [`CATEGORIES`], whether it has content.
    pub categories: [bool; 8],
    /// Topic and answer of each clarification. A topic is one line, an answer any text.
    pub clarifications: Vec<(String, String)>,
    /// Notes for the reader, one line each, for example that no agent is configured.
    pub notes: Vec<String>,
}

impl Enrichment {
    /// Returns the details of a plan that was not enriched.
    pub fn raw() -> Self {
        Self {
            mode: Mode::Raw,
            guidance: None,
            questions: 0,
            categories: [false; 8],
            clarifications: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// A plan with its title and enrichment details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDocument {
    /// Title as one line of plain text; white space is collapsed when rendered.
    pub title: String,
    /// Enrichment details.
    pub enrichment: Enrichment,
    /// The plan, verbatim.
    pub body: String,
}

/// An extractor's answer that there is no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorDocument {
    /// Stable code, lower case with underscores, such as erk's `no_plan_found`,
    /// `session_not_found`, `guidance_without_plan`, `invalid_input` and `validation_failed`.
    pub code: String,
    /// Error message as Markdown source; may be empty.
    pub message: String,
    /// Section "Details" as Markdown source.
    pub details: Option<String>,
}

/// Result of [`parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedDocument {
    /// A plan document.
    Plan(PlanDocument),
    /// An error document.
    Error(ErrorDocument),
    /// Neither; the reason in one sentence for people.
    Neither(String),
}

impl PlanDocument {
    /// Renders the document as Markdown. [`parse`] returns the same document for any body, provided
    /// that the title is not empty and that title, topics and notes have one line each.
    pub fn render(&self) -> String {
        let title = one_line(&self.title);
        let enrichment = &self.enrichment;
        let mut out = inline::line(
            |escape| format!("# Plan: {}", escape.apply(&title)),
            |line| inline::pieces(line) == [Piece::Heading(1, format!("Plan: {title}"))],
        );
        out.push_str("\n\n## Enrichment Details\n\n### Process Summary\n\n");
        fact(&mut out, "Mode", enrichment.mode.as_str());
        let applied = enrichment.guidance.as_ref().is_some_and(|g| g.applied);
        let applied = if applied { "yes" } else { "no" };
        fact(&mut out, "Guidance applied", applied);
        if let Some(guidance) = &enrichment.guidance {
            labelled(&mut out, "-", "Guidance text", &quoted(&guidance.text));
        }
        fact(
            &mut out,
            "Questions asked",
            &enrichment.questions.to_string(),
        );
        let populated = enrichment.categories.iter().filter(|set| **set).count();
        let populated = format!("{populated} of {}", CATEGORIES.len());
        fact(&mut out, "Context categories extracted", &populated);
        if !enrichment.clarifications.is_empty() {
            out.push_str("\n### Clarifications Made\n\n");
            render_clarifications(&mut out, &enrichment.clarifications);
        }
        out.push_str("\n### Context Categories Populated\n\n");
        for (name, set) in CATEGORIES.iter().zip(enrichment.categories) {
            out.push_str(&if set {
                format!("- ✅ {name}\n")
            } else {
                format!("- ❌ {name} (none found)\n")
            });
        }
        let notes = render_list(&enrichment.notes);
        if !notes.is_empty() {
            out.push_str(&format!("\n### Notes\n\n{notes}"));
        }
        out.push_str(&format!("\n{FRAME_MARK}\n\n---\n\n{}", self.body));
        out
    }
}

/// Returns the text to save for the plan `body`.
///
/// A plan document is returned unchanged, so that a plan is never framed twice. A plan that was not
/// enriched is followed by notes. Any other plan is framed with `title` and `enrichment`.
/// [`plan_text`] returns `body` again.
pub fn wrap(title: &str, enrichment: &Enrichment, body: &str) -> String {
    if is_success_document(body) {
        return body.to_owned();
    }
    if enrichment.mode == Mode::Raw {
        let notes = render_notes(enrichment);
        let text = format!("{body}{notes}");
        // Code or a comment that the plan does not close would contain the notes.
        let separate = notes.is_empty()
            || markdown::blocks(&text).iter().any(|block| {
                block.kind == BlockKind::Html && text[block.span.clone()].trim() == NOTES_MARK
            });
        if separate && plan_text(&text) == body {
            return text;
        }
    }
    PlanDocument {
        title: title.to_owned(),
        enrichment: enrichment.clone(),
        body: body.to_owned(),
    }
    .render()
}

/// Renders the notes that follow a plan that was not enriched; empty if there are none.
fn render_notes(enrichment: &Enrichment) -> String {
    let mut list = render_list(&enrichment.notes);
    if let Some(guidance) = &enrichment.guidance {
        let text = quoted(&guidance.text);
        labelled(&mut list, "-", "Guidance, not applied", &text);
    }
    if !enrichment.clarifications.is_empty() {
        if !list.is_empty() {
            list.push('\n');
        }
        list.push_str("### Clarifications Made\n\n");
        render_clarifications(&mut list, &enrichment.clarifications);
    }
    if list.is_empty() {
        return list;
    }
    format!("\n\n{NOTES_MARK}\n\n---\n\n## Notes\n\n{list}")
}

/// Renders a list with an item for each non-empty note.
fn render_list(notes: &[String]) -> String {
    let mut out = String::new();
    let notes = notes.iter().map(|note| one_line(note));
    for note in notes.filter(|note| !note.is_empty()) {
        let expected = Item {
            label: None,
            text: note.clone(),
        };
        out.push_str(&inline::line(
            |escape| format!("- {}", escape.apply(&note)),
            |line| inline::pieces(line) == [Piece::List(vec![expected.clone()])],
        ));
        out.push('\n');
    }
    out
}

/// Renders topics and answers as a numbered list.
fn render_clarifications(out: &mut String, clarifications: &[(String, String)]) {
    for (index, (topic, answer)) in clarifications.iter().enumerate() {
        let topic = one_line(topic);
        let topic = if topic.is_empty() { "Question" } else { &topic };
        let answer = answer.replace('\0', "\u{FFFD}");
        labelled(out, &format!("{}.", index + 1), topic, &answer);
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\0', "\u{FFFD}"))
}

fn fact(out: &mut String, label: &str, value: &str) {
    out.push_str(&format!("- **{label}**: {value}\n"));
}

/// Appends `- **label**: value` as one line, escaped as far as needed.
fn labelled(out: &mut String, bullet: &str, label: &str, value: &str) {
    // Markdown drops the space before an empty value.
    let text = if value.is_empty() {
        ":".to_owned()
    } else {
        format!(": {value}")
    };
    let label_text = Some(label.to_owned());
    let expected = Item {
        label: label_text,
        text,
    };
    out.push_str(&inline::line(
        |escape| {
            format!(
                "{bullet} **{}**: {}",
                escape.apply(label),
                escape.apply(value)
            )
        },
        |line| inline::pieces(line) == [Piece::List(vec![expected.clone()])],
    ));
    out.push('\n');
}

#[cfg(test)]
mod tests;
