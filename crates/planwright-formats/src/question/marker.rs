//! Parses the markers that an agent puts into its text: questions, "finished", "go to".
//!
//! | marker | form |
//! |---|---|
//! | questions | `<!--QUESTION:{"questions":[{"question","header","type","options","multiSelect"}]}-->` |
//! | finished | `<!-- FINISHED -->` |
//! | go to | `<!-- GOTO: step -->` |
//!
//! White space is allowed after `<!--`, after the colon and before `-->`; case is significant. The
//! JSON is decoded before the end of the comment is searched, so `-->` in a string is part of the
//! string. A single question without the list around it is accepted.
//!
//! A marker in a code span is text. A marker in a code block counts, because agents imitate the
//! fenced example of their instructions, but not in a text with a line `# Plan:`: there it belongs
//! to the plan.

use std::ops::Range;
use std::slice;

use memchr::memmem;
use serde_json::Value;

use super::{Choice, Question};
use crate::hidden::{self, InvisibleKind};
use crate::markdown;
use crate::text::truncate_chars;

#[cfg(test)]
mod tests;

/// Maximum number of questions in one round; more would be a form, not a conversation.
pub const MAX_QUESTIONS: usize = 4;
/// Maximum number of options of one question.
pub const MAX_OPTIONS: usize = 6;
/// Maximum length of a question, in characters.
pub const MAX_QUESTION_CHARS: usize = 1_000;
/// Maximum length of a header, in characters: two or three words.
pub const MAX_HEADER_CHARS: usize = 60;
/// Maximum length of an option's label, in characters.
pub const MAX_LABEL_CHARS: usize = 160;
/// Maximum length of an option's description, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 400;
/// Maximum number of sentences in [`DetectedQuestions::lost`]; one more says that there are others.
const MAX_LOST: usize = 12;
const MORE_LOST: &str = "Further questions could not be read or were not asked.";
/// Maximum length of a quotation in such a sentence, in characters.
const MAX_QUOTED_CHARS: usize = 120;

/// The questions that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetectedQuestions {
    /// The questions in order, at most [`MAX_QUESTIONS`].
    pub questions: Vec<Question>,
    /// Number of markers, entries and options that are malformed, including markers that are only
    /// quoted outside of a plan.
    pub malformed: u32,
    /// Number of questions over [`MAX_QUESTIONS`] and options over [`MAX_OPTIONS`].
    pub left_out: u32,
    /// One sentence, for the agent and for people, for each thing that was malformed or left out.
    pub lost: Vec<String>,
}

/// The other markers of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signals {
    /// Whether there is a "finished" marker.
    pub finished: bool,
    /// The step in the first "go to" marker.
    pub goto: Option<String>,
}

impl DetectedQuestions {
    /// Adds the questions of another text, without duplicates and up to the limit.
    pub fn merge(&mut self, other: Self) {
        self.malformed += other.malformed;
        self.left_out += other.left_out;
        for sentence in other.lost {
            self.add_lost(sentence);
        }
        for question in other.questions {
            self.add_question(question);
        }
    }

    fn add_lost(&mut self, sentence: String) {
        if self.lost.contains(&sentence) {
            return;
        }
        match self.lost.len() {
            0..MAX_LOST => self.lost.push(sentence),
            MAX_LOST => self.lost.push(MORE_LOST.to_owned()),
            _ => {}
        }
    }

    fn add_malformed(&mut self, sentence: impl Into<String>) {
        self.malformed += 1;
        self.add_lost(sentence.into());
    }

    fn add_question(&mut self, question: Question) {
        if self.questions.contains(&question) {
            return;
        }
        if self.questions.len() < MAX_QUESTIONS {
            self.questions.push(question);
        } else {
            self.left_out += 1;
            self.add_lost(format!(
                "The question {} was not asked: a round has at most {MAX_QUESTIONS} questions.",
                quoted(&question.question)
            ));
        }
    }

    /// Adds the questions of `{"questions":[…]}`, or a single question. Returns false if `value` is
    /// anything else.
    fn add_json(&mut self, value: &Value) -> bool {
        let entries = match (value.get("questions"), value.get("question")) {
            (Some(Value::Array(entries)), _) => entries.as_slice(),
            (None, Some(_)) => slice::from_ref(value),
            _ => return false,
        };
        for entry in entries {
            match self.parse_question(entry) {
                Some(question) => self.add_question(question),
                None => self.add_malformed("A question has no text in its field `question`."),
            }
        }
        true
    }

    /// Parses one entry; `None` if it has no question.
    fn parse_question(&mut self, entry: &Value) -> Option<Question> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let question = truncate_chars(&lines(text("question")), MAX_QUESTION_CHARS);
        if question.is_empty() {
            return None;
        }
        let name = quoted(&question);
        let mut options = Vec::new();
        match entry.get("options") {
            None | Some(Value::Null) => {}
            Some(Value::Array(entries)) => {
                for entry in entries {
                    match parse_option(entry) {
                        Some(option) => options.push(option),
                        None => self.add_malformed(format!(
                            "An option of the question {name} has no label."
                        )),
                    }
                }
            }
            Some(_) => self.add_malformed(format!(
                "The options of the question {name} are not a list."
            )),
        }
        let extra = options.split_off(options.len().min(MAX_OPTIONS));
        if !extra.is_empty() {
            self.left_out += u32::try_from(extra.len()).unwrap_or(u32::MAX);
            let labels: Vec<String> = extra.into_iter().map(|option| option.label).collect();
            self.add_lost(format!(
                "The question {name} was asked with its first {MAX_OPTIONS} options, which is the limit; left out: {}.",
                quoted(&labels.join(", "))
            ));
        }
        Some(Question {
            question,
            header: truncate_chars(&one_line(text("header")), MAX_HEADER_CHARS),
            choice: text("type") == "choice" && !options.is_empty(),
            multi: entry.get("multiSelect") == Some(&Value::Bool(true)) && !options.is_empty(),
            options,
        })
    }
}

/// Parses one option: an object with a label, or the label alone.
fn parse_option(entry: &Value) -> Option<Choice> {
    let label = match entry.get("label").unwrap_or(entry) {
        Value::String(label) => one_line(label),
        Value::Number(label) => label.to_string(),
        Value::Bool(label) => label.to_string(),
        _ => return None,
    };
    let description = entry.get("description").and_then(Value::as_str);
    let description = one_line(description.unwrap_or_default());
    (!label.is_empty()).then(|| Choice {
        label: truncate_chars(&label, MAX_LABEL_CHARS),
        description: truncate_chars(&description, MAX_DESCRIPTION_CHARS),
    })
}

/// Returns the questions that `text` asks. Never fails: malformed parts are counted and left out
/// one by one.
pub fn detect(text: &str) -> DetectedQuestions {
    let mut found = DetectedQuestions::default();
    for (_, marker) in markers(text) {
        let reason = match marker {
            Marker::Questions(Ok(value)) if found.add_json(&value) => continue,
            Marker::Questions(Ok(_)) => "its JSON has no field `questions` with a list".to_owned(),
            Marker::Questions(Err(reason)) => reason,
            Marker::Quoted => {
                found.malformed += 1;
                continue;
            }
            Marker::Finished | Marker::Goto(_) => continue,
        };
        found.add_malformed(format!("A question marker could not be read: {reason}."));
    }
    found
}

/// Returns the questions in structured output of the form `{"questions":[…]}`. Other forms contain
/// none.
pub fn from_structured(value: &Value) -> DetectedQuestions {
    let mut found = DetectedQuestions::default();
    let has_questions = value.get("questions").is_some_and(|list| !list.is_null());
    if has_questions && !found.add_json(value) {
        found.add_malformed("The field `questions` of the structured output is not a list.");
    }
    found
}

/// Returns `text` for people: without markers, including malformed ones, and without surrounding
/// white space. An unclosed marker is kept.
pub fn without_markers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut end = 0;
    for (span, _) in markers(text) {
        kept.push_str(text.get(end..span.start).unwrap_or_default());
        end = end.max(span.end);
    }
    kept.push_str(&text[end..]);
    kept.trim().to_owned()
}

/// Returns the "finished" and "go to" markers of `text`.
pub fn signals(text: &str) -> Signals {
    let mut signals = Signals::default();
    for (_, marker) in markers(text) {
        match marker {
            Marker::Finished => signals.finished = true,
            Marker::Goto(step) if signals.goto.is_none() => signals.goto = Some(step.to_owned()),
            Marker::Goto(_) | Marker::Questions(_) | Marker::Quoted => {}
        }
    }
    signals
}

enum Marker<'a> {
    /// Questions as JSON, or why the JSON cannot be used.
    Questions(Result<Value, String>),
    /// A malformed question marker in code: the text is about markers.
    Quoted,
    Finished,
    Goto(&'a str),
}

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Returns every marker of `text` with its byte range, ordered by start.
///
/// The range of a malformed marker ends with the `-->` that can belong to it ([`malformed_end`]),
/// so it may overlap with later ones; without such an end it is empty.
///
/// Linear: JSON is parsed at most twice, because an opening in one of its strings is not within a
/// string of a third one.
fn markers(text: &str) -> Vec<(Range<usize>, Marker<'_>)> {
    let mut markers = Vec::new();
    let mut json_end = 0;
    let mut limit = 0;
    let mut closings = memmem::find_iter(text.as_bytes(), CLOSE).peekable();
    // The end of the first `-->` at or after a byte; called with ascending offsets.
    let mut close = |from: usize| {
        while closings.next_if(|start| *start < from).is_some() {}
        closings.peek().map(|start| start + CLOSE.len())
    };
    let offset = |rest: &str| text.len() - rest.len();
    for start in memmem::find_iter(text.as_bytes(), OPEN) {
        if start < json_end {
            continue;
        }
        let body = text[start + OPEN.len()..].trim_start();
        if let Some(json) = body.strip_prefix("QUESTION:") {
            let mut stream = serde_json::Deserializer::from_str(json).into_iter::<Value>();
            let value = match stream.next() {
                Some(value) => value.map_err(|error| error.to_string()),
                None => Err("it is empty".to_owned()),
            };
            let after = &json[value.as_ref().map_or(0, |_| stream.byte_offset())..];
            if value.is_ok() {
                json_end = offset(after);
            }
            if limit <= offset(after) {
                limit = malformed_end(text, offset(after));
            }
            let closed = after.trim_start().starts_with(CLOSE);
            let end = close(offset(after)).filter(|end| closed || *end <= limit);
            let value = match value {
                Ok(_) if !closed => Err("its JSON is not followed by `-->`".to_owned()),
                value => value,
            };
            markers.push((start..end.unwrap_or(start), Marker::Questions(value)));
        } else if let Some(rest) = body.strip_prefix("FINISHED") {
            if let Some(rest) = rest.trim_start().strip_prefix(CLOSE) {
                markers.push((start..offset(rest), Marker::Finished));
            }
        } else if let Some(rest) = body.strip_prefix("GOTO:")
            && let Some(end) = close(offset(rest))
            && let step = text[offset(rest)..end - CLOSE.len()].trim()
            && is_step(step)
        {
            markers.push((start..end, Marker::Goto(step)));
        }
    }
    remove_quoted(text, &mut markers);
    markers
}

/// Returns the latest end of a malformed marker that begins before byte `from`: the end of its
/// line, or of the lines of JSON that follow. Later text is the author's, whether or not it
/// contains a `-->`.
fn malformed_end(text: &str, from: usize) -> usize {
    let is_json = |line: &str| {
        let line = line.trim_start();
        line.starts_with(['{', '}', '[', ']', '"']) || line.starts_with(CLOSE)
    };
    let mut lines = text[from..].split_inclusive('\n');
    let first = lines.next().map_or(0, str::len);
    let json = lines.take_while(|line| is_json(line)).map(str::len);
    from + first + json.sum::<usize>()
}

/// Removes the markers that are quoted: in code spans, in the code blocks of a plan, and in any
/// code block if the text in place of the JSON does not begin like JSON.
fn remove_quoted(text: &str, markers: &mut Vec<(Range<usize>, Marker<'_>)>) {
    if markers.is_empty() {
        return;
    }
    let starts: Vec<usize> = markers.iter().map(|(span, _)| span.start).collect();
    let mut in_code = markdown::in_code(text, &starts).into_iter();
    let is_plan = text
        .lines()
        .any(|line| line.trim_start().starts_with("# Plan:"));
    // A marker in code after a backtick on its line is in a code span.
    let (mut scanned, mut in_span) = (0, false);
    markers.retain_mut(|(span, marker)| {
        for byte in text[scanned..span.start].bytes() {
            in_span = byte == b'`' || in_span && byte != b'\n';
        }
        scanned = span.start;
        if !in_code.next().unwrap_or_default() {
            return true;
        }
        let begins_like_json = || {
            let line = text[span.start..].lines().next().unwrap_or_default();
            let after_colon = line.find(':').map_or(line.len(), |colon| colon + 1);
            let json = text[span.start + after_colon..].trim_start();
            json.starts_with(['{', '['])
        };
        let is_readable = !matches!(marker, Marker::Questions(Err(_)));
        if !in_span && !is_plan && (is_readable || begins_like_json()) {
            return true;
        }
        if is_plan || is_readable {
            return false;
        }
        *marker = Marker::Quoted;
        span.end = span.start;
        true
    });
}

/// Whether `name` is a step: a letter, a digit or `_`, then any of these, white space and `-`.
fn is_step(name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_rest = |c: char| is_word(c) || c == '-' || c.is_whitespace() && c != '\n';
    name.starts_with(is_word) && name.chars().all(is_rest)
}

/// Returns `text` on one line in quotation marks, truncated to [`MAX_QUOTED_CHARS`].
pub(super) fn quoted(text: &str) -> String {
    format!("“{}”", truncate_chars(&one_line(text), MAX_QUOTED_CHARS))
}

/// Returns `text` on one line, with runs of white space as one space and without invisible
/// characters.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<String> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .map(|word| word.chars().filter(|c| !is_hidden(*c)).collect::<String>())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Returns the non-blank lines of `text`, each as by [`one_line`].
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
