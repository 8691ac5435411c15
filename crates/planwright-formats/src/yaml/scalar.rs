//! Writes one string as PyYAML's emitter does: its choice of quotes, its folding of long lines, its escapes.
//!
//! Sources of the rules: `analyze_scalar`, `write_plain`, `write_single_quoted` and `write_double_quoted` in PyYAML's
//! `emitter.py`, the patterns of its `resolver.py`. Three things differ, all read the same by PyYAML: a string that could
//! end the frame around the YAML is escaped, one that another reader would see as another type is
//! quoted, and line ends
//! that only YAML 1.1 knows are escaped.

use std::fmt::Write as _;

use super::resolve;

/// Lines longer than this fold at the next blank.
const WIDTH: usize = 80;

/// Where a scalar stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Column in which it begins, 0-based.
    pub(super) column: usize,
    /// Column in which its further lines begin.
    pub(super) indent: usize,
    /// A key stays on one line.
    pub(super) key: bool,
}

/// Appends `text`.
pub(super) fn write(text: &str, place: Place, out: &mut String) {
    let mut writer = Writer {
        out,
        column: place.column,
        indent: place.indent,
        split: !place.key,
    };
    let analysis = analyse(text);
    if breaks_frame(text) {
        writer.double(text, true);
    } else if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        writer.double(text, false);
    } else if !text.is_empty() && analysis.plain && !typed(text, place.key) {
        writer.plain(text);
    } else if analysis.single && !(place.key && analysis.multiline) {
        writer.single(text);
    } else {
        writer.double(text, false);
    }
}

/// Whatever could end the fence, the element or the block around the YAML must not appear as such.
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

fn white(c: Option<char>) -> bool {
    c.is_none_or(|c| matches!(c, '\0' | ' ' | '\t' | '\r') || line_break(c))
}

/// Stands for itself outside double quotes.
fn printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..='\u{10fffe}')
}

struct Analysis {
    multiline: bool,
    /// May stand without quotes as far as its characters go.
    plain: bool,
    single: bool,
}

fn analyse(text: &str) -> Analysis {
    let mut indicators = text.starts_with("---") || text.starts_with("...");
    let (mut multiline, mut special, mut space_break, mut break_space) =
        (false, false, false, false);
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let followed = white(rest.peek().copied());
        indicators |= match (c, before) {
            (
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
                | '@' | '`',
                None,
            ) => true,
            ('?' | '-', None) | (':', _) => followed,
            ('#', _) => white(before),
            _ => false,
        };
        multiline |= line_break(c);
        special |= !printable(c);
        space_break |= line_break(c) && before == Some(' ');
        break_space |= c == ' ' && before.is_some_and(line_break);
        before = Some(c);
    }
    // PyYAML minds blanks alone, but whoever takes the block's text between its fences strips all white space.
    let edge = |c: char| c.is_whitespace() || line_break(c);
    let padded = text.starts_with(edge) || text.ends_with(edge);
    Analysis {
        multiline,
        plain: !(indicators || multiline || special || padded || space_break || break_space),
        single: !(special || space_break || break_space),
    }
}

/// Whether some reader sees something else than this string when it stands without quotes.
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

/// Words that YAML 1.1 defines and PyYAML leaves out, or that other readers take for floats.
fn word_elsewhere(text: &str) -> bool {
    ["y", "n", "nan", "inf", "infinity"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(text))
}

/// Numbers to other readers than PyYAML: those of YAML 1.2 (`1e5`, `08`, `0o17`) and those that
/// allow signs, dots, commas and underscores in more places.
fn number_elsewhere(text: &str) -> bool {
    let digits: String = text.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(&digits);
    let prefixed = |prefix: &str, base: u32| {
        let start = unsigned
            .get(..2)
            .filter(|start| start.eq_ignore_ascii_case(prefix));
        start.is_some() && unsigned[2..].chars().all(|c| c.is_digit(base))
    };
    let times = unsigned.contains(':')
        && unsigned
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ':' | '.'));
    digits.parse::<f64>().is_ok()
        || unsigned.strip_prefix('.').is_some_and(word_elsewhere)
        || prefixed("0b", 2)
        || prefixed("0o", 8)
        || prefixed("0x", 16)
        || times
}

/// PyYAML's `timestamp`.
fn timestamp(text: &str) -> bool {
    let take = |text: &mut &str, least: usize, most: usize| {
        let digits = text
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        *text = &text[digits..];
        digits >= least
    };
    let skip = |text: &mut &str, what: &str| match text.strip_prefix(what) {
        Some(rest) => {
            *text = rest;
            true
        }
        None => false,
    };
    let blanks = |text: &mut &str| *text = text.trim_start_matches([' ', '\t']);
    let mut rest = text;
    let dated = take(&mut rest, 4, 4)
        && skip(&mut rest, "-")
        && take(&mut rest, 1, 2)
        && skip(&mut rest, "-")
        && take(&mut rest, 1, 2);
    if !dated {
        return false;
    }
    if rest.is_empty() {
        return text.len() == 10;
    }
    let apart = rest.len();
    if !(skip(&mut rest, "T") || skip(&mut rest, "t")) {
        blanks(&mut rest);
    }
    let timed = rest.len() < apart
        && take(&mut rest, 1, 2)
        && skip(&mut rest, ":")
        && take(&mut rest, 2, 2)
        && skip(&mut rest, ":")
        && take(&mut rest, 2, 2);
    if !timed {
        return false;
    }
    if skip(&mut rest, ".") {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    if rest.is_empty() {
        return true;
    }
    blanks(&mut rest);
    if rest == "Z" {
        return true;
    }
    if !(skip(&mut rest, "-") || skip(&mut rest, "+")) || !take(&mut rest, 1, 2) {
        return false;
    }
    rest.is_empty() || (skip(&mut rest, ":") && take(&mut rest, 2, 2) && rest.is_empty())
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

    /// A single blank folds once the line is full; more than one never.
    fn plain(&mut self, text: &str) {
        for (blanks, word) in words(text, |c| c == ' ') {
            if blanks.len() == 1 && self.column > WIDTH && self.split {
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
            if gap == " " && self.column > WIDTH && self.split && !edge {
                self.new_line();
            } else if gap.starts_with(line_break) {
                // One line end in quotes is a blank; n of them are written as n + 1.
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

    /// `frame`: also what could be taken for the frame is escaped.
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
            let full = self.column + end.saturating_sub(from) > WIDTH;
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

/// `text` as pairs of a gap (characters of one kind that `gap` accepts; at first perhaps none) and what follows it.
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

/// How `c` is written in double quotes, if not as it is.
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
        ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' => {
            return None;
        }
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
