//! Splits what follows a command into options, guidance and a plan.

use std::ops::Range;

use super::parse::Word;
use super::{RawOption, options};
use crate::markdown::{self, Block, BlockKind, Lines};

/// The parts of what follows a command.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) options: Vec<RawOption>,
    pub(super) guidance: Option<String>,
    pub(super) inline: Option<String>,
    /// Byte ranges of the command and its guidance, in order.
    pub(super) removed: Vec<Range<usize>>,
    /// Whether the plan extends to the end of the comment, including what looks like commands.
    pub(super) rest_is_plan: bool,
    /// Whether blocks after the given ones cannot change where the plan is.
    pub(super) is_final: bool,
}

/// The position of a plan.
enum Plan {
    /// From this byte to the end of the comment.
    From(usize),
    /// The content of a fence.
    Fence(Range<usize>),
}

/// Splits `comment` from `word` on. A plan must begin before `end`, where the next command begins
/// or the comment ends.
pub(super) fn split(
    comment: &str,
    blocks: &[Block],
    lines: &Lines<'_>,
    word: &Word,
    end: usize,
) -> Parts {
    let after = word.span.end;
    let next = lines.start(word.line + 1).min(end);
    let spec = word.command.spec();
    let first = blocks.partition_point(|block| block.line <= word.line);
    let last = blocks.partition_point(|block| block.span.start < end);
    let following = blocks.get(first..last).unwrap_or_default();
    let start = || start(comment, following, next, end);
    let guided = spec.argument.is_some();
    let (plan, is_final) = if spec.takes_plan {
        let first = if guided {
            start()
        } else {
            whole(comment, following, next, end)
        };
        // Applies only if the first rule finds nothing in the whole comment.
        let second = || {
            if guided {
                untitled(comment, following, word, next, end)
            } else {
                start()
            }
        };
        if let Some(plan) = first {
            let is_final = matches!(plan, Plan::From(_));
            (Some(plan), is_final)
        } else {
            let plan = second();
            let is_final = guided
                && plan.is_some()
                && !may_start(&comment[next..], lines.texts(word.line + 1));
            (plan, is_final)
        }
    } else {
        (None, true)
    };
    // Guidance is what is before the plan, or around a fence with the plan.
    let (above, below) = match &plan {
        None => (after..end, end..end),
        Some(Plan::From(from)) => (after..*from, end..end),
        Some(Plan::Fence(span)) => {
            let below = lines.start(lines.at(span.end) + 1).clamp(span.end, end);
            (after..span.start, below..end)
        }
    };
    let (options, guidance) = options::split_options(spec.options, &comment[above.clone()]);
    let guidance = [guidance.trim(), comment[below.clone()].trim()].join("\n\n");
    Parts {
        options,
        guidance: Some(guidance.trim().to_owned()).filter(|text| !text.is_empty()),
        inline: plan.as_ref().map(|plan| match plan {
            Plan::From(from) => without_blank_end(&comment[*from..]).to_owned(),
            Plan::Fence(span) => fenced(&comment[span.clone()]),
        }),
        removed: vec![word.start..above.end, below],
        rest_is_plan: matches!(plan, Some(Plan::From(_))),
        is_final,
    }
}

/// Finds the plan of a command without guidance: everything after its line, if that has a list or a
/// heading and does not begin with a fence that contains the plan.
fn whole(comment: &str, following: &[Block], next: usize, end: usize) -> Option<Plan> {
    let text = &comment[next..end];
    let from = next + (text.len() - text.trim_start_matches(['\n', '\r']).len());
    let structured = following.iter().any(|block| {
        matches!(
            block.kind,
            BlockKind::List { .. } | BlockKind::Heading { .. }
        )
    });
    let wrapped = following
        .first()
        .is_some_and(|block| block.span.start <= from && plan_fence(block));
    (structured && !wrapped).then_some(Plan::From(from))
}

/// Finds a plan without a title: a list, or at least two paragraphs, below the command. A list
/// after a colon at the end of the command's own line is guidance.
fn untitled(
    comment: &str,
    following: &[Block],
    word: &Word,
    next: usize,
    end: usize,
) -> Option<Plan> {
    let own = following.first().map_or(end, |block| block.span.start);
    let line = comment[word.span.end..next.min(own)].trim();
    let lead = comment[next.min(own)..own].trim();
    let lists = following
        .iter()
        .any(|block| matches!(block.kind, BlockKind::List { .. }));
    let paragraphs = following
        .iter()
        .filter(|block| matches!(block.kind, BlockKind::Paragraph { .. }))
        .count();
    if line.ends_with([':', '：']) || !(lists || paragraphs >= 2) {
        return None;
    }
    // Further lines of the command's own paragraph that introduce the list belong to the plan.
    let leads = !lead.is_empty() && lead.ends_with([':', '：']);
    Some(Plan::From(if leads { next } else { own }))
}

/// Finds the first block that starts a plan.
fn start(comment: &str, following: &[Block], next: usize, end: usize) -> Option<Plan> {
    // A title right below the command is part of the command's own paragraph.
    let own = following.first().map_or(end, |block| block.span.start);
    let below = comment.get(next..own).unwrap_or_default();
    if !below.trim().is_empty() && title(below, &comment[next..end]) {
        return Some(Plan::From(next));
    }
    for (index, block) in following.iter().enumerate() {
        let text = &comment[block.span.start..block.span.end.min(end)];
        match &block.kind {
            BlockKind::Heading { .. } => return Some(Plan::From(block.span.start)),
            // The first line is parsed on its own only if it may be a title.
            BlockKind::Paragraph { text: plain }
                if names_plan(plain) && title(text, &comment[block.span.start..end]) =>
            {
                return Some(Plan::From(block.span.start));
            }
            BlockKind::Html if opens_plan(text) => {
                let warned = following[..index].iter().rev();
                let first = warned
                    .take_while(|before| {
                        comment[before.span.clone()].trim() == crate::block::WARNING
                    })
                    .last();
                return Some(Plan::From(first.unwrap_or(block).span.start));
            }
            BlockKind::Code { .. } if plan_fence(block) => {
                return Some(Plan::Fence(block.span.clone()));
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a block in which [`start`] finds a plan may begin in `text`, which has these
/// `lines`. A fast upper bound without the Markdown parser.
fn may_start<'a>(text: &str, lines: impl Iterator<Item = &'a str>) -> bool {
    let hides_text = |line: &[u8]| memchr::memchr3(b'[', b'<', b'&', line).is_some();
    let some_hidden = hides_text(text.as_bytes());
    let is_item = |line: &[u8]| {
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        matches!(line[digits..], [b'-' | b'*' | b'+' | b'.' | b')', b' ', ..])
    };
    let names_plan = |line: &[u8]| {
        let letters = line.iter().filter(|byte| byte.is_ascii_alphanumeric());
        let begins = |name: &[u8]| {
            let begin = letters.clone().take(name.len()).map(u8::to_ascii_lowercase);
            begin.eq(name.iter().copied())
        };
        let named = begins(b"plan") || begins(b"implementationplan");
        named && memchr::memchr(b':', line).is_some()
    };
    let underlines = |line: &[u8], mark: u8| line.iter().all(|byte| *byte == mark);
    let starts = |line: &[u8]| match line.trim_ascii() {
        [] => false,
        [b'#' | b'`' | b'~', ..] => true,
        line if underlines(line, b'-') || underlines(line, b'=') => true,
        // No paragraph begins with a list item, and what is in one is at a lower level.
        line if is_item(line) => false,
        line => some_hidden && hides_text(line) || names_plan(line),
    };
    some_hidden && text.contains("<!-- erk:") || lines.map(str::as_bytes).any(starts)
}

/// Returns whether the HTML block `text` opens a plan in one of erk's frames.
fn opens_plan(text: &str) -> bool {
    [
        "<!-- erk:metadata-block:plan-body -->",
        "<!-- erk:plan-content -->",
    ]
    .iter()
    .any(|marker| text.contains(marker))
}

/// Returns whether `block` is a fence whose info string says that it contains a plan.
fn plan_fence(block: &Block) -> bool {
    let BlockKind::Code {
        info, fenced: true, ..
    } = &block.kind
    else {
        return false;
    };
    let language = info.split_whitespace().next().unwrap_or_default();
    ["markdown", "md", "plan"]
        .iter()
        .any(|name| language.eq_ignore_ascii_case(name))
}

/// Returns whether the first line of `text` is a title such as `Plan: …`, and more follows it in
/// `all`.
fn title(text: &str, all: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let Some(Block {
        kind: BlockKind::Paragraph { text: plain },
        ..
    }) = markdown::blocks(first).into_iter().next()
    else {
        return false;
    };
    names_plan(&plain) && !all[first.len()..].trim().is_empty()
}

/// Returns whether the first line of `plain`, which is without markup, is `Plan:` and a name.
fn names_plan(plain: &str) -> bool {
    let first = plain.trim().lines().next().unwrap_or_default();
    let line = first.to_lowercase();
    let named = line
        .strip_prefix("implementation ")
        .unwrap_or(&line)
        .strip_prefix("plan:");
    named.is_some_and(|name| !name.trim().is_empty())
}

/// Returns the lines inside the fenced code block `source`, without the indentation of the opening
/// fence.
fn fenced(source: &str) -> String {
    let block = markdown::blocks(source).into_iter().next();
    let closed = matches!(
        block.map(|block| block.kind),
        Some(BlockKind::Code { closed: true, .. })
    );
    let indent = source.len() - source.trim_start_matches(' ').len();
    let lines = Lines::new(source);
    let last = lines.at(source.len()) + usize::from(!closed);
    let mut content = String::with_capacity(source.len());
    for number in 2..last {
        let line = &source[lines.start(number)..lines.start(number + 1)];
        let blanks = line.len() - line.trim_start_matches(' ').len();
        content.push_str(&line[blanks.min(indent)..]);
    }
    without_blank_end(&content).to_owned()
}

/// Returns `text` up to the end of its last line that is not blank, including that line's trailing
/// blanks.
fn without_blank_end(text: &str) -> &str {
    let solid = text.trim_end().len();
    let line = text[solid..]
        .find(['\n', '\r'])
        .unwrap_or(text.len() - solid);
    &text[..solid + line]
}
