//! The bot's process is killed (SIGKILL) at every point of research. The next process completes the
//! rest without repeating anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use planwright::engine::model::run::State;
use planwright::formats::report::ReportTally;

use super::shell::{asked, at_any, first_shown, is_shown, quick};
use super::{REPO, assert_comments, file, issue, no_process_left, only, requests, system, writes};
use crate::peer_claude::processes;
use crate::support::model::{Asked, Model, Turn};
use crate::support::research::report;
use crate::support::system::{Moment, System};

/// A model that hangs where `hangs` says so, until it is healed.
async fn ill(hangs: impl Fn(&Asked) -> bool + Send + Sync + 'static) -> (Model, Arc<AtomicBool>) {
    let healed = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&healed);
    let model = Model::deciding(move |asked| {
        if !now.load(Ordering::SeqCst) && hangs(asked) {
            return Turn::text("I am thinking").hanging();
        }
        writes(&file(asked).expect("a researcher"), asked)
    });
    (model.await, healed)
}

/// Kills the bot and starts it again, with a model that answers; no agent of the first one lives
/// on.
async fn again(system: &mut System, healed: &AtomicBool) {
    assert!(!processes::with(&[&system.agents()]).is_empty());
    system.kill().await;
    wait_for_no_agents(system).await;
    healed.store(true, Ordering::SeqCst);
    system.start_bot().await;
}

/// Returns when no process of an agent is left: the helper ends them when the bot is gone. Looks as
/// often as it can.
async fn wait_for_no_agents(system: &System) {
    let looking = async {
        while !processes::with(&[&system.agents()]).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(30), looking).await;
    in_time.expect("agents end with the bot");
}

/// Three reports in three comments, one summary, one run.
async fn assert_done(system: &System, issue: u64, topics: &[&str]) {
    let runs = system.run_to_rest().await;
    let said = system.said(REPO, issue);
    assert_eq!(only(&runs, "research").state, State::Succeeded, "{said:#?}");
    let reports = assert_comments(&said, topics);
    for (at, (found, topic)) in reports.iter().zip(topics).enumerate() {
        let own = report(&format!("{:03}-{topic}.md", at + 1));
        assert_eq!(found.as_deref(), Some(own.as_str()));
    }
    let tally = ReportTally {
        expected: topics.len(),
        ok: topics.len(),
        ..ReportTally::default()
    };
    let all = tally.to_string();
    assert!(said[0].body.contains(&all), "{}", said[0].body);
    no_process_left(system);
    system.tap.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_any_report_all_are_done_again() {
    let (model, healed) = ill(|_| true).await;
    let Some(mut system) = system(&model, &[]).await else {
        return;
    };
    let issue = issue(&system);
    let command = "/research one; two; three";
    system.sim.comment(REPO, issue, "ada", command).unwrap();
    model.wait_for(3).await;
    again(&mut system, &healed).await;
    assert_done(&system, issue, &["one", "two", "three"]).await;
    let counts = ["001-one.md", "002-two.md", "003-three.md"].map(|file| requests(&model, file));
    assert_eq!(counts, [3, 3, 3]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_one_report_the_others_are_done_again() {
    let (model, healed) = ill(|asked| file(asked).as_deref() != Some("002-two.md")).await;
    let Some(mut system) = system(&model, &[]).await else {
        return;
    };
    let issue = issue(&system);
    let command = "/research one; two; three";
    system.sim.comment(REPO, issue, "ada", command).unwrap();
    let written = || {
        let said = system.said(REPO, issue);
        said.len() == 4 && said[2].body.contains("✅ written")
    };
    system.shown("report", written).await;
    model.wait_for(4).await;
    again(&mut system, &healed).await;
    assert_done(&system, issue, &["one", "two", "three"]).await;
    let counts = ["001-one.md", "002-two.md", "003-three.md"].map(|file| requests(&model, file));
    assert_eq!(counts, [3, 2, 3], "the second one was finished");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn between_report_and_comment_nothing_is_done_again() {
    let alone = || async {
        let (model, _) = ill(|_| false).await;
        let system = system(&model, &[]).await?;
        let issue = issue(&system);
        Some((model, system, issue))
    };
    let Some((_model, undisturbed, issue)) = alone().await else {
        return;
    };
    undisturbed
        .sim
        .comment(REPO, issue, "ada", "/research one")
        .unwrap();
    assert_done(&undisturbed, issue, &["one"]).await;
    let shown = first_shown(&undisturbed, 1);
    for moment in [Moment::Before, Moment::During] {
        let (model, mut system, issue) = alone().await.unwrap();
        system.gate.arm(shown, moment);
        system
            .sim
            .comment(REPO, issue, "ada", "/research one")
            .unwrap();
        system.caught().await;
        system.kill().await;
        system.start_bot().await;
        assert_done(&system, issue, &["one"]).await;
        assert_eq!(requests(&model, "001-one.md"), 2, "{moment:?}");
    }
}

async fn killed_at(write: usize, moment: Moment) -> bool {
    let case = format!("killed {moment:?} write {write}");
    let (mut system, issue, folder) = quick().await;
    system.gate.arm(write, moment);
    system
        .sim
        .comment(REPO, issue, "ada", "/research one; two")
        .unwrap();
    let caught = system.caught_or_rest().await;
    system.kill().await;
    let shown = [1, 2].map(|topic| is_shown(&system, topic));
    system.start_bot().await;
    // The kill may have come before the acknowledgement.
    system.redeliver_failed().await;
    println!("{case}");
    assert_done(&system, issue, &["one", "two"]).await;
    for (file, shown) in ["001-one.md", "002-two.md"].iter().zip(shown) {
        let times = asked(&folder, file);
        // Before it is shown it may have been at work when the bot was killed.
        let most = if shown { 1 } else { 2 };
        assert!((1..=most).contains(&times), "{case}: {file} {times} times");
    }
    caught
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_any_write_each_topic_has_one_comment_and_finished_ones_are_not_done_again() {
    let (mut undisturbed, issue, folder) = quick().await;
    undisturbed
        .sim
        .comment(REPO, issue, "ada", "/research one; two")
        .unwrap();
    assert_done(&undisturbed, issue, &["one", "two"]).await;
    assert_eq!(
        [asked(&folder, "001-one.md"), asked(&folder, "002-two.md")],
        [1, 1]
    );
    undisturbed.stop().await;
    let writes = undisturbed.gate.writes().len();
    assert!(writes > 10, "{writes}");
    at_any(writes, killed_at).await;
}
