//! Measures the peak memory of reading a log, in a separate process for each size.

use std::process::Command;

use planwright::formats::session::Scanner;

use super::log::{Kind, Log};
use super::{CHUNK, GROWTH_BAR, MIB, Outcome, verdict};

/// First argument of the process that reads.
pub(crate) const FLAG: &str = "--read";

/// Ratio of the sizes of the large and the small log.
const TIMES: usize = 8;

/// Reads a log that is generated while it is read, and prints the peak of resident memory, in KiB.
/// The first argument is the size of the log in MiB.
pub(crate) fn main(arguments: &[String]) -> Outcome<()> {
    let size: usize = arguments.first().ok_or("the size is missing")?.parse()?;
    let mut log = Log::new(Kind::Usual);
    let mut feed = Scanner::new(None);
    let mut taken = 0;
    while taken < size * MIB {
        let bytes = log.take(CHUNK);
        taken += bytes.len();
        bytes.chunks(CHUNK).for_each(|chunk| feed.push(chunk));
    }
    if feed.finish().plan.is_none() {
        return Err("the log was not read".into());
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM")?;
    println!("{}", line.trim_end_matches("kB").trim());
    Ok(())
}

/// Prints the peaks for a log of `size` MiB and one [`TIMES`] as large. Returns whether the bar was
/// held.
pub(crate) fn report(size: usize) -> Outcome<bool> {
    let [small, large] = [peak(size)?, peak(size * TIMES)?];
    let growth = large - small;
    println!("peak memory, log made as it is read");
    println!("  {size:>5} MiB             {small:>8.1} MiB");
    println!("  {:>5} MiB             {large:>8.1} MiB", size * TIMES);
    let held = growth <= GROWTH_BAR;
    println!(
        "  bar: grows by at most {GROWTH_BAR} MiB: {growth:+.1}: {}",
        verdict(held)
    );
    Ok(held)
}

fn peak(size: usize) -> Outcome<f64> {
    let read = Command::new(std::env::current_exe()?)
        .args([FLAG, &size.to_string()])
        .output()?;
    if !read.status.success() {
        return Err(format!(
            "reading {size} MiB: {}",
            String::from_utf8_lossy(&read.stderr)
        )
        .into());
    }
    let kib: f64 = String::from_utf8(read.stdout)?.trim().parse()?;
    Ok(kib / 1024.0)
}
