//! Decides line by line, without the Markdown parser, which places of a text are in code.
//!
//! Finding the metadata blocks of a body asks this about every marker, and parsing the whole body
//! for it takes some milliseconds; the benchmarks of blocks hold only with this shortcut. Most
//! texts do not need the parser: a line that begins in the first column ends every list and quote,
//! so whether it is code depends on the fences and HTML blocks outside all containers, which can be
//! tracked line by line. Where that is not certain, the result is `None` and the caller uses the
//! parser. A result is always that of the parser; property tests compare the two.

use super::html::{self, HtmlBlock};

/// For each of `places` (byte offsets, in order) returns whether it is in code; `None` when the
/// lines alone do not decide it.
pub(super) fn in_code(source: &str, places: &[usize]) -> Option<Vec<bool>> {
    if source.starts_with('\u{feff}') {
        return None;
    }
    let bytes = source.as_bytes();
    let lone_returns = memchr::memchr(b'\r', bytes).is_some();
    let mut places = places.iter().copied().peekable();
    let mut found = Vec::with_capacity(places.len());
    let mut outline = Outline::default();
    let mut ends = memchr::memchr_iter(b'\n', bytes);
    let mut start = 0;
    while let Some(next) = places.peek().copied() {
        let end = ends.next().unwrap_or(bytes.len());
        let line = &bytes[start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if lone_returns && memchr::memchr(b'\r', line).is_some() {
            return None;
        }
        outline.read_line(line, start)?;
        if next <= end {
            while let Some(place) = places.next_if(|place| *place <= end) {
                found.push(outline.is_code(bytes, line, start, place)?);
            }
        }
        if end == bytes.len() {
            break;
        }
        start = end + 1;
    }
    places.peek().is_none().then_some(found)
}

/// The blocks that are open between two lines, outside all containers.
#[derive(Debug, Default)]
struct Outline {
    open: OpenBlock,
    container: Container,
    /// Whether a paragraph may be open, so that the next line may continue it.
    paragraph: bool,
    /// Offset after the last line that ends every paragraph.
    since: usize,
    /// The kind of the last line.
    line: LineKind,
}

#[derive(Debug, Default, Clone, Copy)]
enum OpenBlock {
    #[default]
    None,
    Fence(Fence),
    Html(HtmlBlock),
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    byte: u8,
    length: usize,
}

/// The open container. Quotes and footnotes are not tracked: a line without their prefix ends them
/// or continues a paragraph.
#[derive(Debug, Default, Clone, Copy)]
enum Container {
    #[default]
    None,
    /// A list item whose content begins in this column.
    Item(usize),
    /// Possibly a list item.
    Unknown,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    /// A line of a fenced code block, fences included.
    Code,
    /// A line of an HTML block.
    Html,
    /// Text that begins in the first column.
    Text,
    #[default]
    Other,
}

impl Outline {
    /// Processes the next line, which begins at byte `start`. `None` means that the line depends on
    /// something that is not tracked here.
    fn read_line(&mut self, line: &[u8], start: usize) -> Option<()> {
        let free = matches!(
            (self.open, self.container),
            (OpenBlock::None, Container::None)
        );
        if free && line.first().is_some_and(u8::is_ascii_alphabetic) {
            // Most lines.
            self.paragraph = true;
            self.line = LineKind::Text;
            return Some(());
        }
        let (indent, rest) = indentation(line);
        match self.open {
            OpenBlock::Fence(fence) => {
                self.line = LineKind::Code;
                if indent <= 3 && closes(rest, fence) {
                    self.open = OpenBlock::None;
                }
                return Some(());
            }
            OpenBlock::Html(kind) if !(rest.is_empty() && kind.ends_at_blank()) => {
                self.line = LineKind::Html;
                if kind.ends_in(rest) {
                    self.open = OpenBlock::None;
                }
                return Some(());
            }
            OpenBlock::Html(_) => self.open = OpenBlock::None,
            OpenBlock::None => {}
        }
        self.line = LineKind::Other;
        if rest.is_empty() {
            self.paragraph = false;
            self.since = start;
            return Some(());
        }
        match self.container {
            Container::Item(content) if indent >= content => {
                self.paragraph = true;
                return Some(());
            }
            Container::Unknown if indent > 0 => {
                self.paragraph = true;
                let harmless = indent > 3 || (fence(rest).is_none() && rest[0] != b'<');
                return harmless.then_some(());
            }
            Container::Item(_) if indent > 3 => {
                self.container = Container::Unknown;
                return Some(());
            }
            _ if indent > 3 => return Some(()),
            _ => {}
        }
        self.top_level(indent, rest, start)
    }

    /// Processes a line that is in no container, begins one, or continues a paragraph in one.
    fn top_level(&mut self, indent: usize, rest: &[u8], start: usize) -> Option<()> {
        let in_list = matches!(self.container, Container::Item(_));
        match rest[0] {
            b'`' | b'~' => {
                if let Some(fence) = fence(rest) {
                    self.leaf(start);
                    self.open = OpenBlock::Fence(fence);
                    self.line = LineKind::Code;
                    return Some(());
                }
            }
            b'<' => {
                // A single tag on a line begins no HTML block in a paragraph.
                let kind = html::starts(rest);
                if kind == Some(HtmlBlock::Tag) && self.paragraph {
                    return None;
                }
                if let Some(kind) = kind {
                    self.leaf(start);
                    self.line = LineKind::Html;
                    if !kind.ends_in(rest) {
                        self.open = OpenBlock::Html(kind);
                    }
                    return Some(());
                }
            }
            b'#' if heading(rest) => {
                self.leaf(start);
                self.line = if indent == 0 {
                    LineKind::Text
                } else {
                    LineKind::Other
                };
                return Some(());
            }
            b'>' => {
                self.container = Container::None;
                self.paragraph = true;
                return Some(());
            }
            b'-' | b'*' | b'_' if rule(rest) => {
                self.leaf(start);
                return Some(());
            }
            _ => {
                if let Some(item) = item(rest) {
                    let surely = item.interrupts || !self.paragraph || in_list;
                    self.container = match item.content {
                        Some(content) if surely => Container::Item(indent + content),
                        _ => Container::Unknown,
                    };
                    self.paragraph = true;
                    return Some(());
                }
            }
        }
        if !matches!(self.container, Container::None) {
            self.container = if self.paragraph {
                Container::Unknown
            } else {
                Container::None
            };
        }
        self.paragraph = true;
        // The definition of a footnote may begin with any block.
        let text = indent == 0 && rest[0] != b'[';
        self.line = if text {
            LineKind::Text
        } else {
            LineKind::Other
        };
        Some(())
    }

    /// Records that the line is, or begins, a block that ends every paragraph.
    fn leaf(&mut self, start: usize) {
        self.container = Container::None;
        self.paragraph = false;
        self.since = start;
    }

    /// Returns whether `place` in the last line is code.
    fn is_code(&self, bytes: &[u8], line: &[u8], start: usize, place: usize) -> Option<bool> {
        match self.line {
            LineKind::Code => Some(true),
            LineKind::Html => Some(false),
            // A code span needs a backtick before it.
            LineKind::Text => {
                let before = bytes.get(self.since..place)?;
                (place < start + line.len() && memchr::memchr(b'`', before).is_none())
                    .then_some(false)
            }
            LineKind::Other => None,
        }
    }
}

/// Returns the columns of white space at the start of `line`, and the rest of the line.
fn indentation(line: &[u8]) -> (usize, &[u8]) {
    if !matches!(line.first(), Some(b' ' | b'\t')) {
        return (0, line);
    }
    let mut column = 0;
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b' ' => column += 1,
            b'\t' => column += 4 - column % 4,
            _ => return (column, &line[at..]),
        }
    }
    (column, &[])
}

fn blank(rest: &[u8]) -> bool {
    rest.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Returns how many times `rest` repeats its first byte.
fn run(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| **byte == rest[0]).count()
}

/// Returns the fence that `rest` opens.
fn fence(rest: &[u8]) -> Option<Fence> {
    let byte = rest[0];
    let length = run(rest);
    let opens = matches!(byte, b'`' | b'~')
        && length >= 3
        && (byte == b'~' || memchr::memchr(b'`', &rest[length..]).is_none());
    opens.then_some(Fence { byte, length })
}

fn closes(rest: &[u8], fence: Fence) -> bool {
    rest.first() == Some(&fence.byte) && run(rest) >= fence.length && blank(&rest[run(rest)..])
}

fn heading(rest: &[u8]) -> bool {
    let level = run(rest);
    level <= 6
        && rest
            .get(level)
            .is_none_or(|byte| matches!(byte, b' ' | b'\t'))
}

/// Returns whether `rest` is a thematic break. With `-` it may be the underline of a heading, which
/// ends a paragraph as well.
fn rule(rest: &[u8]) -> bool {
    let marks = memchr::memchr_iter(rest[0], rest).count();
    marks >= 3
        && rest
            .iter()
            .all(|byte| matches!(byte, b' ' | b'\t') || *byte == rest[0])
}

struct Item {
    /// Whether it begins a list even directly below a line of text.
    interrupts: bool,
    /// Columns from the marker to its content; `None` where counting blanks is not enough.
    content: Option<usize>,
}

fn item(rest: &[u8]) -> Option<Item> {
    let (width, interrupts) = match rest[0] {
        b'-' | b'+' | b'*' => (1, true),
        b'0'..=b'9' => {
            let digits = rest
                .iter()
                .take(10)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let delimiter = matches!(rest.get(digits), Some(b'.' | b')'));
            if digits > 9 || !delimiter {
                return None;
            }
            let number = rest[..digits]
                .iter()
                .fold(0_u64, |number, digit| number * 10 + u64::from(digit - b'0'));
            (digits + 1, number == 1)
        }
        _ => return None,
    };
    let after = &rest[width..];
    if !after
        .first()
        .is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c'))
    {
        return None;
    }
    let blanks = after.iter().take_while(|byte| **byte == b' ').count();
    let content = match after.get(blanks) {
        Some(b'\t' | b'\x0b' | b'\x0c') | None => None,
        Some(_) if blanks > 4 => Some(width + 1),
        Some(_) => Some(width + blanks),
    };
    Some(Item {
        interrupts,
        content,
    })
}
