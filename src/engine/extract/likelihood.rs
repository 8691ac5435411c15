//! Estimates how likely each candidate is to be the plan that should be saved, with a model that was
//! trained on the labelled conversations of `fixtures/conversations`.
//!
//! The model weighs what the other parts of the search found: how much each text looks like a plan,
//! where it is, what people said about it according to the phrases of the vocabulary and according
//! to the model for comments (`talk/stance.rs`), and what the rules would decide (`decision.rs`). A
//! text is saved without a question only if it is rather likely; one that the rules neither choose
//! nor ask about and that has less than zero points, only if it is very likely, and plausible by
//! itself (`plausibility.rs`).

use std::collections::HashSet;

use super::decision::{Case, FULL, MAX_ASKED};
use super::features::{count, flag, number, ratio};
use super::models;
use super::talk::Standing;
use super::talk::stance::{Estimated, Stance};
use super::{MIN_SCORE, Verdict};
use crate::engine::model::candidate::Reason;

/// Minimum sum of the probabilities of all texts: below it, none of them is saved.
const POSSIBLE: f32 = 0.5;
/// Minimum probability of a text that is saved without a question.
const LIKELY: f32 = 0.6;
/// Minimum score of a text that is saved because it is likely: texts with less look like something
/// else.
const MIN_LIKELY_SCORE: i32 = 0;
/// Minimum probability of a text with a lower score that is saved without a question. It must be
/// plausible as well.
const VERY_LIKELY: f32 = 0.75;
/// Minimum odds of a text in question, as a share of the likeliest one's.
const CLOSE: f32 = 0.1;
/// Minimum probability of a text in question.
const IN_QUESTION: f32 = 0.1;
/// Probability of a meaning of a comment that is as good as none.
const NOISE: f32 = 0.4;
/// Number of the last posts that are considered separately.
const LAST: usize = 3;

/// A candidate among the others.
#[derive(Clone, Copy)]
struct View<'a> {
    case: &'a Case<'a>,
    /// What people said about each candidate.
    said: &'a [Said],
    at: usize,
    /// The decision of the rules: the best candidates, and what to do.
    rules: (&'a [usize], &'a Verdict),
}

/// A property of a candidate.
type Feature = fn(&View<'_>) -> f32;

/// What the model considers.
const FEATURES: [(&str, Feature); 52] = [
    // The text.
    ("plausibility", |it| it.case.good[it.at].plausibility),
    ("lead of the plausibility", |it| {
        let plausibility = |at: usize| it.case.good[at].plausibility;
        plausibility(it.at) - it.best_other(plausibility)
    }),
    ("score", |it| number(it.score(it.at))),
    ("lead of the score", |it| {
        number(it.score(it.at)) - it.best_other(|at| number(it.score(at)))
    }),
    ("uncapped score", |it| {
        number(it.case.good[it.at].candidate.score)
    }),
    ("strength", |it| number(it.case.strengths[it.at])),
    ("lead of the strength", |it| {
        let strength = |at: usize| number(it.case.strengths[at]);
        strength(it.at) - it.best_other(strength)
    }),
    ("length", |it| (it.words(it.at) + 1.0).ln()),
    ("length compared to the longest", |it| {
        it.words(it.at)
            / it.best_other(|at| it.words(at))
                .max(it.words(it.at))
                .max(1.0)
    }),
    ("says that it is a plan", |it| {
        flag(it.case.good[it.at].has_reason(Reason::identifies_plan))
    }),
    ("unsupported", |it| flag(it.case.is_unsupported(it.at))),
    // Its place.
    ("by a program", |it| {
        let author = it.case.good[it.at].author.as_ref();
        flag(author.is_some_and(|author| author.bot))
    }),
    ("by the requester", |it| {
        flag(it.case.subjects[it.at].author == Some(it.case.requester))
    }),
    ("opening text", |it| flag(it.post() == 0)),
    ("share of the posts before it", |it| {
        ratio(it.posts_before(), it.case.read.len())
    }),
    ("posts after it", |it| {
        count(it.case.read.len().saturating_sub(it.posts_before()))
    }),
    ("texts after it", |it| {
        it.others_with(|at| it.case.subjects[at].post > it.post())
    }),
    ("texts in the same post", |it| {
        it.others_with(|at| it.case.subjects[at].post == it.post())
    }),
    ("texts", |it| count(it.case.good.len())),
    ("texts that hold", |it| {
        flag(it.holds(it.at)) + it.others_with(|at| it.holds(at))
    }),
    // What people said according to the phrases of the vocabulary.
    ("holds", |it| flag(it.holds(it.at))),
    ("withdrawn", |it| flag(it.standing().withdrawn.is_some())),
    ("rejected", |it| flag(it.standing().rejected.is_some())),
    ("approvals", |it| count(it.standing().approved.len())),
    ("decisions for it", |it| count(it.standing().chosen.len())),
    ("texts that somebody decided for", |it| {
        let chosen = |at: usize| !it.case.standing[at].chosen.is_empty();
        flag(chosen(it.at)) + it.others_with(chosen)
    }),
    ("people who name it", |it| count(it.standing().named.len())),
    ("people with later doubts", |it| {
        let doubts = it.case.doubts.values();
        count(doubts.filter(|position| **position > it.post()).count())
    }),
    ("approving reactions", |it| {
        number_of(it.case.reactions[it.at].approving)
    }),
    ("lead of the approving reactions", |it| {
        let approving = |at: usize| number_of(it.case.reactions[at].approving);
        approving(it.at) - it.best_other(approving)
    }),
    ("plan of the rules", |it| {
        flag(it.is_first() && *it.rules.1 == Verdict::Plan)
    }),
    ("questioned by the rules", |it| {
        let (order, verdict) = it.rules;
        let asked = order.iter().take(MAX_ASKED).any(|at| *at == it.at);
        flag(asked && matches!(verdict, Verdict::Unclear { .. }))
    }),
    // What they said according to the model for comments.
    ("for", |it| it.said().others.sum(Stance::For)),
    ("for, most", |it| it.said().others.most(Stance::For)),
    ("other", |it| it.said().others.sum(Stance::Other)),
    ("other, most", |it| it.said().others.most(Stance::Other)),
    ("against, most", |it| it.said().others.most(Stance::Against)),
    ("open", |it| it.said().others.sum(Stance::Open)),
    ("open, most", |it| it.said().others.most(Stance::Open)),
    ("author against, most", |it| {
        it.said().author.most(Stance::Against)
    }),
    ("requester for", |it| it.said().requester.sum(Stance::For)),
    ("requester against", |it| {
        it.said().requester.sum(Stance::Against)
    }),
    ("requester open", |it| it.said().requester.sum(Stance::Open)),
    ("last for", |it| it.said().last.sum(Stance::For)),
    ("last other", |it| it.said().last.sum(Stance::Other)),
    ("last against", |it| it.said().last.sum(Stance::Against)),
    ("last open", |it| it.said().last.sum(Stance::Open)),
    ("neutral people for", |it| {
        it.said().neutral.sum(Stance::For)
    }),
    ("neutral people for, most", |it| {
        it.said().neutral.most(Stance::For)
    }),
    ("lead of for", |it| {
        it.lead(|view| view.said().others.sum(Stance::For))
    }),
    ("lead of last for", |it| {
        it.lead(|view| view.said().last.sum(Stance::For))
    }),
    ("lead of neutral people for", |it| {
        it.lead(|view| view.said().neutral.sum(Stance::For))
    }),
];

/// Returns the features of each candidate of `case`, in the order of [`FEATURES`], given the
/// decision of the rules.
pub(super) fn features(case: &Case<'_>, rules: (&[usize], &Verdict)) -> Vec<Vec<f32>> {
    let said: Vec<Said> = (0..case.good.len()).map(|at| Said::of(case, at)).collect();
    let of_candidate = |at| {
        let view = View {
            case,
            said: &said,
            at,
            rules,
        };
        FEATURES.iter().map(|(_, feature)| feature(&view)).collect()
    };
    (0..case.good.len()).map(of_candidate).collect()
}

/// Returns the probability of each candidate of `case`, given the decision of the rules.
pub(super) fn likelihoods(case: &Case<'_>, rules: (&[usize], &Verdict)) -> Option<Vec<f32>> {
    let features = features(case, rules);
    let of = |it: &Vec<f32>| models::probability(|models| &models.candidates, it);
    features.iter().map(of).collect()
}

/// Returns the best candidates in order, and the decision, given the probability of each candidate
/// and the decision of the rules.
pub(super) fn decide(
    case: &Case<'_>,
    likelihoods: &[f32],
    (by_rules, rules): (&[usize], Verdict),
) -> (Vec<usize>, Verdict) {
    let among = match &rules {
        Verdict::Plan => 1,
        Verdict::Unclear { among, .. } => *among,
        Verdict::None => 0,
    };
    let is_by_rules = |at: usize| by_rules.iter().take(among).any(|it| *it == at);
    let may_be_saved = |at: usize| {
        is_by_rules(at)
            || case.strengths[at] >= MIN_SCORE
            || case.strengths[at] >= MIN_LIKELY_SCORE && likelihoods[at] >= LIKELY
            || case.is_plausible(at)
    };
    let mut order: Vec<usize> = (0..likelihoods.len()).collect();
    order.sort_by(|one, other| likelihoods[*other].total_cmp(&likelihoods[*one]));
    let Some(first) = order.first().copied() else {
        return (order, Verdict::None);
    };
    let best = likelihoods[first];
    if likelihoods.iter().sum::<f32>() < POSSIBLE {
        return (order, Verdict::None);
    }
    let is_close = |at: usize| {
        let other = likelihoods[at];
        // Odds are p / (1 - p).
        other >= IN_QUESTION && other * (1.0 - best) >= CLOSE * best * (1.0 - other)
    };
    // Earlier versions are in question only if the likeliest text is one itself.
    let is_replaced = |at: usize| case.standing[at].replaced.is_some();
    let mut asked = order.clone();
    asked.retain(|at| is_close(*at) && (is_replaced(first) || !is_replaced(*at)));
    asked.truncate(MAX_ASKED);
    if asked.len() < 2 || !asked.iter().any(|at| may_be_saved(*at)) {
        let least = least_to_save(is_by_rules(first), case.strengths[first]);
        let verdict = if may_be_saved(first) && best >= least {
            Verdict::Plan
        } else {
            Verdict::None
        };
        return (order, verdict);
    }
    let why = match rules {
        Verdict::Unclear { why, .. } => why,
        Verdict::Plan | Verdict::None => "more than one of them may be meant".to_owned(),
    };
    // The first one is saved if nobody is asked.
    asked.sort_by_key(|at| !may_be_saved(*at));
    let among = asked.len();
    order.retain(|at| !asked.contains(at));
    asked.extend(order);
    (asked, Verdict::Unclear { among, why })
}

/// Returns the minimum probability of a text that is saved without a question, given whether the
/// rules choose it or ask about it, and its points.
fn least_to_save(is_by_rules: bool, strength: i32) -> f32 {
    if is_by_rules || strength >= MIN_LIKELY_SCORE {
        LIKELY
    } else {
        VERY_LIKELY
    }
}

impl<'a> View<'a> {
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.at;
        (0..self.case.good.len()).filter(move |at| *at != own)
    }

    /// Returns the number of other candidates with a property.
    fn others_with(&self, has: impl Fn(usize) -> bool) -> f32 {
        count(self.others().filter(|at| has(*at)).count())
    }

    /// Returns the largest value of the other candidates, or 0 if there are none.
    fn best_other(&self, of: impl Fn(usize) -> f32) -> f32 {
        self.others().map(of).reduce(f32::max).unwrap_or_default()
    }

    /// Returns by how much the candidate exceeds all others.
    fn lead(&self, of: impl Fn(&Self) -> f32) -> f32 {
        of(self) - self.best_other(|at| of(&Self { at, ..*self }))
    }

    fn standing(&self) -> &'a Standing {
        &self.case.standing[self.at]
    }

    fn post(&self) -> usize {
        self.case.subjects[self.at].post
    }

    /// Returns the number of searched posts before the candidate.
    fn posts_before(&self) -> usize {
        self.case.read.partition_point(|at| *at < self.post())
    }

    fn score(&self, at: usize) -> i32 {
        self.case.good[at].candidate.score.min(FULL)
    }

    fn words(&self, at: usize) -> f32 {
        count(self.case.subjects[at].words.len())
    }

    fn holds(&self, at: usize) -> bool {
        !self.case.standing[at].gone()
    }

    /// Whether the rules consider it the best candidate.
    fn is_first(&self) -> bool {
        self.rules.0.first() == Some(&self.at)
    }

    fn said(&self) -> &'a Said {
        &self.said[self.at]
    }
}

/// What people said about a candidate, according to the model for comments.
#[derive(Default)]
struct Said {
    /// Everybody but the author of the candidate.
    others: Opinion,
    author: Opinion,
    /// The requester, unless it is the author.
    requester: Opinion,
    /// The last posts by others.
    last: Opinion,
    /// People who wrote none of the candidates.
    neutral: Opinion,
}

impl Said {
    fn of(case: &Case<'_>, at: usize) -> Self {
        let author = case.subjects[at].author;
        let authors: HashSet<Option<u64>> = case.subjects.iter().map(|it| it.author).collect();
        let mut said = Self::default();
        let mut last = LAST;
        for it in case.estimated[at].iter().rev() {
            if author.is_some() && it.author == author {
                said.author.add(it);
                continue;
            }
            said.others.add(it);
            if it.author == Some(case.requester) {
                said.requester.add(it);
            }
            if it.author.is_none() || !authors.contains(&it.author) {
                said.neutral.add(it);
            }
            if last > 0 {
                said.last.add(it);
                last -= 1;
            }
        }
        said
    }
}

/// Probabilities of the meanings of several posts.
#[derive(Default)]
struct Opinion {
    sums: [f32; Stance::ALL.len()],
    most: [f32; Stance::ALL.len()],
}

impl Opinion {
    fn add(&mut self, estimated: &Estimated) {
        for ((sum, most), probability) in self
            .sums
            .iter_mut()
            .zip(&mut self.most)
            .zip(&estimated.estimate)
        {
            *sum += (probability - NOISE).max(0.0);
            *most = most.max(*probability);
        }
    }

    /// Returns the sum of the probabilities that are more than noise.
    fn sum(&self, stance: Stance) -> f32 {
        self.sums[stance as usize]
    }

    /// Returns the largest probability.
    fn most(&self, stance: Stance) -> f32 {
        self.most[stance as usize]
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rough number suffices")]
fn number_of(number: u32) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Decides between candidates, the last of which has too few points for the rules, given the
    /// verdict of the rules about the first two.
    fn decided(likelihoods: &[f32], standing: &[Standing], rules: Verdict) -> (usize, Verdict) {
        decided_with(&[50, 50, 39], likelihoods, standing, rules)
    }

    /// The same with these points.
    fn decided_with(
        strengths: &[i32],
        likelihoods: &[f32],
        standing: &[Standing],
        rules: Verdict,
    ) -> (usize, Verdict) {
        let case = Case {
            good: &[],
            subjects: &[],
            standing,
            strengths,
            reactions: &[],
            undecided: None,
            doubts: &HashMap::new(),
            requester: 0,
            estimated: &[],
            read: &[],
        };
        let (order, verdict) = decide(&case, likelihoods, (&[0, 1], rules));
        (order[0], verdict)
    }

    fn unclear(among: usize, why: &str) -> Verdict {
        Verdict::Unclear {
            among,
            why: why.to_owned(),
        }
    }

    #[test]
    fn the_likeliest_text_is_saved_unless_another_is_close() {
        let standing = vec![Standing::default(); 3];
        let why = "more than one of them may be meant";
        for (likelihoods, expected) in [
            ([0.2, 0.25, 0.04], (1, Verdict::None)),
            ([0.1, 0.9, 0.2], (1, Verdict::Plan)),
            ([0.61, 0.0, 0.05], (0, Verdict::Plan)),
            ([0.59, 0.0, 0.05], (0, Verdict::None)),
            ([0.26, 0.26, 0.0], (0, unclear(2, why))),
            ([0.9, 0.4, 0.1], (0, Verdict::Plan)),
            ([0.9, 0.5, 0.1], (0, unclear(2, why))),
            ([1.0, 0.9, 0.0], (0, Verdict::Plan)),
            ([1.0, 1.0, 0.0], (0, unclear(2, why))),
            ([0.5, 0.3, 0.15], (0, unclear(3, why))),
            ([0.1, 0.0, 0.55], (2, Verdict::None)),
            ([0.1, 0.0, 0.8], (2, Verdict::Plan)),
            ([0.3, 0.0, 0.5], (0, unclear(2, why))),
        ] {
            let found = decided(&likelihoods, &standing, Verdict::Plan);
            assert_eq!(found, expected, "{likelihoods:?}");
        }
    }

    #[test]
    fn a_text_with_less_than_zero_points_is_not_saved_for_its_likelihood() {
        let standing = vec![Standing::default(); 3];
        for (points, expected) in [(0, Verdict::Plan), (-1, Verdict::None)] {
            let found = decided_with(
                &[50, 50, points],
                &[0.1, 0.0, 0.8],
                &standing,
                Verdict::Plan,
            );
            assert_eq!(found, (2, expected), "{points}");
        }
    }

    #[test]
    fn a_text_with_less_than_zero_points_must_be_very_likely_unless_the_rules_choose_it() {
        for (is_by_rules, points, expected) in [
            (true, -1, LIKELY),
            (false, 0, LIKELY),
            (false, -1, VERY_LIKELY),
        ] {
            let least = least_to_save(is_by_rules, points);
            assert!((least - expected).abs() < f32::EPSILON, "{points}: {least}");
        }
    }

    #[test]
    fn the_reason_of_the_rules_is_kept() {
        let standing = vec![Standing::default(); 3];
        let rules = unclear(2, "people decided for different ones");
        let found = decided(&[0.5, 0.4, 0.0], &standing, rules.clone());
        assert_eq!(found, (0, rules));
    }

    #[test]
    fn an_earlier_version_is_not_in_question() {
        let mut standing = vec![Standing::default(); 3];
        standing[0].replaced = Some(1);
        let found = decided(&[0.5, 0.6, 0.0], &standing, Verdict::Plan);
        assert_eq!(found, (1, Verdict::Plan));
    }

    #[test]
    fn a_text_is_saved_only_if_it_is_likely() {
        let withdrawn = Standing {
            withdrawn: Some(1),
            ..Standing::default()
        };
        let answer = Standing {
            solved: Some(1),
            ..Standing::default()
        };
        for first in [Standing::default(), withdrawn, answer] {
            let standing = [first, Standing::default(), Standing::default()];
            for (likelihood, expected) in [(0.55, Verdict::None), (0.65, Verdict::Plan)] {
                for rules in [Verdict::None, Verdict::Plan] {
                    let found = decided(&[likelihood, 0.0, 0.0], &standing, rules);
                    assert_eq!(found, (0, expected.clone()), "{likelihood} {standing:?}");
                }
            }
        }
    }

    #[test]
    fn every_feature_has_a_name_of_its_own() {
        let names: HashSet<&str> = FEATURES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), FEATURES.len());
    }

    #[test]
    fn the_stored_model_was_trained_with_these_features() {
        let values = [0.0; FEATURES.len()];
        assert!(models::probability(|it| &it.candidates, &values).is_some());
    }
}
