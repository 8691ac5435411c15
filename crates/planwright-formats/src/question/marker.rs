//! Reads the marks that an agent leaves in its text: questions, "finished", "go to".
//!
//! | mark | form |
//! |---|---|
//! | questions | `<!--QUESTION:{"questions":[{"question","header","type","options","multiSelect"}]}-->` |
//! | finished | `<!-- FINISHED -->` |
//! | go to | `<!-- GOTO: step -->` |
//!
//! White space is free behind `<!--`, behind the colon and before `-->`; case is not. The JSON is
//! decoded before the end of the comment is looked for, so `-->` in a string is part of the string.
//! A question without the list around it counts, too.
//!
//! A mark in a code span is text. A mark in a code block counts, because agents imitate the fenced
//! example of their instructions, but not in a text with a line `# Plan:`: there it belongs to the
//! plan.

use std::ops::Range;
use std::slice;

use memchr::memmem;
use serde_json::Value;

use super::{Choice, Question};
use crate::hidden::{self, InvisibleKind};
use crate::markdown;

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
/// Most losses of one turn that are described, one sentence each; another one says that there are more.
const MAX_LOST: usize = 12;
/// What stands for those.
const MORE_LOST: &str = "More of what was asked could not be read or was not asked.";
/// Most characters of a text that the description of a loss quotes.
const MAX_QUOTED_CHARS: usize = 120;

/// The questions that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// In order, no more than [`MOST_QUESTIONS`].
    pub questions: Vec<Question>,
    /// Marks, entries and options that cannot be read, with marks that are only quoted outside of a
    /// plan.
    pub malformed: u32,
    /// Questions above [`MOST_QUESTIONS`] and options above [`MOST_OPTIONS`].
    pub left_out: u32,
    /// What of it nobody is asked, a sentence each, for the agent and for people.
    pub lost: Vec<String>,
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
        for sentence in other.lost {
            self.lose(sentence);
        }
        for question in other.questions {
            self.take(question);
        }
    }

    fn lose(&mut self, sentence: String) {
        if self.lost.contains(&sentence) {
            return;
        }
        match self.lost.len() {
            0..MAX_LOST => self.lost.push(sentence),
            MAX_LOST => self.lost.push(MORE_LOST.to_owned()),
            _ => {}
        }
    }

    fn malformed(&mut self, sentence: String) {
        self.malformed += 1;
        self.lose(sentence);
    }

    fn take(&mut self, question: Question) {
        if self.questions.contains(&question) {
            return;
        }
        if self.questions.len() < MOST_QUESTIONS {
            self.questions.push(question);
        } else {
            self.left_out += 1;
            self.lose(format!(
                "The question {} was not asked: a round has at most {MOST_QUESTIONS} questions.",
                quoted(&question.question)
            ));
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
            match self.question(entry) {
                Some(question) => self.take(question),
                None => {
                    self.malformed("A question has no text in its field `question`.".to_owned());
                }
            }
        }
        true
    }
}

/// The questions that `text` asks. Never an error: what cannot be read is counted and left out singly.
pub fn detect(text: &str) -> Found {
    let mut found = Found::default();
    for (_, mark) in marks(text) {
        let payload = match mark {
            Mark::Questions(payload) => payload,
            Mark::Quoted => {
                found.malformed += 1;
                continue;
            }
            Mark::Finished | Mark::Goto(_) => continue,
        };
        let unread = match payload {
            Ok(value) if found.read(&value) => continue,
            Ok(_) => "its JSON has no field `questions` with a list".to_owned(),
            Err(why) => why,
        };
        found.malformed(format!("A question marker could not be read: {unread}."));
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
                found.malformed(
                    "The field `questions` of the structured output is not a list.".to_owned(),
                );
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
            Mark::Goto(_) | Mark::Questions(_) | Mark::Quoted => {}
        }
    }
    signals
}

/// One mark.
enum Mark<'a> {
    /// Questions: their JSON, or why it cannot be used.
    Questions(Result<Value, String>),
    /// A question marker in code that cannot be read: it is talked about.
    Quoted,
    Finished,
    Goto(&'a str),
}

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Every mark of `text` with its place, ordered by where it begins. The place of one that cannot be
/// read ends with the `-->` that can belong to it ([`reach`]), so it may overlap with later ones;
/// without such an end it is empty.
///
/// Linear: a JSON text is read twice at most, as an opening in one of its strings is inside a string for no third one.
fn marks(text: &str) -> Vec<(Range<usize>, Mark<'_>)> {
    let mut marks = Vec::new();
    let mut read_to = 0;
    let mut reached = 0;
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
            let value = match stream.next() {
                Some(value) => value.map_err(|error| error.to_string()),
                None => Err("it is empty".to_owned()),
            };
            let behind = &json[value.as_ref().map_or(0, |_| stream.byte_offset())..];
            if value.is_ok() {
                read_to = at(behind);
            }
            if reached <= at(behind) {
                reached = reach(text, at(behind));
            }
            let ended = behind.trim_start().starts_with(CLOSE);
            let end = close(at(behind)).filter(|end| ended || *end <= reached);
            let value = match value {
                Ok(_) if !ended => Err("there is no `-->` behind its JSON".to_owned()),
                value => value,
            };
            marks.push((start..end.unwrap_or(start), Mark::Questions(value)));
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
    without_quoted(text, &mut marks);
    marks
}

/// Where a mark that cannot be read ends at the latest, when it begins before byte `from`: at the
/// end of its line, or of the lines of JSON that follow. Whatever comes after them is the author's
/// text, whether or not there is a `-->` in it.
fn reach(text: &str, from: usize) -> usize {
    let mut lines = text[from..].split_inclusive('\n');
    let mut end = from + lines.next().map_or(0, str::len);
    for line in lines {
        let json = line.trim_start().starts_with(['{', '}', '[', ']', '"']);
        if !json && !line.trim_start().starts_with(CLOSE) {
            break;
        }
        end += line.len();
    }
    end
}

/// Takes out the marks that are quoted: in code spans, in the code blocks of a plan, and in any
/// code block where what should be JSON does not even begin like it.
fn without_quoted(text: &str, marks: &mut Vec<(Range<usize>, Mark<'_>)>) {
    if marks.is_empty() {
        return;
    }
    let places: Vec<usize> = marks.iter().map(|(span, _)| span.start).collect();
    let mut code = markdown::in_code(text, &places).into_iter();
    let plan = text
        .lines()
        .any(|line| line.trim_start().starts_with("# Plan:"));
    // Behind a back-tick on its line a mark in code is in a code span.
    let (mut looked_at, mut in_span) = (0, false);
    marks.retain_mut(|(span, mark)| {
        for byte in text[looked_at..span.start].bytes() {
            in_span = byte == b'`' || in_span && byte != b'\n';
        }
        looked_at = span.start;
        if !code.next().unwrap_or_default() {
            return true;
        }
        let json = || {
            let inside = text[span.start..].trim_start_matches(|c: char| !matches!(c, ':' | '\n'));
            inside[1.min(inside.len())..]
                .trim_start()
                .starts_with(['{', '['])
        };
        let readable = !matches!(mark, Mark::Questions(Err(_)));
        let kept = !in_span && !plan && (readable || json());
        if !kept && !plan && !readable {
            *mark = Mark::Quoted;
            span.end = span.start;
            return true;
        }
        kept
    });
}

/// A step's name: begins with a letter, a digit or `_`, goes on with these, white space and `-`.
fn is_step(name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    name.starts_with(word)
        && name
            .chars()
            .all(|c| word(c) || c == '-' || c.is_whitespace() && c != '\n')
}

impl Found {
    /// One entry; `None` without a question.
    fn question(&mut self, entry: &Value) -> Option<Question> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let question = cut(&lines(text("question")), MOST_QUESTION_CHARS);
        if question.is_empty() {
            return None;
        }
        let name = quoted(&question);
        let mut options = Vec::new();
        let mut left_out = Vec::new();
        match entry.get("options") {
            None | Some(Value::Null) => {}
            Some(Value::Array(entries)) => {
                for entry in entries {
                    match option(entry) {
                        Some(option) if options.len() < MOST_OPTIONS => options.push(option),
                        Some(option) => left_out.push(option.label),
                        None => self
                            .malformed(format!("An option of the question {name} has no label.")),
                    }
                }
            }
            Some(_) => self.malformed(format!(
                "The options of the question {name} are not a list."
            )),
        }
        if !left_out.is_empty() {
            self.left_out += u32::try_from(left_out.len()).unwrap_or(u32::MAX);
            self.lose(format!(
                "The question {name} was asked with its first {MOST_OPTIONS} options, which is the limit; left out: {}.",
                quoted(&left_out.join(", "))
            ));
        }
        Some(Question {
            question,
            header: cut(&one_line(text("header")), MOST_HEADER_CHARS),
            choice: text("type") == "choice" && !options.is_empty(),
            multi: entry.get("multiSelect") == Some(&Value::Bool(true)) && !options.is_empty(),
            options,
        })
    }
}

/// `text` on one line in quotation marks, cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    format!("“{}”", cut(&one_line(text), MAX_QUOTED_CHARS))
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
        .map(|word| word.chars().filter(|c| !is_hidden(*c)).collect::<String>())
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

/// Returns whether `c` cannot be seen and is not a joiner, which words and emoji need.
fn is_hidden(c: char) -> bool {
    hidden::invisible_kind(c).is_some_and(|kind| kind != InvisibleKind::Joiner)
}

/// `text` with at most `most` characters, the last of which is an ellipsis where something is cut off.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    kept.trim_end().to_owned() + "…"
}
