//! `/check-plan` over real HTTP: plans in comments, plans in the files of pull requests, and new
//! commits. All exchanges are checked against GitHub's published API description.

use github_simulator::NewPullRequest;
use github_simulator::model::{CheckRun, Role, TreeEntry};
use planwright::engine::model::run::State;
use planwright::formats::block;

use crate::support::system::{Options, System};

const REPO: &str = "acme/search";

const HEAD: &str = "# Look at things\n\n- **Status:** Green\n- **Agent:** Developer\n\n## Rationale\n\n```text\nTo see.\n```\n\n## Action Plan\n\n";

/// A plan that reads `README.md` so often; each action has a key too many where `wrong`.
fn plan(times: usize, wrong: bool) -> String {
    let more = if wrong { "- **Reason:** none\n" } else { "" };
    let action = format!(
        "### `READ`\n- **Resource:** [README.md](/README.md)\n- **Description:** Look.\n{more}\n"
    );
    format!("{HEAD}{}", action.repeat(times))
}

async fn judged() -> System {
    let system = System::with(Options {
        judged: true,
        ..Options::default()
    });
    let system = system.await;
    system.repository(REPO, false);
    system
        .sim
        .put_file(REPO, "README.md", "# Search\n")
        .unwrap();
    system
}

fn file(path: &str, text: &str) -> (String, Option<TreeEntry>) {
    (path.to_owned(), Some(TreeEntry::file(text.to_owned())))
}

fn proposed(system: &System, edits: Vec<(String, Option<TreeEntry>)>) -> u64 {
    let proposal = NewPullRequest {
        title: "Plans".into(),
        body: "See the files.".into(),
        edits,
        ..NewPullRequest::default()
    };
    system
        .sim
        .create_pull_request(REPO, "ada", &proposal)
        .unwrap()
}

/// Status comment of the bot, the only one it has at the place.
fn said(system: &System, place: u64) -> String {
    let said = system.said(REPO, place);
    assert_eq!(said.len(), 1, "one comment: {said:#?}");
    said[0].body.clone()
}

fn fields(body: &str, key: &str) -> serde_json::Map<String, serde_json::Value> {
    let parsed = block::parse(body);
    let found = block::find(&parsed, key).unwrap_or_else(|| panic!("no {key}: {body}"));
    let block::Content::Yaml(fields) = &found.content else {
        panic!("{found:?}")
    };
    fields.clone()
}

fn latest(system: &System) -> CheckRun {
    let runs = system.sim.check_runs(REPO).unwrap();
    runs.into_iter().max_by_key(|run| run.id).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_labelled_pull_request_is_checked_at_its_head_and_again_at_each_push() {
    let system = judged().await;
    let bad: Vec<_> = ["a", "b", "deep/c"]
        .map(|name| file(&format!("plans/{name}.plan.md"), &plan(40, true)))
        .into_iter()
        .chain([file("plans/notes.md", "no plan"), file("src/x.rs", "x")])
        .collect();
    let pull = proposed(&system, bad);
    system.run_to_rest().await;
    assert!(system.sim.check_runs(REPO).unwrap().is_empty(), "no label");
    system.sim.label(REPO, pull, "ada", "check-plan").unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(runs.len(), 1, "{runs:#?}");
    assert_eq!(runs[0].code.as_deref(), Some("validation_failed"));
    let run = latest(&system);
    assert_eq!(run.name, "planwright/plans");
    assert_eq!(
        (run.status.as_str(), run.conclusion.as_deref()),
        ("completed", Some("failure"))
    );
    assert_eq!(
        run.title.as_deref(),
        Some("3 of 3 plans cannot be executed")
    );
    assert_eq!(run.annotations.len(), 120);
    let first = &run.annotations[0];
    assert_eq!(
        (first.path.as_str(), first.start_line),
        ("plans/a.plan.md", 17)
    );
    assert!(first.message.contains("Reason"), "{}", first.message);
    let body = said(&system, pull);
    assert!(body.starts_with("## Error: validation_failed\n"), "{body}");
    assert!(body.contains("--- Actual Document Structure ---"), "{body}");
    assert_eq!(
        fields(&body, "planwright-error")["code"],
        "validation_failed"
    );
    let before = system.said(REPO, pull)[0].id;

    let good: Vec<_> = ["a", "b", "deep/c"]
        .map(|name| file(&format!("plans/{name}.plan.md"), &plan(2, false)))
        .into();
    let head = system.sim.push(REPO, pull, "ada", &good).unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(runs.len(), 2, "{runs:#?}");
    assert_eq!(runs[1].state, State::Succeeded);
    let run = latest(&system);
    assert_eq!(
        (&run.head_sha, run.conclusion.as_deref()),
        (&head, Some("success"))
    );
    assert!(run.annotations.is_empty());
    let body = said(&system, pull);
    assert_eq!(system.said(REPO, pull)[0].id, before, "edited in place");
    assert!(
        body.starts_with("✅ 3 plans can be executed: new commits up to "),
        "{body}"
    );
    assert!(
        body.contains("| 1 | `READ` | `README.md` | Look. |"),
        "{body}"
    );
    assert_eq!(fields(&body, "planwright-result")["head"], head.as_str());
    // The label asks for as long as it is there.
    let issue = system.sim.issues(REPO).unwrap();
    let issue = issue.iter().find(|issue| issue.number == pull).unwrap();
    assert_eq!(issue.labels, ["check-plan"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_in_the_comment_in_the_opening_text_and_in_the_thread_is_checked() {
    let system = judged().await;
    let sim = &system.sim;
    let check = |issue| sim.comment(REPO, issue, "ada", "/check-plan").unwrap();
    let inline = sim.open_issue(REPO, "bob", "One", &plan(1, true)).unwrap();
    sim.comment(
        REPO,
        inline,
        "ada",
        &format!("/check-plan\n\n{}", plan(3, false)),
    )
    .unwrap();
    let opening = sim.open_issue(REPO, "bob", "Two", &plan(2, false)).unwrap();
    sim.comment(REPO, opening, "bob", &plan(1, true)).unwrap();
    check(opening);
    let thread = sim.open_issue(REPO, "bob", "Three", "Look.").unwrap();
    sim.comment(REPO, thread, "bob", &plan(1, false)).unwrap();
    sim.comment(REPO, thread, "bob", &plan(1, true)).unwrap();
    check(thread);
    let none = sim.open_issue(REPO, "bob", "Four", "Look.").unwrap();
    check(none);
    system.run_to_rest().await;
    for (issue, actions) in [(inline, 3), (opening, 2)] {
        let body = said(&system, issue);
        let want = format!("{actions} actions, structure valid, fits the files of the repository");
        assert!(body.contains(&want), "{body}");
    }
    let body = said(&system, thread);
    assert!(
        body.starts_with("## Error: validation_failed\n\nThe plan cannot be executed: line 17: "),
        "{body}"
    );
    let body = said(&system, none);
    assert!(
        body.contains("There is no executable plan here to check."),
        "{body}"
    );
    assert!(
        sim.check_runs(REPO).unwrap().is_empty(),
        "no commit, no check run"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_does_not_fit_the_files_is_told_at_its_lines() {
    let system = judged().await;
    system
        .sim
        .put_file(REPO, "src/a.rs", "let a = 1;\nlet b = 1;\n")
        .unwrap();
    let text = format!(
        "{HEAD}### `CREATE`\n- **File Path:** [README.md](/README.md)\n\n````text\nx\n````\n\n\
         ### `EDIT`\n- **File Path:** [src/a.rs](/src/a.rs)\n\n#### `FIND:`\n````rust\nlet a = 2;\n````\n\
         #### `REPLACE:`\n````rust\nlet a = 3;\n````\n"
    );
    let pull = proposed(&system, vec![file("do.plan.md", &text)]);
    system
        .sim
        .comment(REPO, pull, "ada", "/check-plan")
        .unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(
        runs[0].code.as_deref(),
        Some("validation_failed"),
        "{runs:#?}"
    );
    let run = latest(&system);
    assert_eq!(run.annotations.len(), 2, "{run:#?}");
    let body = said(&system, pull);
    assert!(body.contains("README.md"), "{body}");
    assert!(body.contains("let a = 1;"), "the near miss: {body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_triage_may_not_check_and_no_plan_file_is_no_failure() {
    let system = judged().await;
    system.sim.grant(REPO, "eve", Role::Read).unwrap();
    system.sim.grant(REPO, "tess", Role::Triage).unwrap();
    let pull = proposed(&system, vec![file("src/x.rs", "x")]);
    system
        .sim
        .comment(REPO, pull, "eve", "/check-plan")
        .unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(runs[0].code.as_deref(), Some("permission_denied"));
    assert!(system.sim.check_runs(REPO).unwrap().is_empty());
    system
        .sim
        .comment(REPO, pull, "tess", "/check-plan")
        .unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(runs[1].state, State::Succeeded, "{runs:#?}");
    let run = latest(&system);
    assert_eq!(run.conclusion.as_deref(), Some("skipped"));
    let all = system.said(REPO, pull);
    let body = &all.last().unwrap().body;
    assert!(
        body.contains("No changed file is called `*.plan.md`."),
        "{body}"
    );
}

/// Fifty plans that read fifty files each: 2,500 files of the repository, so more requests than a
/// run may make.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_push_of_fifty_plans_ends_within_one_window_of_githubs_limit() {
    let system = System::start().await;
    system.repository(REPO, false);
    let path = |plan: usize, look: usize| format!("src/m{plan}/f{look}.rs");
    let sources: Vec<_> = (0..2_500)
        .map(|n| file(&path(n / 50, n % 50), &format!("// {n}\n")))
        .collect();
    system.sim.commit(REPO, "main", &sources).unwrap();
    let plans = (0..50).map(|plan| {
        let actions = (0..50).map(|look| {
            let path = path(plan, look);
            format!("### `READ`\n- **Resource:** [{path}](/{path})\n- **Description:** Look.\n\n")
        });
        let actions: String = actions.collect();
        file(
            &format!("plans/{plan}.plan.md"),
            &format!("{HEAD}{actions}"),
        )
    });
    let pull = proposed(&system, plans.collect());
    system.sim.label(REPO, pull, "ada", "check-plan").unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(runs.len(), 1, "{runs:#?}");
    let requests = system.sim.requests();
    println!("50 plans, 2,500 files: {} requests", requests.len());
    assert!(requests.len() < 1_100, "{}", requests.len());
    let refused = requests.iter().find(|request| request.status == Some(403));
    assert!(refused.is_none(), "within the limit");
    let run = latest(&system);
    assert_eq!(run.conclusion.as_deref(), Some("action_required"));
    assert_eq!(
        run.title.as_deref(),
        Some("31 of 50 plans were not checked")
    );
}
