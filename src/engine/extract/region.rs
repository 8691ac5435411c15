//! Finds the parts of a post that could be a plan.

use std::ops::Range;

use super::bounds::is_labelled;
use super::element::{Element, ElementKind, elements};
use super::heading::{Role, label, role, short_label};
use super::numbering::is_marked;
use super::score::{self, MIN_SCORE, POSSIBLE, is_other_label};
use super::series::{Form, Series, series};
use crate::engine::model::candidate::Reason;
use crate::formats::plan::document::is_success_document;
use crate::formats::vocabulary::Class;
use crate::formats::{front_matter, markdown};

/// Maximum number of parts considered per post; if there are more, the last ones are used.
const MAX_REGIONS: usize = 20;
/// Maximum number of headings of a post that are compared with each other.
const MAX_HEADS: usize = 200;

/// A part of a post.
#[derive(Debug, Clone)]
pub(super) struct Region {
    /// Byte range in the post.
    pub(super) span: Range<usize>,
    /// Byte range of the paragraph at its start that announces the plan and is not part of it; empty
    /// if there is none.
    pub(super) announcement: Range<usize>,
    /// Heading at the start of the part.
    pub(super) heading: Option<String>,
    /// Whether the part is the whole post.
    pub(super) whole: bool,
    /// Label of a proposal among several, normalised: `a`, `2`.
    pub(super) label: Option<String>,
    /// Points and the reason for each.
    pub(super) reasons: Vec<(i32, Reason)>,
    /// Source of the title.
    pub(super) title: Title,
}

/// The source of a region's title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Title {
    /// The title found in the region's text.
    Own,
    /// A title found around the region; `None` if the region is only a section of a longer text and
    /// has no title.
    Given(Option<String>),
}

impl Region {
    /// Returns the sum of all points.
    pub(super) fn points(&self) -> i32 {
        self.reasons.iter().map(|(points, _)| points).sum()
    }

    /// Returns the region with a title that was found around it.
    pub(super) fn titled(mut self, title: String) -> Self {
        self.reasons.push((22, Reason::Title(title.clone())));
        self.title = Title::Given(Some(title));
        self
    }
}

/// Returns the disjoint parts of a post that could be plans, in order. `elements` are its blocks.
pub(super) fn regions(text: &str, elements: &[Element]) -> Vec<Region> {
    if elements.is_empty() {
        return Vec::new();
    }
    if score::may_be_document(text) && is_success_document(text) {
        return vec![finished(text, elements, 0..elements.len(), None, true)];
    }
    let search = Search::new(text, elements);
    let mut fenced = search.fenced();
    if !fenced.is_empty() {
        return fenced.split_off(fenced.len().saturating_sub(MAX_REGIONS));
    }
    let parts = search.parts();
    let alone = parts.len() == 1;
    parts
        .into_iter()
        .map(|region| search.with_extent(region, alone))
        .collect()
}

pub(super) struct Search<'a> {
    pub(super) text: &'a str,
    pub(super) elements: &'a [Element],
    pub(super) series: Vec<Series>,
    /// Whether `elements` are all elements of the post.
    pub(super) all: bool,
}

/// Whether a paragraph only announces the list or table below it: "Todo for me:". "Plan B: queues" is
/// a title.
fn announces(first: &Element, second: &Element) -> bool {
    const TITLE_WORDS: usize = 4;
    let text = first.text.trim_end();
    let names_plan = first.begins(Class::Plan) || first.begins(Class::Marker);
    first.kind == ElementKind::Paragraph
        && !first.is_bold_line()
        && !is_labelled(first)
        && text.ends_with([':', '：', '.', '。', '!', '！'])
        && !(names_plan && text.split_whitespace().count() <= TITLE_WORDS)
        && match second.kind {
            ElementKind::List { .. } | ElementKind::Table { .. } => true,
            ElementKind::Paragraph => {
                let lines = second.text.lines().count();
                let marked = second.text.lines().filter(|line| is_marked(line)).count();
                // The first line may have no arrow.
                lines >= 3 && marked + 1 >= lines
            }
            _ => false,
        }
}

fn finished(
    text: &str,
    elements: &[Element],
    blocks: Range<usize>,
    label: Option<String>,
    all: bool,
) -> Region {
    let part = &elements[blocks.clone()];
    let whole = all && blocks == (0..elements.len());
    let start = part.first().map_or(0, |element| element.span.start);
    let end = part.last().map_or(start, |element| element.span.end);
    let span = if whole { 0..text.len() } else { start..end };
    let heading = part
        .first()
        .filter(|element| element.level().is_some())
        .map(|element| heading_text(&text[element.span.clone()]));
    let mut reasons = score::score(&text[span.clone()], part, span.start);
    reasons.extend(score::announced(elements, &blocks));
    if label.is_some() {
        reasons.push((12, Reason::Proposal));
    }
    let announcement = match part {
        [first, second, ..] if announces(first, second) => span.start..second.span.start,
        _ => span.start..span.start,
    };
    Region {
        reasons,
        whole: whole && announcement.is_empty(),
        span,
        announcement,
        heading,
        label,
        title: Title::Own,
    }
}

/// Returns the new version of a text that is written as a diff of the old one.
fn applied(diff: &str) -> String {
    let headers = ["+++ ", "--- ", "@@"];
    diff.lines()
        .filter(|line| !line.starts_with('-') && !headers.iter().any(|it| line.starts_with(it)))
        .map(|line| line.strip_prefix(['+', ' ']).unwrap_or(line))
        .fold(String::new(), |text, line| text + line + "\n")
}

fn heading_text(source: &str) -> String {
    markdown::blocks(source)
        .into_iter()
        .find_map(|block| match block.kind {
            markdown::BlockKind::Heading { text, .. } => Some(text),
            _ => None,
        })
        .unwrap_or_default()
}

impl<'a> Search<'a> {
    /// Creates a search in a post.
    pub(super) fn new(text: &'a str, elements: &'a [Element]) -> Self {
        Self {
            text,
            elements,
            series: series(elements),
            all: true,
        }
    }
}

impl Search<'_> {
    /// Returns what the rules find: several proposals, or the only plan.
    pub(super) fn parts(&self) -> Vec<Region> {
        let mut found = self.proposals();
        if found.is_empty() {
            found.extend(self.single());
        }
        found.split_off(found.len().saturating_sub(MAX_REGIONS))
    }

    /// Returns the region that consists of the blocks `part` with the blocks `found` instead.
    pub(super) fn resized(
        &self,
        region: Region,
        part: &Range<usize>,
        found: Range<usize>,
    ) -> Region {
        let announced = !region.announcement.is_empty() && found.start == part.start;
        let start = found.start - usize::from(announced);
        let resized = self.region(start..found.end, region.label);
        match region.title {
            Title::Given(Some(title)) => resized.titled(title),
            title => Region { title, ..resized },
        }
    }

    pub(super) fn role(&self, at: usize) -> Role {
        role(&self.elements[at])
    }

    fn region(&self, blocks: Range<usize>, label: Option<String>) -> Region {
        finished(self.text, self.elements, blocks, label, self.all)
    }

    /// Returns the contents of fences in a post that has no headings and no steps outside of them.
    fn fenced(&self) -> Vec<Region> {
        let own = |series: &Series| series.form != Form::Bullets || series.count > 3;
        if self
            .elements
            .iter()
            .any(|element| element.level().is_some())
            || self.series.iter().any(own)
        {
            return Vec::new();
        }
        self.elements
            .iter()
            .filter_map(|element| match &element.kind {
                ElementKind::Code(Some(inner)) => Some((element, inner.clone())),
                _ => None,
            })
            .filter_map(|(element, inner)| {
                let text = self.text.get(inner.clone())?;
                let fence = self.text.get(element.span.clone())?;
                let info = fence.trim_start_matches(['`', '~', ' ']);
                let diff = info.starts_with("diff") || info.starts_with("patch");
                let applied = if diff { Some(applied(text)) } else { None };
                let text = applied.as_deref().unwrap_or(text);
                let parts = elements(text);
                let steps = series(&parts);
                let acts = |it: &Series| {
                    let voice = it.voice();
                    voice.actions * 4 >= it.steps.len()
                        || it.numbered && it.count > 3 && voice.characters >= 40 * it.steps.len()
                };
                if !steps.iter().any(|it| {
                    // Diffs of code have bullets, such as those of YAML.
                    let bullets = it.form == Form::Bullets && !diff;
                    (it.numbered || it.form == Form::Tasks || bullets) && acts(it)
                }) {
                    return None;
                }
                let region = finished(text, &parts, 0..parts.len(), None, true);
                // Without its fence, a diff would be a list of both versions.
                let (announcement, span) = if diff {
                    let start = element.span.start;
                    (start..start, element.span.clone())
                } else {
                    (inner.start..inner.start + region.announcement.end, inner)
                };
                (region.points() >= MIN_SCORE).then_some(Region {
                    announcement,
                    span,
                    whole: false,
                    ..region
                })
            })
            .collect()
    }

    /// Returns several adjacent proposals, each under a heading or bold line of the same kind.
    fn proposals(&self) -> Vec<Region> {
        let heads: Vec<usize> = (0..self.elements.len())
            .filter(|at| {
                let element = &self.elements[*at];
                element.level().is_some()
                    || element.kind == ElementKind::Paragraph && element.bold > 0
            })
            .collect();
        let mut marks: Vec<(usize, u8, Option<String>)> = Vec::new();
        for at in &heads {
            let element = &self.elements[*at];
            let level = element.level().unwrap_or(7);
            let few = heads.len() <= MAX_HEADS;
            let label = label(&element.text, element)
                .or_else(|| if few { self.counted(*at, &heads) } else { None });
            let titled = level <= 3
                && self.role(*at) == Role::Title
                && !element.phrases.is(Class::Empty, element.words());
            if label.is_some() || titled {
                marks.push((*at, level, label));
            }
        }
        if marks.is_empty() && self.offers_several(&heads) {
            marks = heads
                .iter()
                .filter(|at| matches!(self.elements.get(**at + 1), Some(it) if matches!(it.kind, ElementKind::List { .. })))
                .map(|at| (*at, self.elements[*at].level().unwrap_or(7), Some(String::new())))
                .collect();
        }
        let highest = marks.iter().map(|(_, level, _)| *level).min().unwrap_or(0);
        marks.retain(|(_, level, _)| *level == highest);
        if marks.len() < 2 {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (index, (at, level, label)) in marks.iter().enumerate() {
            let next = marks
                .get(index + 1)
                .map_or(self.elements.len(), |(next, ..)| *next);
            let end = self.end_without_talk(*at, next.min(self.section_end(*at, *level)));
            if end > at + 1 || self.elements[*at].text.len() > 200 {
                found.push(self.region(*at..end, label.clone()));
            }
        }
        found.retain(|region| region.points() >= POSSIBLE);
        // A plan among proposals that are only mentioned is not one of several.
        if found.len() < 2 { Vec::new() } else { found }
    }

    /// Whether the text above the first heading announces several alternatives.
    fn offers_several(&self, heads: &[usize]) -> bool {
        let first = heads.first().copied().unwrap_or(0);
        self.elements[..first].iter().any(|element| {
            let phrases = &element.phrases;
            element.kind == ElementKind::Paragraph
                && (phrases.has(Class::Undecided)
                    || phrases.all(Class::Several).any(|count| {
                        phrases
                            .all(Class::Proposal)
                            .any(|noun| (count.end..=count.end + 16).contains(&noun.start))
                    }))
        })
    }

    /// Returns the label of a heading such as `WORD 1` or `WORD B` if other headings use the same
    /// word. Steps are not proposals.
    fn counted(&self, at: usize, heads: &[usize]) -> Option<String> {
        let split = |at: usize| -> Option<(&str, String)> {
            let element = &self.elements[at];
            if element.begins(Class::Step) || element.begins(Class::Other) {
                return None;
            }
            let text = &element.text[element.words()];
            // `A. …`, `B – …`
            let first = text.chars().next()?;
            let behind = text[first.len_utf8()..].trim_start();
            if first.is_alphabetic()
                && behind.starts_with(['.', ')', ':', '–', '—', '-', '：', '、'])
            {
                return Some(("", first.to_string()));
            }
            let (word, rest) = text.split_once(' ')?;
            let label = short_label(rest)?;
            let behind = rest[label.len().min(rest.len())..].trim_start();
            let letters = word.chars().all(char::is_alphabetic) && word.chars().count() >= 3;
            (letters && (behind.is_empty() || !behind.starts_with(char::is_alphanumeric)))
                .then_some((word, label))
        };
        let (word, label) = split(at)?;
        let others = heads.iter().filter(|other| {
            split(**other).is_some_and(|(same, different)| same == word && different != label)
        });
        (others.count() > 0).then_some(label)
    }

    /// Returns the part of the post that looks most like a plan.
    pub(super) fn single(&self) -> Option<Region> {
        let count = self.elements.len();
        if !front_matter::split(self.text).0.is_empty() {
            return Some(self.region(0..self.end_without_talk(0, count), None));
        }
        if let Some(details) = self.details() {
            return Some(details);
        }
        // If there are headings outside of `details` elements, ignore those inside.
        let folded = self.folded();
        let outside = (0..count).any(|at| self.elements[at].level().is_some() && !folded[at]);
        let headings =
            |at: &usize| self.elements[*at].level().is_some() && !(outside && folded[*at]);
        let Some(first) = (0..count).find(headings) else {
            return self.without_headings(0..count);
        };
        let level = self.elements[first].level();
        let below = || (first + 1..count).filter(headings);
        // A single heading of the highest level is the title of the whole post.
        let sole = below().all(|at| self.elements[at].level() > level) && below().next().is_some();
        let other = (0..count)
            .filter(headings)
            .any(|at| self.role(at) == Role::Other);
        let titled = (0..count)
            .filter(headings)
            .find(|at| self.role(*at) == Role::Title);
        // "Plan" can be one of the sections of the plan that the only title names.
        let is_section = |title: usize| {
            let element = &self.elements[title];
            let sections = || below().filter(|at| self.role(*at) == Role::Section);
            sole && element.phrases.is(Class::Empty, element.words()) && sections().nth(1).is_some()
        };
        if let Some(title) = titled.filter(|title| (other || !sole) && !is_section(*title)) {
            return Some(self.titled(title));
        }
        // The title of minutes is not that of a plan in them.
        let minutes = titled.is_none() && self.elements.iter().any(is_other_label);
        let within = if sole { first + 1 } else { 0 };
        if (other && !sole || minutes)
            && let Some(section) = self.section_of_other(within)
        {
            return Some(section);
        }
        let alone = below().next().is_none();
        let title = sole || alone && !matches!(self.role(first), Role::Section | Role::Other);
        // Text above a heading that names the plan is about something else.
        let mut from = if sole && self.role(first) == Role::Title {
            first
        } else {
            0
        };
        while from < first
            && (self.is_before(from, first)
                || title
                    && matches!(
                        self.elements[from].kind,
                        ElementKind::Paragraph | ElementKind::Html
                    ))
        {
            from += 1;
        }
        // The steps are above the first heading, which then begins another topic.
        if first > 1
            && self
                .series
                .iter()
                .any(|it| it.blocks.end <= first && strong(it))
            && !self
                .series
                .iter()
                .any(|it| it.blocks.start >= first && strong(it))
        {
            return self.without_headings(0..first);
        }
        Some(self.region(from..self.end_without_talk(from, count), None))
    }

    /// Returns the section of the heading that names a plan. Text above it belongs to something
    /// else.
    fn titled(&self, title: usize) -> Region {
        let level = self.elements[title].level().unwrap_or(1);
        let end = self.section_end(title, level);
        self.region(title..self.end_without_talk(title, end), None)
    }

    /// Returns the section with the proposed steps in another kind of document, such as a bug
    /// report.
    fn section_of_other(&self, from: usize) -> Option<Region> {
        let mut best: Option<Region> = None;
        let mut at = from;
        while at < self.elements.len() {
            let Some(level) = self.elements[at].level() else {
                at += 1;
                continue;
            };
            if self.role(at) == Role::Other {
                at += 1;
                continue;
            }
            let own_end = |at: usize| {
                (at + 1..self.elements.len())
                    .find(|next| self.elements[*next].level().is_some_and(|it| it <= level))
                    .unwrap_or(self.elements.len())
            };
            let mut end = own_end(at);
            // Include the following sections of the plan, unless the first of them has all steps.
            let holds = |from: usize, to: usize| {
                self.series.iter().any(|it| {
                    it.blocks.start >= from && it.blocks.end <= to && (strong(it) || it.count >= 3)
                })
            };
            if !holds(at, end) && self.role(at) == Role::Unknown {
                at = end;
                continue;
            }
            while end < self.elements.len()
                && self.elements[end].level() == Some(level)
                && self.role(end) == Role::Section
            {
                end = own_end(end);
            }
            if holds(at, end) {
                let region = self.region(at..self.end_without_talk(at, end), None);
                let heading = &self.elements[at];
                let named = heading.phrases.has(Class::Plan)
                    || self.role(at) == Role::Unknown
                        && heading.text.split_whitespace().count() >= 4;
                let title = if named {
                    Title::Own
                } else {
                    Title::Given(None)
                };
                let region = Region { title, ..region };
                if best
                    .as_ref()
                    .is_none_or(|best| best.points() < region.points())
                {
                    best = Some(region);
                }
            }
            at = end.max(at + 1);
        }
        best
    }

    /// Returns the steps with the sentence that introduces them and the text below that belongs to
    /// them.
    fn without_headings(&self, within: Range<usize>) -> Option<Region> {
        let inside = |series: &&Series| {
            series.blocks.start >= within.start && series.blocks.end <= within.end
        };
        let Some(best) = self
            .series
            .iter()
            .filter(inside)
            .max_by_key(|it| it.rank(&it.voice()))
        else {
            let mut from = within.start;
            // With other such lines below, they are headings.
            let is_lead = |at: usize| {
                let element = &self.elements[at];
                element.kind == ElementKind::Paragraph
                    && !element.is_bold_line()
                    && element.text.trim_end().ends_with(':')
            };
            let announces = |at: usize| {
                is_lead(at)
                    && !self.names(at)
                    && self.elements[at + 1].kind == ElementKind::Paragraph
                    && !(at + 1..within.end).any(is_lead)
            };
            while from + 1 < within.end && (self.is_before(from, within.end) || announces(from)) {
                from += 1;
            }
            let to = self.end_without_talk(from, within.end);
            return (from < to).then(|| self.region(from..to, None));
        };
        let (mut from, mut to) = (best.blocks.start, best.blocks.end);
        // Include further steps nearby, such as lists under bold lines or introductory sentences.
        let mut others: Vec<&Series> = self.series.iter().filter(inside).collect();
        others.sort_by_key(|it| it.blocks.start);
        for other in &others {
            let near = other.blocks.start >= to && other.blocks.start - to <= 1;
            let talk = (to..other.blocks.start).any(|at| self.is_after(at));
            if near && !talk && other.form != Form::Sentences {
                to = to.max(other.blocks.end);
            }
        }
        for other in others.iter().rev() {
            let near = other.blocks.end <= from
                && from - other.blocks.end <= 1
                && !self.elements[other.blocks.end..from]
                    .iter()
                    .any(Element::is_bold_line);
            let alike = other.form == best.form || best.form == Form::Bold;
            if near && alike && !self.is_after(other.blocks.end.min(from)) {
                from = from.min(other.blocks.start);
            }
        }
        let steps = from;
        from = self.with_lead(steps, within.start, best.form);
        let lists = match best.form {
            Form::Numbered | Form::Bullets => true,
            Form::Sentences => best.blocks.len() > 1,
            Form::Lines => best.blocks.len() == 1,
            _ => false,
        };
        let led = from < steps && announces(&self.elements[from], &self.elements[from + 1]);
        let titled = from < steps && !led || !lists;
        let to = self.with_tail(to, within.end, titled);
        Some(self.region(from..to, None))
    }
}

/// Whether the series certainly consists of steps and is not just a bulleted list.
pub(super) fn strong(series: &Series) -> bool {
    match series.form {
        Form::Bullets => series.count >= 4 && series.voice().actions * 2 >= series.steps.len(),
        Form::Sentences => false,
        _ => series.count >= 2,
    }
}
