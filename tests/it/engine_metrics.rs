//! What the engine records, with a recorder of the test's thread, and that the number of series does
//! not depend on how much the bot is used.

use planwright::adapters::metrics::recorder;
use planwright::engine::metrics::{ALL, Kind, initialise};
use planwright::engine::model::agent::{Ending, Limit};
use planwright::engine::model::run::State;
use planwright::engine::model::time::Millis;
use planwright::formats::command::{Command, Permission};

use crate::engine_agent::{GOOD, say, with};
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::prometheus::Metrics;
use crate::support::rig::{HERE, PLAN, Rig};

/// Number of issues in the test of the number of series.
const ISSUES: u64 = 1_000;

#[tokio::test]
async fn turns_of_agents_are_counted_with_tokens_and_costs() {
    let recorder = recorder().unwrap();
    let exporter = recorder.handle();
    let _here = metrics::set_default_local_recorder(&recorder);
    initialise(Millis(1_500));
    let mut agent = FakeAgent::new(vec![
        say(GOOD),
        Act::End(Ending::Limited(Limit::Deadline)),
        Act::End(Ending::Limited(Limit::Deadline)),
    ]);
    agent.price = 250_000;
    let rig = with(&agent, |settings| settings.tries = 1).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    let now = Metrics::parse(&exporter.render());
    let turns = "planwright_agent_turns_total";
    let labels = [("command", "save-plan"), ("outcome", "success")];
    assert!((now.sum(turns, &labels) - 1.0).abs() < f64::EPSILON);
    let cost = now.sum("planwright_agent_turn_cost_dollars_sum", &[]);
    assert!((cost - 0.25).abs() < f64::EPSILON, "{cost}");
    assert!(now.sum("planwright_agent_tokens_total", &[("kind", "output")]) > 0.0);
    assert!(now.sum("planwright_agent_turns_running", &[]).abs() < f64::EPSILON);
    let start = now.sum("planwright_process_start_time_seconds", &[]);
    assert!((start - 1.5).abs() < f64::EPSILON, "{start}");

    rig.forge.open(8, "Another", &[PLAN]);
    rig.deliver(rig.trigger(Command::SavePlan, "ada", 7, 8))
        .await;
    rig.settle().await;
    let now = Metrics::parse(&exporter.render());
    assert!(now.sum(turns, &[("outcome", "deadline")]) >= 1.0);
}

/// The bar: a constant number of series over 1,000 issues.
#[tokio::test]
async fn the_number_of_series_does_not_grow_with_issues_and_people() {
    let recorder = recorder().unwrap();
    let exporter = recorder.handle();
    let _here = metrics::set_default_local_recorder(&recorder);
    initialise(Millis(0));
    let rig = Rig::new().await;
    rig.say(Command::SaveRawPlan).await;
    rig.settle().await;
    let before = Metrics::parse(&exporter.render()).series();
    let worker = rig.worker("series");
    for number in HERE + 1..HERE + ISSUES {
        let login = format!("person-{number}");
        rig.forge.grant(&login, number, Permission::Write);
        rig.forge.open(number, "Search is slow", &[PLAN]);
        // Every tenth saves a plan; the others are commands that cost little.
        let command = match number % 10 {
            0 => Command::SaveRawPlan,
            1 => Command::SavePlan,
            2..5 => Command::Cancel,
            _ => Command::Help,
        };
        rig.deliver(rig.trigger(command, &login, number, number))
            .await;
        worker.step().await.unwrap();
    }
    rig.settle().await;
    let after = Metrics::parse(&exporter.render());
    let ended = after.sum("planwright_runs_ended_total", &[]);
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let expected = ISSUES as f64;
    assert!((ended - expected).abs() < f64::EPSILON, "{ended}");
    let grown: Vec<_> = after.series().difference(&before).cloned().collect();
    assert!(grown.is_empty(), "{grown:#?}");
    assert!(before.len() < 2_000, "{}", before.len());
}

/// Each metric is served from the start with its type, description and labels.
#[test]
fn all_metrics_are_described() {
    let recorder = recorder().unwrap();
    let _here = metrics::set_default_local_recorder(&recorder);
    initialise(Millis(0));
    let served = Metrics::parse(&recorder.handle().render());
    assert_eq!(served.described.len(), ALL.len());
    for metric in ALL {
        let (kind, help) = &served.described[metric.name];
        let expected = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram(_) => "histogram",
        };
        assert_eq!((kind.as_str(), help.as_str()), (expected, metric.help));
        let mut series = 0;
        for (name, labels) in served.series() {
            let base = match metric.kind {
                Kind::Histogram(_) => ["_bucket", "_sum", "_count"]
                    .iter()
                    .find_map(|end| name.strip_suffix(end)),
                _ => Some(name.as_str()),
            };
            if base == Some(metric.name) {
                let labels: Vec<&str> = labels.keys().map(String::as_str).collect();
                let mut expected = metric.labels.to_vec();
                expected.extend(name.ends_with("_bucket").then_some("le"));
                expected.sort_unstable();
                assert_eq!(labels, expected, "{name}");
                series += 1;
            }
        }
        assert!(series > 0, "{}", metric.name);
    }
}

/// The table in the documentation is that of the program.
#[test]
fn the_documentation_lists_all_metrics() {
    let page = include_str!("../../docs/metrics.md");
    let rows = page
        .lines()
        .skip_while(|line| *line != "| name | type | labels | meaning |")
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let rows: Vec<String> = rows.map(str::to_owned).collect();
    let expected = ALL.iter().map(|metric| {
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram(_) => "histogram",
        };
        let labels: Vec<String> = metric.labels.iter().map(|one| format!("`{one}`")).collect();
        let help = metric.help.trim_end_matches('.');
        let help = help.replace("store.retention_days", "`store.retention_days`");
        format!(
            "| `{}` | {kind} | {} | {help} |",
            metric.name,
            labels.join(", ")
        )
    });
    assert_eq!(rows, expected.collect::<Vec<_>>());
}
