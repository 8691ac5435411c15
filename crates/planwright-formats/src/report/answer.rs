//! Documents in an agent's answer: unwrapping one that was printed, and making a report of the
//! answer itself.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use super::structure::{items, lead, section_name, visible_line};
use crate::front_matter;
use crate::markdown::{self, BlockKind, blocks};
use crate::plan::inline::{self, Piece};
use crate::text::one_line;

/// Maximum length of a preamble before the title that is removed, in bytes.
const MAX_PREAMBLE_BYTES: usize = 2_000;
/// Value of `Source` in the metadata of a degraded report.
const MARK: &str = "made from the agent's text; the agent wrote no report";
/// Number of lines of the answer from which the summary is taken.
const SUMMARY_SOURCE_LINES: usize = 20;
/// Maximum number of lines in the summary.
const MAX_SUMMARY_LINES: usize = 5;

/// Returns the document in an agent's printed answer.
///
/// Removes a fence around the whole document and a short preamble before its first heading of level
/// 1. A text without these is returned unchanged.
pub fn unwrap_document(text: &str) -> &str {
    without_preamble(fenced_document(text).unwrap_or(text))
}

/// Returns the content of the only Markdown fence, if it has a title and no heading stands outside
/// of it.
fn fenced_document(text: &str) -> Option<&str> {
    let blocks = blocks(text);
    if blocks.iter().any(|block| block.heading().is_some()) {
        return None;
    }
    let mut fences = blocks.iter().filter(|block| {
        matches!(&block.kind, BlockKind::Code { info, fenced: true, .. }
            if ["", "md", "markdown"].contains(&info.trim().to_ascii_lowercase().as_str()))
    });
    let fence = fences.next()?;
    if fences.next().is_some() {
        return None;
    }
    let (_, rest) = text[fence.span.clone()].split_once('\n')?;
    let inside = match fence.kind {
        BlockKind::Code { closed: true, .. } => {
            rest.rsplit_once('\n').map_or("", |(inside, _)| inside)
        }
        _ => rest,
    };
    let titled = self::blocks(inside)
        .iter()
        .any(|block| matches!(block.heading(), Some((1, _))));
    titled.then_some(inside)
}

fn without_preamble(text: &str) -> &str {
    let blocks = blocks(text);
    let is_title = |block: &markdown::Block| matches!(block.heading(), Some((1, _)));
    let Some(title) = blocks.iter().position(is_title) else {
        return text;
    };
    let prose = blocks[..title]
        .iter()
        .all(|block| matches!(block.kind, BlockKind::Paragraph { .. } | BlockKind::Rule));
    // Front matter parses as a rule and a heading.
    let start = blocks[title].span.start;
    if prose && start <= MAX_PREAMBLE_BYTES && !text.trim_start().starts_with("---") {
        &text[start..]
    } else {
        text
    }
}

/// Renders a report from an agent's answer, for an agent that wrote no report.
///
/// It has a title, metadata with a mark that [`is_degraded`] recognises, a summary (the first five
/// non-blank lines of the first twenty, as a quote, so that their markup ends there) and the whole
/// answer as findings. Headings of the answer are kept, so that its recommendations are found.
pub fn degraded_report(topic: &str, date: &str, agent_name: &str, text: &str) -> String {
    let topic = one_line(topic);
    let title = inline::line(
        |escape| format!("# {}", escape.apply(&topic)),
        |line| inline::pieces(line) == [Piece::Heading(1, topic.clone())],
    );
    let date = inline::shown(&one_line(date));
    let agent = inline::shown(&one_line(agent_name));
    let mut out = format!(
        "{title}\n\n## Metadata\n\n- **Source**: {MARK}\n- **Date**: {date}\n- **Agent**: {agent}\n\n## Executive \
         Summary\n\n"
    );
    let lines = text.split(['\n', '\r']).take(SUMMARY_SOURCE_LINES);
    for line in lines
        .filter(|line| !line.trim().is_empty())
        .take(MAX_SUMMARY_LINES)
    {
        out.push_str(&format!("> {}\n", line.trim_end()));
    }
    out.push_str(&format!("\n## Findings\n\n{}\n", text.trim_end()));
    out
}

/// Returns true if a document was made by [`degraded_report`], judging by its first section.
pub fn is_degraded(markdown: &str) -> bool {
    let arena = Arena::new();
    has_mark(markdown::parse(&arena, front_matter::body(markdown)))
}

/// Returns true if the first section of a parsed document has the mark of a degraded report.
pub(super) fn has_mark<'a>(root: &'a AstNode<'a>) -> bool {
    let mut blocks = root.children();
    let heading = |node: &'a AstNode<'a>| match &node.data().value {
        NodeValue::Heading(heading) => Some((heading.level, section_name(&node.collect_text()))),
        _ => None,
    };
    let title = blocks.next().and_then(heading);
    let metadata = blocks.next().and_then(heading);
    matches!(title, Some((1, _)))
        && metadata.is_some_and(|(_, name)| name == "metadata")
        && blocks
            .next()
            .filter(|list| matches!(list.data().value, NodeValue::List(_)))
            .and_then(|list| items(list).next())
            .and_then(lead)
            .is_some_and(|first| visible_line(first) == format!("Source: {MARK}"))
}
