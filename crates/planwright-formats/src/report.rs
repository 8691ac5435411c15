//! Research reports and plans as files: their metadata, their problems, their file names, and the
//! report that replaces one that an agent failed to write.
//!
//! Everything is read from the Markdown tree, so headings, task boxes and paths in code blocks and
//! comments are ignored.
//!
//! | | shell scripts of benbrastmckie/.config | this module | reason |
//! |---|---|---|---|
//! | sections | level 2, the name anywhere in the heading | levels 2 to 4, the whole name, in any case, without number and colon | `### Recommendations` was missed, `Non-Executive Summary Notes` was matched |
//! | empty summary | stays empty | the first paragraphs of the document | an empty summary is useless to a planner |
//! | recommendations | lines with `-` | top-level items of any list in the section | numbered lists were missed |
//! | file paths | ten extensions, repeated, without `./` and leading dots | any extension, each once, as written | `.github/x.yml` became `/x.yml` |
//! | file paths in code blocks | read | ignored | a listing is not evidence that the file was examined |
//! | phases | `## Phase 1` | also `### Phase 1 — x`, `#### - [x] Phase 1.2: x`, with their state | phases were found in 9 of 45 real plans |
//! | task boxes | `- [ ]`, `- [x]` | all bullets, `[X]` too | |
//! | complexity | first word after `**Risk**:` | `**Complexity**:`, else `**Risk**:`, before the first phase, and only a known level | the complexity of a phase is not that of the plan |

use std::fmt::{Display, Formatter};
use std::path::Path;

use unicode_normalization::UnicodeNormalization;

mod answer;
mod check;
mod digest;
mod metadata;
mod paths;
mod placeholder;
mod plan;
mod structure;

#[cfg(test)]
mod tests;

pub use answer::{degraded_report, is_degraded, unwrap_document};
pub use check::{
    DocumentProblem, MAX_REPORT_CHARS, MIN_PLAN_BYTES, MIN_REPORT_BYTES, check_plan, check_report,
    looks_like_plan,
};
pub use digest::{Reduction, estimate_tokens, render_digest};
pub use metadata::{ReportMetadata, metadata};
pub use plan::{PlanMetadata, Progress, plan_metadata};
pub use structure::{PlanHeading, PlanHeadingKind, phase_heading};

/// Maximum length of a [`slug`], in characters.
const MAX_SLUG_CHARS: usize = 50;

/// Numbers of reports by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportTally {
    /// Reports that were requested.
    pub expected: usize,
    /// Reports that agents wrote and that passed the checks.
    pub ok: usize,
    /// Replacements made from an agent's answer ([`degraded_report`]). They do not count towards
    /// the threshold.
    pub degraded: usize,
    /// Topics without any report.
    pub failed: usize,
}

impl ReportTally {
    /// Returns true if enough reports passed.
    pub fn passes(self) -> bool {
        self.ok >= self.needed()
    }

    /// Returns the number of reports that must pass: half of the expected ones, rounded up, and at
    /// least one.
    pub fn needed(self) -> usize {
        self.expected.div_ceil(2).max(1)
    }
}

/// Writes, for example, `2 of 5 topics have a report`.
impl Display for ReportTally {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let s = if self.expected == 1 { "" } else { "s" };
        let have = if self.ok == 1 { "has" } else { "have" };
        write!(
            f,
            "{} of {} topic{s} {have} a report",
            self.ok, self.expected
        )
    }
}

/// Returns the number of the next report in a directory with files of these `names`.
///
/// It is one more than the highest number of a file whose name begins with exactly three digits and
/// `_` or `-` and ends in `.md`; `001` without such a file. Gaps are not filled. `999` is followed
/// by `1000`, which is not recognised again.
pub fn next_number<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let numbers = names.into_iter().filter_map(|name| {
        let (digits, rest) = name.split_at_checked(3)?;
        let numbered = digits.bytes().all(|byte| byte.is_ascii_digit())
            && rest.starts_with(['_', '-'])
            && Path::new(rest)
                .extension()
                .is_some_and(|end| end.eq_ignore_ascii_case("md"));
        numbered.then(|| digits.parse::<u32>().ok()).flatten()
    });
    format!("{:03}", numbers.max().unwrap_or(0) + 1)
}

/// Converts a topic to a part of a file name.
///
/// The result consists of lower-case ASCII letters and digits, without accents, separated by single
/// `-`, at most 50 characters; `report` when nothing is left.
pub fn slug(topic: &str) -> String {
    let mut slug = String::new();
    for c in topic.nfd() {
        if slug.len() >= MAX_SLUG_CHARS {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !('\u{300}'..='\u{36f}').contains(&c) && !slug.is_empty() && !slug.ends_with('-')
        {
            slug.push('-');
        }
    }
    match slug.trim_end_matches('-') {
        "" => "report".to_owned(),
        slug => slug.to_owned(),
    }
}

/// Returns the file name of a report, such as `001-retry-policy.md`. `number` comes from
/// [`next_number`].
pub fn report_file(number: &str, topic: &str) -> String {
    format!("{number}-{}.md", slug(topic))
}
