//! Characters that cannot be seen.

use super::Edits;

/// Returns `text` with all line ends of Markdown as `\n`.
pub(super) fn lines(text: &str) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.to_owned()
    }
}

/// Finds the invisible characters, each run of them as one part.
pub(super) fn pass(text: &str) -> Edits {
    let mut edits = Edits::default();
    if text
        .bytes()
        .all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~'))
    {
        return edits;
    }
    let mut before = None;
    let mut run: Option<std::ops::Range<usize>> = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map(|(_, next)| *next);
        if is_invisible(c) && !joins(before, c, after) {
            let end = at + c.len_utf8();
            run = Some(run.map_or(at, |run| run.start)..end);
            continue;
        }
        if let Some(run) = run.take() {
            edits.remove(run);
        }
        before = Some(c);
    }
    if let Some(run) = run {
        edits.remove(run);
    }
    edits
}

/// Returns whether people would miss the invisible character `c`: a joiner between two emoji, or a
/// selector after one.
fn joins(before: Option<char>, c: char, after: Option<char>) -> bool {
    match c {
        '\u{200d}' => {
            before.is_some_and(|b| is_emoji(b) || b == '\u{fe0f}') && after.is_some_and(is_emoji)
        }
        '\u{fe0e}' | '\u{fe0f}' => {
            before.is_some_and(is_emoji)
                || after == Some('\u{20e3}')
                    && before.is_some_and(|b| b.is_ascii_digit() || matches!(b, '#' | '*'))
        }
        _ => false,
    }
}

/// What an invisible character does to the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvisibleKind {
    /// A control character, which a terminal may obey. Tab and line feed are white space and do not
    /// count.
    Control,
    /// Steers the direction of writing or breaks a line.
    Direction,
    /// Joins, separates or selects glyphs: some scripts and many emoji need it.
    Joiner,
    /// Has no effect that text needs: blanks without width, soft hyphens, tags, fillers.
    Filler,
}

/// Returns what kind of invisible character `c` is; `None` if it can be seen or is common white
/// space.
///
/// These are the characters with the property `Default_Ignorable_Code_Point` in Unicode 16, the
/// controls, and the line and paragraph separators.
pub fn invisible_kind(c: char) -> Option<InvisibleKind> {
    match c {
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Some(InvisibleKind::Control),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(InvisibleKind::Direction)
        }
        '\u{34f}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200c}'
        | '\u{200d}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}' => Some(InvisibleKind::Joiner),
        '\u{ad}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{200b}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => Some(InvisibleKind::Filler),
        _ => None,
    }
}

/// Returns whether `c` cannot be seen, wherever it is.
pub fn is_invisible(c: char) -> bool {
    invisible_kind(c).is_some()
}

/// Returns whether `c` is (roughly) a pictograph, next to which a joiner or selector has an effect.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Returns `text` with its invisible characters as `<U+…>`, and tag characters as the ASCII
/// characters that they encode.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{e0020}'..='\u{e007e}' => {
                // In this range the difference is a printable ASCII character.
                out.extend(char::from_u32(u32::from(c) - 0xe_0000));
            }
            '\n' | '\t' => out.push(c),
            c if is_invisible(c) => out.push_str(&format!("<U+{:04X}>", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Returns `text` with look-alikes for the characters of markup that can hide text.
pub(super) fn without_markup(text: &str) -> String {
    let plain = pass(text).apply(text);
    plain
        .chars()
        .map(|c| match c {
            '<' => '‹',
            '[' => '［',
            ']' => '］',
            '&' => '＆',
            '`' => 'ˋ',
            '~' => '∼',
            c => c,
        })
        .collect()
}
