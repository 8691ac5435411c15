//! Determines the repository to save a plan in, and the issue it belongs to.

use std::path::Path;
use std::process::Command;

use super::Save;
use crate::cli::Failure;
use crate::formats::plan::reference::{self, IssueRef, parse_repository};

/// Returns the repository and the issue number from the options, with the git remote of `folder` as
/// the default repository.
pub(super) fn of(
    save: &Save,
    host: &str,
    folder: &Path,
) -> Result<((String, String), Option<u64>), Failure> {
    let named = save
        .repo
        .as_deref()
        .map(|repo| parse_repository(repo, host))
        .transpose()
        .map_err(|error| Failure::Usage(format!("--repo: {error}")))?;
    let issue = save
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
            "--issue is in {}/{}, not in --repo {}/{}; a plan is saved in the repository of its issue",
            other.0, other.1, repo.0, repo.1
        )));
    }
    let repository = match named.or(of_issue) {
        Some(found) => found,
        None => origin(folder, host, "name the repository with --repo OWNER/REPO")?,
    };
    Ok((repository, number))
}

fn same(one: &(String, String), other: &(String, String)) -> bool {
    one.0.eq_ignore_ascii_case(&other.0) && one.1.eq_ignore_ascii_case(&other.1)
}

/// Returns the repository of the git remote `origin` of `folder`. `advice` is appended to error
/// messages.
///
/// # Errors
/// Returns [`Failure::Usage`] if there is no such remote, or it is not a repository on `host`.
pub(in crate::cli) fn origin(
    folder: &Path,
    host: &str,
    advice: &str,
) -> Result<(String, String), Failure> {
    let refused = |why: String| Failure::Usage(format!("{why}; {advice}"));
    let asked = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["remote", "get-url", "origin"])
        .output()
        .map_err(|error| refused(format!("git cannot be started: {error}")))?;
    if !asked.status.success() {
        let folder = if folder == Path::new(".") {
            "the working directory".to_owned()
        } else {
            folder.display().to_string()
        };
        return Err(refused(format!("{folder} has no git remote `origin`")));
    }
    let address = String::from_utf8_lossy(&asked.stdout);
    parse_repository(&address, host)
        .map_err(|error| refused(format!("git remote `origin`: {error}")))
}
