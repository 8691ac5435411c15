//! Extraction of the title of a plan from its Markdown tree.
//!
//! Two versions of erk differ in their rules: R0, which saved issues, and HEAD, which opens pull
//! requests. This module applies one set of rules to the texts of both:
//!
//! | | erk R0 | erk HEAD | this module | reason |
//! |---|---|---|---|---|
//! | where | first line `# X`, else first `## X`, else first line that is not `---` | same | first heading 1, else a paragraph `Plan: X` before any heading, else the first heading 2, else the first block if it is a deeper heading, else `Plan: X` anywhere, else, without any heading, the first line | order of erk; `### X` gave a title that included `###` |
//! | `# x` in a code block | counts | counts | ignored | comments in scripts became titles |
//! | front matter | not recognised: without a heading, `title: x` is the first line | same | skipped | it is not part of the plan's text |
//! | `#X`, indented `# X`, `#⇥X`, `# X #`, `X` over `===` | `#X` and `#⇥X` are no headings, the trailing ` #` is kept, `===` is not recognised | same | as in CommonMark | this is how the headings are rendered |
//! | `> # X`, `- # X`, `<!-- # X -->` | no heading | no heading | no heading | |
//! | markup | `**`, `*` and `` ` `` removed | same | all removed, including links and escapes | issue titles do not render markup |
//! | `Plan: X` | kept, so that issues were called `Plan: X` | `Plan: `, `Implementation Plan: `, `Documentation Plan: ` removed once, in this spelling | removed once, in any spelling, also before a dash | HEAD fixed R0; models vary the spelling |
//! | section names (`Overview`, `Phase 1`, `Plan`) | used as title | used as title | skipped | HEAD rejects `Plan` and `Implementation Plan` afterwards |
//! | nothing found | `Implementation Plan` | same, rejected afterwards | `None`; the caller uses the title | a default is meaningless |
//! | maximum length | 100, cut within a word | same; longer explicit titles are rejected | 250, truncated with `…` | GitHub allows 256; a long title is no reason to reject a plan |

use crate::front_matter;
use crate::markdown::{self, Block, BlockKind};
use crate::text::{one_line, truncate_chars};
use crate::vocabulary;
use crate::words::WORDS;

use super::inline;

mod markers;
mod own;

pub use own::{descriptive_title, is_marked_line, own_title, plain_title};

/// Maximum length of a title, in code points. GitHub allows 256 for an issue title, which leaves
/// room for a tag.
pub const MAX_TITLE_CHARS: usize = 250;

/// Maximum length of the title in a paragraph `Plan: X`, in code points.
const MAX_LEAD_CHARS: usize = 120;

/// Returns the title of the plan in `text`, or `None` when it has none of its own and the caller
/// should use the title of the issue.
///
/// The sources are, in this order: the first level-1 heading; a paragraph `Plan: X` before the
/// first heading; the first level-2 heading; the first block if it is a deeper heading; a paragraph
/// `Plan: X` anywhere; in a text without any heading, its first line. Headings that are section
/// names, phases or steps are skipped; front matter, code and HTML are ignored. Markup and one
/// leading `Plan:` or similar are removed, white space is collapsed, and the title is truncated to
/// [`MAX_TITLE_CHARS`]. See the module for the rules of erk.
pub fn title_of(text: &str) -> Option<String> {
    let text = front_matter::body(text);
    let blocks = markdown::blocks(text);
    let first_heading = blocks.iter().position(|block| block.heading().is_some());
    let before = &blocks[..first_heading.unwrap_or(blocks.len())];
    heading(&blocks, 1)
        .or_else(|| lead(before))
        .or_else(|| heading(&blocks, 2))
        .or_else(|| (3..=6).find_map(|level| heading(blocks.get(..1)?, level)))
        .or_else(|| lead(&blocks))
        .or_else(|| match first_heading {
            None => first_line(text, &blocks),
            Some(_) => None,
        })
        .map(|title| truncate_chars(&title, MAX_TITLE_CHARS))
}

/// Removes one leading `Plan:`, `Implementation Plan -` or similar from `heading`, unless nothing
/// would be left.
pub fn strip_prefix(heading: &str) -> &str {
    let start = heading.find(char::is_alphanumeric).unwrap_or(heading.len());
    let words = &heading[start..];
    let without = |prefix: &str| {
        let (head, rest) = words.split_at_checked(prefix.len())?;
        let rest = [":", " - ", " – ", " — ", " -- "]
            .into_iter()
            .find_map(|separator| rest.strip_prefix(separator))?
            .trim();
        (head.eq_ignore_ascii_case(prefix) && !rest.is_empty()).then_some(rest)
    };
    WORDS
        .title_prefixes
        .iter()
        .find_map(without)
        .unwrap_or(heading)
}

/// Normalises a title for comparison: case-folded letters and digits only.
pub fn fold_title(title: &str) -> String {
    vocabulary::fold(title)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect()
}

/// Returns true if `heading` names a section or step of a plan (`Overview`, `Phase 2: …`, `3. Wire
/// it up`).
pub fn is_section_name(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let name = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let numbered = name
        .find(|c: char| !c.is_ascii_digit())
        .is_some_and(|end| end > 0 && name[end..].starts_with(['.', ')', ':']));
    // `0.8.1: old saves`
    let is_version = name.split_once(':').is_some_and(|(version, _)| {
        version.matches('.').count() >= 2 && version.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    // `1.4 → 2.0`
    let behind = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_change = behind.trim_start().starts_with('→');
    let counted = ["phase", "step", "milestone", "task", "part", "stage"]
        .into_iter()
        .filter_map(|word| name.strip_prefix(word))
        .any(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    numbered && !is_version && !is_change || counted || WORDS.section_names.contains(name)
}

fn heading(blocks: &[Block], wanted: u8) -> Option<String> {
    let headings = blocks.iter().filter_map(Block::heading);
    let mut titles = headings
        .filter(|(level, _)| *level == wanted)
        .map(|(_, text)| strip_prefix(&one_line(text)).to_owned());
    titles.find(|title| !title.is_empty() && !is_section_name(title))
}

/// Returns the title of the first paragraph that begins `Plan: X`.
fn lead(blocks: &[Block]) -> Option<String> {
    blocks.iter().filter_map(Block::paragraph).find_map(|text| {
        let line = one_line(text);
        let title = strip_prefix(&line);
        (title.len() < line.len() && title.chars().count() <= MAX_LEAD_CHARS)
            .then(|| title.to_owned())
    })
}

fn first_line(text: &str, blocks: &[Block]) -> Option<String> {
    let block = blocks.iter().find(|block| {
        matches!(
            block.kind,
            BlockKind::Paragraph { .. } | BlockKind::List { .. } | BlockKind::Quote
        )
    })?;
    text[block.span.clone()]
        .lines()
        .map(|line| strip_prefix(&inline::plain(line)).to_owned())
        .find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests;
