//! Applies the actions one after another, each to the files as the actions before it leave them.

use super::find::{self, Matches};
use super::finding::{Finding, FindingKind};
use super::overlay::{Overlay, normalize_line_breaks};
use super::{PathState, ProjectFiles, diff, near, resource_paths};
use crate::action_plan::{
    Action, ActionPlan, Create, Edit, Execute, ProjectPath, Replacement, Span, Step,
};
use crate::text::code_span;

/// The hint when two texts look the same.
const ONLY_SPACES: &str =
    "Only white space differs: indentation, tabs, blanks at the end of a line, or line breaks.";

/// Problem and hint when [`find::MAX_SEARCHED_BYTES`] is used up.
pub(super) const TOO_MUCH: (&str, &str) = (
    "there are too many pairs for files of this size; the remaining pairs were not checked.",
    "Split the plan into several.",
);

/// Applies all actions. Returns the findings, and the files afterwards.
pub(super) fn walk<'a>(
    plan: &'a ActionPlan,
    files: &'a dyn ProjectFiles,
) -> (Vec<Finding>, Overlay<'a>) {
    let mut walk = Walk {
        plan,
        state: Overlay::new(files),
        findings: Vec::new(),
        first_command: None,
        searches_left: near::MAX_SEARCHES,
        bytes_left: find::MAX_SEARCHED_BYTES,
    };
    for step in &plan.actions {
        match &step.action {
            Action::Create(it) => walk.create(step, it),
            Action::Edit(it) => walk.edit(step, it),
            Action::Execute(it) => walk.execute(step, it),
            other => resource_paths(other).for_each(|path| walk.read(step, path)),
        }
    }
    (walk.findings, walk.state)
}

struct Walk<'a> {
    plan: &'a ActionPlan,
    state: Overlay<'a>,
    findings: Vec<Finding>,
    /// Number of the first `EXECUTE` so far. Its command may have changed any file.
    first_command: Option<usize>,
    /// Number of near misses that may still be searched for.
    searches_left: usize,
    /// Number of bytes that may still be searched; 0 also once that has been reported.
    bytes_left: u64,
}

impl Walk<'_> {
    fn create(&mut self, step: &Step, it: &Create) {
        let name = code_span(it.path.as_str());
        let by = match self.state.creator(&it.path) {
            Some(number) => format!(": action {number} creates it"),
            None => String::new(),
        };
        let (kind, problem, hint) = match self.state.get(&it.path) {
            PathState::File(_) | PathState::Binary | PathState::TooLarge => (
                FindingKind::TargetExists,
                format!("{name} already exists{by}."),
                match by.as_str() {
                    "" => "Change it with `EDIT`, or name a file that does not exist.",
                    _ => "Create it once, with its whole content.",
                },
            ),
            PathState::Folder => (
                FindingKind::TargetExists,
                format!("{name} is a folder{by}."),
                "Name a file that does not exist.",
            ),
            PathState::Unreadable(reason) => (
                FindingKind::Unreadable,
                unreadable(&name, reason),
                "Name a file that does not exist, or make sure that this one can be read.",
            ),
            PathState::Missing => {
                let mut folders = it.path.ancestors();
                let Some(file) = folders.find(|folder| self.state.get(folder).is_file()) else {
                    self.state.create(&it.path, &it.content, step.number);
                    return;
                };
                let by = match self.state.creator(&file) {
                    Some(number) => format!(" that action {number} creates"),
                    None => String::new(),
                };
                let file = code_span(file.as_str());
                (
                    FindingKind::ParentIsFile,
                    format!("{name} cannot be created, because {file} is a file{by}."),
                    "Name a file in a folder.",
                )
            }
        };
        self.state.refuse(&it.path, step.number);
        self.report(step, &it.path, kind, problem, hint);
    }

    fn read(&mut self, step: &Step, path: &ProjectPath) {
        let name = code_span(path.as_str());
        match self.state.get(path) {
            PathState::Missing => {
                let problem = format!("{name} does not exist.");
                let hint = "Name a file or a folder of the project.";
                self.report_missing(step, path, problem, hint);
            }
            PathState::Unreadable(reason) => {
                let problem = unreadable(&name, reason);
                let hint = "Name something else, or make sure that this can be read.";
                self.report(step, path, FindingKind::Unreadable, problem, hint);
            }
            _ => {}
        }
    }

    fn execute(&mut self, step: &Step, it: &Execute) {
        if it.command.trim().is_empty() {
            let finding = Finding::new(
                step,
                FindingKind::EmptyCommand,
                "there is no command.",
                "Write the command into the code block, or leave the action out.",
            );
            self.findings.push(Finding {
                span: it.command_span,
                ..finding
            });
        }
        if let Some(cwd) = &it.cwd {
            let name = code_span(cwd.as_str());
            let hint = "Name a folder of the project, or leave `cwd` out to run it in the root.";
            let state = self.state.get(cwd);
            if state == PathState::Missing {
                let problem = format!("the folder {name} does not exist.");
                self.report_missing(step, cwd, problem, hint);
            } else if state.is_file() {
                let problem = format!("{name} is a file, and a command runs in a folder.");
                self.report(step, cwd, FindingKind::NotAFolder, problem, hint);
            }
        }
        self.first_command.get_or_insert(step.number);
    }

    fn edit(&mut self, step: &Step, it: &Edit) {
        let name = code_span(it.path.as_str());
        let (kind, problem, hint) = match self.state.get(&it.path) {
            PathState::File(_) => {
                for (index, pair) in it.edits.iter().enumerate() {
                    self.pair(step, it, index + 1, pair);
                }
                return;
            }
            PathState::Missing => {
                let hint = "Name a file of the project, or create it with `CREATE` first.";
                let problem = format!("{name} does not exist.");
                return self.report_missing(step, &it.path, problem, hint);
            }
            PathState::Folder => (
                FindingKind::IsFolder,
                format!("{name} is a folder."),
                "Name a file.",
            ),
            PathState::Binary => (
                FindingKind::NotText,
                format!("{name} is not UTF-8 text, so nothing can be found in it."),
                "Change it with a command (`EXECUTE`).",
            ),
            PathState::TooLarge => (
                FindingKind::TooLarge,
                format!("{name} is too large to check."),
                "Change it with a command (`EXECUTE`).",
            ),
            PathState::Unreadable(reason) => (
                FindingKind::Unreadable,
                unreadable(&name, reason),
                "Name another file, or make sure that this one can be read.",
            ),
        };
        self.report(step, &it.path, kind, problem, hint);
    }

    fn pair(&mut self, step: &Step, it: &Edit, number: usize, pair: &Replacement) {
        let find = normalize_line_breaks(&pair.find);
        let replace = normalize_line_breaks(&pair.replace);
        let finding = |kind, span: Span, problem: &str, hint: &str| Finding {
            pair: Some(number),
            span,
            ..Finding::new(step, kind, problem, hint).at(&it.path)
        };
        if find.is_empty() {
            return self.findings.push(finding(
                FindingKind::EmptyFind,
                pair.find_span,
                "`FIND` is empty.",
                "Put the lines to be replaced into `FIND`; for a new file use `CREATE`.",
            ));
        }
        if find == replace {
            return self.findings.push(finding(
                FindingKind::SameReplace,
                pair.replace_span,
                "`REPLACE` is the same as `FIND`, so nothing would change.",
                "Omit the pair, or write the new text into `REPLACE`.",
            ));
        }
        let Some(text) = self
            .state
            .text_mut(&it.path)
            .filter(|_| self.bytes_left > 0)
        else {
            return;
        };
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.bytes_left = self.bytes_left.saturating_sub(bytes.max(1));
        if self.bytes_left == 0 {
            let (problem, hint) = TOO_MUCH;
            let kind = FindingKind::TooMuchToSearch;
            return self
                .findings
                .push(finding(kind, pair.find_span, problem, hint));
        }
        let name = code_span(it.path.as_str());
        let mut finding = match find::matches(text, &find) {
            Matches::One(at) => {
                text.replace_range(at..at + find.len(), &replace);
                return;
            }
            Matches::Many { count, lines, more } => finding(
                FindingKind::FindAmbiguous,
                pair.find_span,
                &format!(
                    "`FIND` occurs {count} times in {name}, {}.",
                    in_lines(&lines, more)
                ),
                "Add surrounding lines to `FIND`, and the same to `REPLACE`, until it occurs once.",
            ),
            Matches::None => {
                let mut finding = finding(
                    FindingKind::FindMissing,
                    pair.find_span,
                    &format!("`FIND` is not in {name}."),
                    "Copy the lines to be replaced from the file exactly, white space included.",
                );
                if !replace.is_empty()
                    && let Some(line) = find::first_line(text, &replace)
                {
                    finding.hints.push(format!(
                        "The file already contains `REPLACE`, in line {line}; if the change was already made, omit the pair."
                    ));
                }
                if self.searches_left > 0 {
                    self.searches_left -= 1;
                    finding.near_miss = near::search(text, &find);
                }
                if finding
                    .near_miss
                    .as_ref()
                    .is_some_and(|near| near.only_spaces)
                {
                    finding.hints.push(ONLY_SPACES.to_owned());
                }
                finding
            }
        };
        finding.find = Some(diff::excerpt(&find));
        finding.hints.extend(self.uncertainties(step, &it.path));
        self.state.refuse(&it.path, step.number);
        self.findings.push(finding);
    }

    fn report(
        &mut self,
        step: &Step,
        path: &ProjectPath,
        kind: FindingKind,
        problem: String,
        hint: &str,
    ) {
        self.findings
            .push(Finding::new(step, kind, problem, hint).at(path));
    }

    fn report_missing(&mut self, step: &Step, path: &ProjectPath, problem: String, hint: &str) {
        let mut finding = Finding::new(step, FindingKind::Missing, problem, hint).at(path);
        let later = self.plan.actions.iter().find(|other| {
            other.number > step.number
                && matches!(&other.action, Action::Create(it) if it.path == *path)
        });
        finding.hints.extend(later.map(|later| {
            let number = later.number;
            format!("Action {number} creates it: move that action before this one.")
        }));
        finding.hints.extend(self.uncertainties(step, path));
        self.findings.push(finding);
    }

    /// Returns why `path` may not be in the state that the author of the plan expects.
    fn uncertainties(&self, step: &Step, path: &ProjectPath) -> Vec<String> {
        let refused = self.state.refused(path).map(|number| {
            if number == step.number {
                "An earlier pair of this action is wrong, so its change was not applied.".to_owned()
            } else {
                format!("Action {number} is wrong, so its change to this file was not applied.")
            }
        });
        let command = self.first_command.map(|number| {
            format!(
                "The effect of the command of action {number} is unknown; if this depends on it, \
                 move it to a later plan."
            )
        });
        refused.into_iter().chain(command).collect()
    }
}

fn unreadable(name: &str, reason: &str) -> String {
    format!(
        "{name} cannot be read ({}).",
        code_span(&diff::shown(reason))
    )
}

/// Renders `in line 1`, `in lines 1, 2 and 3`, or `in lines 1, 2, 3 and more`.
fn in_lines(lines: &[usize], more: bool) -> String {
    let mut numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
    if more {
        numbers.push("more".to_owned());
    }
    match numbers.split_last() {
        None => String::new(),
        Some((only, [])) => format!("in line {only}"),
        Some((last, rest)) => format!("in lines {} and {last}", rest.join(", ")),
    }
}
