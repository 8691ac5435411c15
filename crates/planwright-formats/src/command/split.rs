//! Divides what follows a command into guidance and a plan.

use std::ops::Range;

use super::parse::Word;
use super::{Given, options};
use crate::markdown::{self, Block, Kind, Lines};

/// What follows one command.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) options: Vec<Given>,
    pub(super) guidance: String,
    pub(super) inline: Option<String>,
    /// Byte ranges that are command or guidance, in order.
    pub(super) removed: Vec<Range<usize>>,
    /// The plan goes on to the end of the comment, whatever stands there.
    pub(super) rest_is_plan: bool,
}

/// Where a plan is.
enum Plan {
    /// From this byte to the end of the comment.
    From(usize),
    /// The content of a fence.
    Fence(Range<usize>),
}

/// Divides `comment` from `word` on. A plan must begin before `end`, where the next command or the
/// end of the comment is.
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
    let plan = if !spec.takes_plan {
        None
    } else if spec.argument.is_none() {
        whole(comment, following, next, end).or_else(|| start(comment, following, next, end))
    } else {
        start(comment, following, next, end)
            .or_else(|| untitled(comment, following, word, next, end))
    };
    match plan {
        None => {
            let (options, said) = options::take(spec.options, &comment[after..end]);
            Parts {
                options,
                guidance: said.trim().to_owned(),
                inline: None,
                removed: one(word.start..end),
                rest_is_plan: false,
            }
        }
        Some(Plan::From(from)) => {
            let (options, said) = options::take(spec.options, &comment[after..from]);
            Parts {
                options,
                guidance: said.trim().to_owned(),
                inline: Some(without_blank_end(&comment[from..]).to_owned()),
                removed: one(word.start..from),
                rest_is_plan: true,
            }
        }
        Some(Plan::Fence(span)) => {
            let below = lines.start(lines.at(span.end) + 1).clamp(span.end, end);
            let (options, above) = options::take(spec.options, &comment[after..span.start]);
            let said = [above.trim(), comment[below..end].trim()];
            Parts {
                options,
                guidance: said.join("\n\n").trim().to_owned(),
                inline: Some(fenced(&comment[span.clone()])),
                removed: vec![word.start..span.start, below..end],
                rest_is_plan: false,
            }
        }
    }
}

fn one(range: Range<usize>) -> Vec<Range<usize>> {
    Vec::from([range])
}

/// For a command without guidance: everything behind its line, when that has a list or a heading and does not begin
/// with a wrapping that says where the plan is.
fn whole(comment: &str, following: &[Block], next: usize, end: usize) -> Option<Plan> {
    let text = &comment[next..end];
    let from = next + (text.len() - text.trim_start_matches(['\n', '\r']).len());
    let structured = following
        .iter()
        .any(|block| matches!(block.kind, Kind::List { .. } | Kind::Heading { .. }));
    let wrapped = following
        .first()
        .is_some_and(|block| block.span.start <= from && plan_fence(block));
    (structured && !wrapped).then_some(Plan::From(from))
}

/// A plan without a title: a list, or at least two paragraphs, below the command. A list that the command's
/// own line leads to with a colon is guidance.
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
        .any(|block| matches!(block.kind, Kind::List { .. }));
    let paragraphs = following
        .iter()
        .filter(|block| matches!(block.kind, Kind::Paragraph { .. }))
        .count();
    if line.ends_with([':', '：']) || !(lists || paragraphs >= 2) {
        return None;
    }
    // Lines of the command's own paragraph that lead to the list belong to the plan.
    let leads = !lead.is_empty() && lead.ends_with([':', '：']);
    Some(Plan::From(if leads { next } else { own }))
}

/// The first block that starts a plan.
fn start(comment: &str, following: &[Block], next: usize, end: usize) -> Option<Plan> {
    // A title right below the command is part of the command's own paragraph.
    let own = following.first().map_or(end, |block| block.span.start);
    if own > next && title(&comment[next..own], &comment[next..end]) {
        return Some(Plan::From(next));
    }
    for (index, block) in following.iter().enumerate() {
        let text = &comment[block.span.start..block.span.end.min(end)];
        match &block.kind {
            Kind::Heading { .. } => return Some(Plan::From(block.span.start)),
            // The first line is parsed on its own only where it can be a title.
            Kind::Paragraph { text: plain }
                if names_plan(plain) && title(text, &comment[block.span.start..end]) =>
            {
                return Some(Plan::From(block.span.start));
            }
            Kind::Html if opens_plan(text) => {
                let warned = following[..index].iter().rev();
                let first = warned
                    .take_while(|before| {
                        comment[before.span.clone()].trim() == crate::block::WARNING
                    })
                    .last();
                return Some(Plan::From(first.unwrap_or(block).span.start));
            }
            Kind::Code { .. } if plan_fence(block) => {
                return Some(Plan::Fence(block.span.clone()));
            }
            _ => {}
        }
    }
    None
}

/// The HTML block `text` opens a plan in one of erk's frames.
fn opens_plan(text: &str) -> bool {
    [
        "<!-- erk:metadata-block:plan-body -->",
        "<!-- erk:plan-content -->",
    ]
    .iter()
    .any(|marker| text.contains(marker))
}

/// A fence whose info string says that it holds a plan.
fn plan_fence(block: &Block) -> bool {
    let Kind::Code {
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

/// The first line of `text` is a title such as `Plan: …`, and `all`, which begins with it, goes on behind it.
fn title(text: &str, all: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let Some(Block {
        kind: Kind::Paragraph { text: plain },
        ..
    }) = markdown::blocks(first).into_iter().next()
    else {
        return false;
    };
    names_plan(&plain) && !all[first.len()..].trim().is_empty()
}

/// The first line of `plain`, which is without markup, says `Plan:` and a name.
fn names_plan(plain: &str) -> bool {
    let first = plain.trim().lines().next().unwrap_or_default();
    let line = first.to_lowercase();
    let named = line
        .strip_prefix("implementation ")
        .unwrap_or(&line)
        .strip_prefix("plan:");
    named.is_some_and(|name| !name.trim().is_empty())
}

/// The lines between the fences of the fenced code block `source`, without the indentation of the opening fence.
fn fenced(source: &str) -> String {
    let block = markdown::blocks(source).into_iter().next();
    let closed = matches!(
        block.map(|block| block.kind),
        Some(Kind::Code { closed: true, .. })
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

/// `text` up to the end of its last line that is not blank; that line's own blanks stay.
fn without_blank_end(text: &str) -> &str {
    let solid = text.trim_end().len();
    let line = text[solid..]
        .find(['\n', '\r'])
        .unwrap_or(text.len() - solid);
    &text[..solid + line]
}
