//! Where a plan is saved: the repository, and the issue it is for.

use std::path::Path;
use std::process::Command;

use super::Save;
use crate::cli::Failure;
use crate::formats::plan::reference::{self, IssueRef, repository_of};

/// Repository and number: from the options, else from the git remote of `folder`.
pub(super) fn of(
    save: &Save,
    host: &str,
    folder: &Path,
) -> Result<((String, String), Option<u64>), Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    let named = save
        .repo
        .as_deref()
        .map(|repo| repository_of(repo, host))
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
            "--issue is in {}/{}, not in --repo {}/{}; a plan is saved beside its issue",
            other.0, other.1, repo.0, repo.1
        )));
    }
    let repository = match named.or(of_issue) {
        Some(found) => found,
        None => remote(folder, host).map_err(|error| usage(&error))?,
    };
    Ok((repository, number))
}

fn same(one: &(String, String), other: &(String, String)) -> bool {
    one.0.eq_ignore_ascii_case(&other.0) && one.1.eq_ignore_ascii_case(&other.1)
}

/// The repository that the git remote `origin` of `folder` names.
fn remote(folder: &Path, host: &str) -> Result<(String, String), String> {
    const ADVICE: &str = "name the repository with --repo OWNER/REPO";
    let asked = Command::new("git")
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
