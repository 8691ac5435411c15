//! What a planner is told of a report: title, summary, recommendations, paths, sizes.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};
use serde::Serialize;

use super::degraded;
use super::front_matter;
use super::heading::name;
use super::paths::Paths;
use super::prose::{is_leaf, items, lead, line};
use crate::markdown;
use crate::plan::inline;
use crate::plan::title::cut;

/// Longest title, in code points.
const MAX_TITLE: usize = 150;
/// Longest summary, in words (the rule of benbrastmckie/.config).
const SUMMARY_WORDS: usize = 50;
/// Longest summary, in code points, for words without end.
const MAX_SUMMARY: usize = 400;
/// Recommendations that are listed (the same project's).
const RECOMMENDATIONS: usize = 5;
/// Longest recommendation, in code points.
const MAX_RECOMMENDATION: usize = 160;
/// Paths that are listed (the same project's).
const PATHS: usize = 10;

/// What a report says, in short. The field names are those of the JSON and stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportMetadata {
    /// The first heading of level 1, else `title` of the front matter, else `Unknown Report`; at most 150 code points.
    pub title: String,
    /// From the section `Executive Summary`, else the first paragraphs; at most 50 words and 400 code points, one line.
    /// Empty when there is no prose.
    pub summary: String,
    /// The first five items of the section `Recommendations`, each one line of at most 160 code points.
    pub recommendations: Vec<String>,
    /// How many recommendations there are.
    pub recommendations_total: usize,
    /// The first ten files that are named outside of code blocks, in order, each once, as written, at most 201 bytes
    /// each.
    pub file_paths: Vec<String>,
    /// How many different files are named.
    pub file_paths_total: usize,
    /// Bytes of the whole document.
    pub size: usize,
    /// Words outside of code blocks.
    pub words: usize,
    /// Headings of level 2.
    pub sections: usize,
    /// In the section `Findings`: its subsections, or without them the items of its lists.
    pub findings: usize,
    /// The document stands in for a report that the agent did not write.
    pub degraded: bool,
}

/// Reads a report. Any text gives an answer; a front matter that cannot be read is read as text.
pub fn metadata(markdown: &str) -> ReportMetadata {
    let (fields, body) = front_matter::tolerant(markdown);
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let mut reading = Reading::default();
    for node in root.children() {
        reading.block(node);
    }
    let (mut paths, mut words) = (Paths::default(), 0);
    for node in root.descendants() {
        if is_leaf(&node.data().value) {
            paths.read(node, PATHS);
            words += line(node).split_whitespace().count();
        }
    }
    let title = reading.title.or_else(|| {
        let title = fields.get("title")?.as_str().map(inline::one_line)?;
        (!title.is_empty()).then_some(title)
    });
    let summary = if reading.summary.is_empty() {
        &reading.opening
    } else {
        &reading.summary
    };
    let listed = reading.recommendations.iter().take(RECOMMENDATIONS);
    ReportMetadata {
        title: cut(title.as_deref().unwrap_or("Unknown Report"), MAX_TITLE),
        summary: cut(&summary.join(" "), MAX_SUMMARY),
        recommendations: listed.map(|one| cut(one, MAX_RECOMMENDATION)).collect(),
        recommendations_total: reading.recommendations.len(),
        file_paths_total: paths.total(),
        file_paths: paths.listed,
        size: markdown.len(),
        words,
        sections: reading.sections,
        findings: match reading.subsections {
            0 => reading.points,
            some => some,
        },
        degraded: degraded::marked(root),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Summary,
    Recommendations,
    Findings,
    Metadata,
    Other,
}

impl Part {
    fn of(level: u8, text: &str) -> Self {
        if !(2..=4).contains(&level) {
            return Self::Other;
        }
        match name(text).as_str() {
            "executive summary" => Self::Summary,
            "recommendations" => Self::Recommendations,
            "findings" | "key findings" => Self::Findings,
            "metadata" => Self::Metadata,
            _ => Self::Other,
        }
    }
}

#[derive(Debug, Default)]
struct Reading {
    title: Option<String>,
    /// Sections that the next block stands in, outermost first.
    open: Vec<(u8, Part)>,
    summary: Vec<String>,
    /// A summary with words has come to its end.
    summarised: bool,
    /// The words of the first paragraphs of the document.
    opening: Vec<String>,
    recommendations: Vec<String>,
    sections: usize,
    subsections: usize,
    points: usize,
}

impl Reading {
    fn within(&self, part: Part) -> bool {
        self.open.iter().any(|(_, open)| *open == part)
    }

    fn block<'a>(&mut self, node: &'a AstNode<'a>) {
        match &node.data().value {
            NodeValue::Heading(heading) => return self.heading(heading.level, node),
            NodeValue::Paragraph if !self.within(Part::Metadata) => take(&mut self.opening, node),
            NodeValue::List(_) if self.within(Part::Recommendations) => {
                let leads = items(node).filter_map(lead).map(line);
                self.recommendations
                    .extend(leads.filter(|item| !item.is_empty()));
            }
            NodeValue::List(_) if self.within(Part::Findings) => self.points += items(node).count(),
            _ => {}
        }
        if self.within(Part::Summary) && !self.summarised {
            let paragraphs = node
                .descendants()
                .filter(|node| matches!(node.data().value, NodeValue::Paragraph));
            for paragraph in paragraphs {
                take(&mut self.summary, paragraph);
            }
        }
    }

    fn heading<'a>(&mut self, level: u8, node: &'a AstNode<'a>) {
        let text = inline::one_line(&node.collect_text());
        let was_summary = self.within(Part::Summary);
        while self.open.last().is_some_and(|(open, _)| *open >= level) {
            self.open.pop();
        }
        if was_summary && !self.within(Part::Summary) && !self.summary.is_empty() {
            self.summarised = true;
        }
        let part = Part::of(level, &text);
        self.sections += usize::from(level == 2);
        let parent = self.open.last();
        let finding = parent.is_some_and(|(_, open)| *open == Part::Findings);
        self.subsections += usize::from(finding && part == Part::Other);
        self.open.push((level, part));
        if level == 1 && self.title.is_none() && !text.is_empty() {
            self.title = Some(text);
        }
    }
}

/// Adds the words of a paragraph while there is room for them.
fn take<'a>(words: &mut Vec<String>, paragraph: &'a AstNode<'a>) {
    let room = SUMMARY_WORDS.saturating_sub(words.len());
    if room > 0 {
        let line = line(paragraph);
        words.extend(line.split(' ').take(room).map(str::to_owned));
    }
    words.retain(|word| !word.is_empty());
}
