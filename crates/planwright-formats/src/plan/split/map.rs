//! Positions at which a text can be cut: headings, blocks, list items, lines; and its fenced code
//! blocks.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use crate::markdown::{self, Lines};

/// A fenced code block.
#[derive(Debug)]
pub(super) struct Fence {
    /// Start of the line with the opening fence.
    start: usize,
    /// Start of the code.
    code: usize,
    /// Start of the line with the closing fence, else the end of the code.
    close: usize,
    /// End of the closing line.
    end: usize,
    /// Whether there is a closing fence.
    closed: bool,
    /// Line that opens the same fence at the start of a text.
    pub(super) opening: String,
    /// Line that closes the fence in its place.
    pub(super) closing: String,
}

/// Offsets in a text, each list in ascending order.
#[derive(Debug)]
pub(super) struct Map {
    headings: Vec<usize>,
    blocks: Vec<usize>,
    items: Vec<usize>,
    lines: Vec<usize>,
    fences: Vec<Fence>,
}

impl Map {
    /// Parses `text`. Fences whose opening or closing line is longer than `max_line` bytes are
    /// ignored.
    pub(super) fn new(text: &str, max_line: usize) -> Self {
        let arena = Arena::new();
        let root = markdown::parse(&arena, text);
        let lines = Lines::new(text);
        let start = |node: &AstNode<'_>| lines.start(node.data().sourcepos.start.line);
        let mut map = Self {
            headings: Vec::new(),
            blocks: root.children().map(&start).collect(),
            items: Vec::new(),
            lines: (1..=lines.at(text.len()))
                .map(|line| lines.start(line))
                .collect(),
            fences: Vec::new(),
        };
        for node in root.children() {
            match node.data().value {
                NodeValue::Heading(_) => map.headings.push(start(node)),
                NodeValue::List(_) => map.items.extend(node.children().map(&start)),
                _ => {}
            }
        }
        map.fences = root
            .descendants()
            .filter_map(|node| Fence::parse(node, &lines))
            .filter(|fence| fence.opening.len().max(fence.closing.len()) <= max_line)
            .collect();
        // Footnotes are at the end of the tree, wherever they are in the source.
        map.blocks.sort_unstable();
        map.fences.sort_by_key(|fence| fence.start);
        map
    }

    /// Returns the length of the longest closing line, in bytes.
    pub(super) fn longest_closing(&self) -> usize {
        self.fences
            .iter()
            .map(|fence| fence.closing.len())
            .max()
            .unwrap_or(0)
    }

    /// Returns the fence whose code a cut at `offset` would divide.
    pub(super) fn fence(&self, offset: usize) -> Option<&Fence> {
        self.last_fence(offset).filter(|fence| {
            offset >= fence.code && (offset < fence.close || fence.closed && offset == fence.close)
        })
    }

    fn last_fence(&self, offset: usize) -> Option<&Fence> {
        let before = self.fences.partition_point(|fence| fence.start <= offset);
        self.fences.get(before.checked_sub(1)?)
    }

    /// Returns the best offset for a cut of `text` after `at` and at most at `end`, which must be
    /// greater.
    pub(super) fn cut(&self, text: &str, at: usize, end: usize) -> usize {
        let half = at + (end - at) / 2;
        [&self.headings, &self.blocks, &self.items]
            .into_iter()
            .find_map(|places| last_between(places, half, end))
            .or_else(|| {
                let upto = self.lines.partition_point(|line| *line <= end);
                let lines = self.lines.get(..upto)?.iter().rev();
                lines
                    .copied()
                    .take_while(|line| *line > half)
                    .find(|line| self.fence(*line).is_none())
            })
            .or_else(|| last_between(&self.lines, at, end))
            .unwrap_or_else(|| self.cut_in_line(text, at, end))
    }

    fn cut_in_line(&self, text: &str, at: usize, end: usize) -> usize {
        let window = &text[at..end];
        let late = window.len() - window.len() / 8;
        let mut cut = match window.rfind(' ') {
            Some(blank) if blank + 1 >= late => at + blank + 1,
            _ => end,
        };
        if text.as_bytes().get(cut) == Some(&b'\n') && text[at..cut].ends_with('\r') && cut - at > 1
        {
            cut -= 1;
        }
        // Part of a fence line could open a fence that is not closed.
        match self.last_fence(cut) {
            Some(fence) if cut < fence.code && fence.start > at => fence.start,
            Some(fence) if cut > fence.close && cut < fence.end && fence.close > at => fence.close,
            _ => cut,
        }
    }
}

fn last_between(places: &[usize], after: usize, upto: usize) -> Option<usize> {
    let before = places.partition_point(|place| *place <= upto);
    let place = *places.get(before.checked_sub(1)?)?;
    (place > after).then_some(place)
}

impl Fence {
    fn parse(node: &AstNode<'_>, lines: &Lines<'_>) -> Option<Self> {
        let data = node.data();
        let NodeValue::CodeBlock(code) = &data.value else {
            return None;
        };
        if !code.fenced {
            return None;
        }
        let first = data.sourcepos.start.line;
        let last = data.sourcepos.end.line.max(first);
        let run = char::from(code.fence_char)
            .to_string()
            .repeat(code.fence_length);
        let line = lines.text(first);
        let from = data.sourcepos.start.column.saturating_sub(1);
        let column = from + line.get(from..)?.find(&run)?;
        let (opening, closing) = container_prefixes(line.get(..column)?, code.fence_offset);
        let closed = code.closed && last > first;
        Some(Self {
            start: lines.start(first),
            code: lines.start(first + 1),
            close: lines.start(if closed { last } else { last + 1 }),
            end: lines.start(last + 1),
            closed,
            opening: format!("{opening}{}", line.get(column..)?),
            closing: format!("{closing}{run}"),
        })
    }
}

/// Returns the prefixes of a line that opens a fence at the start of a text and of a line that
/// closes it in place.
///
/// `before` is the text before the original fence, of which `indentation` columns do not belong to
/// a container block. A fence in a list needs a list around it, since otherwise the indented
/// closing line would not close it.
fn container_prefixes(before: &str, indentation: usize) -> (String, String) {
    let quoted = before.rfind('>').map_or(0, |at| at + 1);
    let (quote, rest) = before.split_at(quoted);
    let mut quote: String = quote
        .chars()
        .map(|c| if c == '>' { '>' } else { ' ' })
        .collect();
    let mut width: usize = rest.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    if !quote.is_empty() && width > 0 {
        quote.push(' ');
        width -= 1;
    }
    let list = width.saturating_sub(indentation);
    let bullets = match list {
        0 | 1 => " ".repeat(list),
        _ if list.is_multiple_of(2) => "- ".repeat(list / 2),
        _ => format!("{}-  ", "- ".repeat(list / 2 - 1)),
    };
    (
        format!("{quote}{bullets}"),
        format!("{quote}{}", " ".repeat(width)),
    )
}
