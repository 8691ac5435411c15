//! Which parts of a post could be a plan.

use std::ops::Range;

use super::score::may_be_document;
use super::words::{self, Role};
use crate::formats::markdown::{self, Block, Kind};
use crate::formats::plan::document::is_success_document;
use crate::formats::plan::title::front_matter;

/// The most sections of one post that are looked at, the last ones; nobody writes more plans into one comment.
const MAX_SECTIONS: usize = 50;

/// A part of a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    /// Bytes of the post.
    pub(super) span: Range<usize>,
    /// Heading it begins with.
    pub(super) heading: Option<String>,
    /// It is the whole post.
    pub(super) whole: bool,
}

/// The post without the talk around it, every section that is titled as a plan, and every Markdown fence that could
/// hold one.
pub(super) fn regions(text: &str) -> Vec<Region> {
    let blocks = markdown::blocks(text);
    if blocks.is_empty() {
        return Vec::new();
    }
    let whole = Region {
        span: 0..text.len(),
        heading: None,
        whole: true,
    };
    if may_be_document(text) && is_success_document(text) {
        return vec![whole];
    }
    let mut found = fenced(text, &blocks);
    let (from, to) = without_talk(text, &blocks);
    let outer = from..to;
    found.push(if outer == (0..blocks.len()) {
        whole
    } else {
        region(&blocks, outer.clone())
    });
    let mut sections = Vec::new();
    let mut at = 0;
    while at < blocks.len() {
        match &blocks[at].kind {
            Kind::Heading {
                level, text: name, ..
            } if words::role(*level, name) == Role::Title => {
                let end = section_end(text, &blocks, at, *level);
                if (at..end) != outer && end > at {
                    sections.push(region(&blocks, at..end));
                }
                at = end.max(at + 1);
            }
            _ => at += 1,
        }
    }
    found.extend(sections.split_off(sections.len().saturating_sub(MAX_SECTIONS)));
    found
}

fn region(blocks: &[Block], range: Range<usize>) -> Region {
    let part = &blocks[range];
    let start = part.first().map_or(0, |block| block.span.start);
    Region {
        span: start..part.last().map_or(start, |block| block.span.end),
        heading: part.first().and_then(|block| match &block.kind {
            Kind::Heading { text, .. } => Some(text.clone()),
            _ => None,
        }),
        whole: false,
    }
}

/// Contents of Markdown fences in a post that has no headings of its own.
fn fenced(text: &str, blocks: &[Block]) -> Vec<Region> {
    if blocks
        .iter()
        .any(|block| matches!(block.kind, Kind::Heading { .. }))
    {
        return Vec::new();
    }
    blocks
        .iter()
        .filter(|block| match &block.kind {
            Kind::Code {
                info,
                fenced: true,
                closed: true,
            } => {
                let language = info.split_whitespace().next().unwrap_or_default();
                ["markdown", "md"].contains(&language.to_lowercase().as_str())
            }
            _ => false,
        })
        .filter_map(|block| {
            let source = &text[block.span.clone()];
            let from = source.find('\n')? + 1;
            let to = source.rfind('\n')?;
            let to = to - usize::from(source[..to].ends_with('\r'));
            (from < to).then(|| Region {
                span: block.span.start + from..block.span.start + to,
                heading: None,
                whole: false,
            })
        })
        .collect()
}

/// The blocks that are left when talk before and behind the plan is taken away.
fn without_talk(text: &str, blocks: &[Block]) -> (usize, usize) {
    let to = end_without_talk(text, blocks, 0, blocks.len());
    if front_matter(text) > 0 {
        return (0, to);
    }
    let first = blocks[..to].iter().position(|block| match &block.kind {
        Kind::Heading { .. } => true,
        Kind::Paragraph { text } => words::is_lead(text),
        _ => false,
    });
    let titled = first.is_some_and(|at| match &blocks[at].kind {
        Kind::Heading { level, text, .. } => words::role(*level, text) == Role::Title,
        _ => true,
    });
    let mut from = 0;
    while from < first.unwrap_or(to.saturating_sub(1)) {
        let talk = match &blocks[from].kind {
            // Before a plan's own title everything that can be talk is.
            Kind::Paragraph { text } => {
                titled
                    || words::is_talk_before(text) && !(first.is_none() && words::announces(text))
            }
            Kind::Quote | Kind::Rule => titled || from > 0,
            Kind::Html => titled,
            _ => false,
        };
        if !talk {
            break;
        }
        from += 1;
    }
    let to = if from > 0 {
        end_without_html(text, blocks, to)
    } else {
        to
    };
    (from, to.max(from))
}

/// Behind the plan: paragraphs of talk, and the rules that set them off.
fn end_without_talk(text: &str, blocks: &[Block], from: usize, to: usize) -> usize {
    let asks = blocks[from..to]
        .iter()
        .rev()
        .find_map(|block| match &block.kind {
            Kind::Heading { text, .. } => Some(text.to_lowercase().contains("question")),
            _ => None,
        });
    let mut end = to;
    while end > from + 1 && asks != Some(true) {
        let talk =
            matches!(&blocks[end - 1].kind, Kind::Paragraph { text } if words::is_talk_after(text));
        if !talk {
            break;
        }
        end -= 1;
        while end > from + 1 && blocks[end - 1].kind == Kind::Rule {
            end -= 1;
        }
    }
    if from > 0 {
        end_without_html(text, blocks, end)
    } else {
        end
    }
}

/// Closing tags whose opening was left out.
fn end_without_html(text: &str, blocks: &[Block], to: usize) -> usize {
    let mut end = to;
    while end > 1
        && blocks[end - 1].kind == Kind::Html
        && text[blocks[end - 1].span.clone()]
            .trim_start()
            .starts_with("</")
    {
        end -= 1;
    }
    end
}

/// Behind the last block that belongs to the plan titled at block `at`: its section, and following sections of the
/// same level as long as they are not another plan or a part of some other document.
fn section_end(text: &str, blocks: &[Block], at: usize, level: u8) -> usize {
    let end = blocks[at + 1..]
        .iter()
        .position(|block| match &block.kind {
            Kind::Heading {
                level: other, text, ..
            } if *other <= level => {
                *other < level || matches!(words::role(*other, text), Role::Title | Role::Other)
            }
            _ => false,
        })
        .map_or(blocks.len(), |next| at + 1 + next);
    end_without_talk(text, blocks, at, end)
}
