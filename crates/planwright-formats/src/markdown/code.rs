//! Where a text is code: the places that GitHub neither links, notifies nor hides.

use std::ops::Range;

use comrak::Arena;
use comrak::nodes::NodeValue;

use super::{Lines, outline, parse};

/// For each of `places` (byte offsets of `source`, in order, none at a line end) whether it is in [`code`].
///
/// Most texts are decided by their lines alone, some hundred times as fast as by the parser.
pub fn in_code(source: &str, places: &[usize]) -> Vec<bool> {
    outline::in_code(source, places).unwrap_or_else(|| by_parser(source, places))
}

/// [`in_code`] from the ranges of [`code`].
pub(super) fn by_parser(source: &str, places: &[usize]) -> Vec<bool> {
    let code = code(source);
    places
        .iter()
        .map(|place| {
            let next = code.partition_point(|range| range.start <= *place);
            next > 0 && code.get(next - 1).is_some_and(|range| *place < range.end)
        })
        .collect()
}

/// Byte ranges of `source` that are code, in order and without overlap: code blocks at any depth (whole lines) and
/// code spans (back-ticks included).
///
/// Where the parser's position of a code span does not hold up (it is off after a link reference definition), the
/// span is left out: a reader that treats code as text errs on the safe side.
pub fn code(source: &str) -> Vec<Range<usize>> {
    let arena = Arena::new();
    let root = parse(&arena, source);
    let lines = Lines::new(source);
    let mut found = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        let (start, end) = (data.sourcepos.start, data.sourcepos.end);
        match data.value {
            NodeValue::CodeBlock(_) => {
                let first = lines.start(start.line);
                found.push(first..lines.span(end.line).end.max(first));
            }
            NodeValue::Code(_) => {
                let first = lines.start(start.line) + start.column.saturating_sub(1);
                let last = lines.start(end.line) + end.column;
                let holds = source.get(first..last).is_some_and(|text| {
                    text.len() > 2 && text.starts_with('`') && text.ends_with('`')
                });
                if holds {
                    found.push(first..last);
                }
            }
            _ => {}
        }
    }
    united(found)
}

/// `ranges` in order, those that overlap as one.
pub(crate) fn united(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
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
