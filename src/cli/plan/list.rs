//! `planwright plan list`: lists the saved plans of a repository.

use std::collections::BTreeMap;
use std::path::Path;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{TOKENS, as_json, finish};
use crate::adapters::github::{IssueFilter, IssueSummary, ListEntry, Reader};
use crate::cli::access::{Access, READING};
use crate::cli::save::target::origin;
use crate::cli::{Failure, Settings, block_on, terminal};
use crate::engine::forge::ForgeError;
use crate::engine::steps::publish::PLAN_LABEL;
use crate::formats::block::schema;
use crate::formats::plan::reference::parse_repository;
use crate::formats::plan::stored::{self, StoredHeader};
use crate::formats::text::truncate_chars;

/// Label of plans that erk keeps as pull requests.
const PULL_REQUEST_LABEL: &str = "erk-pr";
/// Maximum length of a title in the table, in characters.
const MAX_TITLE: usize = 60;

const HELP: &str = "\
Lists the issues and pull requests with the label `erk-plan` or erk's newer
label `erk-pr`. The table shows number, state, title, creator, date and remarks;
`PR` marks a pull request.

JSON fields:
  repository
  plans        newest first: number, title, state, url, pull_request, author,
               created_by (of the header), created_at, updated_at, header (or
               null), diagnostics (as in `plan get`), error (null, or why it
               cannot be read)
With exit code 1: only error, the message that is also on standard error.

Exit codes:
  0  listed; there may be none
  1  GitHub did not return the list
  2  the arguments or the configuration are wrong; nothing was done

Examples:
  planwright plan list acme/search
  planwright plan list acme/search --state all --limit 20
  planwright plan list acme/search --json | jq '.plans[].url'
";

/// List the plans of a repository
#[derive(Debug, Args)]
#[command(after_help = format!("{HELP}\n{TOKENS}"))]
pub(super) struct List {
    /// `OWNER/REPO`, or the URL of the repository [default: the git remote `origin`]
    #[arg(value_name = "REPOSITORY")]
    repository: Option<String>,
    /// State of the issues to list
    #[arg(long, value_enum, default_value_t = IssueState::Open)]
    state: IssueState,
    /// Maximum number of plans, newest first [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum IssueState {
    Open,
    Closed,
    All,
}

impl IssueState {
    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::All => "all",
        }
    }
}

impl List {
    pub(super) fn run(self, settings: &Settings) -> Result<(), Failure> {
        finish(self.json, self.perform(settings))
    }

    fn perform(&self, settings: &Settings) -> Result<String, Failure> {
        let access = Access::load(settings)?;
        let (owner, name) = match &self.repository {
            Some(repository) => parse_repository(repository, &access.host)
                .map_err(|error| Failure::Usage(error.to_string()))?,
            None => origin(Path::new("."), &access.host, "name it as OWNER/REPO")?,
        };
        let max = self.limit.map_or(usize::MAX, |limit| limit as usize);
        let entries = block_on(async {
            let reader = access.reader()?;
            let found = entries(&reader, &owner, &name, self.state.name(), max).await;
            found.map_err(|error| access.failed(&error, READING))
        })?;
        if self.json {
            let plans: Vec<Value> = entries.iter().map(as_value).collect();
            let all = json!({"repository": format!("{owner}/{name}"), "plans": plans});
            return Ok(format!("{all:#}\n"));
        }
        if entries.is_empty() {
            eprintln!("{owner}/{name} has no matching plans");
        }
        Ok(table(&entries))
    }
}

/// Lists the plans with either label, newest first.
async fn entries(
    reader: &Reader,
    owner: &str,
    name: &str,
    state: &str,
    max: usize,
) -> Result<Vec<ListEntry>, ForgeError> {
    let mut numbered = BTreeMap::new();
    let mut rest = Vec::new();
    for label in [PLAN_LABEL.name, PULL_REQUEST_LABEL] {
        let filter = IssueFilter { label, state, max };
        for entry in reader.issues(owner, name, filter).await? {
            let number = match &entry {
                ListEntry::Issue(issue) => Some(issue.number),
                ListEntry::Unreadable { number, .. } => *number,
            };
            match number {
                Some(number) => drop(numbered.insert(number, entry)),
                None => rest.push(entry),
            }
        }
    }
    let newest = numbered.into_values().rev();
    Ok(newest.chain(rest).take(max).collect())
}

fn as_value(entry: &ListEntry) -> Value {
    match entry {
        ListEntry::Unreadable { number, why } => json!({
            "number": number, "title": null, "state": null, "url": null, "pull_request": null, "author": null,
            "created_by": null, "created_at": null, "updated_at": null, "header": null, "diagnostics": [],
            "error": why,
        }),
        ListEntry::Issue(issue) => {
            let header = stored::header(&issue.body);
            json!({
                "number": issue.number,
                "title": issue.title,
                "state": issue.state,
                "url": issue.url,
                "pull_request": issue.pull_request,
                "author": issue.author,
                "created_by": created_by(&header),
                "created_at": issue.created.iso(),
                "updated_at": issue.updated.iso(),
                "header": header.fields,
                "diagnostics": as_json(&header.findings),
                "error": null,
            })
        }
    }
}

fn created_by(header: &StoredHeader) -> Option<String> {
    schema::text_field(header.fields.as_ref()?, "created_by")
}

fn table(entries: &[ListEntry]) -> String {
    let rows: Vec<[String; 6]> = entries.iter().map(row).collect();
    terminal::table(&rows)
}

/// Returns the cells of a row: number, state, title, creator, date and remarks.
fn row(entry: &ListEntry) -> [String; 6] {
    match entry {
        ListEntry::Unreadable { number, why } => {
            let number = number.map_or_else(|| "#?".to_owned(), |number| format!("#{number}"));
            let odd = format!("cannot be read: {}", terminal::one_line(why));
            [
                number,
                "?".to_owned(),
                "?".to_owned(),
                "?".to_owned(),
                "?".to_owned(),
                odd,
            ]
        }
        ListEntry::Issue(issue) => {
            let header = stored::header(&issue.body);
            let by = created_by(&header).or_else(|| issue.author.clone());
            [
                format!("#{}", issue.number),
                terminal::one_line(&issue.state),
                truncate_chars(&terminal::one_line(&issue.title), MAX_TITLE),
                truncate_chars(
                    &terminal::one_line(by.as_deref().unwrap_or("ghost")),
                    MAX_TITLE,
                ),
                issue.created.iso().chars().take(10).collect(),
                remarks(issue, &header),
            ]
        }
    }
}

fn remarks(issue: &IssueSummary, header: &StoredHeader) -> String {
    let mut remarks = Vec::new();
    if issue.pull_request {
        remarks.push("PR".to_owned());
    }
    remarks.extend(
        header
            .findings
            .iter()
            .map(|finding| terminal::one_line(&finding.message)),
    );
    remarks.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_cannot_be_read_has_a_row_like_the_others() {
        let bad = |number| ListEntry::Unreadable {
            number,
            why: "missing field `\u{1b}[2J`".to_owned(),
        };
        let entries = [bad(Some(1200)), bad(None)];
        assert_eq!(
            table(&entries),
            "#1200  ?  ?  ?  ?  cannot be read: missing field `\u{fffd}[2J`\n\
             #?     ?  ?  ?  ?  cannot be read: missing field `\u{fffd}[2J`\n"
        );
        let value = as_value(&entries[0]);
        assert_eq!(value["error"], "missing field `\u{1b}[2J`");
        assert_eq!(value["number"], 1200);
    }
}
