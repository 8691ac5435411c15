//! Compares two texts by lines and renders the comparison in a limited size.

use std::collections::HashMap;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Maximum length of a line, in Unicode code points.
const MAX_COLUMNS: usize = 160;
/// Number of code points shown before the difference in a longer line.
const COLUMNS_BEFORE: usize = 40;
/// Maximum number of lines of a comparison.
const MAX_DIFF_LINES: usize = 40;
/// Number of equal lines shown around a difference.
const CONTEXT_LINES: usize = 2;
/// Maximum number of lines of an excerpt.
const MAX_EXCERPT_LINES: usize = 12;

/// Returns the operations that turn `old` into `new`, line by line.
pub(super) fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    // Numbers compare faster than lines with a common prefix.
    let mut numbers = HashMap::new();
    let mut number = |line| {
        let next = numbers.len();
        *numbers.entry(line).or_insert(next)
    };
    let old: Vec<usize> = old.iter().map(|line| number(*line)).collect();
    let new: Vec<usize> = new.iter().map(|line| number(*line)).collect();
    capture_diff_slices(Algorithm::Myers, &old, &new)
}

/// Renders operations for people: `- ` before lines of `old`, `+ ` before lines of `new`, two
/// blanks before lines of both, `...` for omitted lines.
pub(super) fn render(old: &[&str], new: &[&str], operations: Vec<DiffOp>) -> String {
    let mut lines = Vec::new();
    let mut end = 0;
    for group in group_diff_ops(operations, CONTEXT_LINES) {
        if group.first().is_some_and(|op| op.old_range().start > end) {
            lines.push("...".to_owned());
        }
        for op in group {
            end = op.old_range().end;
            let (removed, added) = (&old[op.old_range()], &new[op.new_range()]);
            if matches!(op, DiffOp::Equal { .. }) {
                lines.extend(removed.iter().map(|line| format!("  {}", cut(line, 0))));
                continue;
            }
            for (sign, side) in [('-', removed), ('+', added)] {
                lines.extend(side.iter().enumerate().map(|(index, line)| {
                    let start = match (removed.get(index), added.get(index)) {
                        (Some(one), Some(other)) => first_column(one, other),
                        _ => 0,
                    };
                    format!("{sign} {}", cut(line, start))
                }));
            }
        }
    }
    if end < old.len() {
        lines.push("...".to_owned());
    }
    let total = lines.len();
    if total > MAX_DIFF_LINES {
        lines.truncate(MAX_DIFF_LINES);
        lines.push(format!("... {} more lines", total - MAX_DIFF_LINES));
    }
    lines.join("\n")
}

/// Returns the first lines of a text, each like [`shown`].
pub(super) fn excerpt(text: &str) -> String {
    let lines = text.split('\n').map(shown);
    let total = 1 + memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let mut lines: Vec<String> = lines.take(MAX_EXCERPT_LINES).collect();
    if total > MAX_EXCERPT_LINES {
        lines.push(format!("... {} more lines", total - MAX_EXCERPT_LINES));
    }
    lines.join("\n")
}

/// Returns a line cut to the maximum length, with visible control characters.
pub(super) fn shown(line: &str) -> String {
    cut(line, 0)
}

/// Returns the first column to show of two lines, so that their difference is visible.
fn first_column(one: &str, other: &str) -> usize {
    let long = |line: &str| line.chars().nth(MAX_COLUMNS).is_some();
    if !long(one) && !long(other) {
        return 0;
    }
    let pairs = one.chars().zip(other.chars());
    let same = pairs.take_while(|(one, other)| one == other).count();
    same.saturating_sub(COLUMNS_BEFORE)
}

fn cut(line: &str, from: usize) -> String {
    let mut out = String::new();
    if from > 0 {
        out.push('…');
    }
    let mut rest = line.chars().skip(from);
    out.extend(rest.by_ref().take(MAX_COLUMNS).map(visible));
    if rest.next().is_some() {
        out.push('…');
    }
    out
}

/// Replaces control characters except tabs by their symbols (Unicode block "Control Pictures").
fn visible(c: char) -> char {
    match c {
        '\t' => c,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}
