//! Conversations with several plans, over real HTTP: the question which one is meant, references to
//! one plan, parts, and hidden comments. All exchanges are checked against GitHub's published API
//! description.

use github_simulator::model::Role;
use planwright::engine::model::run::State;

use crate::support::system::{Options, System};

const REPO: &str = "acme/reports";

pub(crate) const BROWSER: &str = "# CSV in the browser\n\n1. Read the table in `web/table.ts`\n2. Build the text row by row\n\
    3. Offer it as a file\n4. Describe it in the manual\n";
pub(crate) const SERVER: &str = "# CSV on the server\n\n1. Add a writer in `src/csv.rs`\n2. Add a route for each report\n\
    3. Put a button on the page\n4. Test a report with quotes in it\n";

/// A system with an issue that has two plans; the issue, and the ids of the comments.
async fn two_plans() -> (System, u64, [u64; 2]) {
    let system = System::with(Options {
        judged: true,
        ..Options::default()
    })
    .await;
    system.repository(REPO, false);
    system.sim.grant(REPO, "bob", Role::Write).unwrap();
    let opened = system
        .sim
        .open_issue(REPO, "bob", "Reports as CSV", "Customers ask for it.");
    let issue = opened.unwrap();
    let first = system.sim.comment(REPO, issue, "bob", BROWSER).unwrap();
    let second = system.sim.comment(REPO, issue, "bob", SERVER).unwrap();
    (system, issue, [first, second])
}

/// The comment that asks which plan is meant.
async fn question(system: &System, issue: u64) -> u64 {
    let asked = || {
        let said = system.said(REPO, issue);
        let asks = |body: &str| body.contains("there is more than one plan here");
        said.iter()
            .find(|comment| asks(&comment.body))
            .map(|comment| comment.id)
    };
    system.shown("the question", || asked().is_some()).await;
    assert!(system.plans(REPO).is_empty());
    asked().unwrap()
}

async fn saved(system: &System) -> Vec<String> {
    system.run_to_rest().await;
    system
        .plans(REPO)
        .into_iter()
        .map(|plan| plan.title)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn which_plan_is_meant_is_asked_with_boxes_and_a_tick_decides() {
    let (system, issue, _) = two_plans().await;
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    let question = question(&system, issue).await;
    system.tick(question, "ada", &[1], true);
    assert_eq!(saved(&system).await, ["CSV in the browser"]);
    let runs = system.runs().await;
    assert!(
        runs.iter().all(|run| run.state == State::Succeeded),
        "{runs:#?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_label_asks_the_same_way_and_an_answer_decides() {
    let (system, issue, _) = two_plans().await;
    system.sim.label(REPO, issue, "ada", "save-plan").unwrap();
    question(&system, issue).await;
    system
        .sim
        .comment(REPO, issue, "ada", "/answer 1: a")
        .unwrap();
    assert_eq!(saved(&system).await, ["CSV on the server"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_or_a_quote_points_to_the_plan() {
    let (system, issue, [first, _]) = two_plans().await;
    let address = format!("https://github.com/{REPO}/issues/{issue}#issuecomment-{first}");
    system
        .sim
        .comment(REPO, issue, "ada", &format!("/save-raw-plan {address}"))
        .unwrap();
    assert_eq!(saved(&system).await, ["CSV in the browser"]);
    let quote = "> 1. Add a writer in `src/csv.rs`\n> 2. Add a route for each report\n\nThis one.\n\n/save-raw-plan";
    system.sim.comment(REPO, issue, "ada", quote).unwrap();
    let mut titles = saved(&system).await;
    titles.sort();
    assert_eq!(titles, ["CSV in the browser", "CSV on the server"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_comment_is_no_plan_and_cannot_be_pointed_to() {
    let (system, issue, [first, second]) = two_plans().await;
    system.sim.hide_comment(second, Some("outdated")).unwrap();
    let pointed = format!("/save-plan from={second}");
    system.sim.comment(REPO, issue, "ada", &pointed).unwrap();
    assert_eq!(saved(&system).await, [""; 0]);
    let said = system.said(REPO, issue);
    assert!(
        said[0].body.contains(&format!(
            "The command points to a post that cannot be read: comment {second} is hidden on GitHub."
        )),
        "{}",
        said[0].body
    );
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    assert_eq!(saved(&system).await, ["CSV in the browser"]);
    assert!(first < second);
}
