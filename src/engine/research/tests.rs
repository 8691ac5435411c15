//! Tests of topics, of what is done next, and of the waits.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::engine::model::research::{Next, Research, TopicState};
use crate::engine::model::time::Millis;
use crate::engine::settings::{Backoff, ResearchSettings};
use std::time::Duration;

fn research(states: &[TopicState]) -> Research {
    let topics: Vec<String> = (1..=states.len()).map(|n| format!("topic {n}")).collect();
    let mut research = Research::on(&topics);
    for (topic, state) in research.topics.iter_mut().zip(states) {
        topic.state = *state;
    }
    research
}

#[test]
fn topics_are_divided_by_semicolons_and_lines_and_come_once() {
    for (text, want) in [
        ("", &[][..]),
        (" ; \n; - \n 1. ", &[]),
        ("one", &["one"]),
        ("one; two ;\tthree", &["one", "two", "three"]),
        (
            "- one\n* two\n+ three\n• four",
            &["one", "two", "three", "four"],
        ),
        ("1. one\n2) two\n10. ten", &["one", "two", "ten"]),
        ("one; ONE; One ", &["one"]),
        (
            "-x flag; 3.5 seconds; 1984.",
            &["-x flag", "3.5 seconds", "1984."],
        ),
        ("how   do\tretries work", &["how do retries work"]),
        ("日本語; ñandú", &["日本語", "ñandú"]),
    ] {
        assert_eq!(topics(text), want, "{text:?}");
    }
}

#[test]
fn files_have_names_of_ours_in_the_order_asked_for() {
    let topics = ["../../etc/passwd", "Ünïcode", "x".repeat(200).as_str()].map(str::to_owned);
    let research = Research::on(&topics);
    for (at, topic) in research.topics.iter().enumerate() {
        let name = &topic.file;
        assert!(name.starts_with(&format!("{:03}-", at + 1)), "{name}");
        assert!(
            name.strip_suffix(".md").is_some() && name.len() <= 64,
            "{name}"
        );
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        assert!(name.chars().all(plain) && !name.contains(".."), "{name}");
    }
}

#[test]
fn first_tries_come_together_and_retries_alone() {
    let now = Millis(1_000);
    let mut research = research(&[TopicState::Open; 4]);
    assert_eq!(research.next(now), Next::Begin(vec![0, 1, 2, 3]));
    research.topics[0].tries = 1;
    research.topics[1].not_before = Some(Millis(5_000));
    research.topics[2].state = TopicState::Written;
    assert_eq!(research.next(now), Next::Begin(vec![3]));
    research.topics[3].tries = 2;
    assert_eq!(research.next(now), Next::Begin(vec![0]));
    research.topics[0].state = TopicState::Degraded;
    assert_eq!(research.next(now), Next::Begin(vec![3]));
    research.topics[3].state = TopicState::Failed;
    assert_eq!(research.next(now), Next::Wait(Millis(5_000)));
    assert_eq!(research.next(Millis(5_000)), Next::Begin(vec![1]));
    research.topics[1].state = TopicState::Recovered;
    assert_eq!(research.next(now), Next::Done);
}

#[test]
fn only_reports_of_agents_are_a_success() {
    use TopicState::{Degraded, Failed, Recovered, Written};
    for (states, passes) in [
        (&[Written][..], true),
        (&[Degraded], false),
        (&[Failed], false),
        (&[Written, Failed], true),
        (&[Recovered, Degraded, Failed], false),
        (&[Written, Recovered, Degraded], true),
        (&[Degraded, Degraded], false),
        (&[], false),
    ] {
        assert_eq!(research(states).tally().passes(), passes, "{states:?}");
    }
}

#[test]
fn what_is_done_again_keeps_its_comment_and_its_costs() {
    let mut research = research(&[
        TopicState::Written,
        TopicState::Degraded,
        TopicState::Failed,
    ]);
    for topic in &mut research.topics {
        topic.comment = Some(7);
        topic.turns = 3;
        topic.tries = 3;
        topic.report = Some("text".to_owned());
        topic.note = Some("why".to_owned());
        topic.spent.cost = 5;
    }
    let before = research.clone();
    research.again();
    assert_eq!(research.topics[0], before.topics[0]);
    for at in [1, 2] {
        let topic = &research.topics[at];
        assert_eq!((topic.state, topic.tries), (TopicState::Open, 0));
        assert_eq!((topic.report.as_ref(), topic.note.as_ref()), (None, None));
        assert_eq!(topic.file, before.topics[at].file);
        // Turns are counted on: their number names them in the budget.
        assert_eq!(
            (topic.comment, topic.turns, topic.spent.cost),
            (Some(7), 3, 5)
        );
    }
    assert_eq!(research.spent().cost, 15);
}

#[test]
fn waits_double_up_to_a_limit_and_chance_moves_them_apart() {
    let settings = ResearchSettings {
        backoff: Backoff {
            first: Duration::from_secs(4),
            max: Duration::from_secs(10),
        },
        ..ResearchSettings::default()
    };
    let seconds = |fault, chance| settings.wait(fault, chance).as_secs_f64();
    for (fault, chance, want) in [
        (0, 0.0, 4.0),
        (1, 0.0, 4.0),
        (1, 1.0, 6.0),
        (2, 0.5, 10.0),
        (3, 0.0, 10.0),
        (u32::MAX, 7.0, 15.0),
        (1, f64::NAN, 4.0),
    ] {
        let wait = seconds(fault, chance);
        assert!((wait - want).abs() < 1e-6, "{fault} {chance}: {wait}");
    }
}

#[test]
fn what_an_older_version_remembers_is_read() {
    let old: Research = serde_json::from_str(r#"{"topics":[{"topic":"a"}]}"#).unwrap();
    assert_eq!(old.topics[0].state, TopicState::Open);
}

#[test]
fn turns_side_by_side_share_what_the_run_may_cost() {
    let mut research = research(&[TopicState::Open; 5]);
    let begin = |research: &mut Research, at: usize| {
        research.topics[at].at_work = true;
        let share = research.share(6_000, 0, 3).unwrap();
        research.topics[at].reserved = share;
        share
    };
    for at in 0..3 {
        assert_eq!(begin(&mut research, at), 2_000);
    }
    // One ends for less: what it leaves is there for the next.
    research.topics[0].state = TopicState::Written;
    research.topics[0].at_work = false;
    research.topics[0].spent.cost = 500;
    assert_eq!(begin(&mut research, 3), 1_500);
    // All together never more than the limit.
    let reserved: u64 = research.topics[1..4].iter().map(|one| one.reserved).sum();
    assert!(500 + reserved <= 6_000);
    assert_eq!(research.share(500, 0, 3), None);
    assert_eq!(research.share(6_000, 6_000, 3), None);
    // A retry is alone.
    let alone = super::tests::research(&[TopicState::Written, TopicState::Open]);
    assert_eq!(alone.share(6_000, 1_000, 3), Some(5_000));
}
