//! Finds the plan.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::logs::{Kind, Log, Read, entries, logs};
use super::plan_files::PlanFile;
use super::sessions::{Group, groups};
use super::{ClaudeHome, FindError, Listed, Project};
use crate::formats::session::paths::is_safe_name;
use crate::formats::session::{PlanSource, SessionPlan};

/// Whose plan is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Of the session with this id, or the only one whose id begins so; an agent's where it begins
    /// with `agent-`.
    Session(String),
    /// Of the only session that has one.
    Only,
    /// The newest of the project; without any, the newest plan file.
    Newest,
}

/// A plan, and where it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The text, byte for byte.
    pub text: String,
    /// What kind of place it was in.
    pub source: Source,
    /// The session; `None` for [`Source::NewestPlanFile`], which is of nobody knows which.
    pub session: Option<String>,
    /// The folder the session was begun in; `None` where its log does not tell.
    pub cwd: Option<PathBuf>,
    /// Where the session is of another project than was asked for: the folder it was begun in, or else its session folder.
    pub other_project: Option<PathBuf>,
    /// The log or the plan file.
    pub file: PathBuf,
    /// Line in the log, from 1.
    pub line: Option<u64>,
    /// Timestamp of the entry, or when the plan file was changed.
    pub timestamp: Option<String>,
    /// What the person said when asked, where the log tells.
    pub approved: Option<bool>,
    /// Edits in the log that could not be applied; see [`SessionPlan::stale_edits`].
    pub stale_edits: u32,
    /// Lines of the session's logs that could not be read.
    pub skipped: u64,
}

/// Kinds of places where plans are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The plan file the session named.
    PlanFile,
    /// A call of `ExitPlanMode` in a log.
    ExitPlanMode,
    /// The answer to such a call.
    ApprovedPlan,
    /// Writes to the plan file, in a log; the file itself is gone.
    WrittenPlanFile,
    /// The newest of all plan files.
    NewestPlanFile,
}

impl Source {
    /// Name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::PlanFile => "plan_file",
            Self::ExitPlanMode => "exit_plan_mode",
            Self::ApprovedPlan => "approved_plan",
            Self::WrittenPlanFile => "written_plan_file",
            Self::NewestPlanFile => "newest_plan_file",
        }
    }
}

impl Found {
    pub(super) fn file(file: PlanFile, source: Source) -> Self {
        Self {
            text: file.text,
            source,
            session: None,
            cwd: None,
            other_project: None,
            file: file.path,
            line: None,
            timestamp: file.changed,
            approved: None,
            stale_edits: 0,
            skipped: 0,
        }
    }

    pub(super) fn entry(plan: &SessionPlan, log: &Path, group: &Group) -> Self {
        Self {
            text: plan.text.clone(),
            source: match plan.source {
                PlanSource::ExitPlanMode => Source::ExitPlanMode,
                PlanSource::ApprovedPlan => Source::ApprovedPlan,
                PlanSource::PlanFile { .. } => Source::WrittenPlanFile,
            },
            session: Some(group.id.clone()),
            cwd: group.cwd().map(Path::to_owned),
            other_project: None,
            file: log.to_owned(),
            line: Some(plan.line),
            timestamp: plan.timestamp.clone(),
            approved: plan.approved,
            stale_edits: plan.stale_edits,
            skipped: group.skipped(),
        }
    }
}

impl ClaudeHome {
    /// The plan for work in `directory`. Which one: see [the module](super).
    pub fn find(&self, directory: &Path, choice: &Choice) -> Result<Found, FindError> {
        match choice {
            Choice::Session(id) => self.of_session(directory, id),
            Choice::Only => self.only(directory),
            Choice::Newest => self.newest(directory),
        }
    }

    fn of_session(&self, directory: &Path, id: &str) -> Result<Found, FindError> {
        if !is_safe_name(id) {
            return Err(FindError::InvalidId { id: id.to_owned() });
        }
        let project = self.project_if_any(directory)?;
        let whole = self.completed(project.as_ref(), id)?;
        let id = whole.as_deref().unwrap_or(id);
        let mut folders = project
            .as_ref()
            .map_or_else(Vec::new, |project| project.folders().to_vec());
        let file = format!("{id}.jsonl");
        if !folders.iter().any(|folder| folder.join(&file).is_file()) {
            let others = entries(&self.projects())?.into_iter();
            folders.extend(others.filter(|folder| folder.join(&file).is_file()));
        }
        let mut all = Vec::new();
        for folder in &folders {
            all.extend(logs(folder)?);
        }
        let plan_of = |group: &Group| -> Result<Option<Found>, FindError> {
            let plan = group.plan(self)?;
            Ok(plan.map(|plan| Found {
                other_project: group.elsewhere(project.as_ref()),
                ..plan
            }))
        };
        let mut group = own_logs(&all, id)?;
        if let Some(plan) = plan_of(&group)? {
            return Ok(plan);
        }
        group.agents = agent_logs(&all, id)?;
        if group.all().next().is_none() {
            if folders.is_empty() {
                folders.push(self.projects());
            }
            return Err(FindError::NoSession {
                id: id.to_owned(),
                project: folders,
            });
        }
        plan_of(&group)?.ok_or_else(|| FindError::NoPlanInSession {
            logs: group.all().map(|log| log.path.clone()).collect(),
            lines: group.all().map(|log| log.scanned.lines).sum(),
            skipped: group.skipped(),
            id: group.id,
        })
    }

    /// The log of the session with this id, or the only one whose id begins so.
    pub fn log_of(&self, directory: &Path, id: &str) -> Result<PathBuf, FindError> {
        if !is_safe_name(id) {
            return Err(FindError::InvalidId { id: id.to_owned() });
        }
        let project = self.project_if_any(directory)?;
        let whole = self.completed(project.as_ref(), id)?;
        let file = format!("{}.jsonl", whole.as_deref().unwrap_or(id));
        let mut folders = project.map_or_else(Vec::new, |project| project.folders().to_vec());
        folders.extend(entries(&self.projects())?);
        let mut found = folders.iter().map(|folder| folder.join(&file));
        found
            .find(|path| path.is_file())
            .ok_or_else(|| FindError::NoSession {
                id: id.to_owned(),
                project: vec![self.projects()],
            })
    }

    /// The id that begins with `start`, where no log is called `start` itself: of the project's
    /// sessions, else of all.
    fn completed(
        &self,
        project: Option<&Project>,
        start: &str,
    ) -> Result<Option<String>, FindError> {
        let of_project = project.map_or(&[][..], Project::folders).to_vec();
        for folders in [of_project, entries(&self.projects())?] {
            let mut ids = BTreeSet::new();
            for folder in &folders {
                for path in entries(folder)? {
                    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
                    let is_log = path.extension().is_some_and(|kind| kind == "jsonl");
                    if let Some(stem) = stem.filter(|stem| is_log && stem.starts_with(start)) {
                        ids.insert(stem.into_owned());
                    }
                }
            }
            match ids.len() {
                0 => {}
                _ if ids.contains(start) => return Ok(None),
                1 => return Ok(ids.pop_first()),
                _ => {
                    return Err(FindError::Ambiguous {
                        start: start.to_owned(),
                        ids: ids.into_iter().collect(),
                    });
                }
            }
        }
        Ok(None)
    }

    fn project_if_any(&self, directory: &Path) -> Result<Option<Project>, FindError> {
        match self.project(directory) {
            Err(FindError::NoProject { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    fn only(&self, directory: &Path) -> Result<Found, FindError> {
        let project = self.project(directory)?;
        let mut sessions = self.sessions(&project)?;
        let all = sessions.len();
        sessions.retain(|session| session.plan.is_some());
        let listed: Vec<_> = sessions.iter().map(Listed::from).collect();
        // A session that was resumed begins with a copy of the log before it: the plan stays that of the one before.
        sessions.sort_by(|a, b| a.age().cmp(&b.age()));
        let mut plans = sessions.into_iter().filter_map(|session| session.plan);
        let Some(first) = plans.next() else {
            return Err(FindError::NoPlanInProject {
                sessions: all,
                project: project.folders().to_vec(),
            });
        };
        if plans.all(|plan| plan.text == first.text) {
            Ok(first)
        } else {
            Err(FindError::Several(listed))
        }
    }

    fn newest(&self, directory: &Path) -> Result<Found, FindError> {
        let mut newest: Option<Found> = None;
        let project = self.project_if_any(directory)?;
        let groups = project.as_ref().map_or(Ok(Vec::new()), groups)?;
        for group in groups {
            for plan in [group.plan(self)?, group.latest(&group.agents)]
                .into_iter()
                .flatten()
            {
                if newest
                    .as_ref()
                    .is_none_or(|newest| plan.timestamp > newest.timestamp)
                {
                    newest = Some(plan);
                }
            }
        }
        if let Some(plan) = newest {
            return Ok(plan);
        }
        let file = self.newest_plan_file()?;
        let nothing = || FindError::NoPlanAtAll {
            directory: directory.to_owned(),
            plans: self.plans(),
        };
        file.map(|file| Found::file(file, Source::NewestPlanFile))
            .ok_or_else(nothing)
    }
}

/// The logs of a session: those that bear its id; without any, those of other sessions whose entries do.
///
/// A log that bears the id counts as a whole: of a resumed session it may begin with entries of the one before.
fn own_logs(all: &[Log], id: &str) -> Result<Group, FindError> {
    let mut group = Group {
        id: id.to_owned(),
        ..Group::default()
    };
    for log in all.iter().filter(|log| log.name == id) {
        group.own.push(Read::new(&log.path, None)?);
    }
    if group.own.is_empty() {
        for log in all.iter().filter(|log| log.kind == Kind::Session) {
            group.own.extend(read_if_of(log, id)?);
        }
    }
    Ok(group)
}

/// The logs of a session's agents.
fn agent_logs(all: &[Log], id: &str) -> Result<Vec<Read>, FindError> {
    let mut found = Vec::new();
    for log in all.iter().filter(|log| log.name != id) {
        match &log.kind {
            Kind::AgentOf(session) if session == id => found.push(Read::new(&log.path, None)?),
            Kind::Agent => found.extend(read_if_of(log, id)?),
            _ => {}
        }
    }
    Ok(found)
}

/// The entries of a session in a log, where it has any that name it.
fn read_if_of(log: &Log, id: &str) -> Result<Option<Read>, FindError> {
    let read = Read::new(&log.path, Some(id))?;
    let names_it = read.scanned.sessions.iter().any(|session| session == id);
    Ok(names_it.then_some(read))
}
