//! A long plan: its parts in several comments, put together exactly or not at all.

use std::collections::BTreeMap;

use super::find::{by_same_author, name};
use super::held::{Held, Plan};
use super::{Findings, NotStored, Page, Place, Source};
use crate::plan::split::{self, End};

/// Most missing parts that are listed.
const LISTED: usize = 6;

/// The document that begins in comment `first`, the comments it was read from, and its form.
pub(super) fn collect(
    page: &Page,
    comments: &[Held],
    first: usize,
    findings: &mut Findings,
) -> Result<(String, Vec<usize>, Source), NotStored> {
    let series = Series {
        page,
        comments,
        first,
    };
    let Held::Plan(plan) = &comments[first] else {
        return Err(NotStored::HeaderAlone);
    };
    let of = match plan.part {
        Some((_, of)) => of,
        // Somebody took the line away that says so. A text that does not go on elsewhere is whole: the parts beside it
        // are those of another plan.
        None if split::is_tied(&plan.text) => {
            series.siblings().map(|(_, _, of)| of).max().unwrap_or(1)
        }
        None => 1,
    };
    if of == 1 {
        return Ok((plan.text.clone(), vec![first], plan.source));
    }
    let used = series.used(of, findings)?;
    if !used.contains(&first) {
        let comment = page.comments[first].id;
        return Err(NotStored::PartUnnumbered { comment, of });
    }
    if used.windows(2).any(|pair| pair[0] > pair[1]) {
        let place = Place::Comment(page.comments[first].id);
        findings.add(place, None, "the parts of the plan stand in another order than they are numbered; they were put together by number");
    }
    let texts: Vec<&str> = used
        .iter()
        .filter_map(|index| series.plan(*index))
        .map(|plan| plan.text.as_str())
        .collect();
    match split::misfit(&texts) {
        None => Ok((split::join(&texts).unwrap_or_default(), used, plan.source)),
        Some((index, end)) => Err(NotStored::PartEdited {
            part: index + 1,
            of,
            comment: page.comments[used[index]].id,
            end: match end {
                End::First => "first",
                End::Last => "last",
            },
            neighbour: match end {
                End::First => index,
                End::Last => index + 2,
            },
        }),
    }
}

struct Series<'a> {
    page: &'a Page,
    comments: &'a [Held],
    first: usize,
}

impl<'a> Series<'a> {
    fn plan(&self, index: usize) -> Option<&'a Plan> {
        match &self.comments[index] {
            Held::Plan(plan) => Some(plan),
            Held::Broken { .. } | Held::Nothing => None,
        }
    }

    /// Whether the comment is by whoever wrote the one the plan begins in.
    fn same_author(&self, index: usize) -> bool {
        by_same_author(self.page, self.first, index)
    }

    /// Comments of the same author that say which part they are: index, part, of.
    fn siblings(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..self.comments.len())
            .filter(|index| self.same_author(*index))
            .filter_map(|index| {
                let (part, of) = self.plan(index)?.part?;
                Some((index, part, of))
            })
    }

    /// The comments of all `of` parts in order.
    fn used(&self, of: usize, findings: &mut Findings) -> Result<Vec<usize>, NotStored> {
        let mut slots: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, part, parts) in self.siblings() {
            if parts == of {
                slots.entry(part).or_default().push(index);
            } else {
                let place = Place::Comment(self.page.comments[index].id);
                findings.add(
                    place,
                    None,
                    format!(
                        "says part {part}/{parts}, but the plan has {of} parts; it was not taken"
                    ),
                );
            }
        }
        let missing: Vec<usize> = (1..=of)
            .filter(|part| !slots.contains_key(part))
            .take(LISTED)
            .collect();
        if !missing.is_empty() {
            let hints = self.hints(&missing, of);
            return Err(NotStored::PartsMissing { missing, of, hints });
        }
        slots
            .iter()
            .map(|(part, claims)| self.one(*part, of, claims, findings))
            .collect()
    }

    /// The one comment for a part: the one the plan begins in, else the first of equal ones.
    fn one(
        &self,
        part: usize,
        of: usize,
        claims: &[usize],
        findings: &mut Findings,
    ) -> Result<usize, NotStored> {
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
            return Err(NotStored::PartTwice { part, of, comments });
        }
        for index in claims.iter().filter(|index| **index != chosen) {
            let same = if equal {
                "the same text"
            } else {
                "another text"
            };
            findings.add(
                Place::Comment(id(*index)),
                None,
                format!("says that it is part {part} of {of} as well, with {same}; comment {} was taken", id(chosen)),
            );
        }
        Ok(chosen)
    }

    /// Comments that may have been the missing parts.
    fn hints(&self, missing: &[usize], of: usize) -> Vec<String> {
        let mut hints = Vec::new();
        for (index, held) in self.comments.iter().enumerate() {
            let comment = &self.page.comments[index];
            let (id, by) = (comment.id, name(comment.author.as_deref()));
            match held {
                Held::Plan(plan) => match plan.part {
                    Some((part, parts))
                        if parts == of && missing.contains(&part) && !self.same_author(index) =>
                    {
                        let first = name(self.page.comments[self.first].author.as_deref());
                        hints.push(format!(
                            "comment {id} says that it is part {part}, but it is by {by} and the plan by {first}"
                        ));
                    }
                    None if self.same_author(index) => hints.push(format!(
                        "comment {id} holds a plan block, but no line `part i/{of}` above it"
                    )),
                    _ => {}
                },
                Held::Broken { line, why } if self.same_author(index) => {
                    hints.push(format!("comment {id}, line {line}: {why}"));
                }
                Held::Broken { .. } | Held::Nothing => {}
            }
        }
        hints.truncate(LISTED);
        hints
    }
}
