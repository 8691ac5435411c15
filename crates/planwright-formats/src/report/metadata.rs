//! Metadata of a report: title, summary, recommendations, paths, sizes.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};
use serde::Serialize;

use super::answer;
use super::paths::Paths;
use super::structure::{is_leaf, items, lead, section_name, visible_line};
use crate::text::{one_line, truncate_chars};
use crate::{front_matter, markdown};

/// Maximum length of a title, in code points.
const MAX_TITLE_CHARS: usize = 150;
/// Maximum length of a summary, in words (the rule of benbrastmckie/.config).
const MAX_SUMMARY_WORDS: usize = 50;
/// Maximum length of a summary, in code points.
const MAX_SUMMARY_CHARS: usize = 400;
/// Maximum number of recommendations that are listed (the rule of the same project).
const MAX_RECOMMENDATIONS: usize = 5;
/// Maximum length of a recommendation, in code points.
const MAX_RECOMMENDATION_CHARS: usize = 160;
/// Maximum number of paths that are listed (the rule of the same project).
const MAX_PATHS: usize = 10;

/// Metadata of a report. The field names are part of the JSON output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportMetadata {
    /// First heading of level 1, else `title` of the front matter, else `Unknown Report`; at most
    /// 150 code points.
    pub title: String,
    /// Text of the section `Executive Summary`, else of the first paragraphs, on one line; at most
    /// 50 words and 400 code points. Empty when there is no prose.
    pub summary: String,
    /// First five items of the section `Recommendations`, each on one line of at most 160 code
    /// points.
    pub recommendations: Vec<String>,
    /// Number of all recommendations.
    pub recommendations_total: usize,
    /// First ten files named outside of code blocks, in order, each once, as written, at most 201
    /// bytes each.
    pub file_paths: Vec<String>,
    /// Number of distinct files.
    pub file_paths_total: usize,
    /// Size of the whole document, in bytes.
    pub size: usize,
    /// Number of words outside of code blocks.
    pub words: usize,
    /// Number of headings of level 2.
    pub sections: usize,
    /// Number of subsections of the section `Findings`, or of its list items if it has no
    /// subsections.
    pub findings: usize,
    /// The document was made from the agent's answer because the agent wrote no report.
    pub degraded: bool,
}

/// Extracts the metadata of a report. Accepts any text.
pub fn metadata(markdown: &str) -> ReportMetadata {
    let (fields, body) = front_matter::split(markdown);
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let mut collector = Collector::default();
    for node in root.children() {
        collector.visit(node);
    }
    let (mut paths, mut words) = (Paths::default(), 0);
    for node in root.descendants() {
        if is_leaf(&node.data().value) {
            paths.collect(node, MAX_PATHS);
            words += visible_line(node).split_whitespace().count();
        }
    }
    let title = collector.title.or_else(|| {
        let title = fields.get("title")?.as_str().map(one_line)?;
        (!title.is_empty()).then_some(title)
    });
    let summary = if collector.summary.is_empty() {
        &collector.opening
    } else {
        &collector.summary
    };
    let listed = collector.recommendations.iter().take(MAX_RECOMMENDATIONS);
    ReportMetadata {
        title: truncate_chars(
            title.as_deref().unwrap_or("Unknown Report"),
            MAX_TITLE_CHARS,
        ),
        summary: truncate_chars(&summary.join(" "), MAX_SUMMARY_CHARS),
        recommendations: listed
            .map(|one| truncate_chars(one, MAX_RECOMMENDATION_CHARS))
            .collect(),
        recommendations_total: collector.recommendations.len(),
        file_paths_total: paths.total(),
        file_paths: paths.listed,
        size: markdown.len(),
        words,
        sections: collector.sections,
        findings: match collector.subsections {
            0 => collector.points,
            some => some,
        },
        degraded: answer::has_mark(root),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Summary,
    Recommendations,
    Findings,
    Metadata,
    Other,
}

impl Section {
    fn of(level: u8, text: &str) -> Self {
        if !(2..=4).contains(&level) {
            return Self::Other;
        }
        match section_name(text).as_str() {
            "executive summary" => Self::Summary,
            "recommendations" => Self::Recommendations,
            "findings" | "key findings" => Self::Findings,
            "metadata" => Self::Metadata,
            _ => Self::Other,
        }
    }
}

#[derive(Debug, Default)]
struct Collector {
    title: Option<String>,
    /// Levels and sections that contain the next block, outermost first.
    open: Vec<(u8, Section)>,
    summary: Vec<String>,
    /// A non-empty summary section has ended.
    summarised: bool,
    /// Words of the first paragraphs of the document.
    opening: Vec<String>,
    recommendations: Vec<String>,
    sections: usize,
    subsections: usize,
    points: usize,
}

impl Collector {
    fn within(&self, section: Section) -> bool {
        self.open.iter().any(|(_, open)| *open == section)
    }

    fn visit<'a>(&mut self, node: &'a AstNode<'a>) {
        match &node.data().value {
            NodeValue::Heading(heading) => return self.heading(heading.level, node),
            NodeValue::Paragraph if !self.within(Section::Metadata) => {
                append_words(&mut self.opening, node);
            }
            NodeValue::List(_) if self.within(Section::Recommendations) => {
                let leads = items(node).filter_map(lead).map(visible_line);
                self.recommendations
                    .extend(leads.filter(|item| !item.is_empty()));
            }
            NodeValue::List(_) if self.within(Section::Findings) => {
                self.points += items(node).count();
            }
            _ => {}
        }
        if self.within(Section::Summary) && !self.summarised {
            let paragraphs = node
                .descendants()
                .filter(|node| matches!(node.data().value, NodeValue::Paragraph));
            for paragraph in paragraphs {
                append_words(&mut self.summary, paragraph);
            }
        }
    }

    fn heading<'a>(&mut self, level: u8, node: &'a AstNode<'a>) {
        let text = one_line(&node.collect_text());
        let was_summary = self.within(Section::Summary);
        while self.open.last().is_some_and(|(open, _)| *open >= level) {
            self.open.pop();
        }
        if was_summary && !self.within(Section::Summary) && !self.summary.is_empty() {
            self.summarised = true;
        }
        let section = Section::of(level, &text);
        self.sections += usize::from(level == 2);
        let parent = self.open.last();
        let finding = parent.is_some_and(|(_, open)| *open == Section::Findings);
        self.subsections += usize::from(finding && section == Section::Other);
        self.open.push((level, section));
        if level == 1 && self.title.is_none() && !text.is_empty() {
            self.title = Some(text);
        }
    }
}

/// Appends the words of a paragraph up to [`MAX_SUMMARY_WORDS`].
fn append_words<'a>(words: &mut Vec<String>, paragraph: &'a AstNode<'a>) {
    let room = MAX_SUMMARY_WORDS.saturating_sub(words.len());
    let line = visible_line(paragraph);
    words.extend(line.split_whitespace().take(room).map(str::to_owned));
}
