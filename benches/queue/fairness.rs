//! How long people wait behind somebody who has queued thousands of commands. Time is virtual, and a
//! run takes one unit, so the result is the same on every machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use planwright::engine::model::time::Millis;
use planwright::engine::store::{ClaimLimits, Lease, RunOutcome, Store};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::Outcome;
use crate::database::{Database, Server};
use crate::figures::{Bars, median, quantile};
use crate::shape::{Place, at, delivery};

/// Number of workers, as in one process with the default of `worker.concurrency`.
const WORKERS: usize = 8;
/// Duration of a run, in virtual milliseconds.
const RUN: i64 = 1_000;
/// Number of commands of the tenant who floods the queue, in a hundredth as many repositories.
const FLOOD: u64 = 5_000;
/// Number of commands of the others, each of whom has an installation.
const OTHERS: u64 = 400;
/// Mean time between their commands: they use half of the workers' time.
const GAP: i64 = RUN * 2 / 8;
/// Maximum ratio of the median wait with and without the flood.
const BAR: f64 = 2.0;
const SEED: u64 = 7;

/// Measures on SQLite and on the server.
pub(crate) async fn run(server: Option<&Server>, bars: &mut Bars) -> Outcome<()> {
    println!(
        "\ntime from a command to the end of its run, in durations of a run; {WORKERS} workers; \
         others give {OTHERS} commands, which take half of the workers' time"
    );
    println!("{:<20} {:>8} {:>8} {:>8}", "", "median", "p99", "longest");
    let mut servers = vec![("SQLite", None)];
    servers.extend(server.map(|server| ("PostgreSQL", Some(server))));
    for (name, server) in servers {
        let mut medians = Vec::new();
        for flood in [0, FLOOD] {
            let waits = waits(server, flood).await?;
            println!(
                "{name:<10} {flood:>5} more {:>8.2} {:>8.2} {:>8.2}",
                median(&waits),
                quantile(&waits, 0.99),
                quantile(&waits, 1.0)
            );
            medians.push(median(&waits));
        }
        let what = format!("{name}: median wait behind {FLOOD} commands by that without");
        bars.at_most(what, medians[1] / medians[0], BAR);
    }
    Ok(())
}

/// Returns how long each of the others waited until the run had ended.
async fn waits(server: Option<&Server>, flood: u64) -> Outcome<Vec<f64>> {
    let database = Database::with_history(server, &format!("fair{flood}"), 0).await?;
    let store = database.open().await?;
    let mut queue = Vec::new();
    for number in 0..flood {
        let place = Place {
            installation: 1,
            repo: number % (FLOOD / 100),
            number,
        };
        queue.push(store.accept(delivery(format!("flood {number}"), place, at(0))));
        // As many as are committed together.
        if queue.len() == 256 || number + 1 == flood {
            for accepted in futures_util::future::join_all(queue.drain(..)).await {
                accepted?;
            }
        }
    }
    let mut random = StdRng::seed_from_u64(SEED);
    let mut time = 0;
    let arrivals: Vec<i64> = (0..OTHERS)
        .map(|_| {
            time += random.random_range(0..2 * GAP);
            time
        })
        .collect();
    let mut arrivals = arrivals.into_iter().zip(2..).peekable();
    // The ends of runs, the next first.
    let mut running: BinaryHeap<Reverse<(i64, u64)>> = BinaryHeap::new();
    let mut leases: Vec<(Lease, Option<Millis>)> = Vec::new();
    let mut waits = Vec::new();
    let mut now = 0;
    while waits.len() < usize::try_from(OTHERS)? {
        while let Some((arrival, installation)) = arrivals.next_if(|(arrival, _)| *arrival <= now) {
            let place = Place {
                installation,
                repo: 1_000_000 + installation,
                number: 1,
            };
            let at = moment(arrival);
            store
                .accept(delivery(format!("other {installation}"), place, at))
                .await?;
        }
        while running.len() < WORKERS {
            let limits = ClaimLimits::default();
            let claimed = store.claim("w", moment(now), Duration::from_hours(1), &limits);
            let Some(claimed) = claimed.await? else {
                break;
            };
            let other = claimed.trigger.place.repo.installation != 1;
            running.push(Reverse((now + RUN, leases.len() as u64)));
            leases.push((claimed.lease, other.then_some(claimed.created)));
        }
        // The next event.
        let arrival = arrivals.peek().map(|(arrival, _)| *arrival);
        let end = running.peek().map(|Reverse((end, _))| *end);
        now = match (arrival, end) {
            (Some(arrival), Some(end)) => arrival.min(end),
            (one, other) => one.or(other).ok_or("nothing happens any more")?,
        };
        while let Some(Reverse((end, index))) = running.peek().copied() {
            if end > now {
                break;
            }
            running.pop();
            let (lease, since) = &leases[usize::try_from(index)?];
            store
                .finish(lease, &RunOutcome::Succeeded, moment(now))
                .await?;
            if let Some(since) = since {
                waits.push((moment(now).0 - since.0) as f64 / RUN as f64);
            }
        }
    }
    store.close().await;
    Ok(waits)
}

/// A moment of the virtual time.
fn moment(ms: i64) -> Millis {
    Millis(at(0).0 + ms)
}
