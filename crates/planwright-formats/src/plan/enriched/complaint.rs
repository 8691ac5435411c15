//! What an agent is told of an answer that is not accepted, and what people are told of it.

use std::fmt;

use crate::plan::gate::ContentFault;
use crate::plan::title::TitleFault;

/// Why an answer is not accepted. `Display` is for the agent: what is wrong, and what to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Complaint {
    /// No `# Plan: <title>`.
    NoTitle,
    /// The title gate.
    Title(TitleFault),
    /// No `## Enrichment Details`.
    NoDetails,
    /// A second `## Enrichment Details`, in the plan.
    SecondDetails,
    /// Nothing behind the rule.
    NoBody,
    /// The content gate.
    Content(ContentFault),
    /// Nothing that can be worked off.
    NoSteps,
    /// No section for the context.
    NoContext,
    /// It is there and empty.
    EmptyContext,
    /// A part of a form that was not filled in.
    Placeholder(String),
    /// `<!--QUESTION:` in the plan.
    QuestionLeft,
    /// The plan is the one that was found.
    GuidanceWithoutEffect,
    /// The answer says so itself.
    GuidanceNotApplied,
    /// Most of the plan that was found is gone.
    Shrunk {
        /// What is left, in percent of its characters.
        percent: usize,
    },
    /// A fenced block of the plan that was found is gone: its first line.
    CodeLost(String),
}

impl Complaint {
    /// What is wrong: one sentence for people, without its full stop.
    pub fn what(&self) -> String {
        let text = match self {
            Self::NoTitle => "The first heading is not `# Plan:` with a title",
            Self::Title(fault) => return format!("The title is refused: {fault}"),
            Self::NoDetails => "The section `## Enrichment Details` is missing",
            Self::SecondDetails => "The plan has a section `## Enrichment Details` of its own",
            Self::NoBody => "There is no plan behind the line `---`",
            Self::Content(fault) => return format!("The plan is refused: {fault}"),
            Self::NoSteps => "The plan has no steps",
            Self::NoContext => "The section `## Context & Understanding` is missing",
            Self::EmptyContext => "The section `## Context & Understanding` has no text",
            Self::Placeholder(text) => {
                return format!("The placeholder `{text}` is left in the answer");
            }
            Self::QuestionLeft => "A question marker is left in the plan",
            Self::GuidanceWithoutEffect => {
                "Guidance was given, but the plan is the same as before, byte for byte"
            }
            Self::GuidanceNotApplied => {
                "Guidance was given, and the answer says that it was not applied"
            }
            Self::Shrunk { percent } => {
                return format!("Only {percent} % of the given plan is left");
            }
            Self::CodeLost(line) => {
                return format!(
                    "A code block of the given plan is missing, the one with the line `{line}`"
                );
            }
        };
        text.to_owned()
    }

    /// What the agent is to write instead.
    fn ask(&self) -> &'static str {
        match self {
            Self::NoTitle => "Begin the answer with that line.",
            Self::Title(_) => "Say in a few words what the plan will do.",
            Self::NoDetails => "It stands below the title and ends with a line `---`.",
            Self::SecondDetails => "There is one, above the line `---`.",
            Self::NoBody => "Write the whole plan there.",
            Self::Content(_) => "Write it out, with headings and lists outside of code.",
            Self::NoSteps => {
                "Write them as a numbered list below `## Implementation Steps`, or as headings `### Phase 1: …`."
            }
            Self::NoContext => {
                "Put what was learned there, one `###` heading for each category that has something."
            }
            Self::EmptyContext => "Write what was learned under the names of the categories.",
            Self::Placeholder(_) => "Put the real text in its place.",
            Self::QuestionLeft => "A plan asks nothing: decide, and write the assumption down.",
            Self::GuidanceWithoutEffect => "Work the guidance into the places it is about.",
            Self::GuidanceNotApplied => "Work it into the plan and say `yes`.",
            Self::Shrunk { .. } => {
                "Keep all of it that the guidance does not change; a plan is not a summary."
            }
            Self::CodeLost(_) => "Keep it as it is.",
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.what(), self.ask())
    }
}
