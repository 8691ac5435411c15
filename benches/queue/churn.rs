//! An hour of work on PostgreSQL while a transaction elsewhere keeps vacuum from removing old rows.

use sqlx::Connection as _;

use crate::claims::{Backlog, RUNNING, Times};
use crate::database::{Database, Server};
use crate::figures::{Bars, median, quantile};
use crate::shape::Shape;
use crate::{Outcome, Plan};

/// Commands in an hour, at the given number in a second.
const HOUR: usize = 3_600 * RATE;
const RATE: usize = 5;
/// Portion of the hour that `--quick` measures.
const QUICK: usize = 10;
/// Number of queued runs, which stays the same.
const QUEUED: u64 = 1_000;
/// Maximum ratio of the median claim after the transaction has ended to that before it began.
const RECOVERED_BAR: f64 = 1.2;

/// What a phase has shown.
struct Phase {
    name: &'static str,
    times: Times,
    sizes: Sizes,
}

/// Sizes of the queue's tables with their indexes, in MiB, and the number of heartbeats.
#[derive(Clone, Copy)]
struct Sizes {
    queue: f64,
    heads: f64,
    heartbeats: f64,
    rows: i64,
}

/// Measures on the server.
pub(crate) async fn run(plan: &Plan, server: &Server, bars: &mut Bars) -> Outcome<()> {
    let cycles = HOUR / if plan.is_quick { QUICK } else { 1 };
    let sample = cycles / 10;
    println!(
        "\nPostgreSQL, {cycles} commands, as in {} minutes with {RATE} a second; {QUEUED} queued, {RUNNING} running",
        cycles / RATE / 60
    );
    let database = Database::with_history(Some(server), "churn", plan.finished).await?;
    database.add_backlog(Shape::Many, QUEUED).await?;
    let mut backlog = Backlog::open(&database, Shape::Many, QUEUED).await?;
    let mut phases = Vec::new();
    let mut phase = async |name, cycles| {
        let mut times = Times::default();
        for _ in 0..cycles {
            backlog.cycle(&mut times).await?;
            backlog.beat().await?;
        }
        let sizes = sizes(&database).await?;
        phases.push(Phase { name, times, sizes });
        Outcome::Ok(())
    };
    phase("before", sample).await?;
    let mut old = database.connect().await?;
    sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM compatibility")
        .execute(&mut old)
        .await?;
    for name in [
        "an old transaction",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "at the end",
    ] {
        phase(name, sample).await?;
    }
    old.close().await?;
    // Autovacuum would come within minutes.
    let mut connection = database.connect().await?;
    sqlx::raw_sql("VACUUM").execute(&mut connection).await?;
    connection.close().await?;
    phase("ended, vacuumed", sample).await?;
    backlog.close().await;
    println!(
        "{:<20} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10} {:>10}",
        "", "p50 ms", "p99 ms", "CPU ms", "end ms", "runs MiB", "heads MiB", "heartbeats"
    );
    for Phase { name, times, sizes } in &phases {
        println!(
            "{name:<20} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>10.1} {:>10.2} {:>6} rows, {:.2} MiB",
            median(&times.claims),
            quantile(&times.claims, 0.99),
            median(&times.claim_cpu),
            median(&times.finishes),
            sizes.queue,
            sizes.heads,
            sizes.rows,
            sizes.heartbeats,
        );
    }
    let claims =
        |phase: Option<&Phase>| phase.map_or(f64::NAN, |phase| median(&phase.times.claims));
    bars.at_most(
        "PostgreSQL: claim after an old transaction by that before",
        claims(phases.last()) / claims(phases.first()),
        RECOVERED_BAR,
    );
    Ok(())
}

async fn sizes(database: &Database) -> Outcome<Sizes> {
    let mut connection = database.connect().await?;
    let (queue, heads, heartbeats, rows): (i64, i64, i64, i64) = sqlx::query_as(
        "SELECT pg_total_relation_size('runs'),
                (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
                 WHERE relname IN ('repository_heads', 'installation_heads')),
                pg_total_relation_size('heartbeats'), (SELECT count(*) FROM heartbeats)",
    )
    .fetch_one(&mut connection)
    .await?;
    connection.close().await?;
    let mebibytes = |bytes: i64| bytes as f64 / 1024.0 / 1024.0;
    Ok(Sizes {
        queue: mebibytes(queue),
        heads: mebibytes(heads),
        heartbeats: mebibytes(heartbeats),
        rows,
    })
}
