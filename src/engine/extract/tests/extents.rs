//! The extent of plans, and examples for the training of the model that estimates it.

use text_classifier::Features;

use crate::engine::extract::element::elements;
use crate::engine::extract::extent::greatest_sum;
use crate::engine::extract::region::Search;

/// A block of a post.
pub(crate) struct Block {
    /// What the model for extents considers.
    pub(crate) features: Vec<f32>,
    /// What the model for words considers.
    pub(crate) words: Features,
    /// Whether the block belongs to the plan.
    pub(crate) belongs: bool,
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Returns each block of a post that may belong to its plan, given the lines that may begin and end
/// the plan.
pub(crate) fn examples(post: &str, first: &[String], last: &[String]) -> Vec<Block> {
    let elements = elements(post);
    let search = Search::new(post, &elements);
    let has = |at: usize, wanted: &str| {
        let text = &post[elements[at].span.clone()];
        lines(text).any(|line| line == wanted)
    };
    let mut expected = Vec::new();
    for first in first {
        for last in last {
            let start = (0..elements.len()).find(|at| has(*at, first));
            let end = (0..elements.len()).rfind(|at| has(*at, last));
            if let (Some(start), Some(end)) = (start, end)
                && start <= end
            {
                expected.push(start..end + 1);
            }
        }
    }
    // The part that comes closest to one of the expected extents.
    let parts = search.parts();
    let alone = parts.len() == 1;
    let mut best: Option<(usize, Vec<Block>)> = None;
    for region in &parts {
        let (part, features) = search.extent_features(region);
        let limits = search.extent_limits(&part, alone);
        for plan in expected.iter().filter(|_| !features.is_empty()) {
            let common = plan
                .end
                .min(part.end)
                .saturating_sub(plan.start.max(part.start));
            let all = plan.end.max(part.end) - plan.start.min(part.start);
            // Thousandths of what either has.
            let likeness = common * 1000 / all;
            if likeness > 0 && best.as_ref().is_none_or(|(most, _)| likeness > *most) {
                let words = search.words_of_blocks(region);
                let block = |at: usize| Block {
                    features: features[at].clone(),
                    words: words[at].clone(),
                    belongs: plan.contains(&at),
                };
                best = Some((likeness, limits.clone().map(block).collect()));
            }
        }
    }
    best.map(|(_, rows)| rows).unwrap_or_default()
}

#[test]
fn the_extent_has_the_greatest_sum() {
    let of = |numbers: &[f32]| greatest_sum(numbers.iter().copied());
    assert_eq!(of(&[]), 0..0);
    assert_eq!(of(&[-1.0, -2.0]), 0..0);
    assert_eq!(of(&[-1.0, 2.0, 3.0, -1.0]), 1..3);
    assert_eq!(of(&[2.0, -1.0, 3.0]), 0..3);
    assert_eq!(of(&[2.0, -4.0, 3.0, -5.0, 1.0]), 2..3);
}
