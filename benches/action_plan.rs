//! Benchmark of reading action plans, compared with comrak's parse of the same text: typical, long
//! and hostile plans.
//!
//! Run with `cargo bench --bench action_plan`. Each figure is the median of several rounds in one
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

use comrak::{Arena, parse_document};
use planwright::formats::{action_plan, markdown};
use rustix::time::{ClockId, clock_gettime};

/// Number of rounds of one measurement; the median counts.
const ROUNDS: usize = 15;

/// Duration that a round approaches by repeating its work.
const ROUND: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let mut missed = false;
    let mut row = |name: &str, figure: f64, unit: &str, bar: Option<f64>| {
        let met = bar.is_none_or(|bar| figure < bar);
        missed |= !met;
        let bar = bar.map_or_else(String::new, |bar| format!("< {bar:.2}"));
        let verdict = if met { "" } else { "  MISSED" };
        println!("{name:<58} {figure:>10.2} {unit:<6} {bar:>8}{verdict}");
    };
    for (name, actions, bytes, bar, ratio_bar) in [
        ("200 actions", 200, 96_000, None, Some(1.25)),
        ("long plan", 2_000, 1_080_000, Some(12.0), None),
    ] {
        let text = plan(actions, bytes);
        let (ours, theirs) = rounds(
            || action_plan::parse(&text).map(|plan| plan.actions.len()),
            || comrak(&text),
        );
        let ratios = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs);
        let ratio = median(ratios.collect());
        let (ours, theirs) = (median(ours), median(theirs));
        let look = time(|| action_plan::is_action_plan(&text));
        let size = text.len() / 1000;
        row(
            &format!("{name}, {size} KB: parse and check"),
            ours * 1e3,
            "ms",
            bar,
        );
        row(&format!("{name}: comrak alone"), theirs * 1e3, "ms", None);
        row(
            &format!("{name}: ratio to comrak"),
            ratio,
            "times",
            ratio_bar,
        );
        row(&format!("{name}: recognised"), look * 1e3, "ms", None);
    }
    for (name, make) in hostile() {
        let mut least = f64::MAX;
        for bytes in [10_000, 100_000, 1_000_000] {
            let text = make(bytes);
            let (refused, comrak) = in_turn(
                || action_plan::parse(&text).map_err(|it| it.diff().to_string().len()),
                || comrak(&text),
            );
            // comrak's own time is subtracted. Values below one nanosecond are noise.
            let each = ((refused - comrak) / text.len() as f64 * 1e9).max(1.0);
            let size = bytes / 1000;
            row(
                &format!("{name}, {size} KB: refused"),
                refused * 1e3,
                "ms",
                None,
            );
            let bar = (bytes > 10_000).then_some(least * 8.0);
            row(
                &format!("{name}, {size} KB: each byte, beside comrak"),
                each,
                "ns",
                bar,
            );
            least = least.min(each);
        }
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Returns the processor time that `work` takes, in seconds.
fn time<T>(work: impl FnMut() -> T) -> f64 {
    in_turn(work, || ()).0
}

fn in_turn<T, U>(ours: impl FnMut() -> T, theirs: impl FnMut() -> U) -> (f64, f64) {
    let (ours, theirs) = rounds(ours, theirs);
    (median(ours), median(theirs))
}

/// Returns the processor times of `ours` and `theirs`, measured alternately, in seconds.
fn rounds<T, U>(
    mut ours: impl FnMut() -> T,
    mut theirs: impl FnMut() -> U,
) -> (Vec<f64>, Vec<f64>) {
    let often = (times(&mut ours), times(&mut theirs));
    (0..ROUNDS)
        .map(|_| (round(often.0, &mut ours), round(often.1, &mut theirs)))
        .unzip()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Returns how often `work` fits into a round, at least once.
fn times<T>(work: &mut impl FnMut() -> T) -> u32 {
    let start = Instant::now();
    black_box(work());
    let once = start.elapsed().max(Duration::from_micros(1)).as_nanos();
    u32::try_from(ROUND.as_nanos() / once).unwrap_or(1).max(1)
}

fn round<T>(times: u32, work: &mut impl FnMut() -> T) -> f64 {
    let start = processor_time();
    for _ in 0..times {
        black_box(work());
    }
    (processor_time() - start) / f64::from(times)
}

/// Returns the processor time used by this thread, in seconds with nanosecond resolution. `/proc`
/// has only the resolution of the scheduler's tick.
fn processor_time() -> f64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// The baseline: parses the same text with the same options and ignores the result.
fn comrak(text: &str) -> usize {
    let arena = Arena::new();
    parse_document(&arena, text, &markdown::options())
        .children()
        .count()
}

const HEAD: &str = "# Export reports\n\n- **Status:** Green\n- **Agent:** Developer\n\n## Rationale\n\n````text\nWhy.\n````\n\n\
                    ## Action Plan\n";

/// Returns a plan of `actions` actions of four kinds, about `bytes` long.
fn plan(actions: usize, bytes: usize) -> String {
    let mut text = HEAD.to_owned();
    let share = (bytes / actions).saturating_sub(170) * 3 / 4;
    let mut code = String::new();
    while code.len() < share {
        let _ = writeln!(
            code,
            "    let row{} = read(&source, {});",
            code.len(),
            code.len() / 3
        );
    }
    for number in 0..actions {
        let _ = match number % 6 {
            0 => writeln!(
                text,
                "\n### `READ`\n\n- **Resource:** [src/part{number}.rs](/src/part{number}.rs)\n- **Description:** Look at it."
            ),
            1 | 2 => writeln!(
                text,
                "\n### `CREATE`\n\n- **File Path:** [src/part{number}.rs](/src/part{number}.rs)\n- **Description:** Part `{number}`.\n\n````rust\n{code}{code}````"
            ),
            3 | 4 => writeln!(
                text,
                "\n### `EDIT`\n\n- **File Path:** [src/part{number}.rs](/src/part{number}.rs)\n- **Description:** Change it.\n\n#### `FIND:`\n````rust\n{code}````\n#### `REPLACE:`\n````rust\n{code}    done();\n````"
            ),
            _ => writeln!(
                text,
                "\n### `EXECUTE`\n\n- **Description:** Test it.\n- **Expected Outcome:** All pass.\n\n````shell\ncd crates/part\nexport CI=1\ncargo test part{number}\n````"
            ),
        };
    }
    text
}

type Make = fn(usize) -> String;

fn hostile() -> [(&'static str, Make); 5] {
    [
        ("deep quotes", |bytes| {
            format!("{HEAD}\n{}", "> ".repeat(bytes / 2))
        }),
        ("unclosed fences", |bytes| {
            format!("{HEAD}\n{}", "```sh\n".repeat(bytes / 6))
        }),
        ("one line", |bytes| {
            format!("{HEAD}\n### `{}", "READ`*[ ".repeat(bytes / 8))
        }),
        ("keys", |bytes| {
            format!("{HEAD}\n### READ\n{}", "- Why: b\n".repeat(bytes / 9))
        }),
        ("fence marks in a fence", |bytes| {
            format!(
                "{HEAD}\n### CREATE\n- File Path: a\n``````\n{}``````\n\nstray\n",
                "```` ` ```\n".repeat(bytes / 11)
            )
        }),
    ]
}
