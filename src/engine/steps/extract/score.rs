//! Points for what a text's tree shows.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use super::words::{self, Role};
use crate::formats::markdown::{self, Block, Kind};
use crate::formats::plan::document::is_success_document;
use crate::formats::plan::summary::as_path;

/// What `text` shows of a plan, with points.
pub(super) fn score(text: &str) -> Vec<(i32, String)> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, text);
    let blocks = markdown::blocks_of(root, text);
    let mut reasons = Vec::new();
    let mut say = |points: i32, why: String| {
        if points != 0 {
            reasons.push((points, why));
        }
    };
    if may_be_document(text) && is_success_document(text) {
        say(60, "is a plan document".to_owned());
    }
    let headings = Headings::of(&blocks);
    if let Some(title) = &headings.title {
        say(30, format!("is titled \"{title}\""));
    } else if blocks.iter().any(|block| {
        matches!(&block.kind, Kind::Paragraph { text } if words::is_lead(text) || words::announces(text))
    }) {
        say(25, "begins with the words of a plan".to_owned());
    }
    if headings.revised {
        say(5, "calls itself revised".to_owned());
    }
    if headings.titles > 1 {
        say(-20, format!("holds {} plans", headings.titles));
    }
    say(
        points(headings.sections, 6, 30),
        counted(headings.sections, "section", "of a plan"),
    );
    say(
        points(headings.phases, 8, 24),
        counted(headings.phases, "heading", "of a phase or step"),
    );
    say(
        -points(headings.other, 12, 60),
        counted(headings.other, "section", "of some other document"),
    );
    let lists = Lists::of(&blocks);
    match lists.ordered {
        0 | 1 => {}
        2 => say(6, "2 numbered steps".to_owned()),
        count => say(
            12 + points(count - 3, 1, 6),
            format!("{count} numbered steps"),
        ),
    }
    if lists.tasks >= 3 {
        say(8, format!("{} boxes to tick", lists.tasks));
    }
    if lists.bullets >= 3 {
        say(4, format!("{} bullets", lists.bullets));
    }
    match files(root) {
        0 => {}
        count @ 1..=2 => say(4, counted(count, "file", "named")),
        count => say(8, counted(count, "file", "named")),
    }
    let length = text.trim().chars().count();
    match length {
        0..100 => say(-20, format!("only {length} characters")),
        100..300 => {}
        300..1_000 => say(3, format!("{length} characters")),
        1_000..3_000 => say(6, format!("{length} characters")),
        _ => say(8, format!("{length} characters")),
    }
    let share = |wanted: fn(&Kind) -> bool| {
        let bytes: usize = blocks
            .iter()
            .filter(|block| wanted(&block.kind))
            .map(|block| block.span.len())
            .sum();
        bytes * 100 / text.len().max(1)
    };
    if share(|kind| matches!(kind, Kind::Code { .. })) > 70 {
        say(-15, "almost only code".to_owned());
    }
    if share(|kind| matches!(kind, Kind::Quote)) > 50 {
        say(-20, "mostly quoted".to_owned());
    }
    reasons
}

#[derive(Default)]
struct Headings {
    title: Option<String>,
    /// Plan titles of the highest level among them.
    titles: usize,
    revised: bool,
    sections: usize,
    phases: usize,
    other: usize,
}

impl Headings {
    fn of(blocks: &[Block]) -> Self {
        let mut found = Self::default();
        let mut highest = u8::MAX;
        for block in blocks {
            let Kind::Heading { level, text, .. } = &block.kind else {
                continue;
            };
            match words::role(*level, text) {
                Role::Title => {
                    if *level < highest {
                        highest = *level;
                        found.titles = 0;
                    }
                    found.titles += usize::from(*level == highest);
                    if found.title.is_none() {
                        let lower = text.to_lowercase();
                        found.revised =
                            ["revised", "updated", "final", "v2", "v3"]
                                .iter()
                                .any(|word| {
                                    lower
                                        .split(|c: char| !c.is_alphanumeric())
                                        .any(|w| w == *word)
                                });
                        found.title = Some(text.clone());
                    }
                }
                Role::Section => found.sections += 1,
                Role::Phase => found.phases += 1,
                Role::Other => found.other += 1,
                Role::Unknown => {}
            }
        }
        found
    }
}

#[derive(Default)]
struct Lists {
    /// Items of the longest numbered list.
    ordered: usize,
    tasks: usize,
    bullets: usize,
}

impl Lists {
    fn of(blocks: &[Block]) -> Self {
        let mut found = Self::default();
        for block in blocks {
            if let Kind::List {
                ordered,
                items,
                tasks,
            } = block.kind
            {
                found.tasks += tasks;
                if ordered {
                    found.ordered = found.ordered.max(items);
                } else {
                    found.bullets += items - tasks.min(items);
                }
            }
        }
        found
    }
}

/// Cheap: a plan document has that section.
pub(super) fn may_be_document(text: &str) -> bool {
    text.contains("Enrichment Details")
}

/// Different paths in code spans; counting stops at ten.
fn files<'a>(root: &'a AstNode<'a>) -> usize {
    let mut seen: Vec<String> = Vec::new();
    for node in root.descendants() {
        if let NodeValue::Code(code) = &node.data().value
            && let Some(path) = as_path(&code.literal)
            && seen.len() < 10
            && !seen.iter().any(|other| other == path)
        {
            seen.push(path.to_owned());
        }
    }
    seen.len()
}

fn points(count: usize, each: i32, most: i32) -> i32 {
    i32::try_from(count)
        .unwrap_or(most)
        .saturating_mul(each)
        .min(most)
}

fn counted(count: usize, word: &str, rest: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural} {rest}")
}
