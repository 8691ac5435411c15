//! Evaluates the result of one try: only text that actually exists counts, not what the agent
//! claims to have done.

use crate::engine::messages::research as sentences;
use crate::engine::model::agent::{Ending, Limit, Report, Wrote};
use crate::engine::model::research::{Topic, TopicState};
use crate::engine::model::time::Millis;
use crate::engine::planner;
use crate::engine::settings::ResearchSettings;
use crate::formats::agent_stream::{ErrorClass, classify};
use crate::formats::plan::enriched;
use crate::formats::report;

/// A candidate for the report, with the problems found in it.
struct Text {
    text: String,
    complaints: Vec<report::DocumentProblem>,
}

/// The inputs for judging a try.
pub(super) struct Judging {
    /// The canary of the prompt. An agent that writes it follows instructions in the data.
    pub(super) canary: String,
    /// The limits on tries and the backoff.
    pub(super) settings: ResearchSettings,
    /// The current time.
    pub(super) now: Millis,
    /// A random number between 0 and 1 that determines the jitter of the backoff.
    pub(super) chance: f64,
    /// The name of the agent, for a document that replaces a missing report.
    pub(super) agent: String,
}

impl Judging {
    /// Returns the topic updated with the result of a try.
    pub(super) fn judge(&self, mut topic: Topic, result: &Report) -> Topic {
        topic.at_work = false;
        topic.reserved = 0;
        topic.spent.add(&result.spent);
        topic.redacted = topic.redacted.saturating_add(result.redacted);
        if matches!(result.ending, Ending::Cancelled) {
            // The run was stopped, not the topic: this try is repeated when the run continues.
            return topic;
        }
        if planner::obeyed(&self.canary, result, &[]) {
            // Use nothing of the result, because it may have been written by the author of the
            // injected text.
            topic.draft = None;
            fail(&mut topic, sentences::OBEYED.to_owned());
            return topic;
        }
        let finished = matches!(result.ending, Ending::Success { .. } | Ending::NoResult);
        if finished && accept_if_found(&mut topic, result) {
            return topic;
        }
        keep_draft(&mut topic, result);
        match class(&result.ending) {
            ErrorClass::Transient => {
                topic.faults += 1;
                clear(&mut topic);
                if topic.faults < self.settings.faults {
                    let wait = self.settings.wait(topic.faults, self.chance);
                    topic.not_before = Some(self.now.plus(wait));
                } else {
                    self.finish_without_report(&mut topic, sentences::ended(&result.ending));
                }
            }
            ErrorClass::Fatal | ErrorClass::SessionExpired if !finished => {
                self.finish_without_report(&mut topic, sentences::ended(&result.ending));
            }
            _ => {
                topic.tries += 1;
                topic.not_before = None;
                if !finished {
                    set_complaint(&mut topic, sentences::ended(&result.ending));
                }
                if topic.tries
                    >= self
                        .settings
                        .tries
                        .clamp(1, crate::engine::model::research::WORDINGS)
                {
                    let why = topic.wrong.join("; ");
                    self.finish_without_report(&mut topic, why);
                }
            }
        }
        topic
    }

    /// Finishes a topic that gets no report. The agent's text replaces the report if it is long
    /// enough; otherwise the topic fails.
    fn finish_without_report(&self, topic: &mut Topic, why: String) {
        const MIN_CHARS: usize = 40;
        let draft = topic.draft.take().unwrap_or_default();
        let (draft, _) = enriched::neutralise(&draft);
        if draft.chars().count() < MIN_CHARS {
            fail(topic, why);
            return;
        }
        let date = self.now.iso();
        let date = date.get(..10).unwrap_or(&date);
        topic.report = Some(report::degraded_report(
            &topic.topic,
            date,
            &self.agent,
            &draft,
        ));
        topic.state = TopicState::Degraded;
        topic.note = Some(why);
        topic.not_before = None;
    }
}

/// Looks for the report in all places where it may be, and accepts it. Returns whether it was found;
/// if not, the topic's complaints describe the problems.
fn accept_if_found(topic: &mut Topic, result: &Report) -> bool {
    let own = result.files.iter().find(|file| file.path == topic.file);
    if let Some(file) = own {
        let found = checked(&file.text);
        if found.complaints.is_empty() {
            accept(topic, TopicState::Written, found.text, None);
            return true;
        }
        topic.draft = longer(topic.draft.take(), &found.text);
        topic.complaints = found.complaints.iter().map(ToString::to_string).collect();
        topic.wrong = found
            .complaints
            .iter()
            .map(report::DocumentProblem::description)
            .collect();
    }
    // A text far above the size limit cannot be a report, so it is not parsed.
    let may_be = |text: &str| text.len() <= 8 * report::MAX_REPORT_CHARS;
    let elsewhere = result
        .files
        .iter()
        .filter(|file| file.path != topic.file && may_be(&file.text));
    for file in elsewhere {
        let found = checked(&file.text);
        if found.complaints.is_empty() {
            let note = sentences::elsewhere(&file.path);
            accept(topic, TopicState::Recovered, found.text, Some(note));
            return true;
        }
        topic.draft = longer(topic.draft.take(), &found.text);
    }
    for Wrote { path, text, ok } in result.wrote.iter().rev() {
        if *ok != Some(true) || !may_be(text) {
            continue;
        }
        let found = checked(text);
        if found.complaints.is_empty() {
            let note = sentences::elsewhere(path);
            accept(topic, TopicState::Recovered, found.text, Some(note));
            return true;
        }
    }
    if own.is_none() {
        let why = missing(topic, result);
        set_complaint(topic, why);
    }
    false
}

fn checked(text: &str) -> Text {
    let (text, _) = enriched::neutralise(report::unwrap_document(text));
    Text {
        complaints: report::check_report(&text),
        text,
    }
}

/// Records one sentence about why the last try failed, for the agent and for people.
fn set_complaint(topic: &mut Topic, why: String) {
    topic.wrong = vec![why.clone()];
    topic.complaints = vec![why];
}

fn clear(topic: &mut Topic) {
    topic.complaints.clear();
    topic.wrong.clear();
}

fn accept(topic: &mut Topic, state: TopicState, text: String, note: Option<String>) {
    topic.state = state;
    topic.report = Some(text);
    topic.note = note;
    clear(topic);
    topic.not_before = None;
    topic.draft = None;
}

/// Returns the most likely reason why the file does not exist.
fn missing(topic: &Topic, result: &Report) -> String {
    let denials = match &result.ending {
        Ending::Success { denials, .. } => *denials,
        _ => 0,
    };
    let claimed = result
        .texts
        .iter()
        .any(|text| text.contains("REPORT_CREATED"));
    let tried: Vec<&Wrote> = result.wrote.iter().collect();
    let why = match tried.last() {
        Some(wrote) if wrote.ok == Some(false) => sentences::Missing::WriteFailed(&wrote.path),
        Some(wrote) => sentences::Missing::WroteAway(&wrote.path),
        None if denials > 0 => sentences::Missing::Denied(denials),
        None if claimed => sentences::Missing::ClaimedOnly,
        None if result.spent.tools == 0 => sentences::Missing::NoToolUsed,
        None => sentences::Missing::NeverWritten,
    };
    sentences::missing(&topic.file, &why)
}

/// Keeps the longest text found so far as a draft, for the case that no report is written.
fn keep_draft(topic: &mut Topic, result: &Report) {
    let files = result.files.iter().map(|file| file.text.as_str());
    // The final text, or all texts if the turn was cut short.
    let said = match &result.ending {
        Ending::Success { text, .. } => text.clone(),
        _ => result.texts.join("\n\n"),
    };
    let mut draft = topic.draft.take();
    for text in files.chain([said.as_str()]) {
        draft = longer(draft, text);
    }
    topic.draft = draft;
}

/// Returns the longer of both texts, truncated to the maximum size of a report.
fn longer(known: Option<String>, text: &str) -> Option<String> {
    let text = text.trim();
    let end = text
        .char_indices()
        .nth(report::MAX_REPORT_CHARS)
        .map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    match known {
        Some(known) if known.len() >= text.len() => Some(known),
        known if text.is_empty() => known,
        _ => Some(text.to_owned()),
    }
}

fn fail(topic: &mut Topic, why: String) {
    topic.state = TopicState::Failed;
    topic.report = None;
    topic.note = Some(why);
    topic.not_before = None;
}

/// Classifies how a turn ended: whether repeating it unchanged can help.
fn class(ending: &Ending) -> ErrorClass {
    match ending {
        Ending::AgentError {
            message, status, ..
        } => classify(message, *status),
        // In one report, two of twelve agents hung when several ran in parallel
        // (anthropics/claude-code#39700).
        Ending::Limited(Limit::Silence) | Ending::ProcessError { .. } => ErrorClass::Transient,
        _ => ErrorClass::Fatal,
    }
}
