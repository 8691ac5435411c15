//! Makes text from other people safe to print on a terminal: it cannot move the cursor, change
//! colours or change the direction of writing.

use std::ffi::OsStr;
use std::io::{IsTerminal, Write as _};

use clap::builder::styling::Style;

use crate::formats::hidden::{self, InvisibleKind};

/// Whether a stream shows colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Colours {
    on: bool,
}

impl Colours {
    /// Detects whether `stream` shows colours: it is a terminal, `TERM` is not `dumb`, and
    /// `NO_COLOR` is unset or empty (<https://no-color.org>).
    pub(super) fn of(stream: &impl IsTerminal) -> Self {
        let variable = |name| std::env::var_os(name).unwrap_or_default();
        Self::when(
            stream.is_terminal(),
            &variable("NO_COLOR"),
            &variable("TERM"),
        )
    }

    /// Decides from the properties of the stream and the values of the two variables.
    pub(super) fn when(terminal: bool, no_color: &OsStr, term: &OsStr) -> Self {
        Self {
            on: terminal && no_color.is_empty() && term != "dumb",
        }
    }

    /// Returns `text` in this style, or unchanged if colours are off.
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// Writes to standard error. Errors are ignored, because the reader may have closed the stream.
pub(super) fn print_stderr(text: &str) {
    let mut stream = std::io::stderr().lock();
    let _ = stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.flush());
}

/// Returns `text` on one line. Characters that control a terminal become U+FFFD; line endings and
/// tabs become spaces.
pub(super) fn one_line(text: &str) -> String {
    lines(text).replace(['\n', '\t'], " ")
}

/// Like [`one_line`], but keeps line endings and tabs.
pub(super) fn lines(text: &str) -> String {
    let safe = |c| {
        if is_control(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(safe).collect()
}

/// Like [`lines`], for serialised JSON: control characters occur only in its strings and are
/// escaped there.
pub(super) fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_control(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Formats rows as lines with aligned columns that are safe to print on a terminal. The cells of the
/// last column are not padded.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| one_line(cell)).collect())
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut table = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// Returns whether `c` can control a terminal or the direction of writing. Line feeds and tabs are
/// not included.
fn is_control(c: char) -> bool {
    use InvisibleKind::{Control, Direction};
    matches!(hidden::invisible_kind(c), Some(Control | Direction))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        let evil = "a\u{1b}[31mb\u{202e}c\u{2066}d\u{9b}0me\r\nf\tg\u{7f}\u{200f}é😀";
        assert_eq!(one_line(evil), "a�[31mb�c�d�0me� f g��é😀");
        assert_eq!(lines(evil), "a�[31mb�c�d�0me�\nf\tg��é😀");
    }

    #[test]
    fn json_keeps_every_character_and_shows_none_that_steers() {
        let evil = serde_json::json!({"a\u{9b}": "\u{1b}[31m\u{202e}\u{7f}\n\té😀\\"});
        let shown = json(&format!("{evil:#}"));
        assert!(!shown.contains(is_control), "{shown:?}");
        let back: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(back, evil);
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        let bold = Style::new().bold();
        for (terminal, no_color, term, shown) in [
            (true, "", "xterm", "\u{1b}[1mx\u{1b}[0m"),
            (true, "", "", "\u{1b}[1mx\u{1b}[0m"),
            (true, "1", "xterm", "x"),
            (true, "", "dumb", "x"),
            (false, "", "xterm", "x"),
        ] {
            let colours = Colours::when(terminal, OsStr::new(no_color), OsStr::new(term));
            assert_eq!(colours.paint(bold, "x"), shown, "{no_color} {term}");
            assert_eq!(colours.paint(bold, ""), "");
        }
    }
}
