//! Benchmark of several processes that share a PostgreSQL database: the processor time that a
//! command takes on one of them and on three.
//!
//! Run with `cargo bench --bench replicas -- [--quick] [--check]`, on Linux only.
//! `benches/README.md` explains what is measured and how. With `--check`, the exit code is 1 if the
//! bar is missed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark has nothing else to do when something fails"
)]

#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/simulator_support.rs"]
mod simulator_support;
#[expect(dead_code, unused_imports, reason = "the tests use more of it")]
#[path = "../tests/it/support"]
mod support {
    pub(crate) mod commands;
    pub(crate) mod openapi;
    pub(crate) mod peers;
    pub(crate) mod postgres;
    pub(crate) mod system;
}

use std::process::ExitCode;

use planwright::engine::store::Store as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use crate::support::commands::{ask, open_issues};
use crate::support::postgres::{self, Server};
use crate::support::system::{Options, System};

const PROCESSES: usize = 3;
/// Owners, each with an installation of its own.
const INSTALLATIONS: usize = 20;
/// Number of commands before processor time is measured: what a process does once is not counted.
const WARM_UP: usize = 300;
/// Maximum of the median ratio.
const BAR: f64 = 1.3;
const SEED: u64 = 0x0070_1a44;
/// The opening text of the issues.
const PLAN: &str = "# Plan: Search the notes\n\n## Steps\n\n1. Parse the query into terms and phrases\n2. Build an index \
of the notes when they are saved\n3. Rank the results by age and number of hits\n4. Show the first ten with the line \
that matches\n\n## Testing\n\n- Search for a phrase that spans two lines\n";

/// How much is measured.
struct Extent {
    rounds: usize,
    commands: u16,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let mut extent = Extent {
        rounds: 5,
        commands: 400,
    };
    let mut check = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => {
                extent = Extent {
                    rounds: 1,
                    commands: 200,
                }
            }
            "--check" => check = true,
            // `cargo bench` passes this argument.
            "--bench" => {}
            other => {
                eprintln!("replicas: unknown argument {other}; known: --quick, --check");
                return ExitCode::FAILURE;
            }
        }
    }
    let Some(server) = Server::start() else {
        eprintln!("replicas: no PostgreSQL: install its server (package `postgresql`)");
        return ExitCode::FAILURE;
    };
    let mut ratios = Vec::new();
    for _ in 0..extent.rounds {
        let one = processor_time(&server, 1, extent.commands).await;
        let several = processor_time(&server, PROCESSES, extent.commands).await;
        println!("{one:.2} ms a command on one process, {several:.2} ms on {PROCESSES}");
        ratios.push(several / one);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[extent.rounds / 2];
    println!("median of the ratios: {median:.2} (bar: {BAR})");
    ExitCode::from(u8::from(check && median > BAR))
}

/// Returns the processor time that `processes` processes together need for a command, in
/// milliseconds, while `count` of them are done.
async fn processor_time(server: &Server, processes: usize, count: u16) -> f64 {
    let database = postgres::database_on(server.url()).await;
    postgres::open(&database).await.close().await;
    let system = System::with(Options {
        postgres: Some((database, processes)),
        ..Options::default()
    })
    .await;
    let mut places = open_issues(&system, INSTALLATIONS, PLAN);
    places.retain(|place| place.has_plan);
    let mut random = StdRng::seed_from_u64(SEED);
    for _ in 0..WARM_UP {
        ask(&system, &mut random, &places);
    }
    system.logged_times("run ended", WARM_UP).await;
    let before = used(&system);
    for _ in 0..count {
        ask(&system, &mut random, &places);
    }
    system
        .logged_times("run ended", WARM_UP + usize::from(count))
        .await;
    (used(&system) - before) * 1_000.0 / f64::from(count)
}

/// Returns the processor time that the bot's processes have used, in seconds.
fn used(system: &System) -> f64 {
    let times = system.processes().map(|id| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        // The fields behind the name, which is in parentheses (proc_pid_stat(5)): `utime` and
        // `stime` are the 14th and the 15th field of all.
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let fields = fields.split_whitespace().skip(11).take(2);
        fields.map(|it| it.parse::<f64>().unwrap()).sum::<f64>()
    });
    let ticks: f64 = times.sum();
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let per_second = rustix::param::clock_ticks_per_second() as f64;
    ticks / per_second
}
