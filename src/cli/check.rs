//! `planwright check`: checks whether texts are action plans and would work on the files of a
//! working copy.

mod fix;
mod json;
mod people;
mod sarif;
mod verdict;

use std::io::stdout;
use std::path::PathBuf;

use clap::Args;

use super::failure::print;
use super::terminal::{self, Colours};
use super::{Failure, input};
use verdict::Checked;

const HELP: &str = "\
An action plan is a Markdown document in a strict form that programs execute:
title, list, Rationale, Action Plan, and actions such as READ, CREATE, EDIT and
EXECUTE. docs/action-plans.md shows one. Nothing is executed, and no file is
written.

Without --root only the text is checked. With --root DIR the actions are played
through on the files in DIR, in order, on a copy in memory: what a plan creates
it may edit. Nothing outside of DIR is read except a FILE named there; symbolic
links that lead out of DIR are refused, also where a FILE in DIR is one. A FILE
is a regular file, or what the shell opens for <(…).

--fix prints, for plans whose fences are too short for what is in them, a
unified diff with longer ones; everything else goes to standard error. Fences
decide what is content and what is an action: read the diff before you apply it.

Exit codes:
  0  all plans are good
  1  at least one is refused, also when a fix is proposed
  2  the arguments are wrong, or a file or DIR cannot be read; nothing was
     checked

Fields of --json, which stay as they are:
  files     one for each FILE, in their order:
  file      its name as it was given
  ok        true when nothing is wrong
  title     the plan's title, or null when the text is no plan
  actions   the actions as they were read: number, span (first and last line),
            type, and the fields of the action; none when the text is no plan
  error     the first thing that is wrong with the text, or null: kind, message,
            line, end_line, action (number and name, or null), expected, found,
            hints
  diff      beside the structure of a plan, or null when the text is one: errors
            (all of them), expected, actual (blocks with line and mark: ok,
            error, mismatch, not-checked)
  fix       a unified diff that makes a plan of the text, or null
  findings  what would go wrong on the files in DIR: kind, message, line,
            end_line, action (number and name), pair (of an EDIT, or null), path
            (or null), hints, near_miss (what is most like a FIND that is not
            there: score, line, end_line, diff, only_spaces; or null). null
            without --root, and when the text is no plan

--sarif prints SARIF 2.1.0 for code scanning. Its rules are the kinds of --json:
plan/KIND for errors, files/KIND for findings. Run it in the root of the
repository: paths are relative to where it runs.

Examples:
  planwright check plan.md
  planwright check plans/*.md --root .
  git show HEAD:plan.md | planwright check -
  planwright check plan.md --json
  planwright check plans/*.md --root . --sarif > plans.sarif
  planwright check broken.md --fix | git apply";

/// Check action plans: their structure, and with --root whether they would work
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Check {
    /// Files to read; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Folder of the project that the plans are for
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print SARIF for code scanning
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
    /// Propose longer fences as a unified diff
    #[arg(long, conflicts_with_all = ["json", "sarif"])]
    fix: bool,
}

impl Check {
    pub(super) fn run(self) -> Result<(), Failure> {
        let checked = self.checked()?;
        if self.json {
            print(&document(&json::document(&checked)))?;
        } else if self.sarif {
            let here = std::env::current_dir().map_err(|error| {
                Failure::failed(format!("the working directory is unknown: {error}"))
            })?;
            print(&document(&sarif::log(&checked, &here)))?;
        } else if self.fix {
            let report = people::report(&checked, true, Colours::of(&std::io::stderr()));
            eprint!("{report}");
            print(&fix::diffs(&checked, &stdout()))?;
        } else {
            print(&people::report(&checked, false, Colours::of(&stdout())))?;
        }
        let bad: Vec<&Checked> = checked.iter().filter(|one| !one.is_good()).collect();
        match bad.as_slice() {
            [] => Ok(()),
            [only] if checked.len() == 1 => Err(Failure::failed(format!(
                "{}: the plan is refused",
                only.name
            ))),
            bad => Err(Failure::failed(format!(
                "{} of {} plans {} refused",
                bad.len(),
                checked.len(),
                if bad.len() == 1 { "is" } else { "are" }
            ))),
        }
    }

    /// Reads all files before printing, so that an unreadable file leaves no partial output.
    fn checked(&self) -> Result<Vec<Checked>, Failure> {
        let from_input = |file: &&PathBuf| file.as_os_str() == "-";
        if self.files.iter().filter(from_input).count() > 1 {
            return Err(Failure::Usage(
                "standard input can be read once; give `-` only once".to_owned(),
            ));
        }
        let root = self.root.as_deref().map(|root| {
            input::Root::open(root).map_err(|error| {
                Failure::Usage(format!(
                    "cannot use --root {}: {error}; give the folder of a working copy",
                    root.display()
                ))
            })
        });
        let root = root.transpose()?;
        let checked = self.files.iter().map(|file| {
            let text = match &root {
                Some(root) => input::text_below(root, file)?,
                None => input::text(file)?,
            };
            Ok(Checked::new(
                file,
                text,
                root.as_ref().map(|root| &root.copy),
            ))
        });
        checked.collect()
    }
}

fn document(value: &serde_json::Value) -> String {
    format!("{}\n", terminal::json(&format!("{value:#}")))
}
