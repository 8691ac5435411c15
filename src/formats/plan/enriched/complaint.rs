//! What an agent is told of an answer that is not accepted.

use thiserror::Error;

use crate::formats::plan::gate::ContentFault;
use crate::formats::plan::title::TitleFault;

/// Why an answer is not accepted. The text is one or two sentences for the agent: what is wrong, and what to write.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Complaint {
    /// No `# Plan: <title>`.
    #[error("The first heading is not `# Plan: ` with a title. Begin the answer with that line.")]
    NoTitle,
    /// The title gate.
    #[error("The title is refused: {0}. Say in a few words what the plan will do.")]
    Title(TitleFault),
    /// No `## Enrichment Details`.
    #[error(
        "The section `## Enrichment Details` is missing. It stands below the title and ends with a line `---`."
    )]
    NoDetails,
    /// A second `## Enrichment Details`, in the plan.
    #[error(
        "The plan has a section `## Enrichment Details` of its own. There is one, above the line `---`."
    )]
    SecondDetails,
    /// Nothing behind the rule.
    #[error("There is no plan behind the line `---`. Write the whole plan there.")]
    NoBody,
    /// The content gate.
    #[error("The plan is refused: {0}. Write it out, with headings and lists outside of code.")]
    Content(ContentFault),
    /// Nothing that can be worked off.
    #[error(
        "The plan has no steps. Write them as a numbered list below `## Implementation Steps`, or as headings `### Phase 1: …`."
    )]
    NoSteps,
    /// No section for the context.
    #[error(
        "The section `## Context & Understanding` is missing. Put what was learned there, one `###` heading for each category that has something."
    )]
    NoContext,
    /// It is there and empty.
    #[error(
        "The section `## Context & Understanding` has no text. Write what was learned under the names of the categories."
    )]
    EmptyContext,
    /// A part of a form that was not filled in.
    #[error("The placeholder `{0}` is left in the answer. Put the real text in its place.")]
    Placeholder(String),
    /// `<!--QUESTION:` in the plan.
    #[error(
        "A question marker is left in the plan. A plan asks nothing: decide, and write the assumption down."
    )]
    QuestionLeft,
    /// The plan is the one that was found.
    #[error(
        "Guidance was given, but the plan is the same as before, byte for byte. Work the guidance into the places it is about."
    )]
    GuidanceWithoutEffect,
    /// The answer says so itself.
    #[error(
        "Guidance was given, and the answer says that it was not applied. Work it into the plan and say `yes`."
    )]
    GuidanceNotApplied,
    /// Most of the plan that was found is gone.
    #[error(
        "Only {percent} % of the given plan is left. Keep all of it that the guidance does not change; a plan is not a summary."
    )]
    Shrunk {
        /// What is left, in percent of its characters.
        percent: usize,
    },
    /// A fenced block of the plan that was found is gone: its first line.
    #[error(
        "A code block of the given plan is missing, the one with the line `{0}`. Keep it as it is."
    )]
    CodeLost(String),
}
