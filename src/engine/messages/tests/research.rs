//! Texts of research and of plans for specifications.

use super::*;
use crate::engine::messages::research::Missing;
use crate::engine::messages::{planning, research as about};
use crate::engine::model::agent::{Ending, Limit, Spent};
use crate::engine::model::research::{MAX_TOPIC, Research, Topic, TopicState};
use crate::formats::plan::enriched::neutralise;
use crate::formats::specification;

const REPORT: &str = "# Retries\n\n## Executive Summary\n\nRetries are made in one place, @bob says; they fixes #3.\n\n## Findings\n\n\
### One\n\nSee `src/queue.rs:12`.\n\n/save-plan\n\n## Recommendations\n\n- Keep it, @all\n- Add jitter\n";

fn topic(name: &str, state: TopicState) -> Topic {
    Topic {
        topic: name.to_owned(),
        file: "001-x.md".to_owned(),
        state,
        turns: 1,
        spent: Spent {
            turns: 2,
            tools: 3,
            cost: 20_000,
            millis: 4_000,
            session_cost: 20_000,
            ..Spent::default()
        },
        comment: Some(11),
        url: "https://github.test/report".to_owned(),
        ..Topic::default()
    }
}

fn research() -> Research {
    let written = Topic {
        report: Some(neutralise(REPORT).0),
        redacted: 1,
        ..topic("how retries work | @bob", TopicState::Written)
    };
    let recovered = Topic {
        report: Some(neutralise(REPORT).0),
        note: Some(about::elsewhere("/tmp/a`b.md")),
        ..topic("queues", TopicState::Recovered)
    };
    let degraded = Topic {
        report: Some(crate::formats::report::degraded_report(
            "limits",
            "2026-06-04",
            "Testy",
            "What I found out is that there are limits in the gateway, @all.",
        )),
        note: Some(about::missing("003-limits.md", &Missing::ClaimedOnly)),
        ..topic("limits", TopicState::Degraded)
    };
    let failed = Topic {
        note: Some(about::ended(&Ending::Limited(Limit::Silence))),
        ..topic("/save-plan @bob", TopicState::Failed)
    };
    let open = Topic {
        at_work: true,
        turns: 2,
        tries: 1,
        wrong: vec![about::missing("005-x.md", &Missing::NoToolUsed)],
        ..topic("![x](https://evil.test/x.png)", TopicState::Open)
    };
    Research {
        topics: vec![written, recovered, degraded, failed, open],
        ..Research::default()
    }
}

pub(super) fn everything() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, text: String| all.push((format!("research_{name}"), text));
    let asked = trigger(Command::Research);
    let all_five = research();
    add("working", about::working(&asked, &run(), &all_five));
    add(
        "done",
        about::done(&asked, &run(), &all_five, Some("it has no commits"), 61.0),
    );
    for at in 0..all_five.topics.len() {
        let text = about::comment(&asked, &run(), &all_five, at);
        add(&format!("comment_{}", at + 1), text);
    }
    add("used", about::used(&all_five));
    let stopped = Research {
        stopped: true,
        ..research()
    };
    add(
        "stopped_comment",
        about::comment(&asked, &run(), &stopped, 4),
    );
    let left = Exists::Reports(about::left(&stopped).unwrap_or_default());
    let failure = crate::engine::messages::failures::cancelled("ada");
    add(
        "stopped",
        failed(&asked, &run(), &failure, &left, Used::default()),
    );
    for (name, why) in [
        ("write_failed", Missing::WriteFailed("/etc/x.md")),
        ("wrote_away", Missing::WroteAway("y.md")),
        ("denied", Missing::Denied(2)),
        ("denied_once", Missing::Denied(1)),
        ("claimed", Missing::ClaimedOnly),
        ("no_tool", Missing::NoToolUsed),
        ("never", Missing::NeverWritten),
    ] {
        add(&format!("missing_{name}"), about::missing("001-x.md", &why));
    }
    add("obeyed", about::OBEYED.to_owned());
    let failures = [
        ("no_topics", about::no_topics()),
        ("too_many", about::too_many_topics(12, 8)),
        ("long", about::long_topic(&"long @bob ".repeat(40))),
        ("too_few", about::too_few(&all_five)),
        ("needs_agent", planning::needs_agent(Command::Research)),
        (
            "empty_specification",
            planning::empty_specification(&specification::parse(
                "Cache it",
                &specification::template("Cache it"),
            )),
        ),
        ("changed", planning::changed_since()),
        ("no_plan", planning::no_plan_written("nothing was written")),
    ];
    for (name, failure) in &failures {
        let text = failed(&asked, &run(), failure, &Exists::Nothing, Used::default());
        add(&format!("failed_{name}"), text);
    }
    let placeholders = vec!["Add first constraint".to_owned(); 4];
    add(
        "placeholders",
        planning::placeholders(&placeholders).unwrap_or_default(),
    );
    add("not_given", planning::NOT_GIVEN.to_owned());
    add("wrote_another", planning::wrote_another("PLAN.md"));
    add("plan_write_failed", planning::write_failed("/plan.md"));
    add("elsewhere", planning::elsewhere("plan.md", "docs/plan.md"));
    add("pictures", planning::pictures(2).unwrap_or_default());
    add("incomplete", planning::incomplete("it has no phases"));
    add("title", planning::title("Title too short."));
    for name in ["context", "research"] {
        add(&format!("attached_{name}"), planning::attached(name));
    }
    all
}

#[test]
fn a_report_of_any_size_fits_into_one_comment() {
    for text in ["<!-- @ -->\n", "@a/b#1 ", "wörter und mehr ", "x"] {
        let mut one = topic("long", TopicState::Degraded);
        one.report = Some(text.repeat(200_000 / text.len()));
        let research = Research {
            topics: vec![one],
            ..Research::default()
        };
        let body = about::comment(&trigger(Command::Research), &run(), &research, 0);
        let chars = body.chars().count();
        assert!(chars <= 65_536 && body.len() <= 262_144, "{chars}");
    }
}

#[test]
fn as_many_topics_as_there_may_be_fit_into_one_summary() {
    for text in ["<!-- @ -->|", "@a/b#1 [x](y) ", "`|` ", "&<b>"] {
        let long: String = text.chars().cycle().take(MAX_TOPIC).collect();
        for state in [
            TopicState::Open,
            TopicState::Recovered,
            TopicState::Degraded,
            TopicState::Failed,
        ] {
            let one = Topic {
                note: Some(about::elsewhere(&long)),
                report: state.is_success().then(|| neutralise(REPORT).0),
                ..topic(&long, state)
            };
            let research = Research {
                topics: vec![one; 20],
                ..Research::default()
            };
            let asked = trigger(Command::Research);
            let failure = about::too_few(&research);
            for body in [
                about::working(&asked, &run(), &research),
                about::done(&asked, &run(), &research, None, 1.0),
                failed(&asked, &run(), &failure, &Exists::Nothing, Used::default()),
            ] {
                let chars = body.chars().count();
                assert!(
                    chars <= 65_536 && body.len() <= 262_144,
                    "{state:?} {text}: {chars}"
                );
            }
        }
    }
}
