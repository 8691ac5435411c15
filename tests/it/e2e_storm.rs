//! A storm of commands on many issues while the bot is killed repeatedly. Every acknowledged
//! command is reported exactly once, in order.

#[cfg(target_os = "linux")]
mod replicas;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use github_simulator::model::Comment;
use planwright::engine::model::run::State;
use planwright::formats::block::{self, Content};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::support::commands::{Asked, ask, open_issues};
use crate::support::rig::PLAN;
use crate::support::system::{Options, RunRow, System};

/// Owners, each with an installation of its own: GitHub's limit of 5,000 requests an hour counts by
/// installation.
const OWNERS: usize = 10;
const KILLS: usize = 8;
const SEED: u64 = 0x0070_1a44;

/// Returns the seed, which `PLANWRIGHT_SEED` changes. It is printed, so that a failure shows it.
fn seed() -> u64 {
    let named = std::env::var("PLANWRIGHT_SEED").ok();
    let seed = named.and_then(|text| text.parse().ok()).unwrap_or(SEED);
    println!("PLANWRIGHT_SEED={seed}");
    seed
}

/// Ids of the comments whose deliveries were acknowledged, with the attempts: the first made, the
/// first acknowledged.
fn acknowledged(system: &System) -> HashMap<u64, (u64, u64)> {
    let mut attempts: HashMap<String, (Option<u64>, u64, Option<u64>)> = HashMap::new();
    for one in system.sim.deliveries() {
        if one.event != "issue_comment" || one.action.as_deref() != Some("created") {
            continue;
        }
        let payload: serde_json::Value = serde_json::from_slice(&one.payload).unwrap();
        if payload["sender"]["login"] != "ada" {
            continue;
        }
        let known = attempts.entry(one.guid).or_insert((None, one.id, None));
        known.0 = payload["comment"]["id"].as_u64();
        if one.status_code.is_some_and(|code| code / 100 == 2) {
            known.2 = known.2.or(Some(one.id));
        }
    }
    attempts
        .into_values()
        .filter_map(|(comment, first, done)| Some((comment?, (first, done?))))
        .collect()
}

/// The comment that a run answered with; fails unless there is exactly one.
fn report<'a>(said: &'a [Comment], run: &RunRow) -> &'a Comment {
    let key = if run.command == "plan-status" {
        "reply-0"
    } else {
        "status"
    };
    let marker = format!("<!-- planwright:effect {}/{key} -->", run.id);
    let mut own = said.iter().filter(|one| one.body.ends_with(&marker));
    let first = own.next();
    assert!(own.next().is_none(), "two reports of {run:?}");
    first.unwrap_or_else(|| panic!("no report of {run:?}"))
}

fn plan_issue(body: &str) -> Option<u64> {
    let parsed = block::parse(body);
    let Content::Yaml(fields) = &block::find(&parsed, "planwright-result")?.content else {
        return None;
    };
    fields["plan_issue"].as_u64()
}

/// Everything that must hold for one command; gives its plan issue, and whether it was saved
/// before.
fn check(system: &System, asked: &Asked, run: &RunRow, said: &[Comment]) -> Option<(u64, bool)> {
    let report = report(said, run);
    let text = &report.body;
    let reactions = system.sim.comment_reactions(asked.comment).unwrap();
    let (good, reaction) = match (run.command.as_str(), asked.has_plan) {
        ("plan-status", _) => (run.state == State::Succeeded, "rocket"),
        (_, true) => {
            let saved = text.starts_with("✅ Plan saved");
            let known = text.starts_with("✅ Already saved as");
            (saved != known && run.state == State::Succeeded, "rocket")
        }
        (_, false) => {
            let said = text.starts_with("## Error: no_plan_found\n");
            (
                said && run.code.as_deref() == Some("no_plan_found"),
                "confused",
            )
        }
    };
    assert!(
        good && reactions == [reaction],
        "{run:?} {reactions:?}\n{text}\n{}",
        system.story(run, report.id)
    );
    let saves = asked.has_plan && run.command != "plan-status";
    saves.then(|| {
        let plan = plan_issue(text).expect("the report names the plan issue");
        (plan, text.contains("already_saved: true"))
    })
}

fn check_all(system: &System, asked: &[Asked], runs: &[RunRow]) -> usize {
    let acknowledged = acknowledged(system);
    let mut by_comment: HashMap<u64, &RunRow> = HashMap::new();
    for run in runs {
        let twice = by_comment.insert(run.asked_in().unwrap(), run);
        assert!(twice.is_none(), "two runs for one command: {run:?}");
    }
    let mut plans: HashSet<(String, u64)> = HashSet::new();
    let mut places: BTreeMap<(&str, u64), Vec<&Asked>> = BTreeMap::new();
    for one in asked {
        places
            .entry((&one.repository, one.issue))
            .or_default()
            .push(one);
    }
    for ((repository, issue), commands) in places {
        let said = system.said(repository, issue);
        assert_eq!(
            said.len(),
            commands.len(),
            "{repository}#{issue}: one report each"
        );
        // What is known of the commands here: attempts, whether it saved the plan, time of the
        // final report.
        let mut known = Vec::new();
        let mut plan_here = None;
        for one in &commands {
            let attempts = acknowledged[&one.comment];
            let run = by_comment[&one.comment];
            let saved = check(system, one, run, &said).map(|(plan, before)| {
                let here = *plan_here.get_or_insert(plan);
                assert_eq!(here, plan, "one plan issue for all commands: {run:?}");
                let new = !before && plans.insert((repository.to_owned(), plan));
                assert!(new || before, "saved twice: {run:?}");
                if new {
                    let body = system.sim.issue(repository, plan).unwrap().body;
                    let link = format!("issuecomment-{}", one.comment);
                    assert!(body.unwrap().contains(&link), "{repository}#{plan}");
                    let comments = system.said(repository, plan).len();
                    assert_eq!(comments, 1, "{repository}#{plan}");
                }
                new
            });
            if run.command != "plan-status" {
                known.push((attempts, saved, report(&said, run).updated));
            }
        }
        // A delivery that had to be repeated may be overtaken; what was acknowledged before another
        // was sent may not.
        for (index, earlier) in known.iter().enumerate() {
            for later in &known[index + 1..] {
                let (earlier, later) = match (earlier.0, later.0) {
                    ((_, done), (first, _)) if done < first => (earlier, later),
                    ((first, _), (_, done)) if done < first => (later, earlier),
                    _ => continue,
                };
                assert!(
                    earlier.2 <= later.2,
                    "{repository}#{issue}: reports in order"
                );
                if earlier.1.is_some() {
                    assert_ne!(
                        later.1,
                        Some(true),
                        "{repository}#{issue}: the first one saves"
                    );
                }
            }
        }
    }
    let repositories: HashSet<&str> = asked.iter().map(|one| &*one.repository).collect();
    let issues: usize = repositories
        .into_iter()
        .map(|repository| system.plans(repository).len())
        .sum();
    assert_eq!(issues, plans.len(), "no plan issue but those reported");
    issues
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_command_is_reported_exactly_once_however_often_the_bot_dies() {
    storm(200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo test --test it a_thousand_commands -- --ignored --nocapture"]
async fn a_thousand_commands_are_reported_exactly_once_however_often_the_bot_dies() {
    storm(1_000).await;
}

async fn storm(count: usize) {
    let mut system = System::with(Options {
        // Whoever is first in line is at work at every kill: that must not pass for its own fault
        // here.
        environment: vec![("PLANWRIGHT_WORKER_MAX_ATTEMPTS", "20".to_owned())],
        ..Options::default()
    })
    .await;
    let mut random = StdRng::seed_from_u64(seed());
    let places = open_issues(&system, OWNERS, PLAN);
    let began = Instant::now();
    let mut asked = Vec::new();
    let mut refused = 0;
    for kill in 0..=KILLS {
        // The first commands of a round come while the bot is away.
        let round = count * (kill + 1) / (KILLS + 1) - asked.len();
        let away = if kill == 0 { 0 } else { round / 4 };
        for _ in 0..away {
            asked.push(ask(&system, &mut random, &places));
        }
        if kill > 0 {
            system.sim.settle().await;
            refused += away;
            system.start_bot().await;
            system.redeliver_failed().await;
        }
        for _ in away..round {
            asked.push(ask(&system, &mut random, &places));
        }
        if kill < KILLS {
            let most = u64::try_from(round * 6).unwrap();
            system.requests(random.random_range(1..most)).await;
            system.kill().await;
        }
    }
    system.redeliver_failed().await;
    let runs = system.run_to_rest().await;
    let took = began.elapsed();
    assert_eq!(runs.len(), count, "all came through in the end");
    let plans = check_all(&system, &asked, &runs);
    system.stop().await;
    println!(
        "{count} commands, {KILLS} kills, at least {refused} refused, {plans} plans, {} requests: {took:.1?}",
        system.gate.requests()
    );
}
