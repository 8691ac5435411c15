//! `planwright plan get`: prints one saved plan, byte for byte.

use std::io::{IsTerminal, stdout};
use std::path::Path;

use clap::Args;
use serde_json::json;

use super::{TOKENS, as_json, finish};
use crate::cli::access::{Access, READING, warn};
use crate::cli::save::target::origin;
use crate::cli::{Failure, Settings, block_on, terminal};
use crate::engine::model::conversation::Conversation;
use crate::formats::plan::reference::{self, IssueRef, ReferenceError};
use crate::formats::plan::stored::{self, StoredComment, StoredPage, StoredPlan};
use crate::formats::text::truncate_chars;

const HELP: &str = "\
Prints the plan byte for byte as it was before it was saved; on a terminal,
control characters are replaced. Problems are reported on standard error. The
formats of all erk releases are supported, and plans in several comments are
joined.

JSON fields:
  title, number, url, state, pull_request    of the issue or pull request
  header       fields of its plan-header, or null
  plan         the plan
  document     the whole saved document; the same as the plan if erk saved
               it
  source       form (plan-body, plan-content, original-plan, body-block,
               behind-header, whole-body) and description
  comments     ids of the comments the plan was read from
  diagnostics  problems: comment (null for the body), line (or null), message
With exit code 1: only error, the message that is also on standard error.

Exit codes:
  0  the plan was found
  1  there is no plan, it is incomplete, or GitHub did not return it
  2  the arguments or the configuration are wrong; nothing was done

Examples:
  planwright plan get acme/search#12 > plan.md
  planwright plan get https://github.com/acme/search/issues/12 --json
  planwright plan get acme/search#12 --document      the whole saved document
";

/// Print the plan saved in an issue or pull request
#[derive(Debug, Args)]
#[command(after_help = format!("{HELP}\n{TOKENS}"))]
pub(super) struct Get {
    /// `OWNER/REPO#NUMBER`, the URL of the issue or pull request, or a number in the repository
    /// of the git remote `origin`
    #[arg(value_name = "ISSUE")]
    issue: String,
    /// Print the whole saved document
    #[arg(long, conflicts_with = "json")]
    document: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

impl Get {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        finish(self.json, self.perform(settings))
    }

    fn perform(&self, settings: &Settings) -> Result<String, Failure> {
        let access = Access::load(settings)?;
        let ((owner, name), number) = named(&self.issue, &access.host)?;
        let thread = block_on(async {
            let reader = access.reader()?;
            let thread = reader.thread(&owner, &name, number).await;
            thread.map_err(|error| access.failed(&error, READING))
        })?;
        let found = stored::read(&page(&thread)).map_err(|error| {
            let why = terminal::one_line(&error.to_string());
            Failure::failed(format!("{owner}/{name}#{number}: {why}"))
        })?;
        for finding in &found.findings {
            warn(&finding.to_string());
        }
        if self.json {
            return Ok(format!("{:#}\n", show(&thread, &found)));
        }
        let text = if self.document {
            &found.document
        } else {
            &found.plan
        };
        Ok(if stdout().is_terminal() {
            terminal::lines(text)
        } else {
            text.clone()
        })
    }
}

/// Returns the repository and number of an issue. A number alone refers to the repository of the
/// git remote `origin`.
fn named(issue: &str, host: &str) -> Result<((String, String), u64), Failure> {
    let whole = |what: &str, number: u64| {
        let issue = truncate_chars(&terminal::one_line(issue.trim()), 80);
        Failure::Usage(format!(
            "`{issue}` {what}; write OWNER/REPO#{number} or https://{host}/OWNER/REPO/issues/{number}"
        ))
    };
    let found = reference::parse(issue, host).map_err(|error| match error {
        ReferenceError::Form { .. } => whole("does not name an issue", 12),
        ReferenceError::Number { .. } => {
            whole("contains no issue number; issue numbers start at 1", 12)
        }
        other => Failure::Usage(other.to_string()),
    })?;
    let IssueRef { repository, number } = found;
    let repository = if let Some(repository) = repository {
        repository
    } else {
        let advice =
            format!("write OWNER/REPO#{number} or https://{host}/OWNER/REPO/issues/{number}");
        origin(Path::new("."), host, &advice)?
    };
    Ok((repository, number))
}

fn page(thread: &Conversation) -> StoredPage {
    let mut page = StoredPage {
        title: thread.title.clone(),
        pull_request: thread.place.pull_request,
        ..StoredPage::default()
    };
    for post in &thread.posts {
        let author = post.author.as_ref().map(|author| author.login.clone());
        match post.id {
            None => {
                page.author = author;
                page.body.clone_from(&post.body);
            }
            Some(id) => page.comments.push(StoredComment {
                id,
                author,
                body: post.body.clone(),
            }),
        }
    }
    page
}

fn show(thread: &Conversation, found: &StoredPlan) -> serde_json::Value {
    json!({
        "title": found.title,
        "number": thread.place.number,
        "url": thread.url,
        "state": thread.state,
        "pull_request": thread.place.pull_request,
        "header": found.header,
        "plan": found.plan,
        "document": found.document,
        "source": {"form": found.form.name(), "description": found.form.describe()},
        "comments": found.comments,
        "diagnostics": as_json(&found.findings),
    })
}
