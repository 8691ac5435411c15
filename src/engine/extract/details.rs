//! Finds plans in `details` elements.

use super::element::ElementKind;
use super::region::{Region, Search, strong};
use super::series::{Series, series};
use crate::formats::plan::title::{descriptive_title, own_title};
use crate::formats::vocabulary::{Class, Phrases, fold};

/// Minimum number of words of a summary that is a title without being marked as one.
const MIN_SUMMARY_WORDS: usize = 3;

impl Search<'_> {
    /// Returns for each element whether it is inside a `details` element.
    pub(super) fn folded(&self) -> Vec<bool> {
        let mut depth = 0_usize;
        self.elements
            .iter()
            .map(|element| {
                match element.kind {
                    ElementKind::DetailsOpen => depth += 1,
                    ElementKind::DetailsClose => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth > 0
            })
            .collect()
    }

    /// Returns the best plan in the `details` elements of a post that has no steps outside of them,
    /// or in the first one whose summary mentions a plan.
    pub(super) fn details(&self) -> Option<Region> {
        let open = self
            .elements
            .iter()
            .position(|it| it.kind == ElementKind::DetailsOpen)?;
        let folded = self.folded();
        let inside = |series: &Series| folded[series.blocks.start];
        let plan = |at: usize| {
            self.elements[at].kind == ElementKind::DetailsOpen
                && self
                    .summary(at)
                    .is_some_and(|summary| Phrases::of(&fold(&summary)).has(Class::Plan))
        };
        let called = (open..self.elements.len()).find(|at| plan(*at));
        // A list of what is done says how the rest was found.
        let open_steps = |it: &Series| !inside(it) && strong(it) && it.ticked < it.steps.len();
        if called.is_none() && self.series.iter().any(open_steps) {
            return None;
        }
        let mut best: Option<Region> = None;
        let mut from = called.unwrap_or(open);
        while from < self.elements.len() {
            let close = (from + 1..self.elements.len())
                .find(|at| self.elements[*at].kind == ElementKind::DetailsClose)
                .unwrap_or(self.elements.len());
            let part = &self.elements[from + 1..close];
            let held = Search {
                text: self.text,
                elements: part,
                series: series(part),
                all: false,
            };
            if !held.series.is_empty()
                && let Some(region) = held.single()
                && best
                    .as_ref()
                    .is_none_or(|best| best.points() < region.points())
            {
                let region = match self.summary_title(from) {
                    Some(title) if own_title(&self.text[region.span.clone()]).is_none() => {
                        region.titled(title)
                    }
                    _ => region,
                };
                best = Some(Region {
                    whole: false,
                    ..region
                });
            }
            if called.is_some() {
                break;
            }
            let Some(next) = (close..self.elements.len())
                .find(|at| self.elements[*at].kind == ElementKind::DetailsOpen)
            else {
                break;
            };
            from = next;
        }
        best
    }

    /// Returns the title in the summary of the `details` element at `open`: one that is marked as
    /// that of a plan, or a phrase that neither names a plan nor asks for a click.
    fn summary_title(&self, open: usize) -> Option<String> {
        let summary = self.summary(open)?;
        let summary = summary.trim();
        // "Retry queue (click to open)"
        let open = summary
            .strip_suffix([')', '）'])
            .and_then(|inner| inner.rfind(['(', '（']));
        let bare = summary[..open.unwrap_or(summary.len())].trim_end();
        let phrases = Phrases::of(&fold(bare));
        let instructs = [Class::Plan, Class::Operate]
            .into_iter()
            .any(|class| phrases.has(class));
        let is_phrase = !instructs
            && !bare.contains(['<', '&'])
            && bare.split_whitespace().count() >= MIN_SUMMARY_WORDS;
        let marked = |text: &str| descriptive_title(text).filter(|title| title.len() < text.len());
        marked(bare)
            .or_else(|| marked(summary))
            .or_else(|| is_phrase.then(|| descriptive_title(bare))?)
    }

    /// Returns the text of the summary of the `details` element at `open`.
    fn summary(&self, open: usize) -> Option<String> {
        let source = &self.text[self.elements[open].span.clone()];
        let (_, rest) = source.split_once("<summary>")?;
        let (summary, _) = rest.split_once("</summary>")?;
        let bare = summary
            .replace("<b>", "")
            .replace("</b>", "")
            .replace("<strong>", "")
            .replace("</strong>", "");
        Some(bare)
    }
}
