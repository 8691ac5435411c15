//! `planwright save`: saves the plan of a local session as an issue, in the same form as the bot.

mod shown;
mod state;
pub(super) mod target;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::access::{Access, WRITING};
use super::failure::print;
use super::session::Which;
use super::trouble::SET_TOKEN;
use super::{Failure, Settings, block_on, input, terminal};
use crate::adapters::claude_home::{FoundPlan, PlanLocation};
use crate::adapters::clock::SystemClock;
use crate::adapters::github::{GitHub, PersonConfig};
use crate::engine::effects::StepError;
use crate::engine::forge::{Forge as _, ForgeError};
use crate::engine::local_save::{self, Order, SaveError};
use crate::engine::model::failure::Code;
use crate::engine::model::progress::Prepared;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::IssueRef;
use crate::engine::services::Services;
use crate::engine::settings::Settings as EngineSettings;
use crate::engine::steps::verify;
use crate::engine::{extract, messages};
use crate::formats::plan::gate::gate_title;
use state::SaveState;
pub(super) use state::{make as make_private, of_user as state_folder};

const HELP: &str = "\
The plan is the one that `planwright session plan` prints with the same options,
or --plan FILE. The repository is --repo, else that of --issue, else the git
remote `origin` of the folder in which the session ran.

The plan must pass the same checks as in the bot and is saved in the same form:
one issue with the label erk-plan, with the plan in its first comments. A plan
is saved once for each session and title, a file once for each text; later calls
print where. An interrupted call is completed by the next one, with the text of
the first call. Saved plans are recorded in a small database below
$XDG_STATE_HOME (default ~/.local/state).

JSON fields:
  success            the plan is on GitHub (or would be, with --dry-run)
  issue_number, issue_url, title, comments
                     of the plan issue; comments are the ids of the comments
                     with the plan
  skipped_duplicate  the plan was already saved; nothing was written
  message            one sentence
  dry_run            --dry-run was given: nothing was written; number and URL
                     are null
On failure: success false, error, error_type: an error code (docs/commands.md),
already_saved (different text under this title, or the issue no longer exists),
or null.

Exit codes:
  0  saved, or the same text was already saved
  1  the command failed; the message says what exists on GitHub
  2  the arguments or the configuration are wrong; nothing was done

Examples:
  planwright save                  the plan of this session, to this folder's
                                   repository
  planwright save --issue 12       for this issue; the plan issue links to it
  planwright save --repo acme/plans --plan plan.md
  planwright save --dry-run        ask GitHub, show what would be saved, write
                                   nothing";

const TOKEN: &str = "\
Token:
  PLANWRIGHT_TOKEN, else GITHUB_TOKEN, else GH_TOKEN, with write access to
  issues, from a user who can push. The last two are sent only to github.com or
  the server in GITHUB_API_URL. No token is sent to a server that is named by a
  planwright.toml which was only found in the working directory.
  On GitHub Enterprise Server: --set github.api_url=https://HOST/api/v3";

/// Save the plan of a local session as an issue on GitHub, with your own token
#[derive(Debug, Args)]
#[command(after_help = format!("{HELP}\n\n{TOKEN}"))]
pub(super) struct Save {
    /// Repository to save in
    #[arg(long, value_name = "OWNER/REPO")]
    repo: Option<String>,
    /// Issue or pull request that the plan is for: number, OWNER/REPO#NUMBER, or URL
    #[arg(long, value_name = "ISSUE")]
    issue: Option<String>,
    /// Save this file instead of a session's plan; `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["session_id", "newest"])]
    plan: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    /// Title to use instead of the plan's title
    #[arg(long)]
    title: Option<String>,
    /// Save again, even if already saved
    #[arg(long)]
    again: bool,
    /// Check everything and show what would be saved, but write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The plan to save and its origin.
struct Source {
    text: String,
    session: Option<String>,
    /// The plan as it was found in the session; `None` with `--plan`.
    found: Option<FoundPlan>,
}

impl Source {
    /// Returns the directory whose git remote names the repository: the one the session ran in if
    /// its log contains it, otherwise the project directory.
    fn folder<'a>(&'a self, save: &'a Save) -> &'a Path {
        let ran_in = self.found.as_ref().and_then(|found| found.cwd.as_deref());
        ran_in.unwrap_or_else(|| save.which.project())
    }
}

impl Save {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let failed = match self.perform(settings) {
            Ok(text) => return print(&text),
            Err(failed) => failed,
        };
        if self.json {
            let shown = json!({
                "success": false, "error": failed.failure.to_string(), "error_type": failed.code,
            });
            print(&format!("{shown:#}\n"))?;
        }
        Err(failed.failure)
    }

    fn perform(&self, settings: &Settings) -> Result<String, Box<Failed>> {
        let access = Access::load(settings)?;
        let loaded = settings.load()?;
        let source = self.source()?;
        let (repository, number) = target::of(self, &access.host, source.folder(self))?;
        if let Some(title) = &self.title {
            gate_title(title).map_err(|fault| {
                Failure::Usage(format!("--title: {fault}. {}", fault.feedback()))
            })?;
        }
        let Some(token) = access.config.token.clone() else {
            return Err(Failure::Usage(format!(
                "saving needs a token with write access to issues; {SET_TOKEN}"
            ))
            .into());
        };
        let config = PersonConfig {
            api_url: access.config.api_url.clone(),
            token,
            write_gap: loaded.config.github.write_gap,
            notify_gap: loaded.config.github.notify_gap,
            request_timeout: access.config.request_timeout,
        };
        let engine = loaded.config.engine;
        block_on(async {
            // Boxed, because the future is large.
            let saving = self.on_github(&access, config, engine, &source, &repository, number);
            Ok(Box::pin(saving).await)
        })?
    }

    async fn on_github(
        &self,
        access: &Access,
        config: PersonConfig,
        engine: EngineSettings,
        source: &Source,
        (owner, name): &(String, String),
        number: Option<u64>,
    ) -> Result<String, Box<Failed>> {
        let clock = Arc::new(SystemClock);
        let github = GitHub::person(config, clock.clone()).map_err(|error| {
            Failure::Usage(match access.variable {
                Some(variable) => format!("{variable}: {error}"),
                None => error.to_string(),
            })
        })?;
        let refused = |error| Box::new(refused(access, &error));
        let actor = github.me().await.map_err(refused)?;
        let repo = github.repository(owner, name).await.map_err(refused)?;
        let mut place = IssueRef {
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
            server: access.config.api_url.to_string(),
            place,
            actor,
            session: source.session.clone(),
            again: self.again.then(|| uuid::Uuid::new_v4().to_string()),
            at: github.time(),
        };
        let prepared = self.prepared(&order, source, &about, &engine.publish.title_prefix)?;
        let state = SaveState::open().await?;
        let parts = Services {
            store: state.store(),
            forge: Arc::new(github),
            clock,
            settings: Arc::new(engine),
            agent: None,
            checkouts: None,
            search_first: false,
        };
        let done = if self.dry_run {
            local_save::look(&parts, &order, &prepared)
                .await
                .and_then(|known| {
                    let comments = local_save::fits(&parts, &prepared)?;
                    Ok(shown::dry_run(
                        &order, &prepared, comments, &known, self.json,
                    ))
                })
        } else {
            let waiting = |why: &str| eprintln!("waiting: {}", terminal::one_line(why));
            local_save::save(&parts, &order, &prepared, waiting)
                .await
                .map(|outcome| {
                    shown::outcome(
                        &order,
                        &parts.settings,
                        source.found.as_ref(),
                        &outcome,
                        self.json,
                    )
                })
        };
        state.close().await;
        let (text, failed) = done.map_err(|error| Box::new(explain(&error, access)))?;
        match failed {
            None => Ok(text),
            Some(why) => Err(Box::new(Failed {
                failure: Failure::failed(why),
                code: Some("already_saved"),
            })),
        }
    }

    fn source(&self) -> Result<Source, Box<Failed>> {
        let Some(file) = &self.plan else {
            let found = self.which.find().map_err(|failure| Failed {
                code: Some(match failure {
                    Failure::Failed(_) => "no_plan_found",
                    _ => "session_not_found",
                }),
                failure,
            })?;
            if found.location == PlanLocation::NewestPlanFile {
                return Err(Failure::Usage(format!(
                    "{} belongs to no known session, perhaps to another project; check it, then save it with --plan",
                    found.file.display()
                ))
                .into());
            }
            return Ok(Source {
                text: found.text.clone(),
                session: found.session.clone(),
                found: Some(found),
            });
        };
        let (text, byte_order_mark) = input::plan_and_mark(file)?;
        if byte_order_mark {
            eprintln!(
                "note: the byte order mark at the start of {} is not saved",
                file.display()
            );
        }
        Ok(Source {
            text,
            session: None,
            found: None,
        })
    }

    /// Checks the plan and returns the document to save.
    fn prepared(
        &self,
        order: &Order,
        source: &Source,
        about: &str,
        prefix: &str,
    ) -> Result<Prepared, Box<Failed>> {
        let mut candidate = extract::from_log(&source.text);
        if let Some(title) = &self.title {
            candidate.title = Some(messages::one_line(title));
        }
        let mut notes = Vec::new();
        if let Some(found) = &source.found {
            if found.approved == Some(false) {
                notes.push("This plan was not approved in its session.".to_owned());
            }
            if found.stale_edits > 0 {
                notes.push(format!(
                    "The session may have had a newer version: edits of the plan file that could not be applied: {}.",
                    found.stale_edits
                ));
            }
        }
        let trigger = local_save::trigger(order, Millis(0));
        verify::local(&trigger, &candidate, notes, about, prefix).map_err(|failure| {
            // The remedy of the failure is written for comments on GitHub; the details say what to
            // change.
            let text = format!("{} {}", failure.message, failure.details.join(" "));
            Box::new(Failed {
                failure: Failure::failed(terminal::one_line(text.trim_end())),
                code: Some(failure.code.name()),
            })
        })
    }
}

/// A failure and its error code, if it has one.
struct Failed {
    failure: Failure,
    code: Option<&'static str>,
}

impl From<Failure> for Box<Failed> {
    fn from(failure: Failure) -> Self {
        let code = match failure {
            Failure::Usage(_) => Some("invalid_input"),
            Failure::Config(_) | Failure::Missing(_) | Failure::Project(_) => {
                Some("config_invalid")
            }
            Failure::Failed(_) | Failure::Waiting(_) | Failure::Stopped(_) => None,
        };
        Self::new(Failed { failure, code })
    }
}

/// Converts a GitHub error that occurred before anything was written.
fn refused(access: &Access, error: &ForgeError) -> Failed {
    Failed {
        failure: access.failed(error, WRITING),
        code: Some(code(error)),
    }
}

/// Returns the error code for a GitHub error.
fn code(error: &ForgeError) -> &'static str {
    match error {
        ForgeError::Unauthorized { .. }
        | ForgeError::Forbidden { .. }
        | ForgeError::IpAllowList { .. }
        | ForgeError::Archived { .. }
        | ForgeError::NotFound { .. } => Code::PermissionDenied.name(),
        ForgeError::Locked { .. } | ForgeError::Deleted { .. } => Code::LocationGone.name(),
        ForgeError::Gone { .. } => Code::IssuesDisabled.name(),
        ForgeError::Rejected { .. } => Code::ValidationFailed.name(),
        ForgeError::Limited { .. }
        | ForgeError::Unreachable { .. }
        | ForgeError::Unknown { .. }
        | ForgeError::Unreadable { .. } => Code::GithubUnavailable.name(),
    }
}

fn explain(error: &SaveError, access: &Access) -> Failed {
    let (text, code) = match error {
        SaveError::Stopped(StepError::Forge(why), left) => {
            let sentence = access.sentence(why, WRITING);
            (format!("{sentence}{left}"), code(why))
        }
        SaveError::Stopped(StepError::Failed(failure), left) => (
            format!("{} {}{left}", failure.message, failure.remedy),
            failure.code.name(),
        ),
        SaveError::Stopped(..) => (error.to_string(), Code::Internal.name()),
        SaveError::NotNow { .. } => (error.to_string(), Code::GithubUnavailable.name()),
    };
    Failed {
        failure: Failure::failed(terminal::one_line(&text)),
        code: Some(code),
    }
}
