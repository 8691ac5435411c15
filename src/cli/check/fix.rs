//! Formats proposed fixes as unified diffs.

use std::io::IsTerminal;

use clap::builder::styling::{AnsiColor, Style};
use similar::TextDiff;

use super::verdict::{Checked, Verdict};
use crate::cli::terminal::{self, Colours};

/// Number of context lines around a change.
const CONTEXT: usize = 3;

/// Returns the diffs of all files with a proposed fix. On a terminal they are coloured and control
/// characters are replaced; otherwise they are exact, so that they can be applied.
pub(super) fn diffs(checked: &[Checked], stream: &impl IsTerminal) -> String {
    let diffs: String = checked.iter().filter_map(diff).collect();
    if stream.is_terminal() {
        coloured(&terminal::lines(&diffs), Colours::of(stream))
    } else {
        diffs
    }
}

/// Returns the diff of one file, in the format of `git apply` and `patch -p1`.
pub(super) fn diff(checked: &Checked) -> Option<String> {
    let Verdict::Refused {
        mended: Some(mended),
        ..
    } = &checked.verdict
    else {
        return None;
    };
    let mended = with_ends_of(&checked.text, mended);
    let name = terminal::one_line(&checked.name);
    let name = name.trim_start_matches("./").trim_start_matches('/');
    // A single carriage return ends a line in a plan, but not in a diff.
    let old: Vec<&str> = checked.text.split_inclusive('\n').collect();
    let new: Vec<&str> = mended.split_inclusive('\n').collect();
    let diff = TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&old, &new);
    let unified = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string();
    Some(unified)
}

/// Returns `mended` with the byte-order mark and the line endings of `text`, which the parser
/// removes. Both texts have the same number of lines.
fn with_ends_of(text: &str, mended: &str) -> String {
    let mark = "\u{feff}";
    let mut out = String::with_capacity(mended.len() + text.len() / 16);
    if text.starts_with(mark) {
        out.push_str(mark);
    }
    let mut ends = ends(text);
    for line in mended.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                out.push_str(line);
                out.push_str(ends.next().unwrap_or("\n"));
            }
            None => out.push_str(line),
        }
    }
    out
}

/// Returns the line endings of a text, in order.
fn ends(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'\r', b'\n', bytes).filter_map(move |at| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        match (bytes[at], bytes.get(at + 1)) {
            (b'\n', _) if before == Some(b'\r') => None,
            (b'\r', Some(b'\n')) => Some("\r\n"),
            (b'\r', _) => Some("\r"),
            _ => Some("\n"),
        }
    })
}

fn coloured(diff: &str, colours: Colours) -> String {
    let style = |line: &str| match line.as_bytes().first() {
        Some(b'+') => AnsiColor::Green.on_default(),
        Some(b'-') => AnsiColor::Red.on_default(),
        Some(b'@') => AnsiColor::Cyan.on_default(),
        _ => Style::new(),
    };
    let lines = diff
        .lines()
        .map(|line| colours.paint(style(line), line) + "\n");
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_mark_and_line_ends_stay_as_they_are() {
        for (text, mended, whole) in [
            ("a\nb\n", "a\nB\n", "a\nB\n"),
            ("\u{feff}a\r\nb\r\n", "a\nB\n", "\u{feff}a\r\nB\r\n"),
            ("a\rb\r\nc\nd", "a\nb\nC\nd", "a\rb\r\nC\nd"),
            ("a\r\r\n\nb", "a\n\n\nb", "a\r\r\n\nb"),
        ] {
            assert_eq!(with_ends_of(text, mended), whole);
        }
    }
}
