//! Benchmark of the receiver: how fast it accepts signed deliveries, relative to the same HTTP
//! stack without a store.
//!
//! Run with `cargo bench --bench ingest -- [--quick] [--json] [--check]`. `benches/README.md`
//! explains what is measured and how.
//!
//! This process generates the load, pinned to the first core; the servers are its children, pinned
//! to the second. The exit code is 1 if an acknowledged delivery is missing after a kill or, with
//! `--check`, a bar is missed.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and bytes of a benchmark are far below 2^52"
)]

#[path = "ingest/child.rs"]
mod child;
mod delivery;
#[path = "ingest/load.rs"]
mod load;
#[path = "ingest/loss.rs"]
mod loss;
#[path = "ingest/payload.rs"]
mod payload;
#[path = "ingest/report.rs"]
mod report;
#[path = "ingest/rounds.rs"]
mod rounds;
#[path = "ingest/server.rs"]
mod server;

use std::process::ExitCode;
use std::time::Duration;

/// A result with any error; only its message is used.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Number and duration of the rounds.
#[derive(Debug, Clone, Copy)]
struct Plan {
    rounds: usize,
    warm: Duration,
    time: Duration,
}

impl Plan {
    const FULL: Self = Self {
        rounds: 3,
        warm: Duration::from_millis(500),
        time: Duration::from_secs(2),
    };
    const QUICK: Self = Self {
        rounds: 1,
        warm: Duration::from_millis(200),
        time: Duration::from_millis(500),
    };
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some(server::FLAG) => server::main(&arguments[1..]).map(|()| ExitCode::SUCCESS),
        _ => measure(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("ingest: {error}");
        ExitCode::FAILURE
    })
}

fn measure(arguments: &[String]) -> Outcome<ExitCode> {
    let (mut plan, mut json, mut check) = (Plan::FULL, false, false);
    for argument in arguments {
        match argument.as_str() {
            "--quick" => plan = Plan::QUICK,
            "--json" => json = true,
            "--check" => check = true,
            // `cargo bench` passes this argument.
            "--bench" => {}
            other => {
                return Err(
                    format!("unknown argument {other}; known: --quick, --json, --check").into(),
                );
            }
        }
    }
    let pinned = child::pin_myself();
    let measured = rounds::run(&plan, pinned)?;
    let losses = loss::run(&plan, pinned)?;
    let report = report::Report::new(pinned, &measured, losses);
    if json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{report}");
    }
    let failed = report.lost() || (check && report.missed());
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
