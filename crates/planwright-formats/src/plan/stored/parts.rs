//! Assembly of a long plan from its parts in several comments.

use std::collections::BTreeMap;

use super::blocks::{PlanBlock, PlanPart};
use super::find::{author_name, by_same_author};
use super::{Findings, Location, StoredForm, StoredPage, StoredPlanError};
use crate::plan::split::{self, PartEnd};

/// Maximum number of missing parts and of hints in an error.
const MAX_LISTED: usize = 6;

/// Returns the document that begins in comment `first`, the indices of its comments, and its form.
pub(super) fn collect(
    page: &StoredPage,
    comments: &[PlanBlock],
    first: usize,
    findings: &mut Findings,
) -> Result<(String, Vec<usize>, StoredForm), StoredPlanError> {
    let series = Series {
        page,
        comments,
        first,
    };
    let PlanBlock::Plan(plan) = &comments[first] else {
        return Err(StoredPlanError::HeaderAlone);
    };
    let of = match plan.part {
        Some((_, of)) => of,
        // The line `part i/n` was removed. A text without markers is complete, and the other parts
        // belong to another plan.
        None if split::has_marker(&plan.text) => {
            series.siblings().map(|(_, _, of)| of).max().unwrap_or(1)
        }
        None => 1,
    };
    if of == 1 {
        return Ok((plan.text.clone(), vec![first], plan.form));
    }
    let used = series.select(of, findings)?;
    if !used.contains(&first) {
        let comment = page.comments[first].id;
        return Err(StoredPlanError::PartUnnumbered { comment, of });
    }
    if used.windows(2).any(|pair| pair[0] > pair[1]) {
        let location = Location::Comment(page.comments[first].id);
        findings.add(location, None, "the parts of the plan are not in the order of their numbers; they were joined by number");
    }
    let texts: Vec<&str> = used
        .iter()
        .filter_map(|index| series.plan(*index))
        .map(|plan| plan.text.as_str())
        .collect();
    match split::first_mismatch(&texts) {
        None => Ok((split::join(&texts).unwrap_or_default(), used, plan.form)),
        Some((index, end)) => Err(StoredPlanError::PartEdited {
            part: index + 1,
            of,
            comment: page.comments[used[index]].id,
            end: match end {
                PartEnd::First => "first",
                PartEnd::Last => "last",
            },
            neighbour: match end {
                PartEnd::First => index,
                PartEnd::Last => index + 2,
            },
        }),
    }
}

struct Series<'a> {
    page: &'a StoredPage,
    comments: &'a [PlanBlock],
    first: usize,
}

impl<'a> Series<'a> {
    fn plan(&self, index: usize) -> Option<&'a PlanPart> {
        match &self.comments[index] {
            PlanBlock::Plan(plan) => Some(plan),
            PlanBlock::Broken { .. } | PlanBlock::Missing => None,
        }
    }

    /// Returns true if the comment is by the author of the comment in which the plan begins.
    fn same_author(&self, index: usize) -> bool {
        by_same_author(self.page, self.first, index)
    }

    /// Returns index, part and number of parts of every numbered comment by that author.
    fn siblings(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..self.comments.len())
            .filter(|index| self.same_author(*index))
            .filter_map(|index| {
                let (part, of) = self.plan(index)?.part?;
                Some((index, part, of))
            })
    }

    /// Returns the indices of the comments of all `of` parts in order.
    fn select(&self, of: usize, findings: &mut Findings) -> Result<Vec<usize>, StoredPlanError> {
        let mut slots: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, part, parts) in self.siblings() {
            if parts == of {
                slots.entry(part).or_default().push(index);
            } else {
                let location = Location::Comment(self.page.comments[index].id);
                let message = format!(
                    "says part {part}/{parts}, but the plan has {of} parts; it was ignored"
                );
                findings.add(location, None, message);
            }
        }
        let missing: Vec<usize> = (1..=of)
            .filter(|part| !slots.contains_key(part))
            .take(MAX_LISTED)
            .collect();
        if !missing.is_empty() {
            let hints = self.hints(&missing, of);
            return Err(StoredPlanError::PartsMissing { missing, of, hints });
        }
        slots
            .iter()
            .map(|(part, claims)| self.select_one(*part, of, claims, findings))
            .collect()
    }

    /// Selects the comment of a part: the one in which the plan begins, else the first of several
    /// equal ones.
    fn select_one(
        &self,
        part: usize,
        of: usize,
        claims: &[usize],
        findings: &mut Findings,
    ) -> Result<usize, StoredPlanError> {
        let chosen = if claims.contains(&self.first) {
            self.first
        } else {
            claims[0]
        };
        let text = |index: usize| self.plan(index).map(|plan| &plan.text);
        let id = |index: usize| self.page.comments[index].id;
        let equal = claims.iter().all(|index| text(*index) == text(chosen));
        if !equal && chosen != self.first {
            let comments = claims.iter().map(|index| id(*index)).collect();
            return Err(StoredPlanError::PartTwice { part, of, comments });
        }
        for index in claims.iter().filter(|index| **index != chosen) {
            let same = if equal {
                "the same text"
            } else {
                "different text"
            };
            findings.add(
                Location::Comment(id(*index)),
                None,
                format!(
                    "says that it is part {part} of {of} as well, with {same}; comment {} was used",
                    id(chosen)
                ),
            );
        }
        Ok(chosen)
    }

    /// Describes the comments that may have been the missing parts.
    fn hints(&self, missing: &[usize], of: usize) -> Vec<String> {
        let mut hints = Vec::new();
        for (index, held) in self.comments.iter().enumerate() {
            let comment = &self.page.comments[index];
            let (id, by) = (comment.id, author_name(comment.author.as_deref()));
            match held {
                PlanBlock::Plan(plan) => match plan.part {
                    Some((part, parts))
                        if parts == of && missing.contains(&part) && !self.same_author(index) =>
                    {
                        let first = author_name(self.page.comments[self.first].author.as_deref());
                        hints.push(format!(
                            "comment {id} says that it is part {part}, but it is by {by} and the plan by {first}"
                        ));
                    }
                    None if self.same_author(index) => hints.push(format!(
                        "comment {id} contains a plan block, but no line `part i/{of}` above it"
                    )),
                    _ => {}
                },
                PlanBlock::Broken { line, reason } if self.same_author(index) => {
                    hints.push(format!("comment {id}, line {line}: {reason}"));
                }
                PlanBlock::Broken { .. } | PlanBlock::Missing => {}
            }
        }
        hints.truncate(MAX_LISTED);
        hints
    }
}
