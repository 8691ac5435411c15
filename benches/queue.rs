//! Benchmark of the queue: what claiming a run costs with a long backlog and a long history, how
//! fairly runs are claimed, and what processes that share a database cost.
//!
//! Run with `cargo bench --bench queue -- [--quick] [--check] [SECTION…]`, on Linux only.
//! `benches/README.md` explains what is measured and how. With `--check`, the exit code is 1 if a
//! bar is missed.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and ticks of a benchmark are far below 2^52"
)]

#[path = "queue/churn.rs"]
mod churn;
#[path = "queue/claims.rs"]
mod claims;
#[path = "queue/database.rs"]
mod database;
#[path = "queue/fairness.rs"]
mod fairness;
#[path = "queue/figures.rs"]
mod figures;
#[path = "queue/shape.rs"]
mod shape;

use std::process::ExitCode;

use crate::database::Server;
use crate::figures::Bars;

/// A result with any error; only its message is used.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Number of finished runs in the database.
    finished: u64,
    /// Number of rounds.
    rounds: usize,
    /// Number of claims in a round.
    claims: usize,
    /// Whether the rest is shortened, too.
    is_quick: bool,
}

impl Plan {
    const FULL: Self = Self {
        finished: 1_000_000,
        rounds: 7,
        claims: 400,
        is_quick: false,
    };
    const QUICK: Self = Self {
        finished: 100_000,
        rounds: 3,
        claims: 100,
        is_quick: true,
    };
}

/// The names of the sections, in the order in which they are measured.
const SECTIONS: [&str; 3] = ["claims", "fairness", "churn"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    measure(&arguments).unwrap_or_else(|error| {
        eprintln!("queue: {error}");
        ExitCode::FAILURE
    })
}

fn measure(arguments: &[String]) -> Outcome<ExitCode> {
    let (mut plan, mut check, mut sections) = (Plan::FULL, false, Vec::new());
    for argument in arguments {
        match argument.as_str() {
            "--quick" => plan = Plan::QUICK,
            "--check" => check = true,
            // `cargo bench` passes this argument.
            "--bench" => {}
            section if SECTIONS.contains(&section) => sections.push(section),
            other => {
                let known = SECTIONS.join(", ");
                let error =
                    format!("unknown argument {other}; known: --quick, --check, and {known}");
                return Err(error.into());
            }
        }
    }
    let wanted = |section: &str| sections.is_empty() || sections.contains(&section);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let missed = runtime.block_on(async {
        let mut bars = Bars::default();
        let server = Server::find().await;
        let measured = sections_of(&plan, server.as_ref(), &wanted, &mut bars).await;
        if let Some(server) = &server {
            server.clean().await?;
        }
        measured?;
        print!("{bars}");
        // What cannot be measured does not hold.
        Outcome::Ok(bars.missed() || server.is_none())
    })?;
    Ok(if check && missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

async fn sections_of(
    plan: &Plan,
    server: Option<&Server>,
    wanted: &dyn Fn(&str) -> bool,
    bars: &mut Bars,
) -> Outcome<()> {
    if wanted("claims") {
        claims::run(plan, server, bars).await?;
    }
    if wanted("fairness") {
        fairness::run(server, bars).await?;
    }
    if let Some(server) = server.filter(|_| wanted("churn")) {
        churn::run(plan, server, bars).await?;
    }
    Ok(())
}
