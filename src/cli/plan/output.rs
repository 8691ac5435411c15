//! Writes the files of a plan.

use std::path::{Path, PathBuf};

use crate::adapters::project_folder::ProjectFolder;
use crate::cli::Failure;
use crate::cli::work::{Project, open_or_create};
use crate::engine::model::progress::Attached;
use crate::engine::model::research::Research;
use crate::engine::planner::{CONTEXT, PLAN, RESEARCH};

/// File name for a draft that did not pass the checks.
const DRAFT: &str = "plan.draft.md";
/// Name of the directory for research reports, beside the plan.
const REPORTS: &str = "reports";

/// The directory that a plan is written to.
pub(super) struct Target {
    folder: ProjectFolder,
    /// Path of the plan's directory in `folder`, with a trailing `/`; empty for `folder` itself.
    within: String,
    /// The path to show to the user: as given, or relative to the working directory.
    shown: PathBuf,
}

impl Target {
    /// Opens the output directory and creates it if it is missing. This is `given`, or else the
    /// directory `name` below the project's directory for plans, without following symbolic links
    /// out of the project.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created or opened.
    pub(super) fn open(
        given: Option<&Path>,
        project: &Project,
        name: &str,
    ) -> Result<Self, Failure> {
        if let Some(given) = given {
            return Ok(Self {
                folder: open_or_create(given)?,
                within: String::new(),
                shown: given.to_owned(),
            });
        }
        let plans = project.config.output.plans.as_str().trim_end_matches('/');
        let path = format!("{plans}/{name}");
        project.folder.make_folder(&path)?;
        Ok(Self {
            folder: ProjectFolder::open(&project.root)?,
            within: format!("{path}/"),
            shown: project.seen_from_here(&path),
        })
    }

    fn shown(&self, name: &str) -> String {
        self.shown.join(name).display().to_string()
    }

    /// Checks that no existing file would be replaced.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] if the directory already contains a plan or one of its other
    /// files.
    pub(super) fn must_be_free(&self) -> Result<(), Failure> {
        let there = |name: &&str| self.folder.exists(&format!("{}{name}", self.within));
        let Some(name) = [PLAN, CONTEXT, RESEARCH]
            .into_iter()
            .find(|name| there(name))
        else {
            return Ok(());
        };
        let shown = self.shown(name);
        Err(Failure::Usage(format!(
            "{shown} already exists; use --again to overwrite it (a backup is kept as {name}.bak), or --output to write elsewhere"
        )))
    }

    /// Writes the plan and its other files, the plan last. Existing files are renamed and kept.
    /// Returns the paths of the written files and those of the kept files, to show to the user.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub(super) fn write(
        &self,
        document: &str,
        attached: &[Attached],
        research: Option<&Research>,
    ) -> Result<(Vec<String>, Vec<String>), Failure> {
        let mut files: Vec<(String, &str)> = Vec::new();
        let topics = research.map_or(&[][..], |research| &research.topics);
        for topic in topics {
            if let Some(report) = &topic.report {
                files.push((format!("{REPORTS}/{}", topic.file), report));
            }
        }
        if !files.is_empty() {
            self.folder
                .make_folder(&format!("{}{REPORTS}", self.within))?;
        }
        for (file, name) in [(CONTEXT, "context"), (RESEARCH, "research")] {
            let found = attached.iter().find(|one| one.name == name);
            files.push((file.to_owned(), found.map_or("", |one| &one.text)));
        }
        files.push((PLAN.to_owned(), document));
        let (mut written, mut kept) = (Vec::new(), Vec::new());
        for (name, text) in &files {
            let path = format!("{}{name}", self.within);
            if self.folder.exists(&path) {
                let aside = self.folder.set_aside(&path)?;
                kept.push(self.shown(aside.strip_prefix(&self.within).unwrap_or(&aside)));
            }
            // No file is written for an empty text, but a file of an earlier plan was renamed
            // above.
            if !text.is_empty() {
                self.folder.overwrite(&path, &ended(text))?;
                written.push(self.shown(name));
            }
        }
        written.reverse();
        Ok((written, kept))
    }

    /// Writes a draft that did not pass the checks, and returns its path to show to the user.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(super) fn draft(&self, text: &str) -> Result<String, Failure> {
        let path = format!("{}{DRAFT}", self.within);
        let before = if self.folder.exists(&path) {
            let aside = self.folder.set_aside(&path)?;
            let aside = aside.strip_prefix(&self.within).unwrap_or(&aside);
            format!(" (previous version: {})", self.shown(aside))
        } else {
            String::new()
        };
        self.folder.overwrite(&path, &ended(text))?;
        Ok(format!("{}{before}", self.shown(DRAFT)))
    }
}

/// Returns the text with exactly one trailing newline.
fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end_matches('\n'))
}
