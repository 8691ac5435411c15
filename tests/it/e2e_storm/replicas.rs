//! A storm of commands on three processes of the bot that share a PostgreSQL database: processes
//! are killed and frozen, one has a clock that is ahead, the server crashes, connections are cut.
//! Every acknowledged command is reported exactly once, in order, and only the process that holds a
//! run's lease writes anything about it.

use std::collections::HashMap;
use std::time::Instant;

use chrono::{DateTime, Utc};
use planwright::engine::model::run::State;
use planwright::engine::store::Store as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use url::Url;

use super::{check_all, seed};
use crate::support::commands::{ask, open_issues};
use crate::support::postgres::{self, Server};
use crate::support::preload;
use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

const PROCESSES: usize = 3;
/// Owners, each with an installation of its own and five issues.
const INSTALLATIONS: usize = 20;
/// How often the server crashes.
const CRASHES: usize = 2;
/// What a process logs when it has noticed that it lost the lease of a run.
const LOST: &str = "run is released when its lease expires";

/// Moves the wall clock of the process that loads it ten minutes ahead.
const CLOCK_AHEAD: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    if (id == CLOCK_REALTIME) time->tv_sec += 600;
    return result;
}
"#;

/// Keeps who claims a run, and who writes something about it that only the holder of its lease may
/// write. A process is known by a parameter of its connections.
const JOURNAL: &str = "
CREATE TABLE journal (
    n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    process TEXT,
    run     TEXT NOT NULL,
    what    TEXT NOT NULL
);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO journal (process, run, what)
    VALUES (current_setting('planwright.process', true),
            CASE TG_ARGV[1] WHEN 'seq' THEN (SELECT id FROM runs WHERE seq = (to_jsonb(NEW) ->> 'run')::bigint)
                            ELSE to_jsonb(NEW) ->> TG_ARGV[1] END,
            TG_ARGV[0]);
    RETURN NULL;
END
$$;
CREATE TRIGGER claims AFTER UPDATE ON runs FOR EACH ROW
    WHEN (NEW.fence > OLD.fence) EXECUTE FUNCTION note('claim', 'id');
CREATE TRIGGER ends AFTER UPDATE ON runs FOR EACH ROW
    WHEN (NEW.state IN ('waiting', 'succeeded', 'failed', 'cancelled') AND OLD.state = 'running')
    EXECUTE FUNCTION note('end', 'id');
CREATE TRIGGER progress AFTER UPDATE ON texts FOR EACH ROW EXECUTE FUNCTION note('progress', 'seq');
CREATE TRIGGER new_effects AFTER INSERT ON effects FOR EACH ROW EXECUTE FUNCTION note('new effect', 'run');
CREATE TRIGGER done_effects AFTER UPDATE ON effects FOR EACH ROW
    WHEN (OLD.done_ms IS DISTINCT FROM NEW.done_ms) EXECUTE FUNCTION note('done effect', 'run');
CREATE TRIGGER saved AFTER INSERT OR UPDATE ON saved FOR EACH ROW EXECUTE FUNCTION note('saved', 'run')";

/// Runs in execution whose last claim was by the process.
const HELD: &str = "
SELECT id, fence FROM runs
WHERE state = 'running' AND $1 = (
    SELECT process FROM journal WHERE run = runs.id AND what = 'claim' ORDER BY n DESC LIMIT 1)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// One or two processes are killed, and started again a little later.
    Kill,
    /// A process that holds leases is stopped until others have taken over its runs. Other faults
    /// happen in the meantime.
    Freeze,
    /// The server crashes.
    Crash,
    /// All connections to the server are cut.
    Cut,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_command_is_reported_exactly_once_by_three_processes() {
    storm(200, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo test --test it two_thousand_commands -- --ignored --nocapture"]
async fn two_thousand_commands_are_reported_exactly_once_by_three_processes() {
    storm(2_000, 6).await;
}

/// Lets `count` commands come while the server crashes twice and each other fault happens `each`
/// times.
async fn storm(count: usize, each: usize) {
    let Some(mut server) = Server::start() else {
        return;
    };
    let database = postgres::database_on(server.url()).await;
    postgres::open(&database).await.close().await;
    sqlx::raw_sql(JOURNAL)
        .execute(&mut postgres::raw(&database).await)
        .await
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut system = System::with(Options {
        environment: vec![("PLANWRIGHT_WORKER_MAX_ATTEMPTS", "50".to_owned())],
        postgres: Some((database.clone(), PROCESSES)),
        named: true,
        preload: Some(preload::library(folder.path(), CLOCK_AHEAD)),
        ..Options::default()
    })
    .await;
    let mut random = StdRng::seed_from_u64(seed());
    let places = open_issues(&system, INSTALLATIONS, PLAN);
    let mut faults = vec![Fault::Crash; CRASHES];
    for fault in [Fault::Kill, Fault::Freeze, Fault::Cut] {
        faults.extend(vec![fault; each]);
    }
    faults.shuffle(&mut random);

    let began = Instant::now();
    let mut asked = Vec::new();
    let mut frozen: Option<Frozen> = None;
    let mut lost = 0;
    for (round, fault) in faults.iter().enumerate() {
        while asked.len() < count * (round + 1) / faults.len() {
            asked.push(ask(&system, &mut random, &places));
        }
        let earlier = frozen.take();
        let stopped = earlier.as_ref().map(|frozen| frozen.process);
        system.requests(random.random_range(1..100)).await;
        match fault {
            Fault::Kill => kill(&mut system, &mut random, stopped).await,
            Fault::Freeze => {
                frozen = Frozen::new(&mut system, &database, &mut random, stopped).await;
            }
            Fault::Crash => server.crash_and_resume(),
            Fault::Cut => postgres::cut_connections(&database).await,
        }
        if let Some(earlier) = earlier {
            lost += earlier.thaw(&mut system, &database, lost).await;
        }
        system.redeliver_failed().await;
    }
    if let Some(last) = frozen {
        lost += last.thaw(&mut system, &database, lost).await;
    }
    system.redeliver_failed().await;
    let runs = loop {
        system.requests(100).await;
        let runs = system.runs().await;
        if runs.iter().all(|run| run.state.is_terminal()) {
            break runs;
        }
    };
    let took = began.elapsed();

    assert_eq!(runs.len(), count, "all came through in the end");
    let plans = check_all(&system, &asked, &runs);
    let again = check_journal(&database).await;
    assert!(lost > 0, "no run was taken over from a frozen process");
    assert!(has_clock_ahead(&system), "no process has a clock ahead");
    let waiting = runs.iter().filter(|run| run.state == State::Failed).count();
    println!(
        "{count} commands, {PROCESSES} processes, {} faults, {lost} runs lost by frozen processes, {again} claimed \
         again, {plans} plans, {waiting} without a plan, {} requests: {took:.1?}",
        faults.len(),
        system.gate.requests()
    );
}

/// Kills one or two processes, and starts them again after a while. One that is not frozen remains.
async fn kill(system: &mut System, random: &mut StdRng, frozen: Option<usize>) {
    let mut victims: Vec<usize> = (0..PROCESSES).filter(|n| Some(*n) != frozen).collect();
    victims.shuffle(random);
    victims.truncate(random.random_range(1..victims.len()));
    for victim in &victims {
        system.kill_one(*victim).await;
    }
    system.requests(random.random_range(1..50)).await;
    for victim in victims {
        system.start_one(victim).await;
    }
}

/// A frozen process, and the leases that it held.
struct Frozen {
    process: usize,
    held: Vec<(String, i64)>,
}

impl Frozen {
    /// Freezes a process that holds leases. `None` if all processes have come to rest.
    async fn new(
        system: &mut System,
        database: &Url,
        random: &mut StdRng,
        except: Option<usize>,
    ) -> Option<Self> {
        let mut connection = postgres::raw(database).await;
        loop {
            let process = random.random_range(0..PROCESSES);
            if Some(process) == except {
                continue;
            }
            system.freeze(process).await;
            let held: Vec<(String, i64)> = sqlx::query_as(HELD)
                .bind(process.to_string())
                .fetch_all(&mut connection)
                .await
                .unwrap();
            if !held.is_empty() {
                return Some(Self { process, held });
            }
            system.thaw(process).await;
            let before = system.gate.requests();
            system.requests(1).await;
            if system.gate.requests() == before {
                return None;
            }
        }
    }

    /// Lets the process continue after others have taken over its runs, and waits until it has
    /// noticed, `before` leases having been lost earlier. Returns the number of runs that it lost.
    async fn thaw(self, system: &mut System, database: &Url, before: usize) -> usize {
        postgres::leases_end(database, &self.held).await;
        system.thaw(self.process).await;
        system.logged_times(LOST, before + self.held.len()).await;
        self.held.len()
    }
}

/// Checks that whatever only the holder of a lease may write was written by the process that had
/// claimed the run last. Returns the number of claims of runs that had been claimed before.
async fn check_journal(database: &Url) -> usize {
    let rows: Vec<(Option<String>, String, String)> =
        sqlx::query_as("SELECT process, run, what FROM journal ORDER BY n")
            .fetch_all(&mut postgres::raw(database).await)
            .await
            .unwrap();
    let mut holders: HashMap<String, String> = HashMap::new();
    let mut again = 0;
    for (process, run, what) in rows {
        let process = process.expect("every process names itself");
        if what == "claim" {
            again += usize::from(holders.insert(run, process).is_some());
        } else {
            assert_eq!(holders.get(&run), Some(&process), "{what} of {run}");
        }
    }
    again
}

/// Returns whether a process logs times that are ahead of this process's clock.
fn has_clock_ahead(system: &System) -> bool {
    system.log().iter().any(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let time = line["timestamp"].as_str().unwrap_or_default();
        DateTime::parse_from_rfc3339(time)
            .is_ok_and(|time| time.to_utc() > Utc::now() + chrono::Duration::minutes(1))
    })
}
