//! Checks of the App's installations.

use super::report::{Report, split};
use crate::adapters::github::{GitHub, InstalledApp, RegisteredApp};
use crate::cli::trouble;
use crate::config::Loaded;
use crate::engine::app_needs::{missing_events, missing_permissions};
use crate::engine::forge::ForgeError;

/// Maximum number of installations whose repositories and limits are asked for.
const MAX_ASKED: usize = 20;

/// What to do about a rate limit.
const WAIT: &str =
    "wait until then; raise sweep.every_seconds and scan.every_minutes if this happens often";

/// Checks the installations. Returns them if GitHub did.
pub(super) async fn examine(
    report: &mut Report,
    loaded: &Loaded,
    github: &GitHub,
    app: &RegisteredApp,
) -> Vec<InstalledApp> {
    let installations = match github.installations().await {
        Ok(installations) => installations,
        Err(error) => {
            failed(report, loaded, "installations", &error);
            return Vec::new();
        }
    };
    if installations.is_empty() {
        report.error(
            "installations",
            "the App is not installed anywhere",
            format!(
                "install it: {}/installations/new",
                app.html_url.trim_end_matches('/')
            ),
        );
    }
    for installation in installations.iter().take(MAX_ASKED) {
        one(report, loaded, github, app, installation).await;
    }
    if installations.len() > MAX_ASKED {
        let more = installations.len() - MAX_ASKED;
        report.skipped(
            "installations",
            format!("{more} more installations were not looked at"),
            None,
        );
    }
    installations
}

async fn one(
    report: &mut Report,
    loaded: &Loaded,
    github: &GitHub,
    app: &RegisteredApp,
    installation: &InstalledApp,
) {
    let (account, page) = (installation.account(), &installation.html_url);
    if installation.is_suspended() {
        report.error(
            "installation",
            format!("the installation of {account} is suspended"),
            format!("its owner has to unsuspend it: {page}"),
        );
        return;
    }
    // What the App itself lacks is reported for the App.
    let accepted = missing_permissions(&app.permissions);
    let permissions = missing_permissions(&installation.permissions);
    let permissions = permissions.iter().filter(|one| !accepted.contains(one));
    let subscribed = missing_events(&app.events);
    let events = missing_events(&installation.events);
    let events = events.iter().filter(|one| !subscribed.contains(one));
    let pending: Vec<String> = permissions
        .map(|one| format!("`{}: {}`", one.name, one.access))
        .chain(events.map(|one| format!("the event `{}`", one.name)))
        .collect();
    if !pending.is_empty() {
        report.error(
            "installation",
            format!(
                "{account} has not accepted what the App needs: {}",
                pending.join(", ")
            ),
            format!("its owner has to accept the new permissions (Review request): {page}"),
        );
    }
    let asked = async {
        let count = github.repository_count(installation.id).await?;
        let left = github.requests_left(installation.id).await?;
        Ok::<_, ForgeError>((count, left))
    };
    let (count, left) = match asked.await {
        Ok(answers) => answers,
        Err(ForgeError::Limited { until, .. }) => {
            let seen = format!("{account}: no requests are left until {}", until.iso());
            report.error("installation.requests", seen, WAIT);
            return;
        }
        Err(error) => {
            failed(report, loaded, "installation", &error);
            return;
        }
    };
    if count == 0 {
        report.warning(
            "installation",
            format!("the installation of {account} has no repositories"),
            format!("select some: {page}"),
        );
    }
    let requests = match left {
        Some(left) if left.remaining.saturating_mul(10) < left.limit => {
            report.warning(
                "installation.requests",
                format!(
                    "{account}: only {} of {} requests are left until {}",
                    left.remaining,
                    left.limit,
                    left.reset.iso()
                ),
                WAIT,
            );
            return;
        }
        Some(left) => format!("{} of {} requests are left", left.remaining, left.limit),
        None => "no limit of requests".to_owned(),
    };
    if count > 0 {
        let end = if count == 1 { "y" } else { "ies" };
        report.ok(
            "installation",
            format!("{account}: {count} repositor{end}; {requests}"),
        );
    }
}

/// Adds that GitHub did not answer a question.
pub(super) fn failed(report: &mut Report, loaded: &Loaded, name: &'static str, error: &ForgeError) {
    let config = &loaded.config.github;
    // The credentials have been accepted, so it is about the installation.
    let text = match error {
        ForgeError::Unauthorized { .. } | ForgeError::NotFound { .. } => error.to_string(),
        _ => trouble::at_start(error, &config.api_url, config.app_id),
    };
    let (seen, remedy) = split(&text, "; ", "try again later");
    report.error(name, seen, remedy);
}
