//! The document a plan is saved as, and what an extractor may answer.
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
//! The frame is erk's; the two additions are the section `### Notes` and the invisible line before the rule. That
//! line says that the frame is ours, so that [`plan_text`] can tell a plan we framed from a plan that already came in
//! this form and was saved as it was.
//!
//! A plan that was not enriched has no frame: it is saved as it is, and what the reader should know stands behind it:
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
//! Values in frame and notes stand on one line each. A value that Markdown would change is escaped (see `inline`), a line
//! end in it is written `&#10;`: what GitHub shows and what [`read`] returns is the text as given.

mod json;
mod read;

pub use read::{body, is_success_document, plan_text, read, without_notes};

use super::inline::{self, Item, Piece};
use crate::markdown::{self, Kind};

/// The eight context categories in erk's order.
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

/// The invisible line that says: the plan begins behind the next rule, and it is the source byte for byte.
const FRAME_MARK: &str = "<!-- planwright:plan -->";

/// The invisible line that says: the plan ends before it, and notes on how it was saved follow.
const NOTES_MARK: &str = "<!-- planwright:notes -->";

/// What was done to the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Guidance, questions and context were worked in.
    Enriched,
    /// Exactly as found.
    Raw,
}

impl Mode {
    /// The word in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enriched => "enriched",
            Self::Raw => "raw",
        }
    }
}

/// What the person wrote behind the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guidance {
    /// Any text; NUL becomes U+FFFD when rendered.
    pub text: String,
    /// It was worked into the plan.
    pub applied: bool,
}

/// The section "Enrichment Details".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrichment {
    /// Enriched or raw.
    pub mode: Mode,
    /// Guidance, when some was given.
    pub guidance: Option<Guidance>,
    /// How many questions were asked.
    pub questions: u32,
    /// Which of [`CATEGORIES`] have content.
    pub categories: [bool; 8],
    /// Topic and answer. The topic is one line; the answer any text.
    pub clarifications: Vec<(String, String)>,
    /// Sentences for the reader, one line each, for example that no agent is configured.
    pub notes: Vec<String>,
}

impl Enrichment {
    /// Nothing was added: mode raw, no guidance, no questions, no category.
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

/// A plan with its title and what was done to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDocument {
    /// One line of plain text; white space is collapsed when rendered.
    pub title: String,
    /// The section "Enrichment Details".
    pub enrichment: Enrichment,
    /// The plan, verbatim.
    pub body: String,
}

/// An extractor's answer that there is no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorDocument {
    /// Stable code, lower case with underscores: erk's `no_plan_found`, `session_not_found`, `guidance_without_plan`,
    /// `invalid_input` and `validation_failed`, or another one.
    pub code: String,
    /// What is wrong, as Markdown source; may be empty.
    pub message: String,
    /// The section "Details", as Markdown source.
    pub details: Option<String>,
}

/// What a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// A plan document.
    Plan(PlanDocument),
    /// An error document.
    Error(ErrorDocument),
    /// Neither of the two: why, in one sentence for people.
    Neither(String),
}

impl PlanDocument {
    /// The document as Markdown. [`read`] gives the same document back for every body, for a non-empty title of one
    /// line, and for topics and notes of one line.
    pub fn render(&self) -> String {
        let title = inline::one_line(&self.title);
        let enrichment = &self.enrichment;
        let mut out = inline::line(
            |escape| format!("# Plan: {}", escape.apply(&title)),
            |line| inline::pieces(line) == [Piece::Heading(1, format!("Plan: {title}"))],
        );
        out.push_str("\n\n## Enrichment Details\n\n### Process Summary\n\n");
        fact(&mut out, "Mode", enrichment.mode.as_str());
        let applied = enrichment.guidance.as_ref().is_some_and(|g| g.applied);
        fact(
            &mut out,
            "Guidance applied",
            if applied { "yes" } else { "no" },
        );
        if let Some(guidance) = &enrichment.guidance {
            labelled(&mut out, "-", "Guidance text", &quoted(&guidance.text));
        }
        fact(
            &mut out,
            "Questions asked",
            &enrichment.questions.to_string(),
        );
        let populated = enrichment.categories.iter().filter(|set| **set).count();
        fact(
            &mut out,
            "Context categories extracted",
            &format!("{populated} of {}", CATEGORIES.len()),
        );
        if !enrichment.clarifications.is_empty() {
            out.push_str("\n### Clarifications Made\n\n");
            clarified(&mut out, &enrichment.clarifications);
        }
        out.push_str("\n### Context Categories Populated\n\n");
        for (name, set) in CATEGORIES.iter().zip(enrichment.categories) {
            out.push_str(if set { "- ✅ " } else { "- ❌ " });
            out.push_str(name);
            out.push_str(if set { "\n" } else { " (none found)\n" });
        }
        let notes = listed(&enrichment.notes);
        if !notes.is_empty() {
            out.push_str("\n### Notes\n\n");
            out.push_str(&notes);
        }
        out.push('\n');
        out.push_str(FRAME_MARK);
        out.push_str("\n\n---\n\n");
        out.push_str(&self.body);
        out
    }
}

/// The text to save: `body` itself when it already is a plan document; the plan as it is, with what the reader should
/// know behind it, when it was not enriched; else `body` framed with `title` and `enrichment`. A plan is never framed
/// twice, and [`plan_text`] gives `body` back.
pub fn wrap(title: &str, enrichment: &Enrichment, body: &str) -> String {
    if is_success_document(body) {
        return body.to_owned();
    }
    if enrichment.mode == Mode::Raw {
        let notes = notes(enrichment);
        let text = format!("{body}{notes}");
        // Code or a comment that the plan leaves open takes in what stands behind it.
        let stands = notes.is_empty()
            || markdown::blocks(&text).iter().any(|block| {
                block.kind == Kind::Html && text[block.span.clone()].trim() == NOTES_MARK
            });
        if stands && plan_text(&text) == body {
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

/// What stands behind a plan that was not enriched; empty where there is nothing to say.
fn notes(enrichment: &Enrichment) -> String {
    let mut list = listed(&enrichment.notes);
    if let Some(guidance) = &enrichment.guidance {
        labelled(
            &mut list,
            "-",
            "Guidance, not applied",
            &quoted(&guidance.text),
        );
    }
    if !enrichment.clarifications.is_empty() {
        if !list.is_empty() {
            list.push('\n');
        }
        list.push_str("### Clarifications Made\n\n");
        clarified(&mut list, &enrichment.clarifications);
    }
    if list.is_empty() {
        return list;
    }
    format!("\n\n{NOTES_MARK}\n\n---\n\n## Notes\n\n{list}")
}

/// A list with an item for each line of text.
fn listed(notes: &[String]) -> String {
    let mut out = String::new();
    for note in notes.iter().map(|note| inline::one_line(note)) {
        if note.is_empty() {
            continue;
        }
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

/// Topics and answers, numbered.
fn clarified(out: &mut String, clarifications: &[(String, String)]) {
    for (index, (topic, answer)) in clarifications.iter().enumerate() {
        let topic = inline::one_line(topic);
        let topic = if topic.is_empty() { "Question" } else { &topic };
        let answer = answer.replace('\0', "\u{FFFD}");
        labelled(out, &format!("{}.", index + 1), topic, &answer);
    }
}

/// Text in quotation marks.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\0', "\u{FFFD}"))
}

fn fact(out: &mut String, label: &str, value: &str) {
    for piece in ["- **", label, "**: ", value, "\n"] {
        out.push_str(piece);
    }
}

/// `- **label**: value` on one line, escaped as far as needed.
fn labelled(out: &mut String, bullet: &str, label: &str, value: &str) {
    let expected = Item {
        label: Some(label.to_owned()),
        text: format!(": {value}"),
    };
    // Markdown drops the blank before an empty value.
    let empty = Item {
        label: Some(label.to_owned()),
        text: ":".to_owned(),
    };
    out.push_str(&inline::line(
        |escape| {
            format!(
                "{bullet} **{}**: {}",
                escape.apply(label),
                escape.apply(value)
            )
        },
        |line| {
            let read = inline::pieces(line);
            read == [Piece::List(vec![expected.clone()])]
                || value.is_empty() && read == [Piece::List(vec![empty.clone()])]
        },
    ));
    out.push('\n');
}

#[cfg(test)]
mod tests;
