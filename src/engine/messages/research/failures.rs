//! Failures of research.

use crate::engine::messages::agent;
use crate::engine::messages::failures::shorten;
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::research::{MAX_TOPIC, Research, TopicState};
use crate::formats::question::boxes::shown;

/// Returns the failure if there are no topics.
pub fn no_topics() -> Failure {
    Failure {
        code: Code::InvalidInput,
        message: "There is no topic to research.".to_owned(),
        details: Vec::new(),
        remedy:
            "Write topics after the command, separated by `;` or one per line: `/research how retries work; which queue fits`."
                .to_owned(),
    }
}

/// Returns the failure if there are too many topics.
pub fn too_many_topics(found: usize, most: usize) -> Failure {
    Failure {
        code: Code::InvalidInput,
        message: format!("{found} topics were given; one run is limited to {most}."),
        details: vec![
            "Topics are separated by `;` and by line breaks: a text of several lines is several topics"
                .to_owned(),
        ],
        remedy: format!(
            "Combine topics or split them across several commands; the operator can raise `research.max_topics` (now {most})."
        ),
    }
}

/// Returns the failure if a topic is too long.
pub fn long_topic(topic: &str) -> Failure {
    Failure {
        code: Code::InvalidInput,
        message: format!(
            "A topic is longer than {MAX_TOPIC} characters: {}.",
            shown(&shorten(topic, 80))
        ),
        details: Vec::new(),
        remedy: "Say in one sentence what to find out; background belongs in the issue.".to_owned(),
    }
}

/// Returns the failure if too few topics have a report.
pub fn too_few(research: &Research) -> Failure {
    let tally = research.tally();
    let mut details: Vec<String> = research
        .topics
        .iter()
        .enumerate()
        .filter(|(_, topic)| !topic.state.is_success())
        .map(|(at, topic)| {
            let note = topic.note.clone().unwrap_or_default();
            let what = match topic.state {
                TopicState::Degraded => "degraded",
                _ => "failed",
            };
            format!(
                "Topic {} ({}): {what}. {}",
                at + 1,
                shown(&shorten(&topic.topic, 60)),
                shorten(&note, 300)
            )
        })
        .collect();
    let used = agent::spent(&research.spent());
    if !used.is_empty() {
        details.push(format!("Used: {used}"));
    }
    Failure {
        code: Code::AgentFailed,
        message: format!("{tally}; the minimum is {}.", tally.needed()),
        details,
        remedy: "Comment `/retry` here to repeat the missing topics; existing reports are kept."
            .to_owned(),
    }
}
