//! The whole system: the GitHub simulator in this process and the bot as a child process, connected
//! over real HTTP.
//!
//! Nothing waits by sleeping. Requests that pass the gate and lines of the bot's log are events;
//! waiting code checks its condition again at each event and gives up after [`PATIENCE`]. The end
//! of a run is logged after it is in the database.

mod gate;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use github_simulator::model::TokenFormat;
use github_simulator::model::{Comment, Issue, Role};
use github_simulator::{Simulator, SimulatorOptions};
use planwright::engine::decide::concerns_us;
use planwright::engine::model::run::State;
use planwright::engine::model::trigger::{Origin, Trigger};
use planwright::formats::block::{self, Content};
use planwright::formats::plan::split;
use secrecy::{ExposeSecret, SecretString};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::timeout;
use url::Url;

use super::openapi::Client;
use super::openapi::tap::Tap;
use crate::simulator_support::KEYS;
pub(crate) use gate::{Gate, Moment};

/// Timeout of every wait, far longer than needed.
const PATIENCE: Duration = Duration::from_mins(2);
/// Number of log lines that a failed test shows.
const SHOWN: usize = 60;
const SECRET: &str = "a webhook secret of good length";

/// Differences from the default system.
#[derive(Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent differences, most of them unused in a test"
)]
pub(crate) struct Options {
    /// Whether the bot uses the Enterprise Server API (`/api/v3`).
    pub(crate) enterprise: bool,
    /// Format of installation tokens.
    pub(crate) token_format: TokenFormat,
    /// Whether every exchange is checked against GitHub's description.
    pub(crate) judged: bool,
    /// Whether the bot reads deliveries from GitHub's log instead of listening.
    pub(crate) pull: bool,
    /// Number of hours by which GitHub's clock is ahead of the bot's.
    pub(crate) github_ahead_hours: i64,
    /// Additional environment variables of the bot.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// A PostgreSQL database, and as many processes as share it.
    pub(crate) postgres: Option<(Url, usize)>,
    /// Whether each process names itself in the server's parameter `planwright.process`, by its
    /// number.
    pub(crate) named: bool,
    /// A library that is loaded into the last process.
    pub(crate) preload: Option<PathBuf>,
    /// The App's client secret, for logins of people.
    pub(crate) client_secret: Option<String>,
}

/// A clock that is ahead of the system clock by a number of milliseconds.
struct OffClock(i64);

#[async_trait::async_trait]
impl github_simulator::Clock for OffClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now() + chrono::Duration::milliseconds(self.0)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A run in the bot's database.
#[derive(Debug, Clone)]
pub(crate) struct RunRow {
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) state: State,
    pub(crate) code: Option<String>,
    pub(crate) trigger: Trigger,
}

impl RunRow {
    /// Returns the ID of the comment that requested the run, if any.
    pub(crate) fn asked_in(&self) -> Option<u64> {
        match &self.trigger.origin {
            Origin::Comment { id, .. } | Origin::Boxes { id, .. } => Some(*id),
            Origin::Label { .. } | Origin::Push { .. } | Origin::Local { .. } => None,
        }
    }
}

/// The simulator and the bot. Dropping it kills the bot's process.
pub(crate) struct System {
    pub(crate) sim: Simulator,
    pub(crate) gate: Gate,
    pub(crate) tap: Tap,
    folder: TempDir,
    api_url: String,
    environment: Vec<(&'static str, String)>,
    pull: bool,
    postgres: Option<Url>,
    named: bool,
    preload: Option<PathBuf>,
    /// The processes of the bot, where they run, and their addresses.
    bots: Vec<Option<(Child, Option<String>)>>,
    /// The processes that are frozen.
    frozen: HashSet<usize>,
    log: Arc<Mutex<Vec<String>>>,
    lines: watch::Sender<u64>,
}

impl System {
    /// Starts the default system and waits until the bot listens.
    pub(crate) async fn start() -> Self {
        Self::with(Options::default()).await
    }

    /// Starts a system with `options`.
    pub(crate) async fn with(options: Options) -> Self {
        let gate = Gate::new();
        let tap = if options.judged {
            Tap::new(Client::Planwright)
        } else {
            Tap::with(None, Client::Planwright)
        };
        let mut settings = SimulatorOptions::new(
            "planwright",
            Arc::new(OffClock(options.github_ahead_hours * 3_600_000)),
            KEYS.public_pem.clone(),
            SecretString::from(SECRET),
        );
        settings.token_format = options.token_format;
        if let Some(secret) = options.client_secret {
            settings.client_secret = SecretString::from(secret);
        }
        let (outer, inner) = (gate.clone(), tap.clone());
        let sim = Simulator::start_wrapped(settings, |router| outer.wrap(inner.wrap(router)));
        let sim = sim.await.unwrap();
        let api_url = if options.enterprise {
            sim.enterprise_api_url()
        } else {
            sim.api_url()
        };
        let mut system = Self {
            sim,
            gate,
            tap,
            folder: tempfile::tempdir().unwrap(),
            api_url,
            environment: options.environment,
            pull: options.pull,
            bots: (0..options.postgres.as_ref().map_or(1, |(_, count)| *count))
                .map(|_| None)
                .collect(),
            postgres: options.postgres.map(|(url, _)| url),
            named: options.named,
            preload: options.preload,
            frozen: HashSet::new(),
            log: Arc::default(),
            lines: watch::Sender::new(0),
        };
        for number in 0..system.bots.len() {
            system.start_one(number).await;
        }
        system
    }

    /// Adds the repository `owner/name` with the writers `ada` and `bob`, and installs the App
    /// there.
    pub(crate) fn repository(&self, name: &str, private: bool) {
        self.sim.add_repository(name, private).unwrap();
        for login in ["ada", "bob"] {
            self.sim.grant(name, login, Role::Write).unwrap();
        }
        self.sim.install(&[name]).unwrap();
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("planwright.db")
    }

    /// Returns the environment that all processes of the bot have.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let database = self.database().display().to_string();
        let fixed = [
            ("PLANWRIGHT_GITHUB_APP_ID", "4711"),
            ("PLANWRIGHT_GITHUB_APP_SLUG", "planwright"),
            ("PLANWRIGHT_GITHUB_WRITE_GAP_MS", "0"),
            ("PLANWRIGHT_GITHUB_NOTIFY_GAP_MS", "0"),
            ("PLANWRIGHT_WORKER_SETTLE_SECONDS", "0"),
            ("PLANWRIGHT_WORKER_BACKOFF_SECONDS", "1"),
            ("PLANWRIGHT_WORKER_LEASE_SECONDS", "5"),
            ("PLANWRIGHT_LOG_FORMAT", "json"),
            ("PLANWRIGHT_GITHUB_API_URL", &self.api_url),
            ("PLANWRIGHT_STORE_PATH", &database),
            (
                "PLANWRIGHT_GITHUB_PRIVATE_KEY",
                KEYS.private_pem.expose_secret(),
            ),
        ];
        let fixed = fixed.into_iter();
        fixed
            .map(|(name, value)| (name, value.to_owned()))
            .collect()
    }

    /// Runs the program beside the bot and returns its exit code and what it printed.
    pub(crate) async fn ask(&self, arguments: &[&str]) -> (i32, String, String) {
        self.ask_with(arguments, &[]).await
    }

    /// Runs the program with other variables in its environment.
    pub(crate) async fn ask_with(
        &self,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_planwright"))
            .args(arguments)
            .env_clear()
            .envs(self.environment())
            .envs(environment.iter().copied())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output();
        let output = timeout(PATIENCE, output).await.unwrap().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// Waits until the decisions that the bot has made are in the database.
    pub(crate) async fn flushed(&self) {
        let received = async {
            while !self.all_received().await {
                tokio::task::yield_now().await;
            }
        };
        if timeout(PATIENCE, received).await.is_err() {
            self.give_up("decisions are missing");
        }
    }

    /// Starts the bot's process, waits until it listens and works, and directs webhooks to it.
    pub(crate) async fn start_bot(&mut self) {
        self.start_one(0).await;
    }

    /// Starts one of the bot's processes.
    pub(crate) async fn start_one(&mut self, number: usize) {
        assert!(self.bots[number].is_none(), "the bot runs already");
        let is_last = number + 1 == self.bots.len();
        let preload = self.preload.as_ref().filter(|_| is_last);
        let transport = if self.pull {
            [
                ("PLANWRIGHT_SERVER_TRANSPORT", "pull"),
                ("PLANWRIGHT_SWEEP_PULL_EVERY_SECONDS", "1"),
                // Every reading of the log is an event that waiting code is woken by.
                (
                    "PLANWRIGHT_LOG_LEVEL",
                    "info,planwright::engine::sweep=debug",
                ),
            ]
        } else {
            [
                ("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:0"),
                ("PLANWRIGHT_WEBHOOK_SECRETS", SECRET),
                ("PLANWRIGHT_LOG_LEVEL", "info"),
            ]
        };
        let mut child = Command::new(env!("CARGO_BIN_EXE_planwright"))
            .arg("serve")
            .env_clear()
            .envs(self.environment())
            .envs(transport)
            .envs(self.environment.iter().map(|(key, value)| (key, value)))
            .envs(preload.map(|library| ("LD_PRELOAD", library)))
            .envs(
                (self.bots.len() > 1)
                    .then(|| ("PLANWRIGHT_AGENT_FOLDER", format!("agent-{number}"))),
            )
            .envs(self.postgres.as_ref().map(|url| {
                let mut url = url.clone();
                if self.named {
                    url.query_pairs_mut()
                        .append_pair("options[planwright.process]", &number.to_string());
                }
                ("PLANWRIGHT_STORE_URL", url.to_string())
            }))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        if self.bots.len() == 1 {
            self.log.lock().unwrap().clear();
        }
        let listening = async {
            let (mut address, mut confirmed) = (None, false);
            while let Some(line) = lines.next_line().await.unwrap() {
                confirmed |= line.contains("GitHub has confirmed the App");
                address = address.or_else(|| listening_at(&line));
                keep(&self.log, line);
                if confirmed && (address.is_some() || self.pull) {
                    return Some(address);
                }
            }
            None
        };
        let address = timeout(PATIENCE, listening).await.ok().flatten();
        let address = address.unwrap_or_else(|| self.give_up("the bot does not listen"));
        let (log, count) = (Arc::clone(&self.log), self.lines.clone());
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                keep(&log, line);
                count.send_modify(|lines| *lines += 1);
            }
        });
        let target = address.map(|address| format!("http://{address}/webhook"));
        self.bots[number] = Some((child, target));
        self.aim();
    }

    /// Directs webhooks to the processes that run.
    fn aim(&self) {
        let awake = |number: &usize| !self.frozen.contains(number);
        let running = self.bots.iter().enumerate();
        let targets = running
            .filter(|(number, _)| awake(number))
            .filter_map(|(_, bot)| bot.as_ref()?.1.clone());
        self.sim.set_targets(targets.collect());
    }

    /// Stops one of the bot's processes (SIGSTOP), which therefore answers nothing, until
    /// [`System::thaw`]. Further webhooks go to the others, as a load balancer would have it.
    pub(crate) async fn freeze(&mut self, number: usize) {
        self.signal(number, "-STOP").await;
        self.frozen.insert(number);
        self.aim();
    }

    /// Lets a frozen process continue.
    pub(crate) async fn thaw(&mut self, number: usize) {
        self.signal(number, "-CONT").await;
        self.frozen.remove(&number);
        self.aim();
    }

    /// Returns the URL of a path of the bot's first process.
    pub(crate) fn url(&self, path: &str) -> String {
        self.url_of(0, path)
    }

    /// Returns the URL of a path of one of the bot's processes.
    pub(crate) fn url_of(&self, number: usize, path: &str) -> String {
        let (_, webhook) = self.bots[number].as_ref().expect("the bot runs");
        let webhook = webhook.as_deref().expect("the bot listens");
        webhook.replace("/webhook", path)
    }

    /// Returns the lines of the bot's log, those of all processes together.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Returns the ids of the bot's processes that run.
    pub(crate) fn processes(&self) -> impl Iterator<Item = u32> {
        let running = self.bots.iter().flatten();
        running.filter_map(|(child, _)| child.id())
    }

    /// Sends a signal to one of the bot's processes.
    async fn signal(&self, number: usize, signal: &str) {
        let (child, _) = self.bots[number].as_ref().expect("the bot runs");
        let id = child.id().expect("not awaited before").to_string();
        let sent = Command::new("kill").args([signal, &id]).status().await;
        assert!(sent.unwrap().success());
    }

    /// Kills one of the bot's processes with SIGKILL. Webhooks still go to it, as they do before a
    /// load balancer notices.
    pub(crate) async fn kill_one(&mut self, number: usize) {
        let (mut child, _) = self.bots[number].take().expect("the bot runs");
        child.kill().await.unwrap();
    }

    /// Kills the bot abruptly with SIGKILL, as a power failure would.
    pub(crate) async fn kill(&mut self) {
        self.kill_one(0).await;
    }

    /// Stops the bot with SIGTERM, as an operator would, and checks that it exits successfully.
    pub(crate) async fn stop(&mut self) {
        self.ask_to_stop().await;
        self.stopped().await;
    }

    /// Sends SIGTERM and waits until the bot has noticed.
    pub(crate) async fn ask_to_stop(&mut self) {
        self.signal(0, "-TERM").await;
        let waiting = async {
            let mut lines = self.lines.subscribe();
            loop {
                // Marked as seen before the check, so that later changes wake this task.
                lines.borrow_and_update();
                let mut seen = self.log.lock().unwrap().clone().into_iter();
                if seen.any(|line| line.contains("\"stopping\"")) {
                    return;
                }
                lines.changed().await.unwrap();
            }
        };
        let noticed = timeout(PATIENCE, waiting).await;
        noticed.unwrap_or_else(|_| self.give_up("the bot does not notice SIGTERM"));
    }

    /// Waits until the bot that was asked to stop has ended, and checks that it exits successfully.
    pub(crate) async fn stopped(&mut self) {
        let (mut child, _) = self.bots[0].take().expect("the bot runs");
        let ended = timeout(PATIENCE, child.wait()).await;
        let ended = ended.unwrap_or_else(|_| self.give_up("the bot does not stop"));
        assert!(ended.unwrap().success(), "the bot stops well");
    }

    /// Waits until every webhook is answered and every accepted run has ended. Returns all runs in
    /// order of acceptance.
    pub(crate) async fn run_to_rest(&self) -> Vec<RunRow> {
        self.until("rest", |runs| {
            runs.iter().all(|run| run.state.is_terminal())
        })
        .await
    }

    /// Waits until every webhook is answered and `wanted` accepts the runs, which are checked at
    /// every line of the bot's log.
    pub(crate) async fn until(
        &self,
        what: &str,
        wanted: impl Fn(&[RunRow]) -> bool,
    ) -> Vec<RunRow> {
        let waiting = async {
            self.sim.settle().await;
            let mut lines = self.lines.subscribe();
            loop {
                // Marked as seen before the check, so that later changes wake this task.
                lines.borrow_and_update();
                let received = !self.pull || self.all_received().await;
                let runs = self.runs().await;
                if received && wanted(&runs) {
                    return runs;
                }
                lines.changed().await.unwrap();
            }
        };
        match timeout(PATIENCE, waiting).await {
            Ok(runs) => runs,
            Err(_) => self.give_up(&format!("no {what}: {:#?}", self.runs().await)),
        }
    }

    /// Waits until `wanted` accepts the state on GitHub, which is checked at every answered
    /// request.
    pub(crate) async fn shown(&self, what: &str, wanted: impl Fn() -> bool) {
        let mut changes = self.gate.changes();
        let waiting = async {
            // Marked as seen before the check, so that later changes wake this task.
            changes.borrow_and_update();
            while !wanted() {
                changes.changed().await.unwrap();
                changes.borrow_and_update();
            }
        };
        if timeout(PATIENCE, waiting).await.is_err() {
            self.give_up(&format!("no {what}: {:#?}", self.runs().await));
        }
    }

    /// Returns the peak resident memory of the bot's process, in bytes, or `None` if there is no
    /// `/proc`.
    pub(crate) fn most_memory(&self) -> Option<u64> {
        let id = self.processes().next()?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }

    /// Returns the folder of the bot's agents. It occurs in the environment of all their processes.
    pub(crate) fn agents(&self) -> String {
        format!("{}/planwright-agent/", self.folder.path().display())
    }

    /// Waits until `count` more requests have been answered or every accepted run has ended.
    pub(crate) async fn requests(&self, count: u64) {
        let wanted = self.gate.requests() + count;
        tokio::select! {
            _ = self.run_to_rest() => {}
            () = self.gate.answered(wanted) => {}
        }
    }

    /// Waits until the armed gate has caught its write or all runs have ended. Returns whether a
    /// write was caught: the number of writes varies, because progress is shown while agents work.
    pub(crate) async fn caught_or_rest(&self) -> bool {
        tokio::select! {
            biased;
            () = self.gate.caught() => true,
            _ = self.run_to_rest() => false,
        }
    }

    /// Waits until the armed gate has caught its write.
    pub(crate) async fn caught(&self) {
        let caught = timeout(PATIENCE, self.gate.caught()).await;
        caught.unwrap_or_else(|_| self.give_up("the gate caught nothing"));
    }

    /// Redelivers all deliveries that never reached the bot, as an operator does from the App's
    /// delivery log.
    pub(crate) async fn redeliver_failed(&self) {
        self.sim.settle().await;
        let all = self.sim.deliveries();
        let reached = |code: Option<u16>| code.is_some_and(|code| (200..300).contains(&code));
        let done: HashSet<&str> = all
            .iter()
            .filter(|one| reached(one.status_code))
            .map(|one| one.guid.as_str())
            .collect();
        for one in &all {
            if !one.redelivery && !done.contains(one.guid.as_str()) {
                self.sim.redeliver(one.id).unwrap();
            }
        }
        self.sim.settle().await;
    }

    /// Opens a separate read-only connection to the bot's database.
    async fn look(&self) -> SqliteConnection {
        look(&self.database()).await
    }

    /// Waits until the bot has logged a line with `text` since its start.
    pub(crate) async fn logged(&self, text: &str) {
        self.logged_times(text, 1).await;
    }

    /// Waits until the bot has logged this many lines with `text` since its start.
    pub(crate) async fn logged_times(&self, text: &str, times: usize) {
        let mut lines = self.lines.subscribe();
        let waiting = async {
            lines.borrow_and_update();
            while !self.has_logged(text, times) {
                lines.changed().await.unwrap();
            }
        };
        if timeout(PATIENCE, waiting).await.is_err() {
            self.give_up(&format!("`{text}` is not logged {times} times"));
        }
    }

    fn has_logged(&self, text: &str, times: usize) -> bool {
        let log = self.log.lock().unwrap();
        log.iter().filter(|line| line.contains(text)).count() >= times
    }

    /// Waits until the bot, which pulls, has read the delivery log once more to its end and has
    /// received everything.
    pub(crate) async fn log_read(&self) {
        let waiting = async {
            let mut lines = self.lines.subscribe();
            let mut read = 0;
            while read < 1 || !self.all_received().await {
                lines.changed().await.unwrap();
                let log = self.log.lock().unwrap();
                read += usize::from(
                    log.last()
                        .is_some_and(|line| line.contains("delivery log read")),
                );
            }
        };
        if timeout(PATIENCE, waiting).await.is_err() {
            self.give_up("the log is not read");
        }
    }

    /// Makes the stopped bot believe that it last read the delivery log some hours ago.
    pub(crate) async fn forget_log_since(&self, hours: i64) {
        let watermark = Utc::now().timestamp_millis() - hours * 3_600_000;
        let options = SqliteConnectOptions::new().filename(self.database());
        let mut connection = options.connect().await.unwrap();
        sqlx::query("UPDATE delivery_log SET state = json_set(state, '$.watermark', ?1)")
            .bind(watermark)
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
    }

    /// Returns the decisions that led to nothing, as source, event, verdict and reason, without
    /// those about webhook requests.
    pub(crate) async fn decisions(&self) -> Vec<String> {
        let mut connection = self.look().await;
        let rows: Vec<String> = sqlx::query_scalar(
            "SELECT format('%s %s %s', value ->> 1, value ->> 3, value ->> 6) || coalesce(' ' || (value ->> 7), '')
             FROM decisions, json_each(records) WHERE value ->> 1 <> 'webhook' ORDER BY decisions.id, key",
        )
        .fetch_all(&mut connection)
        .await
        .unwrap();
        connection.close().await.unwrap();
        rows
    }

    /// Returns whether the bot has decided about every delivery that may ask for something.
    async fn all_received(&self) -> bool {
        let mut connection = self.look().await;
        let guids: Vec<String> = sqlx::query_scalar(
            "SELECT guid FROM deliveries UNION SELECT value ->> 2 FROM decisions, json_each(records)",
        )
        .fetch_all(&mut connection)
        .await
        .unwrap();
        connection.close().await.unwrap();
        let decided: HashSet<String> = guids.into_iter().collect();
        let deliveries = self.sim.deliveries();
        let mut ours = deliveries
            .iter()
            .filter(|one| concerns_us(&one.event, one.action.as_deref()));
        ours.all(|one| decided.contains(&one.guid))
    }

    /// Returns all runs in order of acceptance.
    pub(crate) async fn runs(&self) -> Vec<RunRow> {
        #[cfg(unix)]
        if let Some(url) = &self.postgres {
            return runs_on(url).await;
        }
        let mut connection = self.look().await;
        let rows: Vec<(String, String, String, Option<String>, String)> = sqlx::query_as(
            "SELECT runs.id, command, state, code, CASE WHEN deliveries.text IS NULL THEN trigger
                    ELSE json_set(trigger, '$.origin.text', deliveries.text) END
             FROM runs JOIN texts ON texts.run = runs.seq JOIN deliveries ON deliveries.id = runs.delivery ORDER BY seq",
        )
        .fetch_all(&mut connection)
        .await
        .unwrap();
        connection.close().await.unwrap();
        rows.into_iter()
            .map(|(id, command, state, code, trigger)| RunRow {
                id,
                command,
                state: State::from_name(&state).unwrap(),
                code,
                trigger: serde_json::from_str(&trigger).unwrap(),
            })
            .collect()
    }

    /// Clicks `boxes` of a comment, counted from 0, and if `send` is set also the last one. Each
    /// click is a separate edit.
    pub(crate) fn tick(&self, comment: u64, login: &str, boxes: &[usize], send: bool) {
        let last = self.sim.checkboxes(comment).unwrap().len().checked_sub(1);
        let send = send.then(|| last.expect("a box that sends"));
        for nth in boxes.iter().copied().chain(send) {
            self.sim.toggle_checkbox(comment, login, nth).unwrap();
        }
    }

    /// Returns the bot's comments on an issue.
    pub(crate) fn said(&self, repository: &str, number: u64) -> Vec<Comment> {
        let bot = self.sim.bot();
        let mut comments = self.sim.comments(repository, number).unwrap();
        comments.retain(|comment| comment.author.id == bot.id);
        comments
    }

    /// Returns the plan issues of a repository.
    pub(crate) fn plans(&self, repository: &str) -> Vec<Issue> {
        let bot = self.sim.bot();
        let mut issues = self.sim.issues(repository).unwrap();
        issues.retain(|issue| issue.author.id == bot.id);
        issues
    }

    /// Returns the saved document of a plan issue, joined from the blocks in its comments.
    pub(crate) fn document(&self, repository: &str, number: u64) -> String {
        let texts: Vec<String> = self
            .said(repository, number)
            .iter()
            .map(|comment| {
                let parsed = block::parse(&comment.body);
                assert_eq!(parsed.diagnostics, [], "{}", comment.body);
                match &block::find(&parsed, "plan-body").unwrap().content {
                    Content::Text(text) => text.clone(),
                    other => panic!("{other:?}"),
                }
            })
            .collect();
        let parts: Vec<&str> = texts.iter().map(String::as_str).collect();
        split::join(&parts).expect("the parts belong together")
    }

    /// Returns the requests that concern a run or its report, one per line, for the message of a
    /// failed test.
    pub(crate) fn story(&self, run: &RunRow, report: u64) -> String {
        let report = format!("/{report}");
        let mut story = String::new();
        for request in self.sim.requests() {
            let body = String::from_utf8_lossy(&request.body);
            if body.contains(&run.id) || request.path.contains(&report) {
                let start: String = body.chars().take(100).collect();
                let line = format!(
                    "{} {} -> {:?} {start}\n",
                    request.method, request.path, request.status
                );
                story.push_str(&line);
            }
        }
        story
    }

    fn give_up(&self, why: &str) -> ! {
        panic!("{why}\nthe bot's last lines:\n{}", self.last_lines());
    }

    /// Returns the end of the bot's log, for the message of a failed test.
    pub(crate) fn last_lines(&self) -> String {
        let log = self.log.lock().unwrap();
        log[log.len().saturating_sub(SHOWN)..].join("\n")
    }
}

/// Opens the SQLite database at `path` for reading, when the bot has stored what it has
/// acknowledged: a running bot does so within milliseconds.
pub(crate) async fn look(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut connection = options.connect().await.unwrap();
    for _ in 0..200 {
        let waiting: i64 = sqlx::query_scalar("SELECT count(*) FROM inbox")
            .fetch_one(&mut connection)
            .await
            .unwrap_or(0);
        if waiting == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    connection
}

/// Returns all runs in a PostgreSQL database in order of acceptance. Empty while the server does not
/// answer.
#[cfg(unix)]
async fn runs_on(url: &Url) -> Vec<RunRow> {
    type Row = (
        String,
        String,
        String,
        Option<String>,
        Vec<u8>,
        Option<Vec<u8>>,
    );
    let Ok(mut connection) = super::postgres::connect(url).await else {
        return Vec::new();
    };
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT runs.id, command, state, code, trigger, text
         FROM runs JOIN texts ON texts.run = runs.seq JOIN deliveries ON deliveries.id = runs.delivery ORDER BY seq",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap_or_default();
    let row = |(id, command, state, code, trigger, text): Row| {
        let trigger: Trigger = serde_json::from_slice(&trigger).unwrap();
        RunRow {
            id,
            command,
            state: State::from_name(&state).unwrap(),
            code,
            trigger: match text {
                Some(text) => trigger.with_text(String::from_utf8(text).unwrap()),
                None => trigger,
            },
        }
    };
    rows.into_iter().map(row).collect()
}

fn keep(log: &Mutex<Vec<String>>, line: String) {
    log.lock().unwrap().push(line);
}

/// Returns the bot's address if the log line reports it.
fn listening_at(line: &str) -> Option<String> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    (line["message"] == "listening").then(|| line["address"].as_str().map(str::to_owned))?
}
