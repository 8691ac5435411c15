//! The seed texts of the fuzzers satisfy the properties of the formats. Regressions found by
//! fuzzing have named tests beside the code.

use std::path::Path;

use planwright::formats::action_plan::{self, fences};
use planwright::formats::agent_stream::{Event, Stream, Summary};
use planwright::formats::block::{self, Content};
use planwright::formats::plan::split::{Limits, join, split};
use planwright::formats::question::{Choice, Question, boxes, marker};
use planwright::formats::report::{
    check_report, degraded_report, is_degraded, metadata, render_digest,
};
use planwright::formats::session::{Scanner, scan};
use planwright::formats::{specification, yaml};
use serde_json::Value;

/// Name and bytes of every text of a target.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/fuzz")
        .join(target);
    let mut found: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read(&path).unwrap(),
            )
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{}", folder.display());
    found
}

#[test]
fn texts_pass_the_frame_and_the_split() {
    for target in ["block", "hidden", "plan", "yaml"] {
        for (name, bytes) in corpus(target) {
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(block::restore(&block::neutralise(&text)), text, "{name}");
            let rendered = block::plan_body(&text);
            let parsed = block::parse(&rendered);
            assert_eq!(parsed.diagnostics, [], "{name}");
            assert_eq!(parsed.blocks.len(), 1, "{name}");
            assert_eq!(
                parsed.blocks[0].content,
                Content::Text(text.clone()),
                "{name}"
            );
            let limits = Limits {
                chars: 256,
                bytes: 300,
            };
            let parts = split(&text, &limits);
            let parts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
            assert_eq!(join(&parts).as_deref(), Some(text.as_str()), "{name}");
            if let Ok(Value::Object(fields)) = yaml::read(&text) {
                let written = yaml::write(&fields);
                assert_eq!(yaml::read(&written), Ok(Value::Object(fields)), "{name}");
            }
        }
    }
}

#[test]
fn logs_are_read_alike_however_they_are_cut() {
    for (name, bytes) in corpus("session") {
        let whole = scan(&bytes, None);
        for size in [1, 7, 64] {
            let mut feed = Scanner::new(None);
            for chunk in bytes.chunks(size) {
                feed.push(chunk);
            }
            assert_eq!(feed.finish(), whole, "{name} in chunks of {size}");
        }
    }
}

#[test]
fn questions_read_back_unticked() {
    for (name, bytes) in corpus("question") {
        let text = String::from_utf8(bytes).unwrap();
        let _ = marker::signals(&text);
        let mut questions = marker::detect(&text).questions;
        questions.push(Question {
            question: text.clone(),
            header: text.clone(),
            choice: true,
            multi: false,
            options: vec![Choice {
                label: text.clone(),
                description: text.clone(),
            }],
        });
        let body = boxes::render(&boxes::Round {
            own_words: true,
            run: "R",
            number: 1,
            questions: &questions,
        });
        let read = boxes::parse(&body).unwrap();
        assert_eq!(
            read.questions,
            vec![boxes::Ticks::default(); questions.len()],
            "{name}"
        );
        assert!(!read.send, "{name}");
    }
}

#[test]
fn streams_are_read_alike_however_they_are_cut() {
    fn read(bytes: &[u8], size: usize) -> (Summary, Vec<Event>) {
        let mut events = Vec::new();
        let mut on = |event: &Event| events.push(event.clone());
        let mut stream = Stream::new();
        for chunk in bytes.chunks(size) {
            stream.push(chunk, &mut on);
        }
        let summary = stream.finish(&mut on);
        (summary, events)
    }
    for (name, bytes) in corpus("agent_stream") {
        let whole = read(&bytes, bytes.len());
        assert!(whole.0.results > 0 || name == "cut-off", "{name}");
        for size in [1, 7, 64] {
            assert_eq!(read(&bytes, size), whole, "{name} in chunks of {size}");
        }
    }
}

#[test]
fn action_plans_are_written_as_they_read_or_can_be_mended() {
    for (name, bytes) in corpus("action_plan") {
        let text = String::from_utf8(bytes).unwrap();
        assert!(action_plan::is_action_plan(&text), "{name}");
        let text = match action_plan::parse(&text) {
            Ok(_) => text,
            Err(_) => fences::repair(&text).unwrap_or_else(|| panic!("{name}")),
        };
        let plan = action_plan::parse(&text).unwrap();
        let written = action_plan::render(&plan);
        let again = action_plan::parse(&written).unwrap();
        assert_eq!(action_plan::render(&again), written, "{name}");
        assert_eq!(again.actions.len(), plan.actions.len(), "{name}");
    }
}

#[test]
fn reports_are_read_within_limits_and_stood_in_for() {
    for (name, bytes) in corpus("report") {
        let text = String::from_utf8(bytes).unwrap();
        let read = metadata(&text);
        assert!(render_digest("a.md", &read).len() <= 10_000, "{name}");
        assert_eq!(read.degraded, is_degraded(&text), "{name}");
        assert_eq!(read.degraded, name == "stand-in");
        assert!(
            is_degraded(&degraded_report(&text, "d", "a", &text)),
            "{name}"
        );
        assert!(
            !check_report(&text).is_empty(),
            "{name}: too small, all of them"
        );
    }
}

#[test]
fn specifications_keep_what_is_real_and_lose_the_template() {
    for (name, bytes) in corpus("specification") {
        let text = String::from_utf8(bytes).unwrap();
        let read = specification::parse("Export reports", &text);
        assert!(!read.is_empty(), "{name}");
        for line in read.text().lines() {
            assert!(text.contains(line), "{name}: {line}");
        }
        let again = specification::parse("Export reports", read.text());
        assert_eq!(again.text(), read.text(), "{name}");
        assert_eq!(again.placeholders, [""; 0], "{name}");
    }
}
