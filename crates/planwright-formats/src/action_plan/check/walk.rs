//! The actions, one after another, each on what those before it leave.

use super::find::{self, Matches};
use super::finding::{Finding, FindingKind};
use super::overlay::{Overlay, unix};
use super::{Files, Found, diff, local, near};
use crate::action_plan::render::code_span;
use crate::action_plan::{
    Action, ActionPlan, Create, Edit, Execute, ProjectPath, Replacement, Span, Step,
};

/// What to look for when two texts look the same.
const ONLY_SPACES: &str =
    "Only white space differs: indentation, tabs, blanks at the end of a line, or line breaks.";

/// When [`find::MOST_SEARCHED`] is used up: the problem and what to do.
pub(super) const TOO_MUCH: (&str, &str) = (
    "there are too many pairs for files of this size; the pairs from here on were not looked for.",
    "Split the plan into several.",
);

/// Goes through all actions; gives what is wrong, and the files as they are afterwards.
pub(super) fn walk<'a>(plan: &'a ActionPlan, files: &'a dyn Files) -> (Vec<Finding>, Overlay<'a>) {
    let mut walk = Walk {
        plan,
        state: Overlay::new(files),
        findings: Vec::new(),
        command: None,
        searches: near::SEARCHES,
        left: find::MOST_SEARCHED,
    };
    for step in &plan.actions {
        match &step.action {
            Action::Create(it) => walk.create(step, it),
            Action::Edit(it) => walk.edit(step, it),
            Action::Execute(it) => walk.execute(step, it),
            other => local(other).for_each(|path| walk.read(step, path)),
        }
    }
    (walk.findings, walk.state)
}

struct Walk<'a> {
    plan: &'a ActionPlan,
    state: Overlay<'a>,
    findings: Vec<Finding>,
    /// The first command so far: from there on files may differ from what is known.
    command: Option<usize>,
    /// How many more near misses may be searched for.
    searches: usize,
    /// How many more bytes may be looked through; 0 also when that was told.
    left: u64,
}

impl Walk<'_> {
    fn create(&mut self, step: &Step, it: &Create) {
        let name = code_span(it.path.as_str());
        let by = by(self.state.creator(&it.path), "creates it");
        let (kind, problem, hint) = match self.state.look(&it.path) {
            Found::File(_) | Found::Binary | Found::TooLarge => (
                FindingKind::TargetExists,
                format!("{name} exists already{by}."),
                match by.as_str() {
                    "" => "Change it with `EDIT`, or name a file that does not exist.",
                    _ => "Create it once, with its whole content.",
                },
            ),
            Found::Folder => (
                FindingKind::TargetExists,
                format!("{name} is a folder{by}."),
                "Name a file that does not exist.",
            ),
            Found::Unreadable(reason) => (
                FindingKind::Unreadable,
                unreadable(&name, reason),
                "Name a file that does not exist, or see to it that this one can be read.",
            ),
            Found::Missing => {
                let Some(file) = self.file_above(&it.path) else {
                    self.state.create(&it.path, &it.content, step.number);
                    return;
                };
                let by = by_creator(&self.state, &file);
                (
                    FindingKind::ParentIsFile,
                    format!(
                        "{name} cannot be created, because {} is a file{by}.",
                        code_span(file.as_str())
                    ),
                    "Name a file in a folder.",
                )
            }
        };
        self.state.refuse(&it.path, step.number);
        self.findings
            .push(Finding::new(step, kind, problem, hint).at(&it.path));
    }

    /// The nearest of the folders of `path` that is a file.
    fn file_above(&self, path: &ProjectPath) -> Option<ProjectPath> {
        path.ancestors().find(|folder| {
            let found = self.state.look(folder);
            matches!(found, Found::File(_) | Found::Binary | Found::TooLarge)
        })
    }

    fn read(&mut self, step: &Step, path: &ProjectPath) {
        let name = code_span(path.as_str());
        let finding = match self.state.look(path) {
            Found::Missing => {
                let hint = "Name a file or a folder of the project.";
                self.missing(step, path, format!("{name} does not exist."), hint)
            }
            Found::Unreadable(reason) => Finding::new(
                step,
                FindingKind::Unreadable,
                unreadable(&name, reason),
                "Name something else, or see to it that this can be read.",
            )
            .at(path),
            Found::File(_) | Found::Binary | Found::TooLarge | Found::Folder => return,
        };
        self.findings.push(finding);
    }

    fn execute(&mut self, step: &Step, it: &Execute) {
        if it.command.trim().is_empty() {
            let mut finding = Finding::new(
                step,
                FindingKind::EmptyCommand,
                "there is no command.".to_owned(),
                "Write the command into the code block, or leave the action out.",
            );
            finding.span = it.command_span;
            self.findings.push(finding);
        }
        if let Some(cwd) = &it.cwd {
            let name = code_span(cwd.as_str());
            let hint = "Name a folder of the project, or leave `cwd` out to run it in the root.";
            match self.state.look(cwd) {
                Found::Missing => {
                    let problem = format!("the folder {name} does not exist.");
                    let finding = self.missing(step, cwd, problem, hint);
                    self.findings.push(finding);
                }
                Found::File(_) | Found::Binary | Found::TooLarge => {
                    let problem = format!("{name} is a file, and a command runs in a folder.");
                    let finding = Finding::new(step, FindingKind::NotAFolder, problem, hint);
                    self.findings.push(finding.at(cwd));
                }
                Found::Folder | Found::Unreadable(_) => {}
            }
        }
        self.command.get_or_insert(step.number);
    }

    fn edit(&mut self, step: &Step, it: &Edit) {
        let name = code_span(it.path.as_str());
        let (kind, problem, hint) = match self.state.look(&it.path) {
            Found::File(_) => {
                for (index, pair) in it.edits.iter().enumerate() {
                    self.pair(step, it, index + 1, pair);
                }
                return;
            }
            Found::Missing => {
                let hint = "Name a file of the project, or create it with `CREATE` first.";
                let problem = format!("{name} does not exist.");
                let finding = self.missing(step, &it.path, problem, hint);
                self.findings.push(finding);
                return;
            }
            Found::Folder => (
                FindingKind::IsFolder,
                format!("{name} is a folder."),
                "Name a file.",
            ),
            Found::Binary => (
                FindingKind::NotText,
                format!("{name} is not UTF-8 text, so nothing can be found in it."),
                "Change it with a command (`EXECUTE`).",
            ),
            Found::TooLarge => (
                FindingKind::TooLarge,
                format!("{name} is too large to be looked into."),
                "Change it with a command (`EXECUTE`).",
            ),
            Found::Unreadable(reason) => (
                FindingKind::Unreadable,
                unreadable(&name, reason),
                "Name another file, or see to it that this one can be read.",
            ),
        };
        self.findings
            .push(Finding::new(step, kind, problem, hint).at(&it.path));
    }

    fn pair(&mut self, step: &Step, it: &Edit, number: usize, pair: &Replacement) {
        let (find, replace) = (unix(&pair.find), unix(&pair.replace));
        let about = |kind, span: Span, problem: &str, hint: &str| {
            let mut finding = Finding::new(step, kind, problem.to_owned(), hint).at(&it.path);
            finding.pair = Some(number);
            finding.span = span;
            finding
        };
        if find.is_empty() {
            self.findings.push(about(
                FindingKind::EmptyFind,
                pair.find_span,
                "`FIND` is empty, so it names no place in the file.",
                "Put the lines to be replaced into `FIND`; for a new file use `CREATE`.",
            ));
            return;
        }
        if find == replace {
            self.findings.push(about(
                FindingKind::SameReplace,
                pair.replace_span,
                "`REPLACE` is the same as `FIND`, so nothing would change.",
                "Leave the pair out, or write into `REPLACE` what is to be there.",
            ));
            return;
        }
        let Some(text) = self.state.text(&it.path) else {
            return;
        };
        if self.left == 0 {
            return;
        }
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.left = self.left.saturating_sub(bytes.max(1));
        if self.left == 0 {
            self.findings.push(about(
                FindingKind::TooMuchToSearch,
                pair.find_span,
                TOO_MUCH.0,
                TOO_MUCH.1,
            ));
            return;
        }
        let name = code_span(it.path.as_str());
        let mut finding = match find::matches(text, &find) {
            Matches::One(at) => {
                text.replace_range(at..at + find.len(), &replace);
                return;
            }
            Matches::Many { count, lines, more } => about(
                FindingKind::FindAmbiguous,
                pair.find_span,
                &format!(
                    "`FIND` occurs {count} times in {name}, {}.",
                    in_lines(&lines, more)
                ),
                "Add lines from around the right place to `FIND`, and the same to `REPLACE`, until it is there once.",
            ),
            Matches::None => {
                let mut finding = about(
                    FindingKind::FindMissing,
                    pair.find_span,
                    &format!("`FIND` is not in {name}."),
                    "Copy the lines to be replaced from the file exactly, white space included.",
                );
                let there = match replace.as_ref() {
                    "" => None,
                    some => find::first(text, some),
                };
                if let Some(at) = there {
                    finding.hints.push(format!(
                        "`REPLACE` is there already, in line {}; if the change was made before, leave the pair out.",
                        find::line_of(text, at)
                    ));
                }
                if self.searches > 0 {
                    self.searches -= 1;
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
        finding.hints.extend(self.doubts(step, &it.path));
        self.state.refuse(&it.path, step.number);
        self.findings.push(finding);
    }

    fn missing(&self, step: &Step, path: &ProjectPath, problem: String, hint: &str) -> Finding {
        let mut finding = Finding::new(step, FindingKind::Missing, problem, hint).at(path);
        let later = self.plan.actions.iter().find(|other| {
            other.number > step.number
                && matches!(&other.action, Action::Create(it) if it.path == *path)
        });
        if let Some(later) = later {
            finding.hints.push(format!(
                "Action {} creates it: put that one before this one.",
                later.number
            ));
        }
        finding.hints.extend(self.doubts(step, path));
        finding
    }

    /// Why `path` may be otherwise than the author of the plan expects.
    fn doubts(&self, step: &Step, path: &ProjectPath) -> Vec<String> {
        let mut doubts = Vec::new();
        match self.state.refused(path) {
            Some(number) if number == step.number => doubts.push(
                "An earlier pair of this action is wrong, so its change is not there.".to_owned(),
            ),
            Some(number) => doubts.push(format!(
                "Action {number} is wrong, so its change of this file is not there."
            )),
            None => {}
        }
        if let Some(number) = self.command {
            doubts.push(format!(
                "What the command of action {number} changes cannot be foreseen; if this depends on it, put it into a \
                 later plan."
            ));
        }
        doubts
    }
}

/// `: action N VERB`, or nothing.
fn by(action: Option<usize>, verb: &str) -> String {
    match action {
        Some(number) => format!(": action {number} {verb}"),
        None => String::new(),
    }
}

fn by_creator(state: &Overlay<'_>, path: &ProjectPath) -> String {
    match state.creator(path) {
        Some(number) => format!(" that action {number} creates"),
        None => String::new(),
    }
}

fn unreadable(name: &str, reason: &str) -> String {
    format!(
        "{name} cannot be read ({}).",
        code_span(&diff::shown(reason))
    )
}

/// `in line 1`, `in lines 1, 2 and 3`, `in lines 1, 2, 3 and more`.
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
