//! What a plan says of itself: title, date, phases, milestones, boxes, complexity.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};
use serde::Serialize;

use super::front_matter;
use super::heading::{Named, phase_heading};
use super::prose::{items, lead};
use crate::markdown;
use crate::plan::inline;
use crate::plan::title::{cut, strip_prefix};

/// Stands where a plan does not say.
const UNKNOWN: &str = "Unknown";
/// Longest title, in code points.
const MAX_TITLE: usize = 150;

/// How many there are, and how many of them are done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// All.
    pub total: usize,
    /// Those that are done.
    pub done: usize,
}

/// What a plan says of itself. The field names are those of the JSON and stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanMetadata {
    /// The first heading of level 1 without `Plan:` in front, else `title` of the front matter, else `Unknown Plan`; at
    /// most 150 code points.
    pub title: String,
    /// The value of `**Date**:` before the first phase, else of `date` or `created_date` in the front matter, else
    /// `Unknown`; its first word.
    pub date: String,
    /// Headings of phases. One is done when its heading says so; when it says nothing, when there are boxes below it
    /// and all are ticked.
    pub phases: Progress,
    /// Headings of milestones, with the same rule.
    pub milestones: Progress,
    /// Boxes in lists; those in headings of phases are counted with the phases.
    pub checkboxes: Progress,
    /// The level behind `**Complexity**:`, else behind `**Risk**:`, before the first phase; `Unknown` without one.
    pub complexity: String,
    /// Bytes of the whole document.
    pub size: usize,
}

/// Reads a plan. Any text gives an answer; a front matter that cannot be read is read as text.
pub fn plan_metadata(markdown: &str) -> PlanMetadata {
    let (fields, body) = front_matter::tolerant(markdown);
    let field = |name: &str| {
        let text = fields.get(name)?.as_str().map(inline::one_line)?;
        (!text.is_empty()).then_some(text)
    };
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let mut reading = Reading::default();
    for node in root.children() {
        reading.block(node);
    }
    reading.close(0);
    let title = reading.title.or_else(|| field("title"));
    let date = reading
        .date
        .or_else(|| field("date"))
        .or_else(|| field("created_date"));
    PlanMetadata {
        title: cut(title.as_deref().unwrap_or("Unknown Plan"), MAX_TITLE),
        date: date.map_or_else(|| UNKNOWN.to_owned(), |date| first_word(&date).to_owned()),
        phases: reading.phases,
        milestones: reading.milestones,
        checkboxes: reading.boxes,
        complexity: reading
            .complexity
            .or(reading.risk)
            .unwrap_or_else(|| UNKNOWN.to_owned()),
        size: markdown.len(),
    }
}

#[derive(Debug)]
struct Open {
    level: u8,
    named: Named,
    said: Option<bool>,
    boxes: Progress,
}

#[derive(Debug, Default)]
struct Reading {
    title: Option<String>,
    date: Option<String>,
    complexity: Option<String>,
    risk: Option<String>,
    /// Phases and milestones that the next block stands in, outermost first.
    open: Vec<Open>,
    phases: Progress,
    milestones: Progress,
    boxes: Progress,
}

impl Reading {
    fn block<'a>(&mut self, node: &'a AstNode<'a>) {
        if let NodeValue::Heading(heading) = &node.data().value {
            return self.heading(heading.level, node);
        }
        let mut here = Progress::default();
        for part in node.descendants() {
            if let NodeValue::TaskItem(item) = &part.data().value {
                here.total += 1;
                here.done += usize::from(item.symbol.is_some());
            }
        }
        self.boxes.total += here.total;
        self.boxes.done += here.done;
        for open in &mut self.open {
            open.boxes.total += here.total;
            open.boxes.done += here.done;
        }
        // Behind the first phase a level is that phase's.
        if self.phases.total == 0 && self.open.is_empty() {
            match &node.data().value {
                NodeValue::Paragraph => self.labels(node),
                NodeValue::List(_) => items(node)
                    .filter_map(lead)
                    .for_each(|item| self.labels(item)),
                _ => {}
            }
        }
    }

    fn heading<'a>(&mut self, level: u8, node: &'a AstNode<'a>) {
        self.close(level);
        let text = inline::one_line(&node.collect_text());
        if let Some(found) = phase_heading(level, &text)
            && found.named != Named::Step
        {
            self.open.push(Open {
                level,
                named: found.named,
                said: found.done,
                boxes: Progress::default(),
            });
        }
        if level == 1 && self.title.is_none() && !text.is_empty() {
            self.title = Some(strip_prefix(&text).to_owned());
        }
    }

    /// Counts the phases and milestones that end before a heading of `level`.
    fn close(&mut self, level: u8) {
        while self.open.last().is_some_and(|open| open.level >= level) {
            let Some(open) = self.open.pop() else { return };
            let ticked = open.boxes.total > 0 && open.boxes.done == open.boxes.total;
            let count = match open.named {
                Named::Milestone => &mut self.milestones,
                Named::Phase | Named::Step => &mut self.phases,
            };
            count.total += 1;
            count.done += usize::from(open.said.unwrap_or(ticked));
        }
    }

    /// Reads `**Date**: …` and the like, one on each line of a paragraph.
    fn labels<'a>(&mut self, paragraph: &'a AstNode<'a>) {
        let mut line: Option<(String, String)> = None;
        let mut start = true;
        for child in paragraph.children() {
            match &child.data().value {
                NodeValue::SoftBreak | NodeValue::LineBreak => {
                    self.label(line.take());
                    start = true;
                    continue;
                }
                NodeValue::Strong if start => line = Some((child.collect_text(), String::new())),
                _ => {
                    if let Some((_, value)) = &mut line {
                        child.collect_text_append(value);
                    }
                }
            }
            start = false;
        }
        self.label(line);
    }

    fn label(&mut self, line: Option<(String, String)>) {
        let Some((label, value)) = line else { return };
        // The colon stands in or behind the bold words.
        let (label, value) = match (label.strip_suffix(':'), value.trim().strip_prefix(':')) {
            (Some(label), _) => (label, value.trim()),
            (None, Some(value)) => (label.as_str(), value.trim()),
            (None, None) => return,
        };
        let (field, found) = match label.trim().to_lowercase().as_str() {
            "date" => (
                &mut self.date,
                (!value.is_empty()).then(|| inline::one_line(value)),
            ),
            "complexity" => (&mut self.complexity, level(value)),
            "risk" => (&mut self.risk, level(value)),
            _ => return,
        };
        if field.is_none() {
            *field = found;
        }
    }
}

/// Words that are levels, also joined (`Medium-Complex`).
const LEVELS: [&str; 15] = [
    "trivial", "minimal", VERY, "low", "easy", "simple", "small", "medium", "moderate", "high",
    "hard", "complex", "large", "critical", "none",
];

/// The first word, when it is a level, with the one behind `very`: anything else would be a guess.
fn level(value: &str) -> Option<String> {
    let mut levels = Vec::new();
    for word in value.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.is_empty() && levels.is_empty() {
            continue;
        }
        let level = |part: &str| LEVELS.contains(&part.to_lowercase().as_str());
        let more = bare.eq_ignore_ascii_case(VERY);
        if !more && !bare.split(['-', '/', '–']).all(level) {
            break;
        }
        levels.push(bare);
        if !more {
            return Some(levels.join(" "));
        }
    }
    None
}

/// Makes the level behind it higher or lower, and is none alone.
const VERY: &str = "very";

fn first_word(value: &str) -> &str {
    let word = value.split_whitespace().next().unwrap_or_default();
    word.trim_end_matches([',', ';'])
}
