//! Reasons why an agent's answer is rejected.

use std::fmt;

use crate::plan::gate::{ContentError, TitleError};

/// Reason why an answer is rejected. `Display` addresses the agent: description and remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerProblem {
    /// There is no `# Plan: <title>`.
    NoTitle,
    /// The title did not pass the gate.
    Title(TitleError),
    /// There is no `## Enrichment Details`.
    NoDetails,
    /// The plan contains another `## Enrichment Details`.
    SecondDetails,
    /// There is no text after the rule.
    NoBody,
    /// The plan did not pass the gate.
    Content(ContentError),
    /// The plan has no steps.
    NoSteps,
    /// There is no section for the context.
    NoContext,
    /// The section for the context is empty.
    EmptyContext,
    /// A placeholder was not filled in.
    Placeholder(String),
    /// The plan contains `<!--QUESTION:`.
    QuestionLeft,
    /// Guidance was given, but the plan was not changed.
    GuidanceWithoutEffect,
    /// The answer states that the guidance was not applied.
    GuidanceNotApplied,
    /// Most of the original plan is missing.
    Shrunk {
        /// Characters that are left, in percent.
        percent: usize,
    },
    /// A fenced code block of the original plan is missing: its first line.
    CodeLost(String),
}

impl AnswerProblem {
    /// Describes the problem for people, in one sentence without a full stop.
    pub fn description(&self) -> String {
        self.explain().0
    }

    /// Returns the description and the remedy for the agent.
    fn explain(&self) -> (String, &'static str) {
        let (description, remedy) = match self {
            Self::NoTitle => (
                "The first heading is not `# Plan:` with a title",
                "Begin the answer with that line.",
            ),
            Self::Title(error) => {
                return (
                    format!("The title is refused: {error}"),
                    "Say in a few words what the plan will do.",
                );
            }
            Self::NoDetails => (
                "The section `## Enrichment Details` is missing",
                "It is below the title and ends with a line `---`.",
            ),
            Self::SecondDetails => (
                "The plan itself has a section `## Enrichment Details`",
                "There is one, above the line `---`.",
            ),
            Self::NoBody => (
                "There is no plan after the line `---`",
                "Write the whole plan there.",
            ),
            Self::Content(error) => {
                return (
                    format!("The plan is refused: {error}"),
                    "Write it out, with headings and lists outside of code.",
                );
            }
            Self::NoSteps => (
                "The plan has no steps",
                "Write them as a numbered list below `## Implementation Steps`, or as headings `### Phase 1: …`.",
            ),
            Self::NoContext => (
                "The section `## Context & Understanding` is missing",
                "Put what was learned there, one `###` heading for each category that has something.",
            ),
            Self::EmptyContext => (
                "The section `## Context & Understanding` has no text",
                "Write what was learned under the names of the categories.",
            ),
            Self::Placeholder(text) => {
                return (
                    format!("The placeholder `{text}` is left in the answer"),
                    "Put the real text in its place.",
                );
            }
            Self::QuestionLeft => (
                "A question marker is left in the plan",
                "A plan asks nothing: decide, and write the assumption down.",
            ),
            Self::GuidanceWithoutEffect => (
                "Guidance was given, but the plan is the same as before, byte for byte",
                "Work the guidance into the places it is about.",
            ),
            Self::GuidanceNotApplied => (
                "Guidance was given, and the answer says that it was not applied",
                "Work it into the plan and say `yes`.",
            ),
            Self::Shrunk { percent } => {
                return (
                    format!("Only {percent} % of the given plan is left"),
                    "Keep all of it that the guidance does not change; a plan is not a summary.",
                );
            }
            Self::CodeLost(line) => {
                return (
                    format!(
                        "A code block of the given plan is missing, the one with the line `{line}`"
                    ),
                    "Keep it as it is.",
                );
            }
        };
        (description.to_owned(), remedy)
    }
}

impl fmt::Display for AnswerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (description, remedy) = self.explain();
        write!(f, "{description}. {remedy}")
    }
}
