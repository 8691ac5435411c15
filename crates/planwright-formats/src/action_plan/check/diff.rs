//! Two texts side by side, line by line, short enough to be read.

use std::collections::HashMap;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Longest line that is shown, in Unicode code points.
const COLUMNS: usize = 160;
/// Of a longer line that differs late, this much is shown before the difference.
const BEFORE: usize = 40;
/// Most lines of a comparison.
const DIFF_LINES: usize = 40;
/// Equal lines that are shown around those that differ.
const CONTEXT: usize = 2;
/// Most lines of an excerpt.
const EXCERPT_LINES: usize = 12;

/// The steps from `old` to `new`, line by line.
pub(super) fn steps(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    // Numbers are compared faster than lines, which may begin alike.
    let mut numbers = HashMap::new();
    let mut number = |line| {
        let next = numbers.len();
        *numbers.entry(line).or_insert(next)
    };
    let old: Vec<usize> = old.iter().map(|line| number(*line)).collect();
    let new: Vec<usize> = new.iter().map(|line| number(*line)).collect();
    capture_diff_slices(Algorithm::Myers, &old, &new)
}

/// The comparison for people: `- ` before lines of `old`, `+ ` before lines of `new`, two blanks before lines of both,
/// `...` for what is left out.
pub(super) fn shown_steps(old: &[&str], new: &[&str], steps: Vec<DiffOp>) -> String {
    let mut lines = Vec::new();
    let mut behind = 0;
    for group in group_diff_ops(steps, CONTEXT) {
        if group
            .first()
            .is_some_and(|op| op.old_range().start > behind)
        {
            lines.push("...".to_owned());
        }
        for op in group {
            behind = op.old_range().end;
            let (gone, come) = (&old[op.old_range()], &new[op.new_range()]);
            if matches!(op, DiffOp::Equal { .. }) {
                lines.extend(gone.iter().map(|line| format!("  {}", cut(line, 0))));
                continue;
            }
            let start = |index: usize| match (gone.get(index), come.get(index)) {
                (Some(one), Some(other)) => start(one, other),
                _ => 0,
            };
            let minus = gone.iter().enumerate();
            lines.extend(minus.map(|(index, line)| format!("- {}", cut(line, start(index)))));
            let plus = come.iter().enumerate();
            lines.extend(plus.map(|(index, line)| format!("+ {}", cut(line, start(index)))));
        }
    }
    if behind < old.len() {
        lines.push("...".to_owned());
    }
    shortened(lines, DIFF_LINES)
}

/// The first lines of a text, as [`shown`].
pub(super) fn excerpt(text: &str) -> String {
    let lines = text.split('\n').map(|line| cut(line, 0));
    // One more than are shown is enough to know that there are more.
    let total = 1 + memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let mut lines: Vec<String> = lines.take(EXCERPT_LINES).collect();
    if total > EXCERPT_LINES {
        lines.push(format!("... {} more lines", total - EXCERPT_LINES));
    }
    lines.join("\n")
}

/// One line of somebody's text, cut, with control characters made visible.
pub(super) fn shown(line: &str) -> String {
    cut(line, 0)
}

fn shortened(mut lines: Vec<String>, most: usize) -> String {
    let total = lines.len();
    if total > most {
        lines.truncate(most);
        lines.push(format!("... {} more lines", total - most));
    }
    lines.join("\n")
}

/// Where two lines are to be shown from, so that what differs is seen.
fn start(one: &str, other: &str) -> usize {
    let long = |line: &str| line.chars().nth(COLUMNS).is_some();
    if !long(one) && !long(other) {
        return 0;
    }
    let pairs = one.chars().zip(other.chars());
    let same = pairs.take_while(|(one, other)| one == other).count();
    same.saturating_sub(BEFORE)
}

fn cut(line: &str, from: usize) -> String {
    let mut out = String::new();
    if from > 0 {
        out.push('…');
    }
    let mut rest = line.chars().skip(from);
    out.extend(rest.by_ref().take(COLUMNS).map(visible));
    if rest.next().is_some() {
        out.push('…');
    }
    out
}

/// Control characters by their pictures (Unicode block "Control Pictures"); tabs stay.
fn visible(c: char) -> char {
    match c {
        '\t' => c,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}
