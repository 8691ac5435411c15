//! The parts of a conversation that could be a plan, with what is known about each.

use std::ops::Range;

use super::element::{Element, elements};
use super::heading::{self, Role};
use super::multipart;
use super::plausibility::PLAUSIBLE;
use super::region::{self, Region, Title};
use super::score::{self, MIN_SCORE};
use crate::engine::model::candidate::{Candidate, Reason, Source};
use crate::engine::model::trigger::Actor;
use crate::formats::block;
use crate::formats::plan::document::strip_notes;
use crate::formats::plan::gate::{Length, MIN_PLAN_CHARS};
use crate::formats::plan::title::own_title;

/// Points for a plan block, because its author marked the text as a plan.
const BLOCK: i32 = 40;

/// A candidate and its location.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Positions of its posts in the conversation and the byte range within each. The command's own
    /// comment comes after the last post.
    pub(super) parts: Vec<(usize, Range<usize>)>,
    pub(super) author: Option<Actor>,
    pub(super) candidate: Candidate,
    /// Label among several proposals, normalised.
    pub(super) label: Option<String>,
    /// Whether the post states that it replaces an earlier plan.
    pub(super) replaces: bool,
    /// Which part of a multi-part plan the text claims to be.
    pub(super) part: Option<Part>,
    /// Whether the text claims to be about a single step of a plan.
    pub(super) detail: bool,
    /// Source of the title.
    pub(super) title: Title,
    /// The paragraph that announces the plan and is not part of it, or an empty text.
    pub(super) announcement: String,
    /// Probability that the text is a plan at all (`plausibility.rs`).
    pub(super) plausibility: f32,
}

/// The part of a multi-part plan that a text claims to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The part with this number, 1-based.
    Number(usize),
    /// The part with this number, 1-based, if the earlier one has the same title: `（上）`, `（下）`
    /// also say how urgent something is.
    Volume(usize),
    /// A continuation of an earlier part.
    Continued,
}

impl Found {
    /// Creates the plan that is in a post at `span`.
    fn new(candidate: Candidate, span: Range<usize>) -> Self {
        Self {
            parts: vec![(0, span)],
            author: None,
            candidate,
            label: None,
            replaces: false,
            part: None,
            detail: false,
            title: Title::Own,
            announcement: String::new(),
            plausibility: 0.0,
        }
    }

    /// Whether the text is only a part of its post, and too short to be saved.
    pub(super) fn is_short_section(&self) -> bool {
        matches!(self.candidate.source, Source::Section { .. })
            && Length::of(&self.candidate.text).is_below(MIN_PLAN_CHARS)
    }

    /// Returns the text with the paragraph that announces it.
    pub(super) fn announced_text(&self) -> String {
        format!("{}{}", self.announcement, self.candidate.text)
    }

    /// Returns the candidate with the position, author and permalink of its post.
    pub(super) fn at(self, position: usize, author: Option<&Actor>, url: &str) -> Self {
        let parts = self.parts.into_iter().map(|(_, span)| (position, span));
        Self {
            parts: parts.collect(),
            author: author.cloned(),
            candidate: Candidate {
                author: author.map(|author| author.login.clone()),
                url: Some(url.to_owned()),
                ..self.candidate
            },
            ..self
        }
    }

    pub(super) fn position(&self) -> usize {
        self.parts.last().map_or(0, |(position, _)| *position)
    }

    /// Returns the given title, or otherwise the title found in the text.
    pub(super) fn title(&self) -> Option<String> {
        match &self.title {
            Title::Own => {
                let own = own_title(&self.candidate.text)?;
                if self.parts.len() > 1 {
                    multipart::without_part(&own)
                } else {
                    Some(own)
                }
            }
            Title::Given(title) => title.clone(),
        }
    }

    pub(super) fn good(&self) -> bool {
        self.candidate.score >= MIN_SCORE || self.plausibility >= PLAUSIBLE
    }

    /// Returns whether one of the reasons for the score meets `condition`.
    pub(super) fn has_reason(&self, condition: impl Fn(&Reason) -> bool) -> bool {
        self.candidate.reasons.iter().any(|(_, why)| condition(why))
    }
}

/// Finds the plans in the post `text`, which consists of `elements`.
pub(super) fn in_post(text: &str, elements: &[Element], post: Option<u64>) -> Vec<Found> {
    let mut plans = plans_in_blocks(text);
    plans.retain(|plan| !plan.trim().is_empty());
    if !plans.is_empty() && quotes_blocks(text) {
        return vec![whole_post(text, post)];
    }
    if !plans.is_empty() {
        return plans
            .into_iter()
            .map(|plan| {
                let mut candidate = candidate(Source::Block { post }, plan);
                add(&mut candidate, BLOCK, Reason::Block);
                Found::new(candidate, 0..text.len())
            })
            .collect();
    }
    let regions = region::regions(text, elements);
    let about = multipart::About::of(elements, &regions);
    regions
        .into_iter()
        .enumerate()
        .map(|(index, region)| {
            let score = region.points();
            let Region {
                span,
                announcement,
                heading,
                whole,
                label,
                reasons,
                title,
            } = region;
            let source = if whole {
                Source::Whole { post }
            } else {
                Source::Section { post, heading }
            };
            let candidate = Candidate {
                source,
                text: text[announcement.end..span.end].to_owned(),
                title: None,
                score,
                reasons,
                author: None,
                url: None,
            };
            Found {
                announcement: text[announcement].to_owned(),
                replaces: about.replaces,
                part: about.part.filter(|_| index == 0),
                detail: about.detail,
                title,
                label,
                ..Found::new(candidate, span)
            }
        })
        .collect()
}

/// Returns a post as a single plan.
pub(super) fn whole_post(text: &str, post: Option<u64>) -> Found {
    let whole = candidate(Source::Whole { post }, text.to_owned());
    Found::new(whole, 0..text.len())
}

/// Whether the plan blocks in `text` are examples within a larger plan around them. The description
/// of a pull request around a plan block is not such a plan: it has no title above the block and no
/// sections below it.
fn quotes_blocks(text: &str) -> bool {
    let blocks = block::parse(text).blocks;
    let is_plan = |block: &&block::Block| block::PLAN_KEYS.contains(&block.key.as_str());
    let (Some(first), Some(last)) = (blocks.iter().find(is_plan), blocks.iter().rfind(is_plan))
    else {
        return false;
    };
    let mut around = String::with_capacity(text.len());
    let mut at = 0;
    for block in &blocks {
        around.push_str(&text[at..block.span.start]);
        at = block.span.end;
    }
    around.push_str(&text[at..]);
    let has_heading = |text: &str, wanted: &dyn Fn(u8, Role) -> bool| {
        elements(text).iter().any(|it| {
            it.level()
                .is_some_and(|level| wanted(level, heading::role(it)))
        })
    };
    let (above, below) = (&text[..first.span.start], &text[last.span.end..]);
    let surrounded = has_heading(above, &|level, role| level == 1 || role == Role::Title)
        || has_heading(above, &|level, _| level <= 2) && has_heading(below, &|level, _| level <= 2);
    surrounded
        && region::regions(&around, &elements(&around))
            .iter()
            .any(|region| region.points() >= MIN_SCORE)
}

pub(super) fn candidate(source: Source, text: String) -> Candidate {
    let reasons = score::score(&text, &elements(&text), 0);
    Candidate {
        source,
        title: None,
        score: reasons.iter().map(|(points, _)| points).sum(),
        reasons,
        author: None,
        url: None,
        text,
    }
}

pub(super) fn titled(source: Source, text: String) -> Candidate {
    Candidate {
        title: own_title(&text),
        ..candidate(source, text)
    }
}

pub(super) fn add(candidate: &mut Candidate, points: i32, why: impl Into<Reason>) {
    candidate.score = candidate.score.saturating_add(points);
    candidate.reasons.push((points, why.into()));
}

/// Returns the plans in the blocks of a text, without the notes appended by the bot.
fn plans_in_blocks(text: &str) -> Vec<String> {
    let plans = block::plans(text).into_iter();
    plans.map(|plan| strip_notes(&plan).to_owned()).collect()
}
