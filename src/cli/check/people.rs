//! Formats the results of `planwright check` as text.

use clap::builder::styling::{AnsiColor, Style};

use super::verdict::{Checked, Verdict};
use crate::cli::terminal::{self, Colours};
use crate::formats::action_plan::check::Finding;
use crate::formats::action_plan::{ActionPlan, MAX_ERRORS_SHOWN, Rejected, parse};

/// Maximum length of a target in the table, in characters.
const TARGET: usize = 80;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const PLACE: Style = Style::new().bold();
const HINT: Style = AnsiColor::Cyan.on_default();
const HEAD: Style = Style::new().underline();

/// Returns the report on all files. `fixing` is whether the proposed fixes are printed as diffs
/// elsewhere, so that the report refers to them.
pub(super) fn report(checked: &[Checked], fixing: bool, colours: Colours) -> String {
    let report = Report { fixing, colours };
    let files: Vec<String> = checked.iter().map(|one| report.file(one)).collect();
    files.join("\n")
}

struct Report {
    fixing: bool,
    colours: Colours,
}

impl Report {
    fn file(&self, checked: &Checked) -> String {
        let name = terminal::one_line(&checked.name);
        match &checked.verdict {
            Verdict::Plan { plan, findings } => match findings.as_deref().unwrap_or_default() {
                [] => self.good(&name, plan),
                findings => self.findings(&name, plan, findings),
            },
            Verdict::Refused { rejected, mended } => {
                let errors = self.errors(&name, rejected);
                let proposal = self.proposal(&name, mended.as_deref());
                let other = if checked.is_other_plan() {
                    format!(
                        "\n{} This command checks executable plans. `planwright check-content {name}` checks whether a \
                         plan such as this one can be saved.\n",
                        self.colours.paint(HINT, "Hint:")
                    )
                } else {
                    String::new()
                };
                format!("{errors}{proposal}{other}")
            }
        }
    }

    fn good(&self, name: &str, plan: &ActionPlan) -> String {
        format!(
            "{}: {}: {}\n\n{}",
            self.colours.paint(PLACE, name),
            self.colours.paint(GOOD, "good"),
            terminal::one_line(&plan.title),
            self.table(plan)
        )
    }

    /// The targets are the last column, because their display width is unknown.
    fn table(&self, plan: &ActionPlan) -> String {
        let head = self.colours.paint(HEAD, "#  line  action          target");
        let mut table = format!("  {head}\n");
        for step in &plan.actions {
            let target = terminal::one_line(step.action.target().unwrap_or_default());
            let row = format!(
                "{:>3}  {:>4}  {:<14}  {}",
                step.number,
                step.span.start,
                step.action.name(),
                short(&target)
            );
            table.push_str(row.trim_end());
            table.push('\n');
        }
        table
    }

    fn place(&self, name: &str, line: usize) -> String {
        self.colours.paint(PLACE, &format!("{name}:{line}"))
    }

    fn errors(&self, name: &str, rejected: &Rejected) -> String {
        let mut out = String::new();
        for error in rejected.errors.iter().take(MAX_ERRORS_SHOWN) {
            let place = self.place(name, error.span.start);
            let message = terminal::one_line(&error.message());
            out.push_str(&format!("{place}: {message}\n"));
            for hint in &error.hints {
                let head = self.colours.paint(HINT, "Hint:");
                out.push_str(&format!("  {head} {}\n", terminal::one_line(hint)));
            }
        }
        out.push_str(&more(rejected.errors.len()));
        let structure = rejected.diff().structure().to_string();
        if !structure.is_empty() {
            out.push('\n');
        }
        for line in terminal::lines(&structure).lines() {
            let wrong = line.contains("  <-- MISMATCH (") || line.contains("  <-- ERROR (");
            let style = if wrong { BAD } else { Style::new() };
            out.push_str(&self.colours.paint(style, line));
            out.push('\n');
        }
        out
    }

    fn findings(&self, name: &str, plan: &ActionPlan, findings: &[Finding]) -> String {
        let head = self.colours.paint(PLACE, name);
        let verdict = self.colours.paint(BAD, "would not work on these files");
        let title = terminal::one_line(&plan.title);
        let mut out = format!("{head}: {verdict}: {title}\n");
        for finding in findings.iter().take(MAX_ERRORS_SHOWN) {
            let place = self.place(name, finding.span.start);
            let message = terminal::one_line(&finding.message());
            out.push_str(&format!("\n{place}: {message}\n"));
            for line in terminal::lines(&finding.details().to_string()).lines() {
                let gap = if line.is_empty() { "" } else { "  " };
                out.push_str(&format!("{gap}{line}\n"));
            }
        }
        out.push_str(&more(findings.len()));
        out
    }

    fn proposal(&self, name: &str, mended: Option<&str>) -> String {
        let plan = mended.and_then(|text| parse(text).ok());
        match (plan, self.fixing) {
            (Some(plan), true) => format!(
                "\n{name}: longer fences make it the valid plan below. Check in the diff what \
                 becomes content before you apply it.\n\n{}",
                self.table(&plan)
            ),
            (Some(_), false) => format!(
                "\nLonger fences would make it a valid plan; `planwright check --fix {name}` shows them.\n"
            ),
            (None, true) => {
                format!(
                    "\n{name}: no fix available: longer fences alone do not make it a valid plan.\n"
                )
            }
            (None, false) => String::new(),
        }
    }
}

/// Returns a line with the number of errors that are not shown.
fn more(all: usize) -> String {
    match all.saturating_sub(MAX_ERRORS_SHOWN) {
        0 => String::new(),
        1 => "\n... and 1 more error\n".to_owned(),
        more => format!("\n... and {more} more errors\n"),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(TARGET) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "# T\u{9b}itle\n\n- **Goal:** x\n\n## Rationale\n\n```\nx\n```\n\n## Action Plan\n\n### `EXECUTE`\n\n- **Description:** Run.\n\n```sh\necho \u{1b}[31m\n```\n";

    fn shown(text: &str, terminal: bool) -> String {
        let colours = Colours::when(terminal, "".as_ref(), "xterm".as_ref());
        let checked = Checked::new("p\u{1b}.md".as_ref(), text.to_owned(), None);
        report(&[checked], false, colours)
    }

    #[test]
    fn colours_are_ours_alone() {
        let plain = shown(PLAN, false);
        assert_eq!(
            plain,
            "p\u{fffd}.md: good: T\u{fffd}itle\n\n  #  line  action          target\n  1    13  EXECUTE         echo \u{fffd}[31m\n"
        );
        let bad = PLAN.replace("### `EXECUTE`", "\u{1b}[32m");
        for text in [PLAN, &bad] {
            let coloured = shown(text, true);
            assert_ne!(coloured, shown(text, false));
            let mut without = coloured;
            for style in [GOOD, BAD, PLACE, HINT, HEAD] {
                without = without.replace(&style.to_string(), "");
            }
            let without = without.replace("\u{1b}[0m", "");
            assert_eq!(without, shown(text, false));
        }
    }
}
