//! Benchmark of reading session logs: speed, and that memory does not grow with the size of the
//! log.
//!
//! Run with `cargo bench --bench session -- [--quick] [--check]`. `benches/README.md` explains what
//! is measured and how.
//!
//! The exit code is 1 if an error occurs or, with `--check`, a bar is missed.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and bytes of a benchmark are far below 2^52"
)]

#[path = "session/log.rs"]
mod log;
#[path = "session/memory.rs"]
mod memory;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use planwright::formats::session::{ScanResult, Scanner};

use log::{Kind, Log};

/// A result with any error; only its message is used.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const MIB: usize = 1024 * 1024;
/// Minimum speed, in MB/s (10^6 bytes).
const SPEED_BAR: f64 = 300.0;
/// Maximum growth of memory from the small log to the large one, in MiB.
const GROWTH_BAR: f64 = 2.0;
/// Chunk size in which files are read, in bytes.
const CHUNK: usize = 64 * 1024;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some(memory::FLAG) => memory::main(&arguments[1..]).map(|()| true),
        _ => measure(&arguments),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("session: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &[String]) -> Outcome<bool> {
    let (mut rounds, mut size, mut check) = (7, 64 * MIB, false);
    for argument in arguments {
        match argument.as_str() {
            "--quick" => (rounds, size) = (3, 16 * MIB),
            "--check" => check = true,
            // `cargo bench` passes this argument.
            "--bench" => {}
            other => {
                return Err(format!("unknown argument {other}; known: --quick, --check").into());
            }
        }
    }
    let mut good = true;
    println!(
        "log of {} MiB in chunks of {} KiB, medians of {rounds} rounds, processor time",
        size / MIB,
        CHUNK / 1024
    );
    for kind in [Kind::Usual, Kind::Dense] {
        let log = Log::new(kind).take(size);
        let found = read(&log);
        if found.malformed_count != 0 || found.plan.is_none() {
            return Err(format!("the log was not read: {found:?}").into());
        }
        println!(
            "{kind:?}: {} lines, {:.1} kB on average",
            found.lines,
            log.len() as f64 / 1e3 / found.lines as f64
        );
        let ours = speed(rounds, &log, |log| {
            black_box(read(log));
        })?;
        println!("  scan                 {ours:>8.0} MB/s");
        let valid = speed(rounds, &log, |log| {
            for line in log
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
            {
                black_box(serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok());
            }
        })?;
        println!(
            "  JSON check only      {valid:>8.0} MB/s  (scan is {:.2} of it)",
            ours / valid
        );
        let values = speed(rounds.min(3), &log, |log| {
            for line in log
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
            {
                black_box(serde_json::from_slice::<serde_json::Value>(line).is_ok());
            }
        })?;
        println!(
            "  every line as Value  {values:>8.0} MB/s  (scan is {:.2} times as fast)",
            ours / values
        );
        let bar = ours >= SPEED_BAR;
        println!("  bar: at least {SPEED_BAR:.0} MB/s: {}", verdict(bar));
        good &= bar;
    }
    good &= memory::report(size / MIB)?;
    Ok(good || !check)
}

/// Reads a log in chunks, like a file.
fn read(log: &[u8]) -> ScanResult {
    let mut feed = Scanner::new(None);
    log.chunks(CHUNK).for_each(|chunk| feed.push(chunk));
    feed.finish()
}

/// Returns the median speed in MB per second of processor time of this thread, which other work on
/// the machine does not affect.
fn speed(rounds: usize, log: &[u8], work: impl Fn(&[u8])) -> Outcome<f64> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let begin = processor_time()?;
        work(log);
        times.push(processor_time()? - begin);
    }
    times.sort_unstable();
    Ok(log.len() as f64 / 1e6 / Duration::from_nanos(times[rounds / 2]).as_secs_f64())
}

/// Returns the processor time used by this thread, in nanoseconds.
fn processor_time() -> Outcome<u64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(stat.split(' ').next().unwrap_or_default().parse()?)
}

fn verdict(held: bool) -> &'static str {
    if held { "held" } else { "MISSED" }
}
