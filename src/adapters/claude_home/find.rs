//! Finds the plan of a session or a project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::{LogFile, LogOwner, PlanFile, ScannedLog, entries, logs};
use super::sessions::{SessionLogs, session_logs};
use super::{ClaudeHome, FindError, ListedSession, Project};
use crate::formats::session::paths::is_safe_name;
use crate::formats::session::{PlanSource, SessionPlan};

/// Which plan to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChoice {
    /// The plan of the session with this id or unambiguous start of an id. An id that starts with
    /// `agent-` is an agent's.
    Session(String),
    /// The plan of the only session of the project that has one.
    Only,
    /// The newest plan of the project. Without any, the newest plan file.
    Newest,
}

/// A plan, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPlan {
    /// The text, byte for byte.
    pub text: String,
    /// The kind of place where it was found.
    pub location: PlanLocation,
    /// The session. `None` for [`PlanLocation::NewestPlanFile`], whose session is not known.
    pub session: Option<String>,
    /// The directory in which the session was started, if its log names it.
    pub cwd: Option<PathBuf>,
    /// For a session of another project than the one asked for: the directory in which it was
    /// started, or else its session folder.
    pub other_project: Option<PathBuf>,
    /// The log or the plan file.
    pub file: PathBuf,
    /// Line in the log, from 1.
    pub line: Option<u64>,
    /// Timestamp of the log entry, or time of the last change of the plan file.
    pub timestamp: Option<String>,
    /// Whether the user approved the plan, if the log says so.
    pub approved: Option<bool>,
    /// Number of edits in the log that could not be applied, see [`SessionPlan::stale_edits`].
    pub stale_edits: u32,
    /// Number of lines of the session's logs that could not be read.
    pub skipped: u64,
}

/// Kinds of places where plans are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanLocation {
    /// The plan file that the session names.
    PlanFile,
    /// A call of `ExitPlanMode` in a log.
    ExitPlanMode,
    /// The result of such a call.
    ApprovedPlan,
    /// Writes in a log to a plan file that no longer exists.
    WrittenPlanFile,
    /// The newest of all plan files.
    NewestPlanFile,
}

impl PlanLocation {
    /// Returns the name used in machine-readable output.
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

impl FoundPlan {
    pub(super) fn from_file(file: PlanFile, location: PlanLocation) -> Self {
        Self {
            text: file.text,
            location,
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

    pub(super) fn from_log(plan: &SessionPlan, log: &Path, session: &SessionLogs) -> Self {
        Self {
            text: plan.text.clone(),
            location: match plan.source {
                PlanSource::ExitPlanMode => PlanLocation::ExitPlanMode,
                PlanSource::ApprovedPlan => PlanLocation::ApprovedPlan,
                PlanSource::PlanFile { .. } => PlanLocation::WrittenPlanFile,
            },
            session: Some(session.id.clone()),
            cwd: session.cwd().map(Path::to_owned),
            other_project: None,
            file: log.to_owned(),
            line: Some(plan.line),
            timestamp: plan.timestamp.clone(),
            approved: plan.approved,
            stale_edits: plan.stale_edits,
            skipped: session.skipped(),
        }
    }
}

impl ClaudeHome {
    /// Finds the plan for work in `directory`. [The module](super) describes which one.
    pub fn find(&self, directory: &Path, choice: &PlanChoice) -> Result<FoundPlan, FindError> {
        match choice {
            PlanChoice::Session(id) => self.find_in_session(directory, id),
            PlanChoice::Only => self.find_only(directory),
            PlanChoice::Newest => self.find_newest(directory),
        }
    }

    fn find_in_session(&self, directory: &Path, id: &str) -> Result<FoundPlan, FindError> {
        let (project, id) = self.resolve_id(directory, id)?;
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
        let plan_of = |session: &SessionLogs| -> Result<Option<FoundPlan>, FindError> {
            let plan = session.plan(self)?;
            Ok(plan.map(|plan| FoundPlan {
                other_project: session.other_project(project.as_ref()),
                ..plan
            }))
        };
        let mut session = own_logs(&all, &id)?;
        if let Some(plan) = plan_of(&session)? {
            return Ok(plan);
        }
        session.agents = agent_logs(&all, &id)?;
        if session.all().next().is_none() {
            if folders.is_empty() {
                folders.push(self.projects());
            }
            return Err(FindError::NoSession {
                id,
                project: folders,
            });
        }
        plan_of(&session)?.ok_or_else(|| FindError::NoPlanInSession {
            logs: session.all().map(|log| log.path.clone()).collect(),
            lines: session.all().map(|log| log.scanned.lines).sum(),
            skipped: session.skipped(),
            id,
        })
    }

    /// Returns the log of the session with this id or unambiguous start of an id.
    pub fn log_path(&self, directory: &Path, id: &str) -> Result<PathBuf, FindError> {
        let (project, full_id) = self.resolve_id(directory, id)?;
        let mut folders = project.map_or_else(Vec::new, |project| project.folders().to_vec());
        folders.extend(entries(&self.projects())?);
        let file = format!("{full_id}.jsonl");
        let mut paths = folders.iter().map(|folder| folder.join(&file));
        paths
            .find(|path| path.is_file())
            .ok_or_else(|| FindError::NoSession {
                id: id.to_owned(),
                project: vec![self.projects()],
            })
    }

    /// Returns the project of `directory`, if any, and the id that starts with `start`: of the
    /// project's sessions, or else of all. Returns `start` itself if it is a whole id or the start
    /// of none.
    fn resolve_id(
        &self,
        directory: &Path,
        start: &str,
    ) -> Result<(Option<Project>, String), FindError> {
        if !is_safe_name(start) {
            return Err(FindError::InvalidId {
                id: start.to_owned(),
            });
        }
        let project = self.project_if_any(directory)?;
        let own = project.as_ref().map_or(&[][..], Project::folders).to_vec();
        for folders in [own, entries(&self.projects())?] {
            let mut ids = BTreeSet::new();
            for folder in &folders {
                for path in entries(folder)? {
                    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
                    let is_log = path.extension().is_some_and(|end| end == "jsonl");
                    if let Some(stem) = stem.filter(|stem| is_log && stem.starts_with(start)) {
                        ids.insert(stem.into_owned());
                    }
                }
            }
            if ids.contains(start) {
                break;
            }
            if ids.len() > 1 {
                return Err(FindError::Ambiguous {
                    start: start.to_owned(),
                    ids: ids.into_iter().collect(),
                });
            }
            if let Some(id) = ids.pop_first() {
                return Ok((project, id));
            }
        }
        Ok((project, start.to_owned()))
    }

    fn project_if_any(&self, directory: &Path) -> Result<Option<Project>, FindError> {
        match self.project(directory) {
            Err(FindError::NoProject { .. }) => Ok(None),
            project => project.map(Some),
        }
    }

    fn find_only(&self, directory: &Path) -> Result<FoundPlan, FindError> {
        let project = self.project(directory)?;
        let mut sessions = self.sessions(&project)?;
        let count = sessions.len();
        sessions.retain(|session| session.plan.is_some());
        let listed: Vec<_> = sessions.iter().map(ListedSession::from).collect();
        // The log of a resumed session begins with a copy of the earlier log. The plan in it
        // belongs to the earlier session.
        sessions.sort_by(|a, b| a.age().cmp(&b.age()));
        let mut plans = sessions.into_iter().filter_map(|session| session.plan);
        let Some(first) = plans.next() else {
            return Err(FindError::NoPlanInProject {
                sessions: count,
                project: project.folders().to_vec(),
            });
        };
        if plans.all(|plan| plan.text == first.text) {
            Ok(first)
        } else {
            Err(FindError::Several(listed))
        }
    }

    fn find_newest(&self, directory: &Path) -> Result<FoundPlan, FindError> {
        let project = self.project_if_any(directory)?;
        let sessions = project.as_ref().map_or(Ok(Vec::new()), session_logs)?;
        let mut newest: Option<FoundPlan> = None;
        for session in sessions {
            let plans = [session.plan(self)?, session.latest_plan(&session.agents)];
            for plan in plans.into_iter().flatten() {
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
        self.newest_plan_file()?
            .map(|file| FoundPlan::from_file(file, PlanLocation::NewestPlanFile))
            .ok_or_else(|| FindError::NoPlanAtAll {
                directory: directory.to_owned(),
                plans: self.plans(),
            })
    }
}

/// Reads the logs of a session: those named after it, or else those of other sessions with entries
/// that name it.
///
/// A log named after the session is read as a whole: that of a resumed session may begin with
/// entries of the earlier one.
fn own_logs(all: &[LogFile], id: &str) -> Result<SessionLogs, FindError> {
    let mut own = Vec::new();
    for log in all.iter().filter(|log| log.name == id) {
        own.push(ScannedLog::read(&log.path, None)?);
    }
    if own.is_empty() {
        for log in all.iter().filter(|log| log.owner == LogOwner::Session) {
            own.extend(entries_of(log, id)?);
        }
    }
    Ok(SessionLogs {
        id: id.to_owned(),
        own,
        agents: Vec::new(),
    })
}

/// Reads the logs of a session's agents.
fn agent_logs(all: &[LogFile], id: &str) -> Result<Vec<ScannedLog>, FindError> {
    let mut agents = Vec::new();
    for log in all.iter().filter(|log| log.name != id) {
        match &log.owner {
            LogOwner::AgentOf(session) if session == id => {
                agents.push(ScannedLog::read(&log.path, None)?);
            }
            LogOwner::Agent => agents.extend(entries_of(log, id)?),
            _ => {}
        }
    }
    Ok(agents)
}

/// Reads the entries of a session in a log, if any entry names the session.
fn entries_of(log: &LogFile, id: &str) -> Result<Option<ScannedLog>, FindError> {
    let log = ScannedLog::read(&log.path, Some(id))?;
    let is_named = log.scanned.sessions.iter().any(|session| session == id);
    Ok(is_named.then_some(log))
}
