//! `planwright action`: carries out the commands of a GitHub Actions event, as one step of a
//! workflow, without a server.
//!
//! The database is empty at the start and gone at the end. What must happen once is known by the
//! markers on GitHub: a command has the same run id in every job, and before each create GitHub is
//! searched for the run's marker.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use secrecy::SecretString;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::failure::print;
use super::{Failure, block_on, input, terminal};
use crate::adapters::clock::SystemClock;
use crate::adapters::github::{GitHub, PersonConfig};
use crate::adapters::store::{SqlStore, SqliteOptions};
use crate::config::{Config, Sources, load};
use crate::engine::clock::Clock;
use crate::engine::decide::{AppIdentity, AppSlug, Decision, decide};
use crate::engine::model::intake::Source;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Trigger;
use crate::engine::services::Services;
use crate::engine::store::{NewDelivery, NewRun, RunView, Store};
use crate::engine::worker::{Outcome, Worker};
use crate::formats::command::Command;

const HELP: &str = "\
docs/action.md shows the workflow. The step runs /save-plan, /save-raw-plan,
/check-plan and /plan-help; other commands, questions to people and coding
agents need a server.

Environment, set by GitHub Actions or by the action:
  PLANWRIGHT_TOKEN      the workflow's token (secrets.GITHUB_TOKEN)
  GITHUB_EVENT_NAME     issue_comment or issues
  GITHUB_EVENT_PATH     file with the event
  GITHUB_API_URL        GitHub's REST API [default: https://api.github.com]
  GITHUB_OUTPUT         file for the outputs `state`, `code` and `plan`
  GITHUB_STEP_SUMMARY   file for the summary of the job

Exit codes:
  0  all commands succeeded, or the event has none
  1  a command failed, or is not carried out here
  2  the environment is wrong";

/// Commands that are carried out without a server.
const COMMANDS: [Command; 4] = [
    Command::SavePlan,
    Command::SaveRawPlan,
    Command::CheckPlan,
    Command::Help,
];

/// Name of the variable with the token.
const TOKEN: &str = "PLANWRIGHT_TOKEN";

/// Slug of the App as which jobs of GitHub Actions write.
const ACTIONS: &str = "github-actions";

/// Maximum time for which a job waits, e.g. for the end of a rate limit. Another job can continue.
const PATIENCE: Duration = Duration::from_mins(10);

/// Carry out the commands of a GitHub Actions event, without a server
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Action {}

/// Runs the command.
pub(super) fn run() -> Result<(), Failure> {
    let event = Event::of_job()?;
    let flags = vec![
        format!("github.api_url={}", event.api_url),
        // Nobody would take an answer.
        "extract.when_unclear=refuse".to_owned(),
        "worker.settle_seconds=0".to_owned(),
    ];
    let sources = Sources {
        flags,
        ..Sources::default()
    };
    let config = load(&sources)
        .map_err(|error| Failure::Usage(format!("GITHUB_API_URL: {error}")))?
        .config;
    let triggers = match commands(&event, &config)? {
        Commands::None(why) => return print(&format!("nothing to do: {why}\n")),
        Commands::Some(triggers) => triggers,
    };
    let runs = block_on(perform(&event, &config, triggers))?;
    report(&runs)
}

/// The event of the job.
struct Event {
    name: String,
    body: Vec<u8>,
    api_url: String,
    token: SecretString,
}

impl Event {
    fn of_job() -> Result<Self, Failure> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let needed = |name: &str, remedy: &str| {
            variable(name).ok_or_else(|| Failure::Usage(format!("{name} is not set: {remedy}")))
        };
        let in_job = "this command is a step of a GitHub Actions workflow, see docs/action.md";
        let name = needed("GITHUB_EVENT_NAME", in_job)?;
        let path = PathBuf::from(needed("GITHUB_EVENT_PATH", in_job)?);
        let token = needed(TOKEN, "pass the workflow's token, ${{ github.token }}")?;
        let body = input::bytes(&path)?;
        let mut body: Value = serde_json::from_slice(&body).map_err(|error| {
            Failure::Usage(format!(
                "{}: the event is not JSON: {error}",
                path.display()
            ))
        })?;
        if let Some(body) = body.as_object_mut() {
            // Events of workflows belong to no installation.
            body.insert("installation".to_owned(), json!({ "id": 0 }));
        }
        Ok(Self {
            name,
            body: body.to_string().into_bytes(),
            api_url: variable("GITHUB_API_URL")
                .unwrap_or_else(|| "https://api.github.com".to_owned()),
            token: SecretString::from(token),
        })
    }
}

/// The commands of an event, or why there are none.
enum Commands {
    None(String),
    Some(Vec<Trigger>),
}

fn commands(event: &Event, config: &Config) -> Result<Commands, Failure> {
    let identity = AppIdentity {
        app_slug: AppSlug::new(Some(ACTIONS.to_owned())),
        labels: config.engine.labels.clone(),
        ..AppIdentity::default()
    };
    let decided = decide(&event.name, &event.body, &identity)
        .map_err(|error| Failure::Usage(format!("GITHUB_EVENT_PATH: {error}")))?;
    let triggers = match decided.decision {
        Decision::Runs { triggers, .. } => triggers,
        Decision::Ignore { why } => return Ok(Commands::None(why.into_owned())),
        _ => {
            let name = &event.name;
            return Ok(Commands::None(format!("`{name}` gives no commands")));
        }
    };
    let other = triggers
        .iter()
        .find(|trigger| !COMMANDS.contains(&trigger.command));
    if let Some(other) = other {
        let known = COMMANDS.map(|command| format!("/{}", command.name()));
        return Err(Failure::failed(format!(
            "/{} needs the bot as a server (https://github.com/planwright/planwright); a workflow carries out {}",
            other.command.name(),
            known.join(", ")
        )));
    }
    Ok(Commands::Some(triggers))
}

/// Returns the run of a command, whose id is the same in every job.
fn new_run(trigger: Trigger, number: usize) -> NewRun {
    let key = format!("{} {number}", trigger.dedup_key().unwrap_or_default());
    let digest = Sha256::digest(key.as_bytes());
    let random = digest
        .iter()
        .take(10)
        .fold(0_u128, |number, byte| (number << 8) | u128::from(*byte));
    let id = ulid::Ulid::from_parts(trigger.at.0.unsigned_abs(), random);
    NewRun {
        id: RunId(id.to_string()),
        command: trigger.command.name().to_owned(),
        serial: trigger.serial(),
        place: trigger.place.key(),
        repo_id: trigger.place.repo.id,
        installation: trigger.place.repo.installation,
        trigger,
    }
}

/// Works on the commands until they have ended.
async fn perform(
    event: &Event,
    config: &Config,
    triggers: Vec<Trigger>,
) -> Result<Vec<RunView>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let github = GitHub::job(
        PersonConfig {
            api_url: config.github.api_url.clone(),
            token: event.token.clone(),
            write_gap: config.github.write_gap,
            notify_gap: config.github.notify_gap,
            request_timeout: config.github.request_timeout,
        },
        format!("{ACTIONS}[bot]"),
        Arc::clone(&clock),
    )
    .map_err(|error| Failure::Usage(format!("{TOKEN}: {error}")))?;
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let path = folder.path().join("action.db");
    let store = SqlStore::open_sqlite(&path, SqliteOptions::default(), clock.now())
        .await
        .map_err(|error| failed(&error))?;
    let store: Arc<dyn Store> = Arc::new(store);
    let runs: Vec<NewRun> = triggers
        .into_iter()
        .enumerate()
        .map(|(index, trigger)| new_run(trigger, index))
        .collect();
    let ids: Vec<RunId> = runs.iter().map(|run| run.id.clone()).collect();
    let delivery = NewDelivery {
        source: Source::Webhook,
        guid: "job".to_owned(),
        event: event.name.clone(),
        action: None,
        installation: 0,
        dedup_key: None,
        received: clock.now(),
        payload: None,
        installation_gone: false,
        runs,
    };
    store
        .accept(delivery)
        .await
        .map_err(|error| failed(&error))?;
    let services = Services {
        store: Arc::clone(&store),
        forge: Arc::new(github),
        clock: Arc::clone(&clock),
        settings: Arc::new(config.engine.clone()),
        agent: None,
        checkouts: None,
        search_first: true,
    };
    work(&services, clock.now().plus(PATIENCE))
        .await
        .map_err(|error| failed(&error))?;
    let mut views = Vec::new();
    for id in ids {
        views.extend(store.run(&id).await.map_err(|error| failed(&error))?);
    }
    store.close().await;
    Ok(views)
}

/// Works until nothing is left to do, or nothing can be done before `end`.
async fn work(services: &Services, end: Millis) -> Result<(), crate::engine::store::StoreError> {
    let worker = Worker::new(services.clone(), "action");
    loop {
        match worker.step().await? {
            Outcome::Did(..) => {}
            Outcome::Wait(due) if due < end => {
                let now = services.clock.now();
                services.clock.sleep(due.since(now)).await;
            }
            Outcome::Wait(_) | Outcome::Idle => return Ok(()),
        }
    }
}

/// Prints what became of the commands, and writes the outputs and the summary of the job.
fn report(runs: &[RunView]) -> Result<(), Failure> {
    let mut text = String::new();
    let mut summary = String::new();
    let mut outputs = String::new();
    let mut failures = Vec::new();
    for run in runs {
        let command = format!("/{}", run.command);
        let saved = run.progress.as_ref().and_then(|run| run.saved.as_ref());
        let plan = saved.map_or("", |saved| &*saved.url);
        let code = run.code.map_or("", |code| code.name());
        let state = run.state.name();
        let line = match run.state {
            State::Succeeded if plan.is_empty() => format!("{command}: succeeded"),
            State::Succeeded => format!("{command}: {plan}"),
            State::Failed => format!("{command}: {code}"),
            _ => format!(
                "{command}: {state}: {}; run the job again to continue",
                run.note.as_deref().unwrap_or("it has not ended")
            ),
        };
        if run.state != State::Succeeded {
            failures.push(line.clone());
        }
        // Writing to a String does not fail.
        let _ = writeln!(text, "{}", terminal::one_line(&line));
        let _ = writeln!(summary, "* {}", terminal::one_line(&line));
        outputs = format!("state={state}\ncode={code}\nplan={plan}\n");
    }
    print(&text)?;
    append("GITHUB_OUTPUT", &outputs)?;
    append("GITHUB_STEP_SUMMARY", &summary)?;
    match failures.first() {
        None => Ok(()),
        Some(first) => Err(Failure::failed(format!(
            "{first}; the comment of the bot says what to do"
        ))),
    }
}

/// Appends to the file that a variable names, if it is set.
fn append(variable: &str, text: &str) -> Result<(), Failure> {
    let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let opened = OpenOptions::new().append(true).create(true).open(&path);
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| {
            Failure::failed(format!(
                "{variable}: {}: {error}",
                PathBuf::from(path).display()
            ))
        })
}
