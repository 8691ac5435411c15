//! A comment that is sent to GitHub, comes back as a delivery, and is deleted.

use std::time::Duration;

use super::installations::failed;
use super::report::Report;
use crate::adapters::github::GitHub;
use crate::cli::signals::stop_requested;
use crate::config::Loaded;
use crate::engine::clock::Clock;
use crate::engine::forge::{Forge as _, ForgeError};
use crate::engine::model::intake::LoggedAttempt;
use crate::engine::model::trigger::Repo;
use crate::engine::why::Installed;

/// Pause between two looks at the delivery log.
const PAUSE: Duration = Duration::from_secs(1);

/// The comment. It contains no command, mentions nobody, and is ignored by the bot.
const COMMENT: &str = "This comment tests whether deliveries arrive. `planwright doctor` deletes it at once; if it is still here, \
                       it can be deleted.";

const NAME: &str = "round-trip";

/// What is tried.
#[derive(Debug, Clone)]
pub(in crate::cli) struct RoundTrip {
    /// Owner of the repository.
    pub(in crate::cli) owner: String,
    /// Name of the repository.
    pub(in crate::cli) name: String,
    /// Issue or pull request to comment on; `None` to look at the repository only.
    pub(in crate::cli) issue: Option<u64>,
    /// Maximum time to wait for the delivery.
    pub(in crate::cli) wait: Duration,
}

/// Checks the repository, and comments if an issue is named.
pub(super) async fn examine(
    report: &mut Report,
    loaded: &Loaded,
    github: &GitHub,
    clock: &dyn Clock,
    trip: &RoundTrip,
) {
    let full_name = format!("{}/{}", trip.owner, trip.name);
    let repo = match github.installed_in(&trip.owner, &trip.name).await {
        Ok((Installed::Yes, Some(repo))) => repo,
        Ok((Installed::Suspended, _)) => {
            report.error(
                "repository",
                format!("the App is suspended in {full_name}"),
                format!("an owner of {} has to unsuspend it", trip.owner),
            );
            return;
        }
        Ok(_) => {
            report.error(
                "repository",
                format!("the App is not installed in {full_name}, or there is no such repository"),
                "check the name, or add the repository to the installation",
            );
            return;
        }
        Err(error) => {
            failed(report, loaded, "repository", &error);
            return;
        }
    };
    match github.unwritable(&repo).await {
        Ok(None) => report.ok("repository", format!("the App is installed in {full_name}")),
        Ok(Some(why)) => {
            report.error(
                "repository",
                format!("no plan can be saved in {full_name}: {why}"),
                "change that in the repository's settings, or use another repository",
            );
            return;
        }
        Err(error) => {
            failed(report, loaded, "repository", &error);
            return;
        }
    }
    let Some(issue) = trip.issue else {
        report.skipped(
            NAME,
            "no comment was written",
            Some(
                "add --issue with the number of an issue to comment on; the comment is deleted again"
                    .to_owned(),
            ),
        );
        return;
    };
    let comment = match github.create_comment(&repo, issue, COMMENT).await {
        Ok(written) => written.id,
        Err(error) => {
            not_written(report, loaded, &format!("{full_name}#{issue}"), &error);
            return;
        }
    };
    let found = tokio::select! {
        found = wait(github, clock, &repo, comment, trip.wait) => Some(found),
        () = stop_requested() => None,
    };
    match found {
        Some(Ok(Some(attempt))) => judge(report, loaded, &attempt),
        Some(Ok(None)) => report.error(
            NAME,
            format!(
                "GitHub logged no delivery for a comment on {full_name}#{issue} within {} s",
                trip.wait.as_secs()
            ),
            "on the App's settings page, tick Active under Webhook, check its URL, and subscribe to the event Issue comment",
        ),
        Some(Err(error)) => failed(report, loaded, NAME, &error),
        None => report.skipped(NAME, "interrupted", None),
    }
    if let Err(error) = github.delete_comment(&repo, comment).await {
        report.warning(
            NAME,
            format!("comment {comment} on {full_name}#{issue} cannot be deleted: {error}"),
            "delete it yourself",
        );
    }
}

fn not_written(report: &mut Report, loaded: &Loaded, place: &str, error: &ForgeError) {
    let remedy = match error {
        ForgeError::NotFound { .. } | ForgeError::Gone { .. } | ForgeError::Deleted { .. } => {
            "name the number of an issue or pull request that exists"
        }
        ForgeError::Locked { .. } => "unlock the conversation, or name another issue",
        ForgeError::Unknown { .. } => "look at it: the comment may be there, and can be deleted",
        ForgeError::Forbidden { .. } => {
            "give the App the permission `issues: write`, and accept it for the installation"
        }
        _ => {
            failed(report, loaded, NAME, error);
            return;
        }
    };
    report.error(
        NAME,
        format!("{place} cannot be commented on: {error}"),
        remedy,
    );
}

/// Waits until the log has an answered attempt to deliver the comment.
async fn wait(
    github: &GitHub,
    clock: &dyn Clock,
    repo: &Repo,
    comment: u64,
    limit: Duration,
) -> Result<Option<LoggedAttempt>, ForgeError> {
    let written = github.time();
    let end = clock.now().plus(limit);
    loop {
        let attempts = github.attempts_of(repo, comment, written).await?;
        let answered = attempts.into_iter().find(|one| one.status_code != 0);
        if answered.is_some() || clock.now() >= end {
            return Ok(answered);
        }
        clock.sleep(PAUSE).await;
    }
}

fn judge(report: &mut Report, loaded: &Loaded, attempt: &LoggedAttempt) {
    let status = attempt.status_code;
    if !loaded.config.server.transport.listens() {
        report.ok(
            NAME,
            "a comment was written, is in GitHub's log of deliveries, and was deleted",
        );
    } else if (200..300).contains(&status) {
        report.ok(
            NAME,
            format!(
                "a comment was written, its delivery was answered with {status}, and it was deleted"
            ),
        );
    } else {
        report.error(
            NAME,
            format!("the delivery of a comment was answered with {status}"),
            "see `deliveries` above for its reason; is the bot running?",
        );
    }
}
