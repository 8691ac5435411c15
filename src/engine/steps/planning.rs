//! `/plan`: writes a plan for the specification in the issue, with the repository's documents and,
//! on request, with research. [`super::enrich`] handles turns, questions and corrections; the
//! prompts and the checks of the plan are here.
//!
//! ```text
//! specification ─▶ knowledge ─▶ research? ─▶ planner
//!     ─▶ plan.md (context.md, research.md) ─▶ checked, saved
//! ```
//!
//! Only the planner's files count (printed ones, if the agent has no tools to write files): other
//! chat messages are never saved as a plan.

mod begin;
mod documents;
mod judge;

pub(super) use begin::begin;
pub(super) use documents::{give, provide, read};
pub use documents::{inline, lay_out};
pub(super) use judge::{fallback, prepared};

use super::Context;
use crate::engine::model::progress::{AgentState, Brief};
use crate::engine::prompt::{PlanPromptInput, Project, PromptContext};

/// Returns the contents of the planner's first prompt.
pub(super) fn specified<'a>(
    context: &'a Context,
    work: &'a AgentState,
    brief: &'a Brief,
    rounds: u32,
    writes: bool,
) -> PlanPromptInput<'a> {
    PlanPromptInput {
        title: &brief.title,
        text: &brief.text,
        guidance: context.trigger.guidance.as_deref(),
        reports: &brief.reports,
        around: PromptContext {
            nonce: &work.nonce,
            canary: &work.canary,
            documents: &brief.documents,
            inline: &brief.inline,
            project: context.checkout.as_deref().map(Project::Copy),
            writes,
        },
        rounds,
        most: context.settings.agent.max_prompt,
    }
}
