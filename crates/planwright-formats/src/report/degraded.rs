//! The document that stands in for a report that an agent did not write, and says so.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use super::front_matter;
use super::heading::name;
use super::prose::{items, lead, line};
use crate::markdown;
use crate::plan::inline::{self, Piece};

/// What the metadata of such a document say of where it comes from.
const MARK: &str = "made from the agent's text; the agent wrote no report";
/// Lines of the text that the summary is taken from.
const LOOKED_AT: usize = 20;
/// Lines of the summary.
const SUMMARY: usize = 5;

/// A report made of what an agent said: a title, metadata with a mark that [`is_degraded`] knows, a summary (the first
/// five lines that are not blank among the first twenty, as a quote, so that nothing in them reaches beyond it), and
/// the whole text as findings. The text's own headings stay: what it recommends is found.
pub fn degraded(topic: &str, date: &str, agent_name: &str, text: &str) -> String {
    let topic = inline::one_line(topic);
    let title = inline::line(
        |escape| format!("# {}", escape.apply(&topic)),
        |line| inline::pieces(line) == [Piece::Heading(1, topic.clone())],
    );
    let date = inline::shown(&inline::one_line(date));
    let agent = inline::shown(&inline::one_line(agent_name));
    let mut out = format!(
        "{title}\n\n## Metadata\n\n- **Source**: {MARK}\n- **Date**: {date}\n- **Agent**: {agent}\n\n## Executive \
         Summary\n\n"
    );
    let lines = text.split(['\n', '\r']).take(LOOKED_AT);
    for line in lines.filter(|line| !line.trim().is_empty()).take(SUMMARY) {
        out.push_str(&format!("> {}\n", line.trim_end()));
    }
    out.push_str(&format!("\n## Findings\n\n{}\n", text.trim_end()));
    out
}

/// Whether a document is one of [`degraded`], by its first section.
pub fn is_degraded(markdown: &str) -> bool {
    let (_, body) = front_matter::tolerant(markdown);
    let arena = Arena::new();
    marked(markdown::parse(&arena, body))
}

/// The same for a tree.
pub(super) fn marked<'a>(root: &'a AstNode<'a>) -> bool {
    let mut blocks = root.children();
    let title = blocks.next().and_then(heading);
    let metadata = blocks.next().and_then(heading);
    let begins =
        matches!(title, Some((1, _))) && metadata.is_some_and(|(_, name)| name == "metadata");
    begins
        && blocks
            .next()
            .filter(|list| matches!(list.data().value, NodeValue::List(_)))
            .and_then(|list| items(list).next())
            .and_then(lead)
            .is_some_and(|first| line(first) == format!("Source: {MARK}"))
}

fn heading<'a>(node: &'a AstNode<'a>) -> Option<(u8, String)> {
    match &node.data().value {
        NodeValue::Heading(heading) => Some((heading.level, name(&node.collect_text()))),
        _ => None,
    }
}
