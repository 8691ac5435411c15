//! `planwright why`: explains what became of a comment, or what happened last at an issue.

use std::sync::Arc;

use clap::Args;
use url::Url;

use super::failure::print;
use super::{Failure, Settings, block_on, bot, database, trouble};
use crate::adapters::clock::SystemClock;
use crate::adapters::github::GitHub;
use crate::adapters::store::History;
use crate::config::Loaded;
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;
use crate::engine::model::intake::Verdict;
use crate::engine::model::trigger::Repo;
use crate::engine::why::{Evidence, Installed, Question, explain};
use crate::formats::plan::reference::{self, IssueRef, ReferenceError};

/// Maximum number of decisions about an issue that are read.
const MAX_DECISIONS: u32 = 500;

const EXAMPLES: &str = "\
Examples:
  planwright why https://github.com/acme/search/issues/7#issuecomment-1234567890
  planwright why https://github.com/acme/search/pull/9 --json

Run it with the configuration of the bot, on the same machine. It reads the
bot's database, which may be in use, and asks GitHub as the App. It changes
nothing.";

/// Explain what became of a comment, or what happened last at an issue
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Why {
    /// Address of a comment, an issue or a pull request
    #[arg(value_name = "URL")]
    url: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Why {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        let loaded = settings.load()?;
        let question = question(&self.url, &loaded.config.github.api_url)?;
        let evidence = block_on(gather(&loaded, question))?;
        let story = explain(&evidence);
        if self.json {
            let text = serde_json::to_string_pretty(&story)
                .map_err(|error| Failure::failed(error.to_string()))?;
            return print(&format!("{text}\n"));
        }
        print(&story.lines())
    }
}

/// Parses the address of a comment, an issue or a pull request.
fn question(url: &str, api_url: &Url) -> Result<Question, Failure> {
    let host = reference::web_host(api_url);
    let forms = format!(
        "name a comment, an issue or a pull request, like https://{host}/OWNER/REPO/issues/12#issuecomment-1234567890"
    );
    let no_address = || Failure::Usage(format!("`{url}` is not an address; {forms}"));
    let parsed = reference::parse(url, &host);
    let IssueRef { repository, number } = parsed.map_err(|error| match error {
        ReferenceError::Form { .. } => no_address(),
        other => Failure::Usage(other.to_string()),
    })?;
    let repository = repository.filter(|_| url.contains("://"));
    let (owner, name) = repository.ok_or_else(no_address)?;
    let fragment = url.trim().split_once('#').map(|(_, fragment)| fragment);
    let comment = match fragment {
        None | Some("") => None,
        Some(fragment) => {
            let id = fragment
                .strip_prefix("issuecomment-")
                .and_then(|id| id.parse::<u64>().ok())
                .filter(|id| *id > 0);
            let Some(id) = id else {
                return Err(Failure::Usage(format!(
                    "`#{fragment}` is not a comment of the conversation; commands count only there: {forms}"
                )));
            };
            Some(id)
        }
    };
    Ok(Question {
        repository: format!("{owner}/{name}"),
        number,
        comment,
    })
}

async fn gather(loaded: &Loaded, question: Question) -> Result<Evidence, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let config = &loaded.config;
    let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
    let history = database::history(config, &loaded.secrets).await?;
    let github = bot::github(config, &loaded.secrets, &clock)?;
    let (owner, name) = question.repository.split_once('/').unwrap_or_default();
    let why =
        |error: ForgeError| trouble::at_start(&error, &config.github.api_url, config.github.app_id);
    let mut evidence = Evidence {
        now: clock.now(),
        installed: Ok(Installed::Yes),
        comment: Ok(None),
        decisions: Vec::new(),
        runs: Vec::new(),
        attempts: Ok(Vec::new()),
        limits: config.engine.worker.limits(),
        question: question.clone(),
    };
    let repo = match github.installed_in(owner, name).await {
        Ok((installed, repo)) => {
            evidence.installed = Ok(installed);
            repo
        }
        Err(error) => {
            let why = why(error);
            evidence.installed = Err(why.clone());
            evidence.comment = Err(why.clone());
            evidence.attempts = Err(why);
            None
        }
    };
    let id = match &repo {
        Some(repo) => Some(repo.id),
        None => history
            .repository(&question.repository)
            .await
            .map_err(|error| failed(&error))?,
    };
    let asked = repo.zip(question.comment);
    if let Some((repo, comment)) = &asked {
        evidence.comment = github.comment_now(repo, *comment).await.map_err(&why);
        if let Ok(Some(now)) = &evidence.comment {
            // The address may name another issue: GitHub shows the comment all the same.
            evidence.question.number = now.number;
        }
    }
    if let Some(id) = id {
        read(&history, id, &mut evidence)
            .await
            .map_err(|error| failed(&error))?;
    }
    if let Some((repo, comment)) = &asked {
        look(&github, repo, *comment, &mut evidence, why).await;
    }
    Ok(evidence)
}

/// Reads what the database knows.
async fn read(
    history: &History,
    repo: u64,
    evidence: &mut Evidence,
) -> Result<(), crate::engine::store::StoreError> {
    let number = evidence.question.number;
    evidence.decisions = history.decisions_at(repo, number, MAX_DECISIONS).await?;
    for decision in &evidence.decisions {
        let about = evidence.question.comment;
        if about.is_some() && decision.subject.comment != about {
            continue;
        }
        if let Verdict::Accepted(runs) = &decision.verdict {
            for run in runs {
                evidence.runs.extend(history.run(run).await?);
            }
        }
    }
    Ok(())
}

/// Asks GitHub for the deliveries of a comment if nothing was received.
async fn look(
    github: &GitHub,
    repo: &Repo,
    comment: u64,
    evidence: &mut Evidence,
    why: impl Fn(ForgeError) -> String,
) {
    let received = evidence
        .decisions
        .iter()
        .any(|one| one.subject.comment == Some(comment));
    if let Ok(Some(now)) = &evidence.comment
        && !received
    {
        let attempts = github.attempts_of(repo, comment, now.created).await;
        evidence.attempts = attempts.map_err(why);
    }
}
