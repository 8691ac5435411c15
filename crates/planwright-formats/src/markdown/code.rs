//! Which parts of a text are code, which GitHub neither links, notifies about nor hides.

use std::ops::Range;

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use super::{Lines, outline, parse};

/// For each of `places` (byte offsets of `source`, in order, none at a line end) returns whether it
/// is in [`code`].
///
/// Most texts are decided by their lines alone, about a hundred times as fast as by the parser.
pub fn in_code(source: &str, places: &[usize]) -> Vec<bool> {
    outline::in_code(source, places).unwrap_or_else(|| in_parsed_code(source, places))
}

/// [`in_code`] from the ranges of [`code`].
pub(super) fn in_parsed_code(source: &str, places: &[usize]) -> Vec<bool> {
    let code = code(source);
    let is_code = |place: &usize| range_at(&code, *place).is_some();
    places.iter().map(is_code).collect()
}

/// Returns the byte ranges of `source` that are code, in order and without overlap: code blocks at
/// any depth (whole lines) and code spans (with their backticks).
///
/// A code span is left out where the parser reports a wrong position for it, as it does after a
/// link reference definition: treating code as text is the safe mistake.
pub fn code(source: &str) -> Vec<Range<usize>> {
    let arena = Arena::new();
    code_of(parse(&arena, source), source, &Lines::new(source))
}

/// [`code`] of `source`, which was parsed to `root`.
pub(crate) fn code_of<'a>(
    root: &'a AstNode<'a>,
    source: &str,
    lines: &Lines<'_>,
) -> Vec<Range<usize>> {
    let is_span = |range: &Range<usize>| {
        source
            .get(range.clone())
            .is_some_and(|text| text.len() > 2 && text.starts_with('`') && text.ends_with('`'))
    };
    let range = |node: &'a AstNode<'a>| {
        let data = node.data();
        match data.value {
            NodeValue::CodeBlock(_) => Some(lines.whole(data.sourcepos)),
            NodeValue::Code(_) => Some(lines.exact(data.sourcepos)).filter(is_span),
            _ => None,
        }
    };
    merged(root.descendants().filter_map(range).collect())
}

/// Returns `ranges` in order, with overlapping ones merged.
pub(crate) fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, kept| {
        let overlaps = next.start < kept.end;
        if overlaps {
            kept.end = kept.end.max(next.end);
        }
        overlaps
    });
    ranges
}

/// Returns the one of `ranges`, which are in order and do not overlap, that contains `place`.
pub(crate) fn range_at(ranges: &[Range<usize>], place: usize) -> Option<&Range<usize>> {
    let next = ranges.partition_point(|range| range.start <= place);
    let range = ranges.get(next.checked_sub(1)?)?;
    (place < range.end).then_some(range)
}
