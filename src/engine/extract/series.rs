//! Finds series of steps in all common notations, independently of the language.

use std::ops::Range;

use super::element::{Element, ElementKind, Item};
use super::numbering::{is_marked, step_number};
use super::sentences::{ordering, split_sentences};
use crate::formats::vocabulary::{Class, Phrases, words};

/// Maximum number of blocks below a line that is the head of a step.
const MAX_BODY: usize = 20;

/// The notation of a series of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A numbered list.
    Numbered,
    /// A list with task boxes.
    Tasks,
    /// A bulleted list.
    Bullets,
    /// A table with one row per step.
    Table,
    /// A series of headings.
    Headings,
    /// Paragraphs that begin with bold words.
    Bold,
    /// Lines or paragraphs with numbers or bullets that are not Markdown lists.
    Lines,
    /// Sentences with ordering words: first, then, finally.
    Sentences,
}

/// A series of steps.
#[derive(Debug, Clone)]
pub(super) struct Series {
    /// Notation of the series.
    pub(super) form: Form,
    /// Range of its blocks, from the first step to the last.
    pub(super) blocks: Range<usize>,
    /// Number of steps. In task lists and bulleted lists, nested items count too.
    pub(super) count: usize,
    /// Whether the steps are numbered or named as steps. For sentences: whether there are at least
    /// three ordering words.
    pub(super) numbered: bool,
    /// Normalised texts of the steps.
    pub(super) steps: Vec<String>,
    /// Number of steps that begin with a link.
    pub(super) links: usize,
    /// Number of steps whose task boxes are ticked.
    pub(super) ticked: usize,
}

/// Statistics on what the steps say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Voice {
    /// Number of steps that say what to do.
    pub(super) actions: usize,
    /// Number of steps that say what was done.
    pub(super) done: usize,
    /// Number of steps that contain a question.
    pub(super) questions: usize,
    /// Number of steps that tell a user what to type or click.
    pub(super) operations: usize,
    /// Number of steps that state a wish.
    pub(super) wants: usize,
    /// Number of steps that begin with a price or a time of day.
    pub(super) figures: usize,
    /// Total number of characters of the steps.
    pub(super) characters: usize,
}

impl Voice {
    /// Maximum number of steps that are considered.
    pub(super) const MAX_STEPS: usize = 50;
}

impl Series {
    /// Creates a series with one step per text.
    fn new(form: Form, blocks: Range<usize>, numbered: bool, steps: Vec<String>) -> Self {
        Self {
            form,
            blocks,
            count: steps.len(),
            numbered,
            steps,
            links: 0,
            ticked: 0,
        }
    }

    /// Returns how likely these are the steps of a plan, compared to other series of the same post.
    pub(super) fn rank(&self, voice: &Voice) -> usize {
        let form = match self.form {
            Form::Numbered => 6,
            Form::Tasks | Form::Table | Form::Headings | Form::Bold => 5,
            Form::Lines => 4,
            Form::Bullets => 3,
            Form::Sentences => 1,
        };
        let points = form * 4 + self.count.min(12) + 2 * voice.actions.min(12);
        points.saturating_sub(2 * voice.questions.min(10))
    }

    /// Returns statistics on the first [`Voice::MAX_STEPS`] steps.
    pub(super) fn voice(&self) -> Voice {
        let mut voice = Voice::default();
        for step in self.steps.iter().take(Voice::MAX_STEPS) {
            let step = step.lines().next().unwrap_or_default();
            let phrases = Phrases::of(step);
            let words = words(step);
            let first_word = words.start
                + step[words.clone()]
                    .find(|c: char| c.is_whitespace())
                    .unwrap_or(words.len());
            // Consider only the first two words, the start of a clause, and the last word for
            // languages in which the verb comes last.
            let near = |class: Class| {
                phrases.all(class).any(|found| {
                    found.start <= first_word + 1
                        || found.end + 2 >= words.end
                        || step[..found.start].ends_with([':', '：', '—', '–', '、', ','])
                        || step[..found.start].ends_with([',', ' '])
                            && step[..found.start]
                                .trim_end()
                                .ends_with([':', '—', '–', '-', '.', ','])
                })
            };
            let done = phrases.begins(Class::Done, words.start).is_some()
                || phrases.all(Class::Done).any(|found| {
                    let before = step[..found.start].trim_end();
                    let told = phrases.all(Class::Me).any(|me| me.end == before.len());
                    found.end + 1 >= words.end || told
                })
                || phrases
                    .all(Class::Finished)
                    .any(|found| step[..found.end].contains(['→', '✅', '✔']));
            voice.done += usize::from(done);
            voice.actions += usize::from(!done && near(Class::Action));
            let operation = phrases.begins(Class::Operate, words.start).is_some()
                || phrases
                    .all(Class::Operate)
                    .any(|found| found.end + 1 >= words.end);
            voice.operations += usize::from(operation);
            // "I'd change what has to change" is no wish.
            voice.wants += usize::from(phrases.has(Class::Want) && !phrases.has(Class::Me));
            voice.questions += usize::from(step.contains(['?', '？']));
            voice.figures += usize::from(figure(step));
            voice.characters += step.chars().count();
        }
        voice
    }
}

/// Whether a step begins with a price or a time of day.
fn figure(step: &str) -> bool {
    let text = step.trim_start_matches(|c: char| !c.is_alphanumeric() && !"$€£¥".contains(c));
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let time = (1..=2).contains(&digits)
        && text[digits..].starts_with(':')
        && text[digits + 1..].starts_with(|c: char| c.is_ascii_digit());
    time || text.starts_with(['$', '€', '£', '¥'])
}

/// Returns all series in `elements`; they may overlap.
pub(super) fn series(elements: &[Element]) -> Vec<Series> {
    let mut found = lists(elements);
    found.extend(tables(elements));
    found.extend(headings(elements));
    found.extend(bold(elements));
    found.extend(lines(elements));
    found.extend(sentences(elements));
    found.extend(answers(elements));
    found.extend((0..elements.len()).filter_map(|at| terse(elements, at)));
    found
}

/// Returns a paragraph as a series if most of its unmarked lines say what to do, or if something
/// announces them and most of them are no sentences.
fn terse(elements: &[Element], at: usize) -> Option<Series> {
    let element = &elements[at];
    let mut lines: Vec<&str> = element.text.lines().collect();
    if element.kind != ElementKind::Paragraph || lines.len() < 3 {
        return None;
    }
    let leads = |text: &str| text.trim_end().ends_with([':', '：']);
    let above = at.checked_sub(1).map(|above| &elements[above]);
    let led = leads(lines[0])
        || above.is_some_and(|it| {
            it.kind == ElementKind::Paragraph && (leads(&it.text) || it.phrases.has(Class::Lead))
        });
    if leads(lines[0]) {
        lines.remove(0);
    }
    let is_open = |line: &&&str| {
        let line = line.trim_end();
        line.split_whitespace().count() >= 4
            && !line.ends_with(['.', '!', '?', ',', '。', '！', '？', '，'])
    };
    let notes =
        led && lines.len() >= 3 && lines.iter().filter(is_open).count() * 4 >= lines.len() * 3;
    let steps = lines.iter().map(|line| (*line).to_owned()).collect();
    let series = Series::new(Form::Lines, at..at + 1, false, steps);
    (notes || series.voice().actions * 5 >= lines.len() * 3).then_some(series)
}

/// Returns the series of numbered steps that are quoted one by one with an answer below each.
fn answers(elements: &[Element]) -> Option<Series> {
    let pairs: Vec<usize> = (0..elements.len().saturating_sub(1))
        .filter(|at| {
            elements[*at].kind == ElementKind::Quote
                && step_number(&elements[*at].text).is_some()
                && matches!(
                    elements[at + 1].kind,
                    ElementKind::Paragraph | ElementKind::List { .. }
                )
        })
        .collect();
    let (first, last) = (*pairs.first()?, *pairs.last()?);
    (pairs.len() >= 3).then(|| {
        let steps = texts(elements, pairs.iter().map(|at| at + 1));
        Series::new(Form::Lines, first..last + 2, true, steps)
    })
}

fn lists(elements: &[Element]) -> Vec<Series> {
    let mut found: Vec<Series> = Vec::new();
    let mut next_number = None;
    for (at, element) in elements.iter().enumerate() {
        let ElementKind::List {
            ordered,
            start,
            items,
        } = &element.kind
        else {
            if matches!(element.kind, ElementKind::Heading(_)) {
                next_number = None;
            }
            continue;
        };
        let tasks = items.iter().filter(|item| item.task).count();
        let form = match (tasks > 0 && tasks * 2 >= items.len(), *ordered) {
            (true, _) => Form::Tasks,
            (false, true) => Form::Numbered,
            (false, false) => Form::Bullets,
        };
        let nested: usize = items.iter().map(|item| item.nested).sum();
        // The list continues an earlier one after a paragraph or a code block.
        if form == Form::Numbered
            && *start > 1
            && next_number == Some(*start)
            && let Some(before) = found.iter_mut().rev().find(|it| it.form == Form::Numbered)
        {
            before.blocks.end = at + 1;
            before.count += items.len() + nested;
            extend(before, items);
            next_number = Some(start + items.len());
            continue;
        }
        if form == Form::Numbered {
            next_number = Some(start + items.len());
        }
        // Single bullets with lines such as `--` between them.
        if form == Form::Bullets
            && items.len() == 1
            && let Some(before) = found.last_mut()
            && before.form == Form::Bullets
            && before.blocks.end + 1 == at
            && elements[at - 1].words().is_empty()
        {
            before.blocks.end = at + 1;
            before.count += 1 + nested;
            extend(before, items);
            continue;
        }
        let mut series = Series::new(form, at..at + 1, form == Form::Numbered, Vec::new());
        series.count = items.len() + if form == Form::Numbered { 0 } else { nested };
        extend(&mut series, items);
        found.push(series);
    }
    // A single item is not a series.
    found.retain(|series| series.count >= 2);
    found
}

fn extend(series: &mut Series, items: &[Item]) {
    series.links += items.iter().filter(|item| item.link).count();
    series.ticked += items.iter().filter(|item| item.ticked).count();
    series
        .steps
        .extend(items.iter().map(|item| item.text.clone()));
}

fn tables(elements: &[Element]) -> Vec<Series> {
    let table = |(at, element): (usize, &Element)| {
        let ElementKind::Table(rows) = &element.kind else {
            return None;
        };
        let (header, body) = rows.split_first()?;
        if body.len() < 2 || header.len() < 2 {
            return None;
        }
        let counted = header.first().is_some_and(|cell| {
            let phrases = Phrases::of(cell);
            phrases.has(Class::Step)
                || ["#", "no", "no.", "nr", "nr.", "n°", "№"].contains(&cell.trim())
        });
        let numbers = body.iter().zip(1..).all(|(row, number)| {
            row.first().is_some_and(|cell| {
                step_number(cell) == Some(number) || cell.trim() == number.to_string()
            })
        });
        let owned = body.len() >= 3
            && header.iter().any(|cell| {
                let phrases = Phrases::of(cell);
                phrases.is(Class::Owner, words(cell))
            });
        let named = header.iter().any(|cell| {
            let phrases = Phrases::of(cell);
            phrases.has(Class::Step) || phrases.has(Class::Action)
        });
        // Use the column with the most text.
        let column = (0..header.len()).max_by_key(|column| {
            let length: usize = body
                .iter()
                .filter_map(|row| row.get(*column))
                .map(String::len)
                .sum();
            length
        })?;
        let steps: Vec<String> = body
            .iter()
            .filter_map(|row| row.get(column).cloned())
            .collect();
        let mut series = Series::new(Form::Table, at..at + 1, false, steps);
        series.count = body.len();
        let owned = owned && {
            let voice = series.voice();
            voice.figures == 0 && voice.done == 0 && voice.characters >= 12 * body.len()
        };
        series.numbered = counted || numbers || owned;
        // Accept a column of tasks next to other columns, e.g. dates or names.
        let acts = || {
            let voice = series.voice();
            body.len() >= 3
                && voice.actions * 2 >= body.len()
                && voice.figures == 0
                && voice.characters >= 12 * body.len()
        };
        (series.numbered || named || acts()).then_some(series)
    };
    elements.iter().enumerate().filter_map(table).collect()
}

/// Returns the texts of the elements at `positions`.
fn texts(elements: &[Element], positions: impl Iterator<Item = usize>) -> Vec<String> {
    positions.map(|at| elements[at].text.clone()).collect()
}

/// Returns those of the positions in `group` whose elements begin with the number of a step.
fn numbered(elements: &[Element], group: &[usize]) -> Vec<usize> {
    let positions = group.iter().copied();
    positions
        .filter(|at| step_number(&elements[*at].text).is_some())
        .collect()
}

/// Returns series of headings of the same level below a common heading: numbered ones, or at least
/// three that say what to do.
fn headings(elements: &[Element]) -> Vec<Series> {
    let mut found = Vec::new();
    for level in 1..=6 {
        let mut group: Vec<usize> = Vec::new();
        let mut close = |group: &mut Vec<usize>, end: usize| {
            found.extend(heading_series(elements, group, end));
            group.clear();
        };
        for (at, element) in elements.iter().enumerate() {
            match element.level() {
                Some(other) if other < level => close(&mut group, at),
                Some(other) if other == level => group.push(at),
                _ => {}
            }
        }
        close(&mut group, elements.len());
    }
    found
}

fn heading_series(elements: &[Element], group: &[usize], end: usize) -> Option<Series> {
    let numbered = numbered(elements, group);
    let of = |members: &[usize], numbered: bool| {
        let first = *members.first()?;
        let last = *members.last()?;
        // The last step extends to the next heading of the same level, or to the end of the group.
        let next = group.iter().copied().find(|at| *at > last).unwrap_or(end);
        let steps = texts(elements, members.iter().copied());
        Some(Series::new(Form::Headings, first..next, numbered, steps))
    };
    if numbered.len() >= 2 {
        return of(&numbered, true);
    }
    let acting: Vec<usize> = group
        .iter()
        .copied()
        .filter(|at| {
            let element = &elements[*at];
            element.begins(Class::Action) && !element.phrases.is(Class::Section, element.words())
        })
        .collect();
    if acting.len() >= 3 {
        of(&acting, false)
    } else {
        None
    }
}

/// Returns series of paragraphs that begin with bold words: at least two numbered ones, or at least
/// three.
fn bold(elements: &[Element]) -> Vec<Series> {
    let mut found = Vec::new();
    let mut group: Vec<usize> = Vec::new();
    let close = |group: &mut Vec<usize>, end: usize, found: &mut Vec<Series>| {
        let numbered = numbered(elements, group);
        let numbered_enough = numbered.len() >= 2;
        let members = if numbered_enough {
            numbered
        } else {
            std::mem::take(group)
        };
        group.clear();
        let (Some(first), Some(last)) = (members.first(), members.last()) else {
            return;
        };
        if !numbered_enough && members.len() < 3 {
            return;
        }
        // Include lists and code blocks directly below the last paragraph.
        let under = elements[last + 1..end]
            .iter()
            .take_while(|element| {
                matches!(
                    element.kind,
                    ElementKind::List { .. } | ElementKind::Code(_)
                )
            })
            .count();
        let under = if under == 0 && elements[*last].is_bold_line() {
            usize::from(last + 1 < end)
        } else {
            under
        };
        let blocks = *first..last + 1 + under;
        let steps = texts(elements, members.iter().copied());
        found.push(Series::new(Form::Bold, blocks, numbered_enough, steps));
    };
    for (at, element) in elements.iter().enumerate() {
        match element.kind {
            ElementKind::Heading(_) => close(&mut group, at, &mut found),
            ElementKind::Paragraph if element.bold > 0 => group.push(at),
            _ => {}
        }
    }
    close(&mut group, elements.len(), &mut found);
    found
}

/// Returns series of lines or paragraphs that begin with an unusual number, such as `1️⃣ …`, `Step
/// one: …` or `第一步：…`, or with a bullet that Markdown does not recognise.
fn lines(elements: &[Element]) -> Vec<Series> {
    let mut found: Vec<Series> = Vec::new();
    let mut open: Option<Series> = None;
    let numbers: Vec<Option<usize>> = elements
        .iter()
        .map(|it| {
            Some(&*it.text)
                .filter(|text| heads(text))
                .and_then(step_number)
        })
        .collect();
    let heads_below = |at: usize| numbers[at..].iter().take(MAX_BODY);
    for (at, element) in elements.iter().enumerate() {
        let marked: Vec<&str> = match element.kind {
            ElementKind::Paragraph => element
                .text
                .lines()
                .filter(|line| is_marked(line))
                .collect(),
            _ => Vec::new(),
        };
        let first_marked = element.text.lines().next().is_some_and(is_marked);
        // A paragraph that begins with an earlier number refers to that step and is not a new one.
        let again = marked.len() == 1
            && open.as_ref().is_some_and(|it| {
                let last = it.steps.last().and_then(|step| step_number(step));
                step_number(marked[0]) <= last && last.is_some()
            });
        if again {
            found.extend(open.take());
            continue;
        }
        if marked.is_empty() || (marked.len() < 2 && !first_marked) {
            let bridges = match element.kind {
                ElementKind::List { .. } | ElementKind::Code(_) | ElementKind::Table(_) => true,
                // Paragraphs below a short line with a number, up to the line with the next one.
                ElementKind::Paragraph => open.as_ref().is_some_and(|it| {
                    let last = it.steps.last().filter(|last| heads(last));
                    let next = last
                        .and_then(|last| step_number(last))
                        .map(|number| number + 1);
                    let mut near = heads_below(at);
                    next.is_some() && near.any(|number| *number == next)
                }),
                _ => false,
            };
            if !bridges {
                found.extend(open.take());
            }
            continue;
        }
        let series =
            open.get_or_insert_with(|| Series::new(Form::Lines, at..at + 1, true, Vec::new()));
        series.blocks.end = at + 1;
        series.count += marked.len();
        series.steps.extend(marked.into_iter().map(str::to_owned));
    }
    found.extend(open);
    found.retain(|series| series.count >= 2);
    found
}

/// Whether a line can be the head of the paragraphs below it: short, and not a sentence.
fn heads(line: &str) -> bool {
    let line = line.trim();
    !line.contains('\n')
        && line.chars().count() <= 60
        && !line.ends_with(['.', '。', ';', '；', ',', '，', '!', '！', '?', '？'])
}

/// Returns series of sentences: a paragraph with at least two ordering words, or several paragraphs
/// with ordering words.
fn sentences(elements: &[Element]) -> Vec<Series> {
    let mut found: Vec<Series> = Vec::new();
    let mut open: Option<(Series, usize)> = None;
    // Two paragraphs without an ordering word may separate the others.
    let mut plain = 0;
    for (at, element) in elements.iter().enumerate() {
        let order = if element.kind == ElementKind::Paragraph && !element.text.starts_with('@') {
            ordering(element)
        } else {
            Vec::new()
        };
        if order.is_empty() {
            let bridges = matches!(
                element.kind,
                ElementKind::List { .. } | ElementKind::Code(_)
            );
            let separates = element.kind == ElementKind::Paragraph && open.is_some() && plain < 2;
            if separates {
                plain += 1;
            } else if !bridges {
                found.extend(open.take().and_then(enough));
                plain = 0;
            }
            continue;
        }
        plain = 0;
        if element.begins(Class::First) {
            found.extend(open.take().and_then(enough));
        }
        let (series, words) = open.get_or_insert_with(|| {
            // `numbered` is set below if there are at least three ordering words.
            let series = Series::new(Form::Sentences, at..at + 1, false, Vec::new());
            (series, 0)
        });
        series.blocks.end = at + 1;
        *words += order.len();
        series.numbered |= *words >= 3;
        let sentences = split_sentences(&element.text);
        series.count += sentences.len();
        series
            .steps
            .extend(sentences.into_iter().map(str::to_owned));
    }
    found.extend(open.and_then(enough));
    found
}

fn enough((series, words): (Series, usize)) -> Option<Series> {
    (words >= 2 && series.count >= 2).then_some(series)
}
