//! Recognises the parts of plans that are spread over several posts, and joins them.

use super::element::{Element, ElementKind, elements};
use super::numbering::step_number;
use super::region::Region;
use super::talk::replaces;
use super::{Found, Part, add};
use crate::engine::model::candidate::{Candidate, Source};
use crate::formats::plan::title::descriptive_title;
use crate::formats::vocabulary::{Class, Phrases, fold, split_folded};

/// Maximum number of posts that one plan is assembled from.
const MAX_PARTS: usize = 20;

/// Statements of a post about the plans in it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About {
    /// Whether the post states that it replaces an earlier plan.
    pub(super) replaces: bool,
    /// The part of a multi-part plan that the post claims to be.
    pub(super) part: Option<Part>,
    /// Whether the post claims to be about a single step of a plan or about another topic.
    pub(super) detail: bool,
}

impl About {
    /// Reads the statements of a post, which contains the plans `regions`.
    pub(super) fn of(elements: &[Element], regions: &[Region]) -> Self {
        let mut about = Self::default();
        let Some(first) = regions.first() else {
            return about;
        };
        for element in elements {
            let inside = regions.iter().any(|region| {
                region.span.start < element.span.start && element.span.end <= region.span.end
            });
            let head = !inside || element.level().is_some_and(|level| level <= 2);
            if !matches!(
                element.kind,
                ElementKind::Paragraph | ElementKind::Heading(_)
            ) || !head
            {
                continue;
            }
            about.replaces |= replaces(element);
            if element.span.start <= first.span.start {
                about.detail |= element.text.len() <= 200
                    && step_number(&element.text).is_none()
                    && element.phrases.all(Class::Step).any(|step| {
                        let rest = element.text[step.end..].trim_start();
                        rest.starts_with(|c: char| c.is_ascii_digit())
                    });
                about.part = about.part.or_else(|| part(element));
            }
            // The post announces another topic.
            about.detail |= !inside && element.phrases.has(Class::Aside);
        }
        about
    }
}

/// Returns the part that a short line claims to be: `(1/2)`, `part 2`, `continued`.
fn part(element: &Element) -> Option<Part> {
    let line = element.text.lines().next().unwrap_or_default();
    if line.chars().count() > 120 {
        return None;
    }
    if let Some((_, number)) = fraction(line) {
        return Some(Part::Number(number));
    }
    if let Some((_, number)) = volume(line) {
        return Some(Part::Volume(number));
    }
    let phrases = Phrases::of(line);
    for found in phrases.all(Class::Part) {
        let rest = line[found.end..].trim_start_matches([' ', '#', ':']);
        if let Some(digit) = rest.chars().next().and_then(|c| c.to_digit(10)) {
            return Some(Part::Number(digit as usize));
        }
        let words = element.words();
        if found.start <= words.start + 12 && found.end - found.start >= 4 {
            return Some(Part::Continued);
        }
    }
    None
}

/// Returns the offset of a fraction such as `1/2` with which a line is numbered, and the number.
fn fraction(line: &str) -> Option<(usize, usize)> {
    for (at, _) in line.match_indices('/') {
        let before: String = line[..at]
            .chars()
            .rev()
            .take_while(char::is_ascii_digit)
            .collect();
        let after: String = line[at + 1..]
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let ends = line[at + 1 + after.len()..]
            .chars()
            .next()
            .is_none_or(|c| !c.is_alphanumeric() && c != '/');
        let starts = line[..at - before.len()]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() && c != '/');
        if let (Ok(number), Ok(total)) = (before.parse::<usize>(), after.parse::<usize>())
            && before.len() == 1
            && number >= 1
            && number <= total
            && (2..=9).contains(&total)
            && starts
            && ends
        {
            return Some((at - before.len(), number));
        }
    }
    None
}

/// Returns the offset of the brackets at the end of a line that number it as volumes are in Chinese
/// and Korean, and the number: `（上）`, `(하)`.
fn volume(line: &str) -> Option<(usize, usize)> {
    let at = line.rfind('(')?;
    let number = match line[at..].trim_end() {
        "(上)" | "(상)" => 1,
        "(中)" | "(중)" => 2,
        "(下)" | "(하)" => 3,
        _ => return None,
    };
    Some((at, number))
}

/// Whether the first lines of two texts differ only in the number of the volume.
fn same_title(before: &Found, next: &Found) -> bool {
    let title = |it: &Found| {
        let line = fold(it.candidate.text.lines().next()?);
        volume(&line).map(|(at, _)| line[..at].trim_end().to_owned())
    };
    title(before).is_some_and(|it| Some(it) == title(next))
}

/// Joins the parts of multi-part plans by the same author.
pub(super) fn joined(found: Vec<Found>) -> Vec<Found> {
    let mut done: Vec<Found> = Vec::new();
    for next in found {
        let author = next.author.as_ref().map(|author| author.id);
        let before = done
            .iter_mut()
            .rev()
            .find(|it| it.author.as_ref().map(|author| author.id) == author && author.is_some());
        let Some(before) = before.filter(|before| continues(before, &next)) else {
            done.push(next);
            continue;
        };
        let ids = |source: &Source| match source {
            Source::Parts { posts } => posts.clone(),
            other => vec![super::post_of(other)],
        };
        let mut sources = ids(&before.candidate.source);
        sources.extend(ids(&next.candidate.source));
        let text = format!(
            "{}\n\n{}",
            before.candidate.text.trim_end(),
            without_part_line(&next.candidate.text)
        );
        let url = before.candidate.url.clone();
        let mut candidate = super::candidate(
            Source::Parts {
                posts: sources.clone(),
            },
            text,
        );
        add(&mut candidate, 0, format!("is in {} posts", sources.len()));
        before.candidate = Candidate {
            author: before.candidate.author.clone(),
            url,
            ..candidate
        };
        before.part = next.part.or(before.part);
        before.parts.extend(next.parts);
    }
    done
}

fn continues(before: &Found, next: &Found) -> bool {
    if before.position() >= next.position() || before.parts.len() >= MAX_PARTS {
        return false;
    }
    match (before.part, next.part) {
        (Some(Part::Number(one)), Some(Part::Number(other))) => other == one + 1,
        (Some(Part::Volume(one)), Some(Part::Volume(other)))
            if one < other && same_title(before, next) =>
        {
            true
        }
        (_, Some(Part::Number(number))) => number == 2 || number == before.parts.len() + 1,
        (_, Some(Part::Continued)) => before.good(),
        (_, Some(Part::Volume(_)) | None) => goes_on(&before.candidate.text, &next.candidate.text),
    }
}

/// Whether the numbered steps of `next` continue those of `before`.
fn goes_on(before: &str, next: &str) -> bool {
    let last = elements(before)
        .iter()
        .rev()
        .find_map(|element| match &element.kind {
            ElementKind::List {
                ordered: true,
                start,
                items,
            } => Some(start + items.len()),
            _ => None,
        });
    let first = elements(next)
        .iter()
        .find_map(|element| match &element.kind {
            ElementKind::List {
                ordered: true,
                start,
                ..
            } => Some(*start),
            _ => None,
        });
    first.is_some_and(|first| first > 1 && last == Some(first))
}

/// Returns the title of a plan in parts without the number of the first part and what follows it:
/// `Restarts, part 1: writing`, `Restarts (1/2): writing`. Returns `None` if nothing is left.
pub(super) fn without_part(title: &str) -> Option<String> {
    const NUMBERS: [&str; 4] = ["one", "two", "three", "four"];
    let folded = fold(title);
    let is_number = |end: usize| {
        let rest = folded[end..].trim_start_matches([' ', '#', ':']);
        let word = rest.split(|c: char| !c.is_alphanumeric()).next();
        word.is_some_and(|word| {
            NUMBERS.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let phrases = Phrases::of(&folded);
    let mut named = phrases.all(Class::Part);
    let named = named.find(|it| is_number(it.end)).map(|it| it.start);
    // A fraction within a title is a quantity: "Use 1/4 of the memory".
    let counted = || {
        let (at, _) = fraction(&folded)?;
        let is_fraction = |c: char| c.is_ascii_digit() || c == '/';
        let behind = folded[at..].trim_start_matches(is_fraction);
        let before = folded[..at].trim_end();
        (before.is_empty() || before.ends_with(['(', '[']) || behind.is_empty()).then_some(at)
    };
    let part = named
        .or_else(counted)
        .or_else(|| volume(&folded).map(|(at, _)| at));
    let Some((head, rest)) = part.and_then(|part| split_folded(title, &folded, part)) else {
        return Some(title.to_owned());
    };
    let head = head.trim_end_matches([' ', ',', '(', '[', '-', '–', '—']);
    if head.is_empty() && named.is_none() {
        let is_count = |c: char| c.is_ascii_digit() || "/)]:–—- ".contains(c);
        return descriptive_title(rest.trim_start_matches(is_count));
    }
    descriptive_title(head)
}

/// Returns the text without a first line that only states which part it is.
fn without_part_line(text: &str) -> &str {
    let elements = elements(text);
    let Some(first) = elements.first().filter(|first| part(first).is_some()) else {
        return text;
    };
    let short = first.text.lines().count() == 1 && first.text.chars().count() <= 60;
    let next = elements.get(1);
    match next {
        Some(next) if short && first.level().is_none() => &text[next.span.start..],
        _ => text,
    }
}
