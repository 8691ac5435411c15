//! Benchmark of the pages: how long they take with a long history, how much memory requests leave
//! behind, and what people who watch a run cost the receiver.
//!
//! Run with `cargo bench --bench pages -- [--quick] [--check] [SECTION…]`, on Linux only.
//! `benches/README.md` explains what is measured and how. With `--check`, the exit code is 1 if a
//! bar is missed.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and sizes of a benchmark are far below 2^52"
)]

#[path = "pages/data.rs"]
mod data;
#[expect(dead_code, reason = "the benchmark of the queue uses more of it")]
#[path = "queue/database.rs"]
mod database;
#[expect(dead_code, reason = "the benchmark of the queue uses more of it")]
#[path = "queue/figures.rs"]
mod figures;
#[path = "pages/requests.rs"]
mod requests;
#[expect(dead_code, reason = "the benchmark of the queue uses more of it")]
#[path = "queue/shape.rs"]
mod shape;
#[path = "pages/viewers.rs"]
mod viewers;

use std::process::ExitCode;

use crate::database::{Database, Server};
use crate::figures::Bars;
use crate::requests::Site;

/// A result with any error; only its message is used.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Number of requests for each page.
    requests: usize,
    /// Number of rounds with and without viewers.
    rounds: usize,
}

/// The names of the sections, in the order in which they are measured.
const SECTIONS: [&str; 2] = ["pages", "viewers"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    measure(&arguments).unwrap_or_else(|error| {
        eprintln!("pages: {error}");
        ExitCode::FAILURE
    })
}

fn measure(arguments: &[String]) -> Outcome<ExitCode> {
    let mut plan = Plan {
        requests: 200,
        rounds: 9,
    };
    let (mut check, mut sections) = (false, Vec::new());
    for argument in arguments {
        match argument.as_str() {
            "--quick" => {
                plan = Plan {
                    requests: 50,
                    rounds: 3,
                }
            }
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
        let measured = async {
            on(&plan, None, &wanted, &mut bars).await?;
            if let Some(server) = &server {
                on(&plan, Some(server), &wanted, &mut bars).await?;
            }
            Outcome::Ok(())
        };
        let measured = measured.await;
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

/// Measures on the server if one is given, and on SQLite otherwise.
async fn on(
    plan: &Plan,
    server: Option<&Server>,
    wanted: &dyn Fn(&str) -> bool,
    bars: &mut Bars,
) -> Outcome<()> {
    let name = server.map_or("SQLite", |_| "PostgreSQL");
    let database = Database::with_history(server, "pages", 0).await?;
    data::fill(&database).await?;
    let site = Site::open(&database).await?;
    if wanted("pages") {
        requests::run(plan, name, &site, bars).await?;
    }
    if wanted("viewers") {
        viewers::run(plan, name, &site, bars).await?;
    }
    site.close().await;
    Ok(())
}
