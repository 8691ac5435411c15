//! Where a plan is written, and nothing else than what the agent has left in files.

use std::path::{Path, PathBuf};

use crate::adapters::project_folder::ProjectFolder;
use crate::cli::Failure;
use crate::cli::work::{Project, made};
use crate::engine::model::progress::Attached;
use crate::engine::model::research::Research;
use crate::engine::planner::{CONTEXT, PLAN, RESEARCH};

/// What there is of a plan that did not pass the checks.
const DRAFT: &str = "plan.draft.md";
/// Folder of the research reports beside the plan.
const REPORTS: &str = "reports";

/// The folder of a plan.
pub(super) struct Target {
    folder: ProjectFolder,
    /// Path in `folder` with `/` at the end; empty for itself.
    within: String,
    /// For people: what they gave, or the path from where they are.
    shown: PathBuf,
}

impl Target {
    /// `given`, made where it is missing; else the folder `name` where the project's settings keep plans, which links do not
    /// lead out of.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn open(
        given: Option<&Path>,
        project: &Project,
        name: &str,
    ) -> Result<Self, Failure> {
        if let Some(given) = given {
            return Ok(Self {
                folder: made(given)?,
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

    /// Nothing is written over in silence.
    ///
    /// # Errors
    /// There is a plan already, or another file of one.
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
            "{shown} exists already; --again writes it anew and keeps this one as {name}.bak, --output writes elsewhere"
        )))
    }

    /// Writes the plan and what comes with it, the plan last. What was there is kept. Gives the paths of all that was written
    /// and of what was kept, for people.
    ///
    /// # Errors
    /// It cannot be written.
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
            // An earlier context must not stand beside a plan that has none.
            if !text.is_empty() {
                self.folder.overwrite(&path, &ended(text))?;
                written.push(self.shown(name));
            }
        }
        written.reverse();
        Ok((written, kept))
    }

    /// Writes what there is of a plan that is none; gives its path for people.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn draft(&self, text: &str) -> Result<String, Failure> {
        let path = format!("{}{DRAFT}", self.within);
        let before = if self.folder.exists(&path) {
            let aside = self.folder.set_aside(&path)?;
            let aside = aside.strip_prefix(&self.within).unwrap_or(&aside);
            format!(" (what was there before is {})", self.shown(aside))
        } else {
            String::new()
        };
        self.folder.overwrite(&path, &ended(text))?;
        Ok(format!("{}{before}", self.shown(DRAFT)))
    }
}

/// With a line end.
fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end_matches('\n'))
}
