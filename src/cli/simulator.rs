//! `planwright simulator`: the simulated GitHub as a program of its own.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use github_simulator::{AppKeys, Clock as _, Operation, Simulator, SimulatorOptions, SystemClock};
use secrecy::SecretString;
use serde_json::Value;

use super::failure::print;
use super::save::make_private;
use super::signals::stop_requested;
use super::{Failure, block_on, input, private_file};

const HELP: &str = "\
The state is in memory: it begins with the seeds and ends with the program. Its
pages have a form for comments. Faults, people and repositories are controlled
over HTTP, with the operations that seeds consist of:

  curl -H 'content-type: application/json' -d '{\"do\":\"comment\",
    \"repository\":\"acme/search\",\"number\":1,\"by\":\"you\",\"body\":\"/save-plan\"}'
    http://127.0.0.1:8400/_simulator/operations

docs/simulator.md lists the operations. There is no access control, so the
simulator listens on 127.0.0.1 only.

Exit codes:
  0  stopped by SIGINT or SIGTERM
  1  it could not be started
  2  the arguments, a key or a seed cannot be used

Examples:
  planwright simulator
  planwright simulator --seed my-repositories.json
  planwright simulator --webhook http://127.0.0.1:8300/webhook
    --webhook http://127.0.0.1:3000/api/github/webhooks   two Apps with one key";

/// The seed that is used if no other is given.
const SEED: &str = include_str!("../../fixtures/simulator/seed.json");

/// First line of the configuration, by which one of an earlier start is recognised.
const HEADER: &str = "# Written by `planwright simulator` at every start.";

/// Run a simulated GitHub, to try the bot or another GitHub App without an account
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct SimulatorProgram {
    /// Address and port on 127.0.0.1
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8400")]
    listen: SocketAddr,
    /// Folder for the key, the webhook secret and a configuration for `serve`
    #[arg(long, value_name = "DIR", default_value = "planwright-simulator")]
    folder: PathBuf,
    /// Private key of the App [default: a generated one in the folder]
    #[arg(long, value_name = "FILE")]
    app_key: Option<PathBuf>,
    /// File with the webhook secret [default: a generated one in the folder]
    #[arg(long, value_name = "FILE")]
    webhook_secret: Option<PathBuf>,
    /// Id of the App
    #[arg(long, default_value_t = 4711)]
    app_id: u64,
    /// Slug of the App
    #[arg(long, default_value = "planwright")]
    slug: String,
    /// Webhook URL; every one receives every delivery
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:8300/webhook"
    )]
    webhook: Vec<String>,
    /// File with operations that are performed at the start, as a JSON list
    #[arg(long, value_name = "FILE")]
    seed: Vec<PathBuf>,
}

impl SimulatorProgram {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.listen.ip() != Ipv4Addr::LOCALHOST {
            return Err(Failure::Usage(format!(
                "--listen {}: the simulator has no access control, so it listens on 127.0.0.1 only; put an authenticating \
                 proxy in front of it if others are to use it",
                self.listen
            )));
        }
        let seeds = self.seeds()?;
        let folder = self.folder()?;
        let key = self.key(&folder)?;
        let secret = self.secret(&folder)?;
        block_on(self.serve(&folder, key, secret, seeds))
    }

    /// Reads all seeds, so that a wrong one is an error before anything is started.
    fn seeds(&self) -> Result<Vec<(String, Operation)>, Failure> {
        let mut seeds = Vec::new();
        let mut add = |name: &str, text: &str| {
            let wrong = |why: String| Failure::Usage(format!("{name}: {why}"));
            let operations: Vec<Value> = serde_json::from_str(text)
                .map_err(|error| wrong(format!("it is not a JSON list of operations: {error}")))?;
            for (operation, number) in operations.into_iter().zip(1..) {
                let place = format!("operation {number}");
                let operation = serde_json::from_value(operation)
                    .map_err(|error| wrong(format!("{place}: {error}")))?;
                seeds.push((format!("{name}: {place}"), operation));
            }
            Ok::<(), Failure>(())
        };
        if self.seed.is_empty() {
            add("the sample", SEED)?;
        }
        for path in &self.seed {
            add(&path.display().to_string(), &input::text(path)?)?;
        }
        Ok(seeds)
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        make_private(&self.folder)
            .and_then(|()| self.folder.canonicalize())
            .map_err(|error| {
                Failure::failed(format!(
                    "{}: {error}; name a folder that you may write to with --folder",
                    self.folder.display()
                ))
            })
    }

    /// Returns the key, which is generated in the folder if no other is named.
    fn key(&self, folder: &Path) -> Result<(PathBuf, AppKeys), Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
        let path = match &self.app_key {
            Some(path) => absolute(path)?,
            None => folder.join("github-private-key.pem"),
        };
        if self.app_key.is_none() && !path.exists() {
            let keys = AppKeys::generate().map_err(|error| failed(&error))?;
            private_file::create(&path, &keys.private_pem).map_err(|error| failed(&error))?;
            return Ok((path, keys));
        }
        let text = SecretString::from(input::text(&path)?);
        let keys = AppKeys::read(text)
            .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
        Ok((path, keys))
    }

    /// Returns the webhook secret, which is generated in the folder if no other is named.
    fn secret(&self, folder: &Path) -> Result<(PathBuf, SecretString), Failure> {
        let path = match &self.webhook_secret {
            Some(path) => absolute(path)?,
            None => folder.join("webhook-secrets"),
        };
        if self.webhook_secret.is_none() && !path.exists() {
            let secret = SecretString::from(uuid::Uuid::new_v4().simple().to_string());
            private_file::create(&path, &secret)
                .map_err(|error| Failure::failed(error.to_string()))?;
            return Ok((path, secret));
        }
        let text = input::text(&path)?;
        match text.lines().next().map(str::trim) {
            Some(secret) if !secret.is_empty() => {
                let secret = SecretString::from(secret);
                Ok((path, secret))
            }
            _ => Err(Failure::Usage(format!(
                "{}: its first line holds no webhook secret",
                path.display()
            ))),
        }
    }

    async fn serve(
        self,
        folder: &Path,
        (key, keys): (PathBuf, AppKeys),
        (secret_file, secret): (PathBuf, SecretString),
        seeds: Vec<(String, Operation)>,
    ) -> Result<(), Failure> {
        let clock = Arc::new(SystemClock);
        let mut options = SimulatorOptions::new(&self.slug, clock, keys.public_pem, secret);
        options.port = self.listen.port();
        options.app_id = self.app_id;
        options.control = true;
        options.broadcast = true;
        // A bot that knows an earlier simulator takes nothing of this one for known: 2^53 is beyond
        // the milliseconds of the next 280,000 years.
        options.first_id = SystemClock.now().timestamp_millis().unsigned_abs();
        "/plan-help".clone_into(&mut options.comment_placeholder);
        let simulator = Simulator::start(options)
            .await
            .map_err(|error| Failure::failed(error.to_string()))?;
        for (place, operation) in &seeds {
            simulator
                .perform(operation)
                .map_err(|error| Failure::Usage(format!("{place}: {error}")))?;
        }
        // What the seeds did is not news.
        simulator.settle().await;
        simulator.set_targets(self.webhook.clone());
        let config = folder.join("planwright.toml");
        let text = self.config(folder, &simulator, &key, &secret_file)?;
        write_config(&config, &text)?;
        // Before the text, whose reader may end the program.
        let stopped = stop_requested();
        print(&format!(
            "The simulated GitHub, pages and REST API, is at {url}\n\
             Webhooks go to {webhooks}\n\n\
             Start the bot in another terminal:\n\n  planwright serve --config {config}\n\n\
             Then write a comment on one of the pages. Ctrl-C ends the simulator.\n",
            url = simulator.url(),
            webhooks = self.webhook.join(", "),
            config = config.display(),
        ))?;
        stopped.await;
        simulator.shutdown().await;
        Ok(())
    }

    /// Returns a configuration with which `serve` uses the simulator.
    fn config(
        &self,
        folder: &Path,
        simulator: &Simulator,
        key: &Path,
        secrets: &Path,
    ) -> Result<String, Failure> {
        let text = |path: &Path| toml::Value::from(path.display().to_string());
        let table = |pairs: Vec<(&str, toml::Value)>| -> toml::Value {
            let pairs = pairs.into_iter();
            let table: toml::Table = pairs.map(|(key, value)| (key.to_owned(), value)).collect();
            table.into()
        };
        let app_id = i64::try_from(self.app_id)
            .map_err(|_| Failure::Usage(format!("--app-id {} is too large", self.app_id)))?;
        let config = table(vec![
            (
                "github",
                table(vec![
                    ("api_url", simulator.api_url().into()),
                    ("app_id", app_id.into()),
                    ("app_slug", self.slug.clone().into()),
                    ("private_key_file", text(key)),
                    // The simulator has no limits for writes.
                    ("write_gap_ms", 0.into()),
                    ("notify_gap_ms", 0.into()),
                ]),
            ),
            ("webhook", table(vec![("secrets_file", text(secrets))])),
            (
                "store",
                table(vec![("path", text(&folder.join("planwright.db")))]),
            ),
        ]);
        toml::to_string(&config)
            .map(|config| format!("{HEADER}\n\n{config}"))
            .map_err(|error| Failure::failed(error.to_string()))
    }
}

/// Returns the path as seen from any folder.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize()
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}

/// Writes the configuration, unless the file is not one of ours.
fn write_config(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::failed(error.to_string());
    match std::fs::read_to_string(path) {
        Ok(known) if known.starts_with(HEADER) => std::fs::remove_file(path).map_err(failed)?,
        Ok(_) => {
            return Err(Failure::Usage(format!(
                "{} was not written by `planwright simulator`, and nothing is overwritten: name another folder with --folder",
                path.display()
            )));
        }
        Err(_) => {}
    }
    private_file::create(path, &SecretString::from(text)).map_err(failed)
}
