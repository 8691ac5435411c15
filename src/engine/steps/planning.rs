//! `/plan`: a plan for the specification in the issue, with the repository's knowledge and, where it is asked for, with
//! research. Turns, questions and corrections are those of [`super::enrich`]; what is asked and what counts as a plan is here.
//!
//! ```text
//! specification ─▶ knowledge ─▶ research? ─▶ planner ─▶ plan.md (context.md, research.md) ─▶ checked, saved
//! ```
//!
//! What the planner writes counts, not what it says: chat is never saved as a plan.

mod begin;
mod documents;
mod judge;

pub(super) use begin::begin;
pub(super) use documents::{give, provide, read};
pub use documents::{handed, inline, lay_out};
pub use judge::{Outcome, holds_plan, look};
pub(super) use judge::{fallback, judge, keep, rescued, wrote};

use super::super::progress::{Brief, Work};
use super::super::prompt::{Around, Specified};
use super::Context;

/// The plan.
pub const PLAN: &str = "plan.md";
/// What somebody who carries it out must know.
pub const CONTEXT: &str = "context.md";
/// What was looked at.
pub const RESEARCH: &str = "research.md";
/// The files that the planner is asked for.
pub const FILES: [&str; 3] = [PLAN, CONTEXT, RESEARCH];

/// What the planner is told first.
pub(super) fn specified<'a>(
    context: &'a Context,
    work: &'a Work,
    brief: &'a Brief,
    rounds: u32,
    writes: bool,
) -> Specified<'a> {
    Specified {
        title: &brief.title,
        text: &brief.text,
        guidance: &context.trigger.guidance,
        reports: &brief.reports,
        around: Around {
            nonce: &work.nonce,
            canary: &work.canary,
            documents: &brief.documents,
            inline: &brief.inline,
            project: None,
            writes,
        },
        rounds,
        most: context.settings.agent.most_prompt,
    }
}
