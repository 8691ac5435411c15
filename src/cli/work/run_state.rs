//! Saves the state of a plan or research until it is done. The state is in
//! `.planwright/runs/<ULID>/state.json`, which is replaced atomically after every change and before
//! anything is shown.
//!
//! A project may contain such files from another person. A run is therefore only resumed if this
//! computer has a private directory with the same name, which is created when the run begins. The
//! name cannot be guessed.

use std::fs::File;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Project, agent, note_on_stderr};
use crate::adapters::project_folder::ProjectFolder;
use crate::cli::Failure;
use crate::engine::model::progress::AgentState;
use crate::engine::model::research::Research;
use crate::engine::model::run::RunId;

/// Directory of the runs, relative to the project.
const RUNS: &str = ".planwright/runs";
/// Content of the `.gitignore` file in that directory.
const IGNORED: &str = "*\n";
/// Maximum size of a state file, in bytes. Each report and plan in it is at most one megabyte.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The saved state of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct RunState {
    /// The command with its specification or topics, which identifies the run.
    pub(in crate::cli) place: String,
    /// Hash of the specification, guidance and topics, which detects changes.
    pub(in crate::cli) asked: String,
    /// The state of the planner.
    pub(in crate::cli) work: AgentState,
    /// The state of the research, if there is any.
    pub(in crate::cli) research: Option<Research>,
    /// File name of each topic's report, if it was written.
    pub(in crate::cli) written: Vec<Option<String>>,
}

/// A run that is locked by this process.
pub(in crate::cli) struct Run {
    pub(in crate::cli) id: RunId,
    /// The state, which [`Run::save`] writes.
    pub(in crate::cli) kept: RunState,
    project: ProjectFolder,
    /// Private directory for the agents of this run.
    pub(in crate::cli) agents: PathBuf,
    _lock: File,
}

/// Whether a run is new or resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Begun {
    /// There was no earlier run.
    New,
    /// An earlier run is resumed.
    Again,
    /// An earlier run was removed because the request has changed.
    Changed,
}

/// Returns the SHA-256 hash of `parts`, which are length-prefixed, in hexadecimal.
pub(in crate::cli) fn hash<'t>(parts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}

impl Run {
    /// Opens the run for `place` if its request has the hash `asked`. Otherwise creates a run,
    /// which takes over the research of the earlier one if that was on the same `topics`.
    ///
    /// # Errors
    /// Returns an error if another process works on the run, or the directories cannot be used.
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
                "another planwright process is working on this ({place}); wait until it has finished"
            ))
        })?;
        let folder = ProjectFolder::open(&project.root)?;
        folder.make_folder(RUNS)?;
        folder.write_new(&format!("{RUNS}/.gitignore"), IGNORED)?;
        let mut begun = Begun::New;
        let mut research = None;
        let mut run = Self {
            id: RunId::new(),
            kept: RunState::default(),
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
                // Reuse the research, so that the same topics are not paid for again.
                research = research.or(kept.research);
                run.remove(&id, &all)?;
                if begun == Begun::New {
                    begun = Begun::Changed;
                }
            }
        }
        run.agents = all.join(&run.id.0);
        if begun != Begun::Again {
            run.kept = RunState {
                place: place.to_owned(),
                asked: asked.to_owned(),
                research: research.filter(|known| known.is_on(topics)),
                ..RunState::default()
            };
        }
        Ok((run, begun))
    }

    /// Returns the runs that were started on this computer, newest first.
    fn all(&self, agents: &std::path::Path) -> Result<Vec<RunId>, Failure> {
        let mut names = self.project.names(RUNS)?;
        names.retain(|name| ulid::Ulid::from_string(name).is_ok() && agents.join(name).is_dir());
        names.sort_unstable_by(|a, b| b.cmp(a));
        Ok(names.into_iter().map(RunId).collect())
    }

    fn read(&self, id: &RunId) -> Option<RunState> {
        let path = path(id);
        let text = match self.project.read(&path, MAX_BYTES) {
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
                    "{path} cannot be read: {error}; delete its folder unless another version of planwright needs it"
                ));
                None
            }
        }
    }

    /// Writes the state file.
    ///
    /// # Errors
    /// Returns an error if the project's directory cannot be written to.
    pub(in crate::cli) fn save(&self) -> Result<(), Failure> {
        let text = serde_json::to_string(&self.kept)
            .map_err(|error| Failure::failed(format!("cannot serialise the state: {error}")))?;
        self.project.make_folder(&format!("{RUNS}/{}", self.id))?;
        Ok(self.project.overwrite(&path(&self.id), &text)?)
    }

    /// Removes the run after its work is done. All agents of the run must be dropped before. If the
    /// run cannot be removed, a note is printed.
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
