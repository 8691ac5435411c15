//! The titles of a plan's steps, in whatever form they are written.
//!
//! Of everything that can be a series of steps the likeliest one is taken: numbered headings before lists below a heading
//! such as "Steps", those before other numbered lists, boxes and tables, and bullets last. Lists below headings that name
//! another part of a plan (tests, risks, files) are no steps.

use comrak::Arena;
use comrak::nodes::{AstNode, ListType, NodeValue};

use super::inline;
use super::sentence::{first_sentence, is_goal};
use super::title::cut;
use crate::markdown;
use crate::vocabulary::{Class, Phrases, fold, words};

/// Longest title in Unicode code points.
pub const TITLE_CHARS: usize = 120;

/// What begins a word in headings of steps.
const STEPS: [&str; 37] = [
    "step",
    "task",
    "phase",
    "implement",
    "plan",
    "todo",
    "to do",
    "work item",
    "order of work",
    "change",
    "approach",
    "milestone",
    "schritt",
    "umsetzung",
    "aufgabe",
    "étape",
    "etape",
    "paso",
    "passi",
    "passo",
    "tarea",
    "stappen",
    "krok",
    "шаг",
    "крок",
    "steg",
    "adım",
    "bước",
    "步骤",
    "步驟",
    "手順",
    "ステップ",
    "단계",
    "चरण",
    "langkah",
    "计划",
    "計画",
];

/// What begins a word in headings of other parts of a plan.
const OTHERS: [&str; 31] = [
    "test",
    "verif",
    "accept",
    "criteria",
    "definition of done",
    "risk",
    "pitfall",
    "rollback",
    "scope",
    "goal",
    "objective",
    "question",
    "file",
    "note",
    "context",
    "reference",
    "background",
    "depend",
    "alternativ",
    "assumption",
    "prerequisite",
    "requirement",
    "overview",
    "summary",
    "problem",
    "motivation",
    "current",
    "non-goal",
    "rationale",
    "risiken",
    "risque",
];

/// Least weight of a series that is taken for the plan's steps.
const LEAST: i32 = 30;

/// A series of what may be steps.
struct Series {
    weight: i32,
    titles: Vec<String>,
}

/// A top-level block, as far as steps need it.
enum Part {
    Heading(u8),
    /// The bold words that begin it, and its lines.
    Paragraph(Option<String>, Vec<String>),
    List {
        ordered: bool,
        tasks: bool,
        titles: Vec<String>,
    },
    /// Cells, the header first.
    Table(Vec<Vec<String>>),
    Other,
}

struct Element {
    part: Part,
    /// Text of a heading or paragraph, on one line.
    text: String,
    /// What the heading above it makes of a list.
    section: Section,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Steps,
    Other,
    Unknown,
}

/// The titles of the steps of `plan`, in order; empty where no series of steps is found.
pub fn titles(plan: &str) -> Vec<String> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, plan);
    let mut section = Section::Unknown;
    // Only a heading that everything else stands below is a title.
    let first = root.first_child().map(|node| part(node).0);
    let mut titled = !matches!(first, Some(Part::Heading(_)));
    let elements: Vec<Element> = root
        .children()
        .map(|node| {
            let (part, text) = part(node);
            if matches!(part, Part::Heading(_)) {
                // The plan's own title says what all of it is about.
                section = if std::mem::replace(&mut titled, true) {
                    named(&text)
                } else {
                    Section::Unknown
                };
            }
            Element {
                part,
                text,
                section,
            }
        })
        .collect();
    let mut found = headings(&elements);
    found.extend(lists(&elements));
    found.extend(tables(&elements));
    found.extend(paragraphs(&elements));
    found.retain(|series| series.weight >= LEAST && series.titles.len() >= 2);
    // The first one of those with most weight.
    found.reverse();
    let best = found.into_iter().max_by_key(|series| series.weight);
    best.map_or_else(Vec::new, |series| {
        series
            .titles
            .iter()
            .map(|it| cut(it, TITLE_CHARS))
            .collect()
    })
}

fn part<'a>(node: &'a AstNode<'a>) -> (Part, String) {
    match &node.data().value {
        NodeValue::Heading(heading) => {
            (Part::Heading(heading.level), inline::one_line(&plain(node)))
        }
        NodeValue::Paragraph => {
            let text = plain(node);
            let lines = text.lines().map(inline::one_line).collect();
            (Part::Paragraph(bold(node), lines), inline::one_line(&text))
        }
        NodeValue::List(list) => {
            let items: Vec<_> = node.children().collect();
            let tasks = items
                .iter()
                .filter(|item| matches!(item.data().value, NodeValue::TaskItem(_)))
                .count();
            let part = Part::List {
                ordered: list.list_type == ListType::Ordered,
                tasks: tasks > 0 && tasks * 2 >= items.len(),
                titles: items
                    .into_iter()
                    .filter_map(AstNode::first_child)
                    .map(title)
                    .filter(|title| !title.is_empty())
                    .collect(),
            };
            (part, String::new())
        }
        NodeValue::Table(_) => {
            let cells = |row: &'a AstNode<'a>| {
                let texts = row.children().map(|cell| inline::one_line(&plain(cell)));
                texts.collect()
            };
            (
                Part::Table(node.children().map(cells).collect()),
                String::new(),
            )
        }
        _ => (Part::Other, String::new()),
    }
}

/// Text without markup; what is struck out is left out, lines are kept.
fn plain<'a>(node: &'a AstNode<'a>) -> String {
    fn append<'a>(node: &'a AstNode<'a>, text: &mut String) {
        for child in node.children() {
            match &child.data().value {
                NodeValue::Text(literal) => text.push_str(literal),
                NodeValue::Code(code) => text.push_str(&code.literal),
                NodeValue::LineBreak | NodeValue::SoftBreak => text.push('\n'),
                NodeValue::Strikethrough => {}
                _ => append(child, text),
            }
        }
    }
    let mut text = String::new();
    append(node, &mut text);
    text
}

/// The bold words that begin a paragraph.
fn bold<'a>(paragraph: &'a AstNode<'a>) -> Option<String> {
    let first = paragraph.first_child()?;
    let strong = matches!(first.data().value, NodeValue::Strong);
    strong
        .then(|| inline::one_line(&plain(first)))
        .filter(|text| !text.is_empty())
}

/// The title of a step whose text begins with `paragraph`: its bold words where they stand apart, else its first sentence.
fn title<'a>(paragraph: &'a AstNode<'a>) -> String {
    let text = inline::one_line(&plain(paragraph));
    if let Some(bold) = bold(paragraph) {
        let apart = text.strip_prefix(bold.as_str()).is_some_and(|rest| {
            let rest = rest.trim_start();
            rest.is_empty()
                || bold.ends_with([':', '.', '：', '。'])
                || rest.starts_with([':', '.', '—', '–', '-', '：', '(', '。'])
        });
        if apart && !only_number(&bold) {
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

/// The words begin a text, or a word of it.
fn holds(folded: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|word| {
        folded.match_indices(word).any(|(at, _)| {
            let before = folded[..at].chars().next_back();
            before.is_none_or(|c| !c.is_alphanumeric() || !c.is_ascii())
        })
    })
}

fn named(heading: &str) -> Section {
    let folded = fold(heading);
    if number(&folded).is_some() || acts(heading) && folded.split(' ').count() > 2 {
        Section::Unknown
    } else if holds(&folded, &OTHERS) {
        Section::Other
    } else if holds(&folded, &STEPS) {
        Section::Steps
    } else {
        Section::Unknown
    }
}

/// The text names a part of a plan or of another document.
fn part_of_a_plan(text: &str) -> bool {
    let folded = fold(without_number(text));
    let span = words(&folded);
    let phrases = Phrases::of(&folded);
    let label = is_goal(text);
    label || phrases.is(Class::Section, span.clone()) || phrases.is(Class::Other, span)
}

/// Where the number of a step ends that begins `folded`: `1. `, `2️⃣`, `Step 3`, `第一步`.
fn number(folded: &str) -> Option<usize> {
    let start = folded.find(char::is_alphanumeric)?;
    if folded[..start].chars().count() > 4 {
        return None;
    }
    let text = &folded[start..];
    let head = match text.char_indices().nth(40) {
        Some((end, _)) => &text[..end],
        None => text,
    };
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
    let rest = &head[many..];
    let mut after = rest.chars();
    let mark = rest.starts_with(['\u{fe0f}', '\u{20e3}'])
        || after.next().is_some_and(|c| ".):、：）．".contains(c))
            && !after.next().is_some_and(|c| c.is_ascii_digit());
    ((1..=2).contains(&many) && mark).then_some(start + many)
}

/// Nothing but the number of a step.
fn only_number(text: &str) -> bool {
    let folded = fold(text);
    number(&folded).is_some_and(|end| !folded[end..].contains(char::is_alphanumeric))
        || folded.chars().all(|c| !c.is_alphabetic())
}

/// The text behind the number of a step where that is a bare one: a list needs none.
fn without_number(text: &str) -> &str {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text[digits..].trim_start_matches(['\u{fe0f}', '\u{20e3}', '.', ')', ':', ' ']);
    let bare = digits > 0 && number(&fold(text)).is_some() && !rest.is_empty();
    if bare { rest } else { text }
}

/// Headings of one level below the same heading: numbered ones, or at least three that say what to do.
fn headings(elements: &[Element]) -> Vec<Series> {
    let mut found = Vec::new();
    for level in 1..=6 {
        let mut group: Vec<&str> = Vec::new();
        for element in elements {
            match element.part {
                Part::Heading(other) if other < level => {
                    found.extend(heading_series(&std::mem::take(&mut group)));
                }
                Part::Heading(other) if other == level => group.push(&element.text),
                _ => {}
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
        .filter(|text| number(&fold(text)).is_some())
        .collect();
    let parts = numbered.iter().filter(|text| part_of_a_plan(text)).count();
    let titles = |texts: &[&str]| texts.iter().map(|it| trimmed(without_number(it))).collect();
    if numbered.len() >= 2 && parts * 2 < numbered.len() {
        return Some(Series {
            weight: 100,
            titles: titles(&numbered),
        });
    }
    let acting: Vec<&str> = group
        .iter()
        .copied()
        .filter(|text| acts(text) && !part_of_a_plan(text))
        .collect();
    (acting.len() >= 3).then(|| Series {
        weight: 55,
        titles: titles(&acting),
    })
}

/// The text begins with what somebody is to do.
pub(super) fn acts(text: &str) -> bool {
    let folded = fold(text);
    let start = words(&folded).start;
    Phrases::of(&folded).begins(Class::Action, start).is_some()
}

/// Lists. Numbered ones and boxes in several sections are one series.
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
        let weight = weight
            - if element.section == Section::Other {
                60
            } else {
                0
            };
        let series = Series {
            weight,
            titles: titles.clone(),
        };
        if !*ordered && !*tasks {
            bullets.push(series);
            continue;
        }
        match found.iter_mut().find(|known| known.weight == weight) {
            Some(known) => known.titles.extend(series.titles),
            None => found.push(series),
        }
    }
    found.extend(bullets);
    found
}

/// Tables with a row for each step.
fn tables(elements: &[Element]) -> Vec<Series> {
    let table = |element: &Element| {
        let Part::Table(rows) = &element.part else {
            return None;
        };
        let (header, body) = rows.split_first()?;
        if header.len() < 2 {
            return None;
        }
        let says = |cell: &String| {
            let phrases = Phrases::of(&fold(cell));
            phrases.has(Class::Step) || phrases.has(Class::Action)
        };
        let counts = |column: usize| {
            body.iter()
                .filter_map(|row| row.get(column))
                .all(|cell| only_number(cell))
        };
        let counted = counts(0);
        let column = (0..header.len()).find(|at| !counts(*at))?;
        // A column that names the step, before one that names who does it or when.
        let named = (0..header.len()).find(|at| says(&header[*at]) && !counts(*at));
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

/// Paragraphs that begin with bold words, and lines that have numbers of their own.
fn paragraphs(elements: &[Element]) -> Vec<Series> {
    let mut found = Vec::new();
    let sections = elements.split(|element| matches!(element.part, Part::Heading(_)));
    for section in sections {
        let steps = section
            .first()
            .is_some_and(|it| it.section == Section::Steps);
        let other = section
            .first()
            .is_some_and(|it| it.section == Section::Other);
        let of = |weight: i32, titles: Vec<String>| Series {
            weight: weight + if steps { 20 } else { 0 } - if other { 60 } else { 0 },
            titles,
        };
        let bold = section.iter().filter_map(|element| match &element.part {
            Part::Paragraph(Some(bold), _) if !part_of_a_plan(bold) => Some((bold, &element.text)),
            _ => None,
        });
        let bold: Vec<(&String, &String)> = bold.collect();
        let numbered: Vec<String> = bold
            .iter()
            .filter(|(bold, _)| number(&fold(bold)).is_some())
            .map(|(bold, text)| {
                let title = if only_number(bold) { text } else { bold };
                trimmed(first_sentence(without_number(title)))
            })
            .collect();
        if numbered.len() >= 2 {
            found.push(of(75, numbered));
        } else if bold.len() >= 3 {
            found.push(of(50, bold.iter().map(|(bold, _)| trimmed(bold)).collect()));
        }
        let lines: Vec<String> = section
            .iter()
            .filter_map(|element| match &element.part {
                Part::Paragraph(None, lines) => Some(lines),
                _ => None,
            })
            .flatten()
            .filter(|line| number(&fold(line)).is_some())
            .map(|line| trimmed(first_sentence(without_number(line))))
            .collect();
        if lines.len() >= 2 {
            found.push(of(60, lines));
        }
    }
    found
}
