//! Difficult states of GitHub, over real HTTP: lagging lists, temporary errors, wrong clocks, and
//! conversations that are read-only or no longer exist.

use std::time::Duration;

use github_simulator::{Fault, FaultKind};
use planwright::engine::model::run::State;
use serde_json::json;

use crate::support::rig::PLAN;
use crate::support::system::{Options, RunRow, System};

const REPO: &str = "acme/search";

/// A system that gives lists and new things a second each to catch up.
async fn patient() -> System {
    with(Options {
        environment: vec![("PLANWRIGHT_WORKER_SETTLE_SECONDS", "1".to_owned())],
        ..Options::default()
    })
    .await
}

async fn with(options: Options) -> System {
    let system = System::with(options).await;
    system.repository(REPO, false);
    system
}

/// An issue with a plan in a comment.
fn issue_with_plan(system: &System) -> u64 {
    let issue = system
        .sim
        .open_issue(REPO, "bob", "Search is slow", "It is.");
    let issue = issue.unwrap();
    system.sim.comment(REPO, issue, "bob", PLAN).unwrap();
    issue
}

async fn only_run(system: &System) -> RunRow {
    let mut runs = system.run_to_rest().await;
    assert_eq!(runs.len(), 1, "{runs:#?}");
    runs.remove(0)
}

/// One plan issue, and one report at the place.
async fn assert_saved_once(system: &System, repository: &str, issue: u64) {
    let run = only_run(system).await;
    assert_eq!(run.state, State::Succeeded, "{run:#?}");
    let plans = system.plans(REPO);
    assert_eq!(plans.len(), 1, "{plans:#?}");
    assert_eq!(system.said(REPO, plans[0].number).len(), 1);
    let said = system.said(repository, issue);
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].body.contains("✅ Plan saved"), "{}", said[0].body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_that_is_faster_than_the_comment_list_finds_the_plan() {
    let system = patient().await;
    system.sim.set_list_lag(Duration::from_secs(2));
    let issue = issue_with_plan(&system);
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    assert_saved_once(&system, REPO, issue).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_with_lists_that_lag_longer_than_the_settling_time_makes_one_plan() {
    let system = patient().await;
    let issue = issue_with_plan(&system);
    system.sim.set_list_lag(Duration::from_secs(3));
    let lost = Fault::on("POST", "/repos/*/*/issues", FaultKind::LostResponse);
    system.sim.faults().push(lost);
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    assert_saved_once(&system, REPO, issue).await;
    assert_eq!(system.sim.faults().injected(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn temporary_refusals_of_what_was_just_created_are_waited_out() {
    let system = patient().await;
    let issue = issue_with_plan(&system);
    let documentation = "https://docs.github.com/rest";
    let unresolved = FaultKind::Response {
        status: 422,
        body: json!({
            "message": "Validation Failed", "documentation_url": documentation,
            "errors": ["Could not resolve to a node with the global id of 'I_kwDO1'."],
        }),
    };
    let missing = FaultKind::Response {
        status: 404,
        body: json!({"message": "Not Found", "documentation_url": documentation}),
    };
    let faults = system.sim.faults();
    let comments = "/repos/*/*/issues/*/comments";
    // The first comment is the status, the second one the plan.
    faults.push(Fault::on("POST", comments, unresolved).after(1));
    faults.push(Fault::on("PATCH", "/repos/*/*/issues/*", missing.clone()));
    faults.push(Fault::on("PATCH", "/repos/*/*/issues/comments/*", missing));
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    assert_saved_once(&system, REPO, issue).await;
    assert_eq!(system.sim.faults().injected(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reactions_that_are_refused_do_not_stop_the_save() {
    for status in [403, 422] {
        let system = with(Options::default()).await;
        let issue = issue_with_plan(&system);
        let refused = FaultKind::Response {
            status,
            body: json!({"message": "Resource not accessible by integration"}),
        };
        let reactions = "/repos/*/*/issues/comments/*/reactions";
        let fault = Fault::on("POST", reactions, refused);
        system.sim.faults().push(fault.times(100));
        let asked = system
            .sim
            .comment(REPO, issue, "ada", "/save-plan")
            .unwrap();
        assert_saved_once(&system, REPO, issue).await;
        assert!(system.sim.comment_reactions(asked).unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_in_a_locked_conversation_is_answered_on_the_plan_issue() {
    let system = with(Options {
        judged: true,
        ..Options::default()
    })
    .await;
    let issue = issue_with_plan(&system);
    system.sim.set_locked(REPO, issue, "ada", true).unwrap();
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    let run = only_run(&system).await;
    assert_eq!(run.state, State::Succeeded, "{run:#?}");
    let plans = system.plans(REPO);
    assert_eq!(plans.len(), 1);
    assert!(system.said(REPO, issue).is_empty());
    let said = system.said(REPO, plans[0].number);
    assert_eq!(said.len(), 2, "{said:#?}");
    let report = &said[1].body;
    assert!(
        report.starts_with("This report could not be posted in"),
        "{report}"
    );
    assert!(report.contains("the conversation is locked."), "{report}");
    assert!(report.contains("✅ Plan saved"), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issue_that_was_transferred_before_the_run_began_is_answered_where_it_is() {
    let mut system = System::with(Options::default()).await;
    let other = "acme/other";
    system.sim.add_repository(other, false).unwrap();
    system.repository(REPO, false);
    // One installation has both.
    system.sim.add_to_installation(REPO, other).unwrap();
    let issue = issue_with_plan(&system);
    system.sim.settle().await;
    system.kill().await;
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system.sim.settle().await;
    let there = system.sim.transfer_issue(REPO, issue, other).unwrap();
    system.start_bot().await;
    system.redeliver_failed().await;
    assert_saved_once(&system, other, there).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issue_that_was_deleted_before_the_run_began_is_said_to_be_deleted() {
    let mut system = with(Options::default()).await;
    let issue = issue_with_plan(&system);
    system.sim.settle().await;
    system.kill().await;
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    system.sim.settle().await;
    system.sim.delete_issue(REPO, issue, "ada").unwrap();
    system.start_bot().await;
    system.redeliver_failed().await;
    let run = only_run(&system).await;
    assert_eq!(
        (run.state, run.code.as_deref()),
        (State::Failed, Some("location_gone"))
    );
    assert!(system.plans(REPO).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_plan_is_not_saved() {
    let system = with(Options::default()).await;
    let issue = issue_with_plan(&system);
    let spam = system.sim.comments(REPO, issue).unwrap()[0].id;
    system.sim.hide_comment(spam, Some("spam")).unwrap();
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    let run = only_run(&system).await;
    assert_eq!(run.code.as_deref(), Some("no_plan_found"), "{run:#?}");
    let said = system.said(REPO, issue);
    assert!(
        said[0].body.contains("one comment: hidden on GitHub"),
        "{}",
        said[0].body
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_whose_clock_is_hours_wrong_saves_one_plan_after_lost_answers() {
    for hours in [-5, 5] {
        let system = with(Options {
            github_ahead_hours: hours,
            ..Options::default()
        })
        .await;
        let issue = issue_with_plan(&system);
        let faults = system.sim.faults();
        let lost = |path| Fault::on("POST", path, FaultKind::LostResponse);
        faults.push(lost("/repos/*/*/issues"));
        faults.push(lost("/repos/*/*/issues/*/comments").times(1));
        system
            .sim
            .comment(REPO, issue, "ada", "/save-plan")
            .unwrap();
        assert_saved_once(&system, REPO, issue).await;
        assert_eq!(system.sim.faults().injected(), 2, "{hours} h");
    }
}
