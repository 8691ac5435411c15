//! Reads the marks that an agent leaves in its text: questions, "finished", "go to".
//!
//! | mark | form |
//! |---|---|
//! | questions | `<!--QUESTION:{"questions":[{"question","header","type","options","multiSelect"}]}-->` |
//! | finished | `<!-- FINISHED -->` |
//! | go to | `<!-- GOTO: step -->` |
//!
//! White space is free behind `<!--`, behind the colon and before `-->`; case is not. Marks in code count: agents imitate
//! the fenced example of their instructions. The JSON is decoded before the end of the comment is looked for, so `-->`
//! in a string is part of the string. A question without the list around it counts, too.

use std::ops::Range;
use std::slice;

use memchr::memmem;
use serde_json::Value;

use super::{Choice, Question};

#[cfg(test)]
mod tests;

/// Most questions of one round; more is a form to fill in, not a conversation.
pub const MOST_QUESTIONS: usize = 4;
/// Most options of one question.
pub const MOST_OPTIONS: usize = 6;
/// Most characters of a question.
pub const MOST_QUESTION_CHARS: usize = 1_000;
/// Most characters of a header: two or three words.
pub const MOST_HEADER_CHARS: usize = 60;
/// Most characters of an option's label.
pub const MOST_LABEL_CHARS: usize = 160;
/// Most characters of an option's description.
pub const MOST_DESCRIPTION_CHARS: usize = 400;

/// The questions that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// In order, no more than [`MOST_QUESTIONS`].
    pub questions: Vec<Question>,
    /// Marks, entries and options that cannot be read.
    pub malformed: u32,
    /// Questions above [`MOST_QUESTIONS`].
    pub left_out: u32,
}

/// What a text says besides questions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signals {
    /// It has the mark "finished".
    pub finished: bool,
    /// Step that its first mark "go to" names.
    pub goto: Option<String>,
}

impl Found {
    /// Adds what was found elsewhere. A question that is there already counts once; what is above the limit is left out.
    pub fn add(&mut self, other: Self) {
        self.malformed += other.malformed;
        self.left_out += other.left_out;
        for question in other.questions {
            self.take(question);
        }
    }

    fn take(&mut self, question: Question) {
        if self.questions.contains(&question) {
            return;
        }
        if self.questions.len() < MOST_QUESTIONS {
            self.questions.push(question);
        } else {
            self.left_out += 1;
        }
    }

    /// Reads `{"questions":[…]}`, or a single question; false when it is something else.
    fn read(&mut self, value: &Value) -> bool {
        let entries = match (value.get("questions"), value.get("question")) {
            (Some(Value::Array(entries)), _) => entries.as_slice(),
            (None, Some(_)) => slice::from_ref(value),
            _ => return false,
        };
        for entry in entries {
            match question(entry, &mut self.malformed) {
                Some(question) => self.take(question),
                None => self.malformed += 1,
            }
        }
        true
    }
}

/// The questions that `text` asks. Never an error: what cannot be read is counted and left out singly.
pub fn detect(text: &str) -> Found {
    let mut found = Found::default();
    for (_, mark) in marks(text) {
        if let Mark::Questions(payload) = mark
            && !payload.is_some_and(|value| found.read(&value))
        {
            found.malformed += 1;
        }
    }
    found
}

/// The questions in structured output of the form `{"questions":[…]}`; other forms ask nothing.
pub fn from_structured(value: &Value) -> Found {
    let mut found = Found::default();
    match value.get("questions") {
        None | Some(Value::Null) => {}
        Some(_) => {
            if !found.read(value) {
                found.malformed += 1;
            }
        }
    }
    found
}

/// `text` for people: without marks (those that cannot be read, too) and without white space around it. An unclosed mark
/// stays.
pub fn without_markers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for (span, _) in marks(text) {
        if span.start > at {
            kept.push_str(&text[at..span.start]);
        }
        at = at.max(span.end);
    }
    kept.push_str(&text[at..]);
    kept.trim().to_owned()
}

/// What `text` says besides questions.
pub fn signals(text: &str) -> Signals {
    let mut signals = Signals::default();
    for (_, mark) in marks(text) {
        match mark {
            Mark::Finished => signals.finished = true,
            Mark::Goto(step) if signals.goto.is_none() => signals.goto = Some(step.to_owned()),
            Mark::Goto(_) | Mark::Questions(_) => {}
        }
    }
    signals
}

/// One mark.
enum Mark<'a> {
    /// Questions, with their JSON where it can be read and the comment ends behind it.
    Questions(Option<Value>),
    Finished,
    Goto(&'a str),
}

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Every mark of `text` with its place, ordered by where it begins. The place of one that cannot be read goes to the next
/// `-->`, so it may overlap with later ones; that of one that is never closed is empty.
///
/// Linear: a JSON text is read twice at most, as an opening in one of its strings is inside a string for no third one.
fn marks(text: &str) -> Vec<(Range<usize>, Mark<'_>)> {
    let mut marks = Vec::new();
    let mut read_to = 0;
    let mut closings = memmem::find_iter(text.as_bytes(), CLOSE);
    let mut next = closings.next();
    // End of the first `-->` at or behind a byte; asked in ascending order.
    let mut close = |from: usize| {
        while next.is_some_and(|at| at < from) {
            next = closings.next();
        }
        next.map(|at| at + CLOSE.len())
    };
    for start in memmem::find_iter(text.as_bytes(), OPEN) {
        if start < read_to {
            continue;
        }
        let body = text[start + OPEN.len()..].trim_start();
        let at = |rest: &str| text.len() - rest.len();
        if let Some(json) = body.strip_prefix("QUESTION:") {
            let mut stream = serde_json::Deserializer::from_str(json).into_iter::<Value>();
            let value = stream.next().and_then(Result::ok);
            let behind = &json[value.as_ref().map_or(0, |_| stream.byte_offset())..];
            if value.is_some() {
                read_to = at(behind);
            }
            let ended = behind.trim_start().starts_with(CLOSE);
            let end = close(at(behind)).unwrap_or(start);
            marks.push((start..end, Mark::Questions(value.filter(|_| ended))));
        } else if let Some(rest) = body.strip_prefix("FINISHED") {
            let rest = rest.trim_start();
            if rest.starts_with(CLOSE) {
                marks.push((start..at(rest) + CLOSE.len(), Mark::Finished));
            }
        } else if let Some(rest) = body.strip_prefix("GOTO:")
            && let Some(end) = close(at(rest))
            && let step = text[at(rest)..end - CLOSE.len()].trim()
            && is_step(step)
        {
            marks.push((start..end, Mark::Goto(step)));
        }
    }
    marks
}

/// A step's name: begins with a letter, a digit or `_`, goes on with these, white space and `-`.
fn is_step(name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    name.starts_with(word)
        && name
            .chars()
            .all(|c| word(c) || c.is_whitespace() || c == '-')
}

/// One entry; `None` without a question. Options that cannot be read are counted in `malformed`.
fn question(entry: &Value, malformed: &mut u32) -> Option<Question> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    let question = cut(&lines(text("question")), MOST_QUESTION_CHARS);
    if question.is_empty() {
        return None;
    }
    let options: Vec<Choice> = match entry.get("options") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(options)) => options
            .iter()
            .filter_map(|entry| {
                let option = option(entry);
                *malformed += u32::from(option.is_none());
                option
            })
            .take(MOST_OPTIONS)
            .collect(),
        Some(_) => {
            *malformed += 1;
            Vec::new()
        }
    };
    Some(Question {
        question,
        header: cut(&one_line(text("header")), MOST_HEADER_CHARS),
        choice: text("type") == "choice" && !options.is_empty(),
        multi: entry.get("multiSelect") == Some(&Value::Bool(true)) && !options.is_empty(),
        options,
    })
}

/// One option: an object with a label, or the label alone.
fn option(entry: &Value) -> Option<Choice> {
    let label = match entry.get("label").unwrap_or(entry) {
        Value::String(label) => one_line(label),
        Value::Number(label) => label.to_string(),
        Value::Bool(label) => label.to_string(),
        _ => return None,
    };
    let description = entry.get("description").and_then(Value::as_str);
    (!label.is_empty()).then(|| Choice {
        label: cut(&label, MOST_LABEL_CHARS),
        description: cut(
            &one_line(description.unwrap_or_default()),
            MOST_DESCRIPTION_CHARS,
        ),
    })
}

/// `text` in one line, without what cannot be seen; white space in a row becomes a blank.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<String> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .map(|word| word.chars().filter(|c| !unseen(*c)).collect::<String>())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// `text` with its line ends as `\n` and otherwise like [`one_line`]; blank lines go.
fn lines(text: &str) -> String {
    let lines: Vec<String> = text
        .split(['\n', '\r'])
        .map(one_line)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

/// Characters without a shape of their own that mislead readers: those that turn the direction of what follows, blanks
/// without width, tags. Joiners stay, as words and emoji need them.
fn unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// `text` with at most `most` characters, the last of which is an ellipsis where something is cut off.
fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    kept.trim_end().to_owned() + "…"
}
