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
An action plan is a Markdown document in a strict format that programs execute:
title, list, Rationale, Action Plan, and actions such as READ, CREATE, EDIT and
EXECUTE. See docs/action-plans.md for an example. This command executes nothing
and writes no files.

Without --root, only the text is checked. With --root DIR, the actions are
simulated in memory, in order, on the files in DIR; a plan can edit files that
it creates. Nothing outside of DIR is read except FILE; symbolic links that lead
out of DIR are refused, even if FILE is one in DIR. FILE is a regular file or a
process substitution of the shell, <(…).

--fix prints a unified diff with longer fences for plans whose fences are too
short for their content; everything else goes to standard error. Fences decide
what is content and what is an action: read the diff before you apply it.

Exit codes:
  0  all plans are valid
  1  at least one plan was refused, even if a fix is proposed
  2  the arguments are wrong, or a file or DIR cannot be read; nothing was
     checked

Fields of --json (stable):
  files     one object for each FILE, in order:
  file      name as given on the command line
  ok        true if there are no errors and no findings
  title     title of the plan, or null if the text is not a plan
  actions   the parsed actions: number, span (first and last line), type, and
            the fields of the action; empty if the text is not a plan
  error     first error in the text, or null: kind, message, line, end_line,
            action (number and name, or null), expected, found, hints
  diff      comparison with the structure of a plan, or null if the text is one:
            errors (all of them), expected, actual (blocks with line and mark:
            ok, error, mismatch, not-checked)
  fix       unified diff that makes the text a valid plan, or null
  findings  problems with the files in DIR: kind, message, line, end_line,
            action (number and name), pair (of an EDIT, or null), path (or
            null), hints, near_miss (closest match for a FIND that does not
            occur: score, line, end_line, diff, only_spaces; or null). null
            without --root, and if the text is not a plan

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

/// Check the structure of action plans and, with --root, whether they would work
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Check {
    /// Files to read; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Project folder to check the plans against
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
                "standard input can be read only once; give `-` only once".to_owned(),
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
