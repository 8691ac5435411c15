//! Hours of outages: commands on many issues while the bot is killed, its port is closed, a proxy in
//! front of it answers 502, and GitHub never creates some deliveries. Afterwards every command has
//! been executed exactly once, and in order where it could be.
//!
//! GitHub is the simulator over HTTP; the bot's store, receiver, client and workers are the real
//! ones, in this process, so that time is virtual. Each process of the bot has a Tokio runtime of
//! its own, which ends with it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU16, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use github_simulator::model::Role;
use github_simulator::{Simulator, SimulatorOptions, WebhookFault};
use planwright::adapters::github::{GitHub, GitHubConfig};
use planwright::adapters::store::{SqlStore, SqliteOptions};
use planwright::adapters::web::health::Health;
use planwright::adapters::web::{self, server};
use planwright::adapters::webhook::Receiver;
use planwright::engine::clock::Clock;
use planwright::engine::decide::{AppIdentity, AppSlug};
use planwright::engine::intake::Intake;
use planwright::engine::model::time::Millis;
use planwright::engine::scan::Scan;
use planwright::engine::services::Services;
use planwright::engine::settings::Settings;
use planwright::engine::store::Store;
use planwright::engine::sweep::Sweep;
use planwright::engine::worker::{Outcome, Worker};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use secrecy::SecretString;
use sqlx::{Connection as _, Row as _};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::simulator_support::KEYS;
use crate::support::rig::PLAN;
use crate::support::system::look;

const SECRET: &str = "a webhook secret of good length";
/// Owners, each with an installation of its own, and issues of each.
const OWNERS: u64 = 6;
const ISSUES: u64 = 10;
/// Length of the storm, in minutes.
const MINUTES: u64 = 6 * 60;
/// Minutes in which the last readings and retries take place.
const CALM: u64 = 60;
const SEED: u64 = 0x0ff1_1e5e;

/// A clock that both sides share. Each look at it takes a millisecond, so that times tell the order
/// of events.
#[derive(Debug)]
struct SharedClock(AtomicI64);

impl SharedClock {
    fn tick(&self) -> i64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

#[async_trait]
impl Clock for SharedClock {
    fn now(&self) -> Millis {
        Millis(self.tick())
    }
    async fn sleep(&self, _: Duration) {
        std::future::pending::<()>().await;
    }
}

#[async_trait]
impl github_simulator::Clock for SharedClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.tick()).unwrap()
    }
    async fn sleep(&self, _: Duration) {}
}

/// The ways in which the bot gets events.
#[derive(Debug, Clone, Copy)]
struct Doors {
    webhook: bool,
    log: bool,
    scan: bool,
}

const ALL: Doors = Doors {
    webhook: true,
    log: true,
    scan: true,
};

/// What is wrong during a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    /// The bot is killed at a random moment and started again a minute later.
    Kills,
    /// The bot is not running.
    Down,
    /// The bot is running, and nobody can reach it.
    PortClosed,
    /// A proxy in front of the bot answers 502.
    Proxy,
}

fn trouble(minute: u64) -> Trouble {
    match minute {
        30..60 | 250..300 => Trouble::Down,
        80..110 => Trouble::PortClosed,
        130..170 => Trouble::Proxy,
        180..240 | 310..340 => Trouble::Kills,
        _ => Trouble::None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A new comment.
    Comment,
    /// A new comment for which GitHub creates no delivery.
    Undelivered,
    /// A command added to a comment some minutes after it was written.
    Edit,
}

/// A command as somebody gave it.
#[derive(Debug)]
struct Asked {
    place: (u64, u64),
    comment: u64,
    way: Way,
}

fn repository(owner: u64) -> String {
    format!("team{owner}/search")
}

/// A running bot.
struct Process {
    runtime: Runtime,
    store: Arc<dyn Store>,
    worker: Worker,
    sweep: Sweep<GitHub>,
    scan: Scan<GitHub>,
    doors: Doors,
    clock: Arc<SharedClock>,
}

impl Process {
    fn start(world: &World, doors: Doors) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let clock = Arc::clone(&world.clock);
        let (store, worker, sweep, scan) = runtime.block_on(async {
            let path = world.folder.path().join("planwright.db");
            let store = SqlStore::open_sqlite(&path, SqliteOptions::default(), Clock::now(&*clock));
            let store: Arc<dyn Store> = Arc::new(store.await.unwrap());
            let key = KEYS.private_pem.clone();
            let mut config = GitHubConfig::new(world.sim.api_url().parse().unwrap(), 4711, key);
            config.write_gap = Duration::ZERO;
            config.notify_gap = Duration::ZERO;
            let github = Arc::new(GitHub::new(config, clock.clone()).unwrap());
            let mut settings = Settings::default();
            settings.worker.adopt_delay = Duration::ZERO;
            settings.worker.max_attempts = 100;
            let identity = AppIdentity {
                app_id: 4711,
                app_slug: AppSlug::new(Some("planwright".to_owned())),
                labels: settings.labels.clone(),
                ..AppIdentity::default()
            };
            let late = settings.late.clone();
            let intake = Intake::new(store.clone(), clock.clone(), identity, late, false);
            let intake = Arc::new(intake);
            let secrets = vec![SecretString::from(SECRET)];
            let receiver = Arc::new(Receiver::new(intake.clone(), clock.clone(), secrets));
            let health = Arc::new(Health::new(clock.clone(), Vec::new()));
            let app = web::app(receiver.router("/webhook"), health);
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(server::serve(listener, app, 64, CancellationToken::new()));
            let target = doors.webhook.then(|| format!("http://{address}/webhook"));
            world.sim.set_targets(target.into_iter().collect());
            let sweep = Sweep::new(
                github.clone(),
                store.clone(),
                intake.clone(),
                clock.clone(),
                settings.sweep.clone(),
            );
            let scan = Scan::new(
                github.clone(),
                store.clone(),
                intake,
                clock.clone(),
                settings.scan.clone(),
            );
            let parts = Services {
                store: store.clone(),
                forge: github,
                clock: clock.clone(),
                settings: Arc::new(settings),
                agent: None,
                checkouts: None,
                search_first: false,
            };
            (store, Worker::new(parts, "storm"), sweep, scan)
        });
        let process = Self {
            runtime,
            store,
            worker,
            sweep,
            scan,
            doors,
            clock,
        };
        process.runtime.block_on(process.read(true, true));
        process
    }

    /// Reads the delivery log and the comments as far as these doors are open. Faults are tried
    /// again at the next time.
    async fn read(&self, log: bool, scan: bool) {
        if log && self.doors.log {
            let _ = self.sweep.run().await;
        }
        if scan && self.doors.scan {
            let _ = self.scan.run().await;
        }
    }

    async fn work(&self) {
        while matches!(self.worker.step().await, Ok(Outcome::Did(..))) {}
    }

    /// What happens in a minute.
    async fn minute(&self, minute: u64) {
        self.work().await;
        self.read(minute.is_multiple_of(2), minute.is_multiple_of(15))
            .await;
        self.work().await;
    }

    /// Ends the process at once. Every task is dropped where it waits.
    fn kill(self) {
        let Self { runtime, .. } = self;
        runtime.shutdown_timeout(Duration::from_mins(1));
    }
}

struct World {
    folder: tempfile::TempDir,
    github: Runtime,
    sim: Simulator,
    clock: Arc<SharedClock>,
    /// Whether the next delivery is never created.
    undelivered: Arc<AtomicBool>,
    /// Status of the proxy; 0 if there is none.
    proxy: Arc<AtomicU16>,
}

impl World {
    fn new() -> Self {
        let github = Runtime::new().unwrap();
        let clock = Arc::new(SharedClock(AtomicI64::new(1_800_000_000_000)));
        let options = SimulatorOptions::new(
            "planwright",
            clock.clone(),
            KEYS.public_pem.clone(),
            SecretString::from(SECRET),
        );
        let sim = github.block_on(Simulator::start(options)).unwrap();
        let (undelivered, proxy) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU16::new(0)),
        );
        let (never, status) = (Arc::clone(&undelivered), Arc::clone(&proxy));
        sim.set_webhook_faults(move |_| {
            if never.load(Ordering::SeqCst) {
                return Some(WebhookFault::NotCreated);
            }
            let status = status.load(Ordering::SeqCst);
            (status != 0).then_some(WebhookFault::Proxy(status))
        });
        for owner in 0..OWNERS {
            let repository = repository(owner);
            sim.add_repository(&repository, false).unwrap();
            for login in ["ada", "bob"] {
                sim.grant(&repository, login, Role::Write).unwrap();
            }
            sim.install(&[&repository]).unwrap();
            for _ in 0..ISSUES {
                sim.open_issue(&repository, "bob", "Search", PLAN).unwrap();
            }
        }
        Self {
            folder: tempfile::tempdir().unwrap(),
            github,
            sim,
            clock,
            undelivered,
            proxy,
        }
    }

    fn settle(&self) {
        self.github.block_on(self.sim.settle());
    }

    /// Somebody comments on a random issue. An edit follows later.
    fn ask(&self, random: &mut StdRng) -> Asked {
        let place = (
            random.random_range(0..OWNERS),
            random.random_range(1..=ISSUES),
        );
        let way = match random.random_range(0..20) {
            0 => Way::Undelivered,
            1 => Way::Edit,
            _ => Way::Comment,
        };
        let text = match (way, random.random_range(0..4)) {
            (Way::Edit, _) => "Let me think.",
            (_, 0) => "/save-raw-plan",
            _ => "/save-plan",
        };
        let lost = way == Way::Undelivered;
        self.undelivered.store(lost, Ordering::SeqCst);
        let comment = self
            .sim
            .comment(&repository(place.0), place.1, "ada", text)
            .unwrap();
        self.undelivered.store(false, Ordering::SeqCst);
        Asked {
            place,
            comment,
            way,
        }
    }

    /// Comments whose `edited` delivery did not arrive.
    fn edits_that_failed(&self) -> HashSet<u64> {
        let deliveries = self.sim.deliveries();
        let failed = deliveries.iter().filter(|one| {
            one.event == "issue_comment"
                && one.action.as_deref() == Some("edited")
                && one.status_code.is_some_and(|code| code >= 400)
        });
        failed
            .map(|one| {
                let payload: serde_json::Value = serde_json::from_slice(&one.payload).unwrap();
                payload["comment"]["id"].as_u64().unwrap()
            })
            .collect()
    }
}

/// Polls `work` at most `polls` times.
async fn poll_times(work: impl Future<Output = ()>, polls: u32) {
    let mut work = std::pin::pin!(work);
    let mut left = polls;
    std::future::poll_fn(|context| {
        if left == 0 {
            return std::task::Poll::Ready(());
        }
        left -= 1;
        work.as_mut().poll(context)
    })
    .await;
}

/// A run in the database.
#[derive(Debug)]
struct Row {
    id: String,
    serial: Option<String>,
    state: String,
    said_ms: i64,
    created_ms: i64,
    started_ms: Option<i64>,
    finished_ms: Option<i64>,
    comment: i64,
}

async fn rows(path: PathBuf) -> Vec<Row> {
    let mut connection = look(&path).await;
    let rows = sqlx::query(
        "SELECT id, serial, state, said_ms, created_ms, started_ms, finished_ms,
                json_extract(trigger, '$.origin.id') AS comment
         FROM runs JOIN texts ON texts.run = runs.seq ORDER BY seq",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    connection.close().await.unwrap();
    rows.iter()
        .map(|row| Row {
            id: row.get("id"),
            serial: row.get("serial"),
            state: row.get("state"),
            said_ms: row.get("said_ms"),
            created_ms: row.get("created_ms"),
            started_ms: row.get("started_ms"),
            finished_ms: row.get("finished_ms"),
            comment: row.get("comment"),
        })
        .collect()
}

/// Lets `count` commands come during six hours of trouble, and returns them with the runs.
fn storm(world: &World, doors: Doors, count: usize) -> (Vec<Asked>, Vec<Row>) {
    let mut random = StdRng::seed_from_u64(SEED);
    let mut asked: Vec<Asked> = Vec::new();
    let mut edits: Vec<(u64, u64)> = Vec::new();
    let mut bot = Some(Process::start(world, doors));
    for minute in 0..MINUTES + CALM {
        world.clock.0.fetch_add(60_000, Ordering::SeqCst);
        let trouble = if minute < MINUTES {
            trouble(minute)
        } else {
            Trouble::None
        };
        world.proxy.store(
            if trouble == Trouble::Proxy { 502 } else { 0 },
            Ordering::SeqCst,
        );
        if trouble == Trouble::Down {
            if let Some(bot) = bot.take() {
                bot.kill();
            }
        } else if bot.is_none() {
            bot = Some(Process::start(world, doors));
        }
        let targets = (trouble == Trouble::PortClosed).then(Vec::new);
        if let Some(closed) = targets {
            world.sim.set_targets(closed);
        } else if minute > 0 && self::trouble(minute - 1) == Trouble::PortClosed {
            // The port opens again with a restart, as after a failed deploy.
            if let Some(bot) = bot.take() {
                bot.kill();
            }
            bot = Some(Process::start(world, doors));
        }
        let due = edits.iter().filter(|(at, _)| *at == minute);
        for (_, comment) in due {
            world
                .sim
                .edit_comment(*comment, "ada", "/save-plan")
                .unwrap();
        }
        let minute_of_storm = usize::try_from(minute.min(MINUTES - 1)).unwrap() + 1;
        let until = count * minute_of_storm / usize::try_from(MINUTES).unwrap();
        while asked.len() < until {
            let one = world.ask(&mut random);
            if one.way == Way::Edit {
                edits.push((minute + 3, one.comment));
            }
            asked.push(one);
        }
        world.settle();
        let Some(running) = bot.take() else { continue };
        if trouble == Trouble::Kills && random.random_range(0..3) == 0 {
            let polls = random.random_range(1..200);
            running
                .runtime
                .block_on(poll_times(running.minute(minute), polls));
            running.kill();
        } else {
            running.runtime.block_on(running.minute(minute));
            bot = Some(running);
        }
        world.settle();
    }
    if let Some(bot) = bot.take() {
        assert!(Clock::now(&*bot.clock) > Millis(0));
        bot.runtime.block_on(bot.store.close());
        bot.kill();
    }
    let rows = rows(world.folder.path().join("planwright.db"));
    (asked, world.github.block_on(rows))
}

/// Checks that what was executed was executed once, in order, and returns the comments that were
/// not.
fn check(world: &World, asked: &[Asked], runs: &[Row]) -> HashSet<u64> {
    let mut by_comment: HashMap<u64, &Row> = HashMap::new();
    for run in runs {
        assert_eq!(run.state, "succeeded", "{run:?}");
        let comment = u64::try_from(run.comment).unwrap();
        let twice = by_comment.insert(comment, run);
        assert!(twice.is_none(), "two runs for one command: {run:?}");
    }
    let mut places: BTreeMap<(u64, u64), Vec<&Asked>> = BTreeMap::new();
    for one in asked {
        places.entry(one.place).or_default().push(one);
    }
    let mut missed = HashSet::new();
    for ((owner, issue), commands) in places {
        let repository = repository(owner);
        let comments = world.sim.comments(&repository, issue).unwrap();
        let own: Vec<_> = comments.iter().filter(|one| one.via_app).collect();
        let mut executed = 0;
        for one in commands {
            let reactions = world.sim.comment_reactions(one.comment).unwrap();
            let Some(run) = by_comment.get(&one.comment) else {
                assert_eq!(reactions, [""; 0], "{one:?}");
                missed.insert(one.comment);
                continue;
            };
            executed += 1;
            assert_eq!(reactions, ["rocket"], "{one:?}");
            let marker = format!("<!-- planwright:effect {}/status -->", run.id);
            let reports = own.iter().filter(|one| one.body.ends_with(&marker));
            let reports: Vec<&str> = reports.map(|one| one.body.as_str()).collect();
            assert_eq!(reports.len(), 1, "one report of {run:?}");
            assert!(reports[0].starts_with('✅'), "{}", reports[0]);
        }
        assert_eq!(own.len(), executed, "{repository}#{issue}: nothing else");
        let plans = world.sim.issues(&repository).unwrap();
        assert!(plans.len() as u64 <= 2 * ISSUES, "one plan for each issue");
    }
    // Whatever was known when a run started and had been requested before it had ended.
    for run in runs {
        for earlier in runs {
            let known = earlier.serial == run.serial
                && earlier.said_ms < run.said_ms
                && Some(earlier.created_ms) < run.started_ms;
            assert!(
                !known || earlier.finished_ms <= run.started_ms,
                "{earlier:?} before {run:?}"
            );
        }
    }
    missed
}

fn ways(asked: &[Asked], way: Way) -> HashSet<u64> {
    let chosen = asked.iter().filter(|one| one.way == way);
    chosen.map(|one| one.comment).collect()
}

/// Number of commands of a storm with a door closed; all of them with `PLANWRIGHT_STORM=full`.
fn fewer() -> usize {
    let full = std::env::var("PLANWRIGHT_STORM").is_ok_and(|value| value == "full");
    if full { 500 } else { 120 }
}

#[test]
fn five_hundred_commands_survive_six_hours_of_outages() {
    let world = World::new();
    let (asked, runs) = storm(&world, ALL, 500);
    assert_eq!(check(&world, &asked, &runs), HashSet::new());
    assert_eq!((asked.len(), runs.len()), (500, 500));
    let late = runs
        .iter()
        .filter(|run| run.created_ms - run.said_ms > 120_000);
    println!(
        "{} commands: {} picked up late, {} without a delivery, {} by an edit; {} requests",
        runs.len(),
        late.count(),
        ways(&asked, Way::Undelivered).len(),
        ways(&asked, Way::Edit).len(),
        world.sim.requests().len(),
    );
}

#[test]
fn without_webhook_requests_nothing_is_missed() {
    let world = World::new();
    let doors = Doors {
        webhook: false,
        ..ALL
    };
    let (asked, runs) = storm(&world, doors, fewer());
    assert_eq!(check(&world, &asked, &runs), HashSet::new());
}

#[test]
fn without_the_delivery_log_failed_deliveries_of_edits_are_missed() {
    let world = World::new();
    let doors = Doors { log: false, ..ALL };
    let (asked, runs) = storm(&world, doors, fewer());
    let edits = ways(&asked, Way::Edit);
    let failed = world.edits_that_failed();
    let failed: HashSet<u64> = failed.intersection(&edits).copied().collect();
    assert!(!failed.is_empty());
    assert_eq!(check(&world, &asked, &runs), failed);
}

#[test]
fn without_the_scan_commands_without_a_delivery_are_missed() {
    let world = World::new();
    let doors = Doors { scan: false, ..ALL };
    let (asked, runs) = storm(&world, doors, fewer());
    let undelivered = ways(&asked, Way::Undelivered);
    assert!(!undelivered.is_empty());
    assert_eq!(check(&world, &asked, &runs), undelivered);
}
