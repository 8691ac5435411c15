//! Plans: a document reads back, parts join to the same bytes, names and summaries keep their
//! limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use planwright_formats::plan::document::{
    Enrichment, Guidance, Mode, PlanDocument, ParsedDocument, is_success_document, plan_text, parse, wrap,
};
use planwright_formats::plan::split::{Limits, join, split};
use planwright_formats::plan::{check, gate, names, reference, summary, title};
use planwright_formats::thread_file;

fuzz_target!(|text: &str| {
    documents(text);
    parts(text);
    names_and_gates(text);
    if let Ok(file) = thread_file::parse(text) {
        assert!(!file.posts.is_empty());
        assert!(file.posts.iter().all(|post| text.contains(&post.author)
            || post.author == thread_file::UNKNOWN_AUTHOR && post.body == text));
    }
});

fn documents(text: &str) {
    let _ = parse(text);
    let saved = wrap("Fuzz the plan", &Enrichment::raw(), text);
    if is_success_document(text) {
        assert_eq!(saved, text, "never framed twice");
    } else {
        assert_eq!(plan_text(&saved), text);
    }
    assert!(text.contains(plan_text(text)));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.trim().is_empty() || line.contains('\0') || line.chars().any(char::is_control) {
        return;
    }
    let document = PlanDocument {
        title: line.clone(),
        enrichment: Enrichment {
            mode: Mode::Enriched,
            guidance: Some(Guidance {
                text: text.to_owned(),
                applied: true,
            }),
            questions: 1,
            categories: [true, false, true, false, true, false, true, false],
            clarifications: vec![(line.clone(), text.to_owned())],
            notes: vec![line],
        },
        body: text.to_owned(),
    };
    assert_eq!(parse(&document.render()), ParsedDocument::Plan(document));
}

fn parts(text: &str) {
    for limits in [(256, 256), (300, 1_000), (1_000, 300)] {
        let (chars, bytes) = limits;
        let parts = split(text, &Limits { chars, bytes });
        for part in &parts {
            assert!(part.text.len() <= bytes && part.text.chars().count() <= chars);
        }
        let parts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(join(&parts).as_deref(), Some(text));
    }
    let lines: Vec<&str> = text.lines().collect();
    let _ = join(&lines);
}

fn names_and_gates(text: &str) {
    if let Some(title) = title::title_of(text) {
        assert!(!title.is_empty() && title.chars().count() <= title::MAX_TITLE_CHARS);
        assert!(!title.contains(['\n', '\r']), "{title:?}");
        assert!(!title::strip_prefix(&title).is_empty());
    }
    if let Err(fault) = gate::gate_title(text) {
        assert!(fault.feedback().ends_with('.'));
    }
    if gate::gate_content(text).is_ok() {
        assert!(2 * text.chars().count() >= gate::MIN_PLAN_CHARS);
    }
    let name = names::worktree_name(text);
    // The time `-MM-DD-HHMM` stays behind the name.
    assert!((1..=names::MAX_WORKTREE_CHARS + 11).contains(&name.len()), "{name:?}");
    assert_eq!(names::worktree_name(&name), name);
    let name = names::file_name(text);
    assert!(name.ends_with("plan.md") && !name.contains(['/', '\\']), "{name:?}");
    let checked = check::check(text, None);
    assert_eq!(checked.is_accepted(), checked.agent_guidance.is_none());
    assert_eq!(checked.is_accepted(), checked.feedback.is_empty());
    match reference::parse(text, "github.com") {
        Ok(found) => assert_eq!(reference::parse(&found.to_string(), "github.com"), Ok(found)),
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
    let summary = summary::summarise(text);
    assert_eq!(summary, summary::summarise(text));
    assert!(summary.steps.len() <= summary::MAX_STEPS + 1);
    for line in summary.steps.iter().chain([&summary.sentence]) {
        // A character that Markdown would change is written with up to eight.
        assert!(line.chars().count() <= 8 * summary::MAX_SENTENCE_CHARS);
        assert!(!line.contains(['\n', '\r']), "{line:?}");
    }
}
