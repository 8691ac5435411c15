//! Claims from backlogs of several shapes, with 1,000 and with 100,000 runs queued.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use planwright::adapters::store::SqlStore;
use planwright::engine::model::time::Millis;
use planwright::engine::store::{Accepted, ClaimLimits, Lease, RunOutcome, Store};

use crate::database::{Database, Server};
use crate::figures::{Bars, median, own_time, quantile, time_of};
use crate::shape::{Shape, at, delivery};
use crate::{Outcome, Plan};

/// Number of runs that are worked on at any time: three processes with the default of
/// `worker.concurrency`.
pub(crate) const RUNNING: usize = 24;

/// Number of queued runs, and with how many it is compared.
const QUEUED: [u64; 2] = [1_000, 100_000];

/// Maximum 99th percentile of a claim on SQLite and on PostgreSQL, in milliseconds.
const BARS: [f64; 2] = [2.0, 5.0];

/// Maximum ratio of the times with 100,000 and with 1,000 runs queued.
const FLAT_BAR: f64 = 1.2;

/// Time after which a round ends with fewer claims.
const MAX_ROUND: Duration = Duration::from_secs(10);

/// Time between two claims, in virtual milliseconds: five commands are given in a second.
const STEP: u64 = 200;

const LEASE: Duration = Duration::from_secs(30);

/// A store with a backlog that stays as long as it is: for every run that is claimed, one ends and
/// one is added.
pub(crate) struct Backlog {
    store: SqlStore,
    shape: Shape,
    size: u64,
    next: u64,
    running: VecDeque<Lease>,
    backends: Vec<u32>,
}

/// Times in milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// Of claims.
    pub(crate) claims: Vec<f64>,
    /// The time of claims on processors, in this process and in those of the server.
    pub(crate) claim_cpu: Vec<f64>,
    /// Of ends.
    pub(crate) finishes: Vec<f64>,
    /// Of additions.
    pub(crate) accepts: Vec<f64>,
}

impl Backlog {
    /// Opens a database to which a backlog of this shape was added.
    pub(crate) async fn open(database: &Database, shape: Shape, size: u64) -> Outcome<Self> {
        let store = database.open().await?;
        let mut backlog = Self {
            store,
            shape,
            size,
            next: size,
            running: VecDeque::new(),
            backends: Vec::new(),
        };
        for _ in 0..=RUNNING {
            backlog.cycle(&mut Times::default()).await?;
        }
        backlog.backends = database.backends().await?;
        Ok(backlog)
    }

    fn now(&self) -> Millis {
        at(self.size + (self.next - self.size) * STEP)
    }

    /// Returns the processor time of this process and of the server for it.
    fn cpu(&self) -> Outcome<f64> {
        let server: Outcome<f64> = self.backends.iter().map(|id| time_of(*id)).sum();
        Ok(own_time() + server?)
    }

    /// Claims a run, ends the one that was claimed first, and adds one.
    pub(crate) async fn cycle(&mut self, times: &mut Times) -> Outcome<()> {
        let now = self.now();
        let used = self.cpu()?;
        let began = Instant::now();
        let claimed = self
            .store
            .claim("w", now, LEASE, &ClaimLimits::default())
            .await?;
        times.claims.push(milliseconds(began));
        times.claim_cpu.push(self.cpu()? - used);
        self.running
            .push_back(claimed.ok_or("nothing to claim")?.lease);
        if self.running.len() > RUNNING
            && let Some(first) = self.running.pop_front()
        {
            let began = Instant::now();
            self.store
                .finish(&first, &RunOutcome::Succeeded, now)
                .await?;
            times.finishes.push(milliseconds(began));
        }
        let place = self.shape.place(self.next, self.size);
        let new = delivery(format!("added {}", self.next), place, now);
        let began = Instant::now();
        if self.store.accept(new).await? != Accepted::New {
            return Err("a delivery was known".into());
        }
        // SQLite stores what is in the inbox before it is read.
        self.store.next_due().await?;
        times.accepts.push(milliseconds(began));
        self.next += 1;
        Ok(())
    }

    /// Does what the processes do every ten seconds, a third of a lease: extends the leases one by
    /// one, and looks for expired ones.
    pub(crate) async fn beat(&mut self) -> Outcome<()> {
        if !((self.next - self.size) * STEP).is_multiple_of(10_000) {
            return Ok(());
        }
        let now = self.now();
        for lease in &self.running {
            let held = self
                .store
                .heartbeat(std::slice::from_ref(lease), now, LEASE)
                .await?;
            if !held.iter().all(|status| status.held) {
                return Err("a lease was lost".into());
            }
        }
        match self.store.recover_expired(now).await? {
            0 => Ok(()),
            expired => Err(format!("{expired} leases have expired").into()),
        }
    }

    pub(crate) async fn close(self) {
        self.store.close().await;
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Measures all shapes on SQLite and on the server.
pub(crate) async fn run(plan: &Plan, server: Option<&Server>, bars: &mut Bars) -> Outcome<()> {
    println!(
        "claims with {} finished runs and {RUNNING} running; medians of {} rounds of {} claims",
        plan.finished, plan.rounds, plan.claims
    );
    on(plan, None, bars).await?;
    if server.is_some() {
        on(plan, server, bars).await?;
    }
    Ok(())
}

async fn on(plan: &Plan, server: Option<&Server>, bars: &mut Bars) -> Outcome<()> {
    let (name, bar) = match server {
        None => ("SQLite", BARS[0]),
        Some(_) => ("PostgreSQL", BARS[1]),
    };
    let began = Instant::now();
    let small = Database::with_history(server, "small", plan.finished).await?;
    let large = small.copy(server, "small", "large").await?;
    println!(
        "\n{name:<20} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}   filled in {:.0} s",
        "queued",
        "p50 ms",
        "p99 ms",
        "CPU ms",
        "end ms",
        "add ms",
        began.elapsed().as_secs_f64()
    );
    for shape in Shape::ALL {
        let databases = [&small, &large];
        let mut backlogs = Vec::new();
        for (database, size) in databases.iter().zip(QUEUED) {
            database.add_backlog(shape, size).await?;
            backlogs.push(Backlog::open(database, shape, size).await?);
        }
        // In each round both, so that other work on the machine affects both alike.
        let mut rounds: [Vec<Times>; 2] = Default::default();
        for _ in 0..plan.rounds {
            for (backlog, rounds) in backlogs.iter_mut().zip(&mut rounds) {
                let mut times = Times::default();
                let began = Instant::now();
                while times.claims.len() < plan.claims && began.elapsed() < MAX_ROUND {
                    backlog.cycle(&mut times).await?;
                }
                rounds.push(times);
            }
        }
        for (rounds, size) in rounds.iter().zip(QUEUED) {
            let of =
                |figure: fn(&Times) -> f64| median(&rounds.iter().map(figure).collect::<Vec<_>>());
            println!(
                "  {:<18} {size:>7} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>9.3}",
                shape.name(),
                of(|times| median(&times.claims)),
                of(|times| quantile(&times.claims, 0.99)),
                of(|times| median(&times.claim_cpu)),
                of(|times| median(&times.finishes)),
                of(|times| median(&times.accepts)),
            );
        }
        let p99 = |times: &Times| quantile(&times.claims, 0.99);
        let large = median(&rounds[1].iter().map(p99).collect::<Vec<_>>());
        let what = format!("{name}, {}: claim p99, ms", shape.name());
        bars.at_most(what, large, bar);
        let ratio = |figure: &dyn Fn(&Times) -> f64| {
            let pairs = rounds[0].iter().zip(&rounds[1]);
            let ratios: Vec<f64> = pairs
                .map(|(small, large)| figure(large) / figure(small))
                .collect();
            median(&ratios)
        };
        for (figure, ratio) in [
            ("median", ratio(&|times| median(&times.claims))),
            ("p99", ratio(&p99)),
        ] {
            let what = format!(
                "{name}, {}: claim {figure} by that with {} queued",
                shape.name(),
                QUEUED[0]
            );
            bars.at_most(what, ratio, FLAT_BAR);
        }
        for backlog in backlogs {
            backlog.close().await;
        }
        for database in databases {
            database.delete_backlog(plan.finished).await?;
        }
    }
    Ok(())
}
