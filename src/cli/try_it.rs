//! `planwright try`: runs the whole system in one process, with a simulated GitHub on loopback
//! ports.

mod setup;
mod show;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use clap::Args;
use http::Method;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::bot::Bot;
use super::failure::print;
use super::local::read_thread;
use super::{Failure, Settings, block_on, input};
use crate::adapters::clock::SystemClock;
use crate::config::agent::AgentKind;
use crate::config::{Sources, load};
use crate::engine::clock::Clock;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::{RunView, Store};
use crate::formats::command::Command;
use crate::formats::thread_file::{FilePost, parse};
use github_simulator::model::{Comment, Role, UserKind};
use github_simulator::{AppKeys, LoggedRequest, Simulator, SimulatorError, SimulatorOptions};

/// The default conversation.
const SAMPLE: &str = include_str!("../../fixtures/threads/try.md");
/// Path and text of the file in the simulated repository, which the default conversation names.
const SAMPLE_FILE: (&str, &str) = (
    "src/index/format.rs",
    "//! The format of the index.\n\n/// Words, and the documents that contain them.\n\
     pub struct Index(pub std::collections::BTreeMap<String, Vec<u64>>);\n",
);
/// The repository in the simulator.
const REPOSITORY: &str = "acme/search";
/// Login of the user who visits the pages of the simulator.
const VISITOR: &str = "you";
/// Maximum time to wait for the run, without the time for an agent.
const MAX_WAIT: Duration = Duration::from_mins(1);
/// Number of agent turns to wait for: the first and two corrections.
const TURNS: u32 = 3;
/// Interval between checks of the run's state.
const LOOK: Duration = Duration::from_millis(2);

const HELP: &str = "\
No agent is used unless --set agent.kind=… selects one (`planwright config`
lists all keys). Other keys cannot be set, and nothing is read from files or the
environment except what the agent needs. Without --keep, the pages are closed
when the program ends. With it, standard error explains how to read the plan
back and save another one.

JSON fields:
  conversation  URL of the conversation's page
  command, by   the command and who gave it
  run           id, state, code (an error code such as no_plan_found, or null)
  plan_issue    number, url, title, labels, comments (how many); null if none
                was saved
  report        the bot's last comment in the conversation (of research, the
                summary), or empty
  requests      number of requests to GitHub since the command; writes among
                them
  milliseconds  all, start, acknowledged (the webhook), worked (the run),
                on_github (estimate for GitHub itself, with the pauses
                between writes that it asks for)

Exit codes:
  0  the command was carried out
  1  it failed, or something could not be started
  2  the arguments are wrong, or FILE cannot be read

Examples:
  planwright try                    a sample conversation
  planwright try --thread FILE.md   your own conversation; lines like
                                    `--- @alice` begin a post, and the last post
                                    may be a command (the default is
                                    `/save-plan`)
  planwright try --keep             keep running so that you can open the pages
                                    in a browser; stop with Ctrl-C
  planwright try --json             what happened, for programs
  planwright try --keep --set agent.kind=claude
                                    with Claude Code; API charges apply, and the
                                    API key is taken from
                                    PLANWRIGHT_AGENT_API_KEY";

/// Run the whole system against a simulated GitHub, without network access or an account
#[derive(Debug, Args)]
#[command(name = "try", after_help = HELP)]
pub(super) struct Try {
    /// Conversation to use
    #[arg(long, value_name = "FILE")]
    thread: Option<PathBuf>,
    /// Keep running so that the pages can be opened
    #[arg(long)]
    keep: bool,
    /// Print what happened as JSON
    #[arg(long)]
    json: bool,
}

impl Try {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let agent = setup::agent(settings)?;
        let text = match &self.thread {
            None => SAMPLE.to_owned(),
            Some(path) => input::text(path)?,
        };
        let name = self.thread.as_ref().map_or_else(
            || "the sample".to_owned(),
            |path| path.display().to_string(),
        );
        let wrong = |error| Failure::Usage(format!("{name}: {error}"));
        let file = parse(&text).map_err(wrong)?;
        let commanded = read_thread(&text)
            .map_err(wrong)?
            .command
            .map(|(index, _)| index);
        let mut posts = file.posts;
        // Hidden comments are removed, because the bot does not read them.
        posts.retain(|post| post.hidden.is_none());
        if commanded.is_none_or(|index| index == 0) {
            let body = "/save-plan".to_owned();
            posts.push(FilePost {
                author: VISITOR.to_owned(),
                body,
                ..FilePost::default()
            });
        } else if let Some(last) = commanded {
            posts.truncate(last + 1);
        }
        block_on(perform(self, agent, file.title, posts))
    }
}

/// The result of the run.
struct Outcome {
    source: String,
    posts: usize,
    command: String,
    by: String,
    run: RunView,
    plan: Option<Plan>,
    report: String,
    requests: usize,
    writes: usize,
    /// Estimated time for the same run on GitHub, including the pauses between writes.
    on_github: Duration,
    started: Duration,
    acknowledged: Duration,
    worked: Duration,
}

struct Plan {
    number: u64,
    url: String,
    title: String,
    labels: Vec<String>,
    comments: usize,
}

async fn perform(
    arguments: Try,
    agent: Vec<String>,
    title: String,
    posts: Vec<FilePost>,
) -> Result<(), Failure> {
    let began = Instant::now();
    let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let keys = AppKeys::generate().map_err(|error| failed(&error))?;
    let secret = SecretString::from(uuid::Uuid::new_v4().to_string());
    let mut options = SimulatorOptions::new(
        "planwright",
        Arc::new(github_simulator::SystemClock),
        keys.public_pem.clone(),
        secret.clone(),
    );
    "/plan-help".clone_into(&mut options.comment_placeholder);
    let app_id = options.app_id;
    let simulator = Simulator::start(options)
        .await
        .map_err(|error| failed(&error))?;
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let loaded = setup::configuration(&simulator, app_id, &keys, &secret, folder.path(), agent)?;
    let patience = match loaded.config.agent.kind {
        AgentKind::None => MAX_WAIT,
        _ => MAX_WAIT + loaded.config.engine.agent.deadline * TURNS,
    };
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .map_err(|error| failed(&error))?;
    let receiver = listener.local_addr().map_err(|error| failed(&error))?;
    let bot = Bot::assemble(&loaded.config, &loaded.secrets, clock).await?;
    let store = Arc::clone(&bot.store);
    let mut unconfirmed = bot.unconfirmed();
    let stop = CancellationToken::new();
    let (config, told) = (loaded.config.clone(), stop.clone());
    let running = tokio::spawn(async move { bot.run(Some(listener), &config, told).await });
    if unconfirmed.wait_for(Option::is_none).await.is_err() {
        // The bot has ended, and its error says why.
        return running.await.map_err(|error| failed(&error))?;
    }
    let started = began.elapsed();

    let webhook = format!("http://{receiver}/webhook");
    let played = play(&simulator, &store, &title, posts, &webhook, patience);
    let outcome = played.await.map(|outcome| Outcome { started, ..outcome });
    // The pages of a failed run are also kept up.
    let came = outcome.is_ok();
    let result = outcome.and_then(|outcome| {
        let text = if arguments.json {
            format!("{:#}\n", show::as_json(&outcome, began.elapsed()))
        } else {
            show::as_text(&outcome, began.elapsed(), arguments.keep)
        };
        print(&text)?;
        match outcome.run.state {
            State::Succeeded => return Ok(()),
            State::Waiting if arguments.keep => return Ok(()),
            State::Waiting => {
                return Err(Failure::failed(
                    "no plan was saved: the run is waiting for answers; use --keep to answer on the page",
                ));
            }
            _ => {}
        }
        let state = outcome.run.state.name().to_owned();
        let code = outcome.run.code.map_or(state, |code| code.name().to_owned());
        let what = match Command::named(&outcome.run.command) {
            Some(Command::CheckPlan) => "not all plans can be executed",
            Some(Command::SavePlan | Command::SaveRawPlan | Command::Plan) => "no plan was saved",
            _ => "the command failed",
        };
        Err(Failure::failed(format!("{what}: {code}")))
    });
    if arguments.keep && came {
        let token = simulator.writing_token(VISITOR);
        eprint!(
            "{}",
            show::stays(&simulator.url(), &simulator.api_url(), &token)
        );
        tokio::signal::ctrl_c()
            .await
            .map_err(|error| failed(&error))?;
    }
    stop.cancel();
    running.await.map_err(|error| failed(&error))??;
    simulator.shutdown().await;
    result
}

/// Returns the bot's last comment. Reports on single topics are skipped, because they are posted
/// after the summary of the research.
fn report(said: &[Comment], run: &RunId) -> Option<String> {
    let topics = format!("planwright:effect {run}/report-");
    let mut own = said.iter().rev().filter(|comment| comment.via_app);
    let found = own.find(|comment| !comment.body.contains(&topics));
    found.map(|comment| comment.body.clone())
}

/// Creates the conversation in the simulator, sends its last post as a signed webhook, and waits
/// for the run to end.
async fn play(
    simulator: &Simulator,
    store: &Arc<dyn Store>,
    title: &str,
    mut posts: Vec<FilePost>,
    webhook: &str,
    patience: Duration,
) -> Result<Outcome, Failure> {
    let failed = |error: SimulatorError| Failure::failed(error.to_string());
    let Some(command) = posts.pop() else {
        return Err(Failure::failed("the conversation is empty"));
    };
    let Some((opening, comments)) = posts.split_first() else {
        return Err(Failure::failed("the conversation has no opening text"));
    };
    simulator
        .add_repository(REPOSITORY, false)
        .map_err(failed)?;
    let (path, text) = SAMPLE_FILE;
    simulator.put_file(REPOSITORY, path, text).map_err(failed)?;
    for post in &posts {
        if post.author.ends_with("[bot]") && post.author != command.author {
            simulator.add_user(&post.author, UserKind::Bot);
        }
    }
    let authors = posts.iter().chain([&command]).map(|post| &*post.author);
    for login in authors.chain([VISITOR]) {
        simulator
            .grant(REPOSITORY, login, Role::Write)
            .map_err(failed)?;
    }
    simulator.set_visitor(VISITOR);
    simulator.install(&[REPOSITORY]).map_err(failed)?;
    let number = simulator
        .open_issue(REPOSITORY, &opening.author, title, &opening.body)
        .map_err(failed)?;
    let now = SystemClock.now();
    // A post with a time in the future would be sorted after the command, so such times are
    // ignored.
    let dated = |post: &FilePost| written(post).filter(|at| *at < now).map(Millis::datetime);
    if let Some(at) = dated(opening) {
        simulator
            .set_created(REPOSITORY, number, None, at)
            .map_err(failed)?;
    }
    for post in comments {
        let id = simulator
            .comment(REPOSITORY, number, &post.author, &post.body)
            .map_err(failed)?;
        if let Some(at) = dated(post) {
            simulator
                .set_created(REPOSITORY, number, Some(id), at)
                .map_err(failed)?;
        }
    }
    simulator.settle().await;
    simulator.set_targets(vec![webhook.to_owned()]);
    let before = (simulator.requests().len(), simulator.writes());
    let sent = Instant::now();
    simulator
        .comment(REPOSITORY, number, &command.author, &command.body)
        .map_err(failed)?;
    simulator.settle().await;
    let acknowledged = sent.elapsed();
    let run = ended(store, sent, patience).await?;
    let worked = sent.elapsed();
    let requests = simulator.requests();
    let requests = requests.get(before.0..).unwrap_or_default();
    let issues = simulator.issues(REPOSITORY).map_err(failed)?;
    let page = |number: u64| format!("{}/{REPOSITORY}/issues/{number}", simulator.url());
    let plan = issues.iter().find(|issue| issue.via_app).map(|issue| Plan {
        number: issue.number,
        url: page(issue.number),
        title: issue.title.clone(),
        labels: issue.labels.clone(),
        comments: issue.comments.len(),
    });
    let said = simulator.comments(REPOSITORY, number).map_err(failed)?;
    let report = report(&said, &run.id);
    let first = command
        .body
        .lines()
        .find(|line| line.trim_start().starts_with('/'));
    Ok(Outcome {
        source: page(number),
        posts: posts.len(),
        command: first.unwrap_or_default().trim().to_owned(),
        by: command.author,
        run,
        plan,
        report: report.unwrap_or_default(),
        requests: requests.len(),
        writes: simulator.writes() - before.1,
        on_github: worked + pauses(requests)?,
        started: Duration::ZERO,
        acknowledged,
        worked,
    })
}

/// Returns how long the bot's writes would wait for one another with the default pauses.
fn pauses(requests: &[LoggedRequest]) -> Result<Duration, Failure> {
    let github = load(&Sources::default())?.config.github;
    let new = |request: &LoggedRequest| {
        let listed = request.path.ends_with("/issues") || request.path.ends_with("/comments");
        request.method == Method::POST && listed
    };
    let writes = requests.iter().filter(|request| request.changed).map(new);
    Ok(last_write_start(
        writes,
        github.write_gap,
        github.notify_gap,
    ))
}

/// Returns the earliest start of the last write. Each write starts at least `write` after the
/// previous one; a write that notifies people starts at least `notify` after the previous notifying
/// one.
fn last_write_start(
    notifies: impl Iterator<Item = bool>,
    write: Duration,
    notify: Duration,
) -> Duration {
    let (mut last, mut last_notifying): (Option<Duration>, Option<Duration>) = (None, None);
    for notifies in notifies {
        let mut begins = last.map_or(Duration::ZERO, |last| last + write);
        if notifies {
            let after = last_notifying.map_or(Duration::ZERO, |last| last + notify);
            begins = begins.max(after);
            last_notifying = Some(begins);
        }
        last = Some(begins);
    }
    last.unwrap_or_default()
}

/// Returns the time of a post, if the file contains it.
fn written(post: &FilePost) -> Option<Millis> {
    let time: DateTime<Utc> = post.created.as_deref()?.parse().ok()?;
    Some(Millis(time.timestamp_millis()))
}

/// Returns whether the run waits for answers, not only for a retry.
fn waits_for_answers(run: &RunView) -> bool {
    let work = run
        .progress
        .as_ref()
        .and_then(|progress| progress.work.as_ref());
    run.state == State::Waiting && work.is_some_and(|work| work.open_round().is_some())
}

/// Waits until the run has ended or waits for answers, and returns it.
///
/// # Errors
/// Returns an error if this takes longer than `patience`, or if the store cannot be read.
async fn ended(
    store: &Arc<dyn Store>,
    since: Instant,
    patience: Duration,
) -> Result<RunView, Failure> {
    while since.elapsed() < patience {
        let runs = store
            .recent_runs(1)
            .await
            .map_err(|error| Failure::failed(error.to_string()))?;
        match runs.into_iter().next() {
            Some(run) if run.state.is_terminal() || waits_for_answers(&run) => return Ok(run),
            _ => tokio::time::sleep(LOOK).await,
        }
    }
    Err(not_ended(patience))
}

fn not_ended(patience: Duration) -> Failure {
    let seconds = patience.as_secs();
    Failure::failed(format!(
        "the run did not end within {seconds} s: this computer may be busy; run the command again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_does_not_end_is_an_error_with_a_remedy() {
        assert_eq!(
            not_ended(Duration::from_mins(1)).to_string(),
            "the run did not end within 60 s: this computer may be busy; run the command again"
        );
    }

    #[test]
    fn a_run_on_github_takes_as_long_as_its_writes_have_to_wait_for_one_another() {
        let seconds = |writes: &[bool]| {
            let (write, notify) = (Duration::from_secs(1), Duration::from_secs(3));
            last_write_start(writes.iter().copied(), write, notify).as_secs()
        };
        for (writes, waits) in [
            (&[][..], 0),
            (&[true], 0),
            (&[false, false, false], 2),
            (&[true, true], 3),
            (&[true, false, true], 3),
            (&[true, false, false, false, true], 4),
            (&[false, true, true, false], 5),
        ] {
            assert_eq!(seconds(writes), waits, "{writes:?}");
        }
    }
}
