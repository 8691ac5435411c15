//! Finds problems with the fences of a plan and proposes a repair.
//!
//! A fence that ends too early turns its content into actions; one that ends too late swallows
//! actions. Both can be recognised: a fence is never closed, a line inside a fence looks like the
//! start of another fence, or Markdown is in a fence of three characters, which any example in it
//! would end.

use comrak::nodes::NodeValue;

use super::action::Span;
use super::blocks::{Block, BlockKind, Document, preview};
use super::error::{ErrorKind, PlanError};

/// Returns the problem with a fence, if `block` is one.
pub(super) fn find_problem(document: &Document<'_>, block: &Block<'_>) -> Option<PlanError> {
    let BlockKind::Fence {
        mark,
        length,
        closed,
        markdown,
    } = block.kind
    else {
        return None;
    };
    let data = block.ast.data();
    let NodeValue::CodeBlock(code) = &data.value else {
        return None;
    };
    let opener = block.span.start;
    let fence = draw(mark, length);
    if let Some((nested, longest)) = find_lookalike(&code.literal, mark, length) {
        let line = opener + 1 + nested;
        let text = preview(document.lines.text(line).trim());
        // Where tildes were too short, more tildes are no alternative.
        let alternative = match mark {
            b'~' => "",
            _ => ", or use six tildes (~~~~~~)",
        };
        return Some(PlanError::new(
            ErrorKind::FenceLookalike,
            format!("content that cannot end the fence of line {opener} ({fence})"),
            format!("\"{text}\" on line {line}, which looks like the start of another fence"),
            Span::line(line),
            format!(
                "Make the fence of line {opener} and the one that closes it at least {} long{alternative}, so that no \
                 line inside can close it.",
                draw(mark, longest + 1)
            ),
        ));
    }
    if !closed {
        return Some(PlanError::new(
            ErrorKind::UnclosedFence,
            format!("a line {fence} that closes the fence of line {opener}"),
            "the end of the plan",
            block.span,
            format!("Close the fence of line {opener} with a line that contains only {fence}."),
        ));
    }
    (markdown && length == 3).then(|| too_short(block, mark))
}

/// Returns the error for a fence that is too short for Markdown.
pub(super) fn too_short(block: &Block<'_>, mark: u8) -> PlanError {
    PlanError::new(
        ErrorKind::ShortFence,
        "a fence of four or more characters around Markdown",
        format!("one of three ({})", draw(mark, 3)),
        block.span,
        format!(
            "Make the fence of line {} and the one that closes it {} or longer, and look where the content really ends: \
             an example with three inside of it would end it.",
            block.span.start,
            draw(mark, 4)
        ),
    )
}

/// Returns a fence of this length, or a description if it is long.
fn draw(mark: u8, length: usize) -> String {
    let mark = char::from(mark);
    if length <= 16 {
        mark.to_string().repeat(length)
    } else {
        format!("{length} times {mark}")
    }
}

/// Returns the first line of `content` (0-based) that would open a fence of `mark` with an info
/// string and at least `length` long, and the longest run of `mark` at the start of any line.
fn find_lookalike(content: &str, mark: u8, length: usize) -> Option<(usize, usize)> {
    // Most content has no fence at all.
    memchr::memmem::find(content.as_bytes(), &vec![mark; length])?;
    let mut first = None;
    let mut longest = length;
    for (number, line) in content.split('\n').enumerate() {
        let text = line.trim_start_matches(' ');
        let run = text.bytes().take_while(|byte| *byte == mark).count();
        if line.len() - text.len() > 3 || run < length {
            continue;
        }
        longest = longest.max(run);
        let info = text[run..].trim();
        if !(info.is_empty() || mark == b'`' && info.contains('`')) {
            first.get_or_insert(number);
        }
    }
    first.map(|line| (line, longest))
}

/// Returns a fence that can enclose `content`: longer than any run of backticks in it, three at
/// least.
pub fn around(content: &str) -> String {
    fence_for(content, 3)
}

/// Like [`around`], but at least `min` long.
pub(super) fn fence_for(content: &str, min: usize) -> String {
    "`".repeat(min.max(longest_backticks(content) + 1))
}

/// Returns the length of the longest run of backticks.
fn longest_backticks(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}

/// A line that opens or closes a fence.
struct FenceLine {
    /// 0-based.
    line: usize,
    mark: u8,
    length: usize,
    /// Whether it has no info string.
    bare: bool,
}

impl FenceLine {
    fn parse(line: usize, text: &str) -> Option<Self> {
        let rest = text.trim_start_matches(' ');
        let mark = *rest.as_bytes().first()?;
        if text.len() - rest.len() > 3 || !matches!(mark, b'`' | b'~') {
            return None;
        }
        let length = rest.bytes().take_while(|byte| *byte == mark).count();
        let info = rest[length..].trim();
        if length < 3 || (mark == b'`' && info.contains('`')) {
            return None;
        }
        Some(Self {
            line,
            mark,
            length,
            bare: info.is_empty(),
        })
    }

    fn closes(&self, opener: &Self) -> bool {
        self.bare && self.mark == opener.mark && self.length >= opener.length
    }
}

/// Returns `text` with longer outer fences if that alone makes it a valid plan.
///
/// A fence with an info string inside another one counts as nested, and the next bare one closes
/// it. `None` if nothing needs a repair, if there are other errors, or if the end of the content is
/// ambiguous. The repair decides what is content and what is an action, so a person must review it.
pub fn repair(text: &str) -> Option<String> {
    if super::parse(text).is_ok() {
        return None;
    }
    let text = super::prepare(text).ok()?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut open: Vec<FenceLine> = Vec::new();
    // Lines of fences and the number of characters to add to them.
    let mut additions: Vec<(usize, usize)> = Vec::new();
    // Length of the longest fence inside the current outer fence.
    let mut longest = 0;
    for (line, content) in lines.iter().enumerate() {
        let Some(fence) = FenceLine::parse(line, content.trim_end_matches('\n')) else {
            continue;
        };
        let closed = open.pop_if(|top| fence.closes(top));
        match (open.first(), &closed) {
            (Some(outer), _) if outer.mark == fence.mark => longest = longest.max(fence.length),
            (None, Some(opener)) => {
                if longest >= opener.length {
                    additions.push((opener.line, longest + 1 - opener.length));
                    additions.push((line, (longest + 1).saturating_sub(fence.length)));
                }
                longest = 0;
            }
            _ => {}
        }
        if closed.is_none() {
            open.push(fence);
        }
    }
    if !open.is_empty() || additions.is_empty() {
        return None;
    }
    let mut repaired = String::with_capacity(text.len() + 16 * additions.len());
    let mut additions = additions.into_iter().peekable();
    for (line, content) in lines.iter().enumerate() {
        let added = additions
            .next_if(|(at, _)| *at == line)
            .map_or(0, |(_, added)| added);
        let fence = content.trim_start_matches(' ');
        let (indent, _) = content.split_at(content.len() - fence.len());
        repaired.push_str(indent);
        if let Some(mark) = fence.chars().next() {
            repaired.extend(std::iter::repeat_n(mark, added));
        }
        repaired.push_str(fence);
    }
    super::parse(&repaired).is_ok().then_some(repaired)
}
