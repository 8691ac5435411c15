//! What is wrong with the fences of a plan, and a proposal how to mend it. Nothing is mended silently.
//!
//! A fence that ends too early turns its content into actions; one that ends too late swallows actions. Both leave
//! signs: a fence that nothing closes, a line inside of a fence that looks like the start of another one, Markdown in a
//! fence of three characters, which any example in it ends.

use comrak::Arena;
use comrak::nodes::NodeValue;

use super::action::Span;
use super::blocks::{Document, Kind, Node};
use super::error::{ErrorKind, PlanError};
use crate::markdown::{self, Lines};

/// Everything that is wrong with the top-level fences of `text`, each with its lines (1-based) and the length that the
/// outer fence needs. Empty does not mean that the text is a plan.
pub fn check(text: &str) -> Vec<PlanError> {
    let Ok(text) = super::prepare(text) else {
        return Vec::new();
    };
    let arena = Arena::new();
    let root = markdown::parse(&arena, &text);
    let lines = Lines::new(&text);
    let document = Document::new(&lines, root);
    document
        .nodes
        .iter()
        .enumerate()
        .filter_map(|(index, node)| trouble(&document, node, index))
        .collect()
}

/// What is wrong with the fence `node`, if it is one.
pub(super) fn trouble(document: &Document<'_>, node: &Node<'_>, index: usize) -> Option<PlanError> {
    let Kind::Fence {
        mark,
        length,
        closed,
        markdown,
    } = node.kind
    else {
        return None;
    };
    let data = node.ast.data();
    let NodeValue::CodeBlock(code) = &data.value else {
        return None;
    };
    let opener = node.span.start;
    let found = lookalike(&code.literal, mark, length);
    if let Some((nested, longest)) = found {
        let line = opener + 1 + nested;
        let text = super::blocks::preview(document.lines.text(line).trim());
        return Some(PlanError {
            kind: ErrorKind::FenceLookalike,
            action: None,
            expected: format!(
                "content that cannot end the fence of line {opener} ({})",
                drawn(mark, length)
            ),
            found: format!(
                "\"{text}\" on line {line}, which looks like the start of another fence"
            ),
            index: Some(index),
            span: Span::line(line),
            hints: vec![format!(
                "Make the fence of line {opener} and the one that closes it at least {} long{}, so that no line inside can \
                 close it.",
                drawn(mark, longest + 1),
                // Tildes that were not enough are no way out.
                if mark == b'~' {
                    ""
                } else {
                    ", or use six tildes (~~~~~~)"
                }
            )],
            structural: false,
        });
    }
    if !closed {
        return Some(PlanError {
            kind: ErrorKind::UnclosedFence,
            action: None,
            expected: format!(
                "a line {} that closes the fence of line {opener}",
                drawn(mark, length)
            ),
            found: "the end of the plan".to_owned(),
            index: Some(index),
            span: node.span,
            hints: vec![format!(
                "Close the fence of line {opener} with a line that holds {} and nothing else.",
                drawn(mark, length)
            )],
            structural: false,
        });
    }
    (markdown && length == 3).then(|| short(node, mark, index))
}

/// The fence is too short for Markdown.
pub(super) fn short(node: &Node<'_>, mark: u8, index: usize) -> PlanError {
    PlanError {
        kind: ErrorKind::ShortFence,
        action: None,
        expected: "a fence of four or more characters around Markdown".to_owned(),
        found: format!("one of three ({})", drawn(mark, 3)),
        index: Some(index),
        span: node.span,
        hints: vec![format!(
            "Make the fence of line {} and the one that closes it {} or longer, and look where the content really ends: \
             an example with three inside of it would end it.",
            node.span.start,
            drawn(mark, 4)
        )],
        structural: false,
    }
}

/// `length` times `mark`; the number, when it is long.
fn drawn(mark: u8, length: usize) -> String {
    let mark = char::from(mark);
    if length <= 16 {
        mark.to_string().repeat(length)
    } else {
        format!("{length} times {mark}")
    }
}

/// First line of `content` (from 0) that would open a fence of `mark` at least `length` long and says so with an info
/// string, and the longest run of `mark` at the start of a line.
fn lookalike(content: &str, mark: u8, length: usize) -> Option<(usize, usize)> {
    let bytes = content.as_bytes();
    let mut first = None;
    let mut longest = length;
    let mut at = 0;
    while let Some(next) = memchr::memchr(mark, &bytes[at..]) {
        let start = at + next;
        let run = bytes[start..]
            .iter()
            .take_while(|byte| **byte == mark)
            .count();
        at = start + run;
        let blanks = bytes[..start]
            .iter()
            .rev()
            .take(4)
            .take_while(|byte| **byte == b' ')
            .count();
        let begins = blanks < 4 && (start == blanks || bytes[start - blanks - 1] == b'\n');
        if !begins || run < length {
            continue;
        }
        longest = longest.max(run);
        if first.is_some() {
            continue;
        }
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        let info = content[at..end].trim();
        if !(info.is_empty() || mark == b'`' && info.contains('`')) {
            first = Some(start);
        }
        at = end;
    }
    first.map(|start| (memchr::memchr_iter(b'\n', &bytes[..start]).count(), longest))
}

/// A fence that can stand around `content`: longer than any run of back-ticks in it, three at least.
pub fn around(content: &str) -> String {
    fence_of(content, 3)
}

/// [`around`], at least `least` long.
pub(super) fn fence_of(content: &str, least: usize) -> String {
    let bytes = content.as_bytes();
    let mut longest = 0;
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'`', &bytes[at..]) {
        let start = at + next;
        let run = bytes[start..]
            .iter()
            .take_while(|byte| **byte == b'`')
            .count();
        longest = longest.max(run);
        at = start + run;
    }
    "`".repeat(least.max(longest + 1))
}

/// A fence line: its character, how often, and whether more is on it.
struct Line {
    number: usize,
    mark: u8,
    length: usize,
    bare: bool,
}

fn fence_line(number: usize, text: &str) -> Option<Line> {
    let rest = text.trim_start_matches(' ');
    if text.len() - rest.len() > 3 {
        return None;
    }
    let mark = *rest.as_bytes().first()?;
    if mark != b'`' && mark != b'~' {
        return None;
    }
    let length = rest.bytes().take_while(|byte| *byte == mark).count();
    let info = rest[length..].trim();
    if length < 3 || (mark == b'`' && info.contains('`')) {
        return None;
    }
    Some(Line {
        number,
        mark,
        length,
        bare: info.is_empty(),
    })
}

/// `text` with longer outer fences, when that alone makes a plan of it: a fence with an info string inside of another
/// one counts as nested, and the next bare one closes it. `None` when nothing needs mending, when more is wrong, or when
/// it cannot be told where content ends. Show the result to a person: it decides what is content and what is an action.
pub fn repair(text: &str) -> Option<String> {
    if super::parse(text).is_ok() {
        return None;
    }
    let text = super::prepare(text).ok()?;
    let mut open: Vec<Line> = Vec::new();
    // Line of a fence and how many characters it lacks.
    let mut longer: Vec<(usize, usize)> = Vec::new();
    let mut longest = 0;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (line, content) in lines.iter().enumerate() {
        let Some(found) = fence_line(line, content.trim_end_matches('\n')) else {
            continue;
        };
        let closes = open
            .last()
            .is_some_and(|top| found.bare && found.mark == top.mark && found.length >= top.length);
        if !closes {
            if let Some(outer) = open.first()
                && outer.mark == found.mark
            {
                longest = longest.max(found.length);
            }
            open.push(found);
            continue;
        }
        let Some(top) = open.pop() else { continue };
        match open.first() {
            Some(outer) if outer.mark == found.mark => longest = longest.max(found.length),
            Some(_) => {}
            None => {
                if longest >= top.length {
                    longer.push((top.number, longest + 1 - top.length));
                    longer.push((found.number, (longest + 1).saturating_sub(found.length)));
                }
                longest = 0;
            }
        }
    }
    if !open.is_empty() || longer.is_empty() {
        return None;
    }
    let mut mended = String::with_capacity(text.len() + 16 * longer.len());
    let mut longer = longer.into_iter().peekable();
    for (line, content) in lines.iter().enumerate() {
        let lacks = longer.next_if(|(at, _)| *at == line).map_or(0, |it| it.1);
        let blanks = content.len() - content.trim_start_matches(' ').len();
        let (indent, fence) = content.split_at(blanks);
        mended.push_str(indent);
        if let Some(mark) = fence.chars().next() {
            mended.extend(std::iter::repeat_n(mark, lacks));
        }
        mended.push_str(fence);
    }
    super::parse(&mended).is_ok().then_some(mended)
}
