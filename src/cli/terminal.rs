//! Other people's text on a terminal: nothing in it may move the cursor, change colours, or turn the reading order.

/// `text` on one line: every character that a terminal would obey becomes U+FFFD, and a line end or tab a blank.
pub(super) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => ' ',
            c if obeyed(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// The same for a text of many lines, which keeps its line ends and tabs.
pub(super) fn lines(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            c if obeyed(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// Control characters, line and paragraph separators, and what steers the direction of writing (Unicode's `Bidi_Control`).
fn obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        let evil = "a\u{1b}[31mb\u{202e}c\u{2066}d\u{9b}0me\r\nf\tg\u{7f}\u{200f}é😀";
        assert_eq!(one_line(evil), "a�[31mb�c�d�0me� f g��é😀");
        assert_eq!(lines(evil), "a�[31mb�c�d�0me�\nf\tg��é😀");
    }
}
