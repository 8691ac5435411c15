//! Research reports and plans as documents in files: what is read from them, what is wrong with them, how their files are
//! named, and the report that stands in for one that was not written.
//!
//! Everything is decided by the tree, so headings, boxes and paths in code blocks and comments count for nothing.
//!
//! | | the shell scripts of benbrastmckie/.config | ours | why |
//! |---|---|---|---|
//! | sections | level 2, the name anywhere in the heading | levels 2 to 4, the whole name, in any case, without number and colon | `### Recommendations` was lost, `Non-Executive Summary Notes` was taken |
//! | an empty summary | stays empty | the first paragraphs of the document | a planner can do nothing with an empty one |
//! | recommendations | lines with `-` | top-level items of any list of the section | numbered ones were lost |
//! | file paths | ten extensions, each as often as it is named, without `./` and leading dots | any extension, each once, as written | `.github/x.yml` became `/x.yml` |
//! | file paths in code blocks | read | not read | a listing is no place that somebody looked at |
//! | phases | `## Phase 1` | also `### Phase 1 — x`, `#### - [x] Phase 1.2: x`, with their state | found phases in 9 of 45 real plans |
//! | boxes | `- [ ]`, `- [x]` | all bullets, `[X]` too | |
//! | complexity | first word behind `**Risk**:` | `**Complexity**:`, else `**Risk**:`, before the first phase, and only a word that is a level | a phase's own complexity is not the plan's |

mod check;
mod complaint;
mod degraded;
mod files;
mod front_matter;
mod handed;
mod heading;
mod metadata;
mod paths;
mod placeholder;
mod plan;
mod prose;
mod tally;
mod unwrapped;

#[cfg(test)]
mod tests;

pub use check::{
    LARGEST_REPORT, SMALLEST_PLAN, SMALLEST_REPORT, check_plan, check_report, looks_like_plan,
};
pub use complaint::Complaint;
pub use degraded::{degraded, is_degraded};
pub use files::{next_number, report_file, slug};
pub use front_matter::{FrontMatter, FrontMatterError, front_matter};
pub use handed::{Reduction, handed, tokens};
pub use heading::{Named, PlanHeading, phase_heading};
pub use metadata::{ReportMetadata, metadata};
pub use plan::{PlanMetadata, Progress, plan_metadata};
pub use tally::{Tally, threshold};
pub use unwrapped::unwrapped;
