//! `planwright save`: the plan of a local session becomes an issue, as the bot would save it.

mod state;

use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::access::{Access, WRITING};
use super::failure::print;
use super::session::Which;
use super::{Failure, Settings, block_on, input, terminal};
use crate::adapters::clock::SystemClock;
use crate::adapters::github::{GitHub, PersonConfig};
use crate::engine::effects::Stop;
use crate::engine::execute::Parts;
use crate::engine::forge::Forge as _;
use crate::engine::local_save::{self, Order, Outcome, SaveError};
use crate::engine::progress::{Prepared, Saved};
use crate::engine::say;
use crate::engine::steps::{extract, publish, verify};
use crate::engine::trigger::Place;
use crate::formats::plan::reference::{self, IssueRef, repository_of};
use state::State;

const HELP: &str = "\
Which plan: the one that `planwright session plan` with the same options prints, or --plan FILE.
Which repository: --repo, else that of --issue, else the git remote `origin` of the session's folder.

The plan passes the same gates as in the bot and is saved in the same form: one issue with the label erk-plan, the plan
in its first comments. A plan of one session and title is saved once: the next call says where. A call that was cut off
is completed by the next one with the same plan. What was saved is remembered in a small database below
$XDG_STATE_HOME (or ~/.local/state).

JSON fields:
  success            whether the plan is on GitHub
  issue_number, issue_url, title, comments     of the plan issue; ids of the comments that hold the plan
  skipped_duplicate  it was saved before, nothing was written
  message            one sentence
  dry_run            nothing was written because of --dry-run; issue_number and issue_url are null
On failure: success false, error, error_type (an error code such as no_plan_found, or null).

Exit codes:
  0  saved, or saved before
  1  it was tried and failed; what exists already is said
  2  the arguments or the configuration are wrong; nothing was tried

Examples:
  planwright save                                  the plan of this session to the repository of this folder
  planwright save --issue 12                       the issue that the plan is for; the plan issue links to it
  planwright save --repo acme/plans --plan plan.md
  planwright save --dry-run                        show what would be saved";

const TOKEN: &str = "\
Token:
  PLANWRIGHT_TOKEN, else GITHUB_TOKEN, else GH_TOKEN, with write access to issues. The last two are sent to github.com
  only, or to the server that GITHUB_API_URL names.";

/// Save the plan of a local session as an issue on GitHub, with your own token
#[derive(Debug, Args)]
#[command(after_help = format!("{HELP}\n\n{TOKEN}"))]
pub(super) struct Save {
    /// Repository to save in
    #[arg(long, value_name = "OWNER/REPO")]
    repo: Option<String>,
    /// Issue or pull request that the plan is for: number, OWNER/REPO#NUMBER, or address
    #[arg(long, value_name = "ISSUE")]
    issue: Option<String>,
    /// Save this file instead of a session's plan; `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["session_id", "newest"])]
    plan: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    /// Title, where the plan's own is not wanted
    #[arg(long)]
    title: Option<String>,
    /// Save once more what was saved before
    #[arg(long)]
    again: bool,
    /// Check everything and show what would be saved, but write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The plan, and the session that it is of.
struct Source {
    text: String,
    session: Option<String>,
}

impl Save {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let json = self.json;
        let failed = match self.perform(settings) {
            Ok(text) => return print(&text),
            Err(failed) => failed,
        };
        if json && !matches!(failed.failure, Failure::Usage(_) | Failure::Config(_)) {
            let shown = json!({
                "success": false, "error": failed.failure.to_string(), "error_type": failed.code,
            });
            print(&format!("{shown:#}\n"))?;
        }
        Err(failed.failure)
    }

    fn perform(&self, settings: &Settings) -> Result<String, Box<Failed>> {
        let access = Access::of(settings)?;
        let Some(token) = access.config.token.clone() else {
            return Err(Failure::Usage(
                "saving needs a token with write access to issues; set PLANWRIGHT_TOKEN".to_owned(),
            )
            .into());
        };
        let (repository, number) = self.target(&access.host)?;
        let source = self.source()?;
        let loaded = settings.load()?;
        let config = PersonConfig {
            api_url: access.config.api_url.clone(),
            token,
            write_gap: loaded.config.github.write_gap,
            notify_gap: loaded.config.github.notify_gap,
            request_timeout: access.config.request_timeout,
        };
        let engine = loaded.config.engine();
        block_on(async {
            let clock: Arc<SystemClock> = Arc::new(SystemClock);
            let github = GitHub::person(config, clock.clone()).map_err(|error| {
                Failure::Usage(match access.variable {
                    Some(variable) => format!("{variable}: {error}"),
                    None => error.to_string(),
                })
            })?;
            let refused = |error| access.failed(&error, WRITING);
            let actor = github.me().await.map_err(refused)?;
            let (owner, name) = &repository;
            let repo = github.repository(owner, name).await.map_err(refused)?;
            let mut place = Place {
                repo,
                number: number.unwrap_or_default(),
                pull_request: false,
            };
            let mut about = String::new();
            if number.is_some() {
                let thread = github.thread(&place).await.map_err(refused)?;
                place.pull_request = thread.place.pull_request;
                about = thread.title;
            }
            let order = Order {
                place,
                actor,
                session: source.session.clone(),
                again: self.again.then(|| uuid::Uuid::new_v4().to_string()),
            };
            let prepared = self.prepared(&order, &source.text, &about, &engine.title_prefix);
            let prepared = match prepared {
                Ok(prepared) => prepared,
                Err(failed) => return Ok(Err(failed)),
            };
            if self.dry_run {
                return Ok(Ok(dry_run(&order, &prepared, self.json)));
            }
            let state = State::open().await?;
            let parts = Parts {
                store: state.store(),
                forge: Arc::new(github),
                clock,
                settings: Arc::new(engine),
            };
            let outcome = local_save::save(&parts, &order, &prepared).await;
            state.close().await;
            Ok(outcome
                .map(|outcome| shown(&order, &prepared, &outcome, self.json))
                .map_err(|error| Box::new(explain(&error, &access))))
        })?
    }

    /// Repository and number, from the options or the folder's git remote.
    fn target(&self, host: &str) -> Result<((String, String), Option<u64>), Failure> {
        let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
        let named = self
            .repo
            .as_deref()
            .map(|repo| repository_of(repo, host))
            .transpose()
            .map_err(|error| Failure::Usage(format!("--repo: {error}")))?;
        let issue = self
            .issue
            .as_deref()
            .map(|issue| reference::parse(issue, host))
            .transpose()
            .map_err(|error| Failure::Usage(format!("--issue: {error}")))?;
        let number = issue.as_ref().map(|issue| issue.number);
        let of_issue = issue.and_then(|IssueRef { repository, .. }| repository);
        if let (Some(repo), Some(other)) = (&named, &of_issue)
            && !same(repo, other)
        {
            return Err(Failure::Usage(format!(
                "--issue is in {}/{}, not in --repo {}/{}; a plan is saved beside its issue",
                other.0, other.1, repo.0, repo.1
            )));
        }
        let repository = match named.or(of_issue) {
            Some(found) => found,
            None => remote(self.which.project(), host).map_err(|error| usage(&error))?,
        };
        Ok((repository, number))
    }

    fn source(&self) -> Result<Source, Failure> {
        let Some(file) = &self.plan else {
            let found = self.which.find()?;
            return Ok(Source {
                text: found.text,
                session: found.session,
            });
        };
        let text = input::plan(file)?;
        Ok(Source {
            text,
            session: None,
        })
    }

    /// The document, when the plan passes the gates.
    fn prepared(
        &self,
        order: &Order,
        text: &str,
        about: &str,
        prefix: &str,
    ) -> Result<Prepared, Box<Failed>> {
        let mut candidate = extract::from_log(text);
        if let Some(title) = &self.title {
            candidate.title = Some(title.clone());
        }
        let trigger = local_save::trigger(order, crate::engine::clock::Millis(0));
        verify::document(&trigger, &candidate, about, prefix).map_err(|failure| {
            // The failure's own remedy speaks of comments; its details say what to change.
            let text = format!("{} {}", failure.message, failure.details.join(" "));
            Box::new(Failed {
                failure: Failure::failed(terminal::one_line(text.trim_end())),
                code: Some(failure.code.name()),
            })
        })
    }
}

/// A failure, and its error code where there is one.
struct Failed {
    failure: Failure,
    code: Option<&'static str>,
}

impl From<Failure> for Box<Failed> {
    fn from(failure: Failure) -> Self {
        Self::new(Failed {
            failure,
            code: None,
        })
    }
}

fn same(one: &(String, String), other: &(String, String)) -> bool {
    one.0.eq_ignore_ascii_case(&other.0) && one.1.eq_ignore_ascii_case(&other.1)
}

/// The repository that the git remote `origin` of `folder` names.
fn remote(folder: &Path, host: &str) -> Result<(String, String), String> {
    const ADVICE: &str = "name the repository with --repo OWNER/REPO";
    let asked = Process::new("git")
        .arg("-C")
        .arg(folder)
        .args(["remote", "get-url", "origin"])
        .output()
        .map_err(|error| format!("git cannot be started: {error}; {ADVICE}"))?;
    if !asked.status.success() {
        let folder = folder.display();
        return Err(format!("{folder} has no git remote `origin`; {ADVICE}"));
    }
    let address = String::from_utf8_lossy(&asked.stdout);
    repository_of(&address, host).map_err(|error| format!("git remote `origin`: {error}; {ADVICE}"))
}

fn explain(error: &SaveError, access: &Access) -> Failed {
    let (text, code) = match error {
        SaveError::Stopped(Stop::Forge(why), left) => (
            format!("{}{left}", access.sentence(why, WRITING)),
            "github_unavailable",
        ),
        SaveError::Stopped(Stop::Failed(failure), left) => (
            format!("{} {}{left}", failure.message, failure.remedy),
            failure.code.name(),
        ),
        SaveError::Stopped(..) => (error.to_string(), "internal"),
        SaveError::NotNow { .. } => (error.to_string(), "github_unavailable"),
    };
    Failed {
        failure: Failure::failed(terminal::one_line(&text)),
        code: Some(code),
    }
}

/// What would be saved.
fn dry_run(order: &Order, prepared: &Prepared, json: bool) -> String {
    let comments = publish::comments(&prepared.document).len();
    if json {
        let shown = json!({
            "success": true, "dry_run": true, "issue_number": null, "issue_url": null,
            "title": prepared.issue_title, "comments": [], "skipped_duplicate": false,
            "message": format!("{comments} comments would hold the plan"),
        });
        return format!("{shown:#}\n");
    }
    let comments = match comments {
        1 => "one comment".to_owned(),
        many => format!("{many} comments"),
    };
    let repo = order.place.repo.full_name();
    format!(
        "Would save to {repo}, in {comments}:\n\n{}\n\nNothing was written.\n",
        summary(prepared)
    )
}

/// Where the plan is now.
fn shown(order: &Order, prepared: &Prepared, outcome: &Outcome, json: bool) -> String {
    let (saved, before) = match outcome {
        Outcome::Saved(saved) => (saved, None),
        Outcome::Before { saved, same } => (saved, Some(*same)),
    };
    let message = match before {
        None => "Plan saved to GitHub issue",
        Some(true) => "This session's plan was saved before",
        Some(false) => {
            "A plan of this session with this title, but another text, was saved before; --again saves this one too"
        }
    };
    let Saved {
        number,
        url,
        comments,
    } = saved;
    if json {
        let shown = json!({
            "success": true, "dry_run": false, "issue_number": number, "issue_url": url,
            "title": prepared.issue_title, "comments": comments, "skipped_duplicate": before.is_some(),
            "message": message,
        });
        return format!("{shown:#}\n");
    }
    if before.is_some() {
        return format!("{message}: {url}\n");
    }
    let steps = say::next_steps(&order.place, *number).replace("**", "");
    format!(
        "✅ {message}\n\n{}\n\nIssue: {url}\n\n{}\n",
        summary(prepared),
        steps.trim_end()
    )
}

/// Title, one sentence and three bullets. The text is somebody's.
fn summary(prepared: &Prepared) -> String {
    let mut text = format!("{}\n\n{}\n", prepared.issue_title, prepared.sentence);
    for bullet in &prepared.bullets {
        text.push_str(&format!("\n- {bullet}"));
    }
    terminal::lines(&text)
}
