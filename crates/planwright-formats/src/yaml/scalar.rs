//! Writes one string as PyYAML's emitter does, with its choice of quotes, folding and escapes.
//!
//! The rules come from `analyze_scalar`, `write_plain`, `write_single_quoted` and
//! `write_double_quoted` in PyYAML's `emitter.py` and from the patterns of its `resolver.py`. The
//! output differs in three ways that PyYAML parses to the same string: text that could end the
//! block around the YAML is escaped, a string that another parser would give another type is
//! quoted, and line breaks that only YAML 1.1 has are escaped.

use std::fmt::Write as _;

use super::resolve;

/// Maximum width of a line, in characters; longer ones are folded at the next blank.
const MAX_WIDTH: usize = 80;

/// Appends `text` at `column` (0-based), with continuation lines at column `indent`. A key is never
/// split over lines.
pub(super) fn write(text: &str, column: usize, indent: usize, key: bool, out: &mut String) {
    let mut writer = Writer {
        out,
        column,
        indent,
        split: !key,
    };
    let analysis = analyse(text);
    if breaks_frame(text) {
        writer.double(text, true);
    } else if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        writer.double(text, false);
    } else if !text.is_empty() && analysis.plain && !typed(text, key) {
        writer.plain(text);
    } else if analysis.single && !(key && analysis.multiline) {
        writer.single(text);
    } else {
        writer.double(text, false);
    }
}

/// Whether `text` contains something that could end the fence, the HTML element or the metadata
/// block around the YAML.
fn breaks_frame(text: &str) -> bool {
    if !text.contains(['`', '<']) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    ["```", "</details", "<!--"]
        .iter()
        .any(|part| lower.contains(part))
}

fn line_break(c: char) -> bool {
    matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn blank_or_edge(c: Option<char>) -> bool {
    c.is_none_or(|c| matches!(c, '\0' | ' ' | '\t' | '\r') || line_break(c))
}

/// Whether `c` can be written without an escape.
fn printable(c: char) -> bool {
    matches!(c, '\n' | '\u{85}' | '\u{10000}'..='\u{10fffe}') || printable_in_plane_0(c)
}

fn printable_in_plane_0(c: char) -> bool {
    matches!(
        c,
        ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}'
    )
}

struct Analysis {
    multiline: bool,
    /// Whether its characters allow the string without quotes.
    plain: bool,
    /// Whether its characters allow single quotes.
    single: bool,
}

fn analyse(text: &str) -> Analysis {
    let mut indicators = text.starts_with("---") || text.starts_with("...");
    let (mut multiline, mut special, mut space_break, mut break_space) =
        (false, false, false, false);
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let followed = blank_or_edge(rest.peek().copied());
        indicators |= match (c, before) {
            (
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
                | '@' | '`',
                None,
            ) => true,
            ('?' | '-', None) | (':', _) => followed,
            ('#', _) => blank_or_edge(before),
            _ => false,
        };
        multiline |= line_break(c);
        special |= !printable(c);
        space_break |= line_break(c) && before == Some(' ');
        break_space |= c == ' ' && before.is_some_and(line_break);
        before = Some(c);
    }
    // PyYAML checks only for blanks, but readers that cut the YAML out of its fence strip all white
    // space.
    let edge = |c: char| c.is_whitespace() || line_break(c);
    let padded = text.starts_with(edge) || text.ends_with(edge);
    Analysis {
        multiline,
        plain: !(indicators || multiline || special || padded || space_break || break_space),
        single: !(special || space_break || break_space),
    }
}

/// Whether some YAML parser would not return this string if it were written without quotes.
fn typed(text: &str, key: bool) -> bool {
    let typed = match text.as_bytes() {
        [b'=' | b'~'] | [b'<', b'<'] => true,
        [b'0'..=b'9' | b'-' | b'+' | b'.', ..] => {
            resolve::is_number(text) || timestamp(text) || number_elsewhere(text)
        }
        _ => !resolve::plain(text).is_string() || !key && word_elsewhere(text),
    };
    let read_back = || {
        if key {
            let map = super::read(&format!("{text}: null"));
            map.is_ok_and(|map| map.get(text).is_some())
        } else {
            super::read(text).is_ok_and(|value| value == text)
        }
    };
    typed || !read_back()
}

/// Words that YAML 1.1 defines and PyYAML does not, or that other parsers read as floats.
fn word_elsewhere(text: &str) -> bool {
    ["y", "n", "nan", "inf", "infinity"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether parsers other than PyYAML read `text` as a number: those of YAML 1.2 (`1e5`, `08`,
/// `0o17`) and those that allow signs, dots, commas and underscores in more places.
fn number_elsewhere(text: &str) -> bool {
    let digits: String = text.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(&digits);
    let prefixed = |(prefix, base): (&str, u32)| {
        let digits = unsigned.split_at_checked(2);
        digits.is_some_and(|(start, digits)| {
            start.eq_ignore_ascii_case(prefix) && digits.chars().all(|c| c.is_digit(base))
        })
    };
    let times = unsigned.contains(':')
        && unsigned
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ':' | '.'));
    digits.parse::<f64>().is_ok()
        || unsigned.strip_prefix('.').is_some_and(word_elsewhere)
        || [("0b", 2), ("0o", 8), ("0x", 16)].into_iter().any(prefixed)
        || times
}

/// Whether `text` matches the pattern `timestamp` of PyYAML's `resolver.py`.
fn timestamp(text: &str) -> bool {
    after_timestamp(text).is_some_and(str::is_empty)
}

/// Returns the rest of `text` after a timestamp. A date alone needs two digits for month and day.
fn after_timestamp(text: &str) -> Option<&str> {
    let rest = after_digits(text, 4, 4)?.strip_prefix('-')?;
    let rest = after_digits(rest, 1, 2)?.strip_prefix('-')?;
    let rest = after_digits(rest, 1, 2)?;
    if rest.is_empty() {
        return (text.len() == 10).then_some(rest);
    }
    let time = match rest.strip_prefix(['T', 't']) {
        Some(time) => time,
        None if rest.starts_with([' ', '\t']) => rest.trim_start_matches([' ', '\t']),
        None => return None,
    };
    let rest = after_digits(time, 1, 2)?.strip_prefix(':')?;
    let rest = after_digits(rest, 2, 2)?.strip_prefix(':')?;
    let rest = after_digits(rest, 2, 2)?;
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    if rest.is_empty() {
        return Some(rest);
    }
    let zone = rest.trim_start_matches([' ', '\t']);
    if let Some(rest) = zone.strip_prefix('Z') {
        return Some(rest);
    }
    let rest = after_digits(zone.strip_prefix(['-', '+'])?, 1, 2)?;
    match rest.strip_prefix(':') {
        Some(minutes) => after_digits(minutes, 2, 2),
        None => Some(rest),
    }
}

/// Returns the rest of `text` after `min` to `max` ASCII digits.
fn after_digits(text: &str, min: usize, max: usize) -> Option<&str> {
    let digits = text.bytes().take(max).take_while(u8::is_ascii_digit);
    let count = digits.count();
    (count >= min).then(|| &text[count..])
}

struct Writer<'a> {
    out: &'a mut String,
    column: usize,
    indent: usize,
    split: bool,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn new_line(&mut self) {
        let indent = self.indent;
        let _ = write!(self.out, "\n{:indent$}", "");
        self.column = indent;
    }

    /// Only single blanks are folded.
    fn plain(&mut self, text: &str) {
        for (blanks, word) in words(text, |c| c == ' ') {
            if blanks.len() == 1 && self.column > MAX_WIDTH && self.split {
                self.new_line();
            } else {
                self.put(blanks);
            }
            self.put(word);
        }
    }

    fn single(&mut self, text: &str) {
        self.put("'");
        let mut at = 0;
        for (gap, word) in words(text, |c| c == ' ' || line_break(c)) {
            let edge = at == 0 || at + gap.len() == text.len();
            at += gap.len() + word.len();
            if gap == " " && self.column > MAX_WIDTH && self.split && !edge {
                self.new_line();
            } else if gap.starts_with(line_break) {
                // A single line break in quotes means a blank, so n breaks are written as n + 1.
                if gap.starts_with('\n') {
                    self.out.push('\n');
                }
                self.out.push_str(gap);
                let indent = self.indent;
                let _ = write!(self.out, "{:indent$}", "");
                self.column = indent;
            } else {
                self.put(gap);
            }
            self.put(&word.replace('\'', "''"));
        }
        self.put("'");
    }

    /// `frame`: also escapes the characters that could end the block around the YAML.
    fn double(&mut self, text: &str, frame: bool) {
        self.put("\"");
        let chars: Vec<char> = text.chars().collect();
        let mut from = 0;
        for end in 0..=chars.len() {
            let c = chars.get(end).copied();
            let escaped = c.and_then(|c| escape(c, frame));
            if (c.is_none() || escaped.is_some()) && from < end {
                let part: String = chars[from..end].iter().collect();
                self.put(&part);
                from = end;
            }
            if let Some(escaped) = escaped {
                self.put(&escaped);
                from = end + 1;
            }
            let inside = end > 0 && end + 1 < chars.len();
            let full = self.column + end.saturating_sub(from) > MAX_WIDTH;
            if inside && (c == Some(' ') || from >= end) && full && self.split {
                let part: String = chars.get(from..end).unwrap_or_default().iter().collect();
                self.put(&part);
                self.put("\\");
                from = from.max(end);
                self.new_line();
                if chars.get(from) == Some(&' ') {
                    self.put("\\");
                }
            }
        }
        self.put("\"");
    }
}

/// Splits `text` into pairs of a gap (blanks or line breaks that `gap` accepts; the first may be
/// empty) and the word after it.
fn words(text: &str, gap: impl Fn(char) -> bool) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let blank = gap(first);
        let same = |c: char| gap(c) && (c == ' ') == (first == ' ');
        let end = if blank {
            rest.find(|c| !same(c)).unwrap_or(rest.len())
        } else {
            0
        };
        let (before, after) = rest.split_at(end);
        let (word, after) = after.split_at(after.find(&gap).unwrap_or(after.len()));
        rest = after;
        Some((before, word))
    })
}

/// Returns the escape sequence of `c` in double quotes, or `None` if it needs none.
fn escape(c: char, frame: bool) -> Option<String> {
    let short = match c {
        '\0' => "\\0",
        '\x07' => "\\a",
        '\x08' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\x0b' => "\\v",
        '\x0c' => "\\f",
        '\r' => "\\r",
        '\x1b' => "\\e",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{85}' => "\\N",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        '<' | '>' | '`' if frame => "",
        c if printable_in_plane_0(c) => return None,
        _ => "",
    };
    let code = u32::from(c);
    Some(match (short, code) {
        ("", 0..=0xff) => format!("\\x{code:02X}"),
        ("", 0x100..=0xffff) => format!("\\u{code:04X}"),
        ("", _) => format!("\\U{code:08X}"),
        (short, _) => short.to_owned(),
    })
}
