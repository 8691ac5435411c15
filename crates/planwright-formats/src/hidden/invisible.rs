//! Characters that cannot be seen.

use super::Edits;

/// `text` with `\n` for every line end of Markdown.
pub(super) fn lines(text: &str) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.to_owned()
    }
}

/// The invisible characters, each run of them as one.
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
            edits.cut(run);
        }
        before = Some(c);
    }
    if let Some(run) = run {
        edits.cut(run);
    }
    edits
}

/// An invisible character that people would miss: the joiner between two emoji, the selector behind one.
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

/// Nothing of it is seen, wherever it stands. `Default_Ignorable_Code_Point` of Unicode 16 and the controls, without
/// tab and line feed.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Roughly the pictographs: what may stand beside a joiner.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

/// `text` with a visible name for each of its invisible characters; tag characters, which spell
/// ASCII, as what they spell.
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

/// `text` with look-alikes for the characters that hidden text is made with.
pub(super) fn flat(text: &str) -> String {
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
