//! Small operations on plain text: truncation, collapsing to one line, code spans.

use crate::hidden;

/// Whether a character is Chinese, Japanese or Korean. One of them carries about as much as two
/// letters of an alphabet.
pub fn is_wide(c: char) -> bool {
    ('\u{3000}'..'\u{fb00}').contains(&c)
}

/// Truncates `text` to `max` code points. When something is cut off, the last one is an ellipsis.
///
/// ```
/// assert_eq!(planwright_formats::text::truncate_chars("Export reports", 8), "Export…");
/// ```
pub fn truncate_chars(text: &str, max: usize) -> String {
    let offset = |index: usize| text.char_indices().nth(index).map(|(at, _)| at);
    if offset(max).is_none() {
        return text.to_owned();
    }
    let end = offset(max.saturating_sub(1)).unwrap_or(0);
    format!("{}…", text[..end].trim_end())
}

/// Returns the longest prefix of `text` that has at most `max` bytes and ends at a character
/// boundary.
pub fn truncate_bytes(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// Collapses white space and control characters to single spaces, and removes invisible characters.
pub fn one_line(text: &str) -> String {
    let visible = hidden::without_invisible(text);
    let words = visible.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Renders `text`, which must be a single line, as a Markdown code span. Any number of backticks in
/// it is preserved.
pub fn code_span(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // CommonMark strips one space from each end of a code span.
    if longest > 0 || text.starts_with(' ') {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_keeps_characters_whole() {
        assert_eq!(truncate_chars("über", 4), "über");
        assert_eq!(truncate_chars("über alles", 6), "über…");
        assert_eq!(truncate_chars("ab", 1), "…");
        assert_eq!(truncate_chars("", 0), "");
        assert_eq!(truncate_bytes("aéb", 2), "a");
        assert_eq!(truncate_bytes("aéb", 3), "aé");
        assert_eq!(truncate_bytes("aéb", 9), "aéb");
    }

    #[test]
    fn lines_collapse() {
        assert_eq!(one_line("  a\t b\r\n\u{7}c  "), "a b c");
        assert_eq!(one_line("a\u{202e}b"), "ab");
    }

    #[test]
    fn code_spans_hold_any_text() {
        for (text, span) in [
            ("a b", "`a b`"),
            ("a`b", "`` a`b ``"),
            ("``", "``` `` ```"),
            (" a", "`  a `"),
        ] {
            assert_eq!(code_span(text), span);
        }
    }
}
