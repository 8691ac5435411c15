//! Texts about research: the summary that is edited in place, a comment for each report, and
//! failures.

mod failures;

use serde_json::{Map, Value, json};

pub use failures::{long_topic, no_topics, too_few, too_many_topics};

use super::failures::{public, shorten};
use super::{RESULT_BLOCK, agent, asked, code_span, footer, one_line, person};
use crate::engine::model::agent::{Ending, Limit};
use crate::engine::model::research::{Research, Topic, TopicState, WORDINGS};
use crate::engine::model::run::RunId;
use crate::engine::model::trigger::Trigger;
use crate::formats::block::{quiet, render_content, render_yaml};
use crate::formats::question::boxes::shown;
use crate::formats::report::{self, Reduction};
use crate::formats::text::truncate_chars;

/// The key of the block that contains a report.
pub const REPORT_BLOCK: &str = "planwright-report";

/// Maximum size of a report in a comment, in characters and in bytes. Reports have at most 50,000
/// characters, but escaping makes them longer.
const MAX_REPORT: (usize, usize) = (60_000, 250_000);

/// The reason why nothing of a topic's result is used.
pub const OBEYED: &str = "The agent followed an instruction in its input, so its output was \
                          discarded. Look for text here or in the repository's documents that \
                          addresses agents.";

/// The reason why a report's file does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing<'a> {
    /// The write to this path failed.
    WriteFailed(&'a str),
    /// The agent wrote to this path, but there is no usable report.
    WroteAway(&'a str),
    /// This number of tool calls was denied.
    Denied(u32),
    /// The agent claimed to have written the file.
    ClaimedOnly,
    /// The agent used no tools.
    NoToolUsed,
    /// The agent used tools, but not to write a file.
    NeverWritten,
}

/// Returns the complaint that the report does not exist, for the agent and for people.
pub fn missing(file: &str, why: &Missing<'_>) -> String {
    let path = |path: &str| code_span(&shorten(public(path), 200));
    let why = match why {
        Missing::WriteFailed(other) => format!("writing {} failed", path(other)),
        Missing::WroteAway(other) => {
            format!(
                "the file written to {} does not exist or is not a report",
                path(other)
            )
        }
        Missing::Denied(1) => "a tool call was refused".to_owned(),
        Missing::Denied(count) => format!("{count} tool calls were refused"),
        Missing::ClaimedOnly => "it was claimed to be written, and was not".to_owned(),
        Missing::NoToolUsed => "no tool was used at all".to_owned(),
        Missing::NeverWritten => "it was never written".to_owned(),
    };
    format!("The file `{file}` does not exist: {why}.")
}

/// Returns a note that the report was found at an unexpected path.
pub fn elsewhere(path: &str) -> String {
    format!(
        "Recovered: the agent wrote it to {} instead of the requested path.",
        code_span(&shorten(public(path), 200))
    )
}

/// Returns why a topic gets no report, from the ending of its last turn.
pub fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Limited(Limit::Silence) => {
            "The agent stopped producing output in every attempt.".to_owned()
        }
        ending => agent::ended(ending).1,
    }
}

/// Returns the state of a topic in a few words, with an emoji.
fn state(research: &Research, topic: &Topic) -> String {
    match topic.state {
        TopicState::Open if research.stopped => "⏹️ not done: the run ended first".to_owned(),
        TopicState::Open if topic.at_work && topic.turns > 1 => {
            let try_ = (topic.tries + 1).min(WORDINGS);
            format!("🔎 being researched (try {try_})")
        }
        TopicState::Open if topic.at_work => "🔎 being researched".to_owned(),
        TopicState::Open if topic.not_before.is_some() => "⏳ waiting after an error".to_owned(),
        TopicState::Open if topic.turns > 0 => "⏳ retrying".to_owned(),
        TopicState::Open => "⏳ not started".to_owned(),
        TopicState::Written => "✅ written".to_owned(),
        TopicState::Recovered => "✅ written, recovered".to_owned(),
        TopicState::Degraded => {
            "⚠️ degraded: no report; assembled from the agent's output".to_owned()
        }
        TopicState::Failed => "❌ failed".to_owned(),
    }
}

/// Returns a table of the topics and their states, in the order of the command.
pub fn table(research: &Research) -> String {
    let mut text = String::from("| # | Topic | State | Report |\n|---|---|---|---|\n");
    for (at, topic) in research.topics.iter().enumerate() {
        let link = match (&topic.report, topic.url.as_str()) {
            (_, "") => String::new(),
            (Some(report), url) => format!("[{} bytes]({url})", report.len()),
            (None, url) => format!("[comment]({url})"),
        };
        text.push_str(&format!(
            "| {} | {} | {} | {link} |\n",
            at + 1,
            cell(&topic.topic),
            state(research, topic)
        ));
    }
    text
}

/// Formats text of other people for a table cell.
fn cell(text: &str) -> String {
    quiet(&shown(&one_line(text)))
}

/// Returns the status of running research, with the table of topics.
pub fn working(trigger: &Trigger, run: &RunId, research: &Research) -> String {
    let done = research
        .topics
        .iter()
        .filter(|topic| topic.state != TopicState::Open)
        .count();
    format!(
        "👀 Working on {} for {}: topics done: {done} of {}.\n\n{}\n{}",
        asked(trigger),
        person(trigger),
        research.topics.len(),
        table(research),
        footer(run)
    )
}

/// Returns the final status of research. `unseen`: why the agents did not see the repository.
pub fn done(
    trigger: &Trigger,
    run: &RunId,
    research: &Research,
    unseen: Option<&str>,
    seconds: f64,
) -> String {
    let tally = research.tally();
    let mut text = format!("✅ Research finished: {tally}.\n\n{}\n", table(research));
    for (at, topic) in research.topics.iter().enumerate() {
        let Some(note) = &topic.note else { continue };
        let kind = if topic.state.is_success() {
            "NOTE"
        } else {
            "WARNING"
        };
        text.push_str(&format!(
            "> [!{kind}]\n> Topic {}: {}\n\n",
            at + 1,
            quiet(note).replace('\n', "\n> ")
        ));
    }
    if let Some(why) = unseen {
        let note = quiet(&super::repository::unseen(why));
        text.push_str(&format!("> [!NOTE]\n> {note}\n\n"));
    }
    text.push_str(&format!("{}\n\n", reduced(research)));
    text.push_str("**Next step:** comment `/plan` here for a plan based on these reports.");
    if tally.ok < tally.expected {
        text.push_str(" Use `/research` again for a topic without a report.");
    }
    text.push_str("\n\n");
    let mut fields = Map::new();
    let status = if tally.ok == tally.expected {
        "succeeded"
    } else {
        "partial"
    };
    fields.insert("status".into(), json!(status));
    fields.insert("run".into(), json!(run.0));
    fields.insert("command".into(), json!(trigger.command.name()));
    let comments: Vec<Option<u64>> = research.topics.iter().map(|topic| topic.comment).collect();
    fields.insert("reports".into(), Value::from(comments));
    let words: Vec<&str> = research.topics.iter().map(|topic| word(topic)).collect();
    fields.insert("states".into(), json!(words));
    text.push_str(&render_yaml(RESULT_BLOCK, &fields));
    let used = agent::spent(&research.spent());
    let used = if used.is_empty() {
        used
    } else {
        format!(" · agents: {used}")
    };
    text.push_str(&format!(
        "\n\n<sub>planwright · run `{run}` · {seconds:.1} s{used}</sub>"
    ));
    text
}

/// Returns the state of a topic for programs.
fn word(topic: &Topic) -> &'static str {
    match topic.state {
        TopicState::Open => "open",
        TopicState::Written => "written",
        TopicState::Recovered => "recovered",
        TopicState::Degraded => "degraded",
        TopicState::Failed => "failed",
    }
}

/// Returns the part of a report that the planner is given: its digest, or the whole report if that
/// is not longer.
pub fn digest_of(file: &str, text: &str, metadata: &report::ReportMetadata) -> String {
    let short = report::render_digest(file, metadata);
    if Reduction::of(text, &short).keeps_full() {
        return format!("Path: {file}\n\n{text}");
    }
    short
}

/// Returns how much of the reports the planner is given at first.
pub fn reduced(research: &Research) -> String {
    let (mut full, mut short) = (String::new(), String::new());
    for topic in &research.topics {
        if let Some(report) = &topic.report {
            let metadata = report::metadata(report);
            full.push_str(report);
            short.push_str(&digest_of(&topic.file, report, &metadata));
        }
    }
    let reduction = Reduction::of(&full, &short);
    if reduction.percent() <= 0 {
        return format!(
            "**For a planner:** the reports are short ({} bytes), so it is given all of them.",
            reduction.full_bytes
        );
    }
    format!(
        "**For a planner:** it is given {} of {} bytes at first (an estimated {} of {} tokens, {} \
         % less), and opens the full reports when needed.",
        reduction.kept_bytes,
        reduction.full_bytes,
        reduction.kept_tokens,
        reduction.full_tokens,
        reduction.percent()
    )
}

/// Returns a note in a plan that was written with research.
pub fn used(research: &Research) -> String {
    let tally = research.tally();
    let links = links(research);
    format!("Written with research: {tally}{links}.")
}

/// Describes the reports of a run that ended early; `None` if there are none.
pub fn left(research: &Research) -> Option<String> {
    let tally = research.tally();
    let links = links(research);
    (!links.is_empty()).then(|| format!("{tally}{links}"))
}

/// Returns links to the reports after a colon; empty if there are none.
fn links(research: &Research) -> String {
    let links: Vec<String> = research
        .topics
        .iter()
        .enumerate()
        .filter(|(_, topic)| topic.report.is_some() && !topic.url.is_empty())
        .map(|(at, topic)| {
            let mark = if topic.state == TopicState::Degraded {
                ", degraded"
            } else {
                ""
            };
            format!("[{}]({}){mark}", at + 1, topic.url)
        })
        .collect();
    if links.is_empty() {
        return String::new();
    }
    format!(": {}", links.join(", "))
}

/// Returns the comment for one topic.
pub fn comment(trigger: &Trigger, run: &RunId, research: &Research, at: usize) -> String {
    let Some(topic) = research.topics.get(at) else {
        return String::new();
    };
    let mut text = format!(
        "### Research {} of {}: {}\n\n{}, for {}.\n\n",
        at + 1,
        research.topics.len(),
        quiet(&shown(&one_line(&topic.topic))),
        state(research, topic),
        person(trigger)
    );
    if let Some(note) = &topic.note {
        let kind = if topic.state.is_success() {
            "NOTE"
        } else {
            "WARNING"
        };
        text.push_str(&format!(
            "> [!{kind}]\n> {}\n\n",
            quiet(note).replace('\n', "\n> ")
        ));
    } else if topic.state == TopicState::Open && !topic.wrong.is_empty() {
        text.push_str(&format!(
            "Last attempt: {}\n\n",
            quiet(&shorten(&topic.wrong.join("; "), 500))
        ));
    }
    if topic.redacted > 0
        && let Some(note) = agent::redacted(topic.redacted)
    {
        text.push_str(&format!("> [!NOTE]\n> {note}\n\n"));
    }
    if let Some(report) = &topic.report {
        text.push_str(&summary(report));
        if let Some(files) = &topic.files {
            text.push_str(&format!("**Files:** {files}\n\n"));
        }
        text.push_str(&framed(report));
    }
    text.push_str(&format!("\n\n{}", footer(run)));
    text
}

/// Returns the summary and the recommendations of a report.
fn summary(report: &str) -> String {
    let metadata = report::metadata(report);
    let mut text = String::new();
    if !metadata.summary.is_empty() {
        text.push_str(&format!("{}\n\n", quiet(&shown(&metadata.summary))));
    }
    for recommendation in &metadata.recommendations {
        text.push_str(&format!("- {}\n", quiet(&shown(recommendation))));
    }
    if !metadata.recommendations.is_empty() {
        text.push('\n');
    }
    text
}

/// Returns the report in its block, truncated if too long. Reports of agents are shorter, but a
/// degraded report may need truncation.
fn framed(report: &str) -> String {
    let bytes = report.len();
    let title = format!("<strong>Full report</strong> ({bytes} bytes)");
    let mut most = MAX_REPORT.0;
    loop {
        let mut text = truncate_chars(report, most);
        if text.len() < report.len() {
            text.push_str("\n\n(The rest does not fit here.)\n");
        }
        let block = render_content(REPORT_BLOCK, &title, &text, false);
        if (block.len() <= MAX_REPORT.1 && block.chars().count() <= MAX_REPORT.0) || most < 1_000 {
            return block;
        }
        most = most * 4 / 5;
    }
}
