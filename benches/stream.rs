//! Benchmark of reading agent output: speed, and that memory does not grow with the size of the
//! output.
//!
//! Run with `cargo bench --bench stream`. `benches/README.md` explains what is measured and how.
//! The exit code is 1 if a bar is missed or an error occurs.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and bytes of a benchmark are far below 2^52"
)]

#[path = "stream/output.rs"]
mod output;

use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::time::Duration;

use planwright::formats::agent_stream::{MAX_TEXTS_BYTES, Stream, StreamOutcome, Summary, outcome};
use serde::de::IgnoredAny;

use output::{Kind, Output};

/// Any error; only its message is used.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const MIB: usize = 1024 * 1024;
/// Size of the output whose speed is measured, in bytes.
const SIZE: usize = 10_000_000;
/// Minimum speed, in MB/s (10^6 bytes).
const SPEED_BAR: f64 = 200.0;
/// Ratio of the sizes of the large and the small output, for memory.
const TIMES: usize = 16;
/// Maximum growth of memory from the small output to the large one, in MiB, without the texts that
/// are kept.
const GROWTH_BAR: f64 = 2.0;
/// Chunk size in which pipes are read, in bytes.
const CHUNK: usize = 64 * 1024;
const ROUNDS: usize = 15;
/// First argument of the process whose memory is measured.
const READ: &str = "--read";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let held = match arguments.as_slice() {
        [first, kind, size] if first == READ => peak_of_this(kind, size).map(|()| true),
        _ => measure(),
    };
    match held {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("stream: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<bool, Failure> {
    let mut good = true;
    println!(
        "output of {} MB in chunks of {} KiB, medians of {ROUNDS} rounds, processor time",
        SIZE / 1_000_000,
        CHUNK / 1024
    );
    for kind in [Kind::Work, Kind::Tools, Kind::Talk] {
        let mut bytes = Output::new(kind).take(SIZE);
        bytes.extend(Output::result());
        let summary = read(&bytes);
        if outcome(&summary, Some(0)) != StreamOutcome::Success || summary.malformed > 0 {
            return Err(format!("{kind:?} was not read").into());
        }
        let text: usize = summary.texts.iter().map(String::len).sum();
        println!(
            "{kind:?}: {} lines, {:.1} kB on average; {:.1} MB of texts kept",
            summary.lines,
            bytes.len() as f64 / 1e3 / summary.lines as f64,
            text as f64 / 1e6
        );
        let ours = speed(&bytes, |bytes| {
            black_box(read(bytes));
        })?;
        let valid = speed(&bytes, |bytes| {
            for line in bytes.split(|byte| *byte == b'\n') {
                black_box(serde_json::from_slice::<IgnoredAny>(line).is_ok());
            }
        })?;
        println!("  read                 {ours:>8.0} MB/s");
        println!(
            "  JSON check only      {valid:>8.0} MB/s  (reading is {:.2} of it)",
            ours / valid
        );
        let held = ours >= SPEED_BAR;
        println!("  bar: at least {SPEED_BAR:.0} MB/s: {}", verdict(held));
        good &= held;
    }
    println!("peak memory, output made as it is read");
    for (kind, kept) in [(Kind::Tools, 0), (Kind::Talk, MAX_TEXTS_BYTES / MIB)] {
        let size = SIZE.div_ceil(MIB);
        let [small, large] = [peak(kind, size)?, peak(kind, size * TIMES)?];
        let bar = kept as f64 + GROWTH_BAR;
        let growth = large - small;
        let held = growth <= bar;
        println!(
            "{kind:?}: {size} MiB {small:.1} MiB, {} MiB {large:.1} MiB",
            size * TIMES
        );
        println!(
            "  bar: grows by at most {bar:.0} MiB: {growth:+.1}: {}",
            verdict(held)
        );
        good &= held;
    }
    Ok(good)
}

/// Reads output in chunks, like a pipe.
fn read(bytes: &[u8]) -> Summary {
    let mut stream = Stream::new();
    for chunk in bytes.chunks(CHUNK) {
        stream.push(chunk, &mut |event| {
            black_box(event);
        });
    }
    stream.finish(&mut |event| {
        black_box(event);
    })
}

/// Returns the median speed in MB per second of processor time of this thread, which other work on
/// the machine does not affect.
fn speed(bytes: &[u8], work: impl Fn(&[u8])) -> Result<f64, Failure> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let begin = processor_time()?;
        work(bytes);
        times.push(processor_time()? - begin);
    }
    times.sort_unstable();
    Ok(bytes.len() as f64 / 1e6 / Duration::from_nanos(times[ROUNDS / 2]).as_secs_f64())
}

/// Returns the processor time used by this thread, in nanoseconds.
fn processor_time() -> Result<u64, Failure> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(stat.split(' ').next().unwrap_or_default().parse()?)
}

/// Returns the peak resident memory, in MiB, of a process that reads `size` MiB.
fn peak(kind: Kind, size: usize) -> Result<f64, Failure> {
    let read = Command::new(std::env::current_exe()?)
        .args([READ, &format!("{kind:?}"), &size.to_string()])
        .output()?;
    if !read.status.success() {
        let error = String::from_utf8_lossy(&read.stderr);
        return Err(format!("reading {size} MiB: {error}").into());
    }
    let kib: f64 = String::from_utf8(read.stdout)?.trim().parse()?;
    Ok(kib / 1024.0)
}

/// Reads `size` MiB of output that is generated while it is read, and prints the peak of resident
/// memory, in KiB.
fn peak_of_this(kind: &str, size: &str) -> Result<(), Failure> {
    let kind = if kind == "Talk" {
        Kind::Talk
    } else {
        Kind::Tools
    };
    let size: usize = size.parse()?;
    let mut output = Output::new(kind);
    let mut stream = Stream::new();
    let mut taken = 0;
    while taken < size * MIB {
        let bytes = output.take(CHUNK);
        taken += bytes.len();
        for chunk in bytes.chunks(CHUNK) {
            stream.push(chunk, &mut |_| {});
        }
    }
    stream.push(&Output::result(), &mut |_| {});
    if outcome(&stream.finish(&mut |_| {}), Some(0)) != StreamOutcome::Success {
        return Err("the output was not read".into());
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM")?;
    println!("{}", line.trim_end_matches("kB").trim());
    Ok(())
}

fn verdict(held: bool) -> &'static str {
    if held { "held" } else { "MISSED" }
}
