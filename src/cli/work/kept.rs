//! What is remembered of a plan or of research until it is done: `.planwright/runs/<ULID>/state.json`, written in one step
//! after every change and before anything is shown.
//!
//! A project can come with such files. So only runs count that have a private folder of that name on this computer, which
//! is made when they begin; nobody can guess one.

use std::fs::File;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Project, agent, note_on_stderr};
use crate::adapters::project_folder::ProjectFolder;
use crate::cli::Failure;
use crate::engine::model::progress::Work;
use crate::engine::model::research::Research;
use crate::engine::model::run::RunId;

/// Where runs are, in the project.
const RUNS: &str = ".planwright/runs";
/// What is said to git of them.
const IGNORED: &str = "*\n";
/// Longest state that is read, in bytes: reports and plans, each at most a megabyte.
const MOST: u64 = 64 * 1024 * 1024;

/// What is remembered.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct Kept {
    /// What it is for: the command and the specification, or the topics.
    pub(in crate::cli) place: String,
    /// Hash of all that was asked for.
    pub(in crate::cli) asked: String,
    /// The planner's work.
    pub(in crate::cli) work: Work,
    /// Research, where there is any.
    pub(in crate::cli) research: Option<Research>,
    /// Files that reports were written to, by topic.
    pub(in crate::cli) written: Vec<Option<String>>,
}

/// A run that this process alone works on.
pub(in crate::cli) struct Run {
    /// Its id.
    pub(in crate::cli) id: RunId,
    /// What is remembered; [`Run::save`] writes it.
    pub(in crate::cli) kept: Kept,
    project: ProjectFolder,
    /// Private folder of its agents.
    pub(in crate::cli) agents: PathBuf,
    _lock: File,
}

/// How a run was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Begun {
    /// There was none.
    New,
    /// It goes on.
    Again,
    /// There was one for another text; it is gone.
    Changed,
}

/// Hash of `parts`, in order.
pub(in crate::cli) fn hash<'t>(parts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}

impl Run {
    /// The run for `place`, where what was `asked` is the same; else a new one, which keeps the research of the other where it
    /// was on the same `topics`.
    ///
    /// # Errors
    /// Another process works on it, or the folders cannot be used.
    pub(in crate::cli) fn open(
        project: &Project,
        place: &str,
        asked: &str,
        topics: &[String],
    ) -> Result<(Self, Begun), Failure> {
        let all = agent::folder(&project.root)?;
        let name = format!("{}.lock", &hash([place])[..16]);
        let lock = ProjectFolder::open(&all)?.try_lock(&name)?.ok_or_else(|| {
            Failure::failed(format!(
                "another planwright process works on this ({place}); wait until it has ended"
            ))
        })?;
        let folder = ProjectFolder::open(&project.root)?;
        folder.make_folder(RUNS)?;
        folder.write_new(&format!("{RUNS}/.gitignore"), IGNORED)?;
        let mut begun = Begun::New;
        let mut research = None;
        let mut run = Self {
            id: RunId::new(),
            kept: Kept::default(),
            project: folder,
            agents: PathBuf::new(),
            _lock: lock,
        };
        for id in run.all(&all)? {
            let Some(kept) = run.read(&id) else {
                continue;
            };
            if kept.place != place {
                continue;
            }
            if kept.asked == asked && begun == Begun::New {
                run.id = id;
                run.kept = kept;
                begun = Begun::Again;
            } else if kept.asked != asked {
                // The same topics need not be paid for again.
                research = research.or(kept.research);
                run.remove(&id, &all)?;
                if begun == Begun::New {
                    begun = Begun::Changed;
                }
            }
        }
        run.agents = all.join(&run.id.0);
        if begun != Begun::Again {
            run.kept = Kept {
                place: place.to_owned(),
                asked: asked.to_owned(),
                research: research.filter(|known| known.is_on(topics)),
                ..Kept::default()
            };
        }
        Ok((run, begun))
    }

    /// Runs that were begun on this computer, the newest first.
    fn all(&self, agents: &std::path::Path) -> Result<Vec<RunId>, Failure> {
        let mut names = self.project.names(RUNS)?;
        names.retain(|name| ulid::Ulid::from_string(name).is_ok() && agents.join(name).is_dir());
        names.sort_unstable_by(|a, b| b.cmp(a));
        Ok(names.into_iter().map(RunId).collect())
    }

    fn read(&self, id: &RunId) -> Option<Kept> {
        let path = path(id);
        let text = match self.project.read(&path, MOST) {
            Ok(text) => text?,
            Err(error) => {
                note_on_stderr(&error.to_string());
                return None;
            }
        };
        match serde_json::from_str(&text) {
            Ok(kept) => Some(kept),
            Err(error) => {
                note_on_stderr(&format!(
                    "{path} is not understood and left alone: {error}; delete its folder if no other version needs it"
                ));
                None
            }
        }
    }

    /// Writes what is remembered.
    ///
    /// # Errors
    /// The project's folder cannot be written to.
    pub(in crate::cli) fn save(&self) -> Result<(), Failure> {
        let text = serde_json::to_string(&self.kept).map_err(|error| {
            Failure::failed(format!("the state cannot be written out: {error}"))
        })?;
        self.project.make_folder(&format!("{RUNS}/{}", self.id))?;
        Ok(self.project.overwrite(&path(&self.id), &text)?)
    }

    /// The work is done: nothing of it is kept. To be called when no agent of it is open any more. What cannot be removed is
    /// said.
    pub(in crate::cli) fn done(self) {
        let all = self.agents.parent().map(PathBuf::from).unwrap_or_default();
        if let Err(failure) = self.remove(&self.id, &all) {
            note_on_stderr(&failure.to_string());
        }
    }

    fn remove(&self, id: &RunId, agents: &std::path::Path) -> Result<(), Failure> {
        self.project.remove_folder(&format!("{RUNS}/{id}"))?;
        Ok(ProjectFolder::open(agents)?.remove_folder(&id.0)?)
    }
}

fn path(id: &RunId) -> String {
    format!("{RUNS}/{id}/state.json")
}
