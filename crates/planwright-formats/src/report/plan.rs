//! Metadata of a plan: title, date, phases, milestones, task boxes, complexity.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};
use serde::Serialize;

use super::structure::{PlanHeadingKind, items, lead, phase_heading};
use crate::plan::title::strip_prefix;
use crate::text::{one_line, truncate_chars};
use crate::{front_matter, markdown};

/// Value of fields that the plan does not state.
const UNKNOWN: &str = "Unknown";
/// Maximum length of a title, in code points.
const MAX_TITLE_CHARS: usize = 150;

/// Number of items and how many of them are done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// All items.
    pub total: usize,
    /// Items that are done.
    pub done: usize,
}

/// Metadata of a plan. The field names are part of the JSON output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanMetadata {
    /// First heading of level 1 without a leading `Plan:`, else `title` of the front matter, else
    /// `Unknown Plan`; at most 150 code points.
    pub title: String,
    /// First word of `**Date**:` before the first phase, else of `date` or `created_date` in the
    /// front matter, else `Unknown`.
    pub date: String,
    /// Phases. A phase is done if its heading says so; if the heading states nothing, if it has
    /// task boxes and all are ticked.
    pub phases: Progress,
    /// Milestones, with the same rule.
    pub milestones: Progress,
    /// Task boxes in lists, but not those in headings of phases.
    pub checkboxes: Progress,
    /// Level stated by `**Complexity**:`, else by `**Risk**:`, before the first phase, else
    /// `Unknown`.
    pub complexity: String,
    /// Size of the whole document, in bytes.
    pub size: usize,
}

/// Extracts the metadata of a plan. Accepts any text.
pub fn plan_metadata(markdown: &str) -> PlanMetadata {
    let (fields, body) = front_matter::split(markdown);
    let field = |name: &str| {
        let text = fields.get(name)?.as_str().map(one_line)?;
        (!text.is_empty()).then_some(text)
    };
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let mut collector = Collector::default();
    for node in root.children() {
        collector.visit(node);
    }
    collector.close(0);
    let title = collector.title.or_else(|| field("title"));
    let date = collector
        .date
        .or_else(|| field("date"))
        .or_else(|| field("created_date"));
    PlanMetadata {
        title: truncate_chars(title.as_deref().unwrap_or("Unknown Plan"), MAX_TITLE_CHARS),
        date: date.map_or_else(|| UNKNOWN.to_owned(), |date| first_word(&date).to_owned()),
        phases: collector.phases,
        milestones: collector.milestones,
        checkboxes: collector.boxes,
        complexity: collector
            .complexity
            .or(collector.risk)
            .unwrap_or_else(|| UNKNOWN.to_owned()),
        size: markdown.len(),
    }
}

#[derive(Debug)]
struct OpenPhase {
    level: u8,
    kind: PlanHeadingKind,
    stated: Option<bool>,
    boxes: Progress,
}

#[derive(Debug, Default)]
struct Collector {
    title: Option<String>,
    date: Option<String>,
    complexity: Option<String>,
    risk: Option<String>,
    /// Phases and milestones that contain the next block, outermost first.
    open: Vec<OpenPhase>,
    phases: Progress,
    milestones: Progress,
    boxes: Progress,
}

impl Collector {
    fn visit<'a>(&mut self, node: &'a AstNode<'a>) {
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
        // After the first phase heading, a level belongs to a phase.
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
        let text = one_line(&node.collect_text());
        if let Some(found) = phase_heading(level, &text)
            && found.kind != PlanHeadingKind::Step
        {
            self.open.push(OpenPhase {
                level,
                kind: found.kind,
                stated: found.done,
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
            let count = match open.kind {
                PlanHeadingKind::Milestone => &mut self.milestones,
                PlanHeadingKind::Phase | PlanHeadingKind::Step => &mut self.phases,
            };
            count.total += 1;
            count.done += usize::from(open.stated.unwrap_or(ticked));
        }
    }

    /// Parses fields such as `**Date**: …`, one on each line of a paragraph.
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
        // The colon is inside or after the bold words.
        let (label, value) = match (label.strip_suffix(':'), value.trim().strip_prefix(':')) {
            (Some(label), _) => (label, value.trim()),
            (None, Some(value)) => (label.as_str(), value.trim()),
            (None, None) => return,
        };
        let (field, found) = match label.trim().to_lowercase().as_str() {
            "date" => (&mut self.date, (!value.is_empty()).then(|| one_line(value))),
            "complexity" => (&mut self.complexity, level(value)),
            "risk" => (&mut self.risk, level(value)),
            _ => return,
        };
        if field.is_none() {
            *field = found;
        }
    }
}

/// Levels of complexity or risk. They may be joined (`Medium-Complex`).
const LEVELS: [&str; 15] = [
    "trivial", "minimal", VERY, "low", "easy", "simple", "small", "medium", "moderate", "high",
    "hard", "complex", "large", "critical", "none",
];

/// Returns the first word if it is a level, together with a preceding `very`.
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

/// Modifies the level after it; not a level by itself.
const VERY: &str = "very";

fn first_word(value: &str) -> &str {
    let word = value.split_whitespace().next().unwrap_or_default();
    word.trim_end_matches([',', ';'])
}
