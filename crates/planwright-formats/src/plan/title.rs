//! The title of a plan, from its tree, and the gate a title must pass.
//!
//! One rule for the texts of both of erk's eras: R0, which saved issues, and HEAD, which opens pull requests.
//!
//! | | erk R0 | erk HEAD | ours | why |
//! |---|---|---|---|---|
//! | where | first line `# X`, else first `## X`, else first line that is not `---` | the same | first heading 1, else a paragraph `Plan: X` before any heading, else the first heading 2, else the text's first block when it is a deeper heading, else `Plan: X` anywhere, else, without any heading, the first line | erk's order; `### X` gave a title with its `###` |
//! | `# x` in a code block | counts | counts | does not | a comment in a script became the title |
//! | front matter | not understood: without a heading `title: x` is the first line | the same | left out | it is not the plan's text |
//! | `#X`, indented `# X`, `#⇥X`, `# X #`, `X` over `===` | `#X` and `#⇥X` no heading, the ` #` kept, `===` not seen | the same | as Markdown has it | the reader sees those headings |
//! | `> # X`, `- # X`, `<!-- # X -->` | no heading | no heading | no heading | |
//! | markup | `**`, `*` and `` ` `` taken off | the same | all of it, links and escapes too | an issue's title shows no markup |
//! | `Plan: X` | stays, so that issues were called `Plan: X` | `Plan: `, `Implementation Plan: `, `Documentation Plan: ` taken off once, in this spelling | taken off once, in any spelling, also before a dash | HEAD mended R0; models do not keep to one spelling |
//! | a heading that names a part (`Overview`, `Phase 1`, `Plan`) | the title | the title | skipped | HEAD refuses `Plan` and `Implementation Plan` afterwards |
//! | nothing found | `Implementation Plan` | the same, refused afterwards | `None`; the caller has the title | a default says nothing |
//! | longest | 100, cut in the middle of a word | the same; longer given titles refused | 250, cut with `…` | the title of an issue holds 256; nobody is stopped for a long title |

use super::inline;
use crate::markdown::{self, Block, Kind};
use crate::vocabulary;

mod gate;
mod own;

pub use gate::{TitleFault, gate_title};
pub use own::{own_title, said};

/// Longest title in Unicode code points. GitHub allows 256 for an issue title; a little is left for a tag.
pub const MAX_CHARS: usize = 250;
/// Shortest title in Unicode code points (erk's `validate_pr_title`).
pub const MIN_CHARS: usize = 5;

/// Words that stand before `:` or a dash in front of the real title.
const PREFIXES: [&str; 8] = [
    "plan",
    "the plan",
    "implementation plan",
    "documentation plan",
    "development plan",
    "technical plan",
    "proposed plan",
    "proposed implementation plan",
];

/// Headings that name a part of a plan, not the plan.
const SECTION_NAMES: [&str; 57] = [
    "acceptance criteria",
    "action items",
    "action plan",
    "analysis",
    "approach",
    "architecture",
    "background",
    "changes",
    "checklist",
    "context",
    "current state",
    "current state analysis",
    "dependencies",
    "description",
    "design",
    "details",
    "documentation",
    "enrichment details",
    "files",
    "files to change",
    "files to modify",
    "goal",
    "goals",
    "implementation",
    "implementation phases",
    "implementation plan",
    "implementation steps",
    "implementation strategy",
    "introduction",
    "metadata",
    "motivation",
    "next steps",
    "non-goals",
    "notes",
    "objective",
    "open questions",
    "out of scope",
    "overview",
    "phases",
    "plan",
    "problem",
    "problem statement",
    "proposal",
    "proposed changes",
    "rationale",
    "references",
    "requirements",
    "risks",
    "rollout",
    "scope",
    "solution",
    "steps",
    "success criteria",
    "summary",
    "tasks",
    "testing",
    "untitled plan",
];

/// The title of the plan in `text`, or `None` when it has none of its own; the caller then takes the title.
///
/// The first level-1 heading; else a paragraph `Plan: X` before the first heading; else the first level-2 heading; else
/// the first block, when it is a deeper heading; else a paragraph `Plan: X` anywhere; else, in a text without any
/// heading, its first line. Headings that are mere section names, phases or steps are passed over; front matter, code
/// and HTML are not looked at. Markup is removed, white space collapsed, one leading `Plan:` (or the like) taken off,
/// and the rest cut to [`MAX_CHARS`]. See the module for erk's rules.
pub fn title_of(text: &str) -> Option<String> {
    let text = &text[front_matter(text)..];
    let blocks = markdown::blocks(text);
    let first_heading = blocks
        .iter()
        .position(|block| matches!(block.kind, Kind::Heading { .. }));
    let before = &blocks[..first_heading.unwrap_or(blocks.len())];
    heading(&blocks, 1)
        .or_else(|| lead(before))
        .or_else(|| heading(&blocks, 2))
        .or_else(|| (3..=6).find_map(|level| heading(blocks.get(..1)?, level)))
        .or_else(|| lead(&blocks))
        .or_else(|| {
            first_heading
                .is_none()
                .then(|| first_line(text, &blocks))
                .flatten()
        })
        .map(|title| cut(&title, MAX_CHARS))
}

/// `text` cut to `max` code points, the last one an ellipsis when something was cut off.
pub fn cut(text: &str, max: usize) -> String {
    let start_of = |index: usize| text.char_indices().nth(index).map(|(at, _)| at);
    if start_of(max).is_none() {
        return text.to_owned();
    }
    let keep = start_of(max.saturating_sub(1)).unwrap_or(0);
    format!("{}…", text[..keep].trim_end())
}

/// `heading` without one leading `Plan:`, `Implementation Plan -` or the like; unchanged when nothing would be left.
pub fn strip_prefix(heading: &str) -> &str {
    let start = heading.find(char::is_alphanumeric).unwrap_or(heading.len());
    let words = &heading[start..];
    for prefix in PREFIXES {
        let Some(rest) = words
            .get(..prefix.len())
            .filter(|head| head.eq_ignore_ascii_case(prefix))
            .and_then(|_| words.get(prefix.len()..))
        else {
            continue;
        };
        let rest = rest.strip_prefix(':').or_else(|| {
            [" - ", " – ", " — ", " -- "]
                .into_iter()
                .find_map(|dash| rest.strip_prefix(dash))
        });
        if let Some(rest) = rest.map(str::trim).filter(|rest| !rest.is_empty()) {
            return rest;
        }
    }
    heading
}

/// A title for comparison: folded, without what is not a letter or digit.
pub fn fold_title(title: &str) -> String {
    vocabulary::fold(title)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect()
}

/// True when `heading` names a part of a plan (`Overview`, `Phase 2: …`, `3. Wire it up`).
pub fn is_section_name(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let name = lower.trim_matches(|c: char| !c.is_alphanumeric());
    // `1. Overview` and `2) Steps` are sections, and so is everything that is numbered like a step.
    let numbered = name
        .find(|c: char| !c.is_ascii_digit())
        .is_some_and(|end| end > 0 && name[end..].starts_with(['.', ')', ':']));
    let counted = ["phase", "step", "milestone", "task", "part", "stage"]
        .into_iter()
        .filter_map(|word| name.strip_prefix(word))
        .any(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    numbered || counted || SECTION_NAMES.contains(&name)
}

fn heading(blocks: &[Block], wanted: u8) -> Option<String> {
    blocks.iter().find_map(|block| match &block.kind {
        Kind::Heading { level, text, .. } if *level == wanted => {
            let line = inline::one_line(text);
            let title = strip_prefix(&line);
            (!title.is_empty() && !is_section_name(title)).then(|| title.to_owned())
        }
        _ => None,
    })
}

/// A paragraph that begins `Plan: X`.
fn lead(blocks: &[Block]) -> Option<String> {
    blocks.iter().find_map(|block| match &block.kind {
        Kind::Paragraph { text } => {
            let line = inline::one_line(text);
            let title = strip_prefix(&line);
            (title.len() < line.len() && title.chars().count() <= 120).then(|| title.to_owned())
        }
        _ => None,
    })
}

fn first_line(text: &str, blocks: &[Block]) -> Option<String> {
    let block = blocks.iter().find(|block| {
        matches!(
            block.kind,
            Kind::Paragraph { .. } | Kind::List { .. } | Kind::Quote
        )
    })?;
    text[block.span.clone()]
        .lines()
        .map(inline::plain)
        .map(|line| strip_prefix(&line).to_owned())
        .find(|line| !line.is_empty())
}

/// Length of YAML front matter at the start of `text`; 0 when there is none. A lone `---` is a rule, not front matter.
pub fn front_matter(text: &str) -> usize {
    let mut at = 0;
    let mut keys = 0;
    for (index, line) in text.split_inclusive('\n').enumerate().take(200) {
        at += line.len();
        let line = line.trim_end();
        match index {
            0 if line != "---" => return 0,
            0 => {}
            _ if line == "---" || line == "..." => return if keys > 0 { at } else { 0 },
            _ if line.starts_with([' ', '#', '-']) => {}
            _ if line
                .split_once(':')
                .is_some_and(|(key, _)| !key.contains(' ')) =>
            {
                keys += 1;
            }
            _ => return 0,
        }
    }
    0
}

#[cfg(test)]
mod tests;
