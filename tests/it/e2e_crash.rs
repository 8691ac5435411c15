//! The crash matrix: the bot's process is killed at every write of a save, or GitHub's answer is lost there, and in the
//! end there is exactly one plan.

use std::time::Instant;

use futures_util::{StreamExt, stream};
use http::Method;
use planwright::adapters::simulator::{Fault, Trouble};
use planwright::engine::run::State;
use planwright::formats::plan::document::plan_text;

use crate::support::rig::PLAN;
use crate::support::system::{Moment, RunRow, System};

const REPO: &str = "acme/search";
/// Cases at work at the same time.
const TOGETHER: usize = 4;

/// A conversation with a plan, and the bot listening.
async fn scene() -> (System, u64) {
    let system = System::start().await;
    system.repository(REPO, false);
    let issue = system
        .sim
        .open_issue(REPO, "bob", "Search is slow", "It is.");
    let issue = issue.unwrap();
    system.sim.comment(REPO, issue, "bob", PLAN).unwrap();
    system.sim.settle().await;
    (system, issue)
}

/// One plan issue with its comment, one status comment in its final form, one closing reaction, one run.
fn assert_saved_once(system: &System, issue: u64, asked: u64, runs: &[RunRow], case: &str) {
    assert_eq!(runs.len(), 1, "{case}: {runs:#?}");
    assert_eq!(runs[0].state, State::Succeeded, "{case}: {runs:#?}");
    let plans = system.plans(REPO);
    assert_eq!(plans.len(), 1, "{case}: plan issues");
    let plan = &plans[0];
    assert_eq!(plan.title, "Cache the search index", "{case}");
    assert_eq!(plan.labels, ["erk-plan"], "{case}");
    let comments = system.said(REPO, plan.number);
    assert_eq!(comments.len(), 1, "{case}: comments of the plan issue");
    let document = system.document(REPO, plan.number);
    assert_eq!(plan_text(&document), PLAN, "{case}");
    let body = plan.body.as_deref().unwrap_or_default();
    let id = format!("plan_comment_id: {}", comments[0].id);
    assert!(body.contains(&id), "{case}: {body}");
    let said = system.said(REPO, issue);
    assert_eq!(said.len(), 1, "{case}: {said:#?}");
    let end = "✅ Plan saved to GitHub issue";
    assert!(said[0].body.contains(end), "{case}: {}", said[0].body);
    let reactions = system.sim.comment_reactions(asked).unwrap();
    assert_eq!(reactions, ["rocket"], "{case}");
}

/// Methods of the writes of a save that nothing disturbs.
async fn writes_of_a_save() -> Vec<Method> {
    let (mut system, issue) = scene().await;
    let asked = system.sim.comment(REPO, issue, "ada", "/save-plan");
    let runs = system.run_to_rest().await;
    assert_saved_once(&system, issue, asked.unwrap(), &runs, "undisturbed");
    system.stop().await;
    system.gate.writes()
}

async fn killed_at(write: usize, moment: Moment) {
    let case = format!("killed {moment:?} write {write}");
    let (mut system, issue) = scene().await;
    system.gate.arm(write, moment);
    let asked = system.sim.comment(REPO, issue, "ada", "/save-plan");
    system.caught().await;
    system.kill().await;
    system.start_bot().await;
    // The kill may have come before the acknowledgement.
    system.redeliver_failed().await;
    let runs = system.run_to_rest().await;
    assert_saved_once(&system, issue, asked.unwrap(), &runs, &case);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_at_any_write_leaves_exactly_one_plan() {
    let writes = writes_of_a_save().await.len();
    assert!(writes >= 8, "{writes}");
    let began = Instant::now();
    let moments = [Moment::Before, Moment::During, Moment::After];
    let cases = (0..writes).flat_map(|write| moments.map(|moment| killed_at(write, moment)));
    let count = stream::iter(cases).buffer_unordered(TOGETHER).count().await;
    println!("{count} kills in {:.1?}", began.elapsed());
    assert_eq!(count, 3 * writes);
}

async fn answer_spoilt_at(write: usize, methods: &[Method], trouble: Trouble) {
    let case = format!("{trouble:?} at write {write}");
    let (system, issue) = scene().await;
    let method = &methods[write];
    let earlier = methods[..write].iter().filter(|other| *other == method);
    let earlier = u32::try_from(earlier.count()).unwrap();
    let fault = Fault::on(method.as_str(), "/repos/**", trouble).after(earlier);
    system.sim.faults().push(fault);
    let asked = system.sim.comment(REPO, issue, "ada", "/save-plan");
    let runs = system.run_to_rest().await;
    assert_eq!(system.sim.faults().struck(), 1, "{case}");
    assert_saved_once(&system, issue, asked.unwrap(), &runs, &case);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_502_or_no_answer_after_any_write_leaves_exactly_one_plan() {
    let methods = &writes_of_a_save().await;
    let began = Instant::now();
    let troubles = [Trouble::BadGatewayAfter, Trouble::LostAnswer];
    let cases = (0..methods.len()).flat_map(|write| {
        troubles
            .clone()
            .map(|trouble| answer_spoilt_at(write, methods, trouble))
    });
    let count = stream::iter(cases).buffer_unordered(TOGETHER).count().await;
    println!("{count} spoilt answers in {:.1?}", began.elapsed());
    assert_eq!(count, 2 * methods.len());
}
