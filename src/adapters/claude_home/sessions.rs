//! Sessions: groups logs by session, and finds the plan of each.

use std::path::{Path, PathBuf};

use super::files::{LogOwner, ScannedLog, logs};
use super::find::{FoundPlan, PlanLocation};
use super::{ClaudeHome, FindError, Project};
use crate::formats::session::SessionPlan;

/// A session of a project.
#[derive(Debug)]
pub struct Session {
    /// Session id, or an agent's own id (`agent-…`) if its log names no session.
    pub id: String,
    /// Timestamp of the last entry, in a format that sorts as a string.
    pub last: Option<String>,
    /// The plan of the session.
    pub plan: Option<FoundPlan>,
    /// The logs of the session and its agents.
    pub logs: Vec<PathBuf>,
    /// Number of lines that could not be read.
    pub skipped: u64,
    /// Whether the log begins with entries of another session.
    is_resumed: bool,
}

impl Session {
    /// Sort key for sessions with the same plan: the one that made it comes first.
    pub(super) fn age(&self) -> impl Ord {
        let made = self.plan.as_ref().and_then(|plan| plan.timestamp.as_ref());
        (made, self.is_resumed, self.last.as_ref())
    }
}

/// The logs of one session.
#[derive(Debug, Default)]
pub(super) struct SessionLogs {
    pub(super) id: String,
    pub(super) own: Vec<ScannedLog>,
    pub(super) agents: Vec<ScannedLog>,
}

impl SessionLogs {
    pub(super) fn all(&self) -> impl Iterator<Item = &ScannedLog> {
        self.own.iter().chain(&self.agents)
    }

    /// The directory in which the session was started, from its own logs or else its agents'.
    pub(super) fn cwd(&self) -> Option<&Path> {
        self.all().find_map(ScannedLog::cwd)
    }

    /// If the session does not belong to `project`, returns the directory in which it was started,
    /// or else its session folder.
    pub(super) fn other_project(&self, project: Option<&Project>) -> Option<PathBuf> {
        let logs = if self.own.is_empty() {
            &self.agents
        } else {
            &self.own
        };
        let is_in_project = project.is_some_and(|project| {
            let mut folders = project.folders().iter();
            project.contains_session(self.cwd())
                && folders.any(|folder| logs.iter().any(|log| log.path.starts_with(folder)))
        });
        if is_in_project {
            return None;
        }
        let folder = self.cwd().or_else(|| logs.first()?.path.parent());
        folder.map(Path::to_owned)
    }

    /// Number of lines that could not be read.
    pub(super) fn skipped(&self) -> u64 {
        self.all().map(ScannedLog::skipped).sum()
    }

    /// Returns the plan of the session, in the order described in [the module](super).
    pub(super) fn plan(&self, home: &ClaudeHome) -> Result<Option<FoundPlan>, FindError> {
        for logs in [&self.own, &self.agents] {
            let slug = logs.iter().rev().find_map(|log| log.scanned.slugs.last());
            if let Some(file) = slug.map(|slug| home.plan_file(slug)).transpose()?.flatten() {
                return Ok(Some(FoundPlan {
                    session: Some(self.id.clone()),
                    cwd: self.cwd().map(Path::to_owned),
                    skipped: self.skipped(),
                    ..FoundPlan::from_file(file, PlanLocation::PlanFile)
                }));
            }
            if let Some(plan) = self.latest_plan(logs) {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    /// Returns the latest plan in `logs`, see [`SessionPlan::is_newer_than`].
    pub(super) fn latest_plan(&self, logs: &[ScannedLog]) -> Option<FoundPlan> {
        let mut latest: Option<(&ScannedLog, &SessionPlan)> = None;
        for log in logs {
            if let Some(plan) = &log.scanned.plan
                && latest.is_none_or(|(_, best)| plan.is_newer_than(best))
            {
                latest = Some((log, plan));
            }
        }
        latest.map(|(log, plan)| FoundPlan::from_log(plan, &log.path, self))
    }
}

impl ClaudeHome {
    /// Returns the sessions of a project, the latest first. Reads every log.
    pub fn sessions(&self, project: &Project) -> Result<Vec<Session>, FindError> {
        let mut sessions = Vec::new();
        for logs in session_logs(project)? {
            let timestamps = logs.all().map(|log| &log.scanned.last_timestamp);
            let mut first_ids = logs
                .own
                .iter()
                .filter_map(|log| log.scanned.sessions.first());
            sessions.push(Session {
                plan: logs.plan(self)?,
                last: timestamps.max().cloned().flatten(),
                logs: logs.all().map(|log| log.path.clone()).collect(),
                skipped: logs.skipped(),
                is_resumed: first_ids.any(|first| *first != logs.id),
                id: logs.id.clone(),
            });
        }
        sessions.sort_by(|a, b| b.last.cmp(&a.last));
        Ok(sessions)
    }
}

/// Reads all logs of a project and groups them by session.
pub(super) fn session_logs(project: &Project) -> Result<Vec<SessionLogs>, FindError> {
    let mut sessions: Vec<SessionLogs> = Vec::new();
    for folder in project.folders() {
        for log in logs(folder)? {
            let scanned = ScannedLog::read(&log.path, None)?;
            let is_own = log.owner == LogOwner::Session;
            let id = match log.owner {
                LogOwner::Session => log.name,
                LogOwner::AgentOf(session) => session,
                LogOwner::Agent => {
                    let named = scanned.scanned.sessions.first();
                    named.cloned().unwrap_or(log.name)
                }
            };
            let known = sessions.iter().position(|session| session.id == id);
            let index = known.unwrap_or_else(|| {
                sessions.push(SessionLogs {
                    id,
                    ..SessionLogs::default()
                });
                sessions.len() - 1
            });
            let session = &mut sessions[index];
            let logs = if is_own {
                &mut session.own
            } else {
                &mut session.agents
            };
            logs.push(scanned);
        }
    }
    sessions.retain(|session| project.contains_session(session.cwd()));
    Ok(sessions)
}
