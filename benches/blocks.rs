//! Benchmark of reading metadata blocks: texts of real issues, long texts without blocks, and
//! hostile texts.
//!
//! Run with `cargo bench --bench blocks`. Each figure is the median of several rounds in one
//! process, shown beside its bar. `benches/README.md` explains what is measured and how. The exit
//! code is 1 if a bar is missed.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and bytes of a benchmark are far below 2^52"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use planwright::formats::block::{self, Content};
use serde_json::{Map, Value, json};

/// Number of rounds of one measurement; the median counts.
const ROUNDS: usize = 15;

/// Minimum duration of a round; the work is repeated until it is reached.
const ROUND: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    let mut table = Table::default();
    bodies(&mut table);
    long(&mut table);
    hostile(&mut table);
    print!("{}", table.text);
    if table.missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Returns the time that `work` takes, in seconds.
fn time<T>(mut work: impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    let once = start.elapsed().max(Duration::from_nanos(100));
    let times = (ROUND.as_secs_f64() / once.as_secs_f64())
        .ceil()
        .clamp(1.0, 1e5);
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let mut done = 0.0;
            while done < times {
                black_box(work());
                done += 1.0;
            }
            start.elapsed().as_secs_f64() / times
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

/// The target of a figure.
enum Bar {
    Under(f64),
    AtLeast(f64),
    None,
}

#[derive(Default)]
struct Table {
    text: String,
    missed: bool,
}

impl Table {
    fn row(&mut self, name: &str, figure: f64, unit: &str, bar: &Bar) {
        let (bar, met) = match bar {
            Bar::Under(limit) => (format!("< {limit}"), figure < *limit),
            Bar::AtLeast(limit) => (format!(">= {limit}"), figure >= *limit),
            Bar::None => (String::new(), true),
        };
        self.missed |= !met;
        let verdict = if met { "" } else { "  MISSED" };
        let _ = writeln!(
            self.text,
            "{name:<58} {figure:>10.2} {unit:<6} {bar:>8}{verdict}"
        );
    }
}

/// Returns a header as erk wrote it in April 2026.
fn header() -> Map<String, Value> {
    let fields = json!({
        "schema_version": "2", "created_at": "2026-02-22T21:41:52.854678+00:00", "created_by": "octo-cat",
        "branch_name": "plnd/add-csv-export-02-22-2141", "plan_comment_id": 4_123_456_789_u64,
        "last_dispatched_run_id": "22286296681", "last_dispatched_node_id": "WFR_kwLOPxC3hc8AAAAFMF3maQ",
        "last_dispatched_at": "2026-02-22T14:03:43.531326", "last_local_impl_at": null, "last_local_impl_event": null,
        "last_local_impl_session": null, "last_local_impl_user": null,
        "last_remote_impl_at": "2026-02-22T21:52:36.955340+00:00", "last_remote_impl_run_id": "22286049334",
        "source_repo": "acme/widgets", "objective_issue": 77, "node_ids": ["1.1", "2A.1"],
        "created_from_session": "c17977a6-0b4a-4f0e-bdd4-00b462c46583", "lifecycle_stage": "implemented",
    });
    fields.as_object().cloned().unwrap_or_default()
}

fn event(number: u32) -> Map<String, Value> {
    let fields = json!({
        "status": "queued", "queued_at": "2025-11-25T16:00:00+00:00", "submitted_by": "octo-cat", "issue_number": number,
        "validation_results": { "issue_is_open": true, "has_label": true }, "expected_workflow": "implement plan",
        "trigger_mechanism": "label-based-webhook",
    });
    fields.as_object().cloned().unwrap_or_default()
}

/// Returns prose of at least `least` bytes with the elements that plans contain: headings, lists,
/// fences inside and outside of lists, and inline code.
fn prose(least: usize) -> String {
    let mut text = String::new();
    let mut step = 1;
    while text.len() < least {
        let _ = write!(
            text,
            "## Step {step}: move the export into its own module\n\nThe report is built in memory today, which fails for \
             large accounts. Stream it\nrow by row through `Writer::from_writer`, and keep the order of the columns as it \
             is.\nThe old endpoint stays until the next release; see the notes in `docs/export.md`.\n\n- read the rows in \
             pages of 500\n- write each page as it comes\n  and flush after it:\n\n  ```rust\n  writer.flush()?;\n  ```\n\n\
             1. add the module\n2. move the tests\n\n```sh\ncargo test export\n```\n\nNothing else changes for callers, \
             but the error names the row it failed at.\n\n"
        );
        step += 1;
    }
    text
}

/// Returns 60 KB of mostly prose: a header, three events and a plan of 6 KB.
fn mostly_prose() -> String {
    let mut text = block::render_yaml("plan-header", &header());
    for number in 1..=3 {
        text.push_str("\n\n");
        text.push_str(&prose(17_000));
        text.push_str(&block::render_yaml("submission-queued", &event(number)));
    }
    text.push_str("\n\n");
    text.push_str(&block::plan_body(&prose(6_000)));
    text
}

/// Returns 60 KB that consist of a header and one plan.
fn one_plan() -> String {
    [
        block::render_yaml("plan-header", &header()),
        block::plan_body(&prose(58_000)),
    ]
    .join("\n\n")
}

/// The minimum work of any reader: finds the markers and parses the YAML between them.
fn plain_scan(text: &str) -> usize {
    const OPENS: &str = "<!-- erk:metadata-block:";
    let mut found = 0;
    let mut rest = text;
    while let Some(at) = rest.find(OPENS) {
        rest = &rest[at + OPENS.len()..];
        let Some(end) = rest.find("<!-- /erk:metadata-block") else {
            continue;
        };
        let inside = &rest[..end];
        if let Some((_, yaml)) = inside.split_once("```yaml") {
            let yaml = yaml.split_once("```").map_or(yaml, |(yaml, _)| yaml);
            let fields: Option<Value> = serde_saphyr::from_str(yaml).ok();
            found += usize::from(black_box(fields).is_some());
        } else {
            found += black_box(inside.to_owned()).len().min(1);
        }
        rest = &rest[end..];
    }
    found
}

fn fields(text: &str) -> usize {
    let blocks = block::parse(text).blocks;
    blocks
        .iter()
        .filter(|found| matches!(found.content, Content::Yaml(_)))
        .count()
}

fn bodies(table: &mut Table) {
    for (name, text, yaml) in [
        ("issue body, mostly prose", mostly_prose(), 4),
        ("issue body, one plan", one_plan(), 1),
    ] {
        assert_eq!(fields(&text), yaml, "{name}");
        let name = format!("{name}, {} KB", text.len() / 1_000);
        let ours = time(|| block::parse(&text));
        let plain = time(|| plain_scan(&text));
        table.row(&name, ours * 1e6, "µs", &Bar::Under(60.0));
        table.row("  plain scan with YAML", plain * 1e6, "µs", &Bar::None);
        table.row("  ours / plain scan", ours / plain, "", &Bar::None);
    }
}

fn long(table: &mut Table) {
    let text = prose(10_000_000);
    let seconds = time(|| block::parse(&text));
    table.row(
        "10 MB without blocks",
        text.len() as f64 / seconds / 1e9,
        "GB/s",
        &Bar::AtLeast(1.0),
    );
}

fn hostile(table: &mut Table) {
    let opener = "<!-- erk:metadata-block:plan-hdr -->\n";
    let fences = "```\n<!-- erk:metadata-block:plan-body -->\n<details>\n<summary>x</summary>\n\n~~~\n- a\n  ```\n";
    for (name, unit, bar) in [
        ("unclosed openers", opener, Bar::Under(50.0)),
        ("unclosed fences and openers", fences, Bar::None),
    ] {
        let mut least = f64::MAX;
        for count in [160, 1_600, 16_000] {
            let text = unit.repeat(count * opener.len() / unit.len());
            let seconds = time(|| block::parse(&text));
            let bar = if count == 160 { &bar } else { &Bar::None };
            table.row(
                &format!("{name}, {:.1} KB", text.len() as f64 / 1e3),
                seconds * 1e6,
                "µs",
                bar,
            );
            let byte = seconds * 1e9 / text.len() as f64;
            least = least.min(byte);
            if count > 160 {
                // Linear work has a constant cost per byte; the factor allows for caches and other
                // load on the machine.
                table.row(
                    "  for each byte, times the least",
                    byte / least,
                    "",
                    &Bar::Under(3.0),
                );
            }
        }
    }
}
