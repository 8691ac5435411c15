//! Runs the measurements. Every round starts new servers and measures all cases, so that other load
//! on the machine affects all cases alike.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::child::Server;
use crate::delivery::Comment;
use crate::load::{self, Mix};
use crate::payload::mix;
use crate::server::{Mode, POSTGRES};
use crate::{Outcome, Plan};

/// Numbers of concurrent connections that are measured.
pub(crate) const CONNECTIONS: [usize; 3] = [1, 16, 64];

/// Time between two looks at whether a server is idle.
const LOOK: Duration = Duration::from_millis(100);

/// Maximum number of these looks.
const MAX_LOOKS: u32 = 100;

/// The cases that are measured. "Limit" is the server without a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Case {
    /// Commands to the server without a store.
    LimitCommand,
    /// Commands to the bot, which stores them durably before it answers.
    Durable,
    /// Comments without commands to the server without a store.
    LimitTalk,
    /// Comments without commands to the bot.
    Ignored,
    /// Commands with a plan to the server that only verifies and parses them.
    LimitParse,
    /// Commands with a plan to the server without a store.
    LimitPlan,
    /// Commands with a plan of 5 kB, which the run keeps, to the bot.
    DurablePlan,
    /// Commands to the bot on PostgreSQL, if a database is named.
    DurablePostgres,
    /// Commands with a wrong signature to the bot.
    Forged,
}

impl Case {
    fn status(self) -> u16 {
        match self {
            Self::LimitCommand
            | Self::Durable
            | Self::LimitPlan
            | Self::DurablePlan
            | Self::DurablePostgres => 202,
            Self::LimitTalk | Self::Ignored | Self::LimitParse => 200,
            Self::Forged => 401,
        }
    }
}

/// The figures of one measurement, or the medians of several.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Figures {
    /// Answers per second.
    pub(crate) rate: f64,
    /// Median response time, in milliseconds.
    pub(crate) p50_ms: f64,
    /// 99th percentile of the response time, in milliseconds.
    pub(crate) p99_ms: f64,
    /// Processor time of the server per answer, in microseconds.
    pub(crate) cpu_micros: f64,
}

/// Memory of the bot, in MiB, and number of lines in its log.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Memory {
    /// Memory after the start.
    pub(crate) idle: f64,
    /// Peak memory under signed load.
    pub(crate) loaded: f64,
    /// Growth of a new bot's memory by the flood of wrong signatures.
    pub(crate) forged_growth: f64,
    /// Number of log lines that the flood caused.
    pub(crate) forged_lines: usize,
}

/// All results: medians of the figures, maxima of the memory.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) figures: BTreeMap<(Case, usize), Figures>,
    pub(crate) memory: Memory,
}

/// The deliveries that are sent.
struct Mixes {
    command: Arc<Mix>,
    plan: Arc<Mix>,
    talk: Arc<Mix>,
    forged: Arc<Mix>,
}

/// Runs all rounds.
pub(crate) fn run(plan: &Plan, pinned: bool) -> Outcome<Measured> {
    let mixes = Mixes {
        command: Arc::new(mix(Comment::Command, false)?),
        plan: Arc::new(mix(Comment::Plan, false)?),
        talk: Arc::new(mix(Comment::Talk, false)?),
        forged: Arc::new(mix(Comment::Command, true)?),
    };
    let mut all: BTreeMap<(Case, usize), Vec<Figures>> = BTreeMap::new();
    let mut memory = Memory::default();
    for _ in 0..plan.rounds {
        let found = round(plan, pinned, &mixes, &mut all)?;
        memory.idle = memory.idle.max(found.idle);
        memory.loaded = memory.loaded.max(found.loaded);
        memory.forged_growth = memory.forged_growth.max(found.forged_growth);
        memory.forged_lines = memory.forged_lines.max(found.forged_lines);
    }
    let figures = all
        .into_iter()
        .map(|(key, rounds)| (key, medians(&rounds)))
        .collect();
    Ok(Measured { figures, memory })
}

fn round(
    plan: &Plan,
    pinned: bool,
    mixes: &Mixes,
    all: &mut BTreeMap<(Case, usize), Vec<Figures>>,
) -> Outcome<Memory> {
    let folders = [folder()?, folder()?, folder()?, folder()?];
    let limit = Server::start(Mode::Limit, folders[0].path(), pinned)?;
    let bot = Server::start(Mode::BOT, folders[1].path(), pinned)?;
    let flooded = Server::start(Mode::BOT, folders[2].path(), pinned)?;
    let parse = Server::start(Mode::Parse, folders[3].path(), pinned)?;
    let mut memory = Memory {
        idle: bot.memory()?.0,
        ..Memory::default()
    };
    let mut take = |case: Case, server: &Server, mix: &Arc<Mix>, connections: usize| {
        let figures = measure(plan, case, server, mix, connections)?;
        all.entry((case, connections)).or_default().push(figures);
        Outcome::Ok(())
    };
    for connections in CONNECTIONS {
        take(Case::LimitCommand, &limit, &mixes.command, connections)?;
        take(Case::Durable, &bot, &mixes.command, connections)?;
        take(Case::LimitTalk, &limit, &mixes.talk, connections)?;
        take(Case::Ignored, &bot, &mixes.talk, connections)?;
    }
    let lines = flooded.log_lines()?;
    take(Case::Forged, &flooded, &mixes.forged, 64)?;
    memory.forged_growth = flooded.memory()?.1 - flooded.memory()?.0.min(memory.idle);
    memory.forged_lines = flooded.log_lines()? - lines;
    take(Case::LimitParse, &parse, &mixes.plan, 64)?;
    take(Case::LimitPlan, &limit, &mixes.plan, 64)?;
    take(Case::DurablePlan, &bot, &mixes.plan, 64)?;
    memory.loaded = bot.memory()?.1;
    if std::env::var_os(POSTGRES).is_some() {
        let postgres = Server::start(Mode::Postgres, folders[3].path(), pinned)?;
        for connections in CONNECTIONS {
            take(
                Case::DurablePostgres,
                &postgres,
                &mixes.command,
                connections,
            )?;
        }
    }
    Ok(memory)
}

/// Creates a folder for a server's database. It is below the target folder because `/tmp` is often
/// not on a disk.
pub(crate) fn folder() -> Outcome<tempfile::TempDir> {
    Ok(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?)
}

fn measure(
    plan: &Plan,
    case: Case,
    server: &Server,
    mix: &Arc<Mix>,
    connections: usize,
) -> Outcome<Figures> {
    let mut before = Ok(0.0);
    let mut answers = load::run(
        server.address,
        mix,
        connections,
        (plan.warm, plan.time),
        || before = server.cpu_seconds(),
    )?;
    let used = server.cpu_seconds()? - before?;
    settle(server)?;
    let wrong: Vec<_> = answers
        .statuses
        .iter()
        .filter(|(status, _)| **status != case.status())
        .collect();
    if !wrong.is_empty() || answers.count() == 0 {
        return Err(format!("{case:?} at {connections} connections: answers {wrong:?}").into());
    }
    let count = answers.count() as f64;
    Ok(Figures {
        rate: count / plan.time.as_secs_f64(),
        p50_ms: answers.quantile_ms(0.5),
        p99_ms: answers.quantile_ms(0.99),
        cpu_micros: used * 1e6 / count,
    })
}

/// Waits until a server has nothing to do, so that it takes no time from the next case: the bot
/// still stores what is in its inbox.
fn settle(server: &Server) -> Outcome<()> {
    for _ in 0..MAX_LOOKS {
        let used = server.cpu_seconds()?;
        std::thread::sleep(LOOK);
        if server.cpu_seconds()? <= used {
            break;
        }
    }
    Ok(())
}

fn medians(rounds: &[Figures]) -> Figures {
    let median = |field: fn(&Figures) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(field).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    Figures {
        rate: median(|f| f.rate),
        p50_ms: median(|f| f.p50_ms),
        p99_ms: median(|f| f.p99_ms),
        cpu_micros: median(|f| f.cpu_micros),
    }
}
