//! Benchmark of the overhead of an agent: the processor time that the bot and its helper processes
//! use per run, in addition to the agent's own.
//!
//! Run with `cargo bench --bench agent`, on Linux only. `benches/README.md` explains what is
//! measured and how. The exit code is 1 if the bar is missed or an error occurs.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and ticks of a benchmark are far below 2^52"
)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use github_simulator::model::Role;
use github_simulator::{AppKeys, Simulator, SimulatorOptions};
use secrecy::{ExposeSecret, SecretString};

/// Any error; only its message is used.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const SECRET: &str = "a webhook secret of good length";
const REPOSITORY: &str = "acme/search";
/// Number of runs in one measurement.
const RUNS: usize = 40;
const ROUNDS: usize = 5;
/// Maximum processor time of one run in addition to its agent's own, in milliseconds.
const BAR: f64 = 20.0;
/// Timeout for the runs of one measurement.
const PATIENCE: Duration = Duration::from_mins(2);

/// The plan in the issues, which the agent returns in completed form.
const PLAN: &str = include_str!("../fixtures/plans/session-store.md");

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let held = match runtime {
        Ok(runtime) => runtime.block_on(measure()),
        Err(error) => Err(error.into()),
    };
    match held {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("agent: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Result<bool, Failure> {
    let folder = tempfile::tempdir()?;
    let answer = folder.path().join("answer.md");
    std::fs::write(&answer, completed()?)?;
    println!(
        "processor time of the bot and all its processes for each run, medians of {ROUNDS} rounds of {RUNS} runs"
    );
    let (mut with, mut without, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        with.push(runs(Some(&answer)).await?);
        without.push(runs(None).await?);
        own.push(alone(&answer)?);
    }
    let [with, without, own] = [with, without, own].map(median);
    println!("  run with an agent      {with:>6.2} ms");
    println!("  run without            {without:>6.2} ms");
    println!("  the agent alone        {own:>6.2} ms  (cat, started by a shell's loop)");
    let overhead = with - own;
    let held = overhead < BAR;
    println!(
        "  beside the agent's own {overhead:>6.2} ms, of which its part {:.2}",
        with - without - own
    );
    println!(
        "  bar: under {BAR:.0} ms: {}",
        if held { "held" } else { "MISSED" }
    );
    Ok(held)
}

/// Returns the plan as the agent completes it.
fn completed() -> Result<String, Failure> {
    let (_, body) = PLAN.split_once('\n').ok_or("the plan has no title")?;
    Ok(format!(
        "# Plan: Keep sessions over restarts\n\n## Enrichment Details\n\n### Process Summary\n\n- **Mode**: enriched\n\n\
         ### Context Categories Populated\n\n- ✅ Known Pitfalls\n\n---\n{body}\n\n## Context & Understanding\n\n\
         ### Known Pitfalls\n\n- DO NOT trust the time of a file\n"
    ))
}

/// Measures a new bot, without its start and end. Returns the processor time of one run, in
/// milliseconds.
async fn runs(answer: Option<&Path>) -> Result<f64, Failure> {
    let keys = AppKeys::generate()?;
    let options = SimulatorOptions::new(
        "planwright",
        Arc::new(github_simulator::SystemClock),
        keys.public_pem.clone(),
        SecretString::from(SECRET),
    );
    let simulator = Simulator::start(options).await?;
    simulator.add_repository(REPOSITORY, false)?;
    simulator.grant(REPOSITORY, "ada", Role::Write)?;
    simulator.install(&[REPOSITORY])?;
    let folder = tempfile::tempdir()?;
    let bot = Bot::start(&simulator, &keys, folder.path(), answer)?;
    // The first run is not measured, because it pays for one-time initialisation.
    save_plans(&simulator, 1).await?;
    let before = bot.ticks()?;
    save_plans(&simulator, RUNS).await?;
    let ticks = bot.ticks()? - before;
    bot.end()?;
    simulator.shutdown().await;
    Ok(ticks as f64 * 1000.0 / ticks_a_second()? / RUNS as f64)
}

/// Opens `count` issues with a plan, requests that each is saved, and waits until all are saved.
async fn save_plans(simulator: &Simulator, count: usize) -> Result<(), Failure> {
    let saved = |simulator: &Simulator| -> Result<usize, Failure> {
        let issues = simulator.issues(REPOSITORY)?;
        let mut done = 0;
        for issue in issues.iter().filter(|issue| !issue.via_app) {
            let comments = simulator.comments(REPOSITORY, issue.number)?;
            done += usize::from(
                comments
                    .iter()
                    .any(|it| it.via_app && it.body.contains("planwright-result")),
            );
            if let Some(failed) = comments
                .iter()
                .find(|it| it.body.contains("planwright-error") || it.body.contains("Fallback"))
            {
                return Err(format!("a run did not go well: {}", failed.body).into());
            }
        }
        Ok(done)
    };
    let wanted = saved(simulator)? + count;
    for _ in 0..count {
        let issue =
            simulator.open_issue(REPOSITORY, "ada", "Sessions are lost", "At each restart.")?;
        simulator.comment(REPOSITORY, issue, "ada", PLAN)?;
        simulator.comment(REPOSITORY, issue, "ada", "/save-plan")?;
    }
    let began = Instant::now();
    while saved(simulator)? < wanted {
        if began.elapsed() > PATIENCE {
            return Err("the runs did not end".into());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// The bot as a child process.
struct Bot(Child);

impl Bot {
    fn start(
        simulator: &Simulator,
        keys: &AppKeys,
        folder: &Path,
        answer: Option<&Path>,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
        command
            .arg("serve")
            .env_clear()
            .current_dir(folder)
            .envs([
                ("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:0"),
                ("PLANWRIGHT_WEBHOOK_SECRETS", SECRET),
                (
                    "PLANWRIGHT_GITHUB_PRIVATE_KEY",
                    keys.private_pem.expose_secret(),
                ),
                ("PLANWRIGHT_GITHUB_API_URL", &simulator.api_url()),
                ("PLANWRIGHT_GITHUB_APP_ID", "4711"),
                ("PLANWRIGHT_GITHUB_APP_SLUG", "planwright"),
                ("PLANWRIGHT_GITHUB_WRITE_GAP_MS", "0"),
                ("PLANWRIGHT_GITHUB_NOTIFY_GAP_MS", "0"),
                ("PLANWRIGHT_AGENT_RUNS_PER_ACTOR_HOUR", "0"),
                ("PLANWRIGHT_LOG_FORMAT", "json"),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if let Some(answer) = answer {
            let list = format!("[\"{}\"]", answer.display());
            command
                .env("PLANWRIGHT_AGENT_KIND", "command")
                .env("PLANWRIGHT_AGENT_PATH", "/bin/cat")
                .env("PLANWRIGHT_AGENT_ARGS", &list)
                .env("PLANWRIGHT_AGENT_READS", answer);
        }
        let mut bot = Self(command.spawn()?);
        let stderr = bot.0.stderr.take().ok_or("no standard error")?;
        let mut lines = BufReader::new(stderr).lines();
        let address = loop {
            let line = lines.next().ok_or("the bot does not listen")??;
            let said: serde_json::Value = serde_json::from_str(&line)?;
            if said["message"] == "listening" {
                break said["address"].as_str().unwrap_or_default().to_owned();
            }
        };
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        simulator.set_targets(vec![format!("http://{address}/webhook")]);
        Ok(bot)
    }

    /// Returns the processor time of the bot and of its children that have ended, in clock ticks
    /// (`proc_pid_stat(5)`).
    fn ticks(&self) -> Result<u64, Failure> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let (_, fields) = stat.rsplit_once(')').ok_or("an unknown form of stat")?;
        let times = fields.split_whitespace().skip(11).take(4);
        Ok(times.map(str::parse::<u64>).sum::<Result<_, _>>()?)
    }

    fn end(mut self) -> Result<(), Failure> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the processor time of one agent run without the bot, in milliseconds.
fn alone(answer: &Path) -> Result<f64, Failure> {
    let before = children()?;
    for _ in 0..RUNS {
        Command::new("/bin/cat")
            .arg(answer)
            .stdout(Stdio::null())
            .status()?;
    }
    Ok((children()? - before) as f64 * 1000.0 / ticks_a_second()? / RUNS as f64)
}

/// Returns the processor time of this process's ended children, in clock ticks.
fn children() -> Result<u64, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("an unknown form of stat")?;
    let times = fields.split_whitespace().skip(13).take(2);
    Ok(times.map(str::parse::<u64>).sum::<Result<_, _>>()?)
}

fn ticks_a_second() -> Result<f64, Failure> {
    let said = Command::new("getconf").arg("CLK_TCK").output()?;
    Ok(String::from_utf8(said.stdout)?.trim().parse()?)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
