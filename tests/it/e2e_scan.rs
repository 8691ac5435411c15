//! Commands for which GitHub never created a delivery are found in comments and labels, over real
//! HTTP and checked against GitHub's API description.

use std::time::Duration;

use chrono::Utc;
use github_simulator::WebhookFault;
use planwright::engine::model::run::State;
use planwright::formats::command::Command;

use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

const REPO: &str = "acme/search";

/// Finds comments at once, and logs every scan.
fn environment() -> Vec<(&'static str, String)> {
    vec![
        ("PLANWRIGHT_SCAN_SETTLE_SECONDS", "0".to_owned()),
        (
            "PLANWRIGHT_LOG_LEVEL",
            "info,planwright::engine::scan=debug".to_owned(),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_without_a_delivery_are_found_once() {
    let mut system = System::with(Options {
        judged: true,
        environment: environment(),
        ..Options::default()
    })
    .await;
    system.repository(REPO, false);
    let open = |title: &str| system.sim.open_issue(REPO, "bob", title, PLAN).unwrap();
    let (commented, labeled, edited, known) = (open("1"), open("2"), open("3"), open("4"));
    let pull = system
        .sim
        .open_pull_request(REPO, "bob", "5", PLAN)
        .unwrap();
    let arrived = system
        .sim
        .comment(REPO, known, "ada", "/save-plan")
        .unwrap();
    system.run_to_rest().await;
    system.stop().await;

    system
        .sim
        .set_webhook_faults(|_| Some(WebhookFault::NotCreated));
    let comment = system
        .sim
        .comment(REPO, commented, "ada", "/save-plan")
        .unwrap();
    system
        .sim
        .comment(REPO, commented, "ada", "on/off")
        .unwrap();
    for (number, login) in [(labeled, "ada"), (pull, "bob")] {
        system.sim.label(REPO, number, login, "save-plan").unwrap();
    }
    let changed = system.sim.comment(REPO, edited, "ada", "Hm.").unwrap();
    let earlier = Utc::now() - Duration::from_secs(30);
    system
        .sim
        .set_created(REPO, edited, Some(changed), earlier)
        .unwrap();
    system
        .sim
        .edit_comment(changed, "ada", "/save-plan")
        .unwrap();
    system.sim.clear_webhook_faults();
    system.start_bot().await;
    system.logged("found commands for which").await;
    let runs = system.run_to_rest().await;
    assert!(
        runs.iter().all(|run| run.state == State::Succeeded),
        "{runs:#?}"
    );
    let numbers: Vec<u64> = runs.iter().map(|run| run.trigger.place.number).collect();
    assert_eq!(numbers.len(), 4, "{runs:#?}");
    assert_eq!(runs[0].asked_in(), Some(arrived));
    let found: std::collections::BTreeSet<u64> = numbers[1..].iter().copied().collect();
    assert_eq!(found, [commented, labeled, pull].into());
    let run = runs.iter().find(|run| run.asked_in() == Some(comment));
    assert_eq!(run.unwrap().trigger.command, Command::SavePlan);
    let on_pull = runs.iter().find(|run| run.trigger.place.number == pull);
    let on_pull = on_pull.unwrap();
    assert!(on_pull.trigger.place.pull_request);
    assert_eq!(on_pull.trigger.actor.login, "bob");
    // As if the delivery had come: the label is taken off, the comment has its reaction.
    for number in [labeled, pull] {
        let labels = system.sim.issue(REPO, number).unwrap().labels;
        assert!(labels.is_empty(), "{labels:?}");
    }
    assert_eq!(system.sim.comment_reactions(comment).unwrap(), ["rocket"]);
    assert_eq!(system.said(REPO, edited).len(), 0);
    assert_eq!(
        system.decisions().await,
        [
            "scan issue_comment ignored GitHub created no delivery for this comment, and it was edited since, so that it \
             is not known who wrote the command; give it in a new comment"
        ]
    );

    // Nothing is found twice.
    system.stop().await;
    system.start_bot().await;
    system.logged("repositories scanned").await;
    assert_eq!(system.run_to_rest().await.len(), 4);
    system.stop().await;
    system.tap.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scan_of_what_has_not_changed_costs_nothing() {
    let mut system = System::with(Options {
        judged: true,
        environment: environment(),
        ..Options::default()
    })
    .await;
    system.repository(REPO, false);
    let lists = |system: &System| {
        let requests = system.sim.requests();
        let lists = requests
            .iter()
            .filter(|one| one.method == "GET" && one.query.iter().any(|(name, _)| name == "since"));
        lists.map(|one| one.status.unwrap()).collect::<Vec<_>>()
    };
    // The first start knew no repository.
    assert_eq!(lists(&system), [0_u16; 0]);
    for expected in [[200, 200], [304, 304]] {
        system.stop().await;
        let before = lists(&system).len();
        system.start_bot().await;
        system.logged("repositories scanned").await;
        assert_eq!(lists(&system)[before..], expected);
    }
    system.tap.assert_clean();
}
