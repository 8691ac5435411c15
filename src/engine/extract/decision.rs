//! The rules that decide between rated candidates: one plan, none, or several if it is unclear which
//! one is meant. `likelihood.rs` weighs their decision with other evidence.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::context::OPENING;
use super::plausibility::PLAUSIBLE;
use super::reference::Subject;
use super::talk::Standing;
use super::talk::stance::Estimated;
use super::{Found, MIN_SCORE, Verdict};
use crate::engine::model::candidate::Reason;
use crate::engine::model::conversation::Reactions;
use crate::engine::model::trigger::Actor;

/// Maximum number of plans offered in one question.
pub(super) const MAX_ASKED: usize = 5;
/// Points for a text that is not called a plan, was not written by the requester, and has no
/// support in the conversation.
pub(super) const UNSUPPORTED: i32 = -14;
/// Maximum score used in comparisons; higher scores do not make a text more of a plan.
pub(super) const FULL: i32 = 76;
/// Minimum lead, in points, over a plan that is then no longer in question.
const CLEARLY_LESS: i32 = 30;
/// Number of points by which a proposal among several may fall short of [`MIN_SCORE`].
const RIVAL: i32 = 10;

/// Whether the text is called a plan, was written by the requester, or is supported by somebody.
fn supported(found: &Found, strength: i32, requester: u64) -> bool {
    let own = |author: &Actor| author.id == requester;
    strength > found.candidate.score.min(FULL)
        || found.author.as_ref().is_some_and(own)
        || found.has_reason(Reason::identifies_plan)
}

/// The data for a decision.
pub(super) struct Case<'a> {
    pub(super) good: &'a [Found],
    pub(super) subjects: &'a [Subject],
    pub(super) standing: &'a [Standing],
    pub(super) strengths: &'a [i32],
    pub(super) reactions: &'a [Reactions],
    pub(super) undecided: Option<usize>,
    /// The last post of each account that says that nothing has been decided.
    pub(super) doubts: &'a HashMap<Option<u64>, usize>,
    pub(super) requester: u64,
    /// For each candidate, what later posts probably mean for it, oldest first. Long posts and posts
    /// with a plan are left out.
    pub(super) estimated: &'a [Vec<Estimated>],
    /// Positions of the posts that count, in order.
    pub(super) read: &'a [usize],
}

impl Case<'_> {
    /// Returns the best candidates in order, and the decision according to the rules.
    pub(super) fn verdict(&self) -> (Vec<usize>, Verdict) {
        let live: Vec<usize> = (0..self.good.len())
            .filter(|at| !self.is_gone(*at) && !self.is_answer(*at))
            .collect();
        if let Some(decided) = self.chosen(&live) {
            return decided;
        }
        let mut ranked = live;
        ranked.sort_by_key(|at| Reverse((self.strengths[*at], self.subjects[*at].post)));
        if ranked
            .first()
            .is_none_or(|best| self.strengths[*best] < MIN_SCORE)
            && !self.rivals(&ranked)
        {
            return (ranked, Verdict::None);
        }
        let (order, verdict) = match ranked.as_slice() {
            [] => (Vec::new(), Verdict::None),
            [one] => (vec![*one], Verdict::Plan),
            _ => self.compare(&ranked),
        };
        if verdict != Verdict::Plan || !order.first().is_some_and(|best| self.is_unsupported(*best))
        {
            return (order, verdict);
        }
        let among = ranked
            .iter()
            .filter(|at| self.strengths[**at] >= MIN_SCORE - RIVAL)
            .count();
        if among < 2 {
            return (order, Verdict::None);
        }
        let why = "nobody supports any of them".to_owned();
        let among = among.min(MAX_ASKED);
        (ranked, Verdict::Unclear { among, why })
    }

    /// Whether the two best candidates are by different authors and at most slightly below
    /// [`MIN_SCORE`].
    fn rivals(&self, ranked: &[usize]) -> bool {
        let [one, other, ..] = ranked else {
            return false;
        };
        self.subjects[*one].author != self.subjects[*other].author
            && self.strengths[*other] >= MIN_SCORE - RIVAL
    }

    /// Whether the form of the text alone makes it a plan.
    pub(super) fn is_plausible(&self, at: usize) -> bool {
        self.good
            .get(at)
            .is_some_and(|it| it.plausibility >= PLAUSIBLE)
    }

    /// Whether nobody supports the text and its form alone does not suffice.
    pub(super) fn is_unsupported(&self, at: usize) -> bool {
        self.strengths[at] + UNSUPPORTED < MIN_SCORE
            && !supported(&self.good[at], self.strengths[at], self.requester)
    }

    /// Whether the plan was withdrawn, rejected, replaced or carried out. The author of another plan
    /// argues for it and does not decide.
    fn is_gone(&self, at: usize) -> bool {
        let standing = &self.standing[at];
        let Some((position, Some(by))) = standing.rejected else {
            return standing.gone();
        };
        let others = Standing {
            rejected: None,
            ..standing.clone()
        };
        let argues = self.subjects.iter().enumerate().any(|(other, subject)| {
            other != at
                && subject.author == Some(by)
                && subject.post < position
                && !self.standing[other].gone()
        });
        others.gone() || !argues
    }

    /// Whether the text answered a question: the author of the conversation says that the problem
    /// is solved, and nothing else says that the text is a plan.
    pub(super) fn is_answer(&self, at: usize) -> bool {
        let is_called_plan = |it: &Found| it.has_reason(Reason::identifies_plan);
        self.standing[at].solved.is_some()
            && self.standing[at].chosen.is_empty()
            && !self.good.get(at).is_some_and(is_called_plan)
    }

    /// Whether somebody would decide for another plan after the decision for this one.
    fn is_contested(&self, one: usize, live: &[usize]) -> bool {
        let chosen = &self.standing[one].chosen;
        let first = chosen.iter().map(|(position, _)| *position).min();
        live.iter().any(|other| {
            let preferred = &self.standing[*other].preferred;
            *other != one
                && preferred.iter().any(|(position, by)| {
                    Some(*position) > first && chosen.iter().all(|(_, chooser)| chooser != by)
                })
        })
    }

    /// Returns the result if somebody has decided for a plan.
    fn chosen(&self, live: &[usize]) -> Option<(Vec<usize>, Verdict)> {
        let is_chosen = |at: &usize| {
            // Authors who prefer their own plan do not decide, unless they gave the command.
            let author = self.subjects[*at].author;
            let counts = |by: Option<u64>| by != author || by == Some(self.requester);
            self.standing[*at].chosen.iter().any(|(_, by)| counts(*by))
        };
        let mut chosen: Vec<usize> = live.iter().copied().filter(is_chosen).collect();
        // The requester has doubts after all decisions.
        if let Some(doubt) = self.doubts.get(&Some(self.requester))
            && self.undecided == Some(*doubt)
            && live.len() > 1
            && chosen.iter().all(|at| {
                let mut decisions = self.standing[*at].chosen.iter();
                decisions.all(|(position, _)| position < doubt)
            })
        {
            return None;
        }
        // Who decided for one of these and rejects a plan that somebody else decided for.
        let disputed = (0..self.good.len()).filter(|at| {
            let standing = &self.standing[*at];
            let rejected = standing.rejected;
            let by_chooser = |one: &usize| {
                let mut choosers = self.standing[*one].chosen.iter();
                choosers.any(|(_, by)| Some(*by) == rejected.map(|(_, by)| by))
            };
            !live.contains(at)
                && standing.withdrawn.is_none()
                && standing.replaced.is_none()
                && is_chosen(at)
                && chosen.iter().any(by_chooser)
        });
        chosen.extend(disputed.collect::<Vec<_>>());
        let by_requester: Vec<usize> = chosen
            .iter()
            .copied()
            .filter(|at| {
                self.standing[*at]
                    .chosen
                    .iter()
                    .any(|(_, by)| *by == Some(self.requester))
            })
            .collect();
        let differ = |many: Vec<usize>| {
            let among = many.len();
            let why = "people decided for different ones".to_owned();
            Some((many, Verdict::Unclear { among, why }))
        };
        let by_strength = |many: &mut Vec<usize>| {
            many.sort_by_key(|at| Reverse(self.strengths[*at]));
        };
        match (by_requester.as_slice(), chosen.as_slice()) {
            ([one], _) => Some((vec![*one], Verdict::Plan)),
            ([], [one]) if !self.is_contested(*one, live) => Some((vec![*one], Verdict::Plan)),
            ([], []) => None,
            ([], [_]) => {
                let mut many = live.to_vec();
                many.retain(|at| {
                    let standing = &self.standing[*at];
                    !standing.chosen.is_empty() || !standing.preferred.is_empty()
                });
                by_strength(&mut many);
                differ(many)
            }
            _ => {
                let mut many = if by_requester.len() > 1 {
                    by_requester
                } else {
                    chosen
                };
                by_strength(&mut many);
                let votes = |at: usize| self.standing[at].chosen.len();
                if votes(many[0]) >= votes(many[1]) + 2 {
                    return Some((vec![many[0]], Verdict::Plan));
                }
                differ(many)
            }
        }
    }

    /// Decides between several plans that nobody has decided between.
    fn compare(&self, ranked: &[usize]) -> (Vec<usize>, Verdict) {
        let best = ranked[0];
        let words = |at: usize| self.subjects[at].words.len();
        let is_opening = |at: usize| {
            self.subjects[at].post == 0
                && !self.good[at]
                    .has_reason(|why| matches!(why, Reason::Title(_) | Reason::Conversation))
        };
        let comments = ranked
            .iter()
            .any(|at| !is_opening(*at) && self.strengths[*at] >= MIN_SCORE);
        let close: Vec<usize> = ranked
            .iter()
            .copied()
            .filter(|at| {
                let score = |at: usize| self.good[at].candidate.score;
                let points = |at: usize| score(at).min(FULL);
                // Another candidate is much longer with a similar score, or has a much higher
                // score.
                let sketch = ranked.iter().any(|other| {
                    words(*at) * 5 < words(*other) * 2 && score(*other) >= score(*at) - 5
                        || points(*at) + CLEARLY_LESS <= points(*other)
                });
                let detail = self.good[*at].detail
                    && ranked
                        .iter()
                        .any(|other| self.subjects[*other].post < self.subjects[*at].post);
                // Comments are answers to the opening text and take precedence over it.
                let answered = comments
                    && is_opening(*at)
                    && self.standing[*at].approved.is_empty()
                    && points(*at) - OPENING / 2 + 5 < points(best);
                !(sketch || detail || answered)
            })
            .collect();
        let Some(best) = close.first().copied() else {
            return (vec![best], Verdict::Plan);
        };
        // Count only votes after the last of these plans was posted.
        let last = close
            .iter()
            .map(|at| self.subjects[*at].post)
            .max()
            .unwrap_or(0);
        let votes = |at: usize| {
            let standing = &self.standing[at];
            // General approval decides only if the requester gives it, or the author of another
            // of these plans.
            let meant = |(_, by): &&(usize, Option<u64>)| {
                *by == Some(self.requester)
                    || standing.named.iter().any(|(_, other)| other == by)
                    || self.concedes(*by, at, &close)
            };
            // Whoever approves of something and has doubts afterwards has not decided.
            let after = |(position, by): &&(usize, Option<u64>)| {
                self.doubts.get(by).is_none_or(|doubt| position >= doubt)
            };
            let late = standing
                .approved
                .iter()
                .filter(meant)
                .chain(&standing.named)
                .filter(after);
            let mut people: Vec<Option<u64>> = late
                .filter(|(position, _)| *position > last && Some(*position) != self.undecided)
                .map(|(_, by)| *by)
                .collect();
            people.sort_unstable();
            people.dedup();
            people
                .iter()
                .map(|by| if *by == Some(self.requester) { 2 } else { 1 })
                .sum::<i64>()
        };
        // Several authors each insist on their own plan.
        let insists = |at: &&usize| {
            let standing = &self.standing[**at];
            let author = self.subjects[**at].author;
            standing
                .chosen
                .iter()
                .any(|(position, by)| *position > last && *by == author)
        };
        let contested = close.iter().filter(insists).count() > 1;
        let open = contested || self.undecided.is_some_and(|at| at > last);
        let rivals = |of: &dyn Fn(usize) -> i64, lead: i64| {
            let mut sorted = close.clone();
            sorted.sort_by_key(|at| Reverse(of(*at)));
            match sorted.as_slice() {
                [first, second, ..] if of(*first) >= of(*second) + lead => Some(*first),
                _ => None,
            }
        };
        let against = |one: usize| close.iter().any(|at| *at != one && votes(*at) > 0);
        let by_votes = rivals(&votes, if open { 2 } else { 1 })
            .filter(|one| !against(*one) || rivals(&votes, 2).is_some());
        let by_reactions = rivals(&|at| self.reactions(at), 3).filter(|one| {
            let others = close.iter().filter(|at| *at != one);
            !open
                && others
                    .clone()
                    .all(|at| self.reactions(*at) * 2 <= self.reactions(*one))
        });
        let by_approval = || {
            if open {
                None
            } else {
                self.approved_alone(&close)
            }
        };
        if let Some(one) = by_votes.or(by_reactions).or_else(by_approval) {
            return (vec![one], Verdict::Plan);
        }
        if let [one] = close.as_slice() {
            return (vec![*one], Verdict::Plan);
        }
        let same_author = close.iter().all(|at| {
            self.subjects[*at].author == self.subjects[best].author
                && self.subjects[*at].author.is_some()
        });
        let one_post = close
            .windows(2)
            .any(|pair| self.subjects[pair[0]].post == self.subjects[pair[1]].post);
        if same_author && !one_post {
            let newest = close
                .iter()
                .copied()
                .max_by_key(|at| self.subjects[*at].post);
            let largest = close.iter().copied().max_by_key(|at| words(*at));
            if let (Some(newest), Some(largest)) = (newest, largest)
                && words(newest) * 2 < words(largest)
            {
                return (vec![largest], Verdict::Plan);
            }
        }
        let among = close.len().min(MAX_ASKED);
        let why = "they are about equally likely, and nobody has decided".to_owned();
        (close, Verdict::Unclear { among, why })
    }

    /// Whether `by` is the author of another of these plans, but not of this one, and has not
    /// decided for the other.
    fn concedes(&self, by: Option<u64>, to: usize, close: &[usize]) -> bool {
        let wrote = |at: usize| self.subjects[at].author == by;
        let insists = |at: usize| {
            let standing = &self.standing[at];
            let mut favours = standing.chosen.iter().chain(&standing.named);
            favours.any(|(_, who)| *who == by)
        };
        let mut own = close.iter().filter(|at| wrote(**at)).peekable();
        by.is_some() && !wrote(to) && own.peek().is_some() && own.all(|at| !insists(*at))
    }

    /// Returns the only plan that was approved, if all others were posted later and have no
    /// support.
    fn approved_alone(&self, close: &[usize]) -> Option<usize> {
        let mut agreed = close
            .iter()
            .filter(|at| !self.standing[**at].approved.is_empty());
        let (one, None) = (*agreed.next()?, agreed.next()) else {
            return None;
        };
        let ignored = |at: usize| {
            let standing = &self.standing[at];
            standing.named.is_empty()
                && standing.chosen.is_empty()
                && self.reactions(at) <= 0
                && self.subjects[at].author != Some(self.requester)
                && self.subjects[at].post > self.subjects[one].post
        };
        close
            .iter()
            .all(|at| *at == one || ignored(*at))
            .then_some(one)
    }

    /// Returns the number of approving reactions minus the number of rejecting ones.
    fn reactions(&self, at: usize) -> i64 {
        let reactions = self.reactions[at];
        i64::from(reactions.approving) - i64::from(reactions.rejecting)
    }
}
