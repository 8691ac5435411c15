//! `/plan` end to end with the real Claude Code client and a stub of the model's API, from the
//! specification to the plan issue. All exchanges with GitHub are checked against its published API
//! description.

mod killed;
mod large;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use github_simulator::model::{Comment, Issue};
use planwright::engine::model::run::State;
use planwright::formats::block::{self, Content};

use crate::e2e_research::{REPO, file, no_process_left, requests, system, write, writes};
use crate::engine_agent::ASKS;
use crate::engine_plan::PLAN;
use crate::support::model::{Model, Turn};
use crate::support::system::{RunRow, System};

/// An issue that is a specification.
fn specification(system: &System) -> u64 {
    let text = "## Requirements\n\n- [ ] Start in a second\n- [ ] Survive a crash\n";
    let opened = system.sim.open_issue(REPO, "bob", "Keep the index", text);
    opened.unwrap()
}

/// What the block `name` of a comment holds.
fn held(comment: &Comment, name: &str) -> String {
    let parsed = block::parse(&comment.body);
    assert_eq!(parsed.diagnostics, [], "{}", comment.body);
    match &block::find(&parsed, name)
        .unwrap_or_else(|| panic!("{}", comment.body))
        .content
    {
        Content::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn plan_run(runs: &[RunRow]) -> &RunRow {
    let plans: Vec<_> = runs.iter().filter(|run| run.command == "plan").collect();
    assert_eq!(plans.len(), 1, "{runs:#?}");
    plans[0]
}

/// Exactly one plan issue, which leads to the specification and is led to from there; gives it with
/// its comments.
async fn assert_planned(system: &System, issue: u64) -> (Issue, Vec<Comment>) {
    let runs = system.run_to_rest().await;
    let said = system.said(REPO, issue);
    assert_eq!(plan_run(&runs).state, State::Succeeded, "{said:#?}");
    no_process_left(system);
    let mut plans = system.plans(REPO);
    assert_eq!(plans.len(), 1, "{plans:#?}");
    let plan = plans.remove(0);
    assert_eq!(plan.title, "Keep the search index between starts");
    assert_eq!(plan.labels, ["erk-plan"]);
    let body = plan.body.as_deref().unwrap_or_default();
    // By a command the link leads to its comment there.
    let link = [
        format!("/{REPO}/issues/{issue}#"),
        format!("From {REPO}#{issue}, "),
    ];
    assert!(link.iter().any(|link| body.contains(link)), "{body}");
    let status = said.iter().filter(|one| one.body.contains("✅ Plan saved"));
    let status: Vec<_> = status.collect();
    assert_eq!(status.len(), 1, "{said:#?}");
    let link = format!("/{REPO}/issues/{}", plan.number);
    assert!(status[0].body.contains(&link), "{}", status[0].body);
    let comments = system.said(REPO, plan.number);
    let document = held(&comments[0], "plan-body");
    assert!(document.contains("## Phase 2: Read it"), "{document}");
    system.tap.assert_clean();
    (plan, comments)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_rounds_of_questions_are_answered_by_boxes_and_by_a_command() {
    let turns = [
        Turn::text(ASKS),
        Turn::text(ASKS.replace("Where does the file live?", "Who reads it?")),
        write("plan.md", PLAN),
        write("context.md", "# Context\n\nThe index is a B-tree.\n"),
        write("research.md", "# Research\n\nTwo formats were weighed.\n"),
        Turn::text("PLAN_CREATED: plan.md"),
    ];
    let model = Model::start(turns).await;
    let Some(mut system) = system(&model, &[]).await else {
        return;
    };
    let issue = specification(&system);
    let asked = system
        .sim
        .comment(REPO, issue, "ada", "/plan without new dependencies")
        .unwrap();
    let waits = |runs: &[RunRow]| plan_run(runs).state == State::Waiting;
    system.until("questions", waits).await;
    let asks = |question: &str| {
        let said = system.said(REPO, issue);
        let one = said
            .iter()
            .find(|one| one.body.contains(question) && one.body.contains("- [ ]"));
        one.map(|one| one.id)
    };
    let first = asks("Where does the file live?").expect("the first questions");
    system.tick(first, "ada", &[0], true);
    // What has no boxes is answered in a comment; the round is complete with both.
    system
        .sim
        .comment(REPO, issue, "ada", "/answer 2: about 2 GB")
        .unwrap();
    system
        .shown("second questions", || asks("Who reads it?").is_some())
        .await;
    system.until("second questions", waits).await;
    assert!(system.plans(REPO).is_empty());
    // The session and the documents outlive the process.
    system.kill().await;
    system.start_bot().await;
    system
        .sim
        .comment(REPO, issue, "ada", "/answer 1: b 2: at most 2 GB")
        .unwrap();
    let (_, comments) = assert_planned(&system, issue).await;
    assert_eq!(comments.len(), 3, "{comments:#?}");
    assert!(
        comments[1].body.starts_with("**Context**"),
        "{}",
        comments[1].body
    );
    let context = held(&comments[1], "planwright-document");
    assert_eq!(context.trim(), "# Context\n\nThe index is a B-tree.");
    assert!(
        comments[2].body.starts_with("**Research**"),
        "{}",
        comments[2].body
    );
    let research = held(&comments[2], "planwright-document");
    assert_eq!(research.trim(), "# Research\n\nTwo formats were weighed.");
    assert_eq!(system.sim.comment_reactions(asked).unwrap(), ["rocket"]);
    // One session: the specification was told once, and every answer with its question.
    let all = model.asked();
    assert_eq!(all.len(), 6);
    let said = all[2].said();
    assert_eq!(said.matches("Survive a crash").count(), 1, "{said}");
    for told in [
        "without new dependencies",
        "Beside the data",
        "In the cache folder",
        "at most 2 GB",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert_eq!(all[0].system(), all[5].system(), "the instructions hold");
    assert!(all[0].system().contains("You are the planner"));
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_label_does_the_same_and_comes_off() {
    let turns = [write("plan.md", PLAN), Turn::text("PLAN_CREATED: plan.md")];
    let model = Model::start(turns).await;
    let Some(system) = system(&model, &[]).await else {
        return;
    };
    let issue = specification(&system);
    system.sim.label(REPO, issue, "ada", "plan").unwrap();
    let (_, comments) = assert_planned(&system, issue).await;
    assert_eq!(comments.len(), 1, "{comments:#?}");
    assert_eq!(system.sim.issue(REPO, issue).unwrap().labels, [""; 0]);
    assert_eq!(system.sim.reactions(REPO, issue).unwrap(), ["rocket"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_the_planner_works_the_research_is_not_done_again() {
    let healed = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&healed);
    let model = Model::deciding(move |asked| match (file(asked), asked.results()) {
        (Some(file), _) => writes(&file, asked),
        (None, _) if !now.load(Ordering::SeqCst) => Turn::text("I am thinking").hanging(),
        (None, 0) => Turn::tool(
            "Read",
            &serde_json::json!({ "file_path": "reports/001-one.md" }),
        ),
        (None, 1) => write("plan.md", PLAN),
        (None, _) => Turn::text("PLAN_CREATED: plan.md"),
    });
    let model = model.await;
    let Some(mut system) = system(&model, &[]).await else {
        return;
    };
    let issue = specification(&system);
    let command = "/plan research=\"one; two\" keep it small";
    system.sim.comment(REPO, issue, "ada", command).unwrap();
    // Two requests for each report, and the planner's first.
    model.wait_for(5).await;
    system.kill().await;
    healed.store(true, Ordering::SeqCst);
    system.start_bot().await;
    let (_, comments) = assert_planned(&system, issue).await;
    assert_eq!(comments.len(), 1, "{comments:#?}");
    assert_eq!(requests(&model, "001-one.md"), 2);
    assert_eq!(requests(&model, "002-two.md"), 2);
    let planner: Vec<_> = model
        .asked()
        .into_iter()
        .filter(|one| file(one).is_none())
        .collect();
    assert_eq!(planner.len(), 1 + 3);
    // It found the whole report in its folder.
    let told = planner[2].said();
    assert!(
        told.contains("the code in `src/queue.rs` shows it"),
        "{told}"
    );
    let said = system.said(REPO, issue);
    let reports = said
        .iter()
        .filter(|one| one.body.starts_with("### Research"));
    assert_eq!(reports.count(), 2, "{said:#?}");
    assert!(
        said[0]
            .body
            .contains("Written with research: 2 of 2 topics have a report"),
        "{}",
        said[0].body
    );
}
