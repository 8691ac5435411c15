//! Estimates which blocks of a post belong to its plan, with two models that were trained on the
//! labelled conversations of `fixtures/conversations`.
//!
//! The rules (`region.rs`, `bounds.rs`) find the steps and what seems to belong to them. The first
//! model rates the words at both ends of each block. The second one looks at this rating, the form
//! of the block, its place beside the steps, and whether the rules include it. The plan is the range
//! of blocks with the greatest sum of log odds.

use std::ops::Range;

use text_classifier::{Builder, Features};

use super::element::{Element, ElementKind};
use super::features::{count, flag, form, ratio};
use super::heading::Role;
use super::models;
use super::region::{Region, Search};
use super::score::MIN_SCORE;
use super::sentences::split_sentences;
use super::series::{Series, Voice};
use super::talk::stance::{pieces, stem};
use crate::formats::front_matter;
use crate::formats::vocabulary::{Class, fold};

/// Maximum number of blocks of a post whose extent is estimated. Longer posts are left to the rules.
const MAX_BLOCKS: usize = 200;
/// Probabilities are kept this far from 0 and 1.
const MARGIN: f32 = 0.001;
/// Number of words at each end of a block that are considered.
const EDGE: usize = 8;
/// Maximum length of the text at each end in which these words are looked for, in bytes.
const MAX_EDGE: usize = 160;

/// A series of steps with what the model considers of it.
struct Steps<'a> {
    series: &'a Series,
    voice: Voice,
    rank: usize,
}

/// A block of a post, beside the part that the rules found.
#[derive(Clone, Copy)]
struct View<'a> {
    search: &'a Search<'a>,
    steps: &'a [Steps<'a>],
    /// The blocks that the rules include.
    part: &'a Range<usize>,
    /// The series in `part` that is most likely its steps.
    main: Option<&'a Series>,
    at: usize,
}

/// A property of a block.
type Feature = fn(&View<'_>) -> f32;

/// What the model considers.
const FEATURES: [(&str, Feature); 30] = [
    // Its place.
    ("included by the rules", |it| flag(it.part.contains(&it.at))),
    ("blocks behind the start", |it| {
        difference(it.at, it.part.start)
    }),
    ("blocks before the end", |it| {
        difference(it.part.end, it.at + 1)
    }),
    ("blocks before the end of the post", |it| {
        count(it.behind().len())
    }),
    ("blocks before the steps", |it| {
        it.main
            .map_or(-1.0, |main| count(main.blocks.start.saturating_sub(it.at)))
    }),
    ("blocks behind the steps", |it| {
        it.main.map_or(-1.0, |main| {
            count((it.at + 1).saturating_sub(main.blocks.end))
        })
    }),
    ("blocks behind a heading", |it| {
        it.section().map_or(-1.0, |at| count(it.at - at))
    }),
    ("role of the heading above", |it| {
        it.section().map_or(-1.0, |at| it.role(at))
    }),
    ("role of the first block", |it| {
        let first = it.part.start;
        let element = &it.search.elements[first];
        match element.level() {
            Some(_) => 1.0 + it.role(first),
            None if element.is_bold_line() => 0.0,
            None => -1.0,
        }
    }),
    ("headings behind", |it| {
        count(it.behind().iter().filter(|it| it.level().is_some()).count())
    }),
    ("lists behind", |it| {
        count(it.behind().iter().filter(|it| is_list(it)).count())
    }),
    ("lists before", |it| {
        let before = it.search.elements[..it.at].iter();
        count(before.filter(|it| is_list(it)).count())
    }),
    ("kind of the block above", |it| {
        it.at
            .checked_sub(1)
            .map_or(-1.0, |at| kind(&it.search.elements[at]))
    }),
    ("kind of the block below", |it| {
        it.behind().first().map_or(-1.0, kind)
    }),
    // Its form.
    ("kind", |it| kind(it.element())),
    ("form of its steps", |it| {
        it.own().map_or(-1.0, |own| form(own.series.form))
    }),
    ("steps", |it| {
        it.own().map_or(0.0, |own| count(own.series.count))
    }),
    ("share of actions", |it| it.per_step(|own| own.actions)),
    ("characters of a step", |it| {
        it.per_step(|own| own.characters)
    }),
    ("characters", |it| {
        (count(it.source().chars().count()) + 1.0).ln()
    }),
    ("sentences", |it| {
        count(split_sentences(&it.element().text).len())
    }),
    ("last character", |it| {
        match it.element().text.trim_end().chars().next_back() {
            None => -1.0,
            Some('?' | '？') => 1.0,
            Some('!' | '！') => 2.0,
            Some(':' | '：') => 3.0,
            Some('.' | '。') => 4.0,
            Some(last) if last.is_alphanumeric() => 5.0,
            Some(_) => 6.0,
        }
    }),
    ("words before a colon", |it| {
        let text = it.element().text.trim();
        text.find([':', '：'])
            .map_or(-1.0, |at| count(text[..at].split_whitespace().count()))
    }),
    ("share in bold", |it| {
        ratio(it.element().bold, it.element().text.len())
    }),
    ("code spans", |it| count(it.element().code_spans.len())),
    ("belongs by its words", |it| belongs(&it.words())),
    // What the rules say.
    ("refers to the steps", |it| {
        flag(it.search.refers_to_steps(it.at))
    }),
    ("precedes a plan", |it| {
        flag(it.search.is_before(it.at, it.search.elements.len()))
    }),
    ("follows a plan", |it| flag(it.search.is_after(it.at))),
    ("addresses the reader", |it| {
        flag(it.element().phrases.has(Class::After))
    }),
];

impl<'a> View<'a> {
    fn element(&self) -> &'a Element {
        &self.search.elements[self.at]
    }

    fn source(&self) -> &'a str {
        &self.search.text[self.element().span.clone()]
    }

    fn behind(&self) -> &'a [Element] {
        &self.search.elements[self.at + 1..]
    }

    /// Returns the words with which the block begins and ends, and where it is beside the steps.
    fn words(&self) -> Features {
        let source = self.source().trim();
        let head = &source[..source.floor_char_boundary(MAX_EDGE)];
        let tail = source.len().saturating_sub(MAX_EDGE);
        let tail = &source[source.ceil_char_boundary(tail)..];
        let place = match self.main {
            Some(main) if self.at < main.blocks.start => "before",
            Some(main) if self.at >= main.blocks.end => "behind",
            _ => "within",
        };
        let mut words = Builder::default();
        for (edge, text) in [("start", fold(head)), ("end", fold(tail))] {
            let all: Vec<&str> = pieces(&text).map(|(_, piece)| piece).collect();
            let near = match edge {
                "start" => &all[..all.len().min(EDGE)],
                _ => &all[all.len().saturating_sub(EDGE)..],
            };
            for word in near {
                words.add(&[edge, word]);
                words.add(&[edge, place, word]);
                words.add(&["stem", place, stem(word)]);
            }
            for pair in near.windows(2) {
                words.add(&[edge, pair[0], pair[1]]);
            }
        }
        words.normalized()
    }

    /// Returns the series that contains the block and is most likely steps.
    fn own(&self) -> Option<&'a Steps<'a>> {
        self.steps
            .iter()
            .filter(|it| it.series.blocks.contains(&self.at))
            .max_by_key(|it| it.rank)
    }

    fn per_step(&self, of: fn(&Voice) -> usize) -> f32 {
        self.own().map_or(0.0, |own| {
            ratio(of(&own.voice), own.series.steps.len().min(Voice::MAX_STEPS))
        })
    }

    /// Returns the position of the nearest heading above.
    fn section(&self) -> Option<usize> {
        (0..self.at)
            .rev()
            .find(|at| self.search.elements[*at].level().is_some())
    }

    fn role(&self, at: usize) -> f32 {
        match self.search.role(at) {
            Role::Title => 4.0,
            Role::Section => 3.0,
            Role::Phase => 2.0,
            Role::Unknown => 1.0,
            Role::Other => 0.0,
        }
    }
}

/// Returns the probability that a block with these words belongs to the plan.
fn belongs(words: &Features) -> f32 {
    models::probabilities(|it| &it.words_of_blocks, words).map_or(0.5, |found| found[1])
}

fn is_list(element: &Element) -> bool {
    matches!(
        element.kind,
        ElementKind::List { .. } | ElementKind::Table(_)
    )
}

fn is_details(element: &Element) -> bool {
    matches!(
        element.kind,
        ElementKind::DetailsOpen | ElementKind::DetailsClose
    )
}

fn kind(element: &Element) -> f32 {
    match element.kind {
        ElementKind::Paragraph => 0.0,
        ElementKind::List { ordered: false, .. } => 1.0,
        ElementKind::List { .. } => 2.0,
        ElementKind::Table(_) => 3.0,
        ElementKind::Heading(_) => 4.0,
        ElementKind::Code(_) => 5.0,
        ElementKind::Quote => 6.0,
        ElementKind::Rule => 7.0,
        ElementKind::DetailsOpen | ElementKind::DetailsClose => 8.0,
        ElementKind::Html | ElementKind::Other => 9.0,
    }
}

fn difference(more: usize, less: usize) -> f32 {
    count(more.saturating_sub(less)) - count(less.saturating_sub(more))
}

impl Search<'_> {
    /// Returns the blocks of a region without its announcement.
    fn blocks_of(&self, region: &Region) -> Range<usize> {
        let inside = |at: &usize| {
            let span = &self.elements[*at].span;
            span.start < region.span.end && span.end > region.announcement.end
        };
        let start = (0..self.elements.len()).find(inside);
        let end = (0..self.elements.len()).rfind(inside);
        match (start, end) {
            (Some(start), Some(end)) => start..end + 1,
            _ => 0..0,
        }
    }

    /// Returns the blocks of a region, and the features of all blocks in the order of [`FEATURES`].
    /// There are none if the extent is left to the rules: in very long posts, in posts that are plan
    /// documents.
    pub(super) fn extent_features(&self, region: &Region) -> (Range<usize>, Vec<Vec<f32>>) {
        let of = |view: &View<'_>| FEATURES.iter().map(|(_, of)| of(view)).collect();
        self.each_block(region, of)
    }

    /// Returns the blocks of a region, and what `of` returns for each block of the post.
    fn each_block<T>(
        &self,
        region: &Region,
        of: impl Fn(&View<'_>) -> T,
    ) -> (Range<usize>, Vec<T>) {
        let part = self.blocks_of(region);
        let is_document = !front_matter::split(self.text).0.is_empty()
            || region.whole && self.role(part.start) == Role::Title;
        if self.elements.len() > MAX_BLOCKS || is_document {
            return (part, Vec::new());
        }
        let steps: Vec<Steps<'_>> = self
            .series
            .iter()
            .map(|series| {
                let voice = series.voice();
                Steps {
                    rank: series.rank(&voice),
                    series,
                    voice,
                }
            })
            .collect();
        let main = steps
            .iter()
            .filter(|it| it.series.blocks.start >= part.start && it.series.blocks.end <= part.end)
            .max_by_key(|it| it.rank)
            .map(|it| it.series);
        let found = (0..self.elements.len()).map(|at| {
            of(&View {
                search: self,
                steps: &steps,
                part: &part,
                main,
                at,
            })
        });
        let found = found.collect();
        (part, found)
    }

    /// Returns the words of each block that the model for words considers.
    #[cfg(test)]
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general over the lifetimes of `View`"
    )]
    pub(super) fn words_of_blocks(&self, region: &Region) -> Vec<Features> {
        self.each_block(region, |view| view.words()).1
    }

    /// Returns the blocks that may belong to the plan if `part` are those that the rules include: all
    /// blocks of the post if there is no other plan in it (`alone`), but not those in and behind
    /// other `details` elements.
    pub(super) fn extent_limits(&self, part: &Range<usize>, alone: bool) -> Range<usize> {
        if !alone {
            return part.clone();
        }
        let limit = |at: &usize| is_details(&self.elements[*at]);
        let start = (0..part.start).rfind(limit).map_or(0, |at| at + 1);
        let end = (part.end..self.elements.len()).find(limit);
        start..end.unwrap_or(self.elements.len())
    }

    /// Returns the region with the extent that the model estimates; `alone` if it is the only one of
    /// the post.
    pub(super) fn with_extent(&self, region: Region, alone: bool) -> Region {
        let (part, features) = self.extent_features(&region);
        if features.is_empty() {
            return region;
        }
        let limits = self.extent_limits(&part, alone);
        let odds = features[limits.clone()].iter().map_while(|it| {
            let belongs = models::probability(|models| &models.extents, it)?;
            let belongs = belongs.clamp(MARGIN, 1.0 - MARGIN);
            Some((belongs / (1.0 - belongs)).ln())
        });
        let found = greatest_sum(odds);
        if found.is_empty() {
            return region;
        }
        let mut start = limits.start + found.start;
        // In prose, a heading or lead that the rules include is not separated from what it announces.
        let announces = |at: usize| part.contains(&at) && (self.is_head(at) || self.is_lead(at));
        if !self.has_steps(&part) && start.checked_sub(1).is_some_and(announces) {
            start -= 1;
        }
        let found = start..self.completed(start, limits.start + found.end, part.end);
        if found == part {
            return region;
        }
        let resized = self.resized(region.clone(), &part, found);
        if resized.points() < MIN_SCORE && region.points() >= MIN_SCORE {
            region
        } else {
            resized
        }
    }

    fn is_head(&self, at: usize) -> bool {
        self.elements[at].level().is_some() || self.elements[at].is_bold_line()
    }

    /// Whether a block is a paragraph that announces what is below it.
    fn is_lead(&self, at: usize) -> bool {
        let element = &self.elements[at];
        element.kind == ElementKind::Paragraph && element.text.trim_end().ends_with([':', '：'])
    }

    fn has_steps(&self, part: &Range<usize>) -> bool {
        let within = |it: &Series| it.blocks.start >= part.start && it.blocks.end <= part.end;
        self.series.iter().any(within)
    }

    /// Returns where a plan from `start` whose estimated end is `end` really ends, at `most` at the
    /// latest: a section is not separated from its heading, text that refers to the steps belongs
    /// to them, and the plan does not end with a heading or a lead.
    fn completed(&self, start: usize, mut end: usize, most: usize) -> usize {
        if self.is_head(end - 1) {
            let next = (end..most).find(|at| self.is_head(*at));
            end = next.unwrap_or(most).max(end);
        }
        let refers = |at: usize| {
            self.elements[at].kind == ElementKind::Paragraph && self.refers_to_steps(at)
        };
        while end < most && refers(end) && !self.is_after(end) {
            end += 1;
        }
        // A heading or a lead is left out if what it announces was left out.
        let announces = |at: usize| {
            let leads = self.is_lead(at) && at + 1 < self.elements.len();
            let is_step = self.series.iter().any(|it| it.blocks.contains(&at));
            (self.is_head(at) || leads) && !is_step
        };
        while end > start + 1 && announces(end - 1) {
            end -= 1;
        }
        end
    }
}

/// Returns the range of the numbers with the greatest positive sum; it is empty if there is none.
pub(super) fn greatest_sum(numbers: impl Iterator<Item = f32>) -> Range<usize> {
    let (mut best, mut range) = (0.0, 0..0);
    let (mut sum, mut start) = (0.0, 0);
    for (at, number) in numbers.enumerate() {
        if sum <= 0.0 {
            (sum, start) = (0.0, at);
        }
        sum += number;
        if sum > best {
            (best, range) = (sum, start..at + 1);
        }
    }
    range
}
