//! Plans written by people: saved from a conversation and read back byte for byte.

use std::path::PathBuf;

use planwright::formats::block::{self, Content};
use planwright::formats::plan::document::plan_text;

use crate::support::system::System;

const REPO: &str = "acme/search";
const THREAD: &str = "What we agreed on";

/// The text of the seed document whose name begins with `number`, and whether its whole text is a plan block.
fn seed(number: &str) -> Option<String> {
    let Some(vectors) = std::env::var_os("PLANWRIGHT_VECTORS") else {
        println!("skipped: PLANWRIGHT_VECTORS does not name a directory of test vectors");
        return None;
    };
    let folder = PathBuf::from(vectors).join("../seeds");
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(number)
        })
        .expect("the seed is there");
    Some(std::fs::read_to_string(file).unwrap())
}

/// Says `text` in a conversation, asks for the plan, and gives title and document of the plan issue.
async fn saved(system: &System, text: &str) -> (String, String) {
    let issue = system.sim.open_issue(REPO, "bob", THREAD, "See below.");
    let issue = issue.unwrap();
    system
        .sim
        .comment(REPO, issue, "bob", "I wrote it down:")
        .unwrap();
    system.sim.comment(REPO, issue, "bob", text).unwrap();
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system.run_to_rest().await;
    let said = system.said(REPO, issue);
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(!said[0].body.contains("## Error"), "{}", said[0].body);
    let plans = system.plans(REPO);
    let plan = plans.last().expect("a plan issue");
    (plan.title.clone(), system.document(REPO, plan.number))
}

async fn system() -> System {
    let system = System::start().await;
    system.repository(REPO, false);
    system
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seed_000_a_plan_that_came_in_a_block_is_saved_as_it_stands_in_it() {
    let Some(text) = seed("000") else { return };
    let parsed = block::parse(&text);
    let Content::Text(inner) = &block::find(&parsed, "plan-body").unwrap().content else {
        panic!("{parsed:?}")
    };
    assert!(inner.len() > 13_000 && text.contains(inner.as_str()));
    let (title, document) = saved(&system().await, &text).await;
    assert_eq!(title, "Convert plan-extractor from JSON to Markdown Output");
    assert!(document == *inner, "differs:\n{document}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seeds_002_and_003_come_back_byte_for_byte() {
    let system = system().await;
    for (number, expected) in [
        (
            "002",
            "Fix /orchestrate Research Agent Report Creation Implementation Plan",
        ),
        ("003", "Plan Mode - Implementation Plan"),
    ] {
        let Some(text) = seed(number) else { return };
        let own = planwright::formats::plan::title::title_of(&text);
        let (title, document) = saved(&system, &text).await;
        assert_eq!(title, own.unwrap_or_else(|| THREAD.to_owned()), "{number}");
        assert_eq!(title, expected, "{number}");
        assert!(
            plan_text(&document) == text,
            "{number} differs:\n{document}"
        );
    }
}
