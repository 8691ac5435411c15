//! The comment that asks questions: every option is a checkbox, and one checkbox sends the answers.
//!
//! ```markdown
//! **1. Cache** – Where does the cache live?
//!
//! Choose one option. For another answer, comment `/answer 1: your own words`, or edit …
//!
//! - [ ] a) In memory — lost at a restart
//! - [ ] b) Redis
//! - [ ] other:
//!
//! **2.** What is it called?
//!
//! Answer in your own words: comment `/answer 2: …`.
//!
//! ---
//!
//! - [ ] **Send these answers**
//!
//! <!-- planwright:questions RUN ROUND -->
//! ```
//!
//! Text of an agent follows our own words on a line and is escaped, so it begins no line, item,
//! checkbox or marker. Only a pair of backticks still makes code. Ticks are read from the Markdown
//! tree. People may have edited the comment by hand, so options are identified by their letter and
//! questions by their number.

use comrak::Arena;
use comrak::nodes::{AstNode, NodeValue};

use super::answer::AnswerError;
use super::marker::{MAX_OPTIONS, one_line};
use super::{Answer, Question, letter};
use crate::block;
use crate::markdown::{self, Lines};
use crate::text::truncate_chars;

#[cfg(test)]
mod tests;

/// The label of the checkbox that sends the answers.
const SEND: &str = "Send these answers";
/// The label of the checkbox for free text.
const OTHER: &str = "other:";
/// The beginning of the marker.
const MARKER: &str = "<!-- planwright:questions ";
/// Maximum length of an answer that is repeated in a comment, in characters; the plan contains all
/// of it.
const MAX_ANSWER_CHARS: usize = 1_000;
/// Indentation of the lines of a list item after the first, in spaces.
const ITEM_INDENTATION: usize = 2;

/// Questions that are asked together.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// Run id, without white space.
    pub run: &'a str,
    /// Number of the round within the run, from 1.
    pub number: u32,
    /// The questions.
    pub questions: &'a [Question],
    /// Whether free text is accepted besides the options.
    pub own_words: bool,
}

/// The ticked checkboxes of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boxes {
    /// Run id.
    pub run: String,
    /// Number of the round within the run, from 1.
    pub round: u32,
    /// The ticks of each question, in the order of their numbers.
    pub questions: Vec<Ticks>,
    /// Whether "Send these answers" is ticked.
    pub send: bool,
}

/// The ticked checkboxes of one question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Positions of the ticked options, from 0, ascending.
    pub chosen: Vec<usize>,
    /// The text after `other:` if that is ticked; may be empty.
    pub other: Option<String>,
}

/// Whether "Send these answers" was ticked between `before` and `after`, in the same round.
pub fn sent(before: &str, after: &str) -> bool {
    let (Some(before), Some(after)) = (parse(before), parse(after)) else {
        return false;
    };
    before.run == after.run && before.round == after.round && !before.send && after.send
}

/// Converts the ticks to answers to `questions`; `None` for a question without ticks.
pub fn answers(boxes: &Boxes, questions: &[Question]) -> Result<Vec<Option<Answer>>, AnswerError> {
    let none = Ticks::default();
    let convert = |(index, question): (usize, &Question)| {
        let ticks = boxes.questions.get(index).unwrap_or(&none);
        let (mut chosen, number) = (ticks.chosen.clone(), index + 1);
        chosen.retain(|position| *position < question.options.len());
        let answer = Answer::new(chosen, ticks.other.clone(), question, number)?;
        match answer.text.as_deref() {
            Some("") => Err(AnswerError::EmptyOther { question: number }),
            None if answer.chosen.is_empty() => Ok(None),
            _ => Ok(Some(answer)),
        }
    };
    questions.iter().enumerate().map(convert).collect()
}

/// Parses a comment that [`render`] wrote and people may have edited; `None` without the marker.
///
/// Only checkboxes at the top level count, and those of a question only after its heading. Of
/// several markers the last one counts.
pub fn parse(body: &str) -> Option<Boxes> {
    if !body.contains(MARKER) {
        return None;
    }
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let lines = Lines::new(body);
    let mut marker = None;
    let mut questions: Vec<Ticks> = Vec::new();
    let mut send = false;
    for node in root.children() {
        match &node.data().value {
            NodeValue::HtmlBlock(html) => marker = parse_marker(&html.literal).or(marker),
            NodeValue::Paragraph if question_number(node) == Some(questions.len() + 1) => {
                questions.push(Ticks::default());
            }
            NodeValue::List(_) => {
                for item in node.children() {
                    match (parse_tick(item, &lines), questions.last_mut()) {
                        (Some(Tick::Send), _) => send = true,
                        (Some(Tick::Option(position)), Some(ticks)) => ticks.chosen.push(position),
                        (Some(Tick::Other(text)), Some(ticks)) => {
                            ticks.other.get_or_insert(text);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    for ticks in &mut questions {
        ticks.chosen.sort_unstable();
        ticks.chosen.dedup();
    }
    let (run, round) = marker?;
    Some(Boxes {
        run,
        round,
        questions,
        send,
    })
}

/// Unticks "Send these answers", so that it can be ticked again; `None` if it is not ticked.
pub fn unsent(body: &str) -> Option<String> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let lines = Lines::new(body);
    let sends = root
        .children()
        .filter(|node| matches!(node.data().value, NodeValue::List(_)))
        .flat_map(comrak::arena_tree::Node::children)
        .find(|item| matches!(parse_tick(item, &lines), Some(Tick::Send)))?;
    let start = lines.start(sends.data().sourcepos.start.line);
    let tick = start + body[start..].find(['x', 'X'])?;
    Some(format!("{} {}", &body[..tick], &body[tick + 1..]))
}

/// A ticked checkbox.
enum Tick {
    Option(usize),
    Other(String),
    Send,
}

/// Parses run and round of a marker; `None` if `html` is anything else.
fn parse_marker(html: &str) -> Option<(String, u32)> {
    let names = html.trim().strip_prefix(MARKER)?.strip_suffix("-->")?;
    let (run, round) = names.trim().split_once(' ')?;
    let is_valid = !run.is_empty() && !run.contains(char::is_whitespace);
    Some((run.to_owned(), round.parse().ok()?)).filter(|_| is_valid)
}

/// Returns the number of the question whose heading `paragraph` is.
fn question_number<'a>(paragraph: &'a AstNode<'a>) -> Option<usize> {
    let first = paragraph.first_child()?;
    if !matches!(first.data().value, NodeValue::Strong) {
        return None;
    }
    let text = markdown::plain_text(first);
    let (number, rest) = text.split_once('.')?;
    let is_heading = rest.is_empty() || rest.starts_with(' ');
    number.parse().ok().filter(|_| is_heading)
}

/// Parses a list item; `None` if it is not a ticked checkbox of ours.
fn parse_tick<'a>(item: &'a AstNode<'a>, lines: &Lines<'_>) -> Option<Tick> {
    let data = item.data();
    if !matches!(&data.value, NodeValue::TaskItem(task) if task.symbol.is_some()) {
        return None;
    }
    let label = markdown::plain_text(item.first_child()?);
    if label.trim() == SEND {
        return Some(Tick::Send);
    }
    if starts_with_other(&label) {
        let (first, last) = (data.sourcepos.start.line, data.sourcepos.end.line);
        return Some(Tick::Other(other_text(lines, first, last)));
    }
    let (option, _) = label.split_once(')')?;
    let mut options = (0..MAX_OPTIONS).map(letter);
    options
        .position(|letter| option.chars().eq([letter]))
        .map(Tick::Option)
}

fn starts_with_other(text: &str) -> bool {
    text.get(..OTHER.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(OTHER))
}

/// Returns the source after `other:` in the item from line `first` to line `last`, without the
/// item's indentation.
fn other_text(lines: &Lines<'_>, first: usize, last: usize) -> String {
    let line = lines.text(first);
    let mut starts = line.char_indices().map(|(start, _)| &line[start..]);
    let other = starts.find(|rest| starts_with_other(rest));
    let mut text = other.map_or("", |rest| &rest[OTHER.len()..]).to_owned();
    for number in first + 1..=last {
        let line = lines.text(number);
        let spaces = line.len() - line.trim_start_matches(' ').len();
        text.push('\n');
        text.push_str(&line[spaces.min(ITEM_INDENTATION)..]);
    }
    text.trim().to_owned()
}

/// Renders the questions of `round` as Markdown with checkboxes and the marker; an introduction is
/// up to the caller.
///
/// Every line with text of the agent is made inert: it mentions nobody, closes nothing and is no
/// command.
pub fn render(round: &Round<'_>) -> String {
    let mut text = String::new();
    for (question, number) in round.questions.iter().zip(1_usize..) {
        push_question(&mut text, question, number, round.own_words);
    }
    text.push_str(&format!("---\n\n- [ ] **{SEND}**\n\n"));
    text.push_str(&format!("{MARKER}{} {} -->", round.run, round.number));
    text
}

/// Renders the questions of a round that has ended, each with its answer and the login of who gave
/// it, or with the text `open` if it has none.
pub fn answered(
    questions: &[Question],
    answers: &[Option<Answer>],
    whose: &[Option<String>],
    open: &str,
) -> String {
    let mut text = String::new();
    for (index, question) in questions.iter().enumerate() {
        push_heading(&mut text, question, index + 1);
        let line = match answers.get(index).and_then(Option::as_ref) {
            Some(answer) => {
                let words = shown(&truncate_chars(&answer.words(question), MAX_ANSWER_CHARS));
                let login = whose.get(index).and_then(Option::as_deref);
                let by = login.map(|login| format!(" ({login})")).unwrap_or_default();
                format!("Answer: {words}{by}")
            }
            None => format!("*{open}*"),
        };
        text.push_str(&format!("> {}\n\n", block::quiet(&line)));
    }
    text
}

fn push_heading(text: &mut String, question: &Question, number: usize) {
    let header = shown(&question.header);
    let asked = shown(&question.question);
    let line = if header.is_empty() {
        format!("**{number}.** {asked}")
    } else {
        format!("**{number}. {header}** – {asked}")
    };
    text.push_str(&block::quiet(&line));
    text.push_str("\n\n");
}

fn push_question(text: &mut String, question: &Question, number: usize, own_words: bool) {
    push_heading(text, question, number);
    if question.options.is_empty() {
        text.push_str(&format!(
            "Answer in your own words: comment `/answer {number}: …`.\n\n"
        ));
        return;
    }
    text.push_str(if question.multi {
        "Choose one or more options."
    } else {
        "Choose one option."
    });
    if own_words {
        text.push_str(&format!(
            " For another answer, comment `/answer {number}: your own words`, or edit this \
             comment: write it after *other* and tick that checkbox."
        ));
    }
    text.push_str("\n\n");
    for (position, option) in question.options.iter().take(MAX_OPTIONS).enumerate() {
        let mut line = format!("- [ ] {}) {}", letter(position), shown(&option.label));
        if !option.description.is_empty() {
            line.push_str(" — ");
            line.push_str(&shown(&option.description));
        }
        text.push_str(&block::quiet(&line));
        text.push('\n');
    }
    if own_words {
        text.push_str(&format!("- [ ] {OTHER} \n"));
    }
    text.push('\n');
}

/// Escapes `text` of an agent as one line of Markdown that displays as it is written, for use after
/// other words on the line. Text between two single backticks remains code.
pub fn shown(text: &str) -> String {
    let line = one_line(text);
    let mut shown = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(at) = rest.find('`') {
        shown.push_str(&escape(&rest[..at]));
        let code = &rest[at + 1..];
        match code.find('`') {
            Some(end) if is_code(&code[..end]) && !code[end + 1..].starts_with('`') => {
                shown.push_str(&rest[at..at + end + 2]);
                rest = &code[end + 1..];
            }
            _ => {
                let after = rest[at..].trim_start_matches('`');
                shown.push_str(&"\\`".repeat(rest.len() - at - after.len()));
                rest = after;
            }
        }
    }
    shown.push_str(&escape(rest));
    shown
}

/// Whether a text between backticks is displayed as code: it is not empty and has no spaces at its
/// ends.
fn is_code(text: &str) -> bool {
    !text.is_empty() && text.trim() == text
}

/// Escapes `text`, which has no backticks, by a backslash before everything that Markdown would
/// take for markup. URLs are kept intact as far as possible, so that they are links.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let is_markup = match c {
            '\\' | '*' | '[' | ']' | '<' | '>' | '~' | '|' => true,
            '_' => !(before.is_alphanumeric() && rest.starts_with(char::is_alphanumeric)),
            '&' => {
                let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '#');
                name.len() < rest.len() && name.starts_with(';')
            }
            _ => false,
        };
        if is_markup {
            escaped.push('\\');
        }
        escaped.push(c);
        before = c;
    }
    escaped
}
