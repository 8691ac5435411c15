//! Extraction of the titles of a plan's steps, in any form in which plans contain them.
//!
//! Every series of headings, list items, table rows or paragraphs that can be steps gets a weight,
//! and the one with the highest weight is used. The order is: numbered headings, lists below a
//! heading such as "Steps", other numbered lists, task lists and tables, bullet lists. Lists below
//! headings of other sections (tests, risks, files) are excluded.

use std::cmp::Ordering;

use comrak::Arena;
use comrak::nodes::{AstNode, ListType, NodeValue};

use super::sentence::{first_sentence, is_goal_heading, is_instruction};
use crate::markdown;
use crate::text::{one_line, truncate_chars};
use crate::vocabulary::{Class, Phrases, fold, words};
use crate::words::{WORDS, WordList};

/// Maximum length of a step's title, in code points.
pub const MAX_STEP_TITLE_CHARS: usize = 120;
/// Number of characters of a text in which the number of a step is searched.
const MAX_NUMBER_CHARS: usize = 40;

/// Minimum weight of a series of steps.
const MIN_WEIGHT: i32 = 30;
/// Weight deducted below headings of sections that contain no steps.
const OTHER_SECTION_PENALTY: i32 = 60;

/// A series of possible steps.
struct Series {
    weight: i32,
    titles: Vec<String>,
}

/// A top-level block, reduced to what the search for steps needs.
enum Part {
    Heading {
        level: u8,
        text: String,
    },
    Paragraph {
        /// Bold words at its beginning.
        bold: Option<String>,
        /// Whole text on one line.
        text: String,
        lines: Vec<String>,
    },
    List {
        ordered: bool,
        tasks: bool,
        titles: Vec<String>,
    },
    /// Rows of cells, beginning with the header.
    Table(Vec<Vec<String>>),
    Other,
}

struct Element {
    part: Part,
    section: Section,
}

/// Kind of the section that contains a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Steps,
    /// A section without steps.
    Other,
    Unknown,
}

impl Section {
    fn penalty(self) -> i32 {
        if self == Self::Other {
            OTHER_SECTION_PENALTY
        } else {
            0
        }
    }
}

/// Returns the titles of the steps of `plan`, in order; empty if no series of steps is found.
pub fn titles(plan: &str) -> Vec<String> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, plan);
    let mut section = Section::Unknown;
    let elements: Vec<Element> = root
        .children()
        .enumerate()
        .map(|(index, node)| {
            let part = part(node);
            if let Part::Heading { text, .. } = &part {
                // A heading that begins the plan is its title, not the heading of a section.
                section = if index == 0 {
                    Section::Unknown
                } else {
                    section_kind(text)
                };
            }
            Element { part, section }
        })
        .collect();
    let mut found = headings(&elements);
    found.extend(lists(&elements));
    found.extend(tables(&elements));
    found.extend(paragraphs(&elements));
    found.retain(|series| series.weight >= MIN_WEIGHT && series.titles.len() >= 2);
    // `max_by_key` returns the last maximum; the first one is wanted.
    let best = found.into_iter().rev().max_by_key(|series| series.weight);
    let titles = best.map(|series| series.titles).unwrap_or_default();
    let truncated = titles
        .iter()
        .map(|it| truncate_chars(it, MAX_STEP_TITLE_CHARS));
    truncated.collect()
}

fn part<'a>(node: &'a AstNode<'a>) -> Part {
    match &node.data().value {
        NodeValue::Heading(heading) => Part::Heading {
            level: heading.level,
            text: one_line(&markdown::unstruck_text(node)),
        },
        NodeValue::Paragraph => {
            let text = markdown::unstruck_text(node);
            Part::Paragraph {
                bold: bold(node),
                text: one_line(&text),
                lines: text.lines().map(one_line).collect(),
            }
        }
        NodeValue::List(list) => {
            let items: Vec<_> = node.children().collect();
            let tasks = items
                .iter()
                .filter(|item| matches!(item.data().value, NodeValue::TaskItem(_)))
                .count();
            Part::List {
                ordered: list.list_type == ListType::Ordered,
                tasks: tasks > 0 && tasks * 2 >= items.len(),
                titles: items
                    .into_iter()
                    .filter_map(AstNode::first_child)
                    .map(title)
                    .filter(|title| !title.is_empty())
                    .collect(),
            }
        }
        NodeValue::Table(_) => {
            let cell = |cell: &'a AstNode<'a>| one_line(&markdown::unstruck_text(cell));
            let rows = node
                .children()
                .map(|row| row.children().map(cell).collect());
            Part::Table(rows.collect())
        }
        _ => Part::Other,
    }
}

/// Returns the bold words at the beginning of a paragraph.
fn bold<'a>(paragraph: &'a AstNode<'a>) -> Option<String> {
    let first = paragraph.first_child()?;
    let strong = matches!(first.data().value, NodeValue::Strong);
    let text = strong.then(|| one_line(&markdown::unstruck_text(first)));
    text.filter(|text| !text.is_empty())
}

/// Returns the title of a step that begins with `paragraph`: its leading bold words if they form a
/// label, else its first sentence.
fn title<'a>(paragraph: &'a AstNode<'a>) -> String {
    let text = one_line(&markdown::unstruck_text(paragraph));
    if let Some(bold) = bold(paragraph) {
        let is_label = text.strip_prefix(bold.as_str()).is_some_and(|rest| {
            let rest = rest.trim_start();
            rest.is_empty()
                || bold.ends_with([':', '.', '：', '。'])
                || rest.starts_with([':', '.', '—', '–', '-', '：', '(', '。'])
        });
        if is_label && !is_number(&bold) {
            return trimmed(&bold);
        }
    }
    trimmed(first_sentence(&text))
}

fn trimmed(title: &str) -> String {
    title
        .trim_end_matches([':', '.', '：', '。', ' '])
        .to_owned()
}

/// Returns true if a word of the text begins with one of `beginnings`.
fn has_word_beginning(folded: &str, beginnings: &WordList) -> bool {
    beginnings.iter().any(|word| {
        folded.match_indices(word).any(|(at, _)| {
            let before = folded[..at].chars().next_back();
            before.is_none_or(|c| !c.is_alphanumeric() || !c.is_ascii())
        })
    })
}

fn section_kind(heading: &str) -> Section {
    let folded = fold(heading);
    if number_end(&folded).is_some() || is_instruction(heading) && folded.split(' ').count() > 2 {
        Section::Unknown
    } else if has_word_beginning(&folded, &WORDS.other_headings) {
        Section::Other
    } else if has_word_beginning(&folded, &WORDS.step_headings) {
        Section::Steps
    } else {
        Section::Unknown
    }
}

/// Returns true if the text is the name of a section in a plan or another document.
fn is_section_heading(text: &str) -> bool {
    let folded = fold(without_number(text));
    let span = words(&folded);
    let phrases = Phrases::of(&folded);
    is_goal_heading(text)
        || phrases.is(Class::Section, span.clone())
        || phrases.is(Class::Other, span)
}

/// Returns the offset of the first letter or digit of `folded`, where the number of a step may
/// begin, and the text from there that may belong to the number. Returns `None` if more than four
/// characters, such as markup, precede it.
pub fn numbered_start(folded: &str) -> Option<(usize, &str)> {
    let start = folded.find(char::is_alphanumeric)?;
    if folded[..start].chars().count() > 4 {
        return None;
    }
    let text = &folded[start..];
    let end = text.char_indices().nth(MAX_NUMBER_CHARS);
    Some((start, &text[..end.map_or(text.len(), |(end, _)| end)]))
}

/// Returns whether the text after some digits makes them the number of a step: a keycap, or
/// punctuation as in `1.` and `1)`, but not as in `1.5`.
pub fn ends_number(rest: &str) -> bool {
    let mut after = rest.chars();
    rest.starts_with(['\u{fe0f}', '\u{20e3}'])
        || after.next().is_some_and(|c| ".):、：）．".contains(c))
            && !after.next().is_some_and(|c| c.is_ascii_digit())
}

/// Returns the end of the number of a step at the beginning of `folded`: `1. `, `2️⃣`, `Step 3`,
/// `第一步`.
fn number_end(folded: &str) -> Option<usize> {
    let (start, head) = numbered_start(folded)?;
    if let Some(rest) = head.strip_prefix('第') {
        let end = rest.find(|c: char| !"一二三四五六七八九十0123456789".contains(c))?;
        return (end > 0).then(|| start + '第'.len_utf8() + end);
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(end) = Phrases::of(head).begins(Class::Step, 0) {
        let blanks = head[end..].len() - head[end..].trim_start_matches([' ', '#', '\u{a0}']).len();
        let many = digits(&head[end + blanks..]);
        return (many > 0).then_some(start + end + blanks + many);
    }
    let many = digits(head);
    ((1..=2).contains(&many) && ends_number(&head[many..])).then_some(start + many)
}

/// Returns true if the text is only the number of a step.
fn is_number(text: &str) -> bool {
    let folded = fold(text);
    number_end(&folded).is_some_and(|end| !folded[end..].contains(char::is_alphanumeric))
        || folded.chars().all(|c| !c.is_alphabetic())
}

/// Removes the number of a step unless it includes a word, as in `Step 3`.
fn without_number(text: &str) -> &str {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text[digits..].trim_start_matches(['\u{fe0f}', '\u{20e3}', '.', ')', ':', ' ']);
    let bare = digits > 0 && number_end(&fold(text)).is_some() && !rest.is_empty();
    if bare { rest } else { text }
}

/// Returns series of headings of one level below the same heading that are numbered, or of at least
/// three instructions.
fn headings(elements: &[Element]) -> Vec<Series> {
    let mut found = Vec::new();
    for level in 1..=6 {
        let mut group: Vec<&str> = Vec::new();
        for element in elements {
            if let Part::Heading { level: other, text } = &element.part {
                match other.cmp(&level) {
                    Ordering::Less => found.extend(heading_series(&std::mem::take(&mut group))),
                    Ordering::Equal => group.push(text),
                    Ordering::Greater => {}
                }
            }
        }
        found.extend(heading_series(&group));
    }
    found
}

fn heading_series(group: &[&str]) -> Option<Series> {
    let numbered: Vec<&str> = group
        .iter()
        .copied()
        .filter(|text| number_end(&fold(text)).is_some())
        .collect();
    let sections = numbered
        .iter()
        .filter(|text| is_section_heading(text))
        .count();
    let titles = |texts: &[&str]| texts.iter().map(|it| trimmed(without_number(it))).collect();
    if numbered.len() >= 2 && sections * 2 < numbered.len() {
        return Some(Series {
            weight: 100,
            titles: titles(&numbered),
        });
    }
    let instructions: Vec<&str> = group
        .iter()
        .copied()
        .filter(|text| is_instruction(text) && !is_section_heading(text))
        .collect();
    (instructions.len() >= 3).then(|| Series {
        weight: 55,
        titles: titles(&instructions),
    })
}

/// Returns series of list items. Numbered lists and task lists of the same weight in several
/// sections are one series.
fn lists(elements: &[Element]) -> Vec<Series> {
    let mut found: Vec<Series> = Vec::new();
    let only = elements
        .iter()
        .filter(|element| matches!(element.part, Part::List { .. }))
        .count()
        == 1;
    let mut bullets: Vec<Series> = Vec::new();
    for element in elements {
        let Part::List {
            ordered,
            tasks,
            titles,
        } = &element.part
        else {
            continue;
        };
        let steps = element.section == Section::Steps;
        let weight = match (ordered, tasks, steps) {
            (true, _, true) => 90,
            (_, true, true) => 85,
            (true, ..) => 70,
            (_, true, _) => 60,
            (_, _, true) => 65,
            _ if only => 35,
            _ => 25,
        };
        let weight = weight - element.section.penalty();
        let titles = titles.clone();
        if !*ordered && !*tasks {
            bullets.push(Series { weight, titles });
            continue;
        }
        match found.iter_mut().find(|known| known.weight == weight) {
            Some(known) => known.titles.extend(titles),
            None => found.push(Series { weight, titles }),
        }
    }
    found.extend(bullets);
    found
}

/// Returns the rows of tables that contain a step each.
fn tables(elements: &[Element]) -> Vec<Series> {
    let table = |element: &Element| {
        let Part::Table(rows) = &element.part else {
            return None;
        };
        let (header, body) = rows.split_first()?;
        if header.len() < 2 {
            return None;
        }
        let names_step = |cell: &String| {
            let phrases = Phrases::of(&fold(cell));
            phrases.has(Class::Step) || phrases.has(Class::Action)
        };
        let is_numbering = |column: usize| {
            body.iter()
                .filter_map(|row| row.get(column))
                .all(|cell| is_number(cell))
        };
        let counted = is_numbering(0);
        let column = (0..header.len()).find(|at| !is_numbering(*at))?;
        // The column of the steps may follow others, such as person or date.
        let named = (0..header.len()).find(|at| names_step(&header[*at]) && !is_numbering(*at));
        let steps = element.section == Section::Steps;
        if !counted && named.is_none() && !steps {
            return None;
        }
        let column = named.unwrap_or(column);
        let titles = body.iter().filter_map(|row| row.get(column));
        Some(Series {
            weight: if steps { 85 } else { 65 },
            titles: titles
                .filter(|title| !title.is_empty())
                .map(|title| trimmed(first_sentence(title)))
                .collect(),
        })
    };
    elements.iter().filter_map(table).collect()
}

/// Returns series of paragraphs that begin with bold words, and of numbered lines.
fn paragraphs(elements: &[Element]) -> Vec<Series> {
    let mut found = Vec::new();
    let sections = elements.split(|element| matches!(element.part, Part::Heading { .. }));
    for section in sections {
        let kind = section.first().map_or(Section::Unknown, |it| it.section);
        let bonus = if kind == Section::Steps { 20 } else { 0 };
        let series = |weight: i32, titles: Vec<String>| Series {
            weight: weight + bonus - kind.penalty(),
            titles,
        };
        let bold = section.iter().filter_map(|element| match &element.part {
            Part::Paragraph { bold, text, .. } => {
                let bold = bold.as_ref().filter(|bold| !is_section_heading(bold));
                Some((bold?, text))
            }
            _ => None,
        });
        let bold: Vec<(&String, &String)> = bold.collect();
        let numbered: Vec<String> = bold
            .iter()
            .filter(|(bold, _)| number_end(&fold(bold)).is_some())
            .map(|(bold, text)| {
                let title = if is_number(bold) { text } else { bold };
                trimmed(first_sentence(without_number(title)))
            })
            .collect();
        if numbered.len() >= 2 {
            found.push(series(75, numbered));
        } else if bold.len() >= 3 {
            found.push(series(
                50,
                bold.iter().map(|(bold, _)| trimmed(bold)).collect(),
            ));
        }
        let lines: Vec<String> = section
            .iter()
            .filter_map(|element| match &element.part {
                Part::Paragraph {
                    bold: None, lines, ..
                } => Some(lines),
                _ => None,
            })
            .flatten()
            .filter(|line| number_end(&fold(line)).is_some())
            .map(|line| trimmed(first_sentence(without_number(line))))
            .collect();
        if lines.len() >= 2 {
            found.push(series(60, lines));
        }
    }
    found
}
