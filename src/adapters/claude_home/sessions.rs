//! Sessions: which logs belong together, and the plan of each.

use std::path::{Path, PathBuf};

use super::find::{Found, Source};
use super::logs::{Kind, Read, logs};
use super::{ClaudeHome, FindError, Project};
use crate::formats::session::SessionPlan;

/// A session of a project.
#[derive(Debug)]
pub struct Session {
    /// Its id. An agent's own name (`agent-…`) where its log names no session.
    pub id: String,
    /// Timestamp of its last entry, in a form that is compared as a string.
    pub last: Option<String>,
    /// Its plan.
    pub plan: Option<Found>,
    /// The logs read for it, its agents' too.
    pub logs: Vec<PathBuf>,
    /// Lines that could not be read.
    pub skipped: u64,
}

/// The logs of one session.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) id: String,
    pub(super) own: Vec<Read>,
    pub(super) agents: Vec<Read>,
}

impl Group {
    pub(super) fn all(&self) -> impl Iterator<Item = &Read> {
        self.own.iter().chain(&self.agents)
    }

    /// Where the session was begun, by its own logs or else by its agents'.
    pub(super) fn cwd(&self) -> Option<&Path> {
        self.all().find_map(Read::cwd)
    }

    pub(super) fn skipped(&self) -> u64 {
        self.all().map(Read::skipped).sum()
    }

    /// The session's plan, by the order the module of the home tells.
    pub(super) fn plan(&self, home: &ClaudeHome) -> Result<Option<Found>, FindError> {
        for logs in [&self.own, &self.agents] {
            let slug = logs.iter().rev().find_map(|log| log.scanned.slugs.last());
            if let Some(file) = slug.map(|slug| home.plan_file(slug)).transpose()?.flatten() {
                return Ok(Some(Found {
                    session: Some(self.id.clone()),
                    cwd: self.cwd().map(Path::to_owned),
                    skipped: self.skipped(),
                    ..Found::file(file, Source::PlanFile)
                }));
            }
            if let Some(plan) = self.latest(logs) {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    /// The latest plan in the logs; see [`SessionPlan::is_newer_than`].
    pub(super) fn latest(&self, logs: &[Read]) -> Option<Found> {
        let mut latest: Option<(&Read, &SessionPlan)> = None;
        for log in logs {
            if let Some(plan) = &log.scanned.plan
                && latest.is_none_or(|(_, best)| plan.is_newer_than(best))
            {
                latest = Some((log, plan));
            }
        }
        let (log, plan) = latest?;
        Some(Found::entry(plan, &log.path, self))
    }

    fn last(&self) -> Option<String> {
        self.all()
            .filter_map(|log| log.scanned.last_timestamp.clone())
            .max()
    }
}

impl ClaudeHome {
    /// The sessions of a project, the latest first. Reads every log.
    pub fn sessions(&self, project: &Project) -> Result<Vec<Session>, FindError> {
        let mut sessions = Vec::new();
        for group in groups(project)? {
            sessions.push(Session {
                plan: group.plan(self)?,
                last: group.last(),
                logs: group.all().map(|log| log.path.clone()).collect(),
                skipped: group.skipped(),
                id: group.id,
            });
        }
        sessions.sort_by(|a, b| b.last.cmp(&a.last));
        Ok(sessions)
    }
}

/// The sessions of the project with their logs, all of them read.
pub(super) fn groups(project: &Project) -> Result<Vec<Group>, FindError> {
    let mut groups: Vec<Group> = Vec::new();
    for folder in project.folders() {
        for log in logs(folder)? {
            let read = Read::new(&log.path, None)?;
            let id = match log.kind {
                Kind::Session => log.name,
                Kind::AgentOf(ref session) => session.clone(),
                Kind::Agent => read.scanned.sessions.first().cloned().unwrap_or(log.name),
            };
            let index = groups
                .iter()
                .position(|group| group.id == id)
                .unwrap_or_else(|| {
                    groups.push(Group {
                        id,
                        ..Group::default()
                    });
                    groups.len() - 1
                });
            let logs = &mut groups[index];
            if log.kind == Kind::Session {
                &mut logs.own
            } else {
                &mut logs.agents
            }
            .push(read);
        }
    }
    groups.retain(|group| project.has(group.cwd()));
    Ok(groups)
}
