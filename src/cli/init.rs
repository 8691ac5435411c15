//! `planwright init`: creates the directories and settings of a project.

use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::print;
use super::{Failure, terminal};
use crate::adapters::project_folder::ProjectFolder;
use crate::config::project::{CONFIG, DEFAULT, OLD_CONFIG, old_settings, render};

const HELP: &str = "\
Creates what does not exist yet in the project's folder:
  .planwright/config.toml   settings, each with its documentation and default
  .planwright/specs/        specifications, see `planwright new`
  .planwright/plans/        a folder for each plan
  .planwright/knowledge/    documents for agents: architecture, conventions,
                            decisions, gotchas, learnings
Existing files are not overwritten. The settings of a .spektacular/config.yaml
are migrated; settings that have no equivalent are listed.

Exit codes:
  0  everything exists now
  1  the command failed
  2  the arguments or the old settings are wrong; nothing was written

Examples:
  planwright init            in this folder
  planwright init ../shop    in another one
  planwright init --force    overwrite config.toml; the old one is kept as
                             config.toml.bak
  planwright init --print    print the settings that would be written without a
                             project";

/// Files that explain what each directory is for. The knowledge directories have none, because
/// agents read every file in them.
const FILES: [(&str, &str); 3] = [
    (".planwright/README.md", include_str!("init/readme.md")),
    (".planwright/specs/README.md", include_str!("init/specs.md")),
    (".planwright/plans/README.md", include_str!("init/plans.md")),
];

const FOLDERS: [&str; 7] = [
    ".planwright/specs",
    ".planwright/plans",
    ".planwright/knowledge/architecture",
    ".planwright/knowledge/conventions",
    ".planwright/knowledge/decisions",
    ".planwright/knowledge/gotchas",
    ".planwright/knowledge/learnings",
];

/// Set up a project's folder for specifications, plans and knowledge
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Init {
    /// The project's folder
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Overwrite config.toml; a backup is kept
    #[arg(long)]
    force: bool,
    /// Print the documented default settings and write nothing
    #[arg(long, conflicts_with_all = ["force", "folder"])]
    print: bool,
}

impl Init {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.print {
            return print(DEFAULT);
        }
        let project = ProjectFolder::open(&self.folder)?;
        let write_settings = self.force || !project.exists(CONFIG);
        let settings = if write_settings {
            Some(Settings::of(&self.folder)?)
        } else {
            None
        };
        let mut said = String::new();
        let mut made = false;
        for folder in FOLDERS {
            let new = project.make_folder(folder)?;
            made |= new;
            line(&mut said, new, &format!("{folder}/"));
        }
        for (path, text) in FILES {
            let new = project.write_new(path, text)?;
            made |= new;
            line(&mut said, new, path);
        }
        match &settings {
            Some(settings) => {
                made = true;
                said.push_str(&settings.write(&project)?);
            }
            None => line(&mut said, false, CONFIG),
        }
        if !made {
            said.push_str("nothing to do: everything exists\n");
        }
        said.push_str("next: planwright new NAME\n");
        print(&terminal::lines(&said))
    }
}

/// The settings file to write.
struct Settings {
    text: String,
    /// Old settings that were not taken over; `None` if there is no old settings file.
    notes: Option<Vec<String>>,
}

impl Settings {
    fn of(root: &Path) -> Result<Self, Failure> {
        let old = old_settings(root)?;
        Ok(Self {
            text: old
                .as_ref()
                .map_or_else(|| DEFAULT.to_owned(), |old| render(&old.config)),
            notes: old.map(|old| old.notes()),
        })
    }

    fn write(&self, project: &ProjectFolder) -> Result<String, Failure> {
        let new = project.write_new(CONFIG, &self.text)?;
        let kept = if new {
            None
        } else {
            Some(project.replace(CONFIG, &self.text)?)
        };
        let from = match &self.notes {
            Some(_) => format!("{CONFIG}, from {OLD_CONFIG}"),
            None => CONFIG.to_owned(),
        };
        let mut said = String::new();
        line(&mut said, true, &from);
        if let Some(kept) = kept {
            said.push_str(&format!("kept       {kept}, the previous settings\n"));
        }
        for note in self.notes.iter().flatten() {
            said.push_str(&format!("note: {note}\n"));
        }
        Ok(said)
    }
}

fn line(said: &mut String, new: bool, path: &str) {
    let what = if new { "created" } else { "exists" };
    said.push_str(&format!("{what:<10} {path}\n"));
}
