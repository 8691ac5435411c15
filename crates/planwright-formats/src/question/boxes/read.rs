//! Reads ticks from the comment with boxes.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use super::super::answer::letter;
use super::super::marker::MOST_OPTIONS;
use super::{Boxes, MARKER, OTHER, SEND, Ticks};
use crate::markdown::{self, Lines};

/// Reads back what [`super::render`] wrote and people ticked; `None` without the marker.
///
/// Only boxes at the top level count, those of a question behind its heading. Of several markers the last one counts.
pub fn read(body: &str) -> Option<Boxes> {
    if !body.contains(MARKER) {
        return None;
    }
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let lines = Lines::new(body);
    let mut marker = None;
    let mut questions: Vec<Ticks> = Vec::new();
    let mut send = false;
    for node in root.children() {
        match &node.data().value {
            NodeValue::HtmlBlock(html) => marker = mark(&html.literal).or(marker),
            NodeValue::Paragraph if number(node) == Some(questions.len() + 1) => {
                questions.push(Ticks::default());
            }
            NodeValue::List(_) => {
                for item in node.children() {
                    match (ticked(item, &lines), questions.last_mut()) {
                        (Some(Ticked::Send), _) => send = true,
                        (Some(Ticked::Option(at)), Some(ticks)) => ticks.chosen.push(at),
                        (Some(Ticked::Other(text)), Some(ticks)) => {
                            ticks.other.get_or_insert(text);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    for ticks in &mut questions {
        ticks.chosen.sort_unstable();
        ticks.chosen.dedup();
    }
    let (run, round) = marker?;
    Some(Boxes {
        run,
        round,
        questions,
        send,
    })
}

/// `body` with the box that sends not ticked, so that it can be ticked again; `None` where it is not ticked.
pub fn unsent(body: &str) -> Option<String> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let lines = Lines::new(body);
    let mut boxes = root
        .children()
        .filter(|node| matches!(node.data().value, NodeValue::List(_)))
        .flat_map(comrak::arena_tree::Node::children);
    let sends = boxes.find(|item| matches!(ticked(item, &lines), Some(Ticked::Send)))?;
    let line = sends.data().sourcepos.start.line;
    let start = lines.start(line);
    let tick = start + body[start..].find(['x', 'X'])?;
    Some(format!("{} {}", &body[..tick], &body[tick + 1..]))
}

/// A box that is ticked.
enum Ticked {
    Option(usize),
    Other(String),
    Send,
}

/// Run and round of the marker, when that is all there is.
fn mark(html: &str) -> Option<(String, u32)> {
    let names = html.trim().strip_prefix(MARKER)?.strip_suffix("-->")?;
    let (run, round) = names.trim().split_once(' ')?;
    let plain = !run.is_empty() && !run.contains(char::is_whitespace);
    Some((run.to_owned(), round.parse().ok()?)).filter(|_| plain)
}

/// Number of the question whose heading `paragraph` is.
fn number<'a>(paragraph: &'a AstNode<'a>) -> Option<usize> {
    let first = paragraph.first_child()?;
    if !matches!(first.data().value, NodeValue::Strong) {
        return None;
    }
    let text = text(first);
    let (number, behind) = text.split_once('.')?;
    let apart = behind.is_empty() || behind.starts_with(' ');
    number.parse().ok().filter(|_| apart)
}

/// What `item` ticks, when it is a box and ticked.
fn ticked<'a>(item: &'a AstNode<'a>, lines: &Lines<'_>) -> Option<Ticked> {
    let data = item.data();
    match &data.value {
        NodeValue::TaskItem(task) if task.symbol.is_some() => {}
        _ => return None,
    }
    let paragraph = item.first_child()?;
    let shown = text(paragraph);
    if shown.trim() == SEND {
        return Some(Ticked::Send);
    }
    if starts_with_other(&shown) {
        let first = data.sourcepos.start.line;
        return Some(Ticked::Other(other(lines, first, data.sourcepos.end.line)));
    }
    (0..MOST_OPTIONS)
        .find(|at| {
            let mut mark = shown.chars();
            mark.next() == Some(letter(*at)) && mark.next() == Some(')')
        })
        .map(Ticked::Option)
}

fn starts_with_other(text: &str) -> bool {
    text.get(..OTHER.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(OTHER))
}

/// The source behind `other:` in the item from line `first` to line `last`, without the item's indentation.
fn other(lines: &Lines<'_>, first: usize, last: usize) -> String {
    let start = lines.text(first);
    let behind = start
        .char_indices()
        .find(|(at, _)| starts_with_other(&start[*at..]))
        .map_or("", |(at, _)| &start[at + OTHER.len()..]);
    let mut text = behind.to_owned();
    for number in first + 1..=last {
        let line = lines.text(number);
        let blanks = line.len() - line.trim_start_matches(' ').len();
        text.push('\n');
        text.push_str(&line[blanks.min(INDENTATION)..]);
    }
    text.trim().to_owned()
}

/// Blanks before what belongs to an item but stands below its first line.
const INDENTATION: usize = 2;

/// Text of `node` without markup, line ends as `\n`.
fn text<'a>(node: &'a AstNode<'a>) -> String {
    let mut text = String::new();
    for node in node.descendants() {
        match &node.data().value {
            NodeValue::Text(literal) => text.push_str(literal),
            NodeValue::Code(code) => text.push_str(&code.literal),
            NodeValue::LineBreak | NodeValue::SoftBreak => text.push('\n'),
            _ => {}
        }
    }
    text
}
