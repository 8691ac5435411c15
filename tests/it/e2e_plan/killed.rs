//! The bot's process is killed (SIGKILL) at every write of a plan with preceding research. In the
//! end there is one plan issue and one comment per topic, and nothing was paid for twice.

use super::assert_planned;
use crate::e2e_research::REPO;
use crate::e2e_research::shell::{asked, at_any, is_shown, quick};
use crate::support::system::{Moment, System};

const COMMAND: &str = "/plan research=\"one; two\" keep it small";

/// The plan with its one comment, and one comment with a report for each topic.
async fn assert_whole(system: &System, issue: u64) {
    let (_, comments) = assert_planned(system, issue).await;
    assert_eq!(comments.len(), 1, "{comments:#?}");
    let said = system.said(REPO, issue);
    assert_eq!(said.len(), 3, "{said:#?}");
    for (at, comment) in said[1..].iter().enumerate() {
        let head = format!("### Research {} of 2: ", at + 1);
        assert!(comment.body.starts_with(&head), "{}", comment.body);
        assert!(
            comment.body.contains("✅ written, for ada"),
            "{}",
            comment.body
        );
    }
}

/// Whether the plan issue was made.
fn is_made(system: &System) -> bool {
    let requests = system.sim.requests();
    let mut requests = requests.iter();
    requests.any(|one| one.method == "POST" && one.path.ends_with("/issues"))
}

async fn killed_at(write: usize, moment: Moment) -> bool {
    let case = format!("killed {moment:?} write {write}");
    let (mut system, issue, folder) = quick().await;
    system.gate.arm(write, moment);
    system.sim.comment(REPO, issue, "ada", COMMAND).unwrap();
    let caught = system.caught_or_rest().await;
    system.kill().await;
    let done = [is_shown(&system, 1), is_shown(&system, 2), is_made(&system)];
    system.start_bot().await;
    // The kill may have come before the acknowledgement.
    system.redeliver_failed().await;
    println!("{case}");
    assert_whole(&system, issue).await;
    for (file, done) in ["001-one.md", "002-two.md", "plan.md"].iter().zip(done) {
        let times = asked(&folder, file);
        // Before its outcome is on GitHub it may have been at work when the bot was killed.
        let most = if done { 1 } else { 2 };
        assert!((1..=most).contains(&times), "{case}: {file} {times} times");
    }
    caught
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_any_write_there_is_one_plan_and_nothing_finished_is_done_again() {
    let (mut undisturbed, issue, folder) = quick().await;
    undisturbed
        .sim
        .comment(REPO, issue, "ada", COMMAND)
        .unwrap();
    assert_whole(&undisturbed, issue).await;
    assert_eq!(asked(&folder, "plan.md"), 1);
    undisturbed.stop().await;
    let writes = undisturbed.gate.writes().len();
    assert!(writes > 15, "{writes}");
    at_any(writes, killed_at).await;
}
